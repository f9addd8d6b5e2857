"""How fast one job may go until the next event: a constant, or an exponential lag under a constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, expm1, inf, log1p

import numpy as np

_NODES, _WEIGHTS = (points.tolist() for points in np.polynomial.legendre.leggauss(12))
_ACCURACY = 1e-13  # relative, of an integral by Gauss-Legendre against its two halves
_DEEPEST = 60  # halvings


@dataclass(frozen=True)
class Lag:
    """A speed that tends to its target: s(t) = target + (start - target) exp(-t / tau)."""

    start: float
    target: float
    tau_s: float

    def at(self, t_s: float) -> float:
        if t_s < self.tau_s:
            return self.start + (self.start - self.target) * expm1(-t_s / self.tau_s)
        return self.target + (self.start - self.target) * exp(-t_s / self.tau_s)

    def work_s(self, t_s: float) -> float:
        """Integral of the speed from 0."""
        return self.target * t_s - (self.start - self.target) * self.tau_s * expm1(-t_s / self.tau_s)

    def reaches_s(self, speed: float) -> float:
        """When it passes a speed that lies strictly between its start and its target."""
        return self.tau_s * log1p((self.start - speed) / (speed - self.target))


@dataclass(frozen=True)
class Pace:
    """The lower of a constant speed and a lagged one."""

    constant: float
    lag: Lag | None = None

    @property
    def speed(self) -> float:
        """The speed now."""
        return self.constant if self.lag is None else min(self.constant, self.lag.start)

    def pieces(self, t_s: float) -> Iterator[tuple[float, float | Lag]]:
        """Lengths and speeds from now to ``t_s``, each constant or a lag."""
        lag, constant = self.lag, self.constant
        if lag is None or constant <= min(lag.start, lag.target):
            yield t_s, constant
        elif constant >= max(lag.start, lag.target):
            yield t_s, lag
        else:
            first_s = min(t_s, lag.reaches_s(constant))
            rising = lag.target > lag.start
            yield first_s, lag if rising else constant
            if t_s > first_s:
                yield t_s - first_s, constant if rising else Lag(constant, lag.target, lag.tau_s)

    def work_s(self, t_s: float) -> float:
        """Full-speed seconds of work from now to ``t_s``."""
        return sum(
            piece.work_s(length_s) if isinstance(piece, Lag) else piece * length_s
            for length_s, piece in self.pieces(t_s)
        )

    def power_s(self, t_s: float, exponent: float) -> float:
        """Integral of speed^exponent from now to ``t_s``."""
        total_s = 0.0
        for length_s, piece in self.pieces(t_s):
            if not isinstance(piece, Lag):
                total_s += length_s * piece**exponent
                continue
            settled_s = min(length_s, 50.0 * piece.tau_s)  # exp(-50) is no digit of anything
            total_s += _integral(lambda t, lag=piece: max(lag.at(t), 0.0) ** exponent, settled_s)
            total_s += (length_s - settled_s) * piece.target**exponent
        return total_s

    def time_for_s(self, work_s: float) -> float:
        """When so much work is done; inf if never. By bisection to the last digit."""
        if self.lag is None:
            return max(work_s, 0.0) / self.constant if self.constant > 0.0 else inf
        if work_s <= 0.0:
            return 0.0 if min(self.constant, self.lag.start) > 0.0 else inf
        if self.constant <= 0.0:
            return inf
        low_s, high_s = 0.0, work_s
        while self.work_s(high_s) < work_s:
            low_s, high_s = high_s, 2.0 * high_s
            if high_s > 1e9:
                return inf
        while low_s < (middle_s := 0.5 * (low_s + high_s)) < high_s:
            low_s, high_s = (middle_s, high_s) if self.work_s(middle_s) < work_s else (low_s, middle_s)
        return high_s


def _integral(f: Callable[[float], float], end: float) -> float:
    """Integral from 0, halving where the two halves say something else than the whole."""
    if end <= 0.0:
        return 0.0
    whole = _gauss(f, 0.0, end)
    return _halved(f, 0.0, end, whole, _ACCURACY * whole, _DEEPEST)


def _halved(f: Callable[[float], float], low: float, high: float, whole: float, error: float, depth: int) -> float:
    middle = 0.5 * (low + high)
    left, right = _gauss(f, low, middle), _gauss(f, middle, high)
    if depth == 0 or abs(left + right - whole) <= error:
        return left + right
    return _halved(f, low, middle, left, error, depth - 1) + _halved(f, middle, high, right, error, depth - 1)


def _gauss(f: Callable[[float], float], low: float, high: float) -> float:
    half, middle = 0.5 * (high - low), 0.5 * (high + low)
    return half * sum(weight * f(middle + half * node) for node, weight in zip(_NODES, _WEIGHTS, strict=True))
