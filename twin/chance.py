"""Random streams: one per source of chance, addressed by name, so that no policy and no neighbour changes a draw.

Source: M. E. O'Neill, *PCG*, 2014, seeded by ``numpy.random.SeedSequence`` with spawn keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from hashlib import blake2b
from math import erfc, exp, log1p, pi, sqrt

import numpy as np

_BLOCK = 64  # draws made at a time per job; the stream does not depend on it


class Purpose(IntEnum):
    """What a stream is drawn for; part of its address."""

    JITTER = 0
    LAUNCH = 1
    LAUNCHES = 2
    COPY = 3


def stream(seed: int, replica: int, group: str, index: int, purpose: Purpose) -> np.random.Generator:
    """The generator of one source of chance; draws of a whole group use index 0 and a purpose of their own."""
    digest = int.from_bytes(blake2b(group.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(replica, digest, index, purpose)))


def stretches(law: str, mean_s: float, sigma_s: float, rng: np.random.Generator) -> Iterator[float]:
    """Full-speed compute work of cycle 0, 1, 2, ... [s], without end; every law has this mean and standard deviation.

    Normal: max(0, mean + sigma z), clipped, never redrawn. Lognormal: mean exp(q z - q^2 / 2), q^2 = log(1 + (sigma /
    mean)^2). Uniform: max(0, mean + sigma sqrt(3) (2 u - 1)).
    """
    shape = sqrt(log1p((sigma_s / mean_s) ** 2)) if law == "lognormal" else 0.0
    while True:
        if law == "normal":
            block = mean_s + sigma_s * rng.standard_normal(_BLOCK)
        elif law == "lognormal":
            block = mean_s * np.exp(shape * rng.standard_normal(_BLOCK) - 0.5 * shape * shape)
        else:
            block = mean_s + sigma_s * (sqrt(3.0) * (2.0 * rng.random(_BLOCK) - 1.0))
        yield from np.maximum(block, 0.0).tolist()


def mean_stretch_s(law: str | None, mean_s: float, sigma_s: float) -> float:
    """Mean of the draws of ``stretches`` [s]: ``mean_s``, or a little more where clipping at 0 counts.

    Args:
        law: None for no jitter.
    """
    if law == "normal":
        z = mean_s / sigma_s
        return 0.5 * mean_s * erfc(-z / sqrt(2.0)) + sigma_s * exp(-0.5 * z * z) / sqrt(2.0 * pi)
    reach_s = sqrt(3.0) * sigma_s
    if law == "uniform" and reach_s > mean_s:
        return (mean_s + reach_s) ** 2 / (4.0 * reach_s)
    return mean_s
