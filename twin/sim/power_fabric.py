"""Power: loads change, feeders add up, controllers command speeds, and the jobs of each speed group share a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf, nan
from typing import NamedTuple

from twin.fleet import Job, PowerProfile
from twin.laws.speed import EXCESS
from twin.recording import ROOT, Rows
from twin.scenario import FeederSection, Power
from twin.sim.cap_schedule import CapSchedule
from twin.sim.controllers.build import controller_of
from twin.sim.controllers.fixed_limit import FixedLimit
from twin.sim.controllers.instantaneous import Anonymous, Uncontrolled
from twin.sim.controllers.lagged import Lagged
from twin.sim.controllers.three_band import LimitedJob, ThreeBand
from twin.sim.excursions import CapWatch
from twin.sim.feeder import Feeder, most_remembered
from twin.sim.moving_feeder import MovingFeeder
from twin.sim.power_log import MovingPowerLog, PowerLog
from twin.sim.speed_group import LaggedGroup, SpeedGroup
from twin.sim.step_log import StateLog
from twin.sim.timeline import RECORD, Alarm, Instant, Timeline
from twin.sim.virtual_clock import VirtualClock

MEMORYLESS = (Anonymous, Uncontrolled, FixedLimit)
Count = tuple[list[int], int, int]  # the counts of a feeder, a place in them, and the nodes of a job there
_StateAlone = tuple[float, float, bool, int, int, float]
# Speed, draw [W], is it above the cap (if that is recorded), nodes in use, number, the target that the controller sees.


class Connection(NamedTuple):
    """How a job hangs on the fabric.

    Args:
        group: whose clock it computes on.
        ceiling: the speed that limits leave it [-].
        limit_w: of a node, by the lowest fixed limit [W]; inf for none.
        computing, running: where its nodes are counted while it computes, and from launch to end.
        reconnect: the connection at another ceiling; the present one is given up.
    """

    group: SpeedGroup
    ceiling: float
    limit_w: float
    computing: tuple[Count, ...]
    running: tuple[Count, ...]
    reconnect: Callable[[float], Connection]


class PowerFabric:
    """The tree of feeders, and the speed groups of the jobs on it.

    Args:
        profiles: the power profiles of the fleet in ascending order.
        fleet_nodes: nodes the site owns; None if not said.
        start_s: time of day of t = 0, for caps that change daily [s].
        rows, events: where changes, and excursions and the crossings of ``fleet_nodes``, go; None records nothing.
    """

    def __init__(
        self,
        timeline: Timeline,
        instant: Instant,
        power: Power,
        profiles: Sequence[PowerProfile],
        fleet_nodes: int | None,
        start_s: float,
        rows: Rows | None,
        events: Rows | None,
    ) -> None:
        self._timeline = timeline
        self._instant = instant
        self._profiles = profiles
        self._fleet_nodes = fleet_nodes
        self._events = events
        self._touched: list[VirtualClock] = []
        self._changed: list[Feeder] = []  # a command or the cap of theirs
        self._groups: dict[tuple[tuple[int, ...], float], SpeedGroup] = {}
        self._connections: dict[tuple[tuple[tuple[str, int], ...], PowerProfile], Connection] = {}
        self._caps: list[CapSchedule] = []
        self._is_moving = _has_motion(power)
        self._feeders = self._build(power, start_s)
        self._by_name = {feeder.name: feeder for feeder in self._feeders}
        self._root = self._by_name[ROOT]
        self._above = {child.place: parent for parent in self._feeders for child in parent.children}
        self._alone: Feeder | None = None
        self._observe_alone: Callable[[float, float], bool] | None = None  # of a controller that acts later
        self._known: dict[tuple[float, ...], _StateAlone] = {}
        self._state: _StateAlone | None = None
        self._was_over = False
        self._log: PowerLog | None = None
        self._log_alone: StateLog | None = None
        if rows is not None:
            kind = MovingPowerLog if self._is_moving else PowerLog
            self._log = kind([feeder.name for feeder in self._feeders], rows)
        self._cap_watch = CapWatch(timeline, self._feeders, events)
        self._is_exceeded = False  # more nodes in use than the fleet has, at the close of the last instant
        self._fleet_watch = Alarm(timeline, self._watch_fleet, RECORD)
        for feeder in self._feeders:
            feeder.demand_w, feeder.draw_w = feeder.draw()

    def connect(self, job: Job) -> Connection:
        """Find out on which feeders a job's nodes are counted, and with whom it shares a clock.

        Jobs have to come in the order of their ranks. Those alike in places and power share one connection.
        """
        alike = job.places, job.power
        if connection := self._connections.get(alike):
            connection.group.jobs += 1
            return connection
        path: dict[int, Feeder] = {}
        for name, _ in job.places:
            path |= {feeder.place: feeder for feeder in self._up_from(self._by_name[name])}
        feeders = [path[place] for place in sorted(path)]
        limits_w = [f.controller.limit_w for f in feeders if isinstance(f.controller, FixedLimit)]
        limit_w = min(limits_w, default=inf)
        connection = self._connection(job, feeders, limit_w, job.power.speed_within(limit_w), None)
        self._connections[alike] = connection
        return connection

    def put_under_limits(self, job: LimitedJob, places: tuple[tuple[str, int], ...]) -> None:
        """Make a job known to the controllers that limit job by job."""
        if not any(isinstance(feeder.controller, ThreeBand) for feeder in self._feeders):
            return
        nodes_at: dict[Feeder, int] = {}
        for name, nodes in places:
            for feeder in self._up_from(self._by_name[name]):
                nodes_at[feeder] = nodes_at.get(feeder, 0) + nodes
        for feeder, nodes in nodes_at.items():
            if isinstance(feeder.controller, ThreeBand):
                feeder.controller.jobs.append((job, nodes))

    def _connection(
        self, job: Job, feeders: list[Feeder], limit_w: float, ceiling: float, given_up: SpeedGroup | None
    ) -> Connection:
        if given_up is not None:
            given_up.jobs -= 1
        group = self._group(feeders, ceiling)
        group.jobs += 1
        profile = self._profiles.index(job.power)
        computing: list[Count] = []
        running: list[Count] = []
        for name, nodes in job.places:
            for feeder in self._up_from(self._by_name[name]):
                below = feeder.name != name
                computing.append((feeder.counts, feeder.computing_place(profile, group, below=below), nodes))
                running.append((feeder.counts, feeder.running_place(profile, below=below), nodes))
        return Connection(
            group,
            ceiling,
            limit_w,
            tuple(computing),
            tuple(running),
            lambda other: self._connection(job, feeders, limit_w, other, group),
        )

    def start(self) -> Callable[[float], None]:
        """How to settle an instant, once all jobs are connected."""
        controller = self._root.controller
        if len(self._feeders) > 1 or len(self._groups) > 1 or isinstance(controller, Lagged | ThreeBand):
            for feeder in self._feeders:
                self._note(feeder, 0.0)
            return self.settle
        self._alone = self._root
        if not isinstance(controller, MEMORYLESS):
            self._observe_alone = controller.observe
        if self._log is not None:
            self._log_alone = StateLog(self._log.write_states)
            self._log_alone.note(0.0, self._state_alone(0.0, self._root)[4])
        self._clock_alone = self._root.groups[0].clock
        self._clock_alone.settle_always()
        return self._settle_alone

    def settle(self, now_s: float) -> None:
        """Let the controllers see the loads present from ``now_s`` [s] on, and set the speed of every group."""
        touched, changed = self._touched, self._changed
        for clock in [*touched]:
            self._mark_path(clock)
            clock.let_move(now_s)
        for feeder in changed:
            if feeder.controller.observe(now_s, feeder.look().target):
                for group in feeder.groups:
                    group.clock.touch()
        if not changed:
            return
        touched.sort(key=_place_of_clock)
        for clock in touched:
            clock.group.settle(now_s)
            self._mark_path(clock)
        touched.clear()
        changed.sort(key=_place_of_feeder)
        self._redraw(now_s, changed)
        changed.clear()

    def _mark_path(self, clock: VirtualClock) -> None:
        """What is drawn on the feeders above a group has to be worked out anew."""
        for feeder in clock.group.path:
            self._mark(feeder)

    def _settle_alone(self, now_s: float) -> None:
        """The same for a site with one group: its loads, and what was commanded before, mostly were seen before.

        The reference fleet runs in half the time for it.
        """
        site = self._root
        key = tuple(site.counts) if self._observe_alone is None else (*site.counts, site.controller.command)
        try:
            state = self._known[key]
        except KeyError:
            state = self._known[key] = self._state_alone(now_s, site)
        if self._observe_alone is not None:
            self._observe_alone(now_s, state[5])
        self._clock_alone.settle(now_s, state[0])
        if state is self._state:
            return
        self._state = state
        if self._log_alone is not None:
            self._log_alone.note(now_s, state[4])
        if state[2] or self._was_over:
            self._was_over = state[2]
            site.draw_w = state[1]
            self._cap_watch.look_at(site)
        if self._fleet_nodes is not None and (state[3] > self._fleet_nodes) is not self._is_exceeded:
            self._fleet_watch.set(now_s)

    def _state_alone(self, now_s: float, site: Feeder) -> _StateAlone:
        """The state of the loads counted now."""
        if len(self._known) >= most_remembered(tuple(site.counts)):
            self._forget_states()
        target = site.look().target
        if self._observe_alone is None:
            site.controller.observe(now_s, target)
        site.command = site.controller.command
        site.groups[0].speed = speed = min(site.command, site.groups[0].ceiling)
        demand_w, draw_w = site.draw()
        number = 0 if self._log_alone is None else self._log_alone.number_of(demand_w, draw_w, speed)
        is_over = self._events is not None and draw_w > site.limit_w * (1.0 + EXCESS)
        return speed, draw_w, is_over, site.answer.nodes, number, target

    def _forget_states(self) -> None:
        """So that a long run stays within bounded memory."""
        self._known.clear()
        if self._log_alone is not None:
            self._log_alone.forget()

    def is_computing(self) -> bool:
        """Whether the end of a compute stretch is due."""
        for group in self._groups.values():  # noqa: SIM110 - asked in many instants, and any() takes twice as long
            if group.clock.due_s < inf:
                return True
        return False

    @property
    def has_more_to_say(self) -> bool:
        """A command, or a change of a cap that does not come every day, is still to come if nothing else changes."""
        said = (feeder.controller.has_more_to_say(feeder.look().target) for feeder in self._feeders)
        return any(said) or any(cap.has_more and not cap.period_s for cap in self._caps)

    @property
    def longest_period_s(self) -> float:
        """Time after which a cap that changes for ever is the same again [s]; 0 if none does."""
        return max(cap.period_s for cap in self._caps)

    @property
    def binding_cap(self) -> tuple[str, float]:
        """Key and value [W] of a cap that the fixed draw alone reaches, to name it in an error."""
        for feeder in self._feeders:
            if feeder.look().all_fixed_w >= feeder.cap_w:
                return _cap_key(feeder.name), feeder.cap_w
        return _cap_key(ROOT), self._root.cap_w

    def close(self, end_s: float) -> None:
        """Record the last instant; the run has ended."""
        for feeder in self._feeders:
            if isinstance(feeder, MovingFeeder):
                feeder.advance(end_s)
                feeder.draw_w = feeder.draw_at(end_s)
                self._note(feeder, end_s)
        self._cap_watch.close(end_s)
        if self._log_alone is not None:
            self._log_alone.close()
        if self._log is not None:
            self._log.close([feeder.draw_w for feeder in self._feeders])

    def _build(self, power: Power, start_s: float) -> list[Feeder]:
        """The feeders, children before parents and in the order of names, and the changes of their caps."""
        sections: dict[str, Power | FeederSection] = {ROOT: power, **power.feeders}
        children: dict[str, list[str]] = {name: [] for name in sections}
        for name in sorted(power.feeders):
            children[power.feeders[name].parent].append(name)
        built: dict[str, Feeder] = {}
        for name in _children_first(ROOT, children):
            section = sections[name]
            cap = CapSchedule(section.cap, start_s)
            facility = (section.fixed_w, section.pue) if isinstance(section, Power) else (0.0, 1.0)
            kind = MovingFeeder if self._is_moving else Feeder
            below = [built[child] for child in children[name]]
            feeder = kind(name, len(built), below, self._profiles, cap.cap_w, *facility)
            if isinstance(feeder, MovingFeeder):
                feeder.timeline = self._timeline
            feeder.controller = controller_of(
                section.controller, feeder, self._instant, self._change(feeder), self._incident(feeder)
            )
            has_own_limit = section.limit_of_excursions is not section.cap
            cap.start(self._timeline, self._set_cap(feeder, is_limit=not has_own_limit))
            if has_own_limit:
                limit = CapSchedule(section.limit_of_excursions, start_s)
                feeder.limit_w = limit.cap_w
                limit.start(self._timeline, self._set_limit(feeder))
            self._caps.append(cap)
            built[name] = feeder
        return list(built.values())

    def _up_from(self, feeder: Feeder) -> Iterator[Feeder]:
        """The feeder and all above it."""
        above: Feeder | None = feeder
        while above is not None:
            yield above
            above = self._above.get(above.place)

    def _group(self, path: list[Feeder], ceiling: float) -> SpeedGroup:
        places = tuple(feeder.place for feeder in path)
        key = places, ceiling
        if key not in self._groups:
            if left := next((k for k, group in self._groups.items() if k[0] == places and group.jobs == 0), None):
                self._groups[key] = group = self._groups.pop(left)  # by its last job
                group.ceiling = ceiling
                return group
            is_lagged = any(isinstance(feeder.controller, Lagged) for feeder in path)
            kind = LaggedGroup if is_lagged else SpeedGroup
            group = kind(self._timeline, self._instant, len(self._groups), path, ceiling, self._touched)
            self._groups[key] = group
            for feeder in path:
                feeder.groups.append(group)
        return self._groups[key]

    def _change(self, feeder: Feeder) -> Callable[[], None]:
        """What a controller calls when a command takes effect."""

        def change() -> None:
            if self._alone is not None:  # it is settled anyway
                return
            self._mark(feeder)
            self._instant.ask()
            for group in feeder.groups:
                group.clock.touch()

        return change

    def _incident(self, feeder: Feeder) -> Callable[[str, float], None]:
        """What a controller calls to have an incident recorded."""

        def record(kind: str, value: float) -> None:
            if (events := self._events) is not None:
                codes = events.code("kind", kind), events.code("feeder", feeder.name), events.code("detail", "")
                events.append(self._timeline.now, codes[0], Rows.NO_CODE, codes[1], value, codes[2])

        return record

    def _set_cap(self, feeder: Feeder, *, is_limit: bool) -> Callable[[float], None]:
        def set_cap(cap_w: float) -> None:
            feeder.set_cap(cap_w)
            if is_limit:
                feeder.limit_w = cap_w
            self._forget_states()
            if self._alone is None:
                self._mark(feeder)
            self._instant.ask()

        return set_cap

    def _set_limit(self, feeder: Feeder) -> Callable[[float], None]:
        def set_limit(limit_w: float) -> None:
            feeder.limit_w = limit_w
            if self._alone is None:  # nothing it draws has changed
                self._cap_watch.look_at(feeder)
            else:  # its states know whether they are above
                self._forget_states()
                self._instant.ask()

        return set_limit

    def _mark(self, feeder: Feeder) -> None:
        """What it draws has to be worked out anew."""
        if not feeder.is_dirty:
            feeder.is_dirty = True
            self._changed.append(feeder)

    def _redraw(self, now_s: float, feeders: list[Feeder]) -> None:
        """Work out and note what these feeders draw from now on."""
        for feeder in feeders:
            if isinstance(feeder, MovingFeeder):
                feeder.advance(now_s)
        for feeder in feeders:
            feeder.is_dirty = False
            before = feeder.demand_w, feeder.draw_w, feeder.command
            feeder.command = feeder.controller.command
            feeder.demand_w, feeder.draw_w = after = feeder.draw()
            if self._is_moving or before != (*after, feeder.command):
                self._note(feeder, now_s)
            self._cap_watch.look_at(feeder)
        if self._fleet_nodes is not None and (self._root.answer.nodes > self._fleet_nodes) is not self._is_exceeded:
            self._fleet_watch.set(now_s)

    def _note(self, feeder: Feeder, now_s: float) -> None:
        if self._log is None:
            return
        state = now_s, feeder.place, feeder.demand_w, feeder.draw_w
        if not isinstance(feeder, MovingFeeder):
            self._log.note(*state, feeder.command)
            return
        lagged = feeder.controller
        speed, target, tau_s = feeder.command, nan, nan
        if isinstance(lagged, Lagged):
            speed = lagged.motion.at(now_s)
            if speed != lagged.motion.target:
                target, tau_s = lagged.motion.target, lagged.motion.tau_s
        self._log.note(*state, speed, target, tau_s, feeder.draw_before_w, feeder.energy_j)

    def _watch_fleet(self, watch: Alarm) -> None:
        """Record at the close of an instant that the nodes in use rose above those of the fleet in it."""
        watch.callbacks = watch.again
        assert self._fleet_nodes is not None
        nodes = self._root.look().nodes
        was_exceeded, self._is_exceeded = self._is_exceeded, nodes > self._fleet_nodes
        if self._is_exceeded and not was_exceeded and self._events is not None:
            kind = self._events.code("kind", "fleet_exceeded")
            feeder = self._events.code("feeder", ROOT)
            detail = self._events.code("detail", "nodes in use, more than the fleet has")
            self._events.append(self._timeline.now, kind, Rows.NO_CODE, feeder, nodes, detail)


def _has_motion(power: Power) -> bool:
    sections: tuple[Power | FeederSection, ...] = (power, *power.feeders.values())
    return any(section.controller.policy == "lagged" and section.cap is not None for section in sections)


def _children_first(root: str, children: dict[str, list[str]]) -> list[str]:
    """All names from the root down, the children of each before it and in order."""
    found, to_see = list[str](), [root]
    while to_see:
        found.append(name := to_see.pop())
        to_see += children[name]
    return found[::-1]


def _place_of_clock(clock: VirtualClock) -> int:
    place: int = clock.group.place
    return place


def _place_of_feeder(feeder: Feeder) -> int:
    return feeder.place


def _cap_key(feeder: str) -> str:
    return "power.cap" if feeder == ROOT else f"power.feeders.{feeder}.cap"
