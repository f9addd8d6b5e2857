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


def largest_ramp(
    read: Callable[[], Iterator[Steps]], column: str, window_s: float, end_s: float, end_column: str | None = None
) -> float:
    """Largest |P(t + w) - P(t)| / w over 0 <= t, t + w <= end, exact for the function P; 0 if w exceeds the run.

    P is a step function, or goes straight from the one column to the other while a row holds. Then the difference goes
    straight too, but where P(t) or P(t + w) has a row: it is read on both sides of those, and nowhere else. Two
    readers of one table, one ``window_s`` ahead of the other, need no memory of the window.

    Args:
        read: starts reading the steps from t = 0; called twice.
        column: the values P at the start of each row.
        window_s: w [s].
        end_column: the values just before the next row; default those at the start.
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
            from_s = np.unique(np.concatenate([[start_s], *changes]))
            pieces = [_Piece.of(behind, behind.time_s, from_s, column, end_column)]
            pieces.append(_Piece.of(ahead, ahead_s, from_s, column, end_column))
            sides = [from_s]
            if end_column is not None:
                sides.append(np.append(from_s[1:], min(stop_s, last_s)))
            for at_s in sides:
                before, after = (piece.at(at_s) for piece in pieces)
                largest = max(largest, float(np.abs(after - before).max(initial=0.0)))
            start_s = stop_s
        if behind.until_s <= ahead.until_s - window_s:
            behind = next(behind_steps, None)
        else:
            ahead = next(ahead_steps, None)
    return largest / window_s


@dataclass(frozen=True, slots=True)
class _Piece:
    """The rows that hold from given times on, one for each: start [s], value there, and slope."""

    start_s: Floats
    value: Floats
    slope: Floats | float

    @classmethod
    def of(cls, step: Steps, time_s: Floats, from_s: Floats, column: str, end_column: str | None) -> _Piece:
        """Of rows that begin at ``time_s``, those in force from ``from_s`` on."""
        row = np.searchsorted(time_s, from_s, side="right") - 1
        value = step.values[column][row]
        if end_column is None:
            return cls(time_s[row], value, 0.0)
        hold_s = np.where(step.hold_s[row] > 0.0, step.hold_s[row], np.inf)
        return cls(time_s[row], value, (step.values[end_column][row] - value) / hold_s)

    def at(self, at_s: Floats) -> Floats:
        """The values at times within the rows."""
        values: Floats = self.value + self.slope * (at_s - self.start_s)
        return values
