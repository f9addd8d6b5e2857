"""Caps that change: each change is queued, the next one when it has come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, inf

from twin.scenario import Cap, DailyCap
from twin.sim.timeline import COMMAND, Alarm, Timeline
from twin.units import DAY_S


class CapSchedule:
    """The cap of one feeder over time.

    Args:
        cap: as in the scenario; None for no cap.
        start_s: time of day of t = 0, from which a daily cap starts [s].

    Attributes:
        cap_w: the cap at present [W]; inf for none.
    """

    def __init__(self, cap: Cap | None, start_s: float) -> None:
        self.cap_w = inf
        self._times_s: Sequence[float] = ()
        self._values_w: Sequence[float] = ()
        self._start_s = start_s
        self._is_daily = isinstance(cap, DailyCap)
        self._next = 0  # number of the next change
        if isinstance(cap, float):
            self.cap_w = cap
        elif cap is not None:
            steps = cap.daily if isinstance(cap, DailyCap) else cap
            self._times_s = [step.at_s for step in steps]
            self._values_w = [step.value_w for step in steps]
            self._skip_past()

    @property
    def period_s(self) -> float:
        """Time after which the changes repeat [s]; 0 if they do not, or if there are none."""
        return DAY_S if self._is_daily and len(set(self._values_w)) > 1 else 0.0

    def start(self, timeline: Timeline, changed: Callable[[float], None]) -> None:
        """Queue the changes; ``changed`` takes the new cap [W]."""

        def change(alarm: Alarm) -> None:
            alarm.callbacks = alarm.again
            self.cap_w = self._values_w[self._next % len(self._values_w)]
            self._next += 1
            changed(self.cap_w)
            self._queue(alarm)

        self._queue(Alarm(timeline, change, COMMAND))

    @property
    def has_more(self) -> bool:
        """A change is still to come."""
        return self._due_s(self._next) < inf

    def _queue(self, alarm: Alarm) -> None:
        if self.has_more:
            alarm.set(self._due_s(self._next))

    def _due_s(self, number: int) -> float:
        """Time of a change [s]; inf if there is none of that number."""
        count = len(self._times_s)
        if self._is_daily:
            day, place = divmod(number, count)
            return day * DAY_S + self._times_s[place] - self._start_s
        return self._times_s[number] if number < count else inf

    def _skip_past(self) -> None:
        """Go to the first change after t = 0; the last one before it holds until then."""
        count = len(self._times_s)
        if self._is_daily:
            self._next = floor(self._start_s / DAY_S) * count
            self.cap_w = self._values_w[-1]
        while self._due_s(self._next) <= 0.0:
            self.cap_w = self._values_w[self._next % count]
            self._next += 1
