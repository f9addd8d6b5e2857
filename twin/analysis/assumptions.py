"""What a run assumed: is it anonymous, do its jobs differ, does the cap bind, and which promises of the theory hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any

from twin.analysis.anonymous_rates import AnonymousRates, kept_phases
from twin.analysis.checkpoints import lone_write_s
from twin.analysis.limits import MEMORYLESS, Limit, limits_of
from twin.analysis.metrics import Value
from twin.analysis.promises import (
    FEEDERS,
    INTERFERENCE,
    LANES,
    MEMORY,
    NODE_SHARES,
    PROMISES,
    UNEQUAL_LIMITS,
    UNEQUAL_POWER,
    Facts,
)
from twin.fleet import Job, total_rate_b_s
from twin.scenario import ROOT, Scenario, Storage

_ROUNDING = 1e-12  # of a rate

TRAITS: dict[str, Callable[[Job], Hashable]] = {
    "nodes": lambda job: job.nodes,
    "compute": lambda job: job.compute_s,
    "work": lambda job: job.work_s,
    "trigger": lambda job: (job.every_s, job.offset_s),
    "jitter": lambda job: (job.law, job.sigma_s),
    "size": lambda job: job.size_b,
    "power": lambda job: job.power,
    "mode": lambda job: (job.is_async, job.snapshot_s, job.interference, job.in_flight),
    "feeders": lambda job: tuple(name for name, _ in job.places),
}


def assumptions(scenario: Scenario, jobs: Sequence[Job], metrics: Mapping[str, Value]) -> dict[str, Any]:
    """The assumptions of a run, ready for JSON.

    Args:
        jobs: the fleet that was run.
        metrics: of this run, from ``summarise``; what it did not record counts as not known.
    Returns:
        anonymous, broken_by (the weights that broke it), blocking, identical, differences, cap_binding_share,
        memory_in_control, idealised_control (a cap is held at once, without memory or error), caps_change,
        slowed_by_feeders (those whose control can slow somebody down, and did), jitter (largest standard deviation /
        mean), common_cause (most jobs launched at one instant, most jobs with one wall-clock trigger) and promises: by
        id, whether it applies and why.
    """
    facts = facts_of(scenario, jobs, metrics)
    controllers = {scenario.power.controller.policy: None}
    controllers |= {section.controller.policy: None for section in scenario.power.feeders.values()}
    return {
        "anonymous": not facts.weights,
        "broken_by": list(facts.weights),
        "blocking": facts.blocking,
        "identical": not facts.differences,
        "differences": list(facts.differences),
        "cap_binding_share": facts.cap_binding_share,
        "memory_in_control": any(policy not in MEMORYLESS for policy in controllers),
        "idealised_control": "anonymous" in facts.policies,
        "caps_change": facts.caps_change,
        "slowed_by_feeders": list(facts.slowed_by),
        "jitter": facts.jitter,
        "common_cause": {"in_step_launches": facts.in_step_launches, "in_step_triggers": facts.in_step_triggers},
        "promises": {name: promise.judged(facts) for name, promise in PROMISES.items()},
    }


def facts_of(scenario: Scenario, jobs: Sequence[Job], metrics: Mapping[str, Value]) -> Facts:
    """What the promises ask of a run, from its fleet and its metrics."""
    binding_share = _number(metrics.get("cap_binding_share"))
    clocks = [(job.every_s, job.offset_s) for job in jobs if job.every_s is not None]
    launches_s = [job.launch_s for job in jobs]
    writes_s = [lone_write_s(scenario.storage, job) for job in jobs]
    acting = _acting(scenario, jobs, metrics)
    weights = _weights(scenario, jobs, acting, metrics)
    computes_s = [job.compute_s for job in jobs]
    return Facts(
        jobs=len(jobs),
        differences=tuple(name for name, trait in TRAITS.items() if len({trait(job) for job in jobs}) > 1),
        weights=weights,
        blocking=not any(job.is_async for job in jobs),
        jitter=max((job.sigma_s / job.compute_s for job in jobs), default=0.0),
        wall_clock_jobs=len(clocks),
        in_step_launches=_most_alike(launches_s),
        inseparable=_most_alike([(job.launch_s, job.compute_s, job.size_b) for job in jobs if job.law is None]),
        in_step_triggers=_most_alike(clocks),
        launch_spread_s=max(launches_s, default=0.0) - min(launches_s, default=0.0),
        stagger_margin_s=_stagger_margin_s(launches_s, max(computes_s, default=0.0), max(writes_s, default=0.0)),
        compute_s=min(computes_s, default=0.0),
        lone_write_s=max(writes_s, default=0.0),
        store_contended=_is_contended(scenario.storage, jobs),
        cap_binding_share=binding_share,
        policies=tuple(dict.fromkeys(limit.policy for limit in acting)),
        slowed_by=tuple(limit.name for limit in acting),
        caps_change=any(limit.changes for limit in acting),
        share=scenario.storage.share,
        peak_writers=_count(metrics.get("peak_writers")),
        jobs_done=_count(metrics.get("jobs_done")),
        kept_phases=kept_phases(AnonymousRates.of(scenario, jobs)) if jobs and not weights else None,
    )


def _acting(scenario: Scenario, jobs: Sequence[Job], metrics: Mapping[str, Value]) -> list[Limit]:
    """The feeders that can slow somebody down, but for those that never did in the run."""
    below = metrics.get("cap_binding_share_by_feeder")
    shares = dict(below) if isinstance(below, Mapping) else {}
    shares.setdefault(ROOT, _number(metrics.get("cap_binding_share")))
    return [limit for limit in limits_of(scenario.power, jobs) if shares.get(limit.name) != 0.0]


def _weights(
    scenario: Scenario, jobs: Sequence[Job], acting: Sequence[Limit], metrics: Mapping[str, Value]
) -> tuple[str, ...]:
    """What makes a rate depend on who is active, not only on how many; what never acted broke nothing."""
    capped = [limit for limit in acting if limit.cap_w < inf]
    found = {
        UNEQUAL_POWER: any(not limit.has_equal_power(jobs) and limit.can_act_below_all(jobs) for limit in capped),
        UNEQUAL_LIMITS: any(limit.policy == "three_band" for limit in acting) or len(_ceilings(jobs, acting)) > 1,
        FEEDERS: any(0 in limit.nodes for limit in capped),
        NODE_SHARES: len({job.weight for job in jobs}) > 1 and _is_contended(scenario.storage, jobs),
        INTERFERENCE: bool(capped) and any(job.interference > 0.0 and job.snapshot_s > 0.0 for job in jobs),
        MEMORY: any(limit.policy not in MEMORYLESS for limit in acting),
        LANES: _may_wait(scenario.storage, jobs) and metrics.get("peak_waiting") != 0,
    }
    return tuple(weight for weight, is_there in found.items() if is_there)


def _ceilings(jobs: Sequence[Job], acting: Sequence[Limit]) -> set[float]:
    """Speeds that limits in watts per node leave the jobs [-]."""
    fixed = [limit for limit in acting if limit.limit_w < inf]
    return {
        min([1.0, *(limit.ceiling(job) for limit in fixed if limit.nodes[place])]) for place, job in enumerate(jobs)
    }


def _may_wait(storage: Storage, jobs: Sequence[Job]) -> bool:
    """Whether there can be more checkpoints at once than the store has lanes."""
    return isinstance(storage.lanes, int) and sum(job.in_flight if job.is_async else 1 for job in jobs) > storage.lanes


def _is_contended(storage: Storage, jobs: Sequence[Job]) -> bool:
    alone_b_s = sum(total_rate_b_s(storage, job.weight) for job in jobs)
    return total_rate_b_s(storage, sum(job.weight for job in jobs)) < alone_b_s * (1.0 - _ROUNDING)


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
