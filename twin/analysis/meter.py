"""What a power meter logs of a feeder: the mean draw of each interval, from the exact draw.

Where lagged speeds move the draw, see ``twin.analysis.moving_rows``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import floor

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Block, Floats, blocks, of_feeder
from twin.analysis.moving_rows import Way, one_exponent
from twin.recording import Recording

_COLUMNS = ["time_s", "draw_w", "draw_end_w", "speed", "target", "tau_s", "energy_j"]
_MOST_WINDOWS = 131_072  # at work at once


@dataclass(frozen=True, slots=True)
class Readings:
    """Intervals of a meter in a row, arrays of shape (intervals,).

    Args:
        start_s, width_s: of each interval; the run may cut the last one short.
        mean_w: energy of the interval / its width.
        lowest_w, highest_w: draw within it.
    """

    start_s: Floats
    width_s: Floats
    mean_w: Floats
    lowest_w: Floats
    highest_w: Floats


def readings(recording: Recording, feeder: str, period_s: float) -> Iterator[Readings]:
    """The intervals [k p, (k + 1) p) from t = 0 to the end of the run, in memory that does not grow with it.

    Args:
        recording: with the table power.
        feeder: its name.
        period_s: p, more than 0.
    """
    end_s: float = recording.manifest["simulated_end_s"]
    held: _Open | None = None
    for pieces in _pieces(recording, feeder, period_s, end_s):
        begins = np.flatnonzero(np.diff(pieces.window, prepend=-1))
        part = _Open(
            pieces.window[begins],
            np.add.reduceat(pieces.width_s, begins),
            np.add.reduceat(pieces.energy_j, begins),
            np.minimum.reduceat(pieces.lowest_w, begins),
            np.maximum.reduceat(pieces.highest_w, begins),
        )
        if held is not None:
            part = held.joined(part)
        if len(part.window) > 1:
            yield part.closed(slice(None, -1), period_s)
        held = part.last()
    if held is not None:
        yield held.closed(slice(None), period_s)


def meter_line(
    recording: Recording, feeder: str, period_s: float, start_s: float, end_s: float
) -> tuple[Floats, Floats]:
    """The readings over a stretch of the run as a step function: times [s] and mean draws [W], with its end.

    Args:
        recording, feeder, period_s: as for ``readings``.
    """
    times_s, means_w = [np.zeros(0)], [np.zeros(0)]
    for part in readings(recording, feeder, period_s):
        within = (part.start_s < end_s) & (part.start_s + part.width_s > start_s)
        times_s.append(part.start_s[within])
        means_w.append(part.mean_w[within])
    at_s, means = np.concatenate(times_s), np.concatenate(means_w)
    if not len(at_s):
        return at_s, means
    return np.append(np.maximum(at_s, start_s), end_s), np.append(means, means[-1])


@dataclass(slots=True)
class _Open:
    """Intervals under way: number, width so far, energy so far, lowest and highest draw so far."""

    window: NDArray[np.int64]
    width_s: Floats
    energy_j: Floats
    lowest_w: Floats
    highest_w: Floats

    def joined(self, later: _Open) -> _Open:
        """With later ones, of which the first may be the last of these."""
        if self.window[-1] != later.window[0]:
            pairs = ((getattr(self, name), getattr(later, name)) for name in self.__slots__)
            return _Open(*(np.concatenate(pair) for pair in pairs))
        later.width_s[0] += self.width_s[-1]
        later.energy_j[0] += self.energy_j[-1]
        later.lowest_w[0] = min(later.lowest_w[0], self.lowest_w[-1])
        later.highest_w[0] = max(later.highest_w[0], self.highest_w[-1])
        return later

    def last(self) -> _Open:
        return _Open(*(getattr(self, name)[-1:] for name in self.__slots__))

    def closed(self, part: slice, period_s: float) -> Readings:
        start_s: Floats = self.window[part].astype(np.float64) * period_s
        width_s = self.width_s[part]
        mean_w: Floats = self.energy_j[part] / width_s
        # A mean lies between them, but for rounding, and where the way within a row is taken for a parabola.
        lowest_w, highest_w = np.minimum(self.lowest_w[part], mean_w), np.maximum(self.highest_w[part], mean_w)
        return Readings(start_s, width_s, mean_w, lowest_w, highest_w)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Parts of rows within one interval each."""

    window: NDArray[np.int64]
    width_s: Floats
    energy_j: Floats
    lowest_w: Floats
    highest_w: Floats


def _pieces(recording: Recording, feeder: str, period_s: float, end_s: float) -> Iterator[_Pieces]:
    """All rows of the feeder cut at the edges of the intervals, so many at a time."""
    exponent = one_exponent(recording)
    rows = blocks(of_feeder(recording.batches("power", ["feeder", *_COLUMNS]), feeder), _COLUMNS)
    held: Block | None = None
    for block in rows:
        joined = block if held is None else {name: np.append(held[name], block[name]) for name in block}
        held = {name: values[-1:] for name, values in joined.items()}
        if len(joined["time_s"]) > 1:
            closed = {name: values[:-1] for name, values in joined.items()}
            yield from _cut(closed, joined["time_s"][1:], joined["energy_j"][1:], period_s, exponent)
    if held is not None and held["time_s"][0] < end_s:
        yield from _cut(held, np.array([end_s]), np.array([np.nan]), period_s, exponent)


def _cut(rows: Block, until_s: Floats, until_j: Floats, period_s: float, exponent: float | None) -> Iterator[_Pieces]:
    """Rows cut at the edges of the intervals.

    Args:
        until_s, until_j: end of each row, and the energy at it; NaN where it is not known.
    """
    lasts = until_s > rows["time_s"]  # a row that was left in its instant holds for no time
    rows = {name: values[lasts] for name, values in rows.items()}
    until_s, until_j = until_s[lasts], until_j[lasts]
    if not len(until_s):
        return
    first, last = _window_of(float(rows["time_s"][0]), period_s), _window_of(float(until_s[-1]), period_s)
    for begin in range(first, last + 1, _MOST_WINDOWS):
        low_s = max(begin * period_s, float(rows["time_s"][0]))
        high_s = min((begin + _MOST_WINDOWS) * period_s, float(until_s[-1]))
        if high_s <= low_s:
            continue
        edges_s = np.arange(begin, min(begin + _MOST_WINDOWS, last) + 2) * period_s
        inner_s = np.concatenate([edges_s, rows["time_s"]])
        starts_s = np.unique(np.append(inner_s[(inner_s > low_s) & (inner_s < high_s)], low_s))
        ends_s = np.append(starts_s[1:], high_s)
        row = np.searchsorted(rows["time_s"], starts_s, side="right") - 1
        window = np.searchsorted(edges_s, starts_s, side="right") - 1 + begin
        at_start_w, at_end_w, energy_j = _of_parts(rows, row, until_s, until_j, starts_s, ends_s, exponent)
        yield _Pieces(
            window.astype(np.int64),
            ends_s - starts_s,
            energy_j,
            np.minimum(at_start_w, at_end_w),
            np.maximum(at_start_w, at_end_w),
        )


def _of_parts(
    rows: Block,
    row: NDArray[np.intp],
    until_s: Floats,
    until_j: Floats,
    starts_s: Floats,
    ends_s: Floats,
    exponent: float | None,
) -> tuple[Floats, Floats, Floats]:
    """Draw at the start and at the end of each part of a row, and its energy."""
    at_start_w = rows["draw_w"][row]
    at_end_w = at_start_w.copy()
    energy_j = at_start_w * (ends_s - starts_s)
    moving = np.flatnonzero(~np.isnan(rows["draw_end_w"])[row])
    bounds = [
        *np.flatnonzero(np.diff(row[moving], prepend=-1)).tolist(),
        len(moving),
    ]  # the parts of a row are together
    for begin, end in pairwise(bounds):
        parts, own = moving[begin:end], int(row[moving[begin]])
        way = Way.of(rows, own, float(until_s[own]), float(until_j[own]), exponent)
        low_s, high_s = starts_s[parts] - rows["time_s"][own], ends_s[parts] - rows["time_s"][own]
        at_start_w[parts], at_end_w[parts] = way.draw_w(low_s), way.draw_w(high_s)
        energy_j[parts] = way.energy_j(low_s, high_s)
    return at_start_w, at_end_w, energy_j


def _window_of(time_s: float, period_s: float) -> int:
    """The interval that a time lies in, by the same products that give its edges."""
    window = floor(time_s / period_s)
    while window * period_s > time_s:
        window -= 1
    while (window + 1) * period_s <= time_s:
        window += 1
    return window
