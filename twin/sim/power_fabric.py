"""Power: loads change, the root feeder adds them up, its controller commands one speed for all computing jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from twin.fleet import PowerProfile
from twin.laws.speed import dynamic_draw_w, mixed_target_speed, target_speed
from twin.recording import ROOT, Rows
from twin.scenario import Power
from twin.sim.step_log import StepLog
from twin.sim.timeline import RECORD, Alarm, Instant, Timeline
from twin.sim.virtual_clock import VirtualClock

_REMEMBERED = 100_000  # feeder states kept, so that a long replay stays within bounded memory,
_REMEMBERED_COUNTS = 1_000_000  # and whole numbers in all of them


@dataclass(frozen=True, slots=True)
class FeederState:
    """A feeder's answer to a given set of loads: demand at full speed and draw [W], speed [-]; the nodes in use.

    Args:
        number: its place among the states remembered.
        loads: nodes computing by profile, then nodes running by profile.
    """

    number: int
    loads: tuple[int, ...]
    demand_w: float
    draw_w: float
    speed: float
    nodes: int


class PowerFabric:
    """The root feeder; counts nodes by power profile and phase, since a sum of watts over jobs would drift.

    Args:
        profiles: the power profiles of the fleet in ascending order.
        fleet_nodes: nodes the site owns; None if not said.
        rows, events: where changes and the crossings of ``fleet_nodes`` go; None records nothing.

    Attributes:
        cap_w: the limit that the controller enforces [W]; inf for none.
        computing, running: nodes in a compute phase, and of all jobs launched and not done, by profile.
    """

    def __init__(
        self,
        timeline: Timeline,
        instant: Instant,
        power: Power,
        profiles: Sequence[PowerProfile],
        fleet_nodes: int | None,
        rows: Rows | None,
        events: Rows | None,
    ) -> None:
        self.cap_w = power.enforced_cap_w
        self._profiles = profiles
        self._fleet_nodes = fleet_nodes
        self._rows = rows
        self._events = events
        self._log = None if rows is None else StepLog(self._write_rows)
        self._recorded = np.full(3, np.nan)  # demand, draw, speed of the last row
        self._recorded_s = 0.0
        self._energy_j = 0.0
        self.clock = VirtualClock(timeline, instant)
        self.computing = [0] * len(profiles)
        self.running = [0] * len(profiles)
        self._states: dict[tuple[int, ...], FeederState] = {}
        self._settled = self._state((0,) * (2 * len(profiles)))
        self._is_exceeded = False  # more nodes in use than the fleet has, at the close of the last instant
        self._fleet_watch = Alarm(timeline, self._watch_fleet, RECORD)
        self._timeline = timeline
        if self._log is not None:
            self._log.note(0.0, self._settled.number)

    def settle(self, now_s: float) -> None:
        """Command the speed for the loads present from ``now_s`` [s] on."""
        loads = (*self.computing, *self.running)
        state = self._states.get(loads) or self._state(loads)
        self.clock.settle(now_s, state.speed)
        if state is not self._settled:
            self._settled = state
            if self._fleet_nodes is not None and (state.nodes > self._fleet_nodes) is not self._is_exceeded:
                self._fleet_watch.set(now_s)
            if self._log is not None:
                self._log.note(now_s, state.number)

    def close(self) -> None:
        """Record the last instant; the run has ended."""
        if self._log is not None:
            self._log.close()

    def _watch_fleet(self, watch: Alarm) -> None:
        """Record at the close of an instant that the nodes in use rose above those of the fleet in it."""
        watch.callbacks = watch.again
        assert self._fleet_nodes is not None
        was_exceeded, self._is_exceeded = self._is_exceeded, self._settled.nodes > self._fleet_nodes
        if self._is_exceeded and not was_exceeded and self._events is not None:
            kind = self._events.code("kind", "fleet_exceeded")
            feeder = self._events.code("feeder", ROOT)
            detail = self._events.code("detail", "nodes in use, more than the fleet has")
            self._events.append(self._timeline.now, kind, Rows.NO_CODE, feeder, self._settled.nodes, detail)

    def _write_rows(self, times_s: np.ndarray, numbers: np.ndarray) -> None:
        states = np.array([(state.demand_w, state.draw_w, state.speed) for state in self._states.values()])
        values = states[numbers]
        is_news = np.any(values != np.vstack([self._recorded, values[:-1]]), axis=1)
        times_s, values = times_s[is_news], values[is_news]
        if self._rows is None or len(values) == 0:
            return
        draws_w = np.concatenate([self._recorded[1:2], values[:-1, 1]])
        steps_j = np.diff(times_s, prepend=self._recorded_s) * draws_w
        steps_j[0] = self._energy_j if np.isnan(draws_w[0]) else self._energy_j + steps_j[0]
        energy_j = np.cumsum(steps_j)
        feeder = np.full(len(times_s), self._rows.code("feeder", ROOT), np.int32)
        self._rows.extend([feeder, times_s, *values.T, energy_j])
        self._recorded, self._recorded_s, self._energy_j = values[-1], float(times_s[-1]), float(energy_j[-1])

    def _state(self, loads: tuple[int, ...]) -> FeederState:
        """Work out and remember the answer to these node counts."""
        count = len(self._profiles)
        fixed_w = 0.0
        full_w = 0.0  # dynamic draw at full speed
        dynamic_w: list[float] = []
        exponents: list[float] = []
        for profile, computing, running in zip(self._profiles, loads[:count], loads[count:], strict=True):
            fixed_w += computing * profile.idle_w + (running - computing) * profile.write_w
            if computing:
                dynamic_w.append(computing * (profile.compute_w - profile.idle_w))
                exponents.append(profile.exponent)
                full_w += dynamic_w[-1]
        if len(set(exponents)) <= 1:
            speed = target_speed(fixed_w, full_w, self.cap_w, exponents[0] if exponents else 1.0)
        else:
            speed = mixed_target_speed(fixed_w, tuple(dynamic_w), self.cap_w, tuple(exponents))
        drawn_w = 0.0
        for profile_w, exponent in zip(dynamic_w, exponents, strict=True):
            drawn_w += dynamic_draw_w(profile_w, speed, exponent)
        if len(self._states) >= min(_REMEMBERED, 1 + _REMEMBERED_COUNTS // (2 * count)):
            self._forget_states()
        draw_w = min(fixed_w + drawn_w, max(fixed_w, self.cap_w))  # the speed meets the cap up to its last digit
        state = FeederState(len(self._states), loads, fixed_w + full_w, draw_w, speed, sum(loads[count:]))
        self._states[loads] = state
        return state

    def _forget_states(self) -> None:
        """Start over with the settled state alone, so that a long replay stays within bounded memory."""
        if self._log is not None:
            self._log.flush()
            self._log.restart_numbers()
        self._settled = replace(self._settled, number=0)
        self._states = {self._settled.loads: self._settled}
