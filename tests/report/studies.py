"""Small studies on disk for the pages of the tests: tables made by hand, traces of real runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import twin
from tests.report.fleets import FLEET, run_of
from twin.analysis.intervals import METHOD
from twin.recording import Recording
from twin.studies.compare import comparison_table
from twin.studies.sensitivity import SENSITIVITY_SCHEMA

ODD = '<b>"delayed" & 50 %</b> é \u202e'  # a name that tries to be more than text
LONG = "delayed-" + "x" * 192
HEADLINE = ["goodput", "time_over_cap_s", "energy_over_cap_j", "checkpoint_duration_p99_s", "peak_power_w"]
LLM = FLEET["jobs"][0]
TREE = {
    "cap": "3.5 kW",
    "feeders": {
        "row-1": {"cap": "1.6 kW", "controller": {"policy": "delayed", "delay": "3 s"}},
        "row-2": {"cap": "1.6 kW", "controller": {"policy": "lagged", "tau": "4 s"}},
    },
}


@dataclass(frozen=True)
class Study:
    """What a page needs of a study."""

    manifest: dict[str, Any]
    table: pa.Table
    traces: Mapping[str, Recording] = field(default_factory=dict)


def tree_of(folder: Path, **changes: Any) -> Path:
    """A run with two feeders below the site, both at times above their caps."""
    return run_of(folder, jobs=[LLM | {"feeders": {"rotate": ["row-1", "row-2"]}}], power=TREE, **changes)


def names_of(count: int) -> list[str]:
    """Names of variants, some of them odd."""
    return ["as written", ODD, LONG, *(f"delay-{number}" for number in range(3, count))][:count]


def runs_of(folder: Path, count: int) -> dict[str, Path]:
    """Runs by name, with more and more delay; they differ in length, and two in their jobs."""
    found = {}
    for number, name in enumerate(names_of(count)):
        power = {"cap": "3.2 kW", "controller": {"policy": "delayed", "delay": f"{number} s"} if number else {}}
        jobs = [LLM | {"count": 6 if number == 1 else 4, "launch": {"every": "20 s"}}]
        place = folder / f"run-{number}"
        found[name] = run_of(place, jobs=jobs, power=power, stop={"cycles": 4 + 2 * (number % 5)})
    return found


def comparison_of(folder: Path, count: int, replicas: int = 4) -> Study:
    """A comparison of so many variants: the first one the baseline, the last one a tie; it is in the folder too."""
    runs = runs_of(folder / "traces", count)
    traces = {name: twin.open_run(run) for name, run in runs.items()}
    rng = Random(7)  # noqa: S311
    luck = [rng.gauss(0.0, 1.0) for _ in range(replicas)]
    own = [[rng.gauss(0.0, 0.3) for _ in range(replicas)] for _ in range(count)]
    results = {
        name: [
            {
                "goodput": 0.8 - 0.004 * number + 0.01 * (luck[replica] + own[number][replica] * (number < count - 1)),
                "peak_writers": 3,
                "time_over_cap_s": 20.0 * number,
                "energy_over_cap_j": 1e5 * number * (1.0 + 0.1 * luck[replica]),
                "checkpoint_duration_p99_s": None if number == 1 and replica == 0 else 30.0 + luck[replica],
                "peak_power_by_feeder_w": {"site": 4000.0, "row <1>": 2000.0 + number},
                "writers_share_at_least": [0.2, 0.01] if number % 2 else [0.2],
            }
            for replica in range(replicas)
        ]
        for number, name in enumerate(runs)
    }
    results[list(runs)[-1]] = [dict(each) for each in results[next(iter(runs))]]
    manifest = identity("comparison", replicas) | {
        "baseline": next(iter(runs)),
        "added": None,
        "headline": HEADLINE,
        "match": {"metric": "time_over_cap_s", "target": 60.0},
        "variants": [
            {
                "name": name,
                "changes": [f"power.controller.delay = {number} s"] * (number > 0),
                "scenario": traces[name].manifest["scenario"],
                "match": {"factor": 1.0 - 0.01 * number, "risk": 60.0, "outcome": "met"},
            }
            for number, name in enumerate(runs)
        ],
        "traces": {name: f"traces/{run.name}" for name, run in runs.items()},
    }
    return saved(folder, "comparison", Study(manifest, comparison_table(results, next(iter(runs))), traces))


def sensitivity_of(folder: Path, count: int, replicas: int = 8) -> Study:
    """A sensitivity study of so many guesses: each swings less than the one before, the last one cannot be moved."""
    rows = []
    for number in range(count):
        swing = 0.05 / (1 + number)
        is_moved = number < count - 1
        rows.append(
            {
                "key": ODD if number == 1 else f"jobs[].checkpoint.{'x' * 40 * (number == 2)}size-{number}",
                "mark": "guess",
                "source": "per <cluster>",
                "value": 4e10,
                "unit": "B",
                "note": "" if is_moved else "no room",
            }
            | (
                {
                    "low_value": 3e10,
                    "high_value": 5e10,
                    "metric_at_low": 0.8 + swing / 2,
                    "metric_at_high": 0.8 - swing / 2,
                    "difference_low": swing / 2,
                    "difference_low_low": swing / 2 - 0.006,
                    "difference_low_high": swing / 2 + 0.006,
                    "difference_high": -swing / 2,
                    "difference_high_low": -swing / 2 - 0.004,
                    "difference_high_high": -swing / 2 + 0.004,
                    "swing": swing,
                }
                if is_moved
                else {}
            )
        )
    base = {"n": replicas, "mean": 0.8, "low": 0.79, "high": 0.81, "deviation": 0.01}
    manifest = identity("sensitivity", replicas) | {"metric": "goodput", "share": 0.25, "base": base}
    table = pa.Table.from_pylist(rows, SENSITIVITY_SCHEMA)
    return saved(folder, "sensitivity", Study(manifest, table))


def sweep_of(folder: Path, axes: Mapping[str, tuple[str, list[Any]]], replicas: int = 3, sample: int = 0) -> Study:
    """A sweep over the axes, by key: unit and values; the second point knows nothing, the third one failed.

    Args:
        sample: points drawn at random between the first and the last value of each axis, in place of a grid.
    """
    rng = Random(3)  # noqa: S311
    points: list[list[Any]] = [[]]
    for _, values in axes.values():
        points = [[*point, value] for point in points for value in values]
    if sample:
        points = [[rng.uniform(values[0], values[-1]) for _, values in axes.values()] for _ in range(sample)]
    rows = []
    for number, point in enumerate(points):
        size = sum(value if not isinstance(value, str) else len(value) for value in point)
        known = number != 1
        if number == 2:  # it failed
            continue
        rows += [
            dict(zip(axes, point, strict=True))
            | {
                "point": f"{number:016x}",
                "replica": replica,
                "goodput": 0.9 - 0.02 * number / len(points) + rng.gauss(0.0, 0.004) if known else None,
                "time_over_cap_s": 10.0 * number + replica if known else None,
                "energy_over_cap_j": None,
                "peak_power_w": 3e6 + size % 1000.0 if known else None,
            }
            for replica in range(replicas)
        ]
    manifest = identity("sweep", replicas) | {
        "axes": [{"key": key, "unit": unit, "values": values} for key, (unit, values) in axes.items()],
        "sample": sample or None,
        "points": [{"id": f"{number:016x}", "values": point, "fault": ""} for number, point in enumerate(points)],
    }
    return saved(folder, "sweep", Study(manifest, pa.Table.from_pylist(rows)))


def identity(kind: str, replicas: int) -> dict[str, Any]:
    """What opens the manifest of a study."""
    return {
        "format": 1,
        "kind": kind,
        "name": "small <study>",
        "question": "Which & why?",
        "answer": "None.",
        "seed": 0,
        "replicas": replicas,
        "method": METHOD,
        "versions": {"python": "3", "racktwin": "0"},
        "overrides": [],
    }


def saved(folder: Path, table: str, study: Study) -> Study:
    """The study, written to its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.json").write_text(json.dumps(study.manifest))
    pq.write_table(study.table, folder / f"{table}.parquet")
    return study
