"""The numbers of a comparison: by variant, metric and item; and tables of them with the queries of all cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from twin.analysis.metrics import METRICS, Metric
from twin.recording import Recording
from twin.report.comparison_summary import difference_words, interval_words, verdict_words
from twin.report.figures import LABEL_CHARACTERS, OF_GROUPS
from twin.report.panels import cut, shortened
from twin.report.run_summary import shown
from twin.report.side_by_side import Cell, Row, wide_table

RISK = ("time_over_cap_s", "energy_over_cap_j")  # goodput is never shown without what it was bought with
_MANY = len(OF_GROUPS)  # variants: with more, their numbers stand in charts for their names

SETUP = """\
@cache
def row(name, metric, item):
    of_name = (comparison.variant == name) & (comparison.metric == metric) & (comparison["item"] == item)
    return comparison[of_name].iloc[0]
def numbers(name, metric, item=""):  # mean and its interval
    return [None if pd.isna(each) else each for each in row(name, metric, item)[["mean", "low", "high"]]]
def differences(name, metric, item=""):  # to the baseline, paired
    columns = ["difference", "difference_low", "difference_high"]
    return [None if pd.isna(each) else each for each in row(name, metric, item)[columns]]"""


class Comparison(Protocol):
    """A finished comparison."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What was compared, and how."""
        ...

    @property
    def table(self) -> pa.Table:
        """Mean, difference to the baseline, their intervals and the verdict, for each variant and number."""
        ...

    @property
    def traces(self) -> Mapping[str, Recording]:
        """Replica 0 of each variant; may be empty."""
        ...


class Numbers:
    """The rows of a comparison, by variant, metric and item."""

    def __init__(self, comparison: Comparison) -> None:
        self.manifest = comparison.manifest
        self.baseline: str = comparison.manifest["baseline"]
        self.variants: list[str] = [variant["name"] for variant in comparison.manifest["variants"]]
        self.others = [name for name in self.variants if name != self.baseline]
        self.rows = {(row["variant"], row["metric"], row["item"]): row for row in comparison.table.to_pylist()}
        self.keys = list(dict.fromkeys((metric, item) for _, metric, item in self.rows if metric in METRICS))
        known = {key for key in self.keys if any(self.mean(name, *key) is not None for name in self.variants)}
        headline = [*comparison.manifest["headline"]]
        headline += [name for name in RISK if "goodput" in headline and name not in headline]
        self.headline = [name for name in headline if (name, "") in known]

    def row(self, name: str, metric: str, item: str = "") -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.rows.get((name, metric, item), {})
        return found

    def mean(self, name: str, metric: str, item: str = "") -> float | None:
        value: float | None = self.row(name, metric, item).get("mean")
        return value

    def labels(self, names: Sequence[str]) -> list[str]:
        """Names for charts: shortened, each with its number in the table of variants if there are many."""
        short = shortened(names, LABEL_CHARACTERS - 3)
        if not self.are_many:
            return short
        return [f"{self.variants.index(name) + 1} {label}" for name, label in zip(names, short, strict=True)]

    @property
    def are_many(self) -> bool:
        """Whether the variants are told apart by number in charts."""
        return len(self.variants) > _MANY

    def mean_in_words(self, name: str, metric: Metric) -> str:
        """Mean and interval of a variant."""
        row = self.row(name, metric.name)
        interval = interval_words(metric, row.get("low"), row.get("high"))
        return f"{shown(metric, row.get('mean'))} {interval}".rstrip()


def number_table(
    numbers: Numbers,
    keys: Sequence[tuple[str, str]],
    cell: Callable[[Metric, Mapping[str, Any]], Cell],
    query: str,
    names: Sequence[str],
) -> str:
    rows = []
    for name, item in keys:
        metric = METRICS[name]
        of_item = f", {item!r}" if item else ""
        label = f"{metric.label}, {cut(item)}" if item else metric.label
        cells = [cell(metric, numbers.row(variant, name, item)) for variant in names]
        rows.append(Row(label, metric.definition, f"{query}(name, {name!r}{of_item})", cells))
    heads = [
        f"{numbers.variants.index(name) + 1}. {name}{' (baseline)' if name == numbers.baseline else ''}"
        for name in names
    ]
    return wide_table("number", names, rows, heads)


def mean_cell(metric: Metric, row: Mapping[str, Any]) -> Cell:
    if row.get("mean") is None:
        return Cell("-")
    values = [row["mean"], row["low"], row["high"]]
    return Cell(shown(metric, row["mean"]), values, interval_words(metric, row["low"], row["high"]))


def difference_cell(metric: Metric, row: Mapping[str, Any]) -> Cell:
    if row.get("difference") is None:
        return Cell("-")
    values = [row["difference"], row["difference_low"], row["difference_high"]]
    interval = interval_words(metric, row["difference_low"], row["difference_high"], of_difference=True)
    words = f"{interval} {verdict_words(row)}".strip()
    kind = "number pale" if row["verdict"] in ("open", "unknown") else "number"
    return Cell(difference_words(metric, row["difference"]), values, words, kind)
