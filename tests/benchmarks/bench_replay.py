"""Replay of 1,000 jobs that run for 30 days, reading, simulating, recording and summarising; exit code 1 over a minute.

python tests/benchmarks/bench_replay.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import twin

JOBS = 1_000
DAYS = 30
MARK_S = 60.0


def main() -> int:
    """Print the time taken; 0 if the mark is met."""
    with tempfile.TemporaryDirectory() as folder:
        rows = (f"{job},{86.4 * job:g},{1 + job % 16},{86400 * DAYS}\n" for job in range(JOBS))
        Path(folder, "log.csv").write_text("job_id,submit_s,nodes,duration_s\n" + "".join(rows))
        scenario = twin.load(
            {
                "twin": 1,
                "name": "thousand",
                "stop": {"time": f"{DAYS} d"},
                "replay": {"file": f"{folder}/log.csv"},
                "storage": {"bandwidth": "100 GB/s"},
                "power": {"cap": "55 MW"},
            }
        )
        begin_s = perf_counter()
        recording = twin.run(scenario, Path(folder, "run"))
        taken_s = perf_counter() - begin_s
    rows_written = sum(recording.manifest["rows"].values())
    verdict = "met" if taken_s < MARK_S else "MISSED"
    print(f"{JOBS:,} jobs x {DAYS} days: {rows_written:,} rows in {taken_s:.1f} s, mark {MARK_S:g} s  {verdict}")
    return 0 if taken_s < MARK_S else 1


if __name__ == "__main__":
    sys.exit(main())
