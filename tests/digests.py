"""A digest of every table of a few scenarios, to compare two environments: ``python -m tests.digests``."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import twin
from tests.physics.test_repeatability import digits
from tests.physics.test_scaling import mixed_fleet

SCENARIOS = Path(__file__).parents[1] / "scenarios"
BUNDLED = ("phase-blind", "random-fleet", "capped-fleet", "mid-fleet", "replay")


def runs() -> Iterator[tuple[str, twin.Recording]]:
    """One fleet of every kind of group with seed 0 and with seed 7, and bundled scenarios of every launch form."""
    for seed in (0, 7):
        yield f"mixed-fleet-{seed}", twin.simulate(twin.load(mixed_fleet() | {"seed": seed}))
    for name in BUNDLED:
        for seed in ("0", "7"):
            yield f"{name}-{seed}", twin.simulate(twin.load(SCENARIOS / f"{name}.yaml", [f"seed={seed}"]))


def main() -> None:
    """Print a line of run, table, rows and digest for each table."""
    for name, recording in runs():
        for table, text in digits(recording).items():
            print(name, table, recording.manifest["rows"][table], sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main()
