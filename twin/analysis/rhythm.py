"""The common rhythm of a fleet: its period, and where in it each checkpoint fires."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats, blocks
from twin.recording import Recording

_COLUMNS = ["job_id", "write_start_s"]
LEAD = 0.13  # places begin so much before the first fire: neither a fleet in step nor an even stagger sits at the wrap


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When checkpoints fire.

    Args:
        period_s: mean time from one fire of a job to its next, over all intervals of all jobs [s]; None if no job
            fired twice.
        fires: checkpoints that began to be written.
        first_s, last_s: first and last fire [s].
    """

    period_s: float | None
    fires: int
    first_s: float
    last_s: float


def rhythm(recording: Recording, jobs: int) -> Rhythm | None:
    """Period and extent of the fires of ``jobs`` jobs; None if none ever fired."""
    first_s, last_s, count = np.full(jobs, np.inf), np.full(jobs, -np.inf), np.zeros(jobs, dtype=np.int64)
    for job, fire_s in fires(recording):
        np.minimum.at(first_s, job, fire_s)
        np.maximum.at(last_s, job, fire_s)
        count += np.bincount(job, minlength=jobs)
    again = count > 1
    intervals = int((count[again] - 1).sum())
    if not count.any():
        return None
    period_s = float((last_s[again] - first_s[again]).sum()) / intervals if intervals else None
    return Rhythm(period_s, int(count.sum()), float(first_s.min()), float(last_s.max()))


def fires(recording: Recording) -> Iterator[tuple[NDArray[np.int32], Floats]]:
    """Job id and fire time [s] of every checkpoint that began to be written, in stretches of the run."""
    for block in blocks(recording.batches("checkpoints", _COLUMNS), _COLUMNS):
        begun = ~np.isnan(block["write_start_s"])
        yield block["job_id"][begun], block["write_start_s"][begun]


def places(fire_s: Floats, first_s: float, period_s: float) -> Floats:
    """Place of each fire in the period [-], in [-LEAD, 1 - LEAD); the first fire is at 0."""
    return ((fire_s - first_s) / period_s + LEAD) % 1.0 - LEAD


def order_parameter_between(recording: Recording, from_s: float, until_s: float, period_s: float) -> tuple[float, int]:
    """R of the fires in [from_s, until_s]: length of the mean of exp(2 pi i fire / period) [-]; and their number.

    1 in step, near 0 spread evenly, about 0.89 / sqrt(fires) for independent ones; 0 for no fires.
    Source: Y. Kuramoto, Chemical Oscillations, Waves, and Turbulence, 1984, ch. 5.
    """
    total, count = 0j, 0
    for _, fire_s in fires(recording):
        inside = fire_s[(fire_s >= from_s) & (fire_s <= until_s)]
        total += complex(np.exp(2j * np.pi * (inside - from_s) / period_s).sum())
        count += len(inside)
    return abs(total) / max(count, 1), count
