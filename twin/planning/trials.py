"""The runs of a study: the scenarios they are made of, their summary numbers, and what tells the study from others."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from twin import api
from twin.analysis.intervals import METHOD
from twin.analysis.metrics import Value
from twin.errors import ScenarioError
from twin.io import scenario_files
from twin.scenario import Scenario
from twin.studies.variants import Changes
from twin.studies.workers import Workers

DEFAULT_REPLICAS = 20
MOST_REPLICAS = 100_000

Source = str | Path | Mapping[str, Any]
Metrics = Mapping[str, Value]
Watch = Callable[[int, int], None]
"""Called now and then with the runs done and those there will be."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a study, to be measured.

    Args:
        folder: where its tables go; None to keep none.
    """

    scenario: Scenario
    replica: int
    folder: Path | None = None


def measured(trial: Trial) -> Metrics:
    """The summary numbers of a trial; a function of its own, so that a worker process can be asked for it."""
    if trial.folder is None:
        return api.measure(trial.scenario, trial.replica)
    # A trace that is there was left by a run whose result was lost.
    metrics: Metrics = api.run(trial.scenario, trial.folder, replica=trial.replica, force=True).manifest["metrics"]
    return metrics


def measured_all(trials: Sequence[Trial], pool: Workers, watch: Watch | None) -> list[Metrics]:
    """The summary numbers of all trials, in their order."""
    found: dict[int, Metrics] = {}
    for number, result in pool.map(measured, trials):
        if isinstance(result, Exception):
            raise result
        found[number] = result
        if watch is not None:
            watch(len(found), len(trials))
    return [found[number] for number in range(len(trials))]


@dataclass(frozen=True, slots=True)
class Origin:
    """What all scenarios of a study are made of."""

    source: Source
    overrides: tuple[str, ...]

    @property
    def scenario(self) -> Scenario:
        """The scenario as written, with the overrides."""
        return scenario_files.family(self.source, {}, self.overrides).base

    def scenarios(self, changes: Mapping[str, Changes]) -> dict[str, Scenario]:
        """A scenario for each of the changes, by name.

        Raises:
            ScenarioError: the faults of all that cannot be.
        """
        family = scenario_files.family(self.source, changes, self.overrides)
        if family.refused:
            raise ScenarioError([fault for error in family.refused.values() for fault in error.faults])
        return family.members

    def changed(self, changes: Changes) -> Scenario | None:
        """The scenario with these changes; None if it cannot be."""
        return scenario_files.family(self.source, {"": changes}, self.overrides).members.get("")


def identity(kind: str, scenario: Scenario, replicas: int) -> dict[str, Any]:
    """What opens the manifest of a study."""
    return {
        "kind": kind,
        "name": scenario.name,
        "question": scenario.question,
        "answer": scenario.answer if kind == "comparison" and not scenario._overrides else None,
        "seed": scenario.seed,
        "replicas": replicas,
        "method": METHOD,
        "versions": {"python": platform.python_version(), "racktwin": version("racktwin")},
        "overrides": list(scenario._overrides),
    }
