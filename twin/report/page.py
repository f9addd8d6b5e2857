"""A recording -> one self-contained page: charts, numbers, and what was run. It asks the network for nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from twin.analysis.metrics import METRICS
from twin.errors import RunDirectoryError
from twin.recording import Recording
from twin.report import job_sections, resource_sections, tables
from twin.report.plotly_bundle import plotly_script
from twin.report.run_parts import RunParts
from twin.report.run_summary import changes, comes_and_goes, ending, left_out, shown
from twin.report.section import Section, preamble
from twin.report.verdicts import verdicts
from twin.units import scaled

GENERATOR = "racktwin report"  # the mark by which a page is known as one of ours

_NEEDED = (
    *("name", "question", "answer", "seed", "replica", "lane", "versions", "scenario", "scenario_hash", "defaults"),
    *("simulated_end_s", "stopped_by", "rows", "assumptions", "metrics", "import_report", "warnings"),
)
_TILES = (
    "checkpoint_duration_p99_s",
    "peak_writers",
    "stall_share",
    "throttled_share",
    "cap_binding_share",
    "peak_power_w",
)
_FIRST_TILES, _FIRST_TILES_OF_PASSING_JOBS = (
    ("goodput", "checkpoint_duration_p50_s"),
    ("compute_share", "job_stretch_mean"),
)
_TALL_PX = 960  # a chart taller than that scrolls in its frame
# The browser itself is told to load nothing from anywhere.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def page(recording: Recording) -> str:
    """The report of a run as one HTML document, in memory that does not grow with the run.

    Raises:
        RunDirectoryError: a manifest without what a page needs, or a table that cannot be read.
    """
    manifest = _checked(recording.manifest)
    sections = list(_sections(RunParts(recording)))
    charts = {section.key: section.figure for section in sections if section.figure is not None}
    body = "".join(_section(section) for section in sections)
    name = escape(manifest["name"])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="{GENERATOR}, {escape(manifest["versions"]["racktwin"])}">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name} - racktwin report</title>
<link rel="icon" href="data:,">
<style>{_asset("page.css")}</style>
</head>
<body>
{_header(manifest)}
{_navigation(sections)}
<main>
{_in_words(manifest)}
{_tiles(manifest)}
{body}
{_text("numbers", "All numbers", tables.all_numbers(manifest["metrics"], left_out(manifest)))}
{_text("assumptions", "Assumptions and promises", _assumptions(manifest))}
{_text("run", "What was run", _what_was_run(manifest))}
{_text("queries", "How to get every number again", _how_to_query(recording))}
</main>
<footer>racktwin {escape(manifest["versions"]["racktwin"])}, scenario {escape(manifest["scenario_hash"][:16])}, \
seed {manifest["seed"]}. This page is complete: it loads nothing.</footer>
<script>{plotly_script()}</script>
<script type="application/json" id="charts">{_json(charts)}</script>
<script>{_asset("page.js")}</script>
</body>
</html>
"""


def _checked(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    if missing := [key for key in _NEEDED if key not in manifest]:
        raise RunDirectoryError(
            f"run.json: has no `{missing[0]}`, which the report needs; run the scenario again with this version"
        )
    return manifest


def _sections(parts: RunParts) -> Iterator[Section]:
    """The sections that the run has, in the order of reading."""
    found = (
        job_sections.timeline(parts),
        *job_sections.worst_moments(parts),
        job_sections.phase_picture(parts),
        resource_sections.store(parts),
        resource_sections.tail(parts),
        resource_sections.durations(parts),
        resource_sections.power(parts),
        resource_sections.overhead_split(parts),
    )
    return (section for section in found if section is not None)


def _header(manifest: Mapping[str, Any]) -> str:
    question, answer, changed = manifest["question"], manifest["answer"], changes(manifest)
    about = (
        f"{scaled(manifest['simulated_end_s'], 's')} simulated, until {ending(manifest)}; "
        f"{manifest['metrics']['jobs']:,} jobs, seed {manifest['seed']}"
    )
    return f"""<header>
<div class="eyebrow"><span>racktwin report</span><button id="theme" type="button">Theme</button></div>
<h1>{escape(manifest["name"])}</h1>
{f'<p class="question">{escape(question)}</p>' if question else ""}
{f'<p class="answer"><b>Answer expected.</b> {escape(answer)}</p>' if answer and not changed else ""}
{"".join(f'<p class="changed">changed: {escape(change)}</p>' for change in changed)}
<p class="about">{escape(about)}</p>
</header>"""


def _navigation(sections: list[Section]) -> str:
    places = [
        ("verdicts", "In words"),
        *((section.key, section.key.replace("-", " ").capitalize()) for section in sections),
        ("numbers", "Numbers"),
        ("assumptions", "Assumptions"),
        ("run", "Run"),
    ]
    links = "".join(f'<a href="#{key}">{escape(title)}</a>' for key, title in places)
    return f'<nav aria-label="Sections"><div>{links}</div></nav>'


def _in_words(manifest: Mapping[str, Any]) -> str:
    warnings = [*manifest["warnings"], *(manifest["import_report"] or {}).get("warnings", ())]
    lines = "".join(f"<li>{escape(line[:1].upper() + line[1:])}</li>" for line in verdicts(manifest))
    lines += "".join(f'<li class="warning">warning: {escape(line)}</li>' for line in dict.fromkeys(warnings))
    return f'<section id="verdicts"><h2>In words</h2><ul class="verdicts">{lines}</ul></section>'


def _tiles(manifest: Mapping[str, Any]) -> str:
    metrics = manifest["metrics"]
    names = [*(_FIRST_TILES_OF_PASSING_JOBS if comes_and_goes(metrics) else _FIRST_TILES), *_TILES]
    hidden = left_out(manifest)
    found = (METRICS[name] for name in names if metrics.get(name) is not None and name not in hidden)
    return '<div class="tiles">{}</div>'.format(
        "".join(
            f'<div class="tile" title="{escape(metric.definition)}">'
            f"<b>{escape(shown(metric, metrics[metric.name]))}</b><span>{escape(metric.label)}</span></div>"
            for metric in found
        )
    )


def _section(section: Section) -> str:
    seen = "".join(
        f"<div><dt>{escape(reading.label)}</dt><dd>{escape(reading.shown())}</dd></div>"
        for reading in section.readings
        if reading.in_sight
    )
    chart = ""
    if section.figure is not None:
        height_px = section.figure["layout"]["height"]
        frame = "scroll" if height_px > _TALL_PX else "frame"
        place = f'<div class="chart" id="chart-{section.key}" style="min-height:{height_px}px"></div>'
        chart = f'<div class="{frame}">{place}</div>'
    return f"""<section id="{section.key}">
<h2>{escape(section.title)}</h2>
<p>{escape(section.reads)}</p>
{f'<dl class="readings">{seen}</dl>' if seen else ""}
{section.html}{chart}
{_note(section)}
</section>
"""


def _note(section: Section) -> str:
    rows = "".join(
        f'<tr data-value="{reading.value!r}"><th>{escape(reading.label)}</th>'
        f'<td class="number">{escape(reading.shown())}</td><td><code>{escape(reading.query)}</code></td></tr>'
        for reading in section.readings
    )
    setup = f'<pre class="setup">{escape(section.setup)}</pre>'
    return (
        f'<details class="note"><summary>Definition, unit and queries</summary><p>{escape(section.definition)}</p>'
        f'{setup}<div class="table"><table class="queries stacked"><tbody>{rows}</tbody></table></div></details>'
    )


def _text(key: str, title: str, html: str) -> str:
    return f'<section id="{key}" class="long"><h2>{escape(title)}</h2>{html}</section>'


def _assumptions(manifest: Mapping[str, Any]) -> str:
    found = manifest["assumptions"]
    return (
        "<p>What the theory promises for this fleet. A promise that applies holds in every run of it.</p>"
        f"{tables.promises(found)}<h3>Assumptions</h3>{tables.assumed(found, left_out(manifest))}"
    )


def _what_was_run(manifest: Mapping[str, Any]) -> str:
    report = manifest["import_report"]
    return (
        f"{tables.identity(manifest)}"
        f"{f'<h3>Launch log</h3>{tables.import_report(report)}' if report is not None else ''}"
        f"<h3>Values from defaults</h3>{tables.defaults(manifest['defaults'])}"
        f"<h3>Scenario as resolved, in SI units</h3><details><summary>Show</summary>"
        f"{tables.scenario(manifest['scenario'])}</details>"
    )


def _how_to_query(recording: Recording) -> str:
    return (
        "<p>In the run directory, with pandas; then the set-up of a section, then its queries. The tables are Parquet, "
        "and the metadata of each column holds its unit and meaning.</p>"
        f'<pre id="preamble">{escape(preamble(recording.sources))}</pre>'
    )


def _json(document: Any) -> str:
    """JSON that may stand in a script: no text in it can end the element."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return files("twin.report").joinpath(name).read_text(encoding="utf-8")
