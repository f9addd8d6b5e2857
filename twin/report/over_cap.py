"""When a feeder was above its cap, for shading in a chart: each excursion, or the share of each column of time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twin.analysis.blocks import Floats
from twin.recording import Recording
from twin.report.figures import Figure, packed
from twin.report.scales import Scale

NAME = "above the cap"
COLUMNS = 400  # of time, where there are too many excursions to draw one by one
_MOST = 300  # excursions drawn one by one
_BEGIN, _END = "cap_exceeded", "excursion_end"
_PALE, _LINE = "rgba(220,47,60,0.22)", "rgba(220,47,60,0.3)"
# The colour goes with the root of the share, and begins with one that shows.
_SCALE = [[0.0, "rgba(220,47,60,0.14)"], [1.0, "rgba(220,47,60,0.5)"]]


class OverCap:
    """The excursions of one feeder, in memory that does not grow with their number.

    Args:
        end_s: end of the run [s].
    """

    def __init__(self, end_s: float) -> None:
        self.count = 0
        self._end_s = end_s
        self._spans: list[tuple[float, float]] = []
        self._over_s: Floats = np.zeros(COLUMNS)

    def add(self, begin_s: Floats, ended_s: Floats) -> None:
        """Add excursions, times rising; shape (excursions,) both."""
        self.count += len(begin_s)
        room = _MOST + 1 - len(self._spans)
        self._spans += zip(begin_s[:room].tolist(), ended_s[:room].tolist(), strict=True)
        edges_s = np.linspace(0.0, self._end_s, COLUMNS + 1)
        # Time above the cap up to each edge: what has ended, and the part of what has not.
        times_s = np.ravel(np.column_stack([begin_s, ended_s]))
        spent_s = np.repeat(np.append(0.0, np.cumsum(ended_s - begin_s)), 2)[1:-1]
        if len(times_s):
            self._over_s += np.diff(np.interp(edges_s, times_s, spent_s))

    @property
    def is_merged(self) -> bool:
        """Whether there are too many to draw one by one."""
        return self.count > _MOST

    def traces(self, time: Scale, bounds: tuple[float, float], in_cells: bool | None = None) -> list[Figure]:
        """Shading between two levels of the vertical axis; none without an excursion.

        Args:
            in_cells: as shares of cells, where panels beside it are; default if there are too many.
        """
        if not self.count:
            return []
        low, high = bounds
        common = {"name": NAME, "hoverinfo": "skip"}
        if self.is_merged if in_cells is None else in_cells:
            shares = self._over_s / (self._end_s / COLUMNS)
            width = self._end_s / COLUMNS / time.size
            return [
                common
                | {
                    "type": "heatmap",
                    "z": packed(np.where(shares > 0.0, np.sqrt(shares), np.nan)[np.newaxis].astype(np.float32)),
                    "x0": 0.5 * width,
                    "dx": width,
                    "y0": 0.5 * (low + high),
                    "dy": high - low,
                    "zmin": 0.0,
                    "zmax": 1.0,
                    "colorscale": _SCALE,
                    "showscale": False,
                    "showlegend": True,
                }
            ]
        begin, end = time.of(np.array(self._spans).T)
        gap = np.full(len(begin), np.nan)
        x = np.column_stack([begin, begin, end, end, begin, gap])
        y = np.tile([low, high, high, low, low, np.nan], (len(begin), 1))
        return [
            common
            | {
                "type": "scatter",
                "mode": "lines",
                "x": packed(x.ravel()),
                "y": packed(y.ravel()),
                "fill": "toself",
                "fillcolor": _PALE,
                "line": {"color": _LINE, "width": 0.7},
            }
        ]


def over_caps(recording: Recording, feeders: Iterable[str], end_s: float) -> dict[str, OverCap]:
    """The excursions of each of the feeders, by name; none without the table events."""
    found = {name: OverCap(end_s) for name in feeders}
    if "events" not in recording.sources:
        return found
    open_s: dict[str, Floats] = {name: np.zeros(0) for name in found}  # begun, and not yet seen to end
    for batch in recording.batches("events", ["time_s", "kind", "feeder"]):
        kinds, names = (batch[column].cast(pa.string()) for column in ("kind", "feeder"))
        times_s = batch["time_s"].to_numpy(zero_copy_only=False)
        begins, ends = (pc.fill_null(pc.equal(kinds, kind), False) for kind in (_BEGIN, _END))
        for name in pc.unique(names.filter(pc.or_(begins, ends))).to_pylist():
            if name not in found:
                continue
            mine = pc.fill_null(pc.equal(names, name), False)
            begin_s, ended_s = (times_s[pc.and_(mine, hits).to_numpy(zero_copy_only=False)] for hits in (begins, ends))
            begin_s = np.append(open_s[name], begin_s)
            found[name].add(begin_s[: len(ended_s)], ended_s)
            open_s[name] = begin_s[len(ended_s) :]
    return found


def are_many(spans: Iterable[OverCap]) -> bool:
    """Whether panels side by side must show shares of cells, all of them, lest they cannot be compared."""
    return any(each.is_merged for each in spans)


def shading_in_words(spans: Iterable[OverCap]) -> str:
    """How to read the shading."""
    known = [each for each in spans if each.count]
    if not known:
        return ""
    if are_many(known):
        return (
            " Red behind the line: above the cap. There are too many excursions to draw one by one: the deeper the "
            f"red, the larger the part of a cell, a {COLUMNS}th of the run, that is above it."
        )
    return " Red behind the line: above the cap."
