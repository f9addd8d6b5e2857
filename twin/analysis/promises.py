"""Which promises of the theory bind a run: each names its conditions, each condition says why it fails.

A new feature adds its facts, the conditions that read them, and a condition to the promises that it breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """What the promises ask of a run.

    Args:
        jobs: size of the fleet.
        differences: what differs between jobs, out of the keys of ``assumptions.TRAITS``.
        weights: what makes a resource know who uses it; empty in an anonymous fleet.
        blocking: every checkpoint stops its job.
        jitter: largest standard deviation / mean of the compute work [-].
        wall_clock_jobs: jobs that checkpoint by the wall clock.
        in_step_launches: most jobs launched at one instant; 0 if no two were.
        inseparable: most jobs of one rhythm without jitter launched at one instant; 0 if no two were.
        in_step_triggers: most jobs with one and the same wall-clock trigger; 0 if no two have.
        launch_spread_s: last launch less first [s].
        stagger_margin_s: smallest gap between write windows in the lone rhythm of the launches [s]; negative: overlap.
        compute_s: shortest mean compute work [s].
        lone_write_s: longest lone write [s].
        store_contended: all jobs writing are served more slowly than one alone.
        cap_binding_share: share of time that the cap binds [-]; None if not recorded.
        policies: of the controllers that can slow somebody down, and did; empty if none did.
        slowed_by: the feeders of those controllers.
        caps_change: a cap of theirs is not the same at all times.
        share: of the store.
        peak_writers: most writers at once; None if not recorded.
        jobs_done: jobs that ended within the run; None if not recorded.
        kept_phases: what the fleet keeps of its launches for ever; None if it forgets all but their order.
    """

    jobs: int
    differences: tuple[str, ...]
    weights: tuple[str, ...]
    blocking: bool
    jitter: float
    wall_clock_jobs: int
    in_step_launches: int
    inseparable: int
    in_step_triggers: int
    launch_spread_s: float
    stagger_margin_s: float
    compute_s: float
    lone_write_s: float
    store_contended: bool
    cap_binding_share: float | None
    policies: tuple[str, ...]
    slowed_by: tuple[str, ...]
    caps_change: bool
    share: str
    peak_writers: int | None
    jobs_done: int | None
    kept_phases: str | None


_PAIR = 2

Condition = Callable[[Facts], str | None]  # why it fails; None where it is met


@dataclass(frozen=True, slots=True)
class Promise:
    """A claim of the theory and what it needs; the claim holds in a run that meets every condition."""

    claim: str
    conditions: tuple[Condition, ...]

    def judged(self, facts: Facts) -> dict[str, bool | str]:
        """Whether it applies, and why: the claim itself, or every condition that fails."""
        failures = objections(self.conditions, facts)
        return {"applies": not failures, "why": "; ".join(failures) if failures else self.claim}


def objections(conditions: Sequence[Condition], facts: Facts) -> list[str]:
    """Why each of the conditions that fail does so."""
    return [failure for condition in conditions if (failure := condition(facts)) is not None]


def _two_jobs(facts: Facts) -> str | None:
    return None if facts.jobs == _PAIR else f"stated for two jobs, the fleet has {facts.jobs}"


def _several(facts: Facts) -> str | None:
    return None if facts.jobs > 1 else "needs two jobs or more"


def _three_or_more(facts: Facts) -> str | None:
    return None if facts.jobs > _PAIR else f"stated for three jobs or more, the fleet has {facts.jobs}"


def _same_cycle(facts: Facts) -> str | None:
    differing = [name for name in facts.differences if name in ("compute", "size", "trigger", "mode")]
    return f"the jobs differ in {', '.join(differing)}" if differing else None


def _anonymous(facts: Facts) -> str | None:
    return f"not anonymous: {', '.join(facts.weights)}" if facts.weights else None


def _broken_by(weight: str) -> Condition:
    """This weight is there, and no other."""

    def failure(facts: Facts) -> str | None:
        others = [other for other in facts.weights if other != weight]
        if weight not in facts.weights:
            return f"there is no {weight}"
        return f"there is more than {weight}: {', '.join(others)}" if others else None

    return failure


def _at_most_broken_by(*weights: str) -> Condition:
    """There is no weight but for some of these."""

    def failure(facts: Facts) -> str | None:
        others = [other for other in facts.weights if other not in weights]
        return f"not stated for {', '.join(others)}" if others else None

    return failure


def _equal_shares(facts: Facts) -> str | None:
    if facts.share == "job" or "nodes" not in facts.differences:
        return None
    return f"the store shares by {facts.share}, and the jobs differ in nodes"


def _steady_caps(facts: Facts) -> str | None:
    return "a cap changes with time" if facts.caps_change else None


def _node_shares(facts: Facts) -> str | None:
    return None if facts.share == "node" else f"the store shares by {facts.share}, not by node"


def _policy(*policies: str) -> Condition:
    def failure(facts: Facts) -> str | None:
        if facts.policies and all(policy in policies for policy in facts.policies):
            return None
        acting = " and ".join(facts.policies)
        return f"stated for {' or '.join(policies)} control, {f'not {acting}' if acting else 'and none slows anybody'}"

    return failure


def _blocking(facts: Facts) -> str | None:
    return None if facts.blocking else "some checkpoints do not block"


def _background(facts: Facts) -> str | None:
    return "every checkpoint blocks its job" if facts.blocking else None


def _no_jitter(facts: Facts) -> str | None:
    return f"jitter of {facts.jitter:.3g} of the mean moves every gap" if facts.jitter > 0.0 else None


def _jitter(facts: Facts) -> str | None:
    return None if facts.jitter > 0.0 else "there is no jitter"


def _by_work(facts: Facts) -> str | None:
    return f"{facts.wall_clock_jobs} jobs checkpoint by the wall clock" if facts.wall_clock_jobs else None


def _short_writes(facts: Facts) -> str | None:
    if facts.lone_write_s < facts.compute_s:
        return None
    return (
        f"stated for a lone write shorter than the compute work: {facts.lone_write_s:.4g} s "
        f"is not below {facts.compute_s:.4g} s"
    )


def _nobody_leaves(facts: Facts) -> str | None:
    if facts.jobs_done is None:
        return "not known whether jobs ended: the jobs were not recorded"
    return (
        f"{facts.jobs_done} jobs ended within the run: the fleet is not the same throughout"
        if facts.jobs_done
        else None
    )


def _overlapping(facts: Facts) -> str | None:
    if facts.peak_writers is None:
        return "not known whether writes overlapped: the store was not recorded"
    return None if facts.peak_writers > 1 else "no two jobs wrote at once"


def _disjoint(facts: Facts) -> str | None:
    if facts.peak_writers is None:
        return "not known whether writes overlapped: the store was not recorded"
    return f"{facts.peak_writers} jobs wrote at once" if facts.peak_writers > 1 else None


def _staggered(facts: Facts) -> str | None:
    if facts.stagger_margin_s > 0.0:
        return None
    return f"the launches are no stagger: write windows overlap by {-facts.stagger_margin_s:.4g} s"


def _close_launches(facts: Facts) -> str | None:
    if facts.launch_spread_s < facts.lone_write_s:
        return None
    return (
        f"launches {facts.launch_spread_s:.4g} s apart, a lone write is {facts.lone_write_s:.4g} s: "
        "not all write windows need overlap"
    )


def _all_in_step(facts: Facts) -> str | None:
    return None if facts.in_step_launches == facts.jobs else "the jobs were not all launched at one instant"


def _not_in_step(facts: Facts) -> str | None:
    if not facts.inseparable:
        return None
    return f"{facts.inseparable} jobs of one rhythm are launched at one instant and nothing parts them"


def _contended(facts: Facts) -> str | None:
    return (
        None if facts.store_contended or facts.cap_binding_share else "neither the store nor the cap slows anybody down"
    )


def _forgetful(facts: Facts) -> str | None:
    return f"{facts.kept_phases}: the averages depend on the launch" if facts.kept_phases else None


def _common_cause(facts: Facts) -> str | None:
    return (
        None if facts.in_step_launches or facts.in_step_triggers else "no two launches or wall-clock triggers coincide"
    )


UNEQUAL_POWER = "unequal power behind a cap that binds while some job does not compute"
UNEQUAL_LIMITS = "limits in watts per node that slow some jobs more than others"
FEEDERS = "a cap that binds on some of the jobs only, by where they hang"
NODE_SHARES = "a store that shares by nodes, of which the jobs have unequal numbers"
INTERFERENCE = "interference of background drains behind a cap that binds"
MEMORY = "memory in the control of a cap that binds"
LANES = "lanes of the store, for which the first due goes before the others"

_RHYTHM = (_same_cycle, _no_jitter, _by_work, _blocking)  # every cycle of every job asks for the same
_TIMELESS = (_anonymous, _steady_caps)  # the rates depend on how many use them, at any time
_COMMON_SPEED = (_at_most_broken_by(UNEQUAL_POWER, MEMORY), _equal_shares)
_STATIONARY = (_several, *_TIMELESS, _by_work, _blocking, _nobody_leaves, _overlapping, _not_in_step)

# The rates depend on how many jobs use them now, and each job asks for the same on average for ever.
PRODUCT_FORM = (*_TIMELESS, _equal_shares, _by_work, _blocking, _not_in_step)

PROMISES: dict[str, Promise] = {
    "pair": Promise(
        "two equal jobs: the gap between their write starts never changes",
        (_two_jobs, *_RHYTHM, *_TIMELESS, _short_writes, _nobody_leaves),
    ),
    "spectrum": Promise(
        "while all write windows overlap, each interval between write starts is multiplied by a known factor each "
        "cycle, and the product of the factors is 1",
        (_several, *_RHYTHM, *_TIMELESS, _nobody_leaves, _close_launches),
    ),
    "order": Promise(
        "the cyclic order of the write starts never changes",
        (_several, *_RHYTHM, *_COMMON_SPEED, _nobody_leaves),
    ),
    "stagger": Promise(
        "write windows that do not overlap never will",
        (_several, *_RHYTHM, *_TIMELESS, _nobody_leaves, _disjoint),
    ),
    "unreachable": Promise(
        "a fleet whose writes overlap never becomes free of overlap",
        (_several, *_RHYTHM, *_TIMELESS, _nobody_leaves, _overlapping),
    ),
    "in-step": Promise(
        "jobs launched in step stay exactly in step; for three or more under contention, and without memory in "
        "control, any push out of it grows",
        (_several, *_RHYTHM, *_COMMON_SPEED, _nobody_leaves, _all_in_step),
    ),
    "no-clustering": Promise(
        "random launches neither lock nor cluster over hundreds of cycles",
        (_same_cycle, *_STATIONARY),
    ),
    "separation": Promise(
        "nearby launches separate exponentially: single times cannot be foretold, only averages",
        (_three_or_more, *_RHYTHM, *_TIMELESS, _nobody_leaves, _overlapping, _contended),
    ),
    "forgets": Promise(
        "late time averages do not depend on the launches: their order is all that is kept",
        (_three_or_more, *_STATIONARY, _contended),
    ),
    "occupancy": Promise(
        "the share of time with k writers follows the product form, from mean compute work and sizes alone",
        (_several, *PRODUCT_FORM, _nobody_leaves, _overlapping, _contended, _forgetful),
    ),
    "tail": Promise(
        "many writers at once are likelier than for independent phases: queueing, not locking",
        (*_STATIONARY, _contended, _forgetful),
    ),
    "lifetime": Promise(
        "a stagger lasts for a number of cycles that grows with the square of margin / jitter",
        (_several, _same_cycle, *_TIMELESS, _by_work, _blocking, _nobody_leaves, _jitter, _staggered),
    ),
    "unequal": Promise(
        "the gap is multiplied by the ratio of the lone speeds each cycle",
        (_two_jobs, *_RHYTHM, _policy("anonymous"), _broken_by(UNEQUAL_POWER), _steady_caps, _nobody_leaves),
    ),
    "memory": Promise(
        "gaps are multiplied by n / C, 1 or C / n, by the place of the delay in the period, where n / C stands for the "
        "ratio of the two speeds that it commands",
        (_several, *_RHYTHM, _policy("delayed"), _broken_by(MEMORY), _steady_caps, _nobody_leaves),
    ),
    "lag": Promise(
        "lagged control always repels two jobs",
        (_two_jobs, *_RHYTHM, _policy("lagged"), _broken_by(MEMORY), _steady_caps, _nobody_leaves),
    ),
    "shares": Promise(
        "two jobs of unequal nodes drive each other apart until their writes are disjoint, with no cap needed",
        (_two_jobs, _node_shares, _broken_by(NODE_SHARES), *_RHYTHM, _steady_caps, _nobody_leaves),
    ),
    "async": Promise(
        "background drains alone do not couple the jobs; interference behind a cap that binds does, by a known factor",
        (
            *(_two_jobs, _background, _same_cycle, _no_jitter, _by_work),
            *(_at_most_broken_by(INTERFERENCE), _steady_caps, _nobody_leaves),
        ),
    ),
    "common-cause": Promise(
        "jobs launched or triggered at one instant storm together with no coupling at all",
        (_several, _common_cause),
    ),
}
