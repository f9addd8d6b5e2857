"""A small run made by hand, to be written and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from twin.analysis.metrics import METRICS
from twin.recording import FORMAT_VERSION, MemoryTable, Recording, schema
from twin.scenario import hash_of

SCENARIO = {"name": "hand-made", "seed": 0, "storage": {"bandwidth": 1.0}, "power": {}}
PROVENANCE = {"scenario_hash": hash_of(SCENARIO), "seed": "0", "replica": "0", "racktwin": "0.1.0"}


def manifest(rows: dict[str, int], **more: Any) -> dict[str, Any]:
    return {
        "format": FORMAT_VERSION,
        "status": "complete",
        "name": "hand-made",
        "question": None,
        "answer": None,
        "seed": 0,
        "replica": 0,
        "lane": "simpy",
        "versions": {"racktwin": "0.1.0"},
        "scenario": SCENARIO,
        "scenario_hash": PROVENANCE["scenario_hash"],
        "defaults": [],
        "simulated_end_s": 3.0,
        "stopped_by": "time",
        "rows": rows,
        "assumptions": {
            "anonymous": True,
            "broken_by": [],
            "cap_binding_share": None,
            "common_cause": {"in_step_launches": 0, "in_step_triggers": 0},
            "promises": {},
        },
        "metrics": dict.fromkeys(METRICS) | {"horizon_s": 3.0, "jobs": 0},
        "import_report": None,
        "warnings": [],
        **more,
    }


def storage_batch(rows: int) -> pa.RecordBatch:
    """Rows whose times are 0, 1, 2, ... s."""
    counts = pa.array([0] * rows, pa.int32())
    times = pa.array([float(row) for row in range(rows)])
    return pa.RecordBatch.from_arrays([times, counts, counts, counts, times], schema=schema("storage", PROVENANCE))


def event_batch(kinds: list[str]) -> pa.RecordBatch:
    """One incident of each kind, without a job; each batch has a dictionary of its own."""
    size = len(kinds)
    columns = [
        pa.array([0.5] * size),
        pa.array(kinds).dictionary_encode(),
        pa.nulls(size, pa.int32()),
        pa.array(["site"] * size).dictionary_encode(),
        pa.nulls(size, pa.float64()),
        pa.array(["in words"] * size).dictionary_encode(),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema("events", PROVENANCE))


def recording(rows: int = 3, **more: Any) -> Recording:
    """A run that recorded the store, and no incident."""
    storage = MemoryTable(schema("storage", PROVENANCE))
    storage.append(storage_batch(rows))
    events = MemoryTable(schema("events", PROVENANCE))
    return Recording(manifest({"storage": rows, "events": 0}, **more), {"storage": storage, "events": events})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
