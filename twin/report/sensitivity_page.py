"""A sensitivity study -> one self-contained page: a tornado chart, the guess to measure first on top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from twin.analysis.metrics import METRICS, Metric
from twin.report.comparison_summary import difference_words, interval_words
from twin.report.document import document, in_words_html, opening, places_of, preamble_html, section_html, text_html
from twin.report.figures import BLUE, GREY, ORANGE, Figure, packed, plain, stacked, title
from twin.report.panels import cut, rows_axis, shortened
from twin.report.run_summary import percent, shown
from twin.report.scales import Scale, scale_of_difference, with_unit
from twin.report.section import Section
from twin.report.sensitivity_summary import swing_words
from twin.report.side_by_side import Cell, Row, wide_table
from twin.units import scaled

_ROW_PX, _LEFT_PX = 34, 134
_MOST_BARS = 40
_MOST_IN_WORDS = 5
_LABEL_CHARACTERS = 20
_SIDES = {"low": ("moved down", BLUE), "high": ("moved up", ORANGE)}
_PALE = 0.35

_SETUP = """\
def differences(side, name):  # of a row to the scenario as written, paired, with the interval
    columns = [f"difference_{side}", f"difference_{side}_low", f"difference_{side}_high"]
    return [None if pd.isna(each) else each for each in sensitivity.loc[int(name), columns]]
def number(column, name):
    return sensitivity.loc[int(name), column]"""


class Sensitivity(Protocol):
    """A finished sensitivity study."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What was moved, by how much, and the metric watched."""
        ...

    @property
    def table(self) -> pa.Table:
        """A row for each guess, the largest swing first."""
        ...


def sensitivity_page(study: Sensitivity) -> str:
    """The report of a sensitivity study as one HTML document."""
    manifest = study.manifest
    metric = METRICS[manifest["metric"]]
    rows = [row | {"number": number} for number, row in enumerate(study.table.to_pylist())]
    rows.sort(key=lambda row: -1.0 if row["swing"] is None else row["swing"], reverse=True)
    moved = [row for row in rows if row["swing"] is not None]
    found = [_tornado(manifest, metric, moved)] if moved else []
    places = [("verdicts", "In words"), *places_of(found), ("guesses", "Guesses"), ("queries", "Queries")]
    main = f"""{in_words_html(_in_words(manifest, metric, moved))}
{"".join(section_html(section) for section in found)}
{_guesses(metric, rows)}
{preamble_html("In the folder of the study", _PREAMBLE)}"""
    base = manifest.get("base") or {}
    interval = interval_words(metric, base.get("low"), base.get("high"))
    about = (
        f"{metric.label} {shown(metric, base.get('mean'))} {interval} as written; each guess moved by "
        f"{percent(manifest['share'])} down and up; replicas: {manifest['replicas']}, seed {manifest['seed']}; "
        f"{manifest['method']}."
    )
    lines = f'<p class="answer"><b>Answer expected.</b> {escape(manifest["answer"])}</p>' if manifest["answer"] else ""
    return document(
        manifest["name"],
        manifest["versions"]["racktwin"],
        opening(manifest["name"], manifest["question"], lines, about),
        places,
        main,
        f"seed {manifest['seed']}, replicas {manifest['replicas']}.",
        found,
    )


_PREAMBLE = """\
import json
from pathlib import Path
import pandas as pd

study = json.loads(Path("study.json").read_text(encoding="utf-8"))
sensitivity = pd.read_parquet("sensitivity.parquet")"""


def _in_words(manifest: Mapping[str, Any], metric: Metric, moved: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not moved:
        yield "no guess could be moved"
        return
    telling = [row for row in moved if any(_is_clear(row, side) for side in _SIDES)]
    if not telling:
        yield f"no guess moves {metric.label} by more than chance, with replicas: {manifest['replicas']}"
    for number, row in enumerate(telling[:_MOST_IN_WORDS], 1):
        place = "measure first" if number == 1 else f"number {number}"
        swing = swing_words(metric, row["swing"])
        yield f"{place}: {cut(row['key'], 80)} swings {metric.label} by {swing}, {_values(row)}"
    if len(moved) > len(telling):
        yield f"the intervals of {len(moved) - len(telling)} of the {len(moved)} guesses hold 0 on both sides"


def _values(row: Mapping[str, Any]) -> str:
    """What a guess was moved between."""
    ends = [_value(row[f"{side}_value"], row["unit"]) for side in _SIDES if row[f"{side}_value"] is not None]
    return f"{' to '.join(ends)} about {_value(row['value'], row['unit'])}"


def _value(value: float | None, unit: str) -> str:
    return "-" if value is None else scaled(value, unit or "1")


def _is_clear(row: Mapping[str, Any], side: str) -> bool:
    """Whether the interval of a difference leaves out 0."""
    low, high = row[f"difference_{side}_low"], row[f"difference_{side}_high"]
    return low is not None and high is not None and not low <= 0.0 <= high


def _tornado(manifest: Mapping[str, Any], metric: Metric, moved: Sequence[Mapping[str, Any]]) -> Section:
    drawn = moved[:_MOST_BARS]
    columns = [f"difference_{side}{end}" for side in _SIDES for end in ("", "_low", "_high")]
    largest = max((abs(row[column]) for row in drawn for column in columns if row[column] is not None), default=0.0)
    scale = scale_of_difference(metric, largest)
    short = shortened([".".join(row["key"].split(".")[-2:]) for row in drawn], _LABEL_CHARACTERS)
    labels = [
        f"<b>{plain([label])[0]}</b><br>{' / '.join(_value(row[f'{side}_value'], row['unit']) for side in _SIDES)}"
        for label, row in zip(short, drawn, strict=True)
    ]
    layout = stacked([_ROW_PX * max(2, len(drawn))], left_px=_LEFT_PX)
    zero = {"zeroline": True, "zerolinewidth": 1.8, "zerolinecolor": GREY}
    layout["xaxis"] |= title(with_unit(f"change of {metric.label}", scale)) | zero
    layout["yaxis"] |= rows_axis([""] * len(drawn)) | {"ticktext": labels}
    layout["bargap"] = 0.35
    share = percent(manifest["share"])
    left_out = len(moved) - len(drawn)
    return Section(
        "tornado",
        "Which guess to measure first",
        f"How far {metric.label} changes when each guessed default is {share} lower (blue) or higher (orange), the "
        "widest swing on top. Beneath each key the two values tried; whiskers are the intervals. Pale bars: the "
        "interval holds 0, so the change may be chance."
        + (f" The {_MOST_BARS} widest are drawn; {left_out} more are in the table." if left_out else ""),
        f"{metric.definition} Bars: mean over the replicas of the difference to the scenario as written, which met the "
        "same luck; intervals by Student's t. Swing: |mean at the high value - mean at the low one|.",
        _SETUP,
        (),
        {"data": [_bars(side, drawn, scale, metric) for side in _SIDES], "layout": layout},
    )


def _bars(side: str, drawn: Sequence[Mapping[str, Any]], scale: Scale, metric: Metric) -> Figure:
    words, colour = _SIDES[side]
    middle, low, high = (
        np.array([np.nan if row[column] is None else row[column] for row in drawn], dtype=np.float64) / scale.size
        for column in (f"difference_{side}", f"difference_{side}_low", f"difference_{side}_high")
    )
    return {
        "type": "bar",
        "orientation": "h",
        "name": words,
        "x": packed(middle),
        "y": packed(np.arange(len(drawn), dtype=np.int32)),
        "marker": {"color": colour, "opacity": [1.0 if _is_clear(row, side) else _PALE for row in drawn]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": packed(high - middle),
            "arrayminus": packed(middle - low),
            "color": GREY,
            "thickness": 1.5,
            "width": 4,
        },
        "customdata": [
            f"{plain([cut(row['key'], 80)])[0]} = {_value(row[f'{side}_value'], row['unit'])}<br>"
            f"{_change(metric, row, side)}"
            for row in drawn
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _change(metric: Metric, row: Mapping[str, Any], side: str) -> str:
    middle, low, high = (row[f"difference_{side}{end}"] for end in ("", "_low", "_high"))
    return f"{difference_words(metric, middle)} {interval_words(metric, low, high, of_difference=True)}"


def _guesses(metric: Metric, rows: Sequence[Mapping[str, Any]]) -> str:
    """All guesses in a table: a column a guess, by its row, since groups may have guesses of one key."""
    heads = [f"{row['number']}: {row['key']}" for row in rows]
    table = [
        Row(
            "guess",
            "as written",
            'number("value", name)',
            [Cell(_value(r["value"], r["unit"]), r["value"]) for r in rows],
        ),
        Row(
            "swing",
            "|mean at the high value - mean at the low one|",
            'number("swing", name)',
            [Cell("-" if r["swing"] is None else swing_words(metric, r["swing"]), r["swing"]) for r in rows],
        ),
    ]
    for side, (words, _) in _SIDES.items():
        table += [
            Row(
                words,
                "value tried",
                f'number("{side}_value", name)',
                [Cell(_value(r[f"{side}_value"], r["unit"]), r[f"{side}_value"]) for r in rows],
            ),
            Row(
                f"{metric.label} there",
                metric.definition,
                f'number("metric_at_{side}", name)',
                [
                    Cell(
                        "-" if r[f"metric_at_{side}"] is None else shown(metric, r[f"metric_at_{side}"]),
                        r[f"metric_at_{side}"],
                    )
                    for r in rows
                ],
            ),
            Row(
                "change",
                "paired difference with its interval",
                f'differences("{side}", name)',
                [_change_cell(metric, r, side) for r in rows],
            ),
        ]
    table += [
        Row("based on", "", "", [Cell(cut(r["source"] or "-", 120), kind="") for r in rows]),
        Row("note", "", "", [Cell(r["note"] or "-", kind="") for r in rows]),
    ]
    setup = f'<summary>Set-up of the queries</summary><pre class="setup">{escape(_SETUP)}</pre>'
    html = wide_table("row of the table", [str(row["number"]) for row in rows], table, heads)
    return text_html("guesses", "The guesses", f'{html}<details class="note">{setup}</details>')


def _change_cell(metric: Metric, row: Mapping[str, Any], side: str) -> Cell:
    values = [row[f"difference_{side}{end}"] for end in ("", "_low", "_high")]
    if values[0] is None:
        return Cell("-")
    kind = "number" if _is_clear(row, side) else "number pale"
    return Cell(
        difference_words(metric, values[0]),
        values,
        interval_words(metric, values[1], values[2], of_difference=True),
        kind,
    )
