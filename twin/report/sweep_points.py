"""The points of a sweep: what each axis is set to at each, and what its replicas say of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, prod
from typing import Any, Protocol

import pyarrow as pa

from twin.analysis.intervals import Interval, interval
from twin.report.figures import or_nan, plain
from twin.report.panels import cut, shortened
from twin.report.scales import Scale, scale_for
from twin.units import scaled

_SPARSE = 2  # times as many cells as points: no grid, but a sample


class Sweep(Protocol):
    """A finished sweep."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The axes, the replicas, and what was swept."""
        ...

    @property
    def table(self) -> pa.Table:
        """A row for each point and replica: a column for each axis, then the metrics."""
        ...


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the sweep: its values of each point, its different values in order, and its unit."""

    key: str
    unit: str
    of_point: list[Any]
    values: list[Any]

    @property
    def is_words(self) -> bool:
        return any(isinstance(value, str | bool) or value is None for value in self.values)

    @property
    def scale(self) -> Scale:
        return scale_for(max(abs(value) for value in self.values), self.unit or "1")

    def written(self, value: Any) -> str:
        return str(value) if self.is_words else scaled(value, self.unit or "1")

    def ticks(self) -> list[str]:
        return plain(shortened([self.written(value) for value in self.values], 16))


class Points:
    """The points of a sweep that have a result: their axes, and what the replicas of each say of a metric."""

    def __init__(self, sweep: Sweep) -> None:
        self.manifest = sweep.manifest
        table = sweep.table
        # Points that are alike have one name; the axes tell them apart.
        columns = [table[name].to_pylist() for name in ("point", *(axis["key"] for axis in sweep.manifest["axes"]))]
        rows = list(zip(*columns, strict=True))
        self.first = [place for place, row in enumerate(rows) if place == 0 or row != rows[place - 1]]
        self.names: list[int | str] = [columns[0][place] for place in self.first]
        self._stops = [*self.first, len(rows)][1:]
        self._table = table
        self.axes = [self._axis(axis) for axis in sweep.manifest["axes"]]
        self._found: dict[str, list[Interval]] = {}

    def _axis(self, axis: Mapping[str, Any]) -> Axis:
        of_point = self._table[axis["key"]].take(pa.array(self.first, pa.int64())).to_pylist()
        different = list(dict.fromkeys(of_point))
        words = any(isinstance(value, str | bool) or value is None for value in different)
        given = [value for value in axis.get("values") or () if value in different]
        ordered = list(dict.fromkeys([*given, *different])) if words else sorted(different)
        return Axis(axis["key"], axis.get("unit") or "", of_point, ordered)

    @property
    def is_sample(self) -> bool:
        """Whether the points lie scattered and not on a grid."""
        if "sample" in self.manifest:
            return bool(self.manifest["sample"])
        return len(self.axes) > 1 and prod(len(axis.values) for axis in self.axes) >= _SPARSE * len(self.names)

    def knows(self, metric: str) -> bool:
        return metric in self._table.column_names and any(found.mean is not None for found in self.of(metric))

    def of(self, metric: str) -> list[Interval]:
        """What the replicas of each point say of a metric."""
        if metric not in self._found:
            values = self._table[metric].to_pylist()
            self._found[metric] = [
                interval([float(value) for value in values[start:stop] if value is not None and not isnan(value)])
                for start, stop in zip(self.first, self._stops, strict=True)
            ]
        return self._found[metric]

    def means(self, metric: str) -> list[float]:
        return [or_nan(found.mean) for found in self.of(metric)]

    def at(self, place: int) -> str:
        """Where a point is, in words."""
        return ", ".join(f"{axis.key} {cut(axis.written(axis.of_point[place]))}" for axis in self.axes)
