"""How long checkpoints took, counted in classes of equal width."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats
from twin.analysis.checkpoints import durations_s
from twin.recording import Recording

_NARROWEST = 0.1  # of the longest: durations that differ by rounding only are one class, not a pattern


class Histogram(NamedTuple):
    """Counts of a sample; ``edges`` has one entry more than ``counts``."""

    edges: Floats
    counts: NDArray[np.int64]


def duration_histogram(recording: Recording, from_s: float | None = None, classes: int = 61) -> Histogram | None:
    """Checkpoints by time from first byte to last [s], those that ended within the run; None if none did.

    Args:
        from_s: where the classes begin, unless a shorter duration is there; default the shortest.
        classes: of equal width, up to the longest duration, and at least over a tenth of that.
    """
    shortest_s, longest_s = np.inf, 0.0
    for duration_s in durations_s(recording):
        shortest_s = min(shortest_s, float(duration_s.min(initial=np.inf)))
        longest_s = max(longest_s, float(duration_s.max(initial=0.0)))
    if shortest_s == np.inf:
        return None
    if from_s is not None:
        shortest_s = min(shortest_s, from_s)
    spare_s = max(0.0, _NARROWEST * longest_s - (longest_s - shortest_s)) / 2.0
    edges = np.linspace(max(0.0, shortest_s - spare_s), longest_s + spare_s, classes + 1)
    counts = np.zeros(classes, dtype=np.int64)
    for duration_s in durations_s(recording):
        counts += np.histogram(duration_s, edges)[0]
    return Histogram(edges, counts)
