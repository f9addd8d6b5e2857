"""Exact quantiles of samples of any length in bounded memory: read again and again, 16 bits finer each time.

A double, its bits read as an integer (negatives turned round), sorts like the number it is. A pass counts the next 16
bits of the values that share the bits known so far, and keeps those values if they fit in memory: then it is the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import floor

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats

_KEPT = 1 << 18  # values held in memory at most, 4 MB with their weights
_DIGIT_BITS = 16
_DIGITS = 1 << _DIGIT_BITS
_SIGN = np.uint64(1 << 63)

Passes = Callable[[], Iterable[tuple[Floats, Floats]]]


def sample_quantiles(
    passes: Callable[[], Iterable[Floats]], probabilities: Sequence[float], kept: int = _KEPT
) -> list[float] | None:
    """Quantiles of a sample, linear between order statistics, digit for digit those of ``numpy.quantile``.

    Args:
        passes: starts reading the sample, in arrays; called up to five times.
        probabilities: in [0, 1].
        kept: values to hold in memory at most.
    Returns:
        One quantile a probability; None for an empty sample.
    """

    def ranks(count: float) -> list[float]:  # the r-th smallest is the first with r values at or below it
        positions = [(count - 1) * probability for probability in probabilities]
        return [rank for position in positions for rank in (floor(position) + 1, min(floor(position) + 2, count))]

    def weighted() -> Iterator[tuple[Floats, Floats]]:
        return ((values, np.ones(len(values))) for values in passes())

    count, found = _select(weighted, ranks, kept)
    if not found:
        return None
    fractions = [(count - 1) * probability % 1.0 for probability in probabilities]
    pairs = zip(found[::2], found[1::2], fractions, strict=True)
    return [float(np.quantile([low, high], fraction)) for low, high, fraction in pairs]


def time_quantiles(passes: Passes, probabilities: Sequence[float], kept: int = _KEPT) -> list[float] | None:
    """The smallest values x that a step function is at or below for at least the given shares of the time.

    Args:
        passes: starts reading pairs (value, time held) of arrays; called up to five times.
        probabilities: shares of the time, in (0, 1].
        kept: values to hold in memory at most.
    Returns:
        One value a share; None if nothing was held.
    """
    return _select(passes, lambda total: [probability * total for probability in probabilities], kept)[1] or None


def _select(passes: Passes, targets_of: Callable[[float], list[float]], kept: int) -> tuple[float, list[float]]:
    """The total weight, and for each target the smallest value whose cumulative weight reaches it; [] of no weight."""
    total, targets, heads = 0.0, [0.0], [0]
    for shift in range(64 - _DIGIT_BITS, -1, -_DIGIT_BITS):
        mass, candidates = _count(passes, shift, set(heads), kept)
        if shift == 64 - _DIGIT_BITS:
            total = float(mass[0].sum())
            if total == 0.0:
                return 0.0, []
            targets = targets_of(total)
            heads = [0] * len(targets)
        if candidates is not None:
            return total, [_reached(*candidates[head], target) for head, target in zip(heads, targets, strict=True)]
        for i, (head, target) in enumerate(zip(heads, targets, strict=True)):
            cumulative = np.cumsum(mass[head])
            # Rounding may leave the target above the sum: then the last digit present has it.
            digit = min(int(np.searchsorted(cumulative, target)), int(np.flatnonzero(mass[head])[-1]))
            targets[i] = target - (float(cumulative[digit - 1]) if digit else 0.0)
            heads[i] = head << _DIGIT_BITS | digit
    return total, _values(np.array(heads, dtype=np.uint64)).tolist()


def _count(
    passes: Passes, shift: int, heads: set[int], kept: int
) -> tuple[dict[int, Floats], dict[int, tuple[Floats, Floats]] | None]:
    """Weight by next digit of the values under each head, and the values and weights themselves if at most ``kept``."""
    mass = {head: np.zeros(_DIGITS) for head in heads}
    parts: dict[int, list[tuple[Floats, Floats]]] | None = {head: [] for head in heads}
    held = 0
    for values, weights in passes():
        digits = _keys(values) >> np.uint64(shift)
        for head in heads:
            inside = (digits >> np.uint64(_DIGIT_BITS) == head) & (weights > 0.0)
            digit = (digits[inside] & np.uint64(_DIGITS - 1)).astype(np.intp)
            mass[head] += np.bincount(digit, weights[inside], _DIGITS)
            held += len(digit)
            if held > kept:
                parts = None
            if parts is not None:
                parts[head].append((values[inside], weights[inside]))
    if parts is None:
        return mass, None
    return mass, {head: (_joined(pairs, 0), _joined(pairs, 1)) for head, pairs in parts.items()}


def _joined(pairs: list[tuple[Floats, Floats]], side: int) -> Floats:
    return np.concatenate([pair[side] for pair in pairs]) if pairs else np.zeros(0)


def _reached(values: Floats, weights: Floats, target: float) -> float:
    order = np.argsort(values, kind="stable")
    position = int(np.searchsorted(np.cumsum(weights[order]), target))
    return float(values[order[min(position, len(order) - 1)]])


def _keys(values: Floats) -> NDArray[np.uint64]:
    bits = (values + 0.0).view(np.uint64)  # + 0.0 makes one zero of the two
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: NDArray[np.uint64]) -> Floats:
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
