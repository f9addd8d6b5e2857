"""Absolute time, order within an instant and reusable events: the one module that leans on SimPy's internals,
but for `_now`, which the hot path reads everywhere because the property would cost a call.

SimPy sorts its queue by (time, priority, serial) and takes any integer priority, so the order within an instant
is a priority: phase ends, commands and cap changes, the settling, samples, the record of the last state, the stop. An
event whose ``callbacks`` are filled again can be queued again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from heapq import heappush
from typing import Any

import simpy
from simpy.events import Event

PHASE_END, COMMAND, SETTLE, SAMPLE, RECORD, STOP = range(6)

Process = Generator[None, None, None]  # yields whenever it waits; who it waits for calls its ``__next__``


class Timeline(simpy.Environment):
    """A SimPy environment whose events are queued at absolute times: now + (t - now) is not always t."""

    def at(self, event: Event, time_s: float, priority: int) -> None:
        """Queue an event at ``time_s`` [s], which is not in the past."""
        heappush(self._queue, (time_s, priority, next(self._eid), event))  # type: ignore[misc]

    def advance(self, until: Event, events: int) -> bool:
        """Take events from the queue, up to and with ``until`` but at most so many; whether ``until`` was reached."""
        step = self.step
        for _ in range(events):
            step()
            if until.callbacks is None:  # processed; asked in every step, the property costs a tenth of it
                return True
        return False


class Moment(Event):
    """An event that only ever succeeds, and is queued by hand."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(timeline)
        self._ok = True
        self._value = None


class Alarm(Moment):
    """One event that is queued again and again and calls back whenever it rings.

    Several rings may be queued at once if the callback ends by ``alarm.callbacks = alarm.again``.
    """

    def __init__(self, timeline: Timeline, callback: Callable[[Any], None], priority: int) -> None:
        super().__init__(timeline)
        self._queue: list[Any] = timeline._queue
        self._serial = timeline._eid
        self._priority = priority
        self.again: list[Callable[[Any], None]] = [callback]

    def set(self, time_s: float) -> None:
        """Ring at ``time_s`` [s]; what was set before still rings."""
        self.callbacks = self.again
        heappush(self._queue, (time_s, self._priority, next(self._serial), self))  # Timeline.at, unrolled


class Instant:
    """Closes each instant once: phase ends ask for it, and ``settle`` runs after the last of them.

    Args:
        settle: takes the time [s]; grants, joins and sets rates.
        endless: called after every ``ROUNDS`` settlings of one instant; raises the error of one that never ends.

    Attributes:
        timeline: where it belongs.
        is_asked: the present instant will be settled; whoever needs that calls ``ask`` unless this is true.
    """

    ROUNDS = 20_000  # a fleet that advances needs a handful, or one for each job whose marks lie within an ulp of time

    def __init__(self, timeline: Timeline, settle: Callable[[float], None], endless: Callable[[], None]) -> None:
        self.is_asked = False
        self.timeline = timeline
        self._queue: list[Any] = timeline._queue
        self._settle = settle
        self._endless = endless
        self._alarm = Alarm(timeline, self._close, SETTLE)
        self._last_s = -1.0
        self._rounds = 0
        self._rounds_at_s = -1.0

    def ask(self) -> None:
        """Settle before time moves on."""
        if not self.is_asked:
            self.is_asked = True
            self._alarm.set(self.timeline._now)

    def after(self, phase_ends: Callable[[], None]) -> None:
        """Run phase ends or commands, then settle: at once if nothing else is due now, to save an event in three."""
        if self.is_asked:
            phase_ends()
            return
        self.is_asked = True
        phase_ends()
        queue, now_s = self._queue, self.timeline._now
        if queue and queue[0][0] <= now_s:
            self._alarm.set(now_s)
        else:
            self._close(None)

    def _close(self, _alarm: Event | None) -> None:
        now_s = self.timeline._now
        self.is_asked = False
        if now_s == self._last_s:
            self._count_round(now_s)
        self._last_s = now_s
        self._settle(now_s)

    def _count_round(self, now_s: float) -> None:
        if now_s != self._rounds_at_s:
            self._rounds_at_s, self._rounds = now_s, 0
        self._rounds += 1
        if self._rounds % self.ROUNDS == 0:
            self._endless()
