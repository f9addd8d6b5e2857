"""Excursions above a cap: when the draw of a feeder rises above it, how high, how much energy, and when that ends."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from twin.laws.speed import EXCESS
from twin.recording import Rows
from twin.sim.feeder import Feeder
from twin.sim.moving_feeder import MovingFeeder
from twin.sim.timeline import RECORD, Alarm, Timeline


class CapWatch:
    """Watches the feeders with a cap, or a limit to be counted against, at the close of each instant.

    Args:
        events: where excursions go; None records nothing.
    """

    def __init__(self, timeline: Timeline, feeders: Sequence[Feeder], events: Rows | None) -> None:
        self._timeline = timeline
        watched = [] if events is None else [feeder for feeder in feeders if feeder.limit_w < inf]
        self._watched = {feeder: _Excursion(timeline, feeder, events) for feeder in watched}
        self._to_see: list[_Excursion] = []
        self._alarm = Alarm(timeline, self._close_instant, RECORD)

    def look_at(self, feeder: Feeder) -> None:
        """Its draw, its cap or its limit has changed in this instant."""
        excursion = self._watched.get(feeder)
        if excursion is None or not (excursion.is_of_interest or feeder.draw_w > feeder.limit_w * (1.0 + EXCESS)):
            return
        if not self._to_see:
            self._alarm.set(self._timeline._now)
        if excursion not in self._to_see:
            self._to_see.append(excursion)

    def close(self, end_s: float) -> None:
        """The run has ended, and with it every excursion."""
        for excursion in self._watched.values():
            excursion.count(end_s)
            excursion.turn(end_s, is_over=False)

    def _close_instant(self, alarm: Alarm) -> None:
        alarm.callbacks = alarm.again
        for excursion in sorted(self._to_see, key=lambda excursion: excursion.feeder.place):
            excursion.go_on(self._timeline._now)
        self._to_see.clear()


class _Excursion:
    """What one feeder does above its cap."""

    def __init__(self, timeline: Timeline, feeder: Feeder, events: Rows | None) -> None:
        self.feeder = feeder
        self._events = events
        self._timeline = timeline
        self._is_over = False
        self._since_s = 0.0
        self._draw_w = self._limit_w = 0.0  # from then on
        self._energy_j = 0.0  # drawn until then, where draws move
        self._peak_w = self._excess_j = 0.0
        self._crossing = Alarm(timeline, self._cross, RECORD)
        self._crossing_s = inf

    @property
    def is_of_interest(self) -> bool:
        """Below the cap too."""
        return self._is_over or isinstance(self.feeder, MovingFeeder)

    def go_on(self, now_s: float) -> None:
        """Count what went before, see whether the draw is above the cap from now on, and when that will change."""
        self.count(now_s)
        self._draw_w, self._limit_w = self.feeder.draw_w, self.feeder.limit_w
        if isinstance(self.feeder, MovingFeeder) and not self.feeder.is_settled_at(now_s):
            self._draw_w = self.feeder.draw_at(now_s)
        level_w = self._limit_w * (1.0 + EXCESS)
        self.turn(now_s, self._draw_w > level_w)
        if isinstance(self.feeder, MovingFeeder):
            self._crossing_s = self.feeder.crossing_s(now_s, level_w)
            if self._crossing_s < inf:
                self._crossing.set(self._crossing_s)

    def count(self, now_s: float) -> None:
        """Count the time since the last call."""
        span_s = now_s - self._since_s
        energy_j, draw_before_w = self._draw_w * span_s, self._draw_w
        if isinstance(self.feeder, MovingFeeder):
            before_j, self._energy_j = self._energy_j, self.feeder.energy_at(now_s)
            energy_j = self._energy_j - before_j
            draw_before_w = (
                self.feeder.draw_before_w if self.feeder.is_settled_at(now_s) else self.feeder.draw_at(now_s)
            )
        if self._is_over and span_s > 0.0:
            self._excess_j += energy_j - self._limit_w * span_s
            self._peak_w = max(self._peak_w, self._draw_w, draw_before_w)
        self._since_s = now_s

    def turn(self, now_s: float, is_over: bool) -> None:
        """Begin or end the excursion."""
        if is_over and not self._is_over:
            self._peak_w = self._excess_j = 0.0
            self._record(now_s, "cap_exceeded", self._draw_w, "the draw rises above the cap")
        elif self._is_over and not is_over:
            self._record(now_s, "excursion_peak", self._peak_w, "the highest draw of the excursion")
            self._record(now_s, "excursion_end", self._excess_j, "the energy above the cap")
        self._is_over = is_over

    def _cross(self, alarm: Alarm) -> None:
        """The draw passes the cap between two settlings, as was worked out; an alarm of old news is ignored."""
        alarm.callbacks = alarm.again
        now_s = self._timeline._now
        if now_s == self._crossing_s and isinstance(self.feeder, MovingFeeder):
            self.count(now_s)
            self._draw_w = self.feeder.draw_at(now_s)
            self.turn(now_s, not self._is_over)
            self._crossing_s = inf

    def _record(self, now_s: float, kind: str, value: float, detail: str) -> None:
        if (events := self._events) is not None:
            codes = events.code("kind", kind), events.code("feeder", self.feeder.name), events.code("detail", detail)
            events.append(now_s, codes[0], Rows.NO_CODE, codes[1], value, codes[2])
