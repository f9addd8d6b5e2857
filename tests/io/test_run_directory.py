"""A run directory is complete or absent, holds what was recorded, and says so clearly when it is anything else."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twin.errors import RunDirectoryError
from twin.io.run_directory import open_run, save, writer
from twin.recording import TABLES, MemoryTable, Recording, schema

PROVENANCE = {"scenario_hash": "f00d", "seed": "0", "replica": "0", "racktwin": "0.1.0"}
STORAGE = ["time_s", "writers", "readers", "waiting", "rate_b_s"]


def manifest(rows: dict[str, int], **more: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "status": "complete",
        "name": "hand-made",
        "seed": 0,
        "replica": 0,
        "versions": {"racktwin": "0.1.0"},
        "scenario_hash": "f00d",
        "rows": rows,
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


# --- what is written


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

    expected = {"table": "storage", "table_version": "1", **PROVENANCE}
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
    save(recording(metrics={"stretch": float("nan"), "tail": [1.0, float("inf")]}), tmp_path / "run")

    assert open_run(tmp_path / "run").manifest["metrics"] == {"stretch": None, "tail": [1.0, None]}


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


# --- complete or absent


def interrupted(folder: Path, error: BaseException) -> None:
    with writer(folder, PROVENANCE, tables=["storage"]) as run:
        run.write("storage", storage_batch(3))
        raise error


@pytest.mark.parametrize("error", [RuntimeError("a fault"), KeyboardInterrupt()])
def test_a_run_that_ends_early_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        interrupted(tmp_path / "run", error)

    assert names(tmp_path) == []


def test_a_table_that_cannot_be_opened_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(path: Path, arrow_schema: pa.Schema) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("twin.io.run_directory._parquet_writer", no_room)
    with pytest.raises(RunDirectoryError, match="Too many open files"):
        save(recording(), tmp_path / "run")

    assert names(tmp_path) == []


def test_a_forced_run_that_ends_early_leaves_the_old_run(tmp_path: Path) -> None:
    save(recording(rows=2), tmp_path / "run")

    with pytest.raises(KeyboardInterrupt), writer(tmp_path / "run", PROVENANCE, tables=["storage"], force=True):
        raise KeyboardInterrupt

    assert names(tmp_path) == ["run"]
    assert open_run(tmp_path / "run").table("storage").num_rows == 2


def test_a_replacement_that_fails_puts_the_old_run_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(recording(rows=2), tmp_path / "run")
    rename = Path.rename

    def refuse_the_new_one(path: Path, target: Path) -> Path:
        if path.suffix == ".tmp" and not target.exists():
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse_the_new_one)
    with pytest.raises(RunDirectoryError, match="Permission denied"):
        save(recording(rows=9), tmp_path / "run", force=True)

    assert names(tmp_path) == ["run"]
    assert open_run(tmp_path / "run").table("storage").num_rows == 2


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.io.test_run_directory import recording
from twin.io.run_directory import save
print("ready", flush=True)
for rows in range(1, 100_000):
    save(recording(rows=rows, tag=rows), Path(sys.argv[1]), force=True)
"""


def test_a_kill_at_any_moment_leaves_a_whole_run_or_none_and_never_trips_the_next(tmp_path: Path) -> None:
    rng = random.Random(1)  # noqa: S311
    root = str(Path(__file__).parents[2])
    for _ in range(15):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path / "run"), root], stdout=subprocess.PIPE, cwd=root
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.05))  # a few runs take this long, so the kill falls anywhere in one
        process.kill()
        process.wait()
        process.stdout.close()

        if (tmp_path / "run").exists():
            found = open_run(tmp_path / "run")
            assert found.table("storage").num_rows == found.manifest["tag"]

    save(recording(rows=4), tmp_path / "run", force=True)
    assert names(tmp_path) == ["run"]


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def leftover(tmp_path: Path) -> Iterator[Path]:
    """The temporary folder of a run under way in this process."""
    with writer(tmp_path / "other", PROVENANCE, tables=["storage"]):
        (folder,) = tmp_path.iterdir()
        yield folder


def test_the_folder_of_a_run_under_way_is_left_alone(tmp_path: Path, leftover: Path) -> None:
    save(recording(), tmp_path / "run")

    assert leftover.is_dir()


def test_the_folder_of_a_killed_run_is_removed(tmp_path: Path, leftover: Path) -> None:
    killed = leftover.with_name(leftover.name.replace(f"-{os.getpid()}-", f"-{dead_process()}-"))
    killed.mkdir()
    save(recording(), tmp_path / "run")

    assert not killed.exists()


def test_a_dead_process_number_of_another_machine_proves_nothing(tmp_path: Path, leftover: Path) -> None:
    machine = leftover.name.split(".twin-")[1][:8]
    elsewhere = leftover.with_name(
        leftover.name.replace(machine, "00000000").replace(f"-{os.getpid()}-", f"-{dead_process()}-")
    )
    elsewhere.mkdir()
    save(recording(), tmp_path / "run")

    assert elsewhere.is_dir()


def test_hidden_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".cache.tmp").mkdir()
    save(recording(), tmp_path / "run")

    assert names(tmp_path) == [".cache.tmp", "run"]


# --- a name that is taken


def test_an_existing_run_is_never_overwritten_unasked(tmp_path: Path) -> None:
    save(recording(rows=2), tmp_path / "run")

    with pytest.raises(RunDirectoryError, match=r"exists already.*--force"):
        save(recording(rows=9), tmp_path / "run")
    assert open_run(tmp_path / "run").table("storage").num_rows == 2


def test_force_replaces_a_run(tmp_path: Path) -> None:
    save(recording(rows=2), tmp_path / "run")
    save(recording(rows=9), tmp_path / "run", force=True)

    assert names(tmp_path) == ["run"]
    assert open_run(tmp_path / "run").table("storage").num_rows == 9


def test_a_recording_can_replace_the_very_run_it_reads_from(tmp_path: Path) -> None:
    save(recording(rows=2), tmp_path / "run")
    save(open_run(tmp_path / "run"), tmp_path / "run", force=True)

    assert open_run(tmp_path / "run").table("storage").num_rows == 2


def test_a_run_that_appeared_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE, tables=["storage"]) as run:
        save(recording(rows=2), tmp_path / "run")
        with pytest.raises(RunDirectoryError, match="exists already"):
            run.commit(manifest({"storage": 0}))

    assert open_run(tmp_path / "run").table("storage").num_rows == 2


def test_an_empty_folder_may_become_a_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    save(recording(), tmp_path / "run")

    assert open_run(tmp_path / "run").manifest["name"] == "hand-made"


@pytest.mark.parametrize("content", ["thesis.txt", "run.json"])
def test_force_replaces_no_folder_that_is_not_a_run(tmp_path: Path, content: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / content).write_text('{"precious": true}')

    with pytest.raises(RunDirectoryError, match="is not a run directory"):
        save(recording(), tmp_path / "home", force=True)
    assert names(tmp_path / "home") == [content]


def test_force_replaces_no_file(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("precious")

    with pytest.raises(RunDirectoryError, match="is not a run directory"):
        save(recording(), tmp_path / "notes", force=True)
    assert (tmp_path / "notes").read_text() == "precious"


def test_a_link_to_a_run_is_followed(tmp_path: Path) -> None:
    save(recording(rows=2), tmp_path / "run")
    (tmp_path / "latest").symlink_to(tmp_path / "run")
    save(recording(rows=9), tmp_path / "latest", force=True)

    assert (tmp_path / "latest").is_symlink()
    assert open_run(tmp_path / "run").table("storage").num_rows == 9


# --- places where nothing can be written


def test_a_file_in_the_place_of_a_parent_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(RunDirectoryError, match=r"file/run: the run cannot be written there: Not a directory"):
        save(recording(), tmp_path / "file" / "run")


def test_a_name_that_is_too_long_is_refused_before_the_run(tmp_path: Path) -> None:
    with (
        pytest.raises(RunDirectoryError, match="File name too long"),
        writer(tmp_path / ("x" * 300), PROVENANCE),
    ):
        pytest.fail("the run must not start")
    assert names(tmp_path) == []


def test_the_longest_legal_name_works(tmp_path: Path) -> None:
    save(recording(), tmp_path / ("ä" * 127))  # 254 of 255 bytes

    assert names(tmp_path) == ["ä" * 127]


def test_a_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="NUL"):
        save(recording(), tmp_path / "a\0b")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a file system in which nobody can make a folder")
def test_a_place_where_nobody_may_write_is_an_error_of_ours() -> None:
    with pytest.raises(RunDirectoryError, match="/proc/run: the run cannot be written there"):
        save(recording(), "/proc/run")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a small file system")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_said_and_leaves_nothing(small_disk: Path) -> None:
    with pytest.raises(RunDirectoryError, match="No space left on device"):
        save(recording(rows=300_000), small_disk / "run")

    assert names(small_disk) == []


# --- folders that are not runs, or damaged


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


def test_every_table_of_the_format_can_be_written_and_opened_empty(tmp_path: Path) -> None:
    with writer(tmp_path / "run", PROVENANCE) as run:
        run.commit(manifest(dict.fromkeys(TABLES, 0)))

    opened = open_run(tmp_path / "run")

    assert [opened.table(name).schema.names for name in TABLES] == [
        [column.name for column in columns] for columns in TABLES.values()
    ]
