"""Time of `twin --help` and of `twin validate`, the best of several, a process each; exit code 1 above half a second.

python tests/benchmarks/bench_startup.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter

ROUNDS = 7
MARK_S = 0.5
SCENARIO = Path(__file__).parents[2] / "scenarios" / "mid-fleet.yaml"
COMMANDS = {
    "twin --help": ["--help"],
    "twin validate scenarios/mid-fleet.yaml": ["validate", str(SCENARIO)],
}


def taken_s(arguments: list[str]) -> float:
    """Wall time of the command, from start to exit, the best of several [s]."""
    best_s = float("inf")
    for _ in range(ROUNDS):
        begin_s = perf_counter()
        subprocess.run([sys.executable, "-m", "twin", *arguments], capture_output=True, check=True)
        best_s = min(best_s, perf_counter() - begin_s)
    return best_s


def main() -> int:
    """Print the time of each command; 0 if all meet the mark."""
    times_s = {name: taken_s(arguments) for name, arguments in COMMANDS.items()}
    for name, time_s in times_s.items():
        print(f"{name:40}{time_s:8.3f} s, mark {MARK_S:g} s  {'met' if time_s < MARK_S else 'MISSED'}")
    return 0 if max(times_s.values()) < MARK_S else 1


if __name__ == "__main__":
    sys.exit(main())
