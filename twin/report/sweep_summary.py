"""A sweep for people: its points in columns, with the mean of a few metrics and its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twin.analysis.intervals import Interval
from twin.analysis.metrics import METRICS
from twin.report.columns import in_columns
from twin.report.comparison_summary import interval_words
from twin.report.run_summary import shown
from twin.units import scaled

MOST_ROWS = 40
HEADLINE = ("goodput", "time_over_cap_s", "checkpoint_duration_p99_s", "peak_power_w")
_MOST_CELL = 40

Axis = Mapping[str, Any]
Row = tuple[Sequence[Any], Mapping[str, Interval], Sequence[str]]
"""What the axes are set to, the interval of each metric, and words behind them."""


def point_lines(axes: Sequence[Axis], metrics: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """A heading and one line a point; of more than ``MOST_ROWS`` the first, and how many there are."""
    heads = [*(axis["key"] for axis in axes), *(METRICS[name].label for name in metrics), ""]
    cells = [heads, *(_cells(axes, metrics, row) for row in rows[:MOST_ROWS])]
    lines = in_columns(cells)
    if len(rows) > MOST_ROWS:
        lines.append(f"and {len(rows) - MOST_ROWS:,} more points, in sweep.parquet")
    return lines


def axis_words(axis: Axis, value: Any) -> str:
    """What an axis is set to, as people read it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return scaled(float(value), axis["unit"] or "1")
    words = str(value)
    return words if len(words) <= _MOST_CELL else f"{words[: _MOST_CELL - 1]}…"


def failure_lines(axes: Sequence[Axis], failures: Sequence[tuple[Mapping[str, Any], int | None, str]]) -> list[str]:
    """One line a failure: the point, the replica, the error."""
    by_key = {axis["key"]: axis for axis in axes}
    return [
        f"failed: {', '.join(f'{key} = {axis_words(by_key[key], value)}' for key, value in values.items())}"
        f"{'' if replica is None else f', replica {replica}'}: {error}"
        for values, replica, error in failures
    ]


def _cells(axes: Sequence[Axis], metrics: Sequence[str], row: Row) -> list[str]:
    values, intervals, words = row
    cells = [axis_words(axis, value) for axis, value in zip(axes, values, strict=True)]
    for name in metrics:
        found = intervals[name]
        brackets = interval_words(METRICS[name], found.low, found.high)
        cells.append(f"{shown(METRICS[name], found.mean)} {brackets}".strip())
    return [*cells, "; ".join(words)]
