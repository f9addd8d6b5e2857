"""A folder that is no run, or a damaged one, is an error that says so, and never numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.hand_made_runs import PROVENANCE, SCENARIO, manifest, recording, storage_batch
from twin.errors import RunDirectoryError
from twin.io.manifest import provenance
from twin.io.run_directory import open_run, save, writer
from twin.recording import FORMAT_VERSION, MemoryTable, Recording, schema

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
    with pytest.raises(RunDirectoryError, match=rf"format {FORMAT_VERSION + 1};.*install a newer racktwin"):
        open_run(edited(saved_run(tmp_path), format=FORMAT_VERSION + 1))


def test_a_run_of_an_earlier_format_asks_for_another_run(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"format 1, of an earlier version;.*run the scenario again"):
        open_run(edited(saved_run(tmp_path), format=1))


@pytest.mark.parametrize("rows", [None, [], {"../secrets": 1}])
def test_a_manifest_that_lists_no_tables_of_a_run_is_damaged(tmp_path: Path, rows: object) -> None:
    with pytest.raises(RunDirectoryError, match=r"`rows`(: input should be an object| names '\.\./secrets')"):
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


# A folder mixed from two runs


def told_apart(tmp_path: Path, **changes: Any) -> Path:
    """A run whose storage table is that of another run."""
    other = recording(**changes)
    own = saved_run(tmp_path)
    source = MemoryTable(schema("storage", provenance(other.manifest)))
    source.append(storage_batch(3))
    save(Recording(other.manifest, {**other.sources, "storage": source}), tmp_path / "other")
    (tmp_path / "other" / "storage.parquet").replace(own / "storage.parquet")
    return own


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 4}, "its seed is 4, by run.json it is 0"),
        ({"replica": 1}, "its replica is 1, by run.json it is 0"),
        ({"versions": {"racktwin": "0.0.9"}}, "its racktwin is 0.0.9, by run.json it is 0.1.0"),
        ({"scenario_hash": "beef"}, "its scenario_hash is beef, by run.json it is "),
    ],
)
def test_a_table_of_another_run_is_damage(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RunDirectoryError, match=rf"storage\.parquet: belongs to another run: {re.escape(message)}"):
        open_run(told_apart(tmp_path, **changes))


def test_a_table_that_does_not_say_whose_it_is_is_damage(tmp_path: Path) -> None:
    path = saved_run(tmp_path) / "storage.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)

    with pytest.raises(
        RunDirectoryError, match=r"belongs to another run: its table is nothing, by run\.json it is stor"
    ):
        open_run(path.parent)


# A manifest with a value that cannot be


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": -1}, "`format`: input should be greater than or equal to 1"),
        ({"format": 0}, "`format`: "),
        ({"status": "half"}, "`status`: "),
        ({"name": 7}, "`name`: input should be a valid string"),
        ({"seed": "1"}, "`seed`: input should be a valid integer"),
        ({"seed": True}, "`seed`: "),
        ({"seed": -1}, "`seed`: "),
        ({"seed": 5}, "`seed` is not that of `scenario`"),
        ({"replica": 1.5}, "`replica`: "),
        ({"versions": {}}, "`versions.racktwin`: is missing"),
        ({"versions": {"racktwin": "1", "numpy": 2}}, "`versions.numpy`: "),
        ({"scenario": {}}, "`scenario.seed`: is missing"),
        ({"scenario": SCENARIO | {"name": "another"}}, "`scenario_hash` is not that of `scenario`"),
        ({"scenario_hash": "f00d"}, "`scenario_hash` is not that of `scenario`"),
        ({"defaults": [{"key": "seed"}]}, r"`defaults\[0\].mark`: is missing"),
        ({"overrides": [{"key": "seed", "value": 0}]}, r"`overrides\[0\].unit`: is missing"),
        ({"simulated_end_s": -3.0}, "`simulated_end_s`: "),
        ({"simulated_end_s": 4.0}, "`simulated_end_s` is not `metrics.horizon_s`"),
        ({"rows": {"storage": -1}}, "`rows.storage`: "),
        ({"rows": {"storage": "3"}}, "`rows.storage`: "),
        ({"assumptions": {}}, "`assumptions.anonymous`: is missing"),
        ({"metrics": {}}, "`metrics.horizon_s`: is missing"),
        ({"metrics": {"horizon_s": 3.0, "jobs": 0, "goodput": "all"}}, "`metrics.goodput`: "),
        (
            {"metrics": {"horizon_s": 3.0, "jobs": 0, "stall_share": 0.5}},
            "of `metrics.compute_share` and .* some are missing",
        ),
        ({"import_report": {"file": "log.csv"}}, "`format`: is missing"),
        ({"warnings": "none"}, "`warnings`: "),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_rule(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RunDirectoryError, match=rf"run\.json: {message}.*; the run directory is damaged; [^\n]*$"):
        open_run(edited(saved_run(tmp_path), **changes))


@pytest.mark.parametrize("key", [key for key in manifest({}) if key not in ("format", "scenario_hash")])
def test_a_manifest_without_one_of_its_keys_is_damaged(tmp_path: Path, key: str) -> None:
    folder = saved_run(tmp_path)
    values = json.loads((folder / "run.json").read_text())
    del values[key]
    (folder / "run.json").write_text(json.dumps(values))

    with pytest.raises(RunDirectoryError, match=rf"run\.json: `{key}`: is missing"):
        open_run(folder)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_not_finite_is_none_of_a_run(tmp_path: Path, number: str) -> None:
    path = saved_run(tmp_path) / "run.json"
    path.write_text(path.read_text().replace('"simulated_end_s": 3.0', f'"simulated_end_s": {number}'))

    with pytest.raises(RunDirectoryError, match=f"not JSON: {number} is no number of a run"):
        open_run(path.parent)


def test_a_run_of_an_earlier_version_lacks_what_it_did_not_know(tmp_path: Path) -> None:
    folder = saved_run(tmp_path)
    values = json.loads((folder / "run.json").read_text())
    del values["metrics"]["goodput"]

    assert open_run(edited(folder, metrics=values["metrics"])).manifest["metrics"]["goodput"] is None
