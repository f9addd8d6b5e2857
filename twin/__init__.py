"""racktwin: a discrete-event digital twin of a datacenter that runs large training jobs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twin.api import Recording, estimate, load, measure, open_run, run, simulate
    from twin.errors import LaunchLogError, RunDirectoryError, ScenarioError, StalledError, TwinError
    from twin.planning import compare, sensitivity, sweep
    from twin.scenario import Scenario

__all__ = [
    "LaunchLogError",
    "Recording",
    "RunDirectoryError",
    "Scenario",
    "ScenarioError",
    "StalledError",
    "TwinError",
    "compare",
    "estimate",
    "load",
    "measure",
    "open_run",
    "run",
    "sensitivity",
    "simulate",
    "sweep",
]

_STUDIES = ("compare", "sensitivity", "sweep")


def __getattr__(name: str) -> Any:
    """The public names, imported when they are first asked for: ``import twin`` alone costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "twin.errors" if name.endswith("Error") else "twin.scenario" if name == "Scenario" else "twin.api"
    home = "twin.planning" if name in _STUDIES else home
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
