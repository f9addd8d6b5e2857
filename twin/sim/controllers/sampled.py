"""Policy ``sampled``: the target at regular ticks, a while later."""

from __future__ import annotations

from collections.abc import Callable

from twin.sim.controllers.commands import CommandsInFlight
from twin.sim.timeline import SAMPLE, Alarm, Instant


class Sampled:
    """Reads the target at offset + k * period, k = 0, 1, 2, ..., and commands it ``latency_s`` later.

    Args:
        period_s, offset_s, latency_s: [s].
        target: reads the target that the settled loads and the cap ask for.
        changed: called when a command takes effect.

    Attributes:
        command: the speed for all jobs that compute under the feeder [-].
    """

    def __init__(
        self,
        instant: Instant,
        period_s: float,
        offset_s: float,
        latency_s: float,
        target: Callable[[], float],
        changed: Callable[[], None],
    ) -> None:
        self.command = 1.0
        self._sent = 1.0  # the newest command, in flight or obeyed
        self._period_s, self._offset_s, self._latency_s = period_s, offset_s, latency_s
        self._target = target
        self._changed = changed
        self._timeline = timeline = instant.timeline
        self._in_flight = CommandsInFlight(instant, self._obey)
        self._tick_number = 0
        Alarm(timeline, self._tick, SAMPLE).set(offset_s)

    def observe(self, now_s: float, target: float) -> bool:
        """What happens between ticks is not seen."""
        return False

    def has_more_to_say(self, target: float) -> bool:
        """Whether a command is still to come if nothing else changes."""
        return bool(self._in_flight) or target != self.command

    def _tick(self, ticks: Alarm) -> None:
        target = self._target()
        if target != self._sent:
            self._sent = target
            self._in_flight.send(self._timeline._now + self._latency_s, target)
        self._tick_number += 1
        ticks.set(self._offset_s + self._tick_number * self._period_s)

    def _obey(self, command: float) -> None:
        self.command = command
        self._changed()
