"""Policy and parameters of a scenario -> the controller of a feeder."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import assert_never

from twin import scenario
from twin.sim.controllers.delayed import Delayed
from twin.sim.controllers.fixed_limit import FixedLimit
from twin.sim.controllers.instantaneous import Anonymous, Uncontrolled
from twin.sim.controllers.lagged import Lagged
from twin.sim.controllers.sampled import Sampled
from twin.sim.controllers.three_band import Bands, ThreeBand
from twin.sim.feeder import Controller, Feeder
from twin.sim.timeline import Instant


def controller_of(
    spec: scenario.Controller,
    feeder: Feeder,
    instant: Instant,
    changed: Callable[[], None],
    record: Callable[[str, float], None],
) -> Controller:
    """The controller of a feeder; without a cap there is nothing to control.

    Args:
        changed: called when a command takes effect.
        record: takes the kind of an incident and its value.
    """
    if spec.policy == "fixed_limit":
        return FixedLimit(_given(spec.limit_w))
    if spec.policy == "none" or feeder.cap_w == inf:
        return Uncontrolled()
    controller: Controller
    match spec.policy:
        case "anonymous":
            controller = Anonymous()
        case "delayed":
            controller = Delayed(instant, _given(spec.delay_s), changed)
        case "lagged":
            controller = Lagged(_given(spec.tau_s))
        case "sampled":
            times_s = _given(spec.period_s), _given(spec.offset_s), _given(spec.latency_s)
            controller = Sampled(instant, *times_s, lambda: feeder.look().target, changed)
        case "three_band":
            times_s = _given(spec.period_s), _given(spec.offset_s), _given(spec.settle_s)
            bands = Bands(_given(spec.high), _given(spec.target), _given(spec.low), _given(spec.floor))
            controller = ThreeBand(instant, times_s, bands, lambda: feeder.reading_w, changed, record)
        case _:
            assert_never(spec.policy)
    return controller


def _given(value: float | None) -> float:
    assert value is not None  # checked when the scenario was built
    return value
