"""Variants compared on common random numbers, if asked for at equal risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from twin import api
from twin.analysis.metrics import metric_named
from twin.errors import TwinError
from twin.io import study_directory, variations
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
from twin.report.run_summary import changes as changes_in_words
from twin.report.run_summary import comes_and_goes
from twin.scenario import Scenario, resolved, scenario_hash
from twin.studies.compare import HEADLINE, comparison_table, replicas_table
from twin.studies.match import Match, matched
from twin.studies.metric_values import metric_value
from twin.studies.variants import (
    Cast,
    Changes,
    cast,
    is_tunable,
    with_a_realistic_variant,
    with_its_caps_at,
)
from twin.studies.workers import Workers, workers


@dataclass(frozen=True, slots=True)
class Risk:
    """What all variants are to run alike: the mean of a metric over the replicas.

    Args:
        metric: its name.
        target: in its unit.
    """

    metric: str
    target: float


def risk(text: str) -> Risk:
    """What ``--match`` says: ``over_cap_s=60``, ``energy_over_cap_j=3.6e6``.

    Raises:
        TwinError: not METRIC=VALUE, no such metric, or no value of it.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise TwinError(f"--match {text}: must be METRIC=VALUE; write it as in over_cap_s=60")
    metric = metric_named(name.strip())
    target = metric_value(metric, value, f"--match {text}")
    if target < 0.0:
        raise TwinError(f"--match {text}: must be at least 0; no run has less")
    return Risk(metric.name, target)


def compare(
    source: Source,
    out: str | Path,
    *,
    vary: Sequence[str] = (),
    overrides: Sequence[str] = (),
    replicas: int = DEFAULT_REPLICAS,
    baseline: str | None = None,
    only: bool = False,
    match: Risk | None = None,
    metrics: Sequence[str] = (),
    processes: int | None = None,
    traces: bool = True,
    force: bool = False,
    watch: Watch | None = None,
    tuning: Callable[[str], None] | None = None,
) -> Study:
    """Compare the variants of a scenario on common random numbers: paired differences with intervals.

    Replica r of every variant meets the same jitter and launches, so that a difference is the variant's doing.

    Args:
        source: a scenario file, or a mapping with its keys.
        out: the folder of the study, which appears complete or not at all.
        vary: ``KEY=[VALUE, ...]`` texts, whose combinations are the variants in place of those of the scenario.
        overrides: as in ``load``; set on every variant.
        replicas: independent repetitions.
        baseline: the variant that the others are compared with; default the scenario as written, or the first varied.
        only: add no realistic variant of a baseline whose control is idealised.
        match: tune the caps of each variant to this risk first.
        metrics: names of the metrics to put first; default those of ``HEADLINE``.
        processes: worker processes; default one a core, and none for a small study. A script has to begin its work
            under ``if __name__ == "__main__":``, since each of them imports it.
        traces: keep the tables of replica 0 of each variant.
        force: replace a study that is there.
        watch: told the runs done and those there will be.
        tuning: told the name of each variant whose caps are about to be tuned.
    Raises:
        ScenarioError: faults of the scenario or of a variant.
        TwinError: nothing to compare, unknown names, or a run that fails.
    """
    count = api.whole(replicas, "replicas", 1, MOST_REPLICAS)
    asked = [metric_named(name).name for name in metrics]
    origin = Origin(source, tuple(overrides))
    found, scenarios = _variants(origin, variations.varied(vary), baseline, only)
    with study_directory.writer(out, force=force) as folder, workers(processes, None) as pool:
        tuned: dict[str, Match] = {}
        if match is not None:
            for name, scenario in scenarios.items():
                if tuning is not None:
                    tuning(name)
                tuned[name], scenarios[name] = _tuned(origin, found.changes[name], scenario, match, count, pool)
        places = _places(scenarios) if traces else {}
        trials = [
            Trial(scenario, replica, folder.path / places[name] if replica == 0 and traces else None)
            for name, scenario in scenarios.items()
            for replica in range(count)
        ]
        numbers = measured_all(trials, pool, watch)
        results = {name: numbers[place * count : (place + 1) * count] for place, name in enumerate(scenarios)}
        manifest = identity("comparison", scenarios[found.baseline], count) | {
            "baseline": found.baseline,
            "added": found.added,
            "headline": asked or _headline(results[found.baseline][0]),
            "match": None if match is None else asdict(match),
            "variants": [_variant_as_told(name, each, tuned.get(name)) for name, each in scenarios.items()],
            "traces": places,
        }
        tables = {"comparison": comparison_table(results, found.baseline), "replicas": replicas_table(results)}
        study_directory.finish(folder, manifest, tables)
    return study_directory.open_study(out)


def _variants(
    origin: Origin, varied: Mapping[str, Changes], baseline: str | None, only: bool
) -> tuple[Cast, dict[str, Scenario]]:
    """Who is compared, and their scenarios by name."""
    found = cast(origin.scenario.variants, varied, baseline)
    scenarios = origin.scenarios(found.changes)
    if not only:
        found = with_a_realistic_variant(found, scenarios)
        if found.added is not None:
            scenarios |= origin.scenarios({found.added: found.changes[found.added]})
    return found, scenarios


def _tuned(
    origin: Origin, changes: Changes, scenario: Scenario, risk: Risk, count: int, pool: Workers
) -> tuple[Match, Scenario]:
    """How the caps of a variant were tuned, and the scenario that came of it."""

    def at(factor: float) -> Scenario | None:
        return origin.changed(changes | with_its_caps_at(scenario, factor))

    def risk_at(factor: float) -> float | None:
        return None if (candidate := at(factor)) is None else _mean(risk.metric, candidate, count, pool)

    if not is_tunable(scenario):
        return Match(1.0, _mean(risk.metric, scenario, count, pool), "untuned"), scenario
    found = matched(risk_at, risk.target)
    best = at(found.factor)
    assert best is not None  # it has been measured
    return found, best


def _places(scenarios: Mapping[str, Scenario]) -> dict[str, str]:
    """Where the traces of each variant go, below the folder of the study."""
    found: dict[str, str] = {}
    for number, name in enumerate(scenarios):
        place = f"{study_directory.TRACES}/{study_directory.file_name(name)}"
        found[name] = place if place not in found.values() else f"{place}-{number}"
    return found


def _headline(baseline: Metrics) -> list[str]:
    """The metrics to put first: of jobs that come and go, goodput alone would tell of launches and ends."""
    return [*(("compute_share", "job_stretch_mean") if comes_and_goes(baseline) else ()), *HEADLINE]


def _mean(metric: str, scenario: Scenario, count: int, pool: Workers) -> float:
    """Mean of a metric over so many replicas."""
    numbers = measured_all([Trial(scenario, replica) for replica in range(count)], pool, None)
    values = [metrics[metric] for metrics in numbers]
    known = [float(value) for value in values if isinstance(value, int | float)]
    if len(known) < count:
        raise TwinError(f"--match {metric}: is not known of every run; match a number that is")
    return fmean(known)


def _variant_as_told(name: str, scenario: Scenario, tuned: Match | None) -> dict[str, Any]:
    return {
        "name": name,
        "changes": changes_in_words({"overrides": scenario._overrides}),
        "scenario": resolved(scenario),
        "scenario_hash": scenario_hash(scenario),
        "warnings": scenario.warnings(),
        "match": None if tuned is None else asdict(tuned),
    }
