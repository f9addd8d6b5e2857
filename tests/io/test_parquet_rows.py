"""A Parquet launch log takes memory in proportion to its file, and gives the same rows however it is laid out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.small_logs import Read
from twin.errors import LaunchLogError
from twin.io.launch_logs import parquet_rows, read_schedule
from twin.scenario import Replay

ROWS = 60_000  # in one block, if their texts are short


def columns(rows: int, **others: Any) -> Any:
    """A schedule of one job per second on one node."""
    plain = {"job_id": [f"j{i}" for i in range(rows)], "submit_s": range(rows), "nodes": [1] * rows}
    return pa.table({name: pa.array(values) for name, values in (plain | {"work_s": [60.0] * rows} | others).items()})


def repeated(text: str, rows: int) -> Any:
    """One text for all rows, which a file holds once."""
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([text]))


def read(folder: Path, table: Any, **written: Any) -> Read:
    pq.write_table(table, folder / "log.parquet", **written)
    return read_schedule(Replay(file="log.parquet"), folder)


@pytest.fixture
def pool() -> Iterator[Any]:
    """What Arrow takes its memory from during the test, and so what the most was."""
    before = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(before)
    pa.set_memory_pool(counting)
    yield counting
    pa.set_memory_pool(before)


@pytest.mark.parametrize("stores_types", [True, False])
@pytest.mark.parametrize("column", ["job_id", "work_s", "group"])
def test_a_long_text_stored_once_for_all_rows_is_not_copied_for_each(
    tmp_path: Path, pool: Any, column: str, stores_types: bool
) -> None:
    # once 6 GB from a file of 0.4 MB
    table = columns(ROWS, **{column: repeated("x" * 100_000, ROWS)})
    with pytest.raises(LaunchLogError, match=f"60000: {column} is"):
        read(tmp_path, table, store_schema=stores_types)

    assert pool.max_memory() < 200e6  # some copies of a block whose texts are cut to 250 characters, 15 MB each


def test_a_file_of_far_less_than_its_columns_take_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "_MOST_B", 1_000_000)  # it takes seconds to make a file above the real one
    texts = pa.array([f"{'x' * 10_000}{i}" for i in range(300)])
    with pytest.raises(LaunchLogError, match="expands to more than 50 times its size"):
        read(tmp_path, columns(300, group=texts), compression="zstd", use_dictionary=False)


@pytest.mark.parametrize("rows_per_group", [1, 99, 100, 777, 3_000])
def test_rows_are_the_same_in_row_groups_of_any_length(tmp_path: Path, rows_per_group: int) -> None:
    groups = pa.array([("a", "b", None)[i % 3] for i in range(3_000)])
    table = columns(3_000, group=groups)
    whole = read(tmp_path, table)[0]
    schedule = read(tmp_path, table, row_group_size=rows_per_group)[0]

    assert schedule.names == whole.names == table.column("job_id").to_pylist()
    assert schedule.groups == whole.groups == ["a", "b", "log"] * 1_000
    assert schedule.submit_s.tolist() == [float(i) for i in range(3_000)]


@pytest.mark.parametrize("rows_per_group", [1, 400, 1_000])
def test_the_row_of_a_fault_is_counted_through_the_whole_file(tmp_path: Path, rows_per_group: int) -> None:
    nodes = [1] * 777 + [0] + [1] * 222
    report = read(tmp_path, columns(1_000, nodes=nodes), row_group_size=rows_per_group)[1]

    assert report.dropped[0].first_line == 778


def test_a_number_is_never_read_from_the_beginning_of_a_longer_text(tmp_path: Path) -> None:
    work = pa.array(["60", "0." + "0" * 400 + "1", "1" + "0" * 249 + "5" * 100])
    schedule, report = read(tmp_path, columns(3, work_s=work))

    assert schedule.work_s.tolist() == [60.0]
    assert [(reason.reason, reason.rows) for reason in report.dropped] == [("work_s is not a finite number", 2)]


def test_a_file_without_rows_says_so(tmp_path: Path) -> None:
    with pytest.raises(LaunchLogError, match="has a header line, but no rows"):
        read(tmp_path, columns(0, job_id=pa.array([], pa.string())))
