"""Which guess must be measured first: each guessed default moved, on common random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from twin import api
from twin.analysis.intervals import interval
from twin.analysis.metrics import metric_named
from twin.errors import TwinError
from twin.io import study_directory
from twin.io.study_directory import Study
from twin.planning.trials import (
    DEFAULT_REPLICAS,
    MOST_REPLICAS,
    Metrics,
    Origin,
    Source,
    Trial,
    Watch,
    identity,
    measured_all,
)
from twin.report.run_summary import comes_and_goes
from twin.scenario import resolved, scenario_hash
from twin.scenario.keys import keys
from twin.studies.sensitivity import SHARE, moves, sensitivity_table
from twin.studies.workers import workers


def sensitivity(
    source: Source,
    out: str | Path,
    *,
    metric: str | None = None,
    overrides: Sequence[str] = (),
    replicas: int = DEFAULT_REPLICAS,
    processes: int | None = None,
    force: bool = False,
    watch: Watch | None = None,
) -> Study:
    """How far a metric swings when each guessed default moves by a quarter, down and up, on common random numbers.

    Args:
        metric: name of the metric, a single number; default goodput, or full-speed work done where jobs come and go.
        source, out, overrides, replicas, processes, force, watch: as in ``compare``.
    Raises:
        ScenarioError: faults of the scenario.
        TwinError: an unknown metric, a scenario without a guess, or a run that fails.
    """
    count = api.whole(replicas, "replicas", 1, MOST_REPLICAS)
    asked = None if metric is None else metric_named(metric).name
    origin = Origin(source, tuple(overrides))
    scenario = origin.scenario
    planned = moves(scenario, origin.changed)
    if not planned:
        raise TwinError(f"{scenario.name}: none of its numbers is a guessed default, so there is no guess to move")
    to_run = [scenario, *(move.scenario for move in planned if move.scenario is not None)]
    trials = [Trial(each, replica) for each in to_run for replica in range(count)]
    with study_directory.writer(out, force=force) as folder, workers(processes, None) as pool:
        results = measured_all(trials, pool, watch)
        name = asked or ("compute_share" if comes_and_goes(results[0]) else "goodput")
        values = [_single(metrics, name) for metrics in results]
        base, *moved = [values[start : start + count] for start in range(0, len(values), count)]
        units = {key.path: key.unit for key in keys()}
        manifest = identity("sensitivity", scenario, count) | {
            "metric": name,
            "share": SHARE,
            "base": asdict(interval([value for value in base if value is not None])),
            "scenario": resolved(scenario),
            "scenario_hash": scenario_hash(scenario),
        }
        study_directory.finish(folder, manifest, {"sensitivity": sensitivity_table(base, planned, moved, units)})
    return study_directory.open_study(out)


def _single(metrics: Metrics, name: str) -> float | None:
    value = metrics[name]
    return float(value) if isinstance(value, int | float) else None
