"""Rates of an anonymous fleet by the number of jobs that use them, and what such a fleet keeps of its launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from twin.analysis.checkpoints import lone_write_s
from twin.fleet import Job, total_rate_b_s
from twin.laws.speed import dynamic_draw_w, mixed_target_speed, target_speed
from twin.laws.stagger import can_keep_phases
from twin.scenario import Scenario, Storage

_PAIR = 2


@dataclass(frozen=True)
class AnonymousRates:
    """F(k) of the store and u(m) of the computing, for a fleet whose rates know only how many use them.

    Args:
        storage: the store.
        cap_w: cap that the control holds [W]; inf for none.
        jobs: the fleet; where its jobs differ in power, only a cap that binds with all of them computing tells u.
    """

    storage: Storage
    cap_w: float
    jobs: Sequence[Job]

    @classmethod
    def of(cls, scenario: Scenario, jobs: Sequence[Job]) -> AnonymousRates:
        """The rates of jobs of a scenario; without a controller its cap holds nothing."""
        return cls(scenario.storage, scenario.power.enforced_cap_w, jobs)

    def store_b_s(self, writers: int) -> float:
        """F: total rate with that many writers [B/s]."""
        return total_rate_b_s(self.storage, writers)

    def speed(self, computing: int) -> float:
        """u: speed with that many jobs computing and all others writing [-]."""
        if self.has_equal_power:
            exponent = self.jobs[0].power.exponent
            return target_speed(self._fixed_w(computing), self._dynamic_w(computing), self.cap_w, exponent)
        if computing < len(self.jobs):
            return 1.0
        idle_w = sum(job.nodes * job.power.idle_w for job in self.jobs)
        return mixed_target_speed(idle_w, tuple(self._all_dynamic_w.values()), self.cap_w, tuple(self._all_dynamic_w))

    def draw_w(self, computing: int) -> float:
        """Draw with that many jobs of equal power computing and all others writing [W]."""
        exponent = self.jobs[0].power.exponent
        above_idle_w = dynamic_draw_w(self._dynamic_w(computing), self.speed(computing), exponent)
        return self._fixed_w(computing) + above_idle_w

    @cached_property
    def has_equal_power(self) -> bool:
        """All jobs draw alike in every phase."""
        return len({self._draws_w(job) for job in self.jobs}) == 1

    def _fixed_w(self, computing: int) -> float:
        _, idle_w, write_w, _ = self._draws_w(self.jobs[0])
        return computing * idle_w + (len(self.jobs) - computing) * write_w

    def _dynamic_w(self, computing: int) -> float:
        compute_w, idle_w, _, _ = self._draws_w(self.jobs[0])
        return computing * (compute_w - idle_w)

    @cached_property
    def _all_dynamic_w(self) -> dict[float, float]:
        """What all jobs add above idle at full speed [W], by power exponent."""
        added_w: dict[float, float] = {}
        for job in self.jobs:
            compute_w, idle_w, _, exponent = self._draws_w(job)
            added_w[exponent] = added_w.get(exponent, 0.0) + compute_w - idle_w
        return added_w

    @staticmethod
    def _draws_w(job: Job) -> tuple[float, float, float, float]:
        """Draw of the whole job computing, idle and writing [W], and the exponent between the first two."""
        power = job.power
        return job.nodes * power.compute_w, job.nodes * power.idle_w, job.nodes * power.write_w, power.exponent


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
    writes_s = [lone_write_s(rates.storage, job.size_b) for job in jobs]
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
