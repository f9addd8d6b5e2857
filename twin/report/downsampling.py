"""Step functions of any length -> lines of few points that keep every spike."""

from __future__ import annotations

from math import ceil

import numpy as np

from twin.analysis.blocks import Floats

MOST_POINTS = 4000  # of one line: a browser stays quick, and no screen has more columns
_KEPT_PER_BIN = 4
MEAN_BINS = 400  # at most, for the mean of a line
_DENSE = 500  # rows: with more, a line on a screen is a band, and only its mean tells where it is within
_ROUNDING = 1e-12  # of a bin: no bin for that


class BinMeans:
    """Time average of a step function, given in stretches, over each of equal bins of time.

    Args:
        start_s, end_s: the time to show [s]; before its first row the function is 0.
        bin_s: width of a bin [s]; the last one ends with the time to show.
    """

    def __init__(self, start_s: float, end_s: float, bin_s: float) -> None:
        bins = max(1, ceil((end_s - start_s) / bin_s * (1.0 - _ROUNDING)))
        self.edges_s: Floats = np.append(start_s + bin_s * np.arange(bins), end_s)
        self._area_at_edge: Floats = np.zeros(bins + 1)
        self._time_s, self._value, self._area = start_s, 0.0, 0.0

    def add(self, time_s: Floats, values: Floats) -> None:
        """Append rows within the time shown, times rising; shape (rows,) both, rows > 0."""
        times_s, levels = np.append(self._time_s, time_s), np.append(self._value, values)
        area = self._area + np.append(0.0, np.cumsum(levels[:-1] * np.diff(times_s)))
        passed = (self.edges_s > times_s[0]) & (self.edges_s <= times_s[-1])
        self._area_at_edge[passed] = np.interp(self.edges_s[passed], times_s, area)
        self._time_s, self._value, self._area = float(times_s[-1]), float(levels[-1]), float(area[-1])

    def line(self) -> tuple[Floats, Floats]:
        """Start of each bin and its mean, as a step function that ends at the end of the time shown."""
        self.add(self.edges_s[-1:], np.array([self._value]))
        means = np.diff(self._area_at_edge) / np.diff(self.edges_s)
        return self.edges_s, np.append(means, means[-1])


class ThinnedLine:
    """A step function, given in stretches, kept as its first, lowest, highest and last row in each bin of time.

    Up to ``most`` rows it is kept as it is. Its extremes survive at any length: a spike of one row stays in sight.
    The last row of each bin keeps the level right that holds until the next row, however far away that is.

    Args:
        start_s, end_s: the time to show [s]; rows outside are left out, but for the last one before it.
        mean_s: width of the bins over which a dense line is averaged [s]; default ``MEAN_BINS`` of them.
        most: rows kept at most.
    """

    def __init__(self, start_s: float, end_s: float, mean_s: float | None = None, most: int = MOST_POINTS) -> None:
        self._start_s = start_s
        self._end_s = end_s
        self._most = most
        self._time_s: Floats = np.zeros(0)
        self._values: Floats = np.zeros(0)
        self._means = BinMeans(start_s, end_s, mean_s or (end_s - start_s) / MEAN_BINS)
        self._rows = 0
        self.is_thinned = False

    def add(self, time_s: Floats, values: Floats) -> None:
        """Append rows, times rising; shape (rows,) both."""
        stop = int(np.searchsorted(time_s, self._end_s, side="right"))
        start = max(0, int(np.searchsorted(time_s[:stop], self._start_s, side="right")) - 1)
        if start == stop:
            return
        shown_s, levels = np.maximum(time_s[start:stop], self._start_s), values[start:stop].astype(np.float64)
        self._means.add(shown_s, levels)
        self._rows += stop - start
        self._time_s, self._values = np.append(self._time_s, shown_s), np.append(self._values, levels)
        self._drop_replaced()
        if len(self._time_s) > self._most:
            self._thin()

    def points(self) -> tuple[Floats, Floats]:
        """Times [s] and levels from the start to the end of the time shown; the last level is repeated at the end."""
        if not len(self._time_s):
            return self._time_s, self._values
        return np.append(self._time_s, self._end_s), np.append(self._values, self._values[-1])

    def means(self) -> tuple[Floats, Floats] | None:
        """The time average in each of equal bins, as a step function; None if the line is no dense band."""
        return self._means.line() if self._rows > _DENSE else None

    def _drop_replaced(self) -> None:
        """Of the rows up to the start of the time shown only the last holds in it."""
        before = int(np.searchsorted(self._time_s, self._start_s, side="right")) - 1
        if before > 0:
            self._time_s, self._values = self._time_s[before:], self._values[before:]

    def _thin(self) -> None:
        bins = self._most // _KEPT_PER_BIN
        place = (self._time_s - self._start_s) * (bins / (self._end_s - self._start_s))
        kept = extremes(np.minimum(place.astype(np.int64), bins - 1), self._values)
        self._time_s, self._values = self._time_s[kept], self._values[kept]
        self.is_thinned = True


def extremes(bin_of: np.ndarray, values: Floats) -> np.ndarray:
    """Indices of the first, lowest, highest and last value of each bin, rising; of equals the first.

    Args:
        bin_of: bin of each value, never falling, shape (n,), n > 0.
    """
    first = np.flatnonzero(np.diff(bin_of, prepend=bin_of[0] - 1))
    counts = np.diff(first, append=len(values))
    kept = [first, first + counts - 1]
    for extreme in (np.minimum, np.maximum):
        hits = np.flatnonzero(values == np.repeat(extreme.reduceat(values, first), counts))
        kept.append(hits[np.unique(bin_of[hits], return_index=True)[1]])
    return np.unique(np.concatenate(kept))
