"""Right-continuous step functions on their way to rows: the run notes times and states, numpy does the rest."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np

from twin.recording import ROWS_PER_GROUP

Write = Callable[[np.ndarray, np.ndarray], None]


class StepLog:
    """The states of one step function, of which the last one of each instant counts.

    Args:
        write: takes the times [s] and the states' numbers of a block, one a time, in order of time.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._times_s = array("d")
        self._states = array("i")

    def note(self, now_s: float, state: int) -> None:
        """The state is ``state`` from ``now_s`` [s] on."""
        self._times_s.append(now_s)
        self._states.append(state)
        if len(self._times_s) > ROWS_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        """Write all instants but the last, which may not be over."""
        times_s, states = np.array(self._times_s), np.array(self._states)
        is_last = times_s[1:] != times_s[:-1]
        self._write(times_s[:-1][is_last], states[:-1][is_last])
        del self._times_s[:-1], self._states[:-1]

    def restart_numbers(self) -> None:
        """The last state noted is number 0 from now on."""
        self._states[-1] = 0

    def close(self) -> None:
        """Write the last instant too; the run has ended."""
        self.flush()
        self._write(np.array(self._times_s), np.array(self._states))
