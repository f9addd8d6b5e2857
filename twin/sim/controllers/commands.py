"""Commands on their way: each takes effect at its due time, in the order in which they were given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from twin.sim.timeline import COMMAND, Alarm, Instant


class CommandsInFlight:
    """A first-in, first-out queue of commands, one alarm for all.

    Args:
        obey: takes a command at its due time, before the instant is settled.
    """

    def __init__(self, instant: Instant, obey: Callable[[Any], None]) -> None:
        self._instant = instant
        self._timeline = instant.timeline
        self._alarm = Alarm(instant.timeline, self._ring, COMMAND)
        self._obey = obey
        self._queue: deque[tuple[float, Any]] = deque()

    def send(self, due_s: float, command: Any) -> None:
        """Let ``command`` take effect at ``due_s`` [s], not before the last one sent; of two for one instant the later
        counts.
        """
        queue = self._queue
        if not queue:
            self._alarm.set(due_s)
        elif queue[-1][0] == due_s:
            queue.pop()
        queue.append((due_s, command))

    def __bool__(self) -> bool:
        return bool(self._queue)

    def _ring(self, alarm: Alarm) -> None:
        alarm.callbacks = alarm.again
        self._instant.after(self._deliver)

    def _deliver(self) -> None:
        queue = self._queue
        self._obey(queue.popleft()[1])
        if queue:
            self._alarm.set(queue[0][0])
