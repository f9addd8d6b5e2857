"""A run directory holds what was recorded, in files that say what they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.io.hand_made_runs import PROVENANCE, event_batch, manifest, names, recording, storage_batch
from twin.io.run_directory import open_run, save, writer
from twin.recording import FORMAT_VERSION, TABLES


def test_a_saved_recording_is_read_back_as_it_was(tmp_path: Path) -> None:
    saved = recording(rows=5)
    save(saved, tmp_path / "run")

    opened = open_run(tmp_path / "run")

    assert opened.manifest == saved.manifest
    assert opened.table("storage").equals(saved.table("storage"), check_metadata=True)


def test_a_run_directory_holds_the_manifest_and_one_file_per_table_even_an_empty_one(tmp_path: Path) -> None:
    save(recording(), tmp_path / "run")

    assert names(tmp_path / "run") == ["events.parquet", "run.json", "storage.parquet"]
    assert open_run(tmp_path / "run").table("events").num_rows == 0


def test_strings_and_nulls_survive_batches_with_dictionaries_of_their_own(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE, tables=["events"]) as run:
        run.write("events", event_batch(["b", "a"]))
        run.write("events", event_batch(["c"]))
        run.commit(manifest({"events": 3}))

    table = open_run(tmp_path / "run").table("events")

    assert table["kind"].to_pylist() == ["b", "a", "c"]
    assert table["job_id"].null_count == 3
    assert table["value"].null_count == 3


def test_each_file_carries_its_table_the_scenario_hash_the_seed_and_the_version(tmp_path: Path) -> None:
    save(recording(), tmp_path / "run")

    metadata = pq.read_schema(tmp_path / "run" / "storage.parquet").metadata

    expected = {"table": "storage", "table_version": str(FORMAT_VERSION), **PROVENANCE}
    assert {key.decode(): value.decode() for key, value in metadata.items()} == expected


def test_floats_are_split_by_byte_and_strings_have_a_dictionary_and_all_is_zstd(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE, tables=["events"]) as run:
        run.write("events", event_batch(["a", "b"]))
        run.commit(manifest({"events": 2}))

    group = pq.ParquetFile(tmp_path / "run" / "events.parquet").metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}

    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert "BYTE_STREAM_SPLIT" in columns["time_s"].encodings
    assert not columns["time_s"].has_dictionary_page
    assert columns["kind"].has_dictionary_page


def test_a_number_that_is_not_finite_is_null_in_the_manifest(tmp_path: Path) -> None:
    save(
        recording(metrics={"horizon_s": 3.0, "jobs": 1, "goodput": float("nan"), "stretch_max": float("inf")}),
        tmp_path / "run",
    )

    metrics = open_run(tmp_path / "run").manifest["metrics"]

    assert (metrics["jobs"], metrics["goodput"], metrics["stretch_max"]) == (1, None, None)


def test_columns_come_in_the_order_asked_for(tmp_path: Path) -> None:
    save(recording(rows=2), tmp_path / "run")

    (batch,) = open_run(tmp_path / "run").batches("storage", ["rate_b_s", "time_s"])

    assert batch.schema.names == ["rate_b_s", "time_s"]


def test_a_long_table_comes_back_in_batches_of_at_most_a_row_group(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE, tables=["storage"]) as run:
        for _ in range(3):
            run.write("storage", storage_batch(100_000))
        run.commit(manifest({"storage": 300_000}))

    sizes = [batch.num_rows for batch in open_run(tmp_path / "run").batches("storage", ["time_s"])]

    assert sum(sizes) == 300_000
    assert max(sizes) <= 131_072


def test_finished_tables_can_be_read_before_the_run_is_committed(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE, tables=["storage"]) as run:
        run.write("storage", storage_batch(4))
        sources = run.finish()

        assert sources["storage"].table()["time_s"].to_pylist() == [0.0, 1.0, 2.0, 3.0]
        assert not (tmp_path / "run").exists()


def test_missing_parents_are_made(tmp_path: Path) -> None:
    save(recording(), tmp_path / "runs" / "today" / "run")

    assert open_run(tmp_path / "runs" / "today" / "run").manifest["name"] == "hand-made"


def test_every_table_of_the_format_can_be_written_and_opened_empty(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE) as run:
        run.commit(manifest(dict.fromkeys(TABLES, 0)))

    opened = open_run(tmp_path / "run")

    assert [opened.table(name).schema.names for name in TABLES] == [
        [column.name for column in columns] for columns in TABLES.values()
    ]
