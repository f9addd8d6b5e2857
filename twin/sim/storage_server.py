"""The shared store: every transfer present gets an equal share of F(W), on one virtual clock."""

from __future__ import annotations

import numpy as np

from twin.fleet import total_rate_b_s
from twin.recording import Rows
from twin.scenario import Storage
from twin.sim.step_log import StepLog
from twin.sim.timeline import Instant, Timeline
from twin.sim.virtual_clock import User, VirtualClock


class StorageServer:
    """Admits writes and wakes their jobs when served; records writers and rate at every change.

    Args:
        rows: where changes go; None records nothing.

    Attributes:
        writers: transfers present; the job whose write has ended takes itself off.
    """

    def __init__(self, timeline: Timeline, instant: Instant, storage: Storage, rows: Rows | None) -> None:
        self._storage = storage
        self._rows = rows
        self._log = None if rows is None else StepLog(self._write_rows)
        self._recorded = -1
        self.clock = VirtualClock(timeline, instant)
        self.writers = 0
        self._settled_writers = 0
        self._rates_b_s = [0.0]  # F(W) by the number of writers
        self._shares_b_s = [0.0]  # F(W) / W
        if self._log is not None:
            self._log.note(0.0, 0)

    def write(self, size_b: float, user: User) -> None:
        """Start a write of ``size_b`` [B]; the user's process is resumed at its end."""
        self.writers += 1
        self.clock.join(size_b, user)

    def settle(self, now_s: float) -> None:
        """Set the rate for the writers present from ``now_s`` [s] on."""
        writers = self.writers
        if writers >= len(self._shares_b_s):
            self._extend_rates(writers)
        self.clock.settle(now_s, self._shares_b_s[writers])
        if writers != self._settled_writers:
            self._settled_writers = writers
            if self._log is not None:
                self._log.note(now_s, writers)

    def close(self) -> None:
        """Record the last instant; the run has ended."""
        if self._log is not None:
            self._log.close()

    def _extend_rates(self, writers: int) -> None:
        for weight in range(len(self._rates_b_s), writers + 1):
            rate_b_s = total_rate_b_s(self._storage, weight)
            self._rates_b_s.append(rate_b_s)
            self._shares_b_s.append(rate_b_s / weight)

    def _write_rows(self, times_s: np.ndarray, writers: np.ndarray) -> None:
        is_news = np.diff(writers, prepend=self._recorded) != 0
        times_s, writers = times_s[is_news], writers[is_news]
        if self._rows is None or len(writers) == 0:
            return
        none = np.zeros(len(writers), np.int32)
        self._rows.extend([times_s, writers, none, none, np.array(self._rates_b_s)[writers]])
        self._recorded = int(writers[-1])
