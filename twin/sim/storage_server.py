"""The shared store: every transfer present gets its weight's share of F(W), on one virtual clock."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np

from twin.fleet import total_rate_b_s
from twin.recording import Rows
from twin.scenario import Storage
from twin.sim.feeder import REMEMBERED
from twin.sim.step_log import StateLog
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

    __slots__ = ("due_s", "start_s", "started", "user", "weight", "work")

    def __init__(
        self, size_b: float, weight: int, due_s: float, user: User, started: Callable[[], None] | None = None
    ) -> None:
        self.weight = weight
        self.work = size_b / weight  # on the clock of the store
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
        takes_all: it has no lanes, so that nobody waits.
        queue: transfers that wait for a lane, by the time they were due.
    """

    def __init__(self, timeline: Timeline, instant: Instant, storage: Storage, rows: Rows | None) -> None:
        self._timeline = timeline
        self._storage = storage
        self._lanes = storage.lanes if isinstance(storage.lanes, int) else _FREE
        self.takes_all = self._lanes is _FREE
        self._rows = rows
        self._log = None if rows is None else StateLog(self._write_rows)
        self._recorded = np.full(3, np.nan)  # writers, waiting and rate of the last row
        self.clock = VirtualClock(timeline, instant)
        self.writers = 0
        self.weight = 0
        self.queue: list[tuple[float, int, Transfer]] = []
        self._is_plain = self.takes_all and storage.share == "job"  # then the writers say all
        self._states: dict[Any, tuple[float, int]] = {}  # F(W) / W [B/s] and number
        self._state = self._work_out(0 if self._is_plain else (0, 0, 0))
        if self._log is not None:
            self._log.note(0.0, self._state[1])

    def admit(self, work: float, weight: int, user: User) -> None:
        """Begin to serve ``work`` [B / weight] at once; the user's process is resumed at its end."""
        self.writers += 1
        self.weight += weight
        self.clock.join(work, user)

    def write(self, transfer: Transfer) -> None:
        """Start a transfer, or let it wait for a lane; its user's process is resumed at its end."""
        if self.takes_all:
            transfer.start_s = self._timeline.now
            self.admit(transfer.work, transfer.weight, transfer.user)
        else:
            transfer.start_s = None
            heappush(self.queue, (transfer.due_s, transfer.user.order, transfer))
            self.clock.touch()

    def grant(self, now_s: float) -> None:
        """Give free lanes to who waits, the earliest due first."""
        while self.queue and self.writers < self._lanes:
            transfer = heappop(self.queue)[2]
            transfer.start_s = now_s
            self.admit(transfer.work, transfer.weight, transfer.user)
            if transfer.started is not None:
                transfer.started()

    def settle(self, now_s: float) -> None:
        """Set the rate for the transfers present from ``now_s`` [s] on."""
        key = self.writers if self._is_plain else (self.writers, self.weight, len(self.queue))
        try:
            state = self._states[key]
        except KeyError:
            state = self._work_out(key)
        self.clock.settle(now_s, state[0])
        if state is not self._state:
            self._state = state
            if self._log is not None:
                self._log.note(now_s, state[1])

    def close(self) -> None:
        """Record the last instant; the run has ended."""
        if self._log is not None:
            self._log.close()

    def _work_out(self, key: Any) -> tuple[float, int]:
        """Remember the state of so many writers, or of writers, weight and waiting."""
        writers, weight, waiting = (key, key, 0) if self._is_plain else key
        if len(self._states) >= REMEMBERED:
            self._states.clear()
            if self._log is not None:
                self._log.forget()
        rate_b_s = total_rate_b_s(self._storage, weight)
        number = 0 if self._log is None else self._log.number_of(writers, waiting, rate_b_s)
        state = self._states[key] = rate_b_s / weight if weight else 0.0, number
        return state

    def _write_rows(self, times_s: np.ndarray, states: np.ndarray) -> None:
        is_news = np.any(states != np.vstack([self._recorded, states[:-1]]), axis=1)
        times_s, states = times_s[is_news], states[is_news]
        if self._rows is None or len(states) == 0:
            return
        self._recorded = states[-1]
        writers, waiting = (states[:, place].astype(np.int32) for place in (0, 1))
        self._rows.extend([times_s, writers, np.zeros_like(writers), waiting, np.ascontiguousarray(states[:, 2])])
