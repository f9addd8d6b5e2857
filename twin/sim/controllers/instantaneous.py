"""Policies ``none`` and ``anonymous``: no memory, nothing to wait for."""

from __future__ import annotations


class Uncontrolled:
    """Full speed, whatever the target."""

    command = 1.0

    def observe(self, now_s: float, target: float) -> bool:
        """The target is of no interest."""
        return False

    def has_more_to_say(self, target: float) -> bool:
        """Never."""
        return False


class Anonymous:
    """The target itself, at once: idealised.

    Attributes:
        command: the speed for all jobs that compute under the feeder [-].
    """

    def __init__(self) -> None:
        self.command = 1.0

    def observe(self, now_s: float, target: float) -> bool:
        """Command what the settled loads and the cap ask for."""
        if target == self.command:
            return False
        self.command = target
        return True

    def has_more_to_say(self, target: float) -> bool:
        """Never, while nothing changes."""
        return False
