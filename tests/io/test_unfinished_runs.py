"""A run directory is complete or absent, whatever ends the run and whenever."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.io.hand_made_runs import PROVENANCE, names, recording, storage_batch
from twin.errors import RunDirectoryError
from twin.io.run_directory import open_run, save, writer


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
    def no_room(path: bytes, mode: str) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(pa, "OSFile", no_room)
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
from tests.io.hand_made_runs import recording
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
