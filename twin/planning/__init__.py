"""The studies that take many runs, joined to the simulator, to files and to worker processes."""

from twin.planning.compare import Risk, compare, risk
from twin.planning.sensitivity import sensitivity
from twin.planning.sweep import SweepOutcome, sweep
from twin.planning.trials import DEFAULT_REPLICAS

__all__ = ["DEFAULT_REPLICAS", "Risk", "SweepOutcome", "compare", "risk", "sensitivity", "sweep"]
