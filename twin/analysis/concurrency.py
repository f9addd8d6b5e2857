"""How many jobs write at once, against jobs with independent phases, and how busy the store is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from twin.analysis.blocks import Floats, blocks
from twin.analysis.metrics import Value
from twin.analysis.step_functions import Steps, level_shares, steps
from twin.recording import Recording


def storage_metrics(recording: Recording, bandwidth_b_s: float, end_s: float) -> dict[str, Value]:
    """Bytes delivered, utilisation and the concurrency tail of the store over a run of ``end_s`` > 0 seconds."""
    delivered_b = sum(float((step.values["rate_b_s"] * step.hold_s).sum()) for step in _steps(recording, end_s))
    shares = level_shares(((step.values["writers"], step.hold_s) for step in _steps(recording, end_s)), end_s)
    return {
        "bytes_delivered_b": delivered_b,
        "store_utilisation": delivered_b / (bandwidth_b_s * end_s),
        "peak_writers": len(shares) - 1,
        "writers_share_at_least": np.cumsum(shares[:0:-1])[::-1].tolist(),
    }


def independent_tail(write_fractions: ArrayLike, most: int | None = None) -> Floats:
    """Probability that at least 1, 2, ..., ``most`` jobs write at once if their phases are independent.

    Args:
        write_fractions: share of time that each job writes, in [0, 1], shape (jobs,).
        most: largest number asked for; default all jobs.
    Returns:
        P(writers >= k) [-], shape (most,). Sums of positive terms only: small tails keep their digits.
    Source: the Poisson binomial law, one job added at a time.
    """
    fractions = np.asarray(write_fractions, dtype=np.float64)
    at_least = np.zeros((len(fractions) if most is None else most) + 1)
    at_least[0] = 1.0
    for fraction in fractions[fractions > 0.0]:
        at_least[1:] = (1.0 - fraction) * at_least[1:] + fraction * at_least[:-1]
    return at_least[1:]


def _steps(recording: Recording, end_s: float) -> Iterator[Steps]:
    columns = ["time_s", "writers", "rate_b_s"]
    return steps(blocks(recording.batches("storage", columns), columns), end_s)
