"""A sensitivity study for people: the guesses by the swing of the metric, what must be measured first on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from twin.analysis.metrics import METRICS, Metric
from twin.report.columns import in_columns
from twin.report.comparison_summary import difference_words, interval_words
from twin.report.run_summary import shown
from twin.units import scaled

Row = Mapping[str, Any]


def sensitivity_lines(manifest: Mapping[str, Any], table: pa.Table) -> list[str]:
    """One line a guess, in columns, the largest swing first."""
    metric = METRICS[manifest["metric"]]
    cells = [_HEADS, *(_cells(metric, row) for row in table.to_pylist())]
    return in_columns(cells)


def headline(manifest: Mapping[str, Any]) -> str:
    """The metric as written, with its interval."""
    metric, base = METRICS[manifest["metric"]], manifest["base"]
    return f"{shown(metric, base['mean'])} {interval_words(metric, base['low'], base['high'])}".rstrip()


def first_to_measure(manifest: Mapping[str, Any], table: pa.Table) -> str:
    """Which guess must be measured first, in a sentence."""
    telling = [row for row in table.to_pylist() if row["swing"] and _tells(row)]
    if not telling:
        return "no guess that could be moved changes it by more than chance does: none needs to be measured for it"
    metric, row = METRICS[manifest["metric"]], telling[0]
    return f"measure first: {row['key']}, which swings it by {swing_words(metric, row['swing'])}"


def swing_words(metric: Metric, swing: float) -> str:
    """A swing, which has no sign; of a share in percentage points."""
    return difference_words(metric, swing).removeprefix("+")


def _tells(row: Row) -> bool:
    """Whether a difference leaves out 0."""
    ends = [(row[f"difference_{side}_low"], row[f"difference_{side}_high"]) for side in ("low", "high")]
    return any(low is not None and high is not None and (low > 0.0 or high < 0.0) for low, high in ends)


_HEADS = ["guess", "moved to", "difference", "and to", "difference", "swing", ""]


def _cells(metric: Metric, row: Row) -> Sequence[str]:
    cells = [row["key"]]
    for side in ("low", "high"):
        value, difference = row[f"{side}_value"], row[f"difference_{side}"]
        ends = row[f"difference_{side}_low"], row[f"difference_{side}_high"]
        cells.append("-" if value is None else scaled(value, row["unit"] or "1"))
        cells.append(
            f"{difference_words(metric, difference)} {interval_words(metric, *ends, of_difference=True)}".strip()
        )
    swing = "" if row["swing"] is None else swing_words(metric, row["swing"])
    return [*cells, swing, row["note"]]
