"""A comparison for people: for each metric a line a variant, with its interval and its difference to the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from twin.analysis.intervals import CONFIDENCE
from twin.analysis.metrics import METRICS, Metric
from twin.report.columns import in_columns
from twin.report.run_summary import is_share, shown

_MOST_NAME = 40
_WORDS = {"tie": "tie", "higher": "higher", "lower": "lower", "unknown": "no interval"}
_RISK = ("time_over_cap_s", "energy_over_cap_j")  # goodput is never shown without what it was bought with

Row = Mapping[str, Any]


def comparison_lines(manifest: Mapping[str, Any], table: pa.Table) -> Iterator[tuple[str, list[str]]]:
    """A title and its lines for each headline metric that is known.

    Args:
        manifest, table: of the comparison.
    """
    rows = table.filter(pa.compute.equal(table["item"], "")).to_pylist()
    names = list(manifest["headline"])
    names += [name for name in _RISK if name not in names and "goodput" in names]
    for name in names:
        of_metric = [row for row in rows if row["metric"] == name and row["mean"] is not None]
        if of_metric:
            yield METRICS[name].label, metric_lines(METRICS[name], of_metric, manifest["baseline"])


def metric_lines(metric: Metric, rows: Sequence[Row], baseline: str) -> list[str]:
    """One line a variant, in columns."""
    cells = [_cells(metric, row, baseline) for row in rows]
    return in_columns(cells)


def variant_lines(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What each variant sets, and how it was tuned: a name and its words."""
    for variant in manifest["variants"]:
        words = list(variant["changes"]) or ["the scenario as written"]
        if variant["name"] == manifest["added"]:
            words.append("added, since the control of the baseline is idealised; --only leaves it out")
        if (match := variant["match"]) is not None:
            tuned = "" if match["outcome"] == "untuned" else f"caps x {match['factor']:.5g}, "
            words.append(f"{tuned}{_OUTCOMES[match['outcome']]}")
        yield short(variant["name"]), "; ".join(words)


_OUTCOMES = {
    "met": "at the risk asked for",
    "below": "the highest below the risk asked for: it jumps over it, or comes to it at no cap",
    "untuned": "not tuned: it holds no cap",
    "unreachable": "above the risk asked for at every cap that lets the jobs run",
}


def method_line(manifest: Mapping[str, Any]) -> str:
    """How the intervals came about."""
    return f"replicas: {manifest['replicas']}; {manifest['method']}"


def verdict_words(row: Row) -> str:
    """The verdict of a difference, with what it would take where there is none."""
    if row["verdict"] != "open":
        return _WORDS.get(row["verdict"], "")
    needed = row["replicas_needed"]
    return f"open; {f'{needed:,} replicas would tell' if needed else 'no number of replicas would tell'}"


def interval_words(metric: Metric, low: float | None, high: float | None, *, of_difference: bool = False) -> str:
    """An interval in brackets; nothing where it is not known."""
    if low is None or high is None:
        return ""
    if of_difference:
        return f"[{difference_words(metric, low).removesuffix(' points')}, {difference_words(metric, high)}]"
    return f"[{shown(metric, low)}, {shown(metric, high)}]"


def difference_words(metric: Metric, value: float | None) -> str:
    """A difference with its sign; of two shares in percentage points."""
    if value is None:
        return ""
    sign = "+" if value > 0.0 else ""
    return f"{sign}{100.0 * value:.4g} points" if is_share(metric) else f"{sign}{shown(metric, value)}"


def short(name: str) -> str:
    """A variant's name, shortened for a line."""
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 1]}…"


def _cells(metric: Metric, row: Row, baseline: str) -> list[str]:
    is_baseline = row["variant"] == baseline
    return [
        short(row["variant"]),
        shown(metric, row["mean"]),
        interval_words(metric, row["low"], row["high"]),
        "" if is_baseline else difference_words(metric, row["difference"]),
        ""
        if is_baseline
        else interval_words(metric, row["difference_low"], row["difference_high"], of_difference=True),
        f"baseline; {100 * CONFIDENCE:.0f} % intervals" if is_baseline else verdict_words(row),
    ]
