"""An independent integrator of the model: every rate and every remainder recomputed at every event, no virtual clocks.

O(jobs) per event and meant for small fleets over few cycles. It shares the scenario, the jobs made of it (with their
places on the feeders) and the draws of chance with the twin, but no rate, speed or time. Ends within a few roundings of
each other count as one instant, which a twin must not do and an oracle may.
"""

from tests.oracle.course import Course, Cycle
from tests.oracle.fleet import NeverMovesError, Trajectory, integrate

__all__ = ["Course", "Cycle", "NeverMovesError", "Trajectory", "integrate"]
