"""An independent integrator of the model: every rate and every remainder recomputed at every event, no virtual clocks.

O(jobs) per event and meant for small fleets over few cycles. It shares the draws of chance with the twin and nothing
else. Ends within a few roundings of each other count as one instant, which a twin must not do and an oracle may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import floor, inf, isinf

from twin.fleet import Job
from twin.scenario import Scenario

SAME_INSTANT = 4e-15  # relative; some twenty roundings


class NeverMovesError(Exception):
    """No job will ever end its phase."""


@dataclass
class Cycle:
    """One round of a job [s]; a time that had not come by the end of the run is None."""

    compute_start_s: float
    due_s: float | None = None
    write_end_s: float | None = None


@dataclass
class Course:
    """What became of one job."""

    job: Job
    cycles: list[Cycle] = field(default_factory=list)
    work_s: float = 0.0
    phase: str = "pending"
    left: float = inf  # full-speed seconds while computing, bytes while writing
    trigger_s: float = inf
    work_left_s: float = inf
    stretches: Iterator[float] | None = None

    @property
    def written(self) -> int:
        return sum(cycle.write_end_s is not None for cycle in self.cycles)


@dataclass
class Trajectory:
    """The whole run; totals up to ``end_s``."""

    courses: list[Course]
    end_s: float
    energy_j: float
    bytes_b: float


def integrate(scenario: Scenario, jobs: Sequence[Job]) -> Trajectory:
    """Run the fleet to its stop; raises ``NeverMovesError`` for one that stands still for ever."""
    courses = [Course(job, work_left_s=job.work_s) for job in jobs]
    limit_s = inf if scenario.stop.time_s is None else scenario.stop.time_s
    now_s = energy_j = bytes_b = 0.0
    while True:
        speed = _speed(scenario, courses)
        writers = sum(course.phase == "writing" for course in courses)
        share_b_s = _store_rate_b_s(scenario, writers) / writers if writers else 0.0
        ends_s = [_next_end_s(course, now_s, speed, share_b_s) for course in courses]
        next_s = min(ends_s)
        if isinf(next_s) and isinf(limit_s):
            raise NeverMovesError
        step_s = min(next_s, limit_s) - now_s
        energy_j += step_s * _draw_w(courses, speed)
        bytes_b += step_s * share_b_s * writers
        for course in courses:
            _advance(course, step_s, speed, share_b_s)
        now_s = min(next_s, limit_s)
        if next_s > limit_s:
            return Trajectory(courses, now_s, energy_j, bytes_b)
        for course, end_s in zip(courses, ends_s, strict=True):
            if end_s <= next_s * (1.0 + SAME_INSTANT):
                _end_phase(course, now_s)
        if _is_over(scenario, courses):
            limit_s = now_s  # and go on: what else ends in this instant still does


def _store_rate_b_s(scenario: Scenario, writers: int) -> float:
    store = scenario.storage
    if store.client_bandwidth_b_s is None:
        return store.bandwidth_b_s
    load = writers * store.client_bandwidth_b_s / store.bandwidth_b_s
    return min(load, 1.0) * store.bandwidth_b_s / (1.0 + store.degradation * max(0.0, load - 1.0))


def _speed(scenario: Scenario, courses: Sequence[Course]) -> float:
    """The common speed at which the fleet draws no more than the cap, found by bisection to the last digit."""
    cap_w = scenario.power.cap_w
    if scenario.power.controller.policy == "none" or cap_w is None or _draw_w(courses, 1.0) <= cap_w:
        return 1.0
    if _draw_w(courses, 0.0) >= cap_w:
        return 0.0
    low, high = 0.0, 1.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if _draw_w(courses, middle) <= cap_w else (low, middle)
    return low


def _draw_w(courses: Sequence[Course], speed: float) -> float:
    return sum(course.job.nodes * _node_w(course, speed) for course in courses)


def _node_w(course: Course, speed: float) -> float:
    power = course.job.power
    if course.phase == "computing":
        return power.idle_w + (power.compute_w - power.idle_w) * speed**power.exponent
    return power.write_w if course.phase == "writing" else 0.0


def _next_end_s(course: Course, now_s: float, speed: float, share_b_s: float) -> float:
    if course.phase == "pending":
        return course.job.launch_s
    rate = {"computing": speed, "writing": share_b_s}.get(course.phase, 0.0)
    worked_off_s = now_s + max(course.left, 0.0) / rate if rate > 0.0 else inf
    return min(worked_off_s, course.trigger_s)


def _advance(course: Course, step_s: float, speed: float, share_b_s: float) -> None:
    if course.phase == "computing":
        course.work_s += speed * step_s
        course.work_left_s -= speed * step_s
        course.left -= speed * step_s
    elif course.phase == "writing":
        course.left -= share_b_s * step_s


def _end_phase(course: Course, now_s: float) -> None:
    if course.phase == "pending":
        course.stretches = course.job.stretches()
        _compute(course, now_s)
    elif course.phase == "computing":
        course.cycles[-1].due_s = now_s
        course.phase, course.left, course.trigger_s = "writing", course.job.size_b, inf
    else:
        course.cycles[-1].write_end_s = now_s
        _compute(course, now_s)


def _compute(course: Course, now_s: float) -> None:
    """Begin a stretch, or be done; one of no length ends at once, unless the speed is 0: like any other it waits."""
    job = course.job
    if job.every_s is None:
        assert course.stretches is not None
        course.left = next(course.stretches, -1.0)
        is_done = course.left < 0.0
    else:
        course.left = course.work_left_s
        is_done = bool(course.cycles) and course.left < 1e-9 * job.every_s
        course.trigger_s = _trigger_after_s(job, now_s)
    if is_done:
        course.phase, course.trigger_s = "done", inf
        return
    course.phase = "computing"
    course.cycles.append(Cycle(now_s))


def _trigger_after_s(job: Job, now_s: float) -> float:
    assert job.every_s is not None
    k = floor((now_s - job.offset_s) / job.every_s) - 1
    while job.offset_s + k * job.every_s <= now_s:
        k += 1
    return job.offset_s + k * job.every_s


def _is_over(scenario: Scenario, courses: Sequence[Course]) -> bool:
    cycles = inf if scenario.stop.cycles is None else scenario.stop.cycles
    return all(course.phase == "done" or course.written >= cycles for course in courses)
