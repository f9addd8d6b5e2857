"""Policy ``delayed``: the target of a while ago."""

from __future__ import annotations

from collections.abc import Callable

from twin.sim.controllers.commands import CommandsInFlight
from twin.sim.timeline import Instant


class Delayed:
    """Commands the target as it was ``delay_s`` ago; full speed until the first observation arrives.

    Args:
        delay_s: from the close of an instant to the command [s].
        changed: called when a command takes effect.

    Attributes:
        command: the speed for all jobs that compute under the feeder [-].
    """

    def __init__(self, instant: Instant, delay_s: float, changed: Callable[[], None]) -> None:
        self.command = 1.0
        self._sent = 1.0  # the newest command, in flight or obeyed
        self._delay_s = delay_s
        self._changed = changed
        self._in_flight = CommandsInFlight(instant, self._obey)

    def observe(self, now_s: float, target: float) -> bool:
        """Send the target on its way; of several in one instant the last counts."""
        if target != self._sent:
            self._sent = target
            self._in_flight.send(now_s + self._delay_s, target)
        return False

    def has_more_to_say(self, target: float) -> bool:
        """Whether a command is still to come if nothing else changes."""
        return bool(self._in_flight) or target != self.command

    def _obey(self, command: float) -> None:
        self.command = command
        self._changed()
