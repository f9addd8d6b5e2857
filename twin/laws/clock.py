"""Arithmetic of a virtual clock: the same four operations, in the same order, whoever computes them.

V [work] is the integral of the common rate [work/s]; a user leaves at its mark [work]. Doubles, no fused multiply-add.
Source: the virtual time of processor sharing, as in A. Parekh and R. Gallager, IEEE/ACM ToN 1(3), 1993.
"""

from math import inf


def advanced(v: float, since_s: float, rate: float, now_s: float, head: float) -> float:
    """V at ``now_s`` of a clock that did not ring: never past the smallest mark ``head``."""
    moved = v + (now_s - since_s) * rate
    return moved if moved < head else head


def due_s(now_s: float, v: float, rate: float, head: float) -> float:
    """Instant at which V reaches the smallest mark [s]; inf if it stands still."""
    if rate > 0.0:
        return now_s + (head - v) / rate
    return inf
