"""Jobs that touch the same feeders: they compute at one speed, the slowest commanded there, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from twin.laws.lag import Motion, lagged_crossing_s
from twin.sim.controllers.lagged import Lagged
from twin.sim.timeline import COMMAND, Alarm, Instant, Timeline
from twin.sim.virtual_clock import LaggedClock, VirtualClock

if TYPE_CHECKING:
    from twin.sim.feeder import Feeder


class SpeedGroup:
    """The jobs of one set of feeders, and of one ceiling.

    Args:
        place: among the groups.
        path: the feeders that the jobs touch and all above them, children before parents.
        ceiling: the speed that limits in watts per node leave the jobs [-]; 1 for none.
        touched: where the clock puts itself when it wants to be settled.

    Attributes:
        speed: the common speed since the last settling [-].
        jobs: members.
    """

    def __init__(
        self,
        timeline: Timeline,
        instant: Instant,
        place: int,
        path: Sequence[Feeder],
        ceiling: float,
        touched: list[VirtualClock],
    ) -> None:
        self.place = place
        self.path = tuple(path)
        self.ceiling = ceiling
        self.jobs = 0
        self.speed = 1.0
        self.clock = self._new_clock(timeline, instant, touched)
        self.clock.group = self
        self._controllers = tuple(feeder.controller for feeder in path)

    def settle(self, now_s: float) -> None:
        """Settle the clock at the slowest speed commanded."""
        speed = min(self.ceiling, *[controller.command for controller in self._controllers])
        self.speed = speed
        self.clock.settle(now_s, speed)

    @property
    def motion(self) -> Motion:
        """How the speed goes on from the last settling."""
        return Motion(self.speed, 0.0, self.speed, 1.0)

    def _new_clock(self, timeline: Timeline, instant: Instant, touched: list[VirtualClock]) -> VirtualClock:
        return VirtualClock(timeline, instant, touched)


class LaggedGroup(SpeedGroup):
    """The same where one of the feeders moves the speed: it is the slower of that motion and of what is commanded."""

    def __init__(
        self,
        timeline: Timeline,
        instant: Instant,
        place: int,
        path: Sequence[Feeder],
        ceiling: float,
        touched: list[VirtualClock],
    ) -> None:
        super().__init__(timeline, instant, place, path, ceiling, touched)
        (self._lagged,) = [feeder.controller for feeder in path if isinstance(feeder.controller, Lagged)]
        self._motion = super().motion
        self._crossing = Alarm(timeline, self._meet, COMMAND)
        self._meeting_s = inf
        self._timeline = timeline

    @property
    def motion(self) -> Motion:
        """How the speed goes on from the last settling."""
        return self._motion

    def settle(self, now_s: float) -> None:
        """Settle the clock with the motion of the speed, up to where it meets the speed commanded, or from there on."""
        speed = min(self.ceiling, *[controller.command for controller in self._controllers])
        moving = self._lagged.motion
        moved = moving.at(now_s)
        self._meeting_s = inf
        follows = moved < speed or (moved == speed and moving.target <= speed)
        if moved != speed and follows == (moving.target > speed):  # the slower of the two will not stay so
            meeting_s = now_s + lagged_crossing_s(moved, moving.target, moving.tau_s, speed)
            if meeting_s > now_s:
                self._meeting_s = meeting_s
                self._crossing.set(meeting_s)
            else:
                follows = not follows  # they meet within a rounding
        self._motion = moving if follows else Motion(speed, 0.0, speed, moving.tau_s)
        self.speed = self._motion.at(now_s)
        self.clock.settle(now_s, self._motion)

    def _meet(self, alarm: Alarm) -> None:
        alarm.callbacks = alarm.again
        if self._timeline.now == self._meeting_s:  # or it is old news
            self.clock.touch()

    def _new_clock(self, timeline: Timeline, instant: Instant, touched: list[VirtualClock]) -> Any:
        return LaggedClock(timeline, instant, touched)
