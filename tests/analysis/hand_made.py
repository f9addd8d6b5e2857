"""Recordings made by hand, and one whole run worked out on paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import settings

from twin.fleet import Job, jobs_of
from twin.recording import MemoryTable, Recording, schema
from twin.scenario import Scenario

Row = Sequence[float | str | None]

repeatable = settings(max_examples=60, deadline=None, derandomize=True)


def batch_of(table: str, rows: Sequence[Row]) -> pa.RecordBatch:
    """Rows of a table, the columns in the order of ``TABLES``."""
    kind = schema(table, {})
    columns = list(zip(*rows, strict=True)) or [()] * len(kind)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, kind, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=kind)


def recording_of(tables: dict[str, Sequence[Row]], cuts: Sequence[int] = ()) -> Recording:
    """A recording of the rows given, every table cut into batches before the rows numbered ``cuts``."""
    sources = {}
    for name, rows in tables.items():
        sources[name] = MemoryTable(schema(name, {}))
        for start, stop in pairwise([0, *sorted({cut for cut in cuts if 0 < cut < len(rows)}), len(rows)]):
            sources[name].append(batch_of(name, rows[start:stop]))
    return Recording({}, sources)


def power_rows(times_s: Sequence[float], draws_w: Sequence[float]) -> list[Row]:
    """Rows of the root feeder that draws what is demanded, in steps."""
    return moving_rows(times_s, draws_w, [None] * len(times_s))


def moving_rows(times_s: Sequence[float], draws_w: Sequence[float], ends_w: Sequence[float | None]) -> list[Row]:
    """The same for draws that go straight to those at the end of each row, None for one that stays."""
    rows: list[Row] = []
    energy_j = 0.0
    for place, (time_s, draw_w, end_w) in enumerate(zip(times_s, draws_w, ends_w, strict=True)):
        rows.append(("site", time_s, draw_w, draw_w, 1.0, None, None, end_w, energy_j))
        if place + 1 < len(times_s):
            last_w = draw_w if end_w is None else end_w
            energy_j += 0.5 * (draw_w + last_w) * (times_s[place + 1] - time_s)
    return rows


def in_batches(items: Sequence[Any], sizes: Sequence[int]) -> Iterator[Sequence[Any]]:
    """The items in pieces of the sizes given, and the rest."""
    start = 0
    for size in sizes:
        yield items[start : start + size]
        start += size
    yield items[start:]


def scenario_of(**keys: Any) -> Scenario:
    """A scenario with the keys given; a job of 1 W at full speed and nothing else, a store of 2 B/s, unless said."""
    return Scenario.model_validate({"twin": 1, "name": "worked", "storage": {"bandwidth": 2.0}, **keys})


UNIT_POWER = {"compute": 1.0, "idle": 0.0, "write": 0.0, "exponent": 1.0}


def group(**keys: Any) -> dict[str, Any]:
    """A group of one-node jobs: 10 s of work, then 8 B, which take 4 s alone; unless said."""
    return {"name": "llm", "compute": 10.0, "checkpoint": {"size": 8.0}, "power": UNIT_POWER, **keys}


def clocked_group(**keys: Any) -> dict[str, Any]:
    """The same by a wall clock, every 20 s."""
    return {"name": "llm", "checkpoint": {"size": 8.0, "trigger": {"every": 20.0}}, "power": UNIT_POWER, **keys}


def fleet_of(**keys: Any) -> tuple[Scenario, list[Job]]:
    """The scenario and its jobs."""
    scenario = scenario_of(**keys)
    return scenario, jobs_of(scenario)


# Two jobs of 10 s work and 8 B on a store of 2 B/s, launched at 0 and 2 s, watched for 30 s. Writing alone takes 4 s.
# Job 0 writes 4 B alone from 10 to 12 s and 4 B at half rate until 16 s; job 1 starts at 12 s, has 4 B at 16 s and ends
# at 18 s. Then the same again from 26 s on, cut at 30 s.
WORKED_END_S = 30.0
WORKED: dict[str, list[Row]] = {
    "jobs": [
        (0, "llm-0", "llm", 1, 0.0, 0.0, None, 1, 20.0, 0.0, "writing"),
        (1, "llm-1", "llm", 1, 2.0, 2.0, None, 1, 20.0, 0.0, "writing"),
    ],
    "checkpoints": [
        (0, 0, 0.0, 10.0, 10.0, 16.0, 6.0, 8.0, "done"),
        (1, 0, 2.0, 12.0, 12.0, 18.0, 6.0, 8.0, "done"),
        (0, 1, 16.0, 26.0, 26.0, None, None, 8.0, "writing"),
        (1, 1, 18.0, 28.0, 28.0, None, None, 8.0, "writing"),
    ],
    "power": power_rows([0, 2, 10, 12, 16, 18, 26, 28], [1, 2, 1, 0, 1, 2, 1, 0]),
    "events": [],
    "storage": [
        (0.0, 0, 0, 0, 0.0),
        (10.0, 1, 0, 0, 2.0),
        (12.0, 2, 0, 0, 2.0),
        (16.0, 1, 0, 0, 2.0),
        (18.0, 0, 0, 0, 0.0),
        (26.0, 1, 0, 0, 2.0),
        (28.0, 2, 0, 0, 2.0),
    ],
}


def worked_fleet() -> tuple[Scenario, list[Job]]:
    """The fleet whose run ``WORKED`` is."""
    return fleet_of(jobs=[group(count=2, launch={"at": [0.0, 2.0]})], stop={"time": WORKED_END_S})
