"""What a run assumed: is it anonymous, do its jobs differ, does the cap bind, and which promises of the theory hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from twin.analysis.anonymous_rates import AnonymousRates, kept_phases
from twin.analysis.checkpoints import lone_write_s
from twin.analysis.metrics import Value
from twin.analysis.promises import PROMISES, UNEQUAL_POWER, Facts
from twin.fleet import Job, total_rate_b_s
from twin.scenario import Scenario, Storage

_MEMORYLESS = ("none", "anonymous")

TRAITS: dict[str, Callable[[Job], Hashable]] = {
    "nodes": lambda job: job.nodes,
    "compute": lambda job: job.compute_s,
    "work": lambda job: job.work_s,
    "trigger": lambda job: (job.every_s, job.offset_s),
    "jitter": lambda job: (job.law, job.sigma_s),
    "size": lambda job: job.size_b,
    "power": lambda job: job.power,
}


def assumptions(scenario: Scenario, jobs: Sequence[Job], metrics: Mapping[str, Value]) -> dict[str, Any]:
    """The assumptions of a run, ready for JSON.

    Args:
        jobs: the fleet that was run.
        metrics: of this run, from ``summarise``; what it did not record counts as not known.
    Returns:
        anonymous, broken_by (the weights that broke it), blocking, identical, differences, cap_binding_share,
        memory_in_control, jitter (largest standard deviation / mean), common_cause (most jobs launched at one instant,
        most jobs with one wall-clock trigger) and promises: by id, whether it applies and why.
    """
    facts = facts_of(scenario, jobs, metrics)
    return {
        "anonymous": not facts.weights,
        "broken_by": list(facts.weights),
        "blocking": facts.blocking,
        "identical": not facts.differences,
        "differences": list(facts.differences),
        "cap_binding_share": facts.cap_binding_share,
        "memory_in_control": facts.policy not in _MEMORYLESS,
        "jitter": facts.jitter,
        "common_cause": {"in_step_launches": facts.in_step_launches, "in_step_triggers": facts.in_step_triggers},
        "promises": {name: promise.judged(facts) for name, promise in PROMISES.items()},
    }


def facts_of(scenario: Scenario, jobs: Sequence[Job], metrics: Mapping[str, Value]) -> Facts:
    """What the promises ask of a run, from its fleet and its metrics."""
    binding_share = _number(metrics.get("cap_binding_share"))
    clocks = [(job.every_s, job.offset_s) for job in jobs if job.every_s is not None]
    launches_s = [job.launch_s for job in jobs]
    writes_s = [lone_write_s(scenario.storage, job.size_b) for job in jobs]
    computes_s = [job.compute_s for job in jobs]
    return Facts(
        jobs=len(jobs),
        differences=tuple(name for name, trait in TRAITS.items() if len({trait(job) for job in jobs}) > 1),
        weights=_weights(scenario, jobs, binding_share),
        blocking=True,
        jitter=max((job.sigma_s / job.compute_s for job in jobs), default=0.0),
        wall_clock_jobs=len(clocks),
        in_step_launches=_most_alike(launches_s),
        inseparable=_most_alike([(job.launch_s, job.compute_s, job.size_b) for job in jobs if job.law is None]),
        in_step_triggers=_most_alike(clocks),
        launch_spread_s=max(launches_s, default=0.0) - min(launches_s, default=0.0),
        stagger_margin_s=_stagger_margin_s(launches_s, max(computes_s, default=0.0), max(writes_s, default=0.0)),
        compute_s=min(computes_s, default=0.0),
        lone_write_s=max(writes_s, default=0.0),
        store_contended=_is_contended(scenario.storage, len(jobs)),
        cap_binding_share=binding_share,
        policy=scenario.power.controller.policy,
        share=scenario.storage.share,
        peak_writers=_count(metrics.get("peak_writers")),
        jobs_done=_count(metrics.get("jobs_done")),
        kept_phases=kept_phases(AnonymousRates.of(scenario, jobs)) if jobs else None,
    )


def _weights(scenario: Scenario, jobs: Sequence[Job], binding_share: float | None) -> tuple[str, ...]:
    """What makes a rate depend on who is active, not only on how many; a cap that never bound broke nothing."""
    power = {(job.nodes * job.power.compute_w, job.nodes * job.power.idle_w, job.power.exponent) for job in jobs}
    power_counts = len(power) > 1 or len({job.nodes * job.power.write_w for job in jobs}) > 1
    if power_counts and binding_share != 0.0 and _can_bind_below_all(scenario, jobs):
        return (UNEQUAL_POWER,)
    return ()


def _can_bind_below_all(scenario: Scenario, jobs: Sequence[Job]) -> bool:
    """Whether the cap can bind while at least one job does not compute: only then does it matter which ones do."""
    all_w = sum(_highest_w(job) for job in jobs)
    return max(all_w - _highest_w(job) + job.nodes * job.power.write_w for job in jobs) > scenario.power.enforced_cap_w


def _highest_w(job: Job) -> float:
    return job.nodes * max(job.power.compute_w, job.power.write_w)


def _is_contended(storage: Storage, jobs: int) -> bool:
    return total_rate_b_s(storage, jobs) < jobs * total_rate_b_s(storage, 1)


def _stagger_margin_s(launches_s: Sequence[float], compute_s: float, write_s: float) -> float:
    """Smallest gap between the end of a write window and the next start if all jobs kept the lone rhythm [s]."""
    period_s = compute_s + write_s
    phases_s = sorted(launch_s % period_s for launch_s in launches_s)
    gaps_s = [after_s - before_s for before_s, after_s in pairwise([*phases_s, *(p + period_s for p in phases_s[:1])])]
    return min(gaps_s, default=period_s) - write_s


def _most_alike(items: Sequence[Hashable]) -> int:
    """Times that the most frequent of them occurs; 0 if no two are equal."""
    most = max(Counter(items).values(), default=0)
    return most if most > 1 else 0


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _count(value: Value) -> int | None:
    return value if isinstance(value, int) else None
