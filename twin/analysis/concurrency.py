"""How many jobs write at once, against jobs with independent phases, and how busy the store is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twin.analysis.blocks import Floats, blocks
from twin.analysis.metrics import Value
from twin.analysis.step_functions import Steps, level_shares, steps
from twin.fleet import Job
from twin.recording import Recording

_BLOCK = 64  # jobs added one by one; more at once are folded
_NEVER = 1e-290

_Law = tuple[int, Floats]  # smallest number writing, and the shares of time with it, one more, ...


def storage_metrics(recording: Recording, bandwidth_b_s: float, end_s: float) -> dict[str, Value]:
    """Bytes delivered, utilisation and the concurrency tail of the store over a run of ``end_s`` > 0 seconds."""
    delivered_b = sum(float((step.values["rate_b_s"] * step.hold_s).sum()) for step in _steps(recording, end_s))
    shares = level_shares(((step.values["writers"], step.hold_s) for step in _steps(recording, end_s)), end_s)
    waiting = level_shares(((step.values["waiting"], step.hold_s) for step in _steps(recording, end_s)), end_s)
    return {
        "bytes_delivered_b": delivered_b,
        "store_utilisation": delivered_b / (bandwidth_b_s * end_s),
        "peak_writers": len(shares) - 1,
        "writers_share_at_least": np.cumsum(shares[:0:-1])[::-1].tolist(),
        "peak_waiting": len(waiting) - 1,
        "waiting_share": float(waiting[1:].sum()),
    }


def slots_of(jobs: Sequence[Job]) -> NDArray[np.int64]:
    """Checkpoints that each job can have in the store at once [-], shape (jobs,)."""
    return np.array([job.in_flight if job.is_async else 1 for job in jobs], np.int64)


def independent_tail(write_fractions: ArrayLike, most: int | None = None) -> Floats:
    """Probability that at least 1, 2, ..., ``most`` jobs write at once if their phases are independent.

    Args:
        write_fractions: share of time that each job writes, in [0, 1], shape (jobs,).
        most: largest number asked for; default all jobs.
    Returns:
        P(writers >= k) [-], shape (most,); the same bits in any order of the jobs. Sums of positive terms only: small
        tails keep their digits, but for those below 1e-270, which may be left out.
    Source: the Poisson binomial law; the numbers writing in two parts of the fleet add up, so their laws are folded.
    """
    fractions = np.sort(np.asarray(write_fractions, dtype=np.float64))
    laws = _laws_of_blocks(fractions[fractions > 0.0])
    while len(laws) > 1:
        laws = [_folded(laws[i : i + 2]) for i in range(0, len(laws), 2)]
    ((least, shares),) = laws
    tail = np.minimum(np.cumsum(shares[::-1])[::-1], 1.0)  # from its smallest terms on
    at_least = np.concatenate((np.full(least, tail[0]), tail))[1:]
    asked = len(fractions) if most is None else most
    return np.pad(at_least[:asked], (0, max(0, asked - len(at_least))))


def _laws_of_blocks(fractions: Floats) -> list[_Law]:
    """The law of each block of jobs, one job of every block added at a time."""
    blocks_of_jobs = max(1, -(-len(fractions) // _BLOCK))
    by_block = np.pad(fractions, (0, blocks_of_jobs * _BLOCK - len(fractions))).reshape(blocks_of_jobs, _BLOCK)
    shares = np.zeros((blocks_of_jobs, _BLOCK + 1))
    shares[:, 0] = 1.0
    for fraction in by_block.T[:, :, np.newaxis]:
        shares[:, 1:] = (1.0 - fraction) * shares[:, 1:] + fraction * shares[:, :-1]
        shares[:, :1] *= 1.0 - fraction
    return [_trimmed(0, row) for row in shares]


def _folded(laws: list[_Law]) -> _Law:
    """The law of all the jobs of one or two parts."""
    if len(laws) == 1:
        return laws[0]
    (least, shares), (others_least, others_shares) = laws
    return _trimmed(least + others_least, np.convolve(shares, others_shares))


def _trimmed(least: int, shares: Floats) -> _Law:
    """Without the ends nobody will ever see, nearly all of the law of a large fleet; and summing to 1 again.

    Equal parts round alike: without the second, 800 of them would multiply the rounding of one.
    """
    kept = np.flatnonzero(shares > _NEVER)
    return least + int(kept[0]), shares[kept[0] : kept[-1] + 1] / shares.sum()


def _steps(recording: Recording, end_s: float) -> Iterator[Steps]:
    columns = ["time_s", "writers", "waiting", "rate_b_s"]
    return steps(blocks(recording.batches("storage", columns), columns), end_s)
