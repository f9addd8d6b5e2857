"""Cost of a phase end under controllers with memory, as ratios to anonymous control; exit code 1 over a mark.

    python tests/benchmarks/bench_control.py

The reference fleet of 1,000 jobs without tables, in processor time, taken in turns; medians over the rounds.
"""

from __future__ import annotations

import gc
import sys
from statistics import median
from time import process_time

import reference_fleet
import yardstick
from bench_simpy_lane import PROVENANCE, NoSink

from twin.fleet import jobs_of
from twin.scenario import Scenario
from twin.sim.simulate import simulate

JOBS = 1_000
EVENTS = 100_000
ROUNDS = 9
PERIOD_S = yardstick.COMPUTE_S / 100.0
# Times the cost of a phase end under anonymous control. A delay settles twice as many instants, and queues commands;
# a reading every T / 100 is one event in twenty.
MARKS = {
    "delayed by 2 s": ({"policy": "delayed", "delay": 2.0}, 2.2),
    "sampled every T/100": ({"policy": "sampled", "period": PERIOD_S, "latency": 2.0}, 1.3),
}


def controlled(controller: dict[str, object]) -> Scenario:
    """The reference fleet under another controller."""
    until_s = yardstick.horizon_s(JOBS, EVENTS)
    return reference_fleet.scenario(JOBS, until_s, controller)


def costs_s(scenarios: list[Scenario]) -> list[list[float]]:
    """Cost of a phase end in each [s], a list for each round, in which they take turns."""
    fleets = [jobs_of(scenario) for scenario in scenarios]
    rounds = []
    for _ in range(ROUNDS):
        costs = []
        for scenario, fleet in zip(scenarios, fleets, strict=True):
            gc.collect()
            begin_s = process_time()
            phase_ends = simulate(scenario, fleet, NoSink(), PROVENANCE, tables=()).phase_ends
            costs.append((process_time() - begin_s) / phase_ends)
        rounds.append(costs)
    return rounds


def main() -> int:
    """Print the table of ratios; 0 if every mark is met."""
    anonymous = controlled({"policy": "anonymous"})
    rounds = costs_s([anonymous, *[controlled(controller) for controller, _ in MARKS.values()]])
    print(f"{'anonymous':24}{1e6 * median(costs[0] for costs in rounds):8.2f} us a phase end")
    missed = 0
    for place, (name, (_, mark)) in enumerate(MARKS.items(), start=1):
        cost_s = median(costs[place] for costs in rounds)
        ratio = median(costs[place] / costs[0] for costs in rounds)
        missed += ratio > mark
        print(f"{name:24}{1e6 * cost_s:8.2f} us{ratio:8.2f}, mark {mark:g}  {'met' if ratio <= mark else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
