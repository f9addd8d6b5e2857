"""What the product form says of a scenario without simulating it, and whether it is exact for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite, isinf
from typing import Any, Literal

import numpy as np

from twin.analysis.anonymous_rates import AnonymousRates, computing_w, kept_phases
from twin.analysis.assumptions import facts_of
from twin.analysis.blocks import Floats
from twin.analysis.checkpoints import lone_checkpoints_s, members_of
from twin.analysis.metrics import METRICS, Value
from twin.analysis.promises import PRODUCT_FORM, objections
from twin.analysis.work import checkpoints_of, lone_stops_s, offered_load
from twin.chance import mean_stretch_s
from twin.fleet import Job
from twin.laws.occupancy import mean_checkpoint_s, time_shares, writing_shares
from twin.scenario import FeederSection, Power, Scenario
from twin.units import DAY_S

MOST_JOBS = 2_000  # the product form takes a second for as many, and four times that for twice as many
_WINDOWS = 3
_NEVER = 1e-15  # states rarer than this are left out

Verdict = Literal["exact", "on average over launches", "busiest windows", "not applicable"]


@dataclass(frozen=True, slots=True)
class State:
    """The fleet while a number of its jobs write.

    Args:
        writers: jobs writing; all others compute.
        share: of the time [-].
        store_b_s: rate of the store [B/s].
        speed: of the computing jobs [-]; None if none computes.
        draw_w: of the site [W]; None if the jobs differ in power.
    """

    writers: int
    share: float
    store_b_s: float
    speed: float | None
    draw_w: float | None


@dataclass(frozen=True, slots=True)
class ProductForm:
    """A stationary fleet by the product form.

    Args:
        metrics: by the names of ``METRICS``, those that it gives.
        states: with 0, 1, ... jobs writing, up to the last with a share above 1e-15.
    """

    metrics: dict[str, Value]
    states: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """One of the busiest windows of a fleet whose jobs come and go, taken as if it lasted for ever.

    Args:
        start_s, end_s: in it no job starts or ends, by nominal lifetimes [s].
        jobs: jobs that run in it.
        because: why the product form does not apply to them; empty if it does.
        product_form: None if it does not apply.
    """

    start_s: float
    end_s: float
    jobs: int
    because: str
    product_form: ProductForm | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the product form says of a scenario.

    Args:
        verdict: how far it holds.
        because: the same in a sentence.
        fleet: by the names of ``METRICS``, what needs no product form: jobs, offered load, checkpoints alone.
        product_form: of the whole run; None if the jobs come and go, or if it does not apply.
        windows: the busiest of a fleet whose jobs come and go, in the order of time; empty for any other.
    """

    verdict: Verdict
    because: str
    fleet: dict[str, Value]
    product_form: ProductForm | None
    windows: tuple[Window, ...]

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)


_EXACT = (
    "rates depend on how many jobs use them, never on which, so averages over a time long enough to forget the "
    "launches follow from mean work and sizes alone"
)
_AVERAGED = "so this is the average over all launches, and a single run may stay off it"
_PASSING = (
    "jobs come and go; the busiest moment of each of the busiest days, by nominal lifetimes, is taken as if it lasted "
    "for ever"
)


def estimate(scenario: Scenario, jobs: Sequence[Job]) -> Estimate:
    """Shares of time with k writers, checkpoint times, goodput and power of the fleet, and whether they are exact.

    Args:
        jobs: the fleet, by job id.
    """
    stop_s = inf if scenario.stop.time_s is None else scenario.stop.time_s
    present = [job for job in jobs if job.launch_s < stop_s]
    fleet = _fleet(scenario, present, stop_s)
    if any(job.launch_s + job.work_s < stop_s for job in present):
        return _passing(scenario, present, stop_s, fleet)
    if reasons := _reasons_against(scenario, present):
        return Estimate("not applicable", reasons, fleet, None, ())
    rates = AnonymousRates.of(scenario, present)
    found = _product_form(rates)
    if kept := kept_phases(rates):
        return Estimate("on average over launches", f"{kept}, {_AVERAGED}", fleet, found, ())
    return Estimate("exact", _EXACT, fleet, found, ())


def _fleet(scenario: Scenario, jobs: Sequence[Job], stop_s: float) -> dict[str, Value]:
    storage = scenario.storage
    nominal = [checkpoints_of(job.work_s, job.compute_s) for job in jobs]
    counts = [count if isfinite(count) else 1.0 for count in nominal]  # endless jobs of a group are alike
    horizon_s = _horizon_s(jobs, _nominal_ends_s(scenario, jobs), stop_s)
    return {
        "jobs": len(jobs),
        "offered_load": offered_load(jobs, storage.bandwidth_b_s, horizon_s),
        "lone_checkpoint_by_group_s": lone_checkpoints_s(storage, jobs, counts),
    }


def _passing(scenario: Scenario, jobs: Sequence[Job], stop_s: float, fleet: dict[str, Value]) -> Estimate:
    windows = []
    for start_s, end_s, members in _busiest(scenario, jobs, stop_s):
        reasons = _reasons_against(scenario, members)
        found = None if reasons else _product_form(AnonymousRates.of(scenario, members))
        windows.append(Window(start_s, end_s, len(members), reasons, found))
    if any(window.product_form for window in windows):
        return Estimate("busiest windows", _PASSING, fleet, None, tuple(windows))
    reasons = "; ".join(dict.fromkeys(window.because for window in windows))
    return Estimate("not applicable", f"{_PASSING}, and there it does not hold: {reasons}", fleet, None, tuple(windows))


def _reasons_against(scenario: Scenario, jobs: Sequence[Job]) -> str:
    """Why the product form does not hold for these jobs if they run for ever; empty if it does."""
    if not jobs:
        return "no job is launched before stop.time"
    if len(jobs) > MOST_JOBS:
        return f"it is not worked out for more than {MOST_JOBS:,} jobs at once, and these are {len(jobs):,}"
    reasons = objections(PRODUCT_FORM, facts_of(scenario, jobs, {}))
    if not reasons and AnonymousRates.of(scenario, jobs).speed(len(jobs)) == 0.0:
        reasons.append("the idle draw of all jobs is above the cap: once all compute, none ever moves again")
    return "; ".join(reasons)


def _product_form(rates: AnonymousRates) -> ProductForm:
    jobs, n = rates.jobs, len(rates.jobs)
    sizes_b = np.array([job.size_b for job in jobs])
    compute_s = np.array([_mean_work_s(job) for job in jobs])
    store_b_s = np.array([rates.store_b_s(k) for k in range(n + 1)])
    speeds = np.array([rates.speed(m) for m in range(1, n + 1)])
    shares = time_shares(sizes_b / compute_s, store_b_s[1:], speeds)
    durations_s = mean_checkpoint_s(sizes_b, compute_s, store_b_s[1:], speeds)
    writing = writing_shares(sizes_b / compute_s, store_b_s[1:], speeds)
    computing = np.arange(n, -1, -1)
    speed = np.append(speeds[::-1], 0.0)  # with 0 .. n writing
    draws_w = [rates.draw_w(m) if rates.has_equal_power else None for m in computing.tolist()]
    last = int(np.flatnonzero(shares > _NEVER)[-1])
    goodput = float(shares @ (computing * speed)) / n
    metrics: dict[str, Value] = {
        "jobs": n,
        "goodput": goodput,
        "compute_share": goodput,
        "throttled_share": float(shares @ (computing * (1.0 - speed))) / n,
        "stall_share": float(writing.mean()),
        "store_utilisation": float(shares @ store_b_s) / rates.storage.bandwidth_b_s,
        "writers_share_at_least": np.cumsum(shares[last:0:-1])[::-1].tolist(),
        **({"cap_binding_share": _binding_share(shares, speed)} if _is_held(rates.power) else {}),
        **_durations(jobs, writing, durations_s),
        **_power(rates, shares, draws_w, writing),
    }
    states = tuple(
        State(k, float(shares[k]), float(store_b_s[k]), float(speed[k]) if k < n else None, draws_w[k])
        for k in range(last + 1)
    )
    return ProductForm({name: metrics[name] for name in METRICS if name in metrics}, states)


def _is_held(power: Power) -> bool:
    """Whether some control holds a cap or a limit."""
    controllers: list[Power | FeederSection] = [power, *power.feeders.values()]
    return any(
        each.controller.policy == "fixed_limit" or (each.cap is not None and each.controller.policy != "none")
        for each in controllers
    )


def _binding_share(shares: Floats, speed: Floats) -> float:
    """Share of time with some job computing at less than full speed; with all of them writing nobody computes."""
    return float(shares[:-1][speed[:-1] < 1.0].sum())


def _mean_work_s(job: Job) -> float:
    """Mean full-speed work between checkpoints [s]; the last stretch of a job with an end is shorter."""
    if isinf(job.work_s):
        return mean_stretch_s(job.law, job.compute_s, job.sigma_s)
    return job.work_s / checkpoints_of(job.work_s, job.compute_s)


def _durations(jobs: Sequence[Job], writing: Floats, durations_s: Floats) -> dict[str, Value]:
    """Mean checkpoint durations, every checkpoint counting once: Little's law over the jobs of a group."""
    per_s = writing / durations_s

    def mean_s(chosen: Sequence[int]) -> float:
        return float(writing[chosen].sum() / per_s[chosen].sum())

    place = {job.job_id: index for index, job in enumerate(jobs)}
    members = members_of(jobs)
    return {
        "checkpoint_duration_mean_s": mean_s(range(len(jobs))),
        "checkpoint_duration_mean_by_group_s": {
            group: mean_s([place[job_id] for job_id in ids]) for group, ids in members.items()
        },
    }


def _power(rates: AnonymousRates, shares: Floats, draws_w: Sequence[float | None], writing: Floats) -> dict[str, Value]:
    known_w = [draw_w for draw_w in draws_w if draw_w is not None]
    if len(known_w) == len(shares):
        order = np.argsort(known_w)
        below = np.cumsum(shares[order])
        p99 = order[min(int(np.searchsorted(below, 0.99)), len(order) - 1)]
        return {"mean_power_w": float(shares @ np.array(known_w)), "power_p99_w": known_w[p99]}
    # Unequal power: who computes alone is held by limits per node at most, and a cap binds while all compute, if ever.
    lone_w = np.array([computing_w(job, rates.speed(1)) for job in rates.jobs])
    all_w = np.array([computing_w(job, rates.speed(len(rates.jobs))) for job in rates.jobs])
    write_w = np.array([job.nodes * job.power.write_w for job in rates.jobs])
    mean_w = lone_w.sum() - writing @ (lone_w - write_w) - shares[0] * (lone_w - all_w).sum()
    return {"mean_power_w": rates.power.site_w(float(mean_w))}


def _nominal_ends_s(scenario: Scenario, jobs: Sequence[Job]) -> Floats:
    stops_s = [lone_stops_s(scenario.storage, job, checkpoints_of(job.work_s, job.compute_s)) for job in jobs]
    return np.array([job.launch_s + job.work_s + stop_s for job, stop_s in zip(jobs, stops_s, strict=True)])


def _horizon_s(jobs: Sequence[Job], ended_s: Floats, stop_s: float) -> float:
    """The last nominal end, or the last launch of a fleet without, or the stop if that is earlier [s]."""
    last_launch_s = max((job.launch_s for job in jobs), default=0.0)
    return min(stop_s, float(ended_s[np.isfinite(ended_s)].max(initial=last_launch_s)))


def _busiest(scenario: Scenario, jobs: Sequence[Job], stop_s: float) -> Iterator[tuple[float, float, list[Job]]]:
    """Start, end and jobs of the busiest moment of each of the busiest days, in the order of time."""
    launch_s = np.array([job.launch_s for job in jobs])
    ended_s = _nominal_ends_s(scenario, jobs)
    horizon_s = _horizon_s(jobs, ended_s, stop_s)
    end_s = np.minimum(ended_s, horizon_s)
    edges_s = np.unique(np.concatenate((launch_s, end_s)))
    edges_s = edges_s[edges_s <= horizon_s]
    change = np.bincount(np.searchsorted(edges_s, launch_s), minlength=len(edges_s))
    change = change - np.bincount(np.searchsorted(edges_s, end_s), minlength=len(edges_s))
    running, length_s = np.cumsum(change)[:-1], np.diff(edges_s)
    by_rank = np.lexsort((edges_s[:-1], -length_s, -running))  # most jobs first, then the longest, then the earliest
    _, first = np.unique(np.floor(edges_s[:-1] / DAY_S)[by_rank], return_index=True)
    for place in np.sort(by_rank[np.sort(first)[:_WINDOWS]]):
        start, end = float(edges_s[place]), float(edges_s[place + 1])
        yield start, end, [jobs[i] for i in np.flatnonzero((launch_s <= start) & (end_s > start)).tolist()]
