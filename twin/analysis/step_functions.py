"""Recorded step functions, streamed: a row holds until the next one, the last to the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Block, Floats


@dataclass(frozen=True, slots=True)
class Steps:
    """A stretch of a right-continuous step function.

    Args:
        time_s: start of each row [s], rising; shape (rows,).
        hold_s: how long each row holds within the run [s]; 0 for a row at the very end; shape (rows,).
        until_s: start of the next stretch [s]; inf for the last stretch.
        values: the other columns, each of shape (rows,).
    """

    time_s: Floats
    hold_s: Floats
    until_s: float
    values: Block


def steps(blocks: Iterable[Block], end_s: float) -> Iterator[Steps]:
    """The blocks of a table with ``time_s``, each row with the time it holds; one block is kept back, no more."""
    held: Block | None = None
    for block in blocks:
        if held is not None:
            next_s = float(block["time_s"][0])
            yield _stretch(held, next_s, next_s)
        held = block
    if held is not None:
        yield _stretch(held, end_s, inf)


def _stretch(block: Block, hold_until_s: float, until_s: float) -> Steps:
    time_s = block["time_s"].astype(np.float64, copy=False)
    return Steps(time_s, np.diff(time_s, append=hold_until_s), until_s, block)


def level_shares(levels: Iterable[tuple[NDArray[np.integer], Floats]], end_s: float) -> Floats:
    """Share of the time ``end_s`` spent at level 0, 1, ... of an integer step function.

    Args:
        levels: pairs (level, time held [s]) of arrays, in stretches of the run.
    Returns:
        Shares [-], up to the highest level that lasted.
    """
    held_s: Floats = np.zeros(1)
    for level, hold_s in levels:
        lasting = hold_s > 0.0
        added_s: Floats = np.bincount(level[lasting], hold_s[lasting], len(held_s)).astype(np.float64, copy=False)
        added_s[: len(held_s)] += held_s
        held_s = added_s
    return held_s / end_s


def largest_ramp(read: Callable[[], Iterator[Steps]], column: str, window_s: float, end_s: float) -> float:
    """Largest |P(t + w) - P(t)| / w over 0 <= t, t + w <= end, exact for the step function P; 0 if w exceeds the run.

    The difference is itself a step function: it changes only where P(t) or P(t + w) does, so it is read there and
    nowhere else. Two readers of one table, one ``window_s`` ahead of the other, need no memory of the window.

    Args:
        read: starts reading the steps from t = 0; called twice.
        column: the values P.
        window_s: w [s].
    """
    last_s = end_s - window_s
    behind_steps, ahead_steps = read(), read()
    behind, ahead = next(behind_steps, None), next(ahead_steps, None)
    start_s, largest = 0.0, 0.0
    while behind is not None and ahead is not None and start_s <= last_s:
        ahead_s = ahead.time_s - window_s  # P(t + w) changes at these t
        stop_s = min(behind.until_s, ahead.until_s - window_s)
        if stop_s > start_s:
            changes = [at_s[(at_s > start_s) & (at_s < stop_s) & (at_s <= last_s)] for at_s in (behind.time_s, ahead_s)]
            for at_s in (np.array([start_s]), *changes):
                before = behind.values[column][np.searchsorted(behind.time_s, at_s, side="right") - 1]
                after = ahead.values[column][np.searchsorted(ahead_s, at_s, side="right") - 1]
                largest = max(largest, float(np.abs(after - before).max(initial=0.0)))
            start_s = stop_s
        if behind.until_s <= ahead.until_s - window_s:
            behind = next(behind_steps, None)
        else:
            ahead = next(ahead_steps, None)
    return largest / window_s
