"""Rules between the values of a scenario: each is valid alone, and still they may not fit together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from twin.errors import Fault

if TYPE_CHECKING:
    from twin.scenario.models import JobGroup, NodePower, Replay, Scenario

MAX_JOBS = 50_000  # what a run holds in some 500 MB


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
        for fault in cap_faults(scenario.power.cap_w, [(group.name, group.nodes, group.power.idle_w)]):
            yield replace(fault, reads=(f"{key}.nodes", f"{key}.power"))
    if scenario.replay is not None:
        yield from _replay(scenario.replay)
    yield from _stop(scenario)


def cap_faults(cap_w: float | None, jobs: Iterable[tuple[str, int, float]]) -> list[Fault]:
    """The fault of a cap at or below the idle draw of one job alone; that job could never compute.

    Args:
        cap_w: the cap of the feeder [W]; None for no cap.
        jobs: name, nodes and idle power of one node [W] of each job.
    Returns:
        Nothing, or one fault that names the job of the largest idle draw.
    """
    name, nodes, idle_w = max(jobs, key=lambda job: job[1] * job[2], default=("", 0, 0.0))
    draw_w = nodes * idle_w
    if cap_w is None or cap_w > draw_w:
        return []
    rule = f"is at or below the idle draw of job {name!r} alone ({nodes} nodes x {idle_w:g} W = {draw_w:g} W)"
    return [Fault("power.cap", f"{cap_w:g} W", f"{rule}, which could never compute", f"raise it above {draw_w:g} W")]


def warnings(scenario: Scenario) -> Iterator[str]:
    """What is legal, but perhaps not meant; one sentence each."""
    if scenario.fleet is not None:
        owned = scenario.fleet.nodes
        for group in scenario.jobs:
            if group.nodes > owned:
                yield f"one job of group {group.name!r} needs {group.nodes} nodes, and fleet.nodes is {owned}"
    if scenario.storage.degradation > 0.0 and scenario.storage.client_bandwidth_b_s is None:
        yield "storage.degradation has no effect without storage.client_bandwidth"
    if scenario.power.cap_w is not None and scenario.power.controller.policy == "none":
        yield "power.cap is not enforced: power.controller.policy is none"
    if len({group.nodes for group in scenario.jobs}) > 1:
        yield "jobs of unequal nodes get equal shares of the store: storage.share is job"


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
    rule = "has no meaning with a checkpoint.trigger on the wall clock"
    if group.compute_s is not None:
        value = f"{group.compute_s:g} s"
        yield Fault(f"{key}.compute", value, rule, "remove it, or use trigger: work", reads=(trigger,))
    if group.jitter is not None:
        yield Fault(f"{key}.jitter", "", rule, "remove it, or use trigger: work", reads=(trigger,))


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
