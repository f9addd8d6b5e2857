"""Several runs -> one self-contained page, side by side: charts with common axes, and tables with a column a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from twin.analysis.metrics import METRICS
from twin.recording import Recording
from twin.report.document import document, in_words_html, opening, places_of, preamble_html, section_html, text_html
from twin.report.page import checked
from twin.report.panels import cut
from twin.report.run_parts import RunParts
from twin.report.run_summary import changes, ending, left_out, shown
from twin.report.several_sections import Runs, sections
from twin.report.side_by_side import Cell, Row, differences, metric_rows, wide_table
from twin.units import scaled

HEADLINE = (
    *("goodput", "checkpoint_duration_p50_s", "checkpoint_duration_p99_s", "stretch_p99", "stall_share"),
    *("throttled_share", "peak_writers", "cap_binding_share", "time_over_cap_s", "energy_over_cap_j", "peak_power_w"),
    "mean_power_w",
)
_EXTREMES = ("goodput", "checkpoint_duration_p99_s", "peak_writers", "peak_power_w", "time_over_cap_s")
_MOST_CHANGES = 6


def several_page(runs: Mapping[str, Recording], folders: Mapping[str, str]) -> str:
    """The report of several runs as one HTML document, in memory that does not grow with their length.

    Args:
        runs: by name; of any length and fleet.
        folders: of each run by its name, as the queries open it from the folder of the page.
    Raises:
        RunDirectoryError: a manifest without what a page needs, or a table that cannot be read.
    """
    manifests = {name: checked(recording.manifest) for name, recording in runs.items()}
    found = list(sections(Runs.of({name: RunParts(recording) for name, recording in runs.items()})))
    metrics = {name: manifest["metrics"] for name, manifest in manifests.items()}
    scenarios = {name: manifest["scenario"] for name, manifest in manifests.items()}
    hidden = _hidden(manifests)
    places = [
        ("verdicts", "In words"),
        ("runs", "Runs"),
        ("headline", "Numbers"),
        *places_of(found),
        ("numbers", "All numbers"),
        ("queries", "Queries"),
    ]
    main = f"""{in_words_html(extremes(metrics, hidden))}
{text_html("runs", "The runs", _runs(manifests) + scenario_differences(scenarios))}
{text_html("headline", "Side by side", wide_table("number", list(runs), metric_rows(metrics, HEADLINE, hidden)))}
{"".join(section_html(section) for section in found)}
{text_html("numbers", "All numbers", wide_table("number", list(runs), metric_rows(metrics, None, hidden)))}
{preamble_html("In the folder of this page", preamble(folders))}"""
    name = " / ".join(dict.fromkeys(cut(manifest["name"]) for manifest in manifests.values()))
    questions = dict.fromkeys(manifest["question"] for manifest in manifests.values() if manifest["question"])
    question = next(iter(questions)) if len(questions) == 1 else None
    seeds = ", ".join(str(seed) for seed in dict.fromkeys(manifest["seed"] for manifest in manifests.values()))
    about = f"{len(runs)} runs side by side; seed {cut(seeds, 120)}"
    version = next(iter(manifests.values()))["versions"]["racktwin"]
    header = opening(cut(name, 160), question, "", about)
    return document(cut(name, 160), version, header, places, main, f"{len(runs)} runs.", found)


def preamble(folders: Mapping[str, str]) -> str:
    """Python statements that load runs from their folders, for the queries of all sections."""
    places = "\n".join(f"    {name!r}: {folder!r}," for name, folder in folders.items())
    return f"""\
import json
from functools import cache
from pathlib import Path
import numpy as np
import pandas as pd

folders = {{
{places}
}}
runs = {{
    name: json.loads((Path(folder) / "run.json").read_text(encoding="utf-8")) for name, folder in folders.items()
}}
@cache
def table(name, kind):
    return pd.read_parquet(Path(folders[name]) / f"{{kind}}.parquet")"""


def extremes(metrics: Mapping[str, Mapping[str, Any]], hidden: Sequence[str] = ()) -> list[str]:
    """Who is lowest and highest in the numbers that matter most, a sentence each."""
    lines = []
    for metric in (METRICS[name] for name in _EXTREMES if name not in hidden):
        known = {name: of_run[metric.name] for name, of_run in metrics.items() if of_run.get(metric.name) is not None}
        if not known:
            continue
        low, high = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
        if known[low] == known[high]:
            lines.append(f"{metric.label}: {shown(metric, known[low])} in all runs that know it")
        else:
            lines.append(
                f"{metric.label}: from {shown(metric, known[low])} ({cut(low)}) to {shown(metric, known[high])} "
                f"({cut(high)})"
            )
    return lines


def scenario_differences(scenarios: Mapping[str, Mapping[str, Any]], first: str = "runs[name]") -> str:
    """The keys in which the scenarios differ, as a table.

    Args:
        first: query of the mapping that has ``scenario``.
    """
    rows, count = differences(scenarios, lambda rest: f'{first}["scenario"]{rest}')
    if not rows:
        return "<h3>How the scenarios differ</h3><p>Not at all, as resolved.</p>"
    more = f" {count - len(rows):,} more keys differ." if count > len(rows) else ""
    return (
        "<h3>How the scenarios differ</h3><p>Every key with unequal values, as resolved; shaded is what differs from "
        f"the first column, and - is a key that is not there.{more}</p>{wide_table('key', list(scenarios), rows)}"
    )


def _hidden(manifests: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Metrics that mean nothing for any run."""
    each = [set(left_out(manifest)) for manifest in manifests.values()]
    return tuple(sorted(set.intersection(*each)))


def _runs(manifests: Mapping[str, Mapping[str, Any]]) -> str:
    """What each run is: question, seed, length, and what was changed on the command line."""
    every = list(manifests.values())
    rows = [
        Row("scenario", "", "", [Cell(cut(each["name"], 80), kind="") for each in every]),
        Row("question", "", "", [Cell(cut(each["question"] or "-", 200), kind="") for each in every]),
        Row("changed", "", "", [Cell(_changed(each), kind="") for each in every]),
        Row("seed", "", 'runs[name]["seed"]', [Cell(str(each["seed"]), each["seed"]) for each in every]),
        Row("replica", "", 'runs[name]["replica"]', [Cell(str(each["replica"]), each["replica"]) for each in every]),
        Row(
            "simulated",
            "",
            'runs[name]["simulated_end_s"]',
            [
                Cell(scaled(each["simulated_end_s"], "s"), each["simulated_end_s"], f"until {ending(each)}")
                for each in every
            ],
        ),
        Row(
            "jobs",
            "",
            'runs[name]["metrics"]["jobs"]',
            [Cell(f"{each['metrics']['jobs']:,}", each["metrics"]["jobs"]) for each in every],
        ),
        Row("engine", "", "", [Cell(each["lane"], kind="") for each in every]),
        Row("scenario hash", "", "", [Cell(each["scenario_hash"][:16], kind="") for each in every]),
    ]
    warned = "".join(
        f'<li class="warning">{escape(cut(name))}: {escape(warning)}</li>'
        for name, each in manifests.items()
        for warning in each["warnings"][:3]
    )
    notes = f'<details><summary>Warnings</summary><ul class="verdicts">{warned}</ul></details>' if warned else ""
    return wide_table("", list(manifests), rows) + notes


def _changed(manifest: Mapping[str, Any]) -> str:
    found = changes(manifest)
    more = f"; {len(found) - _MOST_CHANGES} more" if len(found) > _MOST_CHANGES else ""
    return "; ".join(cut(change, 80) for change in found[:_MOST_CHANGES]) + more or "-"
