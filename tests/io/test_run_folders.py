"""Where a run may go: a name that is taken is not overwritten unasked, a place that cannot be written is named."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.io.hand_made_runs import PROVENANCE, manifest, names, recording
from twin.errors import RunDirectoryError
from twin.io.run_directory import open_run, save, writer

# A name that is taken


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


# Places where nothing can be written


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
