"""Speed of the SimPy lane as ratios to the yardstick, taken in turns in one process; exit code 1 if a mark is missed.

    python tests/benchmarks/bench_simpy_lane.py

Times are processor time, the best of several rounds: what else runs on the machine is not counted.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pyarrow as pa
import reference_fleet
import yardstick

from twin.fleet import jobs_of
from twin.io import run_directory
from twin.sim.simulate import simulate

ROUNDS = 5
EVENTS = 200_000
BARE_MARK = 1.2  # times the yardstick, without tables
RECORDED_MARK = 0.75  # times the yardstick, with all tables in Parquet files
GROWTH_MARK = 1.8  # cost per event at 10,000 jobs over that at 10
PROVENANCE = {"scenario_hash": "", "seed": "0", "replica": "0", "racktwin": ""}


class NoSink:
    """The sink of a run that records nothing."""

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Nobody calls this."""
        raise AssertionError(table)


def plain(jobs: int, until_s: float) -> int:
    """Events of a run of the yardstick."""
    return yardstick.run(jobs, until_s)


def bare(jobs: int, until_s: float) -> int:
    """Events of a run of the SimPy lane that records nothing."""
    scenario = reference_fleet.scenario(jobs, until_s)
    return simulate(scenario, jobs_of(scenario), NoSink(), PROVENANCE, tables=()).phase_ends


def recorded(jobs: int, until_s: float) -> int:
    """Events of a run of the SimPy lane that records all tables, files closed and on the disk."""
    scenario = reference_fleet.scenario(jobs, until_s)
    folder = Path(tempfile.gettempdir()) / "bench-simpy-lane"  # never committed, so it never appears
    with run_directory.writer(folder, PROVENANCE) as sink:
        outcome = simulate(scenario, jobs_of(scenario), sink, PROVENANCE)
        sink.finish()
        return outcome.phase_ends


def events_per_s(lanes: list[Callable[[int, float], int]], jobs: int, events: int = EVENTS) -> list[float]:
    """Best rate of each lane [1/s], the lanes taking turns."""
    until_s = yardstick.horizon_s(jobs, events)
    best = [0.0] * len(lanes)
    for _ in range(ROUNDS):
        for index, lane in enumerate(lanes):
            begin_s = process_time()
            happened = lane(jobs, until_s)
            best[index] = max(best[index], happened / (process_time() - begin_s))
    return best


def main() -> int:
    """Print the table of ratios; 0 if every mark is met."""
    missed = 0
    print(f"{'':38}{'events/s':>12}{'ratio':>8}{'mark':>8}")
    for jobs in (100, 1_000):
        plain_rate, bare_rate, recorded_rate = events_per_s([plain, bare, recorded], jobs)
        print(f"{f'N = {jobs:,}, yardstick':38}{plain_rate:12,.0f}{1:8.2f}")
        for name, rate, mark in (("no tables", bare_rate, BARE_MARK), ("all tables", recorded_rate, RECORDED_MARK)):
            missed += _row(f"N = {jobs:,}, {name}", rate, rate / plain_rate, mark, rate / plain_rate >= mark)
    (small,), (large,) = events_per_s([bare], 10), events_per_s([bare], 10_000, 2 * EVENTS)
    missed += _row(
        "cost per event, N = 10,000 over N = 10", large, small / large, GROWTH_MARK, small / large < GROWTH_MARK
    )
    return 1 if missed else 0


def _row(name: str, rate: float, ratio: float, mark: float, is_met: bool) -> int:
    print(f"{name:38}{rate:12,.0f}{ratio:8.2f}{mark:8.2f}  {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
