"""Commands on their way: each takes effect at its due time, in the order in which they were given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from twin.sim.timeline import COMMAND, Alarm, Timeline


class CommandsInFlight:
    """A first-in, first-out queue of commands, one alarm for all.

    Args:
        obey: takes a command at its due time, before the instant is settled.
    """

    def __init__(self, timeline: Timeline, obey: Callable[[Any], None]) -> None:
        self._alarm = Alarm(timeline, self._ring, COMMAND)
        self._timeline = timeline
        self._obey = obey
        self._queue: deque[tuple[float, Any]] = deque()

    def send(self, due_s: float, command: Any) -> None:
        """Let ``command`` take effect at ``due_s`` [s]; of two for one instant the later counts."""
        if self._queue and self._queue[-1][0] == due_s:
            self._queue[-1] = (due_s, command)
        else:
            self._queue.append((due_s, command))
            self._alarm.set(due_s)

    def __bool__(self) -> bool:
        return bool(self._queue)

    def _ring(self, alarm: Alarm) -> None:
        alarm.callbacks = alarm.again
        now_s = self._timeline._now
        while self._queue and self._queue[0][0] <= now_s:
            self._obey(self._queue.popleft()[1])
