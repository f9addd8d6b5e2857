"""Lagged speed, ds/dt = (target - s) / tau: the speed, the work done, the time a piece of work takes, in closed form.

Every sum below adds what is not negative, so short segments lose no digits: expm1 and log1p, and a series where the
closed form would cancel.

Speeds and targets are in [0, 1], times constants are positive [s], and so is every time since the start of a segment.
Source: the step response of a first-order lag.
"""

from itertools import pairwise
from math import exp, expm1, inf, log1p
from typing import NamedTuple

import numpy as np

_SERIES_TERMS = 18  # of x^k / k!; the last is below 1e-21 of the first for x < 0.5
_CANCELS = 0.5  # below it the closed form loses digits
_NEWTON_STEPS = 200  # bisection alone halves a bracket to the last digit in 60
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_U, _DU = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS  # the same on [0, 1]
_PIECES = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 40.0)  # in units of tau; after the last the speed is the target in doubles


def lagged_speed(speed: float, target: float, tau_s: float, after_s: float) -> float:
    """Speed that long after it was ``speed`` [-], on its way to ``target``; never past it."""
    approach = -expm1(-after_s / tau_s)
    if approach == 1.0:
        return target
    return speed + (target - speed) * approach


class Motion(NamedTuple):
    """A speed on its way to a target, ds/dt = (target - s) / tau, since an instant [s] at which it was ``speed``."""

    speed: float
    since_s: float
    target: float
    tau_s: float

    def at(self, now_s: float) -> float:
        """The speed at ``now_s`` [s]."""
        if self.speed == self.target:
            return self.target
        return lagged_speed(self.speed, self.target, self.tau_s, now_s - self.since_s)


def lagged_work_s(speed: float, target: float, tau_s: float, after_s: float) -> float:
    """Integral of the lagged speed over the first ``after_s`` [s of full-speed work]."""
    x = after_s / tau_s
    return tau_s * (speed * -expm1(-x) + target * _excess(x))


def lagged_due_s(speed: float, target: float, tau_s: float, work_s: float) -> float:
    """Time after which the lagged speed has done ``work_s`` [s]; inf if it never does. Exact to the last digit.

    Newton's method kept inside a bracket; the work grows with time, so there is one root.
    """
    if work_s <= 0.0:
        return 0.0
    if target == 0.0:
        share = work_s / (speed * tau_s) if speed > 0.0 else inf
        return -tau_s * log1p(-share) if share < 1.0 else inf
    low_s, high_s = work_s / max(speed, target), work_s / target + tau_s
    if speed >= target:
        high_s = work_s / target
    due_s = high_s
    for _ in range(_NEWTON_STEPS):
        missing_s = work_s - lagged_work_s(speed, target, tau_s, due_s)
        if missing_s > 0.0:
            low_s = due_s
        else:
            high_s = due_s
        guess_s = due_s + missing_s / lagged_speed(speed, target, tau_s, due_s)
        if not low_s < guess_s < high_s:
            guess_s = 0.5 * (low_s + high_s)
        if guess_s in (due_s, low_s, high_s):
            return due_s
        due_s = guess_s
    return due_s


def lagged_crossing_s(speed: float, target: float, tau_s: float, level: float) -> float:
    """Time until the lagged speed passes ``level`` [s]; inf if that does not lie between it and the target."""
    if level == target or (speed - level) / (level - target) <= 0.0:
        return inf
    return tau_s * log1p((speed - level) / (level - target))


def lagged_power_integral_s(speed: float, target: float, tau_s: float, after_s: float, exponent: float) -> float:
    """Integral of the lagged speed to the power ``exponent`` over the first ``after_s`` [s].

    To 1e-12, for exponents of 1 or more: Gauss-Legendre on pieces that grow with time; on the first one the nodes crowd
    at its start, where a speed that rises from 0 has no derivatives.
    """
    if exponent == 1.0:
        return lagged_work_s(speed, target, tau_s, after_s)
    x = after_s / tau_s
    total = float(max(0.0, x - _PIECES[-1]) * target**exponent)
    for start, end in pairwise(_PIECES):
        if x <= start:
            break
        length = min(x, end) - start
        places, weights = (_U**3, 3.0 * _U**2 * _DU) if start == 0.0 else (_U, _DU)
        speeds = speed + (target - speed) * -np.expm1(-(start + length * places))
        total += length * float(weights @ speeds**exponent)
    return tau_s * total


def _excess(x: float) -> float:
    """x - (1 - exp(-x)), without cancellation."""
    if x > _CANCELS:
        return x - 1.0 + exp(-x)
    total = 0.0
    for k in range(_SERIES_TERMS, 2, -1):
        total = x / k * (1.0 - total)
    return 0.5 * x * x * (1.0 - total)
