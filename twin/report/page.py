"""A recording -> one self-contained page: charts, numbers, and what was run. It asks the network for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from twin.analysis.metrics import METRICS
from twin.errors import RunDirectoryError
from twin.recording import Recording
from twin.report import feeder_section, job_sections, resource_sections, tables
from twin.report.document import document, in_words_html, opening, places_of, preamble_html, section_html, text_html
from twin.report.run_parts import RunParts
from twin.report.run_summary import changes, comes_and_goes, ending, left_out, shown
from twin.report.section import Section, preamble
from twin.report.verdicts import verdicts
from twin.units import scaled

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


def page(recording: Recording, meter_s: float | None = None) -> str:
    """The report of a run as one HTML document, in memory that does not grow with the run.

    Args:
        meter_s: interval of a power meter whose readings are drawn beside the draw of the site [s]; None for no meter.
    Raises:
        RunDirectoryError: a manifest without what a page needs, or a table that cannot be read.
    """
    manifest = checked(recording.manifest)
    sections = list(_sections(RunParts(recording), meter_s))
    places = [
        ("verdicts", "In words"),
        *places_of(sections),
        ("numbers", "Numbers"),
        ("assumptions", "Assumptions"),
        ("run", "Run"),
    ]
    main = f"""{_in_words(manifest)}
{_tiles(manifest)}
{"".join(section_html(section) for section in sections)}
{text_html("numbers", "All numbers", tables.all_numbers(manifest["metrics"], left_out(manifest)))}
{text_html("assumptions", "Assumptions and promises", _assumptions(manifest))}
{text_html("run", "What was run", _what_was_run(manifest))}
{preamble_html("In the run directory", preamble(recording.sources))}"""
    footer = f"scenario {escape(manifest['scenario_hash'][:16])}, seed {manifest['seed']}."
    return document(
        manifest["name"], manifest["versions"]["racktwin"], _header(manifest), places, main, footer, sections
    )


def checked(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest of a run, if it has what a page needs.

    Raises:
        RunDirectoryError: it has not.
    """
    if missing := [key for key in _NEEDED if key not in manifest]:
        raise RunDirectoryError(
            f"run.json: has no `{missing[0]}`, which the report needs; run the scenario again with this version"
        )
    return manifest


def _sections(parts: RunParts, meter_s: float | None) -> Iterator[Section]:
    """The sections that the run has, in the order of reading."""
    found = (
        job_sections.timeline(parts),
        *job_sections.worst_moments(parts),
        job_sections.phase_picture(parts),
        resource_sections.store(parts),
        resource_sections.tail(parts),
        resource_sections.durations(parts),
        resource_sections.power(parts, meter_s),
        feeder_section.feeders(parts),
        resource_sections.overhead_split(parts),
    )
    return (section for section in found if section is not None)


def _header(manifest: Mapping[str, Any]) -> str:
    answer, changed = manifest["answer"], changes(manifest)
    about = (
        f"{scaled(manifest['simulated_end_s'], 's')} simulated, until {ending(manifest)}; "
        f"{manifest['metrics']['jobs']:,} jobs, seed {manifest['seed']}"
    )
    lines = f'<p class="answer"><b>Answer expected.</b> {escape(answer)}</p>' if answer and not changed else ""
    lines += "".join(f'<p class="changed">changed: {escape(change)}</p>' for change in changed)
    return opening(manifest["name"], manifest["question"], lines, about)


def _in_words(manifest: Mapping[str, Any]) -> str:
    warnings = [*manifest["warnings"], *(manifest["import_report"] or {}).get("warnings", ())]
    return in_words_html(verdicts(manifest), warnings)


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
