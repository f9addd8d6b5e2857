"""The studies that take many runs, joined to the simulator, to files and to worker processes."""

from twin.planning.comparison import Risk, compare, risk
from twin.planning.grid_sweep import SweepOutcome, sweep
from twin.planning.guesses import sensitivity
from twin.planning.trials import DEFAULT_REPLICAS

__all__ = ["DEFAULT_REPLICAS", "Risk", "SweepOutcome", "compare", "risk", "sensitivity", "sweep"]
