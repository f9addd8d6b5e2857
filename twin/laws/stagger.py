"""Whether a fleet without jitter leaves its jobs room to keep their phases for ever."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isfinite

_ALIKE = 1e-9  # relative; windows that drift by less stay apart for 1e9 cycles
_LONGEST = 1000  # cycles after which a common rhythm of two jobs repeats; a longer one is none
_MOST_RHYTHMS = 100  # different rhythms that are worth trying to fit together


def can_keep_phases(compute_s: Sequence[float], write_s: Sequence[float], speed: float, at_once: float) -> bool:
    """Whether the write windows may pass each other for ever: False for a fleet that is sure to mix.

    While windows do not disturb each other, job i fires every T_i + d_i u on the clock of the computing jobs, and each
    window takes d_i u of it. Two trains of windows meet at every phase unless the greatest common divisor of their
    periods holds a window of each; all together must fill no more than the whole time. For equal jobs, and windows that
    never overlap, both conditions are sufficient as well.

    Args:
        compute_s: T_i, full-speed work between checkpoints of each job [s].
        write_s: d_i, lone write time of each job [s].
        speed: u, of the others while one job writes [-].
        at_once: lone writes that the store serves in the time of one, without mixing their phases [-], at least 1.
    """
    windows_s = [d_s * speed for d_s in write_s]
    trains = Counter((t_s + w_s, w_s / at_once) for t_s, w_s in zip(compute_s, windows_s, strict=True))
    if len(trains) > _MOST_RHYTHMS:
        return False
    if sum(count * window_s / period_s for (period_s, window_s), count in trains.items()) > 1.0 + _ALIKE:
        return False
    pairs = combinations_with_replacement(trains, 2)
    return all(_can_miss(one, other) for one, other in pairs if one is not other or trains[one] > 1)


def _can_miss(one: tuple[float, float], other: tuple[float, float]) -> bool:
    (period_s, window_s), (other_period_s, other_window_s) = one, other
    needed_s = window_s + other_window_s
    fitting = other_period_s / needed_s * (1.0 + _ALIKE) if needed_s > 0.0 else _LONGEST
    ratio = period_s / other_period_s
    if fitting < 1.0 or not isfinite(ratio):
        return False
    nearest = Fraction(ratio).limit_denominator(int(min(fitting, _LONGEST)))
    return abs(nearest - ratio) <= _ALIKE * ratio
