"""Rules of the jobs on the tree of feeders: where they hang, and what the caps and controllers there leave them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from twin.errors import Fault
from twin.scenario.feeder_loads import nodes_below, sections
from twin.scenario.placement import ROOT, Placement, as_written, feeders_named, ways
from twin.scenario.power import Power, lowest_cap
from twin.scenario.power_rules import unknown_feeder

if TYPE_CHECKING:
    from twin.scenario.models import Scenario

Places = tuple[tuple[str, int], ...]

_NO_UNIT = 1000.0  # whoever writes a cap below it without a unit thinks in a larger one
_MANY = 10_000  # jobs of a log, more than there are ways to place them


class _Placed(NamedTuple):
    """Jobs that hang alike.

    Args:
        key: of their placement.
        name: of the group; empty for a launch log, whose jobs have nodes of their own: ``nodes`` is 0.
        idle_w: of one node [W].
    """

    key: str
    name: str
    placement: Placement
    nodes: int
    jobs: int
    idle_w: float

    @property
    def holder(self) -> str:
        """Key of the section that has the placement."""
        return self.key.rpartition(".")[0]

    def places(self) -> list[Places]:
        """Each way in which they hang; one job of a log has at least a node for each feeder of a list."""
        nodes = self.nodes or len(feeders_named(self.placement))
        return [places for places, _ in ways(self.placement, nodes, self.jobs)]


def placement_faults(scenario: Scenario) -> Iterator[Fault]:
    """Everything that is wrong with where jobs hang, and caps and limits there that no job could run under."""
    power = scenario.power
    sound: list[_Placed] = []
    for placed in _placed(scenario):
        found = list(_faults(placed, power))
        yield from found
        if not found and all(_reaches_the_root(name, power) for name in feeders_named(placed.placement).values()):
            sound.append(placed)
    for placed in sound:
        yield from _lags(placed, power)
    yield from _limits(sound, power)
    named = {placed.name: placed for placed in sound if placed.name}
    jobs = [(placed.name, places, placed.idle_w) for placed in named.values() for places in placed.places()]
    for name, fault in _cap_faults(power, jobs):
        holder = named[name].holder
        tree = _parents_read(named[name].places(), power)
        yield replace(fault, reads=(f"{holder}.nodes", f"{holder}.power", named[name].key, *fault.reads, *tree))


def cap_faults(power: Power, jobs: Iterable[tuple[str, Places, float]]) -> list[Fault]:
    """The faults of caps at or below the idle draw of one job alone; that job could never compute.

    Args:
        jobs: name, feeders with the nodes there, and idle power of one node [W] of each job.
    Returns:
        At most one fault for each cap, which names the job of the largest idle draw there.
    """
    return [fault for _, fault in _cap_faults(power, jobs)]


def _cap_faults(power: Power, jobs: Iterable[tuple[str, Places, float]]) -> Iterator[tuple[str, Fault]]:
    largest: dict[str, tuple[float, str, int, float]] = {}
    for name, places, idle_w in jobs:
        for feeder, nodes in nodes_below(places, power).items():
            largest[feeder] = max(largest.get(feeder, (0.0, "", 0, 0.0)), (nodes * idle_w, name, nodes, idle_w))
    for feeder, (_, name, nodes, idle_w) in largest.items():
        key, section = sections(power)[feeder]
        at, cap_w = lowest_cap(section.cap)
        draw_w = power.site_w(nodes * idle_w) if feeder == ROOT else nodes * idle_w
        if cap_w > draw_w:
            continue
        also = ""
        if draw_w != nodes * idle_w:
            also = f", with power.fixed {power.fixed_w:g} W and power.pue {power.pue:g},"
        rule = f"is at or below the idle draw of job {name!r} alone ({nodes} nodes x {idle_w:g} W{also} = {draw_w:g} W)"
        larger = [f"{cap_w:g} {unit}" for unit, watts in (("kW", 1e3), ("MW", 1e6)) if cap_w * watts > draw_w]
        meant = f"; did you mean {larger[0]}?" if cap_w < idle_w and cap_w < _NO_UNIT and larger else ""
        remedy = f"raise it above {draw_w:g} W{meant}"
        reads = ("power.fixed", "power.pue") if feeder == ROOT else ()
        yield name, Fault(f"{key}.cap{at}", f"{cap_w:g} W", f"{rule}, which could never compute", remedy, reads=reads)


def _placed(scenario: Scenario) -> Iterator[_Placed]:
    for index, group in enumerate(scenario.jobs):
        key = f"jobs[{index}].feeders"
        yield _Placed(key, group.name, group.feeders, group.nodes, group.count, group.power.idle_w)
    if scenario.replay is not None:
        idle_w = scenario.replay.job_profile.power.idle_w
        yield _Placed("replay.place", "", scenario.replay.place, 0, _MANY, idle_w)


def _faults(placed: _Placed, power: Power) -> Iterator[Fault]:
    key, placement, nodes = placed.key, placed.placement, placed.nodes
    for place, name in feeders_named(placement).items():
        if name != ROOT and name not in power.feeders:
            yield unknown_feeder(f"{key}{place}", name, power, is_value=place != f".{name}")
    written = as_written(placement)
    if isinstance(placement, Mapping) and "rotate" not in placement:
        total = sum(placement.values())
        if not placed.name:
            rule = "gives nodes, and the jobs of a log have their own"
            yield Fault(key, written, rule, "list the feeders, as in [row-1, row-2]: they share evenly")
        elif total != nodes:
            rule = f"adds up to {total} nodes, and the job has {nodes}"
            remedy = f"change the counts, or nodes to {total}"
            yield Fault(key, written, rule, remedy, reads=(f"{placed.holder}.nodes",))
    elif isinstance(placement, tuple) and placed.name and nodes < len(placement):
        rule = f"names {len(placement)} feeders, more than the job has nodes: {nodes}"
        remedy = "name fewer, or write {rotate: [...]} to place whole jobs in turn"
        yield Fault(key, written, rule, remedy, reads=(f"{placed.holder}.nodes",))


def _reaches_the_root(name: str, power: Power) -> bool:
    seen: set[str] = set()
    while name != ROOT and name in power.feeders and name not in seen:
        seen.add(name)
        name = power.feeders[name].parent
    return name == ROOT


def _lags(placed: _Placed, power: Power) -> Iterator[Fault]:
    found = sections(power)
    for places in placed.places():
        lagged = [name for name in nodes_below(places, power) if found[name][1].controller.policy == "lagged"]
        if len(lagged) > 1:
            rule = f"puts a job under two lagged controllers, those of {' and '.join(sorted(lagged))}"
            remedy = "keep one of them lagged, and make the other delayed, for instance"
            policies = [f"{found[name][0]}.controller.policy" for name in lagged]
            reads = (*policies, *_parents_read([places], power))
            yield Fault(placed.key, as_written(placed.placement), rule, remedy, reads=reads)
            return


def _limits(sound: list[_Placed], power: Power) -> Iterator[Fault]:
    """The fault of each limit that some job could never compute under; it names the one of the largest idle draw."""
    largest: dict[str, tuple[float, _Placed]] = {}
    for placed in sound:
        for places in placed.places():
            for feeder in nodes_below(places, power):
                if feeder not in largest or placed.idle_w > largest[feeder][0]:
                    largest[feeder] = (placed.idle_w, placed)
    for feeder, (idle_w, placed) in largest.items():
        key, section = sections(power)[feeder]
        limit_w = section.controller.limit_w
        if limit_w is None or limit_w > idle_w:
            continue
        whose = f"job {placed.name!r}" if placed.name else "a job of the launch log"
        rule = f"is at or below the idle draw of a node of {whose}, {idle_w:g} W, which could never compute"
        profile = "power" if placed.name else "profile"
        reads = (f"{placed.holder}.{profile}", placed.key, *_parents_read(placed.places(), power))
        yield Fault(f"{key}.controller.limit", f"{limit_w:g} W", rule, f"raise it above {idle_w:g} W", reads=reads)


def _parents_read(all_places: Iterable[Places], power: Power) -> list[str]:
    """Keys that say what lies above these places."""
    feeders = {feeder for places in all_places for feeder in nodes_below(places, power) if feeder != ROOT}
    return [f"power.feeders.{feeder}.parent" for feeder in sorted(feeders)]
