"""A sweep: every point of a grid or a sample, kept as it is done, so that no finished point ever runs twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Any

from twin import api
from twin.errors import RunDirectoryError, TwinError
from twin.io import scenario_files, sweep_axes
from twin.io.scenario_files import Family
from twin.io.sweep_axes import Axis
from twin.io.sweep_directory import TRACES, Sweep, SweepFolder, read_sweep
from twin.io.variations import value_of
from twin.planning.trials import MOST_REPLICAS, Source, Trial, Watch, identity, measured
from twin.recording import FORMAT_VERSION
from twin.scenario import Scenario, resolved
from twin.studies.sweep import (
    Key,
    Point,
    as_result,
    metrics_of,
    physics_hash,
    point_id,
    result_schema,
    sweep_table,
    to_do,
)
from twin.studies.workers import Workers, workers


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """How a sweep went.

    Args:
        sweep: all results that there are.
        ran: runs done by this call; the others were there.
        failures: axis values, replica and error of each run that failed; no replica for a combination that cannot be.
    """

    sweep: Sweep
    ran: int
    failures: list[tuple[Mapping[str, Any], int | None, str]]


def sweep(
    source: Source,
    out: str | Path,
    *,
    grid: Sequence[str],
    sample: str | None = None,
    overrides: Sequence[str] = (),
    variant: str | None = None,
    replicas: int = 1,
    scheduler: str | None = None,
    processes: int | None = None,
    traces: bool = False,
    retry_failed: bool = False,
    watch: Watch | None = None,
) -> SweepOutcome:
    """Run every point of a grid, or of a sample of it, that has no result yet.

    Args:
        source: a scenario file, or a mapping with its keys.
        out: the folder of the sweep; one of the same scenario is gone on with.
        grid: ``KEY=VALUES`` texts: ``power.cap=10MW..16MW:7``, ``jobs.llm.checkpoint.mode=blocking,async``.
        sample: ``sobol:N`` or ``latin:N`` points over the ranges, in place of every combination.
        overrides, variant: as in ``load``; set before the axes.
        replicas: independent repetitions of each point.
        scheduler: address of a running Dask cluster.
        processes: worker processes of this machine; default one a core, and none for a small sweep.
        traces: keep the run directory of each run; on a cluster the workers write it.
        retry_failed: run those again that failed before.
    Raises:
        ScenarioError: faults of the scenario, or of a value that is at fault wherever it stands.
        TwinError: texts that are no axes, a folder of something else, or a scheduler that is not there.
    """
    count = api.whole(replicas, "replicas", 1, MOST_REPLICAS)
    asked = _Asked(source, tuple(overrides), variant)
    base = asked.family({}).base
    points, axes = _points(asked, grid, sample, base.seed)
    folder = SweepFolder(Path(out), physics_hash(base, _log_hash(base)))
    folder.open()
    folder.write_manifest(
        identity("sweep", base, count)
        | {
            "variant": variant,
            "sample": sample,
            "axes": axes,
            "scenario": resolved(base),
            "points": [{"id": point.id, "values": list(point.values), "fault": point.fault} for point in points],
        }
    )
    failed = {} if retry_failed else folder.failures()
    there = folder.results()
    left = to_do(points, count, there, set(failed))
    with workers(processes, scheduler) as pool:
        results = _run(left, folder, pool, failed, watch, traces=traces)
    wanted = dict.fromkeys((point.id, replica) for point in points for replica in range(count))
    results |= {key: metrics_of(folder.result(key)) for key in wanted if key in there}
    folder.write_table(sweep_table(axes, points, count, results))
    return SweepOutcome(read_sweep(folder.folder), len(left), list(_failures(axes, points, count, failed)))


def _run(
    left: Sequence[tuple[Scenario, Key]],
    folder: SweepFolder,
    pool: Workers,
    failed: dict[Key, str],
    watch: Watch | None,
    *,
    traces: bool,
) -> dict[Key, Mapping[str, Any]]:
    """Run what is left and keep each result, and each error in ``failed`` too; the results."""
    trials = [Trial(scenario, key[1], _trace_of(folder, key) if traces else None) for scenario, key in left]
    results: dict[Key, Mapping[str, Any]] = {}
    schema = result_schema()
    try:
        for number, (place, result) in enumerate(pool.map(measured, trials), 1):
            key = left[place][1]
            if isinstance(result, Exception):
                failed[key] = str(result) or type(result).__name__
                folder.fail(key, failed[key])
            else:
                results[key] = result
                folder.keep(key, as_result(result), schema)
            if watch is not None:
                watch(number, len(left))
    except RunDirectoryError:  # which says itself what is kept
        raise
    except TwinError as error:
        raise TwinError(
            f"{error}; {folder.kept} results of this call are kept in {folder.folder}; run the same command again"
        ) from None
    return results


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all points are made of."""

    source: Source
    overrides: tuple[str, ...]
    variant: str | None

    def family(self, changes: Mapping[str, Mapping[str, Any]]) -> Family:
        """The scenarios with these changes, by name."""
        return scenario_files.family(self.source, changes, self.overrides, self.variant, label="--grid")

    def typed(self, axis: Axis) -> Axis:
        """The axis, of whole numbers if its key takes no others."""
        if axis.span is None or not axis.span.may_be_whole:
            return axis
        found = self.family({"whole": {axis.key: int(axis.span.low)}, "half": {axis.key: float(axis.span.low) + 0.5}})
        return replace(axis, is_whole="whole" in found.members and "half" in found.refused)


def _points(
    asked: _Asked, grid: Sequence[str], sample: str | None, seed: int
) -> tuple[list[Point], list[dict[str, str]]]:
    """The points in their order, and the axes: key, unit, and the text that asked for it.

    Raises:
        ScenarioError: faults of a value that is at fault wherever it stands.
        TwinError: no axes, or texts that are none.
    """
    axes = sweep_axes.axes(grid)
    if not axes:
        raise TwinError("--grid: is missing; name a key and its values, as in --grid power.cap=10MW..16MW:7")
    if sample is None:
        drawn = sweep_axes.grid(axes)
    else:
        axes = [asked.typed(axis) for axis in axes]
        drawn = sweep_axes.sample(sample, axes, seed)
    settings = {_in_words(axes, values): values for values in drawn}  # a sample may draw one twice
    changes = {
        name: {axis.key: value_of(axis.key, value) for axis, value in zip(axes, values, strict=True)}
        for name, values in settings.items()
    }
    family = asked.family(changes)
    _refuse_bad_values(family, axes, settings, is_sample=sample is not None)
    units = [setting["unit"] for setting in next(iter(family.settings.values()))]
    if len(units) < len(axes):
        raise TwinError("--grid: two of the axes set one key; write all its values in one --grid")
    told = [{"key": axis.key, "unit": unit, "asked": axis.text} for axis, unit in zip(axes, units, strict=True)]
    return list(_of_family(family, settings)), told


def _of_family(family: Family, settings: Mapping[str, tuple[Any, ...]]) -> Iterator[Point]:
    """A point for each member of the family, and for each combination that was refused."""
    logs: dict[str | None, str] = {}
    for name, values in settings.items():
        if (scenario := family.members.get(name)) is None:
            yield Point("", values, None, "; ".join(str(fault) for fault in family.refused[name].faults))
            continue
        log_file = None if scenario.replay is None else scenario.replay.file
        if log_file not in logs:
            logs[log_file] = _log_hash(scenario)
        scenario._folder = scenario._folder.resolve()  # a worker elsewhere looks for the launch log there
        own = tuple(setting["value"] for setting in family.settings[name])
        yield Point(point_id(scenario, version("racktwin"), str(FORMAT_VERSION), logs[log_file]), own, scenario)


def _refuse_bad_values(
    family: Family, axes: Sequence[Axis], settings: Mapping[str, tuple[Any, ...]], *, is_sample: bool
) -> None:
    """A value at fault wherever it stands is a slip; values that do not go together are points that fail."""
    if not family.refused:
        return
    for place, axis in enumerate(axes):
        bad: dict[str, bool] = {}
        first: dict[str, str] = {}
        for name, values in settings.items():
            value = repr(values[place])
            bad[value] = bad.get(value, True) and name in family.refused
            first.setdefault(value, name)
        slips = [value for value, is_bad in bad.items() if is_bad]
        is_list = axis.span is None and not is_sample
        if len(slips) == len(bad) or (is_list and slips):
            raise family.refused[first[slips[0]]]
    if not family.members:
        raise next(iter(family.refused.values()))


def _in_words(axes: Sequence[Axis], values: Sequence[Any]) -> str:
    """``power.cap=10000000.0 W, seed=1``: the name of a point in an error."""
    return ", ".join(f"{axis.key}={value}" for axis, value in zip(axes, values, strict=True))


def _log_hash(scenario: Scenario) -> str:
    """SHA-256 of the launch log that a scenario replays; empty without one."""
    if scenario.replay is None:
        return ""
    path = scenario._folder / scenario.replay.file
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TwinError(f"{path}: cannot be read: {error.strerror}; check its name and who may read it") from None


def _trace_of(folder: SweepFolder, key: Key) -> Path:
    return folder.folder.resolve() / TRACES / f"point={key[0]}" / f"replica={key[1]}"


def _failures(
    axes: Sequence[Mapping[str, str]], points: Sequence[Point], count: int, failed: Mapping[Key, str]
) -> Iterator[tuple[Mapping[str, Any], int | None, str]]:
    for point in points:
        values = {axis["key"]: value for axis, value in zip(axes, point.values, strict=True)}
        if point.scenario is None:
            yield values, None, point.fault
        for replica in range(count):
            if (point.id, replica) in failed:
                yield values, replica, failed[point.id, replica]
