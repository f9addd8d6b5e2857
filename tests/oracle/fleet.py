"""The whole run, from event to event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from tests.oracle.control import Feeder, feeders_of, pace_of
from tests.oracle.course import Course, Transfer
from tests.oracle.pace import Pace
from twin.fleet import Job
from twin.scenario import Scenario

SAME_INSTANT = 4e-15  # relative; some twenty roundings
MOST_EVENTS = 200_000  # far more than any fleet of the tests needs


class NeverMovesError(Exception):
    """No job will ever end its phase."""


@dataclass
class Trajectory:
    """The whole run; totals up to ``end_s``, the energy by feeder."""

    courses: list[Course]
    end_s: float
    bytes_b: float
    energies_j: dict[str, float]

    @property
    def energy_j(self) -> float:
        """Energy of the site."""
        return self.energies_j["site"]


def integrate(scenario: Scenario, jobs: Sequence[Job], until_s: float = inf) -> Trajectory:
    """Run the fleet to its stop, or to an earlier time; raises ``NeverMovesError`` for one that never moves again."""
    courses = [Course(job) for job in jobs]
    feeders = feeders_of(scenario, courses)
    limit_s = until_s if scenario.stop.time_s is None else min(until_s, scenario.stop.time_s)
    run = Trajectory(courses, 0.0, 0.0, dict.fromkeys(feeders, 0.0))
    seen_s = -inf  # the last instant that the controllers have seen
    for _ in range(MOST_EVENTS):
        rates = _settle(scenario, courses, [*feeders.values()], run.end_s)
        if run.end_s > seen_s and rates.next_end_s > run.end_s * (1.0 + SAME_INSTANT):
            if _act_at_once(courses, [*feeders.values()], rates.paces, run.end_s):
                continue
            seen_s = run.end_s
        next_s = min(rates.next_end_s, *(feeder.next_s for feeder in feeders.values()))
        if rates.next_end_s == limit_s == inf and all(feeder.is_at_rest for feeder in feeders.values()):
            raise NeverMovesError
        _advance(run, feeders, rates, min(next_s, limit_s))
        if next_s > limit_s:
            return run
        _end_phases(courses, rates, next_s)
        for feeder in feeders.values():
            feeder.take_commands(next_s * (1.0 + SAME_INSTANT))
        if _is_over(scenario, courses):
            limit_s = next_s  # and go on: what else ends in this instant still does
    raise NeverMovesError


@dataclass(frozen=True)
class _Rates:
    """What holds until the next event: the pace and the end of each job, the rate and the end of each transfer."""

    paces: list[Pace]
    ends_s: list[float]
    served: list[tuple[Transfer, float, float]]

    @property
    def next_end_s(self) -> float:
        return min([*self.ends_s, *(end_s for _, _, end_s in self.served)])


def _settle(scenario: Scenario, courses: Sequence[Course], feeders: Sequence[Feeder], now_s: float) -> _Rates:
    _grant_lanes(scenario, courses, now_s)
    for feeder in feeders:
        feeder.settle(courses)
    paces = [pace_of(index, course, feeders) for index, course in enumerate(courses)]
    ends_s = [course.next_end_s(now_s, pace) for course, pace in zip(courses, paces, strict=True)]
    served = [
        (transfer, rate_b_s, now_s + max(transfer.left_b, 0.0) / rate_b_s)
        for transfer, rate_b_s in _served(scenario, courses)
    ]
    return _Rates(paces, ends_s, served)


def _act_at_once(courses: Sequence[Course], feeders: Sequence[Feeder], paces: Sequence[Pace], now_s: float) -> bool:
    """No phase ends here any more: the controllers look; whether one of them acts in this very instant."""
    same_s = now_s * (1.0 + SAME_INSTANT)
    speeds = [pace.speed for pace in paces]
    acts = [feeder.tick(now_s, same_s, courses, speeds) for feeder in feeders]
    if any(acts):
        for feeder in feeders:
            feeder.take_commands(same_s)
        return True
    for feeder in feeders:
        feeder.observe(now_s)
    return False


def _advance(run: Trajectory, feeders: dict[str, Feeder], rates: _Rates, to_s: float) -> None:
    step_s = to_s - run.end_s
    nodes_j = [course.node_j(pace, step_s) for course, pace in zip(run.courses, rates.paces, strict=True)]
    for name, feeder in feeders.items():
        jobs_j = sum(nodes * node_j for nodes, node_j in zip(feeder.nodes, nodes_j, strict=True))
        run.energies_j[name] += feeder.factor * (jobs_j + feeder.fixed_w * step_s)
        feeder.advance(step_s)
    for course, pace in zip(run.courses, rates.paces, strict=True):
        course.advance(step_s, pace)
    for transfer, rate_b_s, _ in rates.served:
        transfer.left_b -= rate_b_s * step_s
        run.bytes_b += rate_b_s * step_s
    run.end_s = to_s


def _end_phases(courses: Sequence[Course], rates: _Rates, now_s: float) -> None:
    same_s = now_s * (1.0 + SAME_INSTANT)
    for transfer, _, end_s in rates.served:
        if end_s <= same_s:
            transfer.course.end_write(transfer, now_s)
    for course, end_s in zip(courses, rates.ends_s, strict=True):
        if end_s <= same_s:
            course.end_phase(now_s)


def _grant_lanes(scenario: Scenario, courses: Sequence[Course], now_s: float) -> None:
    """Those due first go first; one due at the same time, by group and index."""
    pending = [transfer for course in courses for transfer in course.transfers]
    free = len(pending) if scenario.storage.lanes == "none" else scenario.storage.lanes
    free -= sum(transfer.is_served for transfer in pending)
    waiting = sorted((t for t in pending if not t.is_served), key=lambda t: t.place_in_line)
    for transfer in waiting[:free]:
        transfer.course.begin_write(transfer, now_s)


def _served(scenario: Scenario, courses: Sequence[Course]) -> list[tuple[Transfer, float]]:
    """The transfers being served and the rate of each."""
    served = [transfer for course in courses for transfer in course.transfers if transfer.is_served]
    by_node = scenario.storage.share == "node"
    weights = [transfer.course.job.nodes if by_node else 1 for transfer in served]
    total_b_s = _store_rate_b_s(scenario, sum(weights))
    return [(t, total_b_s * weight / sum(weights)) for t, weight in zip(served, weights, strict=True)]


def _store_rate_b_s(scenario: Scenario, weight: int) -> float:
    store = scenario.storage
    if store.client_bandwidth_b_s is None:
        return store.bandwidth_b_s
    load = weight * store.client_bandwidth_b_s / store.bandwidth_b_s
    return min(load, 1.0) * store.bandwidth_b_s / (1.0 + store.degradation * max(0.0, load - 1.0))


def _is_over(scenario: Scenario, courses: Sequence[Course]) -> bool:
    cycles = inf if scenario.stop.cycles is None else scenario.stop.cycles
    return all(course.phase == "done" or course.written >= cycles for course in courses)
