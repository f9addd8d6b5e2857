"""Scenario + launch schedule + chance -> the jobs, one by one, as both lanes run them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, repeat
from math import inf

import numpy as np

from twin import chance
from twin.chance import Purpose
from twin.laws.speed import limited_speed
from twin.laws.throughput import store_rate_b_s
from twin.scenario import JobGroup, Launch, NodePower, Replay, Scenario, Storage, WallClock, places_of

REST = 1e-9  # of a stretch: what rounding may leave of the work


@dataclass(frozen=True, slots=True, order=True)
class PowerProfile:
    """Power of one node [W] by phase; ordered by its values, the order in which demands are added."""

    compute_w: float
    idle_w: float
    write_w: float
    exponent: float

    def speed_within(self, limit_w: float) -> float:
        """Speed at which a computing node draws ``limit_w`` [W], in [0, 1]."""
        return limited_speed(limit_w, self.idle_w, self.compute_w, self.exponent)


@dataclass(frozen=True, slots=True)
class Job:
    """One training job.

    Args:
        rank: place in the order (group name, index in group), by which ties leave.
        compute_s: mean full-speed work between checkpoints [s]; the trigger interval with a wall-clock trigger.
        work_s: total full-speed work [s]; inf for an endless job.
        every_s, offset_s: wall-clock trigger [s]; every_s is None with the work trigger.
        law, sigma_s: jitter of the compute work; law is None without.
        size_b: bytes of one checkpoint.
        weight: in the store, where its share is weight / W [-].
        places: feeder and nodes there, in the order of the feeders' names.
        is_async: checkpoints drain in the background, after a snapshot that stalls the job.
        snapshot_s: length of the stall [s].
        interference: speed lost while at least one drain runs [-].
        in_flight: drains pending at once, at most.
    """

    job_id: int
    name: str
    group: str
    index: int
    rank: int
    nodes: int
    submit_s: float
    launch_s: float
    compute_s: float
    work_s: float
    every_s: float | None
    offset_s: float
    law: str | None
    sigma_s: float
    size_b: float
    power: PowerProfile
    seed: int
    replica: int
    weight: int = 1
    places: tuple[tuple[str, int], ...] = ()
    is_async: bool = False
    snapshot_s: float = 0.0
    interference: float = 0.0
    in_flight: int = 1

    def stretches(self) -> Iterator[float]:
        """Full-speed work of each compute stretch of a work-triggered job [s], the last one cut to what is left.

        Endless for an endless job.
        """
        draws: Iterator[float] = repeat(self.compute_s)
        if self.law is not None:
            rng = chance.stream(self.seed, self.replica, self.group, self.index, Purpose.JITTER)
            draws = chance.stretches(self.law, self.compute_s, self.sigma_s, rng)
        return draws if self.work_s == inf else self._cut(draws)

    def is_done(self, left_s: float) -> bool:
        """Whether the work left [s] is none: less than ``REST`` of a stretch."""
        return left_s < REST * self.compute_s

    def _cut(self, draws: Iterator[float]) -> Iterator[float]:
        left_s = self.work_s
        for drawn_s in draws:
            yield min(drawn_s, left_s)
            left_s -= drawn_s
            if self.is_done(left_s):
                return


@dataclass(frozen=True, slots=True)
class LaunchSchedule:
    """Jobs of a launch log in the canonical form, by submission, all columns of one length.

    Args:
        names: one for each job, unique.
        groups: a group for each job.
        submit_s, launch_s: submission and launch after the start of the run [s]; a log's queue lies between them.
        gpus, nodes: sizes.
        work_s: full-speed work of each job [s].
    """

    names: list[str]
    groups: list[str]
    submit_s: np.ndarray
    launch_s: np.ndarray
    gpus: np.ndarray
    nodes: np.ndarray
    work_s: np.ndarray

    def __len__(self) -> int:
        return len(self.names)


def jobs_of(scenario: Scenario, schedule: LaunchSchedule | None = None, replica: int = 0) -> list[Job]:
    """Every job of the scenario, by job id: the groups in file order, then the jobs of the launch schedule.

    Args:
        schedule: the launch log of a scenario with ``replay``, already read and windowed.
        replica: number of an independent repetition; other replicas meet other luck.
    """
    jobs: list[Job] = []
    for group in scenario.jobs:
        jobs.extend(_jobs_of_group(scenario.seed, replica, group, scenario.storage, first_id=len(jobs)))
    if scenario.replay is not None and schedule is not None:
        jobs.extend(_jobs_of_schedule(scenario, replica, scenario.replay, schedule))
    order = sorted(range(len(jobs)), key=lambda i: (jobs[i].group, jobs[i].index))
    ranks = {job_id: rank for rank, job_id in enumerate(order)}
    return [replace(job, rank=ranks[job.job_id]) for job in jobs]


def launch_times_s(launch: Launch, count: int, group: str, seed: int, replica: int) -> list[float]:
    """Launch of each job of a group [s]; the k-th Poisson launch follows k + 1 exponential gaps."""
    if launch.at_s is not None:
        return list(launch.at_s)
    if launch.every_s is not None:
        return [index * launch.every_s for index in range(count)]
    if launch.uniform_s is not None:
        streams = (chance.stream(seed, replica, group, index, Purpose.LAUNCH) for index in range(count))
        return [launch.uniform_s * float(rng.random()) for rng in streams]
    if launch.poisson_s is not None:
        gaps = launch.poisson_s * chance.stream(seed, replica, group, 0, Purpose.LAUNCHES).standard_exponential(count)
        return list(accumulate(gaps.tolist()))
    return [launch.together_s or 0.0] * count


def _jobs_of_group(seed: int, replica: int, group: JobGroup, storage: Storage, first_id: int) -> Iterator[Job]:
    trigger = group.checkpoint.trigger
    clock = trigger if isinstance(trigger, WallClock) else None
    power = _power_profile(group.power)
    for index, launch_s in enumerate(launch_times_s(group.launch, group.count, group.name, seed, replica)):
        yield Job(
            job_id=first_id + index,
            name=f"{group.name}-{index}",
            group=group.name,
            index=index,
            rank=0,
            nodes=group.nodes,
            submit_s=launch_s,
            launch_s=launch_s,
            compute_s=group.interval_s,
            work_s=inf if group.work_s is None else group.work_s,
            every_s=clock.every_s if clock else None,
            offset_s=clock.offset_s if clock else 0.0,
            law=group.jitter.law if group.jitter else None,
            sigma_s=group.jitter.sigma_s if group.jitter else 0.0,
            size_b=group.checkpoint.size_b,
            power=power,
            seed=seed,
            replica=replica,
            weight=_weight(storage, group.nodes),
            places=places_of(group.feeders, group.nodes, index),
            is_async=group.checkpoint.mode == "async",
            snapshot_s=group.checkpoint.snapshot_s or 0.0,
            interference=group.checkpoint.interference or 0.0,
            in_flight=group.checkpoint.in_flight or 1,
        )


def _weight(storage: Storage, nodes: int) -> int:
    return nodes if storage.share == "node" else 1


def total_rate_b_s(storage: Storage, weight: int) -> float:
    """F(W): total rate of the store with transfers of that weight in all [B/s]."""
    client_b_s = storage.client_bandwidth_b_s or 0.0
    return store_rate_b_s(weight, storage.bandwidth_b_s, client_b_s, storage.degradation)


def _power_profile(power: NodePower) -> PowerProfile:
    return PowerProfile(power.compute_w, power.idle_w, power.write_w, power.exponent)


def _jobs_of_schedule(scenario: Scenario, replica: int, replay: Replay, schedule: LaunchSchedule) -> Iterator[Job]:
    seed = scenario.seed
    profile = replay.job_profile
    power = _power_profile(profile.power)
    seen = {group.name: group.count for group in scenario.jobs}  # a group may have jobs of both kinds
    job_id = sum(seen.values())
    for row, group in enumerate(schedule.groups):
        for copy in range(replay.copies):
            index = seen.get(group, 0)
            seen[group] = index + 1
            later_s = 0.0
            if copy:  # copies are spread over one interval, or they would be born in step
                later_s = profile.compute_s * float(chance.stream(seed, replica, group, index, Purpose.COPY).random())
            yield Job(
                job_id=job_id,
                name=schedule.names[row] if replay.copies == 1 else f"{schedule.names[row]}.{copy}",
                group=group,
                index=index,
                rank=0,
                nodes=int(schedule.nodes[row]),
                submit_s=float(schedule.submit_s[row]) + later_s,
                launch_s=float(schedule.launch_s[row]) + later_s,
                compute_s=profile.compute_s,
                work_s=float(schedule.work_s[row]),
                every_s=None,
                offset_s=0.0,
                law="normal" if profile.jitter > 0.0 else None,
                sigma_s=profile.jitter * profile.compute_s,
                size_b=profile.size_per_gpu_b * int(schedule.gpus[row]),
                power=power,
                seed=seed,
                replica=replica,
                weight=_weight(scenario.storage, int(schedule.nodes[row])),
                places=places_of(replay.place, int(schedule.nodes[row]), row * replay.copies + copy),
            )
            job_id += 1
