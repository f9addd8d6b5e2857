"""Variants that met the same luck -> what replicas say of each metric, and of its difference to the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from twin.analysis.intervals import interval, paired_difference
from twin.analysis.metrics import LISTS, METRICS, Value

Metrics = Mapping[str, Value]
Key = tuple[str, str]  # of a number: its metric, and the feeder, group or k that it is of; "" for the whole

HEADLINE = (
    "goodput",
    "time_over_cap_s",
    "energy_over_cap_j",
    "checkpoint_duration_p99_s",
    "throttled_share",
    "stall_share",
    "peak_power_w",
)


def _field(name: str, kind: pa.DataType, meaning: str, unit: str = "") -> pa.Field:
    return pa.field(name, kind, metadata={"unit": unit, "meaning": meaning})


_OWN = "that of the metric"
COMPARISON_SCHEMA = pa.schema(
    [
        _field("variant", pa.string(), "name of the variant"),
        _field("metric", pa.string(), "name of the metric, as in run.json"),
        _field("item", pa.string(), "the feeder, group or number of writers that it is of; empty for the whole"),
        _field("unit", pa.string(), "unit of the values"),
        _field("n", pa.int32(), "replicas that know the value", "1"),
        _field("mean", pa.float64(), "mean over the replicas", _OWN),
        _field("low", pa.float64(), "lower end of its interval; null with one replica", _OWN),
        _field("high", pa.float64(), "upper end of its interval; null with one replica", _OWN),
        _field("difference", pa.float64(), "mean of variant less baseline, replica by replica", _OWN),
        _field("difference_low", pa.float64(), "lower end of its interval", _OWN),
        _field("difference_high", pa.float64(), "upper end of its interval", _OWN),
        _field(
            "verdict", pa.string(), "tie (every difference is 0), higher, lower, open (the interval holds 0), unknown"
        ),
        _field("replicas_needed", pa.int64(), "if open: replicas that would tell, should the scatter stay", "1"),
    ]
)
REPLICAS_SCHEMA = pa.schema(
    [
        _field("variant", pa.string(), "name of the variant"),
        _field("replica", pa.int32(), "number of the replica: the luck it met", "1"),
        _field("metric", pa.string(), "name of the metric, as in run.json"),
        _field("item", pa.string(), "the feeder, group or number of writers that it is of; empty for the whole"),
        _field("value", pa.float64(), "value of the replica; null where it is not known", _OWN),
    ]
)


def comparison_table(metrics: Mapping[str, Sequence[Metrics]], baseline: str) -> pa.Table:
    """One row per variant and number, in the order of ``METRICS``, the baseline first.

    Args:
        metrics: of the replicas of each variant, by its name; the same replicas in the same order for all.
        baseline: name of the variant that the others are compared with.
    """
    samples = {name: _numbers(replicas) for name, replicas in metrics.items()}
    count = len(metrics[baseline])
    rows: list[dict[str, Any]] = []
    for name in (baseline, *(name for name in metrics if name != baseline)):
        for key in _in_order(samples):
            values = samples[name].get(key, [_beyond(key)] * count)
            found = interval([value for value in values if value is not None])
            row = dict(zip(("metric", "item"), key, strict=True)) | {
                "variant": name,
                "unit": METRICS[key[0]].unit,
                "n": found.n,
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "verdict": "",
            }
            if name != baseline:
                row |= _difference(samples[baseline].get(key, [_beyond(key)] * count), values)
            rows.append(row)
    return pa.Table.from_pylist(rows, COMPARISON_SCHEMA)


def replicas_table(metrics: Mapping[str, Sequence[Metrics]]) -> pa.Table:
    """The values behind it: one row per variant, replica and number."""
    samples = {name: _numbers(replicas) for name, replicas in metrics.items()}
    rows = [
        {"variant": name, "replica": replica, "metric": key[0], "item": key[1], "value": value}
        for name, numbers in samples.items()
        for replica in range(len(metrics[name]))
        for key, value in ((key, values[replica]) for key, values in numbers.items())
    ]
    return pa.Table.from_pylist(rows, REPLICAS_SCHEMA)


def _difference(baseline: Sequence[float | None], variant: Sequence[float | None]) -> dict[str, Any]:
    found = paired_difference(baseline, variant)
    return {
        "difference": found.interval.mean,
        "difference_low": found.interval.low,
        "difference_high": found.interval.high,
        "verdict": found.verdict,
        "replicas_needed": found.replicas_needed,
    }


def _numbers(replicas: Sequence[Metrics]) -> dict[Key, list[float | None]]:
    """Every number of the replicas: its value in each; None where it is not known."""
    found: dict[Key, list[float | None]] = {}
    for replica, metrics in enumerate(replicas):
        for key, value in _single_numbers(metrics):
            found.setdefault(key, [_beyond(key)] * len(replicas))[replica] = value
    return {key: values for key, values in found.items() if any(value is not None for value in values)}


def _beyond(key: Key) -> float | None:
    """What a replica has that does not tell a number: no time with more writers than it ever had."""
    return 0.0 if key[0] in LISTS else None


def _single_numbers(metrics: Metrics) -> Iterator[tuple[Key, float | None]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from (((name, item), inner) for item, inner in value.items())
        elif isinstance(value, list):
            yield from (((name, str(k)), share) for k, share in enumerate(value, 1))
        else:
            yield (name, ""), None if value is None else float(value)


def _in_order(samples: Mapping[str, Mapping[Key, Any]]) -> list[Key]:
    """The numbers that any variant has: by metric, and as they first came."""
    found = dict.fromkeys(key for numbers in samples.values() for key in numbers)
    places = {name: place for place, name in enumerate(METRICS)}
    return sorted(found, key=lambda key: (places[key[0]], int(key[1]) if key[0] in LISTS else 0))
