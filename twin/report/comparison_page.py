"""A comparison of variants -> one self-contained page: paired differences first, then what the variants did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from twin.analysis.metrics import METRICS
from twin.report.comparison_charts import differences, price
from twin.report.comparison_numbers import (
    RISK,
    SETUP,
    Comparison,
    Numbers,
    difference_cell,
    mean_cell,
    number_table,
)
from twin.report.comparison_summary import difference_words, verdict_words
from twin.report.document import document, in_words_html, opening, places_of, preamble_html, section_html, text_html
from twin.report.page import checked
from twin.report.panels import cut
from twin.report.run_parts import RunParts
from twin.report.run_summary import shown
from twin.report.several_page import scenario_differences
from twin.report.several_sections import Runs, sections
from twin.report.side_by_side import MOST_CELLS

_MOST_IN_WORDS = 8


def comparison_page(comparison: Comparison) -> str:
    """The report of a comparison as one HTML document.

    Raises:
        RunDirectoryError: a trace that cannot be read.
    """
    manifest, numbers = comparison.manifest, Numbers(comparison)
    for recording in comparison.traces.values():
        checked(recording.manifest)
    answer = [section for section in (differences(numbers), price(numbers)) if section is not None]
    runs = Runs.of({name: RunParts(recording) for name, recording in comparison.traces.items()})
    traced = list(sections(runs)) if comparison.traces else []
    places = [
        ("verdicts", "In words"),
        ("variants", "Variants"),
        *places_of(answer),
        ("headline", "Numbers"),
        *places_of(traced),
        ("numbers", "All numbers"),
        ("queries", "Queries"),
    ]
    traces_html = "".join(section_html(section) for section in traced)
    if traced:
        traces_html = (
            '<p class="about">From here on replica 0 of each variant: one run of each, which all met the same luck.</p>'
            + traces_html
        )
    main = f"""{in_words_html(_in_words(numbers))}
{text_html("variants", "The variants", _variants(numbers))}
{"".join(section_html(section) for section in answer)}
{_tables(numbers, "headline", "Means and differences", [(name, "") for name in numbers.headline])}
{traces_html}
{_tables(numbers, "numbers", "All numbers", numbers.keys)}
{preamble_html("In the folder of the comparison", preamble(bool(comparison.traces)))}"""
    replicas = manifest["replicas"]
    about = (
        f"{len(numbers.variants)} variants, replicas: {replicas}, seed {manifest['seed']}; {manifest['method']}. "
        f"Differences are to the baseline, {cut(numbers.baseline)}."
    )
    lines = f'<p class="answer"><b>Answer expected.</b> {escape(manifest["answer"])}</p>' if manifest["answer"] else ""
    if (match := manifest.get("match")) is not None:
        lines += f'<p class="changed">compared at equal risk: {escape(_match_in_words(match))}</p>'
    return document(
        manifest["name"],
        manifest["versions"]["racktwin"],
        opening(manifest["name"], manifest["question"], lines, about),
        places,
        main,
        f"seed {manifest['seed']}, replicas {replicas}.",
        [*answer, *traced],
    )


def preamble(has_traces: bool) -> str:
    """Python statements that load a comparison from within its folder, for the queries of all sections."""
    traces = """
folders = study.get("traces", {})
runs = {
    name: json.loads((Path(folder) / "run.json").read_text(encoding="utf-8")) for name, folder in folders.items()
}
@cache
def table(name, kind):  # of replica 0
    return pd.read_parquet(Path(folders[name]) / f"{kind}.parquet")"""
    return f"""\
import json
from functools import cache
from pathlib import Path
import numpy as np
import pandas as pd

study = json.loads(Path("study.json").read_text(encoding="utf-8"))
variants = {{variant["name"]: variant for variant in study["variants"]}}
comparison = pd.read_parquet("comparison.parquet"){traces if has_traces else ""}"""


def _match_in_words(match: Mapping[str, Any]) -> str:
    metric = METRICS[match["metric"]]
    return f"the caps of each variant are set so that its mean {metric.label} is {shown(metric, match['target'])}"


def _in_words(numbers: Numbers) -> Iterator[str]:
    if not numbers.headline:
        return
    first = METRICS[numbers.headline[0]]
    yield f"{first.label} of the baseline, {cut(numbers.baseline)}: {numbers.mean_in_words(numbers.baseline, first)}"
    for name in numbers.others[:_MOST_IN_WORDS]:
        row = numbers.row(name, first.name)
        words = f"{cut(name)}: {numbers.mean_in_words(name, first)}"
        if row.get("difference") is not None and row["verdict"] != "tie":
            words += f", {difference_words(first, row['difference'])} to the baseline"
        words += f" ({verdict_words(row)})" if row.get("verdict") else ""
        risk = [
            f"{METRICS[metric].label} {shown(METRICS[metric], numbers.mean(name, metric))}"
            for metric in RISK[:1]
            if first.name == "goodput" and numbers.mean(name, metric) is not None
        ]
        yield "; ".join([words, *risk])
    if len(numbers.others) > _MOST_IN_WORDS:
        yield f"{len(numbers.others) - _MOST_IN_WORDS:,} more variants are in the charts and tables below"


def _variants(numbers: Numbers) -> str:
    """What each variant is: a row each, as they are told apart by what they change."""
    rows = []
    for number, variant in enumerate(numbers.manifest["variants"], 1):
        marks = [
            *(["baseline"] if variant["name"] == numbers.baseline else []),
            *(
                ["added, since the control of the baseline is idealised"]
                * (variant["name"] == numbers.manifest.get("added"))
            ),
            *([_factor_words(variant["match"])] if variant.get("match") else []),
        ]
        changed = "; ".join(cut(change, 160) for change in variant["changes"]) or "the scenario as written"
        small = f"<small>{escape('; '.join(marks))}</small>" if marks else ""
        rows.append(
            f'<tr><th title="{escape(variant["name"])}">{number}. {escape(cut(variant["name"], 60))}{small}</th>'
            f"<td>{escape(changed)}</td></tr>"
        )
    scenarios = {variant["name"]: variant["scenario"] for variant in numbers.manifest["variants"]}
    return (
        f'<div class="wide"><table><thead><tr><th>variant</th><th>what it changes</th></tr></thead><tbody>'
        f"{''.join(rows)}</tbody></table></div>{scenario_differences(scenarios, 'variants[name]')}"
    )


def _factor_words(match: Mapping[str, Any]) -> str:
    words = {
        "met": "at the risk asked for",
        "below": "below the risk asked for",
        "unreachable": "above the risk asked for",
    }
    return f"caps x {match['factor']:.5g}, {words.get(match['outcome'], match['outcome'])}"


def _tables(numbers: Numbers, key: str, heading: str, keys: Sequence[tuple[str, str]]) -> str:
    """Means with intervals, and differences with intervals and verdicts, as a section with its set-up."""
    means = keys[: max(1, MOST_CELLS // len(numbers.variants) // 2)]
    more = f"<p>{len(keys) - len(means):,} more are in comparison.parquet.</p>" if len(keys) > len(means) else ""
    table = number_table(numbers, means, mean_cell, "numbers", numbers.variants)
    html = f"<p>Mean over the replicas, and beneath it the interval.</p>{table}"
    if numbers.others:
        table = number_table(numbers, means, difference_cell, "differences", numbers.others)
        html += f"<h3>Differences to the baseline</h3><p>Mean, interval, and what it says.</p>{table}"
    setup = f'<summary>Set-up of the queries</summary><pre class="setup">{escape(SETUP)}</pre>'
    return text_html(key, heading, f'{html}{more}<details class="note">{setup}</details>')
