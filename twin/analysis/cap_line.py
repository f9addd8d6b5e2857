"""The cap of a feeder over the time of a run, as a step function."""

from __future__ import annotations

from math import floor

import numpy as np

from twin.analysis.blocks import Floats
from twin.scenario import Cap, DailyCap
from twin.units import DAY_S


def cap_line(cap: Cap, start_s: float, end_s: float) -> tuple[Floats, Floats]:
    """From when on which cap holds: times [s], the first one 0, and caps [W], shape (steps,) each.

    Args:
        cap: as in the scenario.
        start_s: time of day of t = 0, by which a daily cap goes [s].
        end_s: end of the run [s]; later steps are left out.
    """
    if isinstance(cap, DailyCap):
        first_day, last_day = floor(start_s / DAY_S) - 1, floor((start_s + end_s) / DAY_S)
        days = range(first_day, last_day + 1)
        times_s = [day * DAY_S + step.at_s - start_s for day in days for step in cap.daily]
        values_w = [step.value_w for _ in days for step in cap.daily]
    elif isinstance(cap, tuple):
        times_s, values_w = [step.at_s for step in cap], [step.value_w for step in cap]
    else:
        times_s, values_w = [0.0], [cap]
    at_s, caps_w = np.array(times_s), np.array(values_w)
    held = int(np.searchsorted(at_s, 0.0, side="right")) - 1  # the last one up to t = 0 holds from there on
    at_s, caps_w = at_s[held:], caps_w[held:]
    at_s[0] = 0.0
    kept = at_s <= end_s
    changes = np.diff(caps_w[kept], prepend=np.nan) != 0.0
    return at_s[kept][changes], caps_w[kept][changes]


def lowest_in(steps: tuple[Floats, Floats], from_s: Floats, until_s: Floats) -> Floats:
    """The lowest cap in force within each of the spans [from, until) [W], shape (spans,)."""
    times_s, caps_w = steps
    first = np.searchsorted(times_s, from_s, side="right") - 1
    last = np.maximum(first, np.searchsorted(times_s, until_s, side="left") - 1)
    return np.array([caps_w[a : b + 1].min() for a, b in zip(first.tolist(), last.tolist(), strict=True)])


def values_w(cap: Cap) -> set[float]:
    """The values that a cap has over time [W]."""
    steps = cap.daily if isinstance(cap, DailyCap) else cap
    return {step.value_w for step in steps} if isinstance(steps, tuple) else {steps}
