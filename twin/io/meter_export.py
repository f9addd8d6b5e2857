"""What power meters log of a run, as Parquet and CSV."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from twin.analysis.meter import Readings, readings
from twin.errors import TwinError
from twin.io.manifest import provenance
from twin.io.whole_file import check_free, whole_file
from twin.recording import Recording

MOST_READINGS = 2_000_000_000
_UNITS = {
    "time_s": ("s", "start of the interval, after t = 0"),
    "width_s": ("s", "its length: the interval of the meter, but for the last one"),
    "mean_w": ("W", "mean draw in it, from the exact energy"),
    "lowest_w": ("W", "lowest draw in it"),
    "highest_w": ("W", "highest draw in it"),
}


def export_meter(recording: Recording, period_s: float, stem: Path, *, force: bool = False) -> tuple[list[Path], int]:
    """Write the readings of every feeder to ``STEM.parquet`` and ``STEM.csv``: the files, and the readings in each.

    The site comes first, then the other feeders by name. The CSV has the time of the clock beside the seconds where the
    scenario has an ``epoch``.

    Args:
        recording: with the table power.
        period_s: interval of the meter [s], more than 0.
        force: replace files that are there.
    Raises:
        TwinError: a run without power, an interval out of all proportion, or files that cannot be written.
    """
    if "power" not in recording.sources:
        raise TwinError("power: is not in this recording, so no meter could be read; record the table power")
    end_s = recording.manifest["simulated_end_s"]
    if end_s / period_s > MOST_READINGS:
        raise TwinError(
            f"--meter: {period_s:g} s gives {end_s / period_s:.3g} readings of a run of {end_s:g} s; raise it"
        )
    files = [stem.with_name(f"{stem.name}.{kind}") for kind in ("parquet", "csv")]
    for file in files:
        check_free(file, force)
    count = 0
    with ExitStack() as stack:
        places = [stack.enter_context(whole_file(file, force)) for file in files]
        schema = _schema(recording)
        epoch = recording.manifest["scenario"].get("epoch")
        with (
            pa.OSFile(os.fsencode(places[0]), "wb") as parquet_file,
            pq.ParquetWriter(
                parquet_file,
                schema,
                compression="zstd",
                use_dictionary=["feeder"],
                use_byte_stream_split=list(_UNITS),
            ) as parquet,
            pa.OSFile(os.fsencode(places[1]), "wb") as csv_file,
            pyarrow.csv.CSVWriter(csv_file, _csv_schema(schema, epoch)) as text,
        ):
            for batch in _batches(recording, period_s, schema):
                parquet.write_batch(batch)
                text.write_batch(_with_clock(batch, epoch))
                count += batch.num_rows
    return files, count


def _batches(recording: Recording, period_s: float, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for feeder in _feeders(recording):
        for part in readings(recording, feeder, period_s):
            names = pa.DictionaryArray.from_arrays(np.zeros(len(part.start_s), np.int32), [feeder])
            yield pa.RecordBatch.from_arrays([names, *map(pa.array, _columns(part))], schema=schema)


def _columns(part: Readings) -> Sequence[np.ndarray]:
    return part.start_s, part.width_s, part.mean_w, part.lowest_w, part.highest_w


def _feeders(recording: Recording) -> list[str]:
    power = recording.manifest["scenario"]["power"]
    return ["site", *sorted(power.get("feeders", {}))]


def _schema(recording: Recording) -> pa.Schema:
    fields = [pa.field("feeder", pa.dictionary(pa.int32(), pa.string()), metadata={"meaning": "the feeder metered"})]
    fields += [
        pa.field(name, pa.float64(), metadata={"unit": unit, "meaning": meaning})
        for name, (unit, meaning) in _UNITS.items()
    ]
    return pa.schema(fields, metadata={"table": "meter", **provenance(recording.manifest)})


def _csv_schema(schema: pa.Schema, epoch: str | None) -> pa.Schema:
    fields = [pa.field("feeder", pa.string()), *list(schema)[1:]]
    return pa.schema(fields if epoch is None else [pa.field("time", pa.string()), *fields])


def _with_clock(batch: pa.RecordBatch, epoch: str | None) -> pa.RecordBatch:
    """The batch with plain names, and the time of the clock in front if there is one."""
    columns = [batch["feeder"].cast(pa.string()), *batch.columns[1:]]
    if epoch is not None:
        start = datetime.fromisoformat(epoch)
        clock = [(start + timedelta(seconds=time_s)).isoformat() for time_s in batch["time_s"].to_pylist()]
        columns = [pa.array(clock, pa.string()), *columns]
    return pa.RecordBatch.from_arrays(columns, schema=_csv_schema(batch.schema, epoch))
