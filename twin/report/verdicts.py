"""A run in plain sentences: what it cost first, then when, then why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twin.report.run_summary import cap_in_words, comes_and_goes, feeder_lines, is_enforced, percent, seldom
from twin.units import scaled


def verdicts(manifest: Mapping[str, Any]) -> list[str]:
    """The sentences, the most telling first; a run says nothing of what it did not record."""
    metrics, found = manifest["metrics"], manifest["assumptions"]
    return [*_costs(metrics, found), *_moments(manifest), *_dynamics(found), *_notes(manifest)]


def _costs(metrics: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    if metrics.get("compute_share") is not None:
        yield (
            f"{percent(1.0 - metrics['compute_share'])} of the job time is lost: {percent(metrics['stall_share'])} "
            f"stalled in checkpoints, {percent(metrics['throttled_share'])} to the throttle"
            + (f", {percent(metrics['wait_share'])} waiting for the store" if metrics.get("wait_share") else "")
            + (f", {percent(metrics['interference_share'])} to drains" if metrics.get("interference_share") else "")
        )
    longest_s, lone_s = metrics.get("checkpoint_duration_max_s"), metrics.get("lone_checkpoint_by_group_s") or {}
    if longest_s is not None:
        # The lone time is a mean: that of the longest one too only where all have one size.
        is_known = len(lone_s) == 1 and "size" not in found["differences"]
        alone = f"; alone it would take {scaled(next(iter(lone_s.values())), 's')}" if is_known else ""
        yield f"the longest checkpoint takes {scaled(longest_s, 's')}{alone}"
    if metrics.get("job_stretch_mean") is not None:
        yield (
            f"{metrics['jobs_done']:,} jobs are done; they took {metrics['job_stretch_mean']:.4g} times their nominal "
            f"duration on average, 95 % of them at most {metrics['job_stretch_p95']:.4g} times"
        )


def _moments(manifest: Mapping[str, Any]) -> Iterator[str]:
    metrics = manifest["metrics"]
    measured, independent = (
        metrics.get(name) for name in ("writers_share_at_least", "writers_share_at_least_independent")
    )
    if measured and independent and len(measured) > 1:
        yield (
            f"at the peak {len(measured)} jobs write at once, {seldom(measured[-1])} of the time; with independent "
            f"phases {seldom(independent[-1])}"
        )
    binding, over_s = metrics.get("cap_binding_share"), metrics.get("time_over_cap_s")
    power = manifest["scenario"]["power"]
    if power.get("cap") is None or not is_enforced(power):
        yield cap_in_words(power)
    elif binding is not None:
        yield f"the cap binds {percent(binding)} of the time" if binding else "the cap never binds"
    if over_s:
        yield f"the draw is above the cap for {scaled(over_s, 's')}"
    if manifest["scenario"]["power"].get("feeders"):
        yield from (f"feeder {line.label}: {line.value}" for line in feeder_lines(manifest))
    load = metrics.get("offered_load")
    if load is not None:
        yield (
            f"the store is asked for {load:.3g} times what it can serve: checkpoints must overlap"
            if load > 1.0
            else f"the store is asked for {percent(load)} of what it can serve"
        )


def _dynamics(found: Mapping[str, Any]) -> Iterator[str]:
    causes = found["common_cause"]
    if causes["in_step_launches"]:
        yield f"common cause: {causes['in_step_launches']} jobs were launched at one instant"
    if causes["in_step_triggers"]:
        yield f"common cause: {causes['in_step_triggers']} jobs checkpoint by one wall clock"
    yield (
        "anonymous: no resource knows who uses it, so nothing pulls the jobs into step"
        if found["anonymous"]
        else f"not anonymous: {', '.join(found['broken_by'])}"
    )


def _notes(manifest: Mapping[str, Any]) -> Iterator[str]:
    if comes_and_goes(manifest["metrics"]) and manifest["metrics"].get("writers_share_at_least"):
        yield "jobs come and go, and independent phases take them all as there at the same time"
