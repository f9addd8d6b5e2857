"""Makes launches.csv: ``python data/make_launches.py > data/launches.csv``. What is assumed stands in README.md.

Only uniform draws are taken from numpy and times are rounded to seconds, so that the file is the same everywhere.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import TextIO

import numpy as np

SEED = 20260
DAYS = 30
DAY_S = 86400.0
GPUS_PER_NODE = 8
CHECKPOINT_S = 1800.0  # work kept when a node fails is a whole number of these
NODE_FAILURES_PER_DAY = 3.8e-3
LONGEST_S = 7.0 * DAY_S
SHORTEST_S = 10.0
ROW = tuple[str, int, int, int, int, str]  # job_id, submit_s, nodes, gpus, work_s, group


@dataclass(frozen=True)
class Group:
    """Jobs of one kind: sessions of a person or a script, each a burst of submissions of one size.

    Args:
        sessions_per_day: on a working day.
        mean_burst: submissions in a session, geometric.
        gap_s: median of the log-normal time between them [s].
        sizes: GPUs and their weights.
        work_s, spread: median [s] and log standard deviation of the log-normal work.
        night: share of the daytime rate left at night and at the weekend.
        slips: probability that an attempt fails soon after its start and is sent again.
    """

    name: str
    sessions_per_day: float
    mean_burst: float
    gap_s: float
    sizes: dict[int, float]
    work_s: float
    spread: float
    night: float
    slips: float


GROUPS = (
    Group("pretrain", 6.0, 1.8, 1200.0, {64: 25, 128: 15, 256: 40, 512: 16, 1024: 4}, 4500.0, 2.4, 0.5, 0.25),
    Group("tune", 11.0, 2.2, 420.0, {8: 40, 16: 30, 32: 20, 64: 10}, 2700.0, 1.9, 0.35, 0.2),
    Group("evaluate", 6.0, 4.5, 15.0, {1: 55, 2: 30, 4: 10, 8: 5}, 200.0, 1.5, 0.8, 0.05),
    Group("debug", 12.0, 1.6, 240.0, {1: 60, 2: 20, 8: 15, 16: 5}, 120.0, 1.6, 0.1, 0.35),
)


def main(out: TextIO) -> None:
    """Write the schedule as CSV."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("job_id", "submit_s", "nodes", "gpus", "work_s", "group"))
    writer.writerows(launches())


def launches() -> list[ROW]:
    """The rows of the schedule, by submission."""
    rows = [row for place, group in enumerate(GROUPS) for row in _rows(group, np.random.default_rng([SEED, place]))]
    return sorted(rows, key=lambda row: (row[1], row[0]))


def _rows(group: Group, rng: np.random.Generator) -> Iterator[ROW]:
    number = 0
    for session_s in _sessions_s(group, rng):
        gpus = _size(group.sizes, rng)
        nodes = math.ceil(gpus / GPUS_PER_NODE)
        submit_s = session_s
        for _ in range(_geometric(group.mean_burst, rng)):
            work_s = min(max(_log_normal(group.work_s, group.spread, rng), SHORTEST_S), LONGEST_S)
            for attempt, (start_s, attempt_s) in enumerate(_attempts(group, nodes, submit_s, work_s, rng)):
                if start_s < DAYS * DAY_S:
                    name = f"{group.name}-{number:04d}" + (f".{attempt}" if attempt else "")
                    yield name, round(start_s), nodes, gpus, max(round(attempt_s), 1), group.name
            number += 1
            submit_s += _log_normal(group.gap_s, 1.5, rng)


def _sessions_s(group: Group, rng: np.random.Generator) -> Iterator[float]:
    """Poisson arrivals, thinned to the rhythm of day and week; day 0 is a Monday."""
    time_s = 0.0
    while (time_s := time_s + _exponential(DAY_S / group.sessions_per_day, rng)) < DAYS * DAY_S:
        day, hour = divmod(time_s / 3600.0, 24.0)
        at_work = 9.0 <= hour < 21.0 and day % 7.0 < 5.0  # noqa: PLR2004 hours and days of work
        if rng.random() < (1.0 if at_work else group.night):
            yield time_s


def _attempts(
    group: Group, nodes: int, submit_s: float, work_s: float, rng: np.random.Generator
) -> Iterator[tuple[float, float]]:
    """Submission and work of each attempt at one job [s]: slips first, then as often as nodes fail under it."""
    while rng.random() < group.slips:
        slip_s = min(_exponential(150.0, rng), work_s)
        yield submit_s, slip_s
        submit_s += slip_s + _log_normal(600.0, 1.0, rng)
    while (failure_s := _exponential(DAY_S / (nodes * NODE_FAILURES_PER_DAY), rng)) < work_s:
        yield submit_s, failure_s
        submit_s += failure_s + 600.0 + 600.0 * rng.random()
        work_s -= math.floor(failure_s / CHECKPOINT_S) * CHECKPOINT_S
    yield submit_s, work_s


def _size(sizes: dict[int, float], rng: np.random.Generator) -> int:
    left = rng.random() * sum(sizes.values())
    for gpus, weight in sizes.items():
        left -= weight
        if left < 0.0:
            return gpus
    return max(sizes)


def _exponential(mean: float, rng: np.random.Generator) -> float:
    return -mean * math.log1p(-rng.random())


def _geometric(mean: float, rng: np.random.Generator) -> int:
    return 1 + math.floor(math.log1p(-rng.random()) / math.log1p(-1.0 / mean))


def _log_normal(median: float, spread: float, rng: np.random.Generator) -> float:
    return median * math.exp(spread * NormalDist().inv_cdf(max(rng.random(), 1e-300)))


if __name__ == "__main__":
    main(sys.stdout)
