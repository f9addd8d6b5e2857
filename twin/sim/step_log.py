"""Changes on their way to rows: the run notes numbers, numpy keeps the last state of each instant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from struct import Struct

import numpy as np

from twin.recording import ROWS_PER_GROUP


class Notes(ABC):
    """Numbers noted in order of time, packed into one buffer, which is faster than lists, or an ``array`` a column.

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


class StepLog(Notes):
    """The states of one step function.

    Args:
        values: numbers of a state.
    """

    def __init__(self, values: int) -> None:
        super().__init__(1 + values)
        self._last = np.full(1 + values, np.nan)

    def close(self) -> None:
        """Write the last instant too; the run has ended."""
        self._flush(is_over=True)

    def _write(self, notes: np.ndarray) -> None:
        rows = notes[np.append(notes[1:, 0] != notes[:-1, 0], True)]
        before = np.vstack([self._last, rows[:-1]])
        rows = rows[np.any(rows[:, 1:] != before[:, 1:], axis=1)]
        if len(rows):
            self._last = rows[-1]
            self._write_rows(rows)

    @abstractmethod
    def _write_rows(self, rows: np.ndarray) -> None:
        """Take rows without repetitions: time [s] and state in columns."""
