"""Fires of a fleet, cycle by cycle: who fires when, in which order, how far apart, how much in step.

A fire is the start of a blocking write. Fire times come as an array of shape (jobs, cycles), the cycles of each job
from its own first fire on and NaN where it did not fire.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats, blocks
from twin.recording import Recording

_KNOWN_R = {1: 1.0, 2: 2.0 / np.pi, 3: 1.5745972375518936 / 3.0, 4: 1.7990924798428510 / 4.0}
_REACH = 300.0  # of the integral for five and more: its tail falls with x^(-n / 2 - 1)
_FEW = 60  # beyond, the law of large numbers is closer than 0.2 %
INDEPENDENT_R = 0.5 * np.sqrt(np.pi)  # mean length of the sum of n random unit vectors / sqrt(n), for many


def fire_times_s(recording: Recording, jobs: int) -> Floats:
    """When each job fired [s], shape (jobs, cycles); NaN where it did not, no cycles if nobody fired.

    Args:
        recording: with the table checkpoints.
        jobs: of the fleet.
    """
    names = ["job_id", "cycle", "write_start_s"]
    parts = [tuple(block[name] for name in names) for block in blocks(recording.batches("checkpoints", names), names)]
    if not parts:
        return np.full((jobs, 0), np.nan)
    job, cycle, fire_s = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = np.full((jobs, int(cycle.max()) + 1), np.nan)
    found[job, cycle] = fire_s
    return found


def aligned_s(fires_s: Floats) -> Floats:
    """The fires from the first one of the last job on, as many of each job, shape (jobs, cycles) without NaN.

    Before that instant not all jobs take part; no cycles if one of them never fired, or no jobs.
    """
    jobs = len(fires_s)
    if jobs == 0 or fires_s.shape[1] == 0 or np.isnan(fires_s[:, 0]).any():
        return np.empty((jobs, 0))
    begin_s = float(fires_s[:, 0].max())
    own = [row[row >= begin_s] for row in fires_s]  # NaN is never so
    cycles = min(len(row) for row in own)
    return np.stack([row[:cycles] for row in own])


def intervals_s(fires_s: Floats) -> Floats:
    """Time from each fire to the next one of the fleet, cycle by cycle [s], shape (cycles - 1, jobs).

    In a row stand the intervals within one cycle in the order of firing, the last one to the first fire of the next
    cycle; they sum to the time between the first fires of the two cycles.

    Args:
        fires_s: as ``aligned_s`` gives them.
    """
    jobs, cycles = fires_s.shape
    if jobs == 0 or cycles < 2:  # noqa: PLR2004 - an interval to the next cycle takes two
        return np.empty((0, jobs))
    in_order = np.sort(fires_s, axis=0)
    following = np.vstack([in_order[1:, :-1], in_order[:1, 1:]])
    return (following - in_order[:, :-1]).T


def smallest_gaps_s(fires_s: Floats) -> Floats:
    """The shortest interval between two fires of the fleet in each cycle [s], shape (cycles - 1,)."""
    found = intervals_s(fires_s)
    return found.min(axis=1) if found.size else np.empty(len(found))


def strict_inversions(fires_s: Floats) -> int:
    """How often a job fires before one that fired before it in every cycle so far; equal times are never an exchange.

    The cyclic order is that of the first cycle, in which ties may stand either way: they are ordered by when they first
    part.

    Args:
        fires_s: as ``aligned_s`` gives them.
    """
    jobs, cycles = fires_s.shape
    if jobs < 2 or cycles < 2:  # noqa: PLR2004 - an order takes two, and so does its change
        return 0
    ordered = fires_s[np.lexsort(fires_s.T[::-1])]
    within = np.count_nonzero(ordered[:-1] > ordered[1:])
    around = np.count_nonzero(ordered[-1, :-1] > ordered[0, 1:])
    return int(within + around)


def phases(fires_s: Floats, at_s: Floats) -> Floats:
    """Place of each job in its own cycle [-], in [0, 1), shape (jobs, times).

    NaN before its first fire and after its last.

    Args:
        fires_s: shape (jobs, cycles).
        at_s: shape (times,).
    """
    found = np.full((len(fires_s), len(at_s)), np.nan)
    for place, row in enumerate(fires_s):
        own = row[~np.isnan(row)]
        if len(own) < 2:  # noqa: PLR2004 - a cycle has two ends
            continue
        cycle = np.searchsorted(own, at_s, side="right") - 1
        inside = (cycle >= 0) & (cycle < len(own) - 1)
        begin_s, end_s = own[cycle[inside]], own[cycle[inside] + 1]
        found[place, inside] = (at_s[inside] - begin_s) / (end_s - begin_s)
    return found


def order_parameter(places: Floats) -> Floats:
    """Degree of synchrony of the jobs at each time: 1 in step, near 0 spread evenly; shape (times,).

    For n independent phases it is about ``independent_order_parameter(n)``, not 0. NaN where no job has a phase.

    Args:
        places: of each job in its cycle, shape (jobs, times), NaN for one that has none.
    Source: Y. Kuramoto, Chemical Oscillations, Waves, and Turbulence, 1984, ch. 5.
    """
    known = ~np.isnan(places)
    count = known.sum(axis=0)
    total = np.where(known, np.exp(2j * np.pi * np.where(known, places, 0.0)), 0.0).sum(axis=0)
    found: Floats = np.full(places.shape[1], np.nan)
    np.divide(np.abs(total), count, out=found, where=count > 0)
    return found


def independent_order_parameter(jobs: int) -> float:
    """Mean R of so many independent phases [-]: 1 for one, 2 / pi for two, about 0.886 / sqrt(n) for many.

    Source: the mean distance of a random walk in the plane: L. Rayleigh, Nature 72 (1905) 318; the first values in
    closed form: J. M. Borwein et al., Ramanujan J. 26 (2011) 109.
    """
    if jobs < 1:
        return float("nan")
    if jobs in _KNOWN_R:
        return _KNOWN_R[jobs]
    if jobs > _FEW:
        return float(INDEPENDENT_R / np.sqrt(jobs))
    from scipy.integrate import quad
    from scipy.special import j0, j1

    # The density of the distance r is r times the integral of x J0(x)^n J0(r x); its mean, by parts, is the integral of
    # (1 - J0(x)^n) / x^2 taken as n J0^(n - 1) J1 / x.
    value, _ = quad(lambda x: jobs * j0(x) ** (jobs - 1) * j1(x) / x, 0.0, _REACH, limit=2000)
    return float(value / jobs)


def first_overlap(fires_s: Floats, ends_s: Floats) -> NDArray[np.int64]:
    """Cycle of each job in which its write first begins before the write ahead of it has ended; -1 for never.

    Args:
        fires_s, ends_s: of the writes of each cycle, as ``aligned_s`` gives them, shape (jobs, cycles).
    """
    jobs, cycles = fires_s.shape
    found = np.full(jobs, -1, np.int64)
    if jobs < 2 or cycles == 0:  # noqa: PLR2004 - an overlap takes two
        return found
    order = np.argsort(fires_s[:, 0], kind="stable")
    fires_in, ends_in = fires_s[order], ends_s[order]
    ahead_end = np.vstack([np.append(-np.inf, ends_in[-1, :-1])[np.newaxis], ends_in[:-1]])
    overlaps = fires_in < ahead_end
    hit = overlaps.any(axis=1)
    found[order[hit]] = overlaps[hit].argmax(axis=1)
    return found
