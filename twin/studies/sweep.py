"""Points of a sweep: their names, which of their runs are still to do, and the table of all results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa

from twin.analysis.metrics import LISTS, METRICS, Metric, Value
from twin.scenario import Scenario, hash_of, resolved

_WORDS = ("name", "question", "answer")  # of a scenario: they change no number
_ID_DIGITS = 16
_COUNTS = ("jobs", "jobs_done", "peak_nodes", "checkpoints_written", "peak_writers", "peak_waiting", "excursions")

Result = Mapping[str, Value]
Key = tuple[str, int]  # of a result: the point's name, and the replica


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep.

    Args:
        id: hash of all that has a say in its numbers; points that are alike share their results.
        values: what each axis is set to, in SI or in words, as the scenario has it.
        scenario: None for a combination that no scenario can have.
        fault: why, in that case.
    """

    id: str
    values: tuple[Any, ...]
    scenario: Scenario | None
    fault: str = ""


def physics_hash(scenario: Scenario, *more: str) -> str:
    """SHA-256 of all values of a scenario that have a say in its numbers, in hexadecimal.

    Args:
        more: what else has: the version of the model, the hash of a launch log.
    """
    numbers = {key: value for key, value in resolved(scenario).items() if key not in _WORDS}
    return sha256("\0".join([hash_of(numbers), *more]).encode()).hexdigest()


def point_id(scenario: Scenario, *more: str) -> str:
    """The name of a point; see ``physics_hash``."""
    return physics_hash(scenario, *more)[:_ID_DIGITS]


def to_do(points: Sequence[Point], replicas: int, done: set[Key], failed: set[Key]) -> list[tuple[Scenario, Key]]:
    """The runs that are neither done nor failed, in the order of the points; points that are alike run once."""
    found: dict[Key, Scenario] = {}
    for point in points:
        if point.scenario is not None:
            keys = ((point.id, replica) for replica in range(replicas))
            found |= {key: point.scenario for key in keys if key not in done and key not in failed}
    return [(scenario, key) for key, scenario in found.items()]


def metric_fields() -> list[pa.Field]:
    """A column for each metric, its unit and definition in the metadata."""
    return [pa.field(name, _kind(metric), metadata=_metadata(metric)) for name, metric in METRICS.items()]


def _kind(metric: Metric) -> pa.DataType:
    if metric.is_by_group or metric.is_by_feeder:
        return pa.map_(pa.string(), pa.float64())
    if metric.name in LISTS:
        return pa.list_(pa.float64())
    return pa.int64() if metric.name in _COUNTS else pa.float64()


def _metadata(metric: Metric) -> dict[str, str]:
    return {"unit": metric.unit, "meaning": metric.definition}


ITEMS = "by_item"  # column of a result


def result_schema() -> pa.Schema:
    """Columns of one result: a number a metric, and one map for all that holds several, by ``METRIC/ITEM``.

    A column each for those would cost more than all the others.
    """
    numbers = [field for field in metric_fields() if not pa.types.is_nested(field.type)]
    return pa.schema([*numbers, pa.field(ITEMS, pa.map_(pa.string(), pa.float64()))])


def as_result(metrics: Result) -> dict[str, Any]:
    """The metrics as a row of the columns of ``result_schema``."""
    items: list[tuple[str, float | None]] = []
    row: dict[str, Any] = {}
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            items += [(f"{name}/", None), *((f"{name}/{item}", inner) for item, inner in value.items())]
        elif isinstance(value, list):
            items += [(f"{name}/", None), *((f"{name}/{k}", inner) for k, inner in enumerate(value, 1))]
        else:
            row[name] = value
    return row | {ITEMS: items}


def metrics_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics of a row that ``as_result`` made, in the order of ``METRICS``."""
    found: dict[str, Any] = dict.fromkeys(METRICS) | {name: value for name, value in row.items() if name != ITEMS}
    for key, value in row[ITEMS]:
        name, _, item = key.partition("/")
        if not item:
            found[name] = [] if name in LISTS else {}
        elif name in LISTS:
            found[name].append(value)
        else:
            found[name][item] = value
    return found


def as_row(metrics: Result) -> dict[str, Any]:
    """The metrics as a row of the columns of ``metric_fields``."""
    return {name: list(value.items()) if isinstance(value, Mapping) else value for name, value in metrics.items()}


def sweep_table(
    axes: Sequence[Mapping[str, str]], points: Sequence[Point], replicas: int, results: Mapping[Key, Result]
) -> pa.Table:
    """One row per point and replica that is done, in their order: the axes, the point, the replica, the metrics.

    Args:
        axes: ``key`` and ``unit`` of each axis.
        results: metrics by point and replica.
    """
    keys = [(point, replica) for point in points for replica in range(replicas) if (point.id, replica) in results]
    columns, fields = [], []
    for number, axis in enumerate(axes):
        kind = _kind_of([point.values[number] for point in points if point.scenario is not None])
        values = [point.values[number] for point, _ in keys]
        columns.append(pa.array(values if kind == pa.float64() else list(map(in_words, values)), kind))
        fields.append(
            pa.field(axis["key"], kind, metadata={"unit": axis["unit"], "meaning": "what the axis is set to"})
        )
    columns += [pa.array([point.id for point, _ in keys]), pa.array([replica for _, replica in keys], pa.int32())]
    fields += [pa.field("point", pa.string()), pa.field("replica", pa.int32())]
    metrics = pa.Table.from_pylist(
        [as_row(results[point.id, replica]) for point, replica in keys], pa.schema(metric_fields())
    )
    return pa.Table.from_arrays([*columns, *metrics.columns], schema=pa.schema([*fields, *metric_fields()]))


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of the table of a sweep as mappings, the maps in them too."""
    maps = [field.name for field in table.schema if pa.types.is_map(field.type)]
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows:
        row |= {name: None if row[name] is None else dict(row[name]) for name in maps}
    return rows


def in_words(value: Any) -> str:
    """The value of an axis of words: as it is, or as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _kind_of(values: Sequence[Any]) -> pa.DataType:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return pa.float64() if numbers else pa.string()
