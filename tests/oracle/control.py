"""Feeders and their controllers: what each sees, commands, and when."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import count
from math import inf

from tests.oracle.course import Course
from tests.oracle.pace import Lag, Pace
from twin.scenario import Scenario
from twin.scenario.power import Cap, Controller, DailyCap, FeederSection, Power

DAY_S = 86400.0
SAME_WATTS = 1e-12  # relative


class Feeder:
    """A feeder, its cap over time, its controller, and the nodes of each job on or below it.

    Args:
        nodes: of each job, in the order of the courses.
        fixed_w, factor: it draws factor x (the jobs + fixed_w).
    """

    def __init__(
        self, section: Power | FeederSection, nodes: list[int], start_s: float, fixed_w: float, factor: float
    ) -> None:
        self.controller: Controller = section.controller
        self.nodes = nodes
        self.fixed_w, self.factor = fixed_w, factor
        self.speed = 1.0  # commanded; of a lagged controller, where it is now
        self.target = 1.0
        self._targets: dict[tuple[object, ...], float] = {}  # found before, by cap and phases
        self._seen = 1.0  # delayed: the last target sent on its way
        self._commands: deque[tuple[float, float]] = deque()
        self._limits_w: dict[int, float] = {}  # three bands: of a node of the job
        self._cuts: deque[tuple[float, dict[int, float] | None]] = deque()  # None releases all
        self._caps = _cap_changes(section.cap, start_s)
        self.cap_w, self._next_cap = inf, next(self._caps, (inf, inf))
        self.take_commands(0.0)
        period_s, offset_s = self.controller.period_s, self.controller.offset_s
        self._ticks = iter(()) if period_s is None else (offset_s + k * period_s for k in count())
        self._next_tick_s = next(self._ticks, inf)

    def draw_w(self, courses: Sequence[Course], speed: float) -> float:
        """Draw if every job that computes below ran at that speed."""
        jobs_w = sum(nodes * course.node_w(speed) for nodes, course in zip(self.nodes, courses, strict=True) if nodes)
        return self.factor * (jobs_w + self.fixed_w)

    @property
    def next_s(self) -> float:
        """When something happens here whatever the jobs do."""
        command_s = self._commands[0][0] if self._commands else inf
        cut_s = self._cuts[0][0] if self._cuts else inf
        return min(command_s, cut_s, self._next_cap[0], self._next_tick_s)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is under way and what the controller commands is what it would command again."""
        return not self._commands and not self._cuts and self._next_cap[0] == inf and self.controller.period_s is None

    def take_commands(self, until_s: float) -> None:
        """Commands and cap changes that are due take effect, in order."""
        while self._commands and self._commands[0][0] <= until_s:
            self.speed = self._commands.popleft()[1]
        while self._cuts and self._cuts[0][0] <= until_s:
            limits_w = self._cuts.popleft()[1]
            self._limits_w = {} if limits_w is None else self._limits_w | limits_w
        while self._next_cap[0] <= until_s:
            self.cap_w = self._next_cap[1]
            self._next_cap = next(self._caps, (inf, inf))

    def settle(self, courses: Sequence[Course]) -> None:
        """Look at the phases and the cap of now."""
        state = (self.cap_w, *(course.phase for course in courses))
        if state not in self._targets:
            self._targets[state] = self._target(courses)
        self.target = self._targets[state]
        if self.controller.policy == "anonymous":
            self.speed = self.target

    def tick(self, now_s: float, until_s: float, courses: Sequence[Course], speeds: Sequence[float]) -> bool:
        """Read the settled state if it is time to; whether a command is due at once."""
        if self._next_tick_s > until_s:
            return False
        self._next_tick_s = next(self._ticks)
        if self.controller.policy == "sampled":
            self._commands.append((now_s + self.controller.latency_s, self.target))
            return self.controller.latency_s == 0.0
        commands = self._reading(courses, speeds)
        self._cuts.extend((now_s + self.controller.settle_s, limits_w) for limits_w in commands)
        return bool(commands) and self.controller.settle_s == 0.0

    def observe(self, now_s: float) -> None:
        """The last state of the instant goes on its way to a delayed controller."""
        if self.controller.policy == "delayed" and self.target != self._seen:
            self._seen = self.target
            self._commands.append((now_s + self.controller.delay_s, self.target))

    def advance(self, step_s: float) -> None:
        if self.controller.policy == "lagged":
            self.speed = self.lag.at(step_s)

    @property
    def lag(self) -> Lag:
        return Lag(self.speed, self.target, self.controller.tau_s)

    def limit(self, index: int, course: Course) -> float:
        """The constant speed at which a job of ours may go."""
        policy = self.controller.policy
        if policy == "fixed_limit":
            return _speed_at_w(course, self.controller.limit_w)
        if policy == "three_band":
            return _speed_at_w(course, self._limits_w.get(index, inf))
        return 1.0 if policy in ("none", "lagged") else self.speed

    def _target(self, courses: Sequence[Course]) -> float:
        """The common speed at which the draw is the cap, found by bisection to the last digit."""
        if self.draw_w(courses, 1.0) <= self.cap_w:
            return 1.0
        if self.draw_w(courses, 0.0) >= self.cap_w:
            return 0.0
        low, high = 0.0, 1.0
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (middle, high) if self.draw_w(courses, middle) <= self.cap_w else (low, middle)
        return low

    def _reading(self, courses: Sequence[Course], speeds: Sequence[float]) -> list[dict[int, float] | None]:
        """Three bands: what to command, if anything: new limits by job, or None to release all."""
        own = self.controller
        node_w = [course.node_w(speed) for course, speed in zip(courses, speeds, strict=True)]
        draw_w = self.factor * (sum(n * w for n, w in zip(self.nodes, node_w, strict=True)) + self.fixed_w)
        if draw_w < own.low * self.cap_w and (self._limits_w or self._cuts):
            return [None]
        if draw_w <= own.high * self.cap_w:
            return []
        return [self._cut((draw_w - own.target * self.cap_w) / self.factor, courses, node_w)]

    def _cut(self, cut_w: float, courses: Sequence[Course], node_w: Sequence[float]) -> dict[int, float]:
        limits_w: dict[int, float] = {}
        computing = [i for i, course in enumerate(courses) if course.phase == "computing" and self.nodes[i]]
        for bucket in _buckets(computing, node_w):
            room_w = {i: max(node_w[i] - courses[i].node_w(self.controller.floor), 0.0) for i in bucket}
            each_w = _even_share_w(cut_w, [(self.nodes[i], room_w[i]) for i in bucket])
            cuts_w = {i: min(each_w, room_w[i]) for i in bucket}
            limits_w |= {i: node_w[i] - own_w for i, own_w in cuts_w.items() if own_w > 0.0}
            cut_w -= sum(self.nodes[i] * own_w for i, own_w in cuts_w.items())
        return limits_w


def _buckets(computing: list[int], node_w: Sequence[float]) -> list[list[int]]:
    """Jobs of equal watts per node, the highest first; a limit in watts that several kinds of nodes keep is one."""
    buckets: list[list[int]] = []
    for i in sorted(computing, key=lambda i: -node_w[i]):
        if buckets and node_w[i] >= node_w[buckets[-1][0]] * (1.0 - SAME_WATTS):
            buckets[-1].append(i)
        else:
            buckets.append([i])
    return buckets


def _even_share_w(cut_w: float, rooms: list[tuple[int, float]]) -> float:
    """What each node gives so that all give ``cut_w``, or all they can; nobody gives more than there is room for."""
    nodes = sum(own for own, _ in rooms)
    share_w = 0.0
    for own, room_w in sorted(rooms, key=lambda room: room[1]):
        if (room_w - share_w) * nodes >= cut_w:
            return share_w + max(cut_w, 0.0) / nodes
        cut_w -= (room_w - share_w) * nodes
        share_w, nodes = room_w, nodes - own
    return share_w


def feeders_of(scenario: Scenario, courses: Sequence[Course]) -> dict[str, Feeder]:
    """The site and every feeder below it, by name."""
    power = scenario.power
    sections: dict[str, Power | FeederSection] = {"site": power, **power.feeders}
    feeders = {}
    for name, section in sections.items():
        nodes = [
            sum(there for place, there in course.job.places if name in path_up(power, place)) for course in courses
        ]
        fixed_w, factor = (power.fixed_w, power.pue) if name == "site" else (0.0, 1.0)
        feeders[name] = Feeder(section, nodes, scenario.start_s, fixed_w, factor)
    return feeders


def path_up(power: Power, name: str) -> Iterator[str]:
    while name != "site":
        yield name
        name = power.feeders[name].parent
    yield name


def pace_of(index: int, course: Course, feeders: Sequence[Feeder]) -> Pace:
    """The slowest of what the feeders of a job leave it."""
    above = [feeder for feeder in feeders if feeder.nodes[index]]
    lags = [feeder.lag for feeder in above if feeder.controller.policy == "lagged"]
    assert len(lags) <= 1
    return Pace(min(feeder.limit(index, course) for feeder in above), lags[0] if lags else None)


def _speed_at_w(course: Course, limit_w: float) -> float:
    power = course.job.power
    if limit_w >= power.compute_w:
        return 1.0
    return max(0.0, (limit_w - power.idle_w) / (power.compute_w - power.idle_w)) ** (1.0 / power.exponent)


def _cap_changes(cap: Cap | None, start_s: float) -> Iterator[tuple[float, float]]:
    """Time and value of each change; the cap at t = 0 is what the changes up to then leave."""
    if cap is None:
        return
    if isinstance(cap, DailyCap):
        for day in count(-1):
            for step in cap.daily:
                yield day * DAY_S + step.at_s - start_s, step.value_w
    elif isinstance(cap, tuple):
        for step in cap:
            yield step.at_s, step.value_w
    else:
        yield 0.0, cap
