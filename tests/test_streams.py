"""Streams that take nothing and names that are no text: the exit code still says how it ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from twin.io.run_directory import open_run

SCENARIO = b"""\
twin: 1
name: pair
stop: {cycles: 2}
jobs:
  - {name: llm, count: 2, launch: {every: 5 s}}
"""
ODD = os.fsdecode(b"odd-\xff")  # a legal file name, and no UTF-8

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pair.yaml").write_bytes(SCENARIO)


def twin(command: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command line as a shell runs it; ``$ODD`` is the odd name."""
    ended = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m twin {command}'],
        capture_output=True,
        check=False,
        env={**os.environ, "ODD": ODD},
    )
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


def cycles(run: str) -> int:
    """Checkpoints of each job; every table is read to its last row, so that a stream written into one would show."""
    recording = open_run(run)
    tables = {name: recording.table(name) for name in recording.sources}
    return min(tables["jobs"]["cycles"].to_pylist())


# Full streams


@needs_full
@pytest.mark.parametrize(
    "command", ["--help", "--version", "schema", "run --help", "run pair.yaml --out out --quiet --json"]
)
def test_results_that_cannot_be_printed_end_with_two_and_name_the_stream(command):
    code, _, err = twin(f"{command} > /dev/full")
    assert code == 2
    assert err == ("standard output: No space left on device; check the file, its permissions and the space left\n")


@needs_full
def test_a_summary_that_cannot_be_printed_leaves_the_run_whole():
    code, _, err = twin("run pair.yaml --out out > /dev/full")
    assert (code, err.splitlines()[0]) == (2, "run directory: out")
    assert cycles("out") == 2


@needs_full
def test_notes_that_nobody_can_hear_are_no_fault_of_a_run():
    code, out, _ = twin("run pair.yaml --out out 2> /dev/full")
    assert code == 0
    assert out.startswith("pair\n")


@needs_full
@pytest.mark.parametrize("command", ["run absent.yaml", "--no-such-option", "run", "report absent"])
def test_bad_input_ends_with_two_even_if_its_message_is_lost(command):
    assert twin(f"{command} 2> /dev/full")[0] == 2


# Closed streams


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_fault_of_a_run_and_no_table_gets_its_number(closed):
    assert twin(f"run pair.yaml --out out --report {closed}")[0] == 0
    assert cycles("out") == 2
    assert Path("out.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_bad_input_ends_with_two_though_stderr_is_closed():
    assert twin("run absent.yaml 2>&-")[0] == 2


# Names that are no text


def test_a_run_and_its_page_may_have_a_name_that_is_no_utf_8():
    code, _, err = twin('run pair.yaml --out "$ODD" --report')
    assert (code, err) == (0, "run directory: odd-\\udcff\nreport: odd-\\udcff.html\n")
    assert cycles(ODD) == 2
    assert Path(f"{ODD}.html").is_file()


def test_such_a_run_is_refused_replaced_and_reported_like_any_other():
    assert twin('run pair.yaml --out "$ODD" --quiet')[0] == 0
    code, _, err = twin('run pair.yaml --out "$ODD"')
    assert code == 2
    assert "odd-\\udcff: exists already" in err
    assert twin('run pair.yaml --out "$ODD" --force --quiet --set stop.cycles=1') == (0, "", "")
    assert cycles(ODD) == 1
    assert twin('report "$ODD" -o "$ODD.page" --quiet') == (0, "", "")
    assert Path(f"{ODD}.page").is_file()


def test_a_scenario_and_its_log_may_be_in_a_folder_of_such_a_name():
    Path(ODD).mkdir()
    Path(ODD, "log.csv").write_text("job_id,submit_s,nodes,work_s\na,0,1,60\n")
    Path(ODD, "replay.yaml").write_text("twin: 1\nname: r\nreplay: {file: log.csv}\n")
    assert twin('run "$ODD/replay.yaml" --out out --quiet') == (0, "", "")


def test_such_a_scenario_that_is_not_there_is_named():
    code, _, err = twin('run "$ODD.yaml"')
    assert code == 2
    assert err.startswith("odd-\\udcff.yaml: does not exist;")
