"""The shared store: every transfer present gets its weight's share of F(W), on one virtual clock."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import numpy as np

from twin.fleet import total_rate_b_s
from twin.recording import Rows
from twin.scenario import Storage
from twin.sim.step_log import StepLog
from twin.sim.timeline import Instant, Timeline
from twin.sim.virtual_clock import User, VirtualClock

_FREE = 1_000_000_000  # lanes of a store without lanes: more than there can be jobs


class Transfer:
    """One checkpoint on its way into the store.

    Args:
        weight: its share is weight / W.
        due_s: when the checkpoint was due [s]; lanes are granted in this order, ties in that of the users.
        started: called when it begins to be served, if it had to wait.

    Attributes:
        start_s: when it began to be served [s]; None while it waits.
    """

    __slots__ = ("due_s", "size_b", "start_s", "started", "user", "weight")

    def __init__(
        self, size_b: float, weight: int, due_s: float, user: User, started: Callable[[], None] | None = None
    ) -> None:
        self.size_b = size_b
        self.weight = weight
        self.due_s = due_s
        self.user = user
        self.started = started
        self.start_s: float | None = None


class StorageServer:
    """Admits transfers, and wakes their jobs when they are served; records writers and rate at every change.

    Args:
        rows: where changes go; None records nothing.

    Attributes:
        writers, weight: transfers being served and their weights; who is served takes itself off.
        queue: transfers that wait for a lane, by the time they were due.
    """

    def __init__(self, timeline: Timeline, instant: Instant, storage: Storage, rows: Rows | None) -> None:
        self._timeline = timeline
        self._storage = storage
        self._lanes = storage.lanes if isinstance(storage.lanes, int) else _FREE
        self._log = None if rows is None else _StorageLog(storage, rows)
        self.clock = VirtualClock(timeline, instant)
        self.writers = 0
        self.weight = 0
        self.queue: list[tuple[float, int, Transfer]] = []
        self._weight_before = self._writers_before = 0  # at the last settling
        self._waited = False  # somebody did
        self._shares_b_s = {0: 0.0}  # F(W) / W by W
        if self._log is not None:
            self._log.note(0.0, 0, 0, 0)

    def write(self, transfer: Transfer) -> None:
        """Start a transfer, or let it wait for a lane; its user's process is resumed at its end."""
        if self._lanes is _FREE:
            transfer.start_s = self._timeline._now
            self.writers += 1
            self.weight += transfer.weight
            self.clock.join(transfer.size_b / transfer.weight, transfer.user)
        else:
            transfer.start_s = None
            heappush(self.queue, (transfer.due_s, transfer.user.order, transfer))
            self.clock.touch()

    def grant(self, now_s: float) -> None:
        """Give free lanes to who waits, the earliest due first."""
        while self.queue and self.writers < self._lanes:
            transfer = heappop(self.queue)[2]
            transfer.start_s = now_s
            self.writers += 1
            self.weight += transfer.weight
            self.clock.join(transfer.size_b / transfer.weight, transfer.user)
            if transfer.started is not None:
                transfer.started()

    def settle(self, now_s: float) -> None:
        """Set the rate for the transfers present from ``now_s`` [s] on."""
        weight = self.weight
        try:
            share_b_s = self._shares_b_s[weight]
        except KeyError:
            share_b_s = self._shares_b_s[weight] = total_rate_b_s(self._storage, weight) / weight
        self.clock.settle(now_s, share_b_s)
        writers = self.writers
        if weight != self._weight_before or writers != self._writers_before or self.queue or self._waited:
            self._weight_before, self._writers_before = weight, writers
            self._waited = bool(self.queue)
            if self._log is not None:
                self._log.note(now_s, writers, weight, len(self.queue))

    def close(self) -> None:
        """Record the last instant; the run has ended."""
        if self._log is not None:
            self._log.close()


class _StorageLog(StepLog):
    """Rows of the storage table from writers, weight and waiting."""

    def __init__(self, storage: Storage, rows: Rows) -> None:
        super().__init__(3)
        self._storage = storage
        self._rows = rows

    def _write_rows(self, rows: np.ndarray) -> None:
        times_s, writers, weights, waiting = rows.T
        present, places = np.unique(weights, return_inverse=True)
        rates_b_s = np.array([total_rate_b_s(self._storage, int(weight)) for weight in present])[places]
        readers = np.zeros(len(rows), np.int32)
        self._rows.extend([times_s, writers.astype(np.int32), readers, waiting.astype(np.int32), rates_b_s])
