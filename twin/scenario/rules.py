"""Rules between the values of a scenario: each is valid alone, and still they may not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from twin.errors import Fault
from twin.scenario.feeder_loads import feeder_loads, sections
from twin.scenario.placement import ROOT
from twin.scenario.placement_rules import placement_faults
from twin.scenario.power import lowest_cap
from twin.scenario.power_rules import power_faults

if TYPE_CHECKING:
    from twin.scenario.job_groups import JobGroup, NodePower
    from twin.scenario.launch_log import Replay
    from twin.scenario.models import Scenario

MAX_JOBS = 50_000  # what a run holds in some 500 MB

# Less is legal, and in most scenarios a unit that was left out.
_LEAST_NODE_W = 100.0
_LEAST_SIZE_B = 1e6
_LEAST_RATE_B_S = 1e6
_NO_UNIT = 1000.0  # whoever writes a value below it without a unit thinks in a larger one
_MW = 1e6


def faults(scenario: Scenario) -> Iterator[Fault]:
    """Everything that keeps the scenario from being run, each with the key to change."""
    if not scenario.jobs and scenario.replay is None:
        yield Fault("jobs", "", "is missing: there is nothing to run", "add jobs, or a replay", reads=("replay",))
    yield from _names(scenario.jobs)
    yield from _sizes(scenario.jobs)
    for index, group in enumerate(scenario.jobs):
        key = f"jobs[{index}]"
        yield from _launch(key, group)
        yield from _trigger(key, group)
        yield from _node_power(f"{key}.power", group.power)
        yield from _checkpoint(f"{key}.checkpoint", group)
    if scenario.replay is not None:
        yield from _replay(scenario.replay)
    yield from power_faults(scenario.power)
    yield from placement_faults(scenario)
    yield from _stop(scenario)


def warnings(scenario: Scenario) -> Iterator[str]:
    """What is legal, but perhaps not meant; one sentence each."""
    yield from _units_left_out(scenario)
    yield from _caps_not_held(scenario)
    if scenario.fleet is not None:
        owned = scenario.fleet.nodes
        for group in scenario.jobs:
            if group.nodes > owned:
                yield f"one job of group {group.name!r} needs {group.nodes} nodes, and fleet.nodes is {owned}"
    if scenario.storage.degradation > 0.0 and scenario.storage.client_bandwidth_b_s is None:
        yield "storage.degradation has no effect without storage.client_bandwidth"
    nodes = [group.nodes for group in scenario.jobs]
    if len(set(nodes)) > 1 and scenario.storage.share == "job":
        yield (
            f"jobs of {min(nodes)} nodes and jobs of {max(nodes)} nodes get equal shares of the store while they write "
            "(storage.share is job); nothing to do if that is how your store works"
        )


def _units_left_out(scenario: Scenario) -> Iterator[str]:
    """Values so small that a larger unit was probably meant."""
    powers = {f"jobs[{index}].power": group.power for index, group in enumerate(scenario.jobs)}
    if scenario.replay is not None:
        powers["replay.profile.power"] = scenario.replay.job_profile.power
    values = [
        (f"{key}.compute", power.compute_w, "W", "per node", _LEAST_NODE_W, "kW") for key, power in powers.items()
    ]
    for index, group in enumerate(scenario.jobs):
        size_b = group.checkpoint.size_b
        values.append((f"jobs[{index}].checkpoint.size", size_b, "B", "for the whole job", _LEAST_SIZE_B, "GB"))
    for name, rate_b_s, of_what in (
        ("bandwidth", scenario.storage.bandwidth_b_s, "in all"),
        ("client_bandwidth", scenario.storage.client_bandwidth_b_s, "of one job"),
    ):
        if rate_b_s is not None:
            values.append((f"storage.{name}", rate_b_s, "B/s", of_what, _LEAST_RATE_B_S, "GB/s"))
    for key, value, unit, of_what, least, larger in values:
        if value < least:
            meant = f"did you mean {value:g} {larger}?" if value < _NO_UNIT else f"a bare number is in {unit}"
            yield f"{key} is {value:g} {unit} {of_what}; {meant}"


def _caps_not_held(scenario: Scenario) -> Iterator[str]:
    """Caps that nothing enforces, and those that no speed of the jobs meets while all of them compute."""
    loads = feeder_loads(scenario)
    for feeder, (key, section) in sections(scenario.power).items():
        _, cap_w = lowest_cap(section.cap)
        load, policy, limit_w = loads[feeder], section.controller.policy, section.controller.limit_w
        if section.cap is not None and policy == "none":
            yield f"{key}.cap is not enforced: {key}.controller.policy is none"
        elif limit_w is not None:
            draw_w = load.nodes * limit_w
            draw_w = min(load.demand_w, scenario.power.site_w(draw_w) if feeder == ROOT else draw_w)
            if draw_w > cap_w:
                yield (
                    f"{key}.cap is not enforced: {key}.controller.policy is fixed_limit, and at its limit of "
                    f"{limit_w:g} W all nodes together draw {draw_w / _MW:g} MW, above {cap_w / _MW:g} MW"
                )
        elif load.idle_w >= cap_w:
            jobs = "all jobs" if feeder == ROOT else "all jobs below it"
            yield (
                f"{key}.cap is {cap_w / _MW:g} MW, and {jobs} together draw {load.idle_w / _MW:g} MW at speed 0: while "
                "all compute at once none moves, and the run may end as stalled; raise the cap or launch fewer jobs"
            )


def _names(groups: tuple[JobGroup, ...]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for index, group in enumerate(groups):
        key = f"jobs[{index}].name"
        if group.name in first:
            known = first[group.name]
            yield Fault(key, group.name, f"is the name of {known[: -len('.name')]} too", "rename one", reads=(known,))
        first.setdefault(group.name, key)


def _sizes(groups: tuple[JobGroup, ...]) -> Iterator[Fault]:
    total = sum(group.count for group in groups)
    if total > MAX_JOBS:
        yield Fault("jobs", f"{total} jobs", f"must be at most {MAX_JOBS} jobs in all", "lower the counts")


def _launch(key: str, group: JobGroup) -> Iterator[Fault]:
    forms = [field.alias or name for name, field in type(group.launch).model_fields.items()]
    values = group.launch.model_dump(by_alias=True, exclude_none=True)
    given = [form for form in forms if form in values]
    key = f"{key}.launch"
    if len(given) != 1:
        found = " and ".join(given) if given else "{}"
        remedy = f"keep one, and remove {' and '.join(given[1:])}" if given else "write it as in {together: 0 s}"
        yield Fault(key, found, f"must be exactly one launch form of {', '.join(forms)}", remedy)
    elif group.launch.at_s is not None and len(group.launch.at_s) != group.count:
        found = f"{len(group.launch.at_s)} launch times"
        count_key = f"{key.removesuffix('launch')}count"
        rule = f"must be one time for each job, and {count_key} is {group.count}"
        yield Fault(f"{key}.at", found, rule, f"give {group.count} times, or change count", reads=(count_key,))


def _trigger(key: str, group: JobGroup) -> Iterator[Fault]:
    trigger = f"{key}.checkpoint.trigger"
    if group.checkpoint.trigger == "work":
        if group.compute_s is None:
            yield Fault(
                f"{key}.compute", "null", "must be a time with trigger: work", "write it as in 30 min", reads=(trigger,)
            )
        return
    if group.compute_s is not None:
        rule = f"cannot stand beside {trigger}, which sets the time of each checkpoint itself, on the wall clock"
        work = f"{group.compute_s:g} s"
        remedy = f"remove compute to keep that clock, or remove trigger to write one after each {work} of work"
        yield Fault(f"{key}.compute", work, rule, remedy, reads=(trigger,))
    if group.jitter is not None:
        rule = f"has no effect with {trigger} on the wall clock, which nothing shifts"
        yield Fault(f"{key}.jitter", "", rule, "remove jitter, or remove trigger", reads=(trigger,))


def _checkpoint(key: str, group: JobGroup) -> Iterator[Fault]:
    checkpoint = group.checkpoint
    if checkpoint.mode == "blocking":
        for name, value in (
            ("snapshot", checkpoint.snapshot_s),
            ("interference", checkpoint.interference),
            ("in_flight", checkpoint.in_flight),
        ):
            if value is not None:
                rule = "has no meaning with mode: blocking"
                yield Fault(
                    f"{key}.{name}", f"{value:g}", rule, "remove it, or use mode: async", reads=(f"{key}.mode",)
                )
        return
    if checkpoint.trigger == "work" and group.compute_s is None:
        return  # said already
    if checkpoint.snapshot_s is not None and checkpoint.snapshot_s >= group.interval_s:
        rule = f"must be less than the interval between checkpoints, {group.interval_s:g} s"
        reads = (f"{key}.mode", f"{key}.trigger", f"{key.removesuffix('checkpoint')}compute")
        remedy = "shorten it, or lengthen the interval"
        yield Fault(f"{key}.snapshot", f"{checkpoint.snapshot_s:g} s", rule, remedy, reads=reads)


def _node_power(key: str, power: NodePower) -> Iterator[Fault]:
    if power.idle_w >= power.compute_w:
        rule = f"must be less than {key}.compute, which is {power.compute_w:g} W"
        yield Fault(
            f"{key}.idle", f"{power.idle_w:g} W", rule, "lower idle or raise compute", reads=(f"{key}.compute",)
        )


def _replay(replay: Replay) -> Iterator[Fault]:
    if not isinstance(replay.profile, str):
        yield from _node_power("replay.profile.power", replay.profile.power)
    if replay.window is None:
        return
    start, end = (datetime.fromisoformat(edge) if isinstance(edge, str) else edge for edge in replay.window)
    shown = f"[{', '.join(edge if isinstance(edge, str) else f'{edge:g} s' for edge in replay.window)}]"
    key = "replay.window"
    if isinstance(start, datetime) and isinstance(end, datetime):
        if (start.tzinfo is None) != (end.tzinfo is None):
            yield Fault(key, shown, "has a time zone on one date only", "give both the same form")
        elif end <= start:
            yield Fault(key, shown, "must end after it starts", "swap or change the dates")
    elif isinstance(start, datetime) or isinstance(end, datetime):
        yield Fault(key, shown, "mixes a date and a time since the start of the log", "give both the same form")
    elif end <= start:
        yield Fault(key, shown, "must end after it starts", "swap or change the times")


def _stop(scenario: Scenario) -> Iterator[Fault]:
    if scenario.stop.cycles is not None or scenario.stop.time_s is not None:
        return
    endless = [(index, group) for index, group in enumerate(scenario.jobs) if group.work_s is None]
    if endless:
        index, group = endless[0]
        rule = f"is missing: the jobs of group {group.name!r} have no work and would run for ever"
        remedy = f"add stop: {{cycles: 12}} or stop: {{time: 30 d}}, or give jobs[{index}].work"
        yield Fault("stop", "", rule, remedy, reads=(f"jobs[{index}].work",))
