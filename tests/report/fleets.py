"""Small runs on disk for the pages of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import twin

POWER = {"compute": "1 kW", "idle": "0.2 kW", "write": "0.3 kW", "exponent": 2}
FLEET: dict[str, Any] = {
    "twin": 1,
    "name": "small fleet",
    "question": "What does the page of a small fleet show?",
    "seed": 3,
    "stop": {"cycles": 30},
    "jobs": [
        {
            "name": "llm",
            "count": 4,
            "compute": "100 s",
            "jitter": {"law": "normal", "sigma": "5 s"},
            "checkpoint": {"size": "10 GB"},
            "power": POWER,
            "launch": {"uniform": "110 s"},
        }
    ],
    "storage": {"bandwidth": "1 GB/s"},
    "power": {"cap": "3.2 kW"},
}
LOG = "job_id,submit_s,nodes,work_s\n" + "".join(
    f"{name},{60 * row},{1 + row % 3},{500 + 40 * row}\n"
    for row, name in enumerate(["<b>bold</b>", *(f"job-{row:02}" for row in range(1, 12))])
)


def run_of(folder: Path, **changes: Any) -> Path:
    """The run directory of ``FLEET`` with the changes given."""
    twin.run(twin.load(FLEET | changes), folder)
    return folder


def replay_of(folder: Path, **changes: Any) -> Path:
    """The run directory of a replay of ``LOG``: twelve jobs of three sizes that come and go."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.parent / "log.csv"
    log.write_text(LOG)
    profile = {"compute": "2 min", "size_per_gpu": "1 GB", "gpus_per_node": 8, "jitter": 0.01, "power": POWER}
    replay = {"file": str(log), "profile": profile}
    twin.run(
        twin.load(
            FLEET | {"name": "replay", "jobs": [], "stop": {}, "replay": replay, "power": {"cap": "14 kW"}} | changes
        ),
        folder,
    )
    return folder
