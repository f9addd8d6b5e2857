"""From an empty folder: the first commands a user types, and every way in which a run can end early."""

from __future__ import annotations

import os
import pty
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from twin.io.run_directory import open_run

ENDLESS = """\
twin: 1
name: endless
stop: {cycles: 100000000}
jobs:
  - {name: llm, count: 4, nodes: 64, launch: {every: 5 s}}
"""
STANDING = """\
twin: 1
name: standing
stop: {time: 2e9}
jobs:
  - {name: calm, compute: 100 s, checkpoint: {size: 1 GB}, launch: {at: [1e9]}}
  - {name: tiny, compute: 1e-9, checkpoint: {size: 1}, launch: {at: [1e9]}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def endless():
    Path("endless.yaml").write_text(ENDLESS)


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


# init


def test_init_alone_writes_a_scenario_and_says_what_to_type_next(run):
    assert run("init") == (
        0,
        "wrote mid-fleet.yaml\nnext: twin run mid-fleet.yaml --report\nother starters: twin init --list\n",
        "",
    )
    assert files() == ["mid-fleet.yaml"]


def test_init_lists_each_starter_in_a_line_with_its_question_and_writes_nothing(run):
    code, out, _ = run("init", "--list")
    lines = out.splitlines()
    assert code == 0
    assert {"mid-fleet", "phase-blind", "replay", "staggered", "in-step"} <= {line.split()[0] for line in lines}
    assert all(line.endswith("?") for line in lines)
    assert files() == []


def test_a_starter_that_is_there_is_kept_and_init_ends_with_two(run):
    Path("replay.yaml").write_text("mine")
    code, out, err = run("init", "replay")
    assert (code, out) == (2, "")
    assert err.startswith("replay.yaml: exists already")
    assert Path("replay.yaml").read_text() == "mine"


def test_a_replay_runs_in_the_folder_it_was_written_to(run):
    run("init", "replay")
    assert run("run", "replay.yaml", "--quiet", "--set", "stop.time=1 d") == (0, "", "")
    assert files() == ["launches.csv", "replay.yaml", "runs"]


# Limits and stalls


def test_a_run_of_too_many_events_ends_with_two_and_writes_nothing(run, endless):
    code, out, err = run("run", "endless.yaml", "--out", "out", "--max-events", "5000")
    assert (code, out) == (2, "")
    assert err.startswith("the run was given up after 5000 events")
    assert err.count("\n") == 1
    assert files() == ["endless.yaml"]


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_limit_that_is_no_positive_number_is_bad_input(run, endless, limit):
    code, _, err = run("run", "endless.yaml", "--max-events", limit)
    assert code == 2
    assert "--max-events" in err


def test_time_that_stands_still_ends_with_two_and_the_name_of_the_job(run):
    Path("standing.yaml").write_text(STANDING)
    code, out, err = run("run", "standing.yaml", "--out", "out")
    assert (code, out) == (2, "")
    assert err.startswith("simulated time stands still at 1e+09 s: tiny-0 ")
    assert "calm" not in err
    assert files() == ["standing.yaml"]


# Signals

COMMAND = "import sys; from twin.__main__ import main; print('ready', flush=True); sys.exit(main())"
RUN = [sys.executable, "-c", COMMAND, "run", "endless.yaml", "--out", "out"]


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process, ended with the block whatever happens in it."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_rows() -> None:
    for _ in range(1200):
        if any(path.stat().st_size > 1000 for path in Path.cwd().glob(".*/*.parquet")):
            return
        time.sleep(0.05)
    raise AssertionError("no run began to write")


def test_a_terminated_run_leaves_nothing_and_no_traceback(endless):
    with started(RUN) as command:
        wait_for_rows()
        command.send_signal(signal.SIGTERM)
        out, err = command.communicate(timeout=60)
    assert (command.returncode, out, err) == (143, b"ready\n", b"terminated\n")
    assert files() == ["endless.yaml"]


@pytest.mark.parametrize("round_number", range(8))
def test_an_interrupt_at_any_moment_ends_with_130_and_leaves_nothing(endless, round_number):
    delay_s = random.Random(round_number).uniform(0.01, 1.5)  # noqa: S311 - loading takes about 1 s, then it writes
    with started(RUN) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == b"ready\n"
        time.sleep(delay_s)
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=60)
    assert command.returncode == 130
    assert err.strip() in (b"interrupted", b"")
    assert files() == ["endless.yaml"]


def test_an_interrupted_replacement_leaves_the_old_run(run, endless):
    assert run("run", "endless.yaml", "--out", "out", "--quiet", "--set", "stop.cycles=3")[0] == 0
    with started([*RUN, "--force"]) as command:
        wait_for_rows()
        command.send_signal(signal.SIGINT)
        command.communicate(timeout=60)
    assert command.returncode == 130
    assert files() == ["endless.yaml", "out"]
    assert open_run("out").manifest["scenario"]["stop"]["cycles"] == 3


# Progress


def on_a_terminal(*options: str) -> bytes:
    """What an endless run tells a terminal until it is interrupted, once it had time to say something."""
    own, terminal = pty.openpty()
    command = subprocess.Popen(
        [*RUN, *options], stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "TERM": "xterm"}
    )
    os.close(terminal)
    wait_for_rows()
    told = b""
    deadline_s = time.monotonic() + 60.0
    if "--quiet" not in options:
        while b"left" not in told and time.monotonic() < deadline_s:
            told += os.read(own, 10_000)
    command.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(own, 10_000):
            told += chunk
    except OSError:  # how a terminal says that the other side is gone
        pass
    command.wait(timeout=60)
    os.close(own)
    return told


def test_a_terminal_shows_simulated_time_rate_and_time_left_then_one_line(endless):
    told = on_a_terminal()
    assert b"simulated " in told
    assert b" events/s, " in told
    assert told.endswith(b"interrupted\r\n")
    assert b"Traceback" not in told


def test_a_quiet_run_shows_no_progress_on_a_terminal(endless):
    assert on_a_terminal("--quiet").strip() == b"interrupted"
