"""What replicas say of a mean, and of the difference of two variants that met the same luck.

A replica is an independent repetition of a run. Variants compared share the luck of each replica (common random
numbers), so that the difference is taken within each, and its interval is that of one sample: Student's t.
Source: A. M. Law, Simulation Modeling and Analysis, 5th ed., 2015, ch. 9.4 (means) and 10.2 (paired t intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from statistics import fmean
from typing import Literal

CONFIDENCE = 0.95
MOST_REPLICAS = 1_000_000  # more than that, nobody will run
METHOD = (
    f"{100 * CONFIDENCE:.0f} % intervals by Student's t over the replicas; a difference is taken within each replica, "
    "where both variants meet the same luck (common random numbers)"
)
Verdict = Literal["tie", "higher", "lower", "open", "unknown"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its confidence interval, in the unit of the values; None where it is not known.

    Args:
        n: values it is the mean of.
        mean: None without a value.
        low, high: ends of the interval; None with fewer than two values.
        deviation: standard deviation of the values, with n - 1; None with fewer than two.
    """

    n: int
    mean: float | None
    low: float | None
    high: float | None
    deviation: float | None


def interval(values: Sequence[float]) -> Interval:
    """Mean of independent values with its interval by Student's t; values that are all equal have no width."""
    n = len(values)
    if n == 0:
        return Interval(0, None, None, None, None)
    if all(value == values[0] for value in values):  # their mean is that value, to the last digit
        first = float(values[0])
        return Interval(n, first, *((first, first, 0.0) if n > 1 else (None, None, None)))
    mean = fmean(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    half = _t_quantile(n - 1) * deviation / sqrt(n)
    return Interval(n, mean, mean - half, mean + half, deviation)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A variant less the baseline, replica by replica.

    Args:
        interval: of the differences.
        verdict: ``tie`` if every difference is exactly 0; ``higher`` or ``lower`` if the interval says so; ``open`` if
            it holds 0; ``unknown`` with fewer than two replicas that both know.
        replicas_needed: replicas after which an interval about the same mean difference would leave out 0, if the
            scatter stays as it is; None if it does so already, or no number of them would.
    """

    interval: Interval
    verdict: Verdict
    replicas_needed: int | None


def paired_difference(baseline: Sequence[float | None], variant: Sequence[float | None]) -> PairedDifference:
    """The difference of two variants that met the same luck.

    Args:
        baseline, variant: value of each replica, in the same order; None where it is not known, which leaves the
            replica out.
    Raises:
        ValueError: not the same number of replicas.
    """
    pairs = zip(baseline, variant, strict=True)
    differences = [theirs - ours for ours, theirs in pairs if ours is not None and theirs is not None]
    found = interval(differences)
    if found.mean is None or found.low is None or found.high is None:
        return PairedDifference(found, "unknown", None)
    if all(difference == 0.0 for difference in differences):
        return PairedDifference(found, "tie", None)
    if found.low > 0.0 or found.high < 0.0:
        return PairedDifference(found, "higher" if found.low > 0.0 else "lower", None)
    return PairedDifference(found, "open", _replicas_needed(found))


def _replicas_needed(found: Interval) -> int | None:
    """Fewest replicas whose interval about the mean found would leave out 0; None if there are none in reason."""
    assert found.mean is not None
    assert found.deviation is not None
    if found.mean == 0.0 or not isfinite(ratio := (found.deviation / found.mean) ** 2):
        return None
    if ratio > MOST_REPLICAS:
        return None
    n = max(2, found.n)
    # t falls as n grows, so the right side does too: from below, each step lands at the answer or short of it.
    while n < (needed := ceil(_t_quantile(n - 1) ** 2 * ratio)):
        n = min(needed, max(n + 1, ceil(_t_quantile(needed - 1) ** 2 * ratio)))
    return n if n <= MOST_REPLICAS else None


def _t_quantile(degrees: int) -> float:
    from scipy.special import stdtrit  # late: half a second with scipy.stats, of which this is the one function needed

    return float(stdtrit(degrees, 0.5 + 0.5 * CONFIDENCE))
