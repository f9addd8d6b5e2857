"""A Parquet file -> the columns of a log, block by block, in bounded memory.

A text that repeats is stored once, so that a small file may stand for far more than memory holds. Texts are therefore
read as dictionaries, shortened there, and only then written out row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from twin.io.launch_logs import column_types
from twin.io.launch_logs.raw_rows import MOST_EXPANSION, RawBlock, expands_too_much

_BLOCK_ROWS = 1 << 16  # decoded at a time, or fewer of long ones
_BLOCK_B = 32 << 20
_FEW_ROWS = 100  # in a row group on the mean: its dictionaries would cost more than they save
_MOST_B = 256 << 20  # what the columns read may always take: those of some million rows


def blocks(path: Path, wanted: list[str], texts: list[str]) -> Iterator[RawBlock]:
    """All rows, the wanted columns only; rows are counted from 1.

    Args:
        texts: those of the wanted columns that hold text.
    Raises:
        UnreadableLogError: the columns take far more than the file does.
        pyarrow.ArrowException: the file is damaged.
    """
    metadata = pq.read_metadata(path)
    has_few = metadata.num_rows < _FEW_ROWS * metadata.num_row_groups
    rows = _rows_at_a_time(metadata, wanted, path.stat().st_size, has_few=has_few)
    first = 1
    with pq.ParquetFile(path, metadata=metadata, read_dictionary=[] if has_few else texts) as file:
        for batch in _joined(file.iter_batches(rows, columns=wanted), rows):
            columns = {name: column_types.plain(batch.column(name)) for name in wanted}
            yield RawBlock(columns, np.arange(first, first + batch.num_rows))
            first += batch.num_rows


def _rows_at_a_time(metadata: Any, wanted: list[str], file_b: int, *, has_few: bool) -> int:
    """As many as fit ``_BLOCK_B``; without dictionaries each row may be as long as all that its row group stores."""
    places = [place for place in range(metadata.num_columns) if metadata.schema.column(place).path in wanted]
    all_b = 0
    most_b = 1.0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        group_b = sum(group.column(place).total_uncompressed_size for place in places)
        all_b += group_b
        most_b = max(most_b, group_b if has_few else group_b / max(group.num_rows, 1))
    if all_b > max(_MOST_B, MOST_EXPANSION * file_b):
        raise expands_too_much("look at it with another program; texts of a log are short")
    return max(1, min(_BLOCK_ROWS, int(_BLOCK_B / most_b)))


def _joined(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Batches of about so many rows: dictionaries come group by group, and groups may be short."""
    held: list[Any] = []
    rows_held = 0
    for batch in batches:
        held.append(batch)
        rows_held += batch.num_rows
        if rows_held >= rows:
            yield _one(held)
            held, rows_held = [], 0
    if rows_held:
        yield _one(held)


def _one(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).unify_dictionaries().combine_chunks().to_batches()[0]
