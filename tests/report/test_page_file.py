"""A page appears complete or not at all, and never over a file that is no report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.fleets import run_of
from twin import unfinished
from twin.errors import TwinError
from twin.report import page_file
from twin.report.document import GENERATOR

OURS = f'<html><head><meta name="generator" content="{GENERATOR}, 0.1">old'
SCENARIO = """\
twin: 1
name: pair
stop: {cycles: 2}
jobs:
  - {name: llm, count: 2, launch: {every: 5 s}}
"""


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_of(Path("runs/small"), stop={"cycles": 2})
    Path("pair.yaml").write_text(SCENARIO)
    return tmp_path


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


# twin report


def test_without_out_the_page_is_beside_the_run_directory(runs, run):
    assert run("report", "runs/small") == (0, "", "report: runs/small.html\n")
    assert names("runs") == ["small", "small.html"]
    assert Path("runs/small.html").read_text().startswith("<!DOCTYPE html>")


def test_the_page_goes_where_asked_and_folders_are_made(runs, run):
    assert run("report", "runs/small", "-o", "pages/a.html", "--quiet") == (0, "", "")
    assert names("pages") == ["a.html"]


def test_the_page_of_the_current_folder_is_beside_it(runs, run, monkeypatch):
    monkeypatch.chdir("runs/small")
    assert run("report", ".", "--quiet")[0] == 0
    assert names("..") == ["small", "small.html"]


def test_an_earlier_report_is_replaced_unasked_and_another_file_only_by_force(runs, run):
    assert run("report", "runs/small", "-o", "a.html")[0] == 0
    assert run("report", "runs/small", "-o", "a.html")[0] == 0
    Path("notes.html").write_text("<html>mine</html>")
    code, out, err = run("report", "runs/small", "-o", "notes.html")
    assert (code, out) == (2, "")
    assert err.startswith("notes.html: exists, and is no racktwin report;")
    assert Path("notes.html").read_text() == "<html>mine</html>"
    assert run("report", "runs/small", "-o", "notes.html", "--force")[0] == 0
    assert "racktwin report" in Path("notes.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "runs"), "runs: has no run.json, so it is not a run directory"),
        (("report", "nowhere"), "nowhere: does not exist"),
        (("report", "pair.yaml"), "pair.yaml: is not a folder"),
        (("report", "runs/small", "-o", "runs"), "runs: is a folder, and a page is one file"),
        (("report", "runs/small", "-o", "/dev/null", "--force"), "/dev/null: is no regular file"),
        (("report", "runs/small", "-o", "pair.yaml/a.html"), "pair.yaml/a.html: the page cannot be written there"),
        (("report", "runs/small", "-o", "a\0.html"), "'a\\x00.html': a file name cannot hold a NUL"),
    ],
)
def test_what_cannot_be_reported_ends_with_two_and_a_message(runs, run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_a_damaged_table_ends_with_two_and_no_page(runs, run):
    table = Path("runs/small/storage.parquet")
    content = bytearray(table.read_bytes())
    content[4:200] = bytes(196)
    table.write_bytes(content)
    code, _, err = run("report", "runs/small")
    assert code == 2
    assert "the run directory is damaged" in err
    assert names("runs") == ["small"]


# twin run --report


def test_a_run_with_report_leaves_its_page_beside_its_directory(runs, run):
    code, _, err = run("run", "pair.yaml", "--out", "out/pair", "--report")
    assert code == 0
    assert err == "run directory: out/pair\nreport: out/pair.html\n"
    assert names("out") == ["pair", "pair.html"]


def test_a_name_taken_by_another_file_is_found_before_the_run(runs, run):
    Path("pair.html").write_text("mine")
    code, _, err = run("run", "pair.yaml", "--out", "pair", "--report")
    assert code == 2
    assert err.startswith("pair.html: exists")
    assert not Path("pair").exists()


def test_help_of_report_loads_neither_charts_nor_tables():
    code = 'import sys, twin.cli; twin.cli.main(["report", "--help"]); print(*sys.modules, file=sys.stderr)'
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert set(ended.stderr.split()) & {"plotly", "numpy", "pyarrow", "simpy"} == set()


# The file


def test_whatever_ends_the_writing_leaves_the_old_page(tmp_path, monkeypatch):
    page = tmp_path / "a.html"
    page.write_text(OURS)

    def fail(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(TwinError, match="No space left on device"):
        page_file.write(page, "new")
    assert page.read_text() == OURS
    assert names(tmp_path) == ["a.html"]


def test_leftovers_of_a_killed_process_are_removed_and_those_of_a_living_one_stay(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    living = unfinished.beside(tmp_path / "a.html", "tmp")
    living.write_text("half")
    living.with_name(living.name.replace(f"-{os.getpid()}-", f"-{ended.pid}-")).write_text("half")
    page_file.write(tmp_path / "b.html", OURS)
    assert names(tmp_path) == sorted([living.name, "b.html"])


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "real.html").write_text(OURS)
    (tmp_path / "link.html").symlink_to("real.html")
    page_file.write(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "new"


def test_the_page_of_a_folder_with_dots_in_its_name_keeps_them():
    assert page_file.beside("runs/cap-1.5") == Path("runs/cap-1.5.html")
