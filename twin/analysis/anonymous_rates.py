"""Rates of an anonymous fleet by the number of jobs that use them, and what such a fleet keeps of its launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from twin.analysis.checkpoints import lone_write_s
from twin.analysis.limits import Limit, limits_of
from twin.fleet import Job, total_rate_b_s
from twin.laws.speed import dynamic_draw_w, mixed_target_speed, target_speed
from twin.laws.stagger import can_keep_phases
from twin.scenario import Power, Scenario, Storage

_PAIR = 2


@dataclass(frozen=True)
class AnonymousRates:
    """F(k) of the store and u(m) of the computing, for a fleet whose rates know only how many use them.

    Args:
        storage: the store, in which all jobs have one weight.
        power: the section of the scenario; every feeder that can slow somebody down has all jobs on or below it.
        jobs: the fleet; where its jobs differ in power, only caps that bind with all of them computing tell u.
    """

    storage: Storage
    power: Power
    jobs: Sequence[Job]

    @classmethod
    def of(cls, scenario: Scenario, jobs: Sequence[Job]) -> AnonymousRates:
        """The rates of jobs of a scenario; without a controller its caps hold nothing."""
        return cls(scenario.storage, scenario.power, jobs)

    def store_b_s(self, writers: int) -> float:
        """F: total rate with that many writers [B/s]."""
        return total_rate_b_s(self.storage, writers * self.jobs[0].weight)

    def speed(self, computing: int) -> float:
        """u: speed with that many jobs computing and all others writing [-], the lowest that any feeder leaves them."""
        return min([1.0, *(self._speed_under(limit, computing) for limit in self.limits)])

    def draw_w(self, computing: int) -> float:
        """Draw of the site with that many jobs of equal power computing and all others writing [W]."""
        job, speed = self.jobs[0], self.speed(computing)
        writing_w = (len(self.jobs) - computing) * job.nodes * job.power.write_w
        return self.power.site_w(computing * computing_w(job, speed) + writing_w)

    @cached_property
    def limits(self) -> list[Limit]:
        """The feeders that can slow somebody down."""
        return limits_of(self.power, self.jobs)

    @cached_property
    def has_equal_power(self) -> bool:
        """All jobs draw alike in every phase."""
        draws = {
            (job.nodes * job.power.compute_w, job.nodes * job.power.idle_w, job.nodes * job.power.write_w)
            for job in self.jobs
        }
        return len(draws) == len({job.power.exponent for job in self.jobs}) == 1

    def _speed_under(self, limit: Limit, computing: int) -> float:
        if limit.limit_w < inf:
            return limit.ceiling(self.jobs[0])
        nodes, pue = limit.nodes, limit.pue
        if limit.has_equal_power(self.jobs):
            power = self.jobs[0].power
            writing = len(self.jobs) - computing
            fixed_w = pue * (limit.fixed_w + nodes[0] * (computing * power.idle_w + writing * power.write_w))
            dynamic_w = pue * nodes[0] * computing * (power.compute_w - power.idle_w)
            return target_speed(fixed_w, dynamic_w, limit.cap_w, power.exponent)
        if computing < len(self.jobs):
            return 1.0
        idle_w, added_w = limit.fixed_w, dict[float, float]()  # above idle at full speed, by power exponent
        for job, here in zip(self.jobs, nodes, strict=True):
            power = job.power
            idle_w += here * power.idle_w
            added_w[power.exponent] = added_w.get(power.exponent, 0.0) + here * (power.compute_w - power.idle_w)
        return mixed_target_speed(
            pue * idle_w, tuple(pue * watts for watts in added_w.values()), limit.cap_w, tuple(added_w)
        )


def computing_w(job: Job, speed: float) -> float:
    """Draw of the whole job while it computes at a speed [W]."""
    power = job.power
    return job.nodes * (power.idle_w + dynamic_draw_w(power.compute_w - power.idle_w, speed, power.exponent))


def kept_phases(rates: AnonymousRates) -> str | None:
    """What a fleet of endless work-triggered jobs keeps of its launches for ever; None for all but their order.

    Long averages of such a fleet depend on the launches; the product form is their average over all launches.
    """
    jobs = rates.jobs
    steady = [job for job in jobs if job.law is None]
    if len(steady) < _PAIR:
        return None
    n = len(jobs)
    slowest = min(rates.speed(n), rates.speed(n - 1))
    if rates.store_b_s(n) >= n * rates.store_b_s(1) and slowest == 1.0:
        return "nothing slows a job down, so those without jitter keep their phases"
    if len(steady) < n:
        return None
    if n == _PAIR and len({(job.compute_s, job.size_b) for job in jobs}) == 1:
        return "two equal jobs without jitter keep their gap"
    writes_s = [lone_write_s(rates.storage, job) for job in jobs]
    if can_keep_phases([job.compute_s for job in jobs], writes_s, rates.speed(n - 1), _at_once(rates)):
        return "without jitter there is room for these jobs to keep their phases for ever, apart or in pairs"
    return None


def _at_once(rates: AnonymousRates) -> float:
    """Lone writes that go in the time of one and leave phases alone: all that do not slow each other, or any pair."""
    alone_b_s = rates.store_b_s(1)
    unslowed = 1
    while unslowed < len(rates.jobs) and rates.store_b_s(unslowed + 1) >= (unslowed + 1) * alone_b_s:
        unslowed += 1
    return max(unslowed, rates.store_b_s(_PAIR) / alone_b_s)
