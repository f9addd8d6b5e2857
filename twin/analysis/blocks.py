"""Recorded batches -> numpy columns in blocks of one size, so that no sum depends on how a table was cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Block = dict[str, NDArray[Any]]
_ROWS = 32_768  # a column of a block is 256 KiB, and some twenty are at work at once


def blocks(batches: Iterable[pa.RecordBatch], columns: list[str], rows: int = _ROWS) -> Iterator[Block]:
    """Numeric columns of a table by name, ``rows`` rows at a time, the last block shorter; a null is NaN."""
    waiting: list[Block] = []
    count = 0
    for batch in batches:
        waiting.append({name: _array(batch.column(name)) for name in columns})
        count += batch.num_rows
        while count >= rows:
            joined = _joined(waiting, columns)
            yield {name: joined[name][:rows] for name in columns}
            waiting = [{name: joined[name][rows:] for name in columns}]
            count -= rows
    if count:
        yield _joined(waiting, columns)


def of_feeder(batches: Iterable[pa.RecordBatch], feeder: str) -> Iterator[pa.RecordBatch]:
    """The rows of one feeder."""
    for batch in batches:
        names = batch.column("feeder")
        code = names.dictionary.index(feeder).as_py()
        mine = names.indices.to_numpy() == code
        if mine.all():
            yield batch
        elif mine.any():
            yield batch.filter(pa.array(mine))


def _array(column: pa.Array) -> NDArray[Any]:
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)  # pyarrow turns a null float into NaN
    return array


def _joined(parts: list[Block], columns: list[str]) -> Block:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in columns}
