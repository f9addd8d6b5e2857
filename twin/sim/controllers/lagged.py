"""Policy ``lagged``: the speed follows the target like a charge its voltage, ds/dt = (target - s) / tau."""

from __future__ import annotations

from twin.laws.lag import Motion


class Lagged:
    """A speed in motion towards the target, from full speed on.

    Attributes:
        motion: the speed for all jobs that compute under the feeder, as a function of time.
    """

    def __init__(self, tau_s: float) -> None:
        self.motion = Motion(1.0, 0.0, 1.0, tau_s)

    command = 1.0  # it commands no speed that stays

    def observe(self, now_s: float, target: float) -> bool:
        """Move towards the target that the settled loads and the cap ask for."""
        if target == self.motion.target:
            return False
        self.motion = Motion(self.motion.at(now_s), now_s, target, self.motion.tau_s)
        return True

    def has_more_to_say(self, target: float) -> bool:
        """Never: where its motion leads is known."""
        return False
