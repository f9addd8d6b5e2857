"""Peak memory of a run of 10 million rows against one of 100 thousand, a process each; exit code 1 if it grows.

python tests/benchmarks/bench_memory.py
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import reference_fleet
import yardstick

import twin

JOBS = 100
ROWS_PER_EVENT = 2.5  # a cycle has two events; one checkpoint, two changes of power and two of the store
MARK_MB = 60.0


def measure(rows: int) -> None:
    """Make a run of about so many rows; print the rows and the peak of the resident memory [MB]."""
    scenario = reference_fleet.scenario(JOBS, yardstick.horizon_s(JOBS, round(rows / ROWS_PER_EVENT)))
    with tempfile.TemporaryDirectory() as folder:
        recording = twin.run(scenario, Path(folder) / "run")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"rows": sum(recording.manifest["rows"].values()), "peak_mb": peak_mb}))


def main() -> int:
    """Print both peaks; 0 if they are within the mark."""
    peaks_mb = []
    for rows in (100_000, 10_000_000):
        child = subprocess.run([sys.executable, __file__, str(rows)], stdout=subprocess.PIPE, check=True)
        found = json.loads(child.stdout)
        peaks_mb.append(found["peak_mb"])
        print(f"{found['rows']:12,} rows: {found['peak_mb']:8.1f} MB")
    growth_mb = peaks_mb[1] - peaks_mb[0]
    is_met = growth_mb <= MARK_MB
    print(f"{'growth':>17}: {growth_mb:8.1f} MB, mark {MARK_MB:.0f} MB: {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
    else:
        sys.exit(main())
