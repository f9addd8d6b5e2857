"""What happened: every table, column, type, unit and meaning, and the recording that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from twin.errors import TwinError

if TYPE_CHECKING:
    import pandas as pd

FORMAT_VERSION = 2
ROOT = "site"  # the root feeder
ROWS_PER_GROUP = 131_072

Kind = Literal["float64", "int32", "string"]
_NUMBERS = {"float64": pa.float64(), "int32": pa.int32(), "string": pa.int32()}
_ARROW = {"float64": pa.float64(), "int32": pa.int32(), "string": pa.dictionary(pa.int32(), pa.string())}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: name, type, unit and meaning; the meaning of a nullable one says when it is null."""

    name: str
    kind: Kind
    unit: str
    meaning: str
    nullable: bool = False


class EventKind(NamedTuple):
    """A kind of incident: the unit of its value, and what happened."""

    unit: str
    meaning: str


EVENT_KINDS: dict[str, EventKind] = {
    "trigger_skipped": EventKind(
        "1", "a wall-clock trigger fell in a stall of its job and was skipped; the value is its number k"
    ),
    "cap_exceeded": EventKind("W", "the draw of a feeder rose above its cap; the value is the draw"),
    "excursion_peak": EventKind("W", "an excursion above the cap ended; the value is its highest draw"),
    "excursion_end": EventKind("J", "an excursion above the cap ended; the value is the energy above the cap"),
    "limits_cut": EventKind("W", "lower limits of a three-band controller took effect; the value is the draw cut"),
    "limits_released": EventKind("1", "a three-band controller removed its limits; the value is the jobs released"),
    "fleet_exceeded": EventKind("1", "the nodes in use rose above fleet.nodes; the value is the nodes in use"),
}

TABLES: dict[str, tuple[Column, ...]] = {
    "jobs": (
        Column("job_id", "int32", "1", "number of the job in file order, from 0"),
        Column("name", "string", "", "name of the job"),
        Column("group", "string", "", "group of the job"),
        Column("nodes", "int32", "1", "nodes the job holds while it runs"),
        Column("submit_s", "float64", "s", "submission"),
        Column(
            "launch_s", "float64", "s", "start of the first compute stretch; null if after the end of the run", True
        ),
        Column("end_s", "float64", "s", "end of the last checkpoint of a job that is done; null otherwise", True),
        Column("cycles", "int32", "1", "checkpoints written"),
        Column("work_s", "float64", "s", "full-speed work done, an unfinished stretch included"),
        Column("interference_s", "float64", "s", "full-speed work lost to drains in the background"),
        Column("state", "string", "", "at the end of the run: pending, computing, waiting, snapshot, writing or done"),
    ),
    "checkpoints": (
        Column("job_id", "int32", "1", "the job that wrote"),
        Column("cycle", "int32", "1", "number of the checkpoint in its job, from 0"),
        Column("compute_start_s", "float64", "s", "start of the compute stretch before it"),
        Column("due_s", "float64", "s", "end of the compute stretch"),
        Column("write_start_s", "float64", "s", "first byte; the fire time of a blocking job", True),
        Column("write_end_s", "float64", "s", "last byte durable; null if after the end of the run", True),
        Column("stall_s", "float64", "s", "time not computing for it; null if it had not ended", True),
        Column("size_b", "float64", "B", "bytes of the checkpoint"),
        Column("state", "string", "", "done, or at the end of the run: writing, snapshot, waiting"),
    ),
    "power": (
        Column("feeder", "string", "", "the feeder; the root is site"),
        Column("time_s", "float64", "s", "from here on, until the feeder's next row"),
        Column("demand_w", "float64", "W", "draw if every computing job ran at full speed"),
        Column("draw_w", "float64", "W", "power drawn"),
        Column("speed", "float64", "1", "speed commanded to the computing jobs, in [0, 1]"),
        Column("target", "float64", "1", "speed it tends to until the next row; null where it stays", True),
        Column("tau_s", "float64", "s", "time constant with which it does; null where it stays", True),
        Column(
            "draw_end_w", "float64", "W", "power drawn just before the feeder's next row; null where it stays", True
        ),
        Column("energy_j", "float64", "J", "energy drawn since t = 0, exact"),
    ),
    "storage": (
        Column("time_s", "float64", "s", "from here on, until the next row"),
        Column("writers", "int32", "1", "transfers being written"),
        Column("readers", "int32", "1", "transfers being read"),
        Column("waiting", "int32", "1", "transfers waiting for a lane"),
        Column("rate_b_s", "float64", "B/s", "total rate of the store"),
    ),
    "events": (
        Column("time_s", "float64", "s", "when it happened"),
        Column("kind", "string", "", ", ".join(EVENT_KINDS)),
        Column("job_id", "int32", "1", "the job concerned; null if none", True),
        Column("feeder", "string", "", "the feeder concerned; null if none", True),
        Column("value", "float64", "", "size of the incident in the unit of its kind; null if none", True),
        Column("detail", "string", "", "in words"),
    ),
}


def schema(table: str, provenance: Mapping[str, str]) -> pa.Schema:
    """Arrow schema of a table; units and meanings in the fields' metadata, provenance in the table's."""
    fields = [
        pa.field(c.name, _ARROW[c.kind], c.nullable, {"unit": c.unit, "meaning": c.meaning}) for c in TABLES[table]
    ]
    return pa.schema(fields, {"table": table, "table_version": str(FORMAT_VERSION), **provenance})


class Sink(Protocol):
    """Where batches of finished rows go while a run goes on: memory, or Parquet files."""

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Take a batch of rows of a table, in the order of the run."""
        ...


class Rows:
    """Rows of one table on their way to a sink, in blocks of bounded size.

    Strings are passed as their ``code``; a null is ``NULL`` for a float and ``NO_CODE`` for an int32 or a string.
    Single rows are packed into one reused buffer, which is faster and smaller than lists or one ``array`` a column.
    """

    NULL = nan
    NO_CODE = -1

    def __init__(self, table: str, sink: Sink, arrow_schema: pa.Schema) -> None:
        self.table = table
        self.written = 0
        self._sink = sink
        self._schema = arrow_schema
        self._columns = TABLES[table]
        self._codes: dict[str, dict[str, int]] = {c.name: {} for c in self._columns if c.kind == "string"}
        self._dtype = np.dtype([(c.name, "f8" if c.kind == "float64" else "i4") for c in self._columns])
        row = Struct("=" + "".join("d" if c.kind == "float64" else "i" for c in self._columns))
        self._pack_into = row.pack_into
        self._row_bytes = row.size
        self._buffer = bytearray(row.size * 1024)
        self._offset = 0

    def code(self, column: str, text: str) -> int:
        """The number that stands for ``text`` in a string column."""
        return self._codes[column].setdefault(text, len(self._codes[column]))

    def append(self, *values: float) -> None:
        """Add a row, the columns in the order of ``TABLES``."""
        offset = self._offset
        self._pack_into(self._buffer, offset, *values)
        self._offset = offset = offset + self._row_bytes
        if offset == len(self._buffer):
            self._make_room()

    def extend(self, columns: Sequence[np.ndarray | None]) -> None:
        """Add a block of rows: one array a column, all of one length, in the order of ``TABLES``; None for nulls only.

        The first column is no such one.
        """
        self.flush()
        self._write(columns)

    def flush(self) -> None:
        """Hand the single rows so far to the sink."""
        packed = np.frombuffer(self._buffer, self._dtype, self._offset // self._row_bytes)
        self._write([np.ascontiguousarray(packed[column.name]) for column in self._columns])
        self._offset = 0

    def _make_room(self) -> None:
        if self._offset < self._row_bytes * ROWS_PER_GROUP:
            self._buffer.extend(bytes(self._offset))
        else:
            self.flush()

    def _write(self, columns: Sequence[np.ndarray | None]) -> None:
        assert columns[0] is not None
        if count := len(columns[0]):
            arrays = [
                pa.nulls(count, _ARROW[column.kind]) if values is None else self._array(column, values)
                for column, values in zip(self._columns, columns, strict=True)
            ]
            self._sink.write(self.table, pa.RecordBatch.from_arrays(arrays, schema=self._schema))
            self.written += count

    def _array(self, column: Column, values: np.ndarray) -> pa.Array:
        mask = None
        if column.nullable:
            mask = np.isnan(values) if column.kind == "float64" else values == self.NO_CODE
        numbers = pa.array(values, _NUMBERS[column.kind], mask=mask)
        if column.kind != "string":
            return numbers
        return pa.DictionaryArray.from_arrays(numbers, pa.array(list(self._codes[column.name]), pa.string()))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went.

    Args:
        end_s: simulated end [s]; the instant is completed and recorded.
        stopped_by: which limit ended it.
        rows: rows of each table recorded.
        phase_ends: ends of compute stretches and of writes.
    """

    end_s: float
    stopped_by: Literal["cycles", "time", "done"]
    rows: dict[str, int]
    phase_ends: int


class Source(Protocol):
    """A finished table, in memory or on disk."""

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """The rows in order, in batches of bounded size."""
        ...

    def table(self) -> pa.Table:
        """All rows at once."""
        ...


class MemoryTable:
    """A table kept in memory: the sink and the source of one."""

    def __init__(self, arrow_schema: pa.Schema) -> None:
        self._schema = arrow_schema
        self._batches: list[pa.RecordBatch] = []

    def append(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        return (batch.select(columns) for batch in self._batches)

    def table(self) -> pa.Table:
        return pa.Table.from_batches(self._batches, self._schema).unify_dictionaries()


class Recording:
    """A finished run: its manifest (the content of ``run.json``) and its tables.

    Args:
        manifest: JSON-ready mapping.
        sources: one for each table recorded.
    """

    def __init__(self, manifest: dict[str, Any], sources: Mapping[str, Source]) -> None:
        self.manifest = manifest
        self.sources = sources

    def batches(self, table: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Rows of a table in order, in batches of bounded size."""
        source = self._source(table)
        known = [column.name for column in TABLES[table]]
        if unknown := [name for name in columns if name not in known]:
            raise TwinError(
                f"table {table!r}: has no column {unknown[0]!r}; it has {', '.join(known)}; name some of these"
            )
        return source.batches(columns)

    def table(self, name: str) -> pa.Table:
        """A table of the run, columns as in ``TABLES``."""
        return self._source(name).table()

    def frame(self, name: str) -> pd.DataFrame:
        """The same for pandas."""
        frame: pd.DataFrame = self.table(name).to_pandas()
        return frame

    def _source(self, table: str) -> Source:
        if not isinstance(table, str) or table not in self.sources:
            raise TwinError(f"table {table!r}: is not in this recording; it has {', '.join(self.sources) or 'none'}")
        return self.sources[table]
