"""What is unfinished has a name beside its target, and what killed processes left of it is swept up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from twin import unfinished


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def left_by(pid: int, target: Path) -> Path:
    name = unfinished.beside(target, "tmp")
    return name.with_name(name.name.replace(f"-{os.getpid()}-", f"-{pid}-"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_two_names_for_one_target_differ(tmp_path: Path) -> None:
    assert unfinished.beside(tmp_path / "a", "tmp") != unfinished.beside(tmp_path / "a", "tmp")


@pytest.mark.parametrize("name", ["ä" * 127, "\U0001f600" * 63, os.fsdecode(b"\xff" * 255)])
def test_the_longest_legal_target_has_a_legal_name_beside_it(tmp_path: Path, name: str) -> None:
    unfinished.beside(tmp_path / name, "tmp").touch()


def test_files_folders_and_links_of_a_dead_process_go_and_what_links_lead_to_stays(tmp_path: Path, dead: int) -> None:
    (tmp_path / "kept").mkdir()
    left_by(dead, tmp_path / "page.html").touch()
    left_by(dead, tmp_path / "run").mkdir()
    left_by(dead, tmp_path / "link").symlink_to(tmp_path / "kept")

    unfinished.remove_leftovers(tmp_path)

    assert names(tmp_path) == ["kept"]


def test_what_a_living_process_works_on_stays(tmp_path: Path) -> None:
    living = left_by(os.getppid(), tmp_path / "run")
    living.mkdir()

    unfinished.remove_leftovers(tmp_path)

    assert living.is_dir()


def test_a_folder_that_cannot_be_listed_is_no_error(tmp_path: Path) -> None:
    unfinished.remove_leftovers(tmp_path / "absent")
