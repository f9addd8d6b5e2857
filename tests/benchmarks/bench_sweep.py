"""A sweep of 200 points of about 50 ms: two worker processes against one, and what a point costs beside its run.

python tests/benchmarks/bench_sweep.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import twin
from twin import planning
from twin.studies.workers import workers

POINTS = 200
SPEED_UP = 1.7
OVERHEAD_S = 0.010
SCENARIO = Path(__file__).parents[2] / "scenarios/mid-fleet.yaml"
SHORT = ["stop={time: 8 d}"]  # a run of about 50 ms
GRID = [f"power.cap=5MW..8MW:{POINTS}"]


def sweep_s(processes: int) -> float:
    """Wall time of the sweep with so many worker processes [s]."""
    with TemporaryDirectory() as folder:
        began_s = perf_counter()
        outcome = planning.sweep(SCENARIO, Path(folder, "sweep"), grid=GRID, overrides=SHORT, processes=processes)
        took_s = perf_counter() - began_s
    assert outcome.ran == POINTS
    assert not outcome.failures
    return took_s


def start_s(processes: int) -> float:
    """Wall time of the start and the end of worker processes, each of which has loaded the simulator [s]."""
    began_s = perf_counter()
    with workers(processes) as pool:
        assert len(list(pool.map(twin.measure, [twin.load(SCENARIO, ["stop={time: 1 h}"])] * processes))) == processes
    return perf_counter() - began_s


def bare_s() -> float:
    """Time of the runs alone, one after the other, from a tenth of them [s]."""
    scenarios = [twin.load(SCENARIO, [*SHORT, f"power.cap={5e6 + 3e6 * k / 19} W"]) for k in range(20)]
    twin.measure(scenarios[0])
    began_s = perf_counter()
    for scenario in scenarios:
        twin.measure(scenario)
    return (perf_counter() - began_s) * POINTS / len(scenarios)


def main() -> int:
    """Print the table; 1 if a mark is missed."""
    rounds = [(start_s(1), start_s(2), sweep_s(1), sweep_s(2), bare_s()) for _ in range(3)]
    start_1_s, start_2_s, one_s, two_s, alone_s = (median(values) for values in zip(*rounds, strict=True))
    speed_up = (one_s - start_1_s) / (two_s - start_2_s)
    overhead_s = (one_s - start_1_s - alone_s) / POINTS
    print(f"{POINTS} points of {1000 * alone_s / POINTS:.1f} ms; start of workers {start_1_s:.2f} s, {start_2_s:.2f} s")
    print(f"one worker      {one_s:6.2f} s")
    print(f"two workers     {two_s:6.2f} s, {one_s / two_s:.2f} x with their start")
    print(f"once started    {speed_up:6.2f} x, mark {SPEED_UP}  {_verdict(speed_up >= SPEED_UP)}")
    verdict = _verdict(overhead_s < OVERHEAD_S)
    print(f"beside the run  {1000 * overhead_s:6.2f} ms a point, mark {1000 * OVERHEAD_S:.0f}  {verdict}")
    return 0 if speed_up >= SPEED_UP and overhead_s < OVERHEAD_S else 1


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
