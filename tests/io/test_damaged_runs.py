"""A folder that is no run, or a damaged one, is an error that says so, and never numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.hand_made_runs import PROVENANCE, manifest, recording, storage_batch
from twin.errors import RunDirectoryError
from twin.io.run_directory import open_run, save, writer

STORAGE = ["time_s", "writers", "readers", "waiting", "rate_b_s"]


def saved_run(tmp_path: Path) -> Path:
    save(recording(), tmp_path / "run")
    return tmp_path / "run"


def edited(folder: Path, **changes: Any) -> Path:
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="does not exist"):
        open_run(tmp_path / "absent")


def test_a_file_is_not_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(RunDirectoryError, match="is not a folder"):
        open_run(tmp_path / "file")


def test_a_folder_without_a_manifest_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"has no run\.json"):
        open_run(tmp_path)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"{}", b'{"format": "1"}'])
def test_a_manifest_that_is_not_one_is_an_error(tmp_path: Path, text: bytes) -> None:
    folder = saved_run(tmp_path)
    (folder / "run.json").write_bytes(text)

    with pytest.raises(RunDirectoryError, match=r"run\.json"):
        open_run(folder)


def test_a_run_of_a_newer_format_asks_for_a_newer_program(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"format 2.*install a newer racktwin"):
        open_run(edited(saved_run(tmp_path), format=2))


@pytest.mark.parametrize("rows", [None, [], {"../secrets": 1}])
def test_a_manifest_that_lists_no_tables_of_a_run_is_damaged(tmp_path: Path, rows: object) -> None:
    with pytest.raises(RunDirectoryError, match="`rows` must name the tables"):
        open_run(edited(saved_run(tmp_path), rows=rows))


def test_a_missing_table_is_damage(tmp_path: Path) -> None:
    folder = saved_run(tmp_path)
    (folder / "storage.parquet").unlink()

    with pytest.raises(RunDirectoryError, match=r"storage\.parquet: missing.*3 rows"):
        open_run(folder)


def test_a_table_of_another_length_is_damage(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"it holds 3 rows, run\.json says 4"):
        open_run(edited(saved_run(tmp_path), rows={"storage": 4, "events": 0}))


def test_a_table_with_other_columns_is_damage(tmp_path: Path) -> None:
    folder = saved_run(tmp_path)
    pq.write_table(pa.table({"time_s": [1.0, 2.0, 3.0]}), folder / "storage.parquet")

    with pytest.raises(RunDirectoryError, match="its columns are not those of the table storage"):
        open_run(folder)


@pytest.mark.parametrize("keep", [0, 3, 600, -1])
def test_a_table_cut_short_is_damage(tmp_path: Path, keep: int) -> None:
    path = saved_run(tmp_path) / "storage.parquet"
    path.write_bytes(path.read_bytes()[:keep])

    with pytest.raises(RunDirectoryError, match=r"storage\.parquet: cannot be read"):
        open_run(path.parent)


def test_a_flipped_bit_in_the_data_never_becomes_a_number(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE, tables=["storage"]) as run:
        run.write("storage", storage_batch(10_000))
        run.commit(manifest({"storage": 10_000}))
    path = tmp_path / "run" / "storage.parquet"
    content = bytearray(path.read_bytes())
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(content)

    opened = open_run(path.parent)  # reads the foot only

    with pytest.raises(RunDirectoryError, match=r"storage\.parquet: cannot be read"):
        opened.table("storage")
    with pytest.raises(RunDirectoryError, match=r"storage\.parquet: cannot be read"):
        list(opened.batches("storage", STORAGE))
