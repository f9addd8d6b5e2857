"""The feeders that may slow jobs down: their caps, who hangs on them, and whether it matters which jobs compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from twin.analysis.cap_line import values_w
from twin.fleet import Job
from twin.scenario import ROOT, FeederSection, Power, nodes_below

MEMORYLESS = ("none", "anonymous", "fixed_limit")
_CAPPED = ("anonymous", "delayed", "lagged", "sampled", "three_band")


@dataclass(frozen=True, slots=True)
class Limit:
    """One feeder whose control may slow down the jobs that hang on it.

    Args:
        name, policy: of the feeder and of its controller.
        cap_w: the lowest it ever has [W]; inf if the policy holds none.
        limit_w: watts per node at most; inf without.
        changes: the cap is not the same at all times.
        fixed_w, pue: it draws ``pue`` times its jobs and ``fixed_w`` [W].
        nodes: of each job on or below it, 0 for none; by the place of the job among those asked for.
    """

    name: str
    policy: str
    cap_w: float
    limit_w: float
    changes: bool
    fixed_w: float
    pue: float
    nodes: tuple[int, ...]

    def can_act(self, jobs: Sequence[Job]) -> bool:
        """Whether it can ever slow down anybody."""
        if self.limit_w < inf:
            return any(
                nodes and job.power.compute_w > self.limit_w for job, nodes in zip(jobs, self.nodes, strict=True)
            )
        return self._highest_w(jobs) > self.cap_w

    def can_act_below_all(self, jobs: Sequence[Job]) -> bool:
        """Whether its cap can while at least one of its jobs does not compute: only then it matters which ones do."""
        saved_w = [
            nodes * (_most_w(job) - job.power.write_w) for job, nodes in zip(jobs, self.nodes, strict=True) if nodes
        ]
        return bool(saved_w) and self._highest_w(jobs) - self.pue * min(saved_w) > self.cap_w

    def ceiling(self, job: Job) -> float:
        """Speed that watts per node leave the job [-]; 1 without such a limit."""
        return job.power.speed_within(self.limit_w)

    def _highest_w(self, jobs: Sequence[Job]) -> float:
        """The most that the feeder can be asked for [W]."""
        return self.pue * (
            self.fixed_w + sum(nodes * _most_w(job) for job, nodes in zip(jobs, self.nodes, strict=True))
        )

    def has_equal_power(self, jobs: Sequence[Job]) -> bool:
        """Its jobs draw alike on it in every phase."""
        draws = set()
        for job, nodes in zip(jobs, self.nodes, strict=True):
            if nodes:
                power = job.power
                draws.add((nodes * power.compute_w, nodes * power.idle_w, nodes * power.write_w, power.exponent))
        return len(draws) <= 1


def limits_of(power: Power, jobs: Sequence[Job]) -> list[Limit]:
    """The feeders that can slow down some of the jobs, the site first, then in the order of their names."""
    return [limit for limit in _all(power, jobs) if limit.can_act(jobs)]


def _all(power: Power, jobs: Sequence[Job]) -> Iterator[Limit]:
    below = [nodes_below(job.places, power) for job in jobs]
    sections: dict[str, Power | FeederSection] = {ROOT: power, **dict(sorted(power.feeders.items()))}
    for name, section in sections.items():
        policy = section.controller.policy
        caps_w = values_w(section.cap) if section.cap is not None and policy in _CAPPED else {inf}
        limit_w = section.controller.limit_w if policy == "fixed_limit" else None
        if min(caps_w) < inf or limit_w is not None:
            facility = (section.fixed_w, section.pue) if isinstance(section, Power) else (0.0, 1.0)
            nodes = tuple(at.get(name, 0) for at in below)
            limit = inf if limit_w is None else limit_w
            yield Limit(name, policy, min(caps_w), limit, len(caps_w) > 1, *facility, nodes)


def _most_w(job: Job) -> float:
    """The most that one node of the job draws [W]."""
    return max(job.power.compute_w, job.power.write_w)
