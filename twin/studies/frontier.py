"""The best points of a sweep under constraints, and the frontier: those that no other beats in all that counts."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twin.analysis.intervals import Interval, interval
from twin.analysis.metrics import metric_named
from twin.errors import TwinError
from twin.studies.metric_values import metric_value

_HIGH_IS_GOOD = (
    *("goodput", "compute_share", "mean_work_s", "jobs_done", "checkpoints_written", "bytes_delivered_b"),
    *("store_utilisation", "load_factor", "ettr_expected", "present_share", "min_power_w"),
)
_SIGNS: dict[str, Callable[[Any, float], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_CONSTRAINT = re.compile(r"\s*([a-z0-9_]+)\s*(<=|>=|<|>)\s*(\S.*?)\s*")


@dataclass(frozen=True, slots=True)
class Goal:
    """What a point is to have most or least of: the mean of a metric over the replicas."""

    metric: str
    is_highest: bool


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a point must keep: the mean of a metric below or above a value."""

    metric: str
    sign: str
    value: float

    def holds(self, means: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which means keep it."""
        kept: NDArray[np.bool_] = _SIGNS[self.sign](means, self.value)
        return kept

    @property
    def goal(self) -> Goal:
        """The direction in which it is kept more easily."""
        return Goal(self.metric, ">" in self.sign)


@dataclass(frozen=True, slots=True)
class Standing:
    """One point of a sweep, judged.

    Args:
        values: what the axes are set to.
        metrics: interval of each metric that counts, by its name.
        is_feasible: it keeps all constraints in the mean.
        is_on_frontier: no other point is at least as good in all that counts, and better in something.
    """

    values: tuple[Any, ...]
    metrics: Mapping[str, Interval]
    is_feasible: bool
    is_on_frontier: bool


def goal(text: str) -> Goal:
    """``goodput``, ``min:mean_power_w``, ``max:load_factor``; without a word, the way that is good.

    Raises:
        TwinError: no such metric, or another word.
    """
    word, colon, name = text.partition(":")
    if not colon:
        metric = metric_named(text).name
        return Goal(metric, metric in _HIGH_IS_GOOD)
    if word.strip() not in ("min", "max"):
        raise TwinError(f"--best {text}: must be METRIC, min:METRIC or max:METRIC; write it as in min:peak_power_w")
    return Goal(metric_named(name).name, word.strip() == "max")


def constraint(text: str) -> Constraint:
    """``over_cap_s < 1``, ``peak_power_w <= 12 MW``.

    Raises:
        TwinError: not METRIC SIGN VALUE, no such metric, or no value of it.
    """
    match = _CONSTRAINT.fullmatch(text)
    if match is None:
        raise TwinError(
            f"--subject-to {text}: must be METRIC, one of < <= > >=, and a value; write it as in 'over_cap_s < 1'"
        )
    metric = metric_named(match[1])
    return Constraint(metric.name, match[2], metric_value(metric, match[3], f"--subject-to {text}"))


def standings(table: pa.Table, axes: Sequence[str], best: Goal, constraints: Sequence[Constraint]) -> list[Standing]:
    """Every point of which all that counts is known: the feasible first, the best of them on top.

    Args:
        table: of the sweep.
        axes: keys of its axes.
    """
    goals = list(dict.fromkeys([best, *(each.goal for each in constraints if each.metric != best.metric)]))
    names = list(dict.fromkeys([*(each.metric for each in goals), *(each.metric for each in constraints)]))
    known = {
        point: found for point, found in mean_intervals(table, axes, names).items() if all(i.n for i in found.values())
    }
    if not known:
        return []
    points = list(known)
    means = {name: np.array([known[point][name].mean for point in points], np.float64) for name in names}
    feasible = np.ones(len(points), np.bool_)
    for each in constraints:
        feasible &= each.holds(means[each.metric])
    scores = np.column_stack([means[each.metric] * (1.0 if each.is_highest else -1.0) for each in goals])
    judged = [
        Standing(point, known[point], bool(feasible[place]), not _is_beaten(scores, place))
        for place, point in enumerate(points)
    ]
    order = np.lexsort((-scores[:, 0], ~feasible))
    return [judged[place] for place in order.tolist()]


def mean_intervals(
    table: pa.Table, axes: Sequence[str], names: Sequence[str]
) -> dict[tuple[Any, ...], dict[str, Interval]]:
    """Interval of each metric at each point, by what the axes are set to, in the order of the table.

    Args:
        table: of the sweep.
        axes: keys of its axes.
        names: of the metrics.
    """
    points = list(zip(*(table[key].to_pylist() for key in axes), strict=True))
    found: dict[tuple[Any, ...], dict[str, Interval]] = {point: {} for point in points}
    for name in names:
        samples: dict[tuple[Any, ...], list[float]] = {point: [] for point in found}
        for point, value in zip(points, table[name].to_pylist(), strict=True):
            if value is not None:
                samples[point].append(float(value))
        for point, values in samples.items():
            found[point][name] = interval(values)
    return found


def _is_beaten(scores: NDArray[np.float64], place: int) -> bool:
    """Whether another point is at least as good in all that counts, and better in something.

    Args:
        scores: the higher the better, shape (points, goals).
    """
    as_good = (scores >= scores[place]).all(axis=1)
    better = (scores > scores[place]).any(axis=1)
    return bool((as_good & better).any())
