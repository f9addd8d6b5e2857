"""The cap at which a variant runs a given risk, so that policies are compared at equal risk.

A controller that lets the draw over its cap can hold a lower one, and pay with goodput; one that never does can hold a
higher one. The caps of a variant are scaled by one factor until the mean of a risk over the replicas is the target,
while excursions stay counted against the caps of the scenario.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

_WITHIN = 0.02  # of the target: equal, beside the scatter of any mean
_NARROW = 1e-5  # of the factor: the risk jumps over the target there
_MOST_STEPS = 40
_LOWEST, _HIGHEST = 0.01, 100.0  # factors tried
_STEP = 0.9  # from a factor whose risk is above the target to the next one tried
_HALVE_EVERY = 3
_EDGE = 0.02  # of a bracket: no closer to its ends

Outcome = Literal["met", "below", "unreachable", "untuned"]


@dataclass(frozen=True, slots=True)
class Match:
    """How a variant was tuned.

    Args:
        factor: on its caps.
        risk: mean at that factor.
        outcome: ``met``; ``below`` if the risk jumps over the target, or stays under it however high the cap;
            ``unreachable`` if it is above the target at every cap that leaves the jobs running: then the lowest such;
            ``untuned`` if the variant holds no cap.
    """

    factor: float
    risk: float
    outcome: Outcome


def matched(risk_at: Callable[[float], float | None], target: float) -> Match:
    """The factor on the caps at which the risk is the target, and if there is none the highest at which it is below.

    The risk is taken to rise with the factor, as it does but for chance.

    Args:
        risk_at: mean risk at a factor; None where the caps leave some job no power to run.
        target: of the risk, in its unit; 0 asks for none at all.
    """
    known: dict[float, float | None] = {}

    def risk(factor: float) -> float | None:
        if factor not in known:
            known[factor] = risk_at(factor)
        return known[factor]

    low, high = _bracket(risk, target)
    if low is None:
        assert high is not None
        return Match(high, _known(risk(high)), "unreachable")
    for step in range(_MOST_STEPS):
        found = _known(risk(low))
        if _is_met(found, target):
            return Match(low, found, "met")
        if high is None or high - low <= _NARROW * high:
            return Match(low, found, "below")
        middle = _between(low, high, found, _known(risk(high)), target, step)
        low, high = (middle, high) if _known(risk(middle)) <= target * (1.0 + _WITHIN) else (low, middle)
    return Match(low, _known(risk(low)), "below")


def _bracket(risk: Callable[[float], float | None], target: float) -> tuple[float | None, float | None]:
    """A factor with a risk up to the target, and a higher one with a risk above it; None for one that there is not."""
    low = high = 1.0
    if _known(risk(low)) <= target:
        while (high := low / _STEP if low == 1.0 else 2.0 * low) < _HIGHEST:
            if _known(risk(high)) > target:
                return low, high
            if low > 1.0 and risk(high) == risk(low):  # the cap binds no more
                break
            low = high
        return low, None
    while (low := _STEP * high) >= _LOWEST and (found := risk(low)) is not None:
        if found <= target:
            return low, high
        high = low
    return None, high


def _between(low: float, high: float, risk_low: float, risk_high: float, target: float, step: int) -> float:
    """Where to look next: by the straight line, and now and then in the middle, since a risk may jump."""
    if step % _HALVE_EVERY == _HALVE_EVERY - 1 or risk_high <= risk_low:
        return 0.5 * (low + high)
    share = (target - risk_low) / (risk_high - risk_low)
    return low + min(max(share, _EDGE), 1.0 - _EDGE) * (high - low)


def _is_met(risk: float, target: float) -> bool:
    return abs(risk - target) <= _WITHIN * target


def _known(risk: float | None) -> float:
    assert risk is not None  # caps above one that leaves the jobs running do too
    return risk
