"""Changes on their way to rows: the run notes what holds from when on, numpy keeps the last state of each instant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable
from struct import Struct

import numpy as np

from twin.recording import ROWS_PER_GROUP


class Notes(ABC):
    """Numbers noted in order of time, packed into one buffer, which is faster than an ``array`` a column.

    Args:
        width: numbers of a note; the first is the time [s].
    """

    def __init__(self, width: int) -> None:
        row = Struct(f"={width}d")
        self._width = width
        self._pack_into = row.pack_into
        self._row_bytes = row.size
        self._buffer = bytearray(row.size * ROWS_PER_GROUP)
        self._offset = 0

    def note(self, *values: float) -> None:
        """The time [s], and what holds from then on."""
        offset = self._offset
        self._pack_into(self._buffer, offset, *values)
        self._offset = offset = offset + self._row_bytes
        if offset == len(self._buffer):
            self._flush(is_over=False)

    def _flush(self, is_over: bool) -> None:
        """Write the instants noted but the last, which may not be over unless the run is."""
        notes = np.frombuffer(self._buffer, np.float64, self._offset // 8).reshape(-1, self._width)
        count = len(notes) if is_over else int(np.searchsorted(notes[:, 0], notes[-1, 0]))
        rows, rest = notes[:count].copy(), notes[count:].tobytes()
        del notes
        self._buffer[: len(rest)] = rest
        self._offset = len(rest)
        if self._offset == len(self._buffer):  # all in one instant
            self._buffer.extend(bytes(len(self._buffer)))
        if count:
            self._write(rows)

    @abstractmethod
    def _write(self, notes: np.ndarray) -> None:
        """Take whole instants, of each of which the last note counts; shape (notes, width)."""


class StateLog:
    """The states of one step function that comes back to the same ones again and again, noted by their numbers.

    Args:
        write: takes the times [s] and the states of a block in the rows of an array, one for each instant, in order of
            time.
    """

    def __init__(self, write: Callable[[np.ndarray, np.ndarray], None]) -> None:
        self._write = write
        self._known: list[tuple[float, ...]] = []
        self._times_s = array("d")
        self._numbers = array("i")

    def number_of(self, *values: float) -> int:
        """A number for a new state."""
        self._known.append(values)
        return len(self._known) - 1

    def note(self, now_s: float, number: int) -> None:
        """The state is that of the number from ``now_s`` [s] on."""
        self._numbers.append(number)
        self._times_s.append(now_s)
        if len(self._numbers) > ROWS_PER_GROUP:
            self._flush()

    def forget(self) -> None:
        """Give all numbers back."""
        if self._numbers:
            self._flush()
            self._known = [self._known[self._numbers[-1]]]
            self._numbers[-1] = 0

    def close(self) -> None:
        """Write the last instant too; the run has ended."""
        self._flush()
        self._write(np.array(self._times_s), np.array(self._known)[self._numbers])

    def _flush(self) -> None:
        """Write all instants but the last, which may not be over: its newest state stays."""
        times_s, numbers = np.array(self._times_s), np.array(self._numbers)
        is_last = times_s[1:] != times_s[:-1]
        if is_last.any():
            self._write(times_s[:-1][is_last], np.array(self._known)[numbers[:-1][is_last]])
        del self._times_s[:-1], self._numbers[:-1]
