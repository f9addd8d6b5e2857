"""Speed of the SimPy lane as ratios to the yardstick, taken in turns in one process; exit code 1 if a mark is missed.

    python tests/benchmarks/bench_simpy_lane.py

Times are processor time, the best of several rounds: what else runs on the machine is not counted.
"""

from __future__ import annotations

import gc
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

ROUNDS = 11
EVENTS = 100_000
BARE_MARK = 1.2  # times the yardstick, without tables
RECORDED_MARK = 0.75  # times the yardstick, with all tables in Parquet files
GROWTH_MARK = 1.8  # cost per event at 10,000 jobs over that at 10
PROVENANCE = {"scenario_hash": "", "seed": "0", "replica": "0", "racktwin": ""}


class NoSink:
    """The sink of a run that records nothing."""

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Nobody calls this."""
        raise AssertionError(table)


Run = Callable[[], int]


def plain(jobs: int, until_s: float) -> Run:
    """A run of the yardstick, which returns its events."""
    return lambda: yardstick.run(jobs, until_s)


def bare(jobs: int, until_s: float) -> Run:
    """A run of the SimPy lane that records nothing."""
    scenario = reference_fleet.scenario(jobs, until_s)
    fleet = jobs_of(scenario)
    return lambda: simulate(scenario, fleet, NoSink(), PROVENANCE, tables=()).phase_ends


def recorded(jobs: int, until_s: float) -> Run:
    """A run of the SimPy lane that records all tables, until the files are closed and on the disk."""
    scenario = reference_fleet.scenario(jobs, until_s)
    fleet = jobs_of(scenario)

    def run() -> int:
        folder = Path(tempfile.gettempdir()) / "bench-simpy-lane"  # never committed, so it never appears
        with run_directory.writer(folder, PROVENANCE) as sink:
            outcome = simulate(scenario, fleet, sink, PROVENANCE)
            sink.finish()
            return outcome.phase_ends

    return run


def events_per_s(runs: list[Run]) -> list[float]:
    """Best rate of each [1/s], the runs taking turns."""
    best = [0.0] * len(runs)
    for _ in range(ROUNDS):
        for index, run in enumerate(runs):
            gc.collect()  # nobody pays for what the one before left
            begin_s = process_time()
            events = run()
            best[index] = max(best[index], events / (process_time() - begin_s))
    return best


def main() -> int:
    """Print the table of ratios; 0 if every mark is met."""
    missed = 0
    print(f"{'':38}{'events/s':>12}{'ratio':>8}{'mark':>8}")
    for jobs in (100, 1_000):
        until_s = yardstick.horizon_s(jobs, EVENTS)
        lanes = [lane(jobs, until_s) for lane in (plain, bare, recorded)]
        plain_rate, bare_rate, recorded_rate = events_per_s(lanes)
        print(f"{f'N = {jobs:,}, yardstick':38}{plain_rate:12,.0f}{1:8.2f}")
        for name, rate, mark in (("no tables", bare_rate, BARE_MARK), ("all tables", recorded_rate, RECORDED_MARK)):
            missed += _row(f"N = {jobs:,}, {name}", rate, rate / plain_rate, mark, rate / plain_rate >= mark)
    long = 50 * 10_000  # events: 25 cycles of the larger fleet
    small, large = events_per_s([bare(jobs, yardstick.horizon_s(jobs, long)) for jobs in (10, 10_000)])
    growth = small / large
    missed += _row("cost per event, N = 10,000 over N = 10", large, growth, GROWTH_MARK, growth < GROWTH_MARK)
    return 1 if missed else 0


def _row(name: str, rate: float, ratio: float, mark: float, is_met: bool) -> int:
    print(f"{name:38}{rate:12,.0f}{ratio:8.2f}{mark:8.2f}  {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
