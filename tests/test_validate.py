"""`twin validate` reads the launch log of a replay, as a run would, and says what it gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twin import api

SCENARIO = """\
twin: 1
name: replayed
replay: {file: log.csv, min_gpus: 8}
power: {cap: 1 MW}
"""
LOG = "job_id,submit_s,nodes,work_s\na,0,1,3600\nb,60,2,7200\nc,soon,1,60\nd,\x1b[2J,1,60\n"


@pytest.fixture
def replay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text(LOG)
    Path("replay.yaml").write_text(SCENARIO)
    return "replay.yaml"


def test_a_replay_is_valid_with_the_rows_of_its_log_and_the_first_line_of_each_reason(run, replay):
    code, out, err = run("validate", replay)
    lines = [" ".join(line.split()) for line in out.splitlines()]

    assert (code, err) == (0, "")
    assert lines[:5] == [
        "replay.yaml: valid: launch log: log.csv",
        "file log.csv (schedule)",
        "rows read 4",
        "rows dropped 2, submit_s is not a finite number (first on line 4: 'soon')",
        "rows kept 2, 2 jobs",
    ]
    assert "submitted 0 s to 60 s after t = 0" in lines


def test_the_verdict_as_json_holds_the_report_of_the_run(run, replay):
    code, out, _ = run("validate", replay, "--json")
    (verdict,) = json.loads(out)

    assert code == 0
    assert verdict["import_report"] == api.simulate(api.load(replay)).manifest["import_report"]


@pytest.mark.parametrize(
    ("log", "rule"),
    [
        (b"job_id,submit_s\n", "lack what the schedule format needs: nodes or gpus"),
        (b"job_id,submit_s,nodes,work_s\n", "has a header line, but no rows"),
        (b"job_id,submit_s,nodes,work_s\na,2024-05-01,1,60\n", "leaves no job of 1 rows read"),
        (b"", "is empty"),
        (b"\x1f\x8b", "is a gzip file that is cut short"),
    ],
)
def test_a_log_that_leaves_no_job_makes_the_scenario_invalid(run, replay, log, rule):
    Path("log.csv").write_bytes(log)
    code, out, err = run("validate", replay)

    assert (code, out) == (2, "")
    assert err.startswith("replay.yaml: log.csv")
    assert rule in err
    assert err.count("\n") == 1


def test_a_log_that_is_not_there_makes_the_scenario_invalid(run, replay):
    Path("log.csv").unlink()
    code, _, err = run("validate", replay)

    assert code == 2
    assert "log.csv" in err


def test_a_bad_log_of_one_scenario_leaves_the_verdict_on_the_next(run, replay):
    Path("bad.yaml").write_text(SCENARIO.replace("log.csv", "bad.csv"))
    Path("bad.csv").write_text("job_id,submit_s,node,work_s\na,0,1,60\n")
    code, out, _ = run("validate", "bad.yaml", replay, "--json")
    bad, good = json.loads(out)

    assert code == 2
    assert (bad["valid"], good["valid"]) == (False, True)
    assert bad["faults"][0]["key"] == "replay.file"
    assert bad["faults"][0]["remedy"] == "rename 'node' to nodes in the header line"


def test_a_cap_below_the_idle_draw_of_a_job_of_the_log_makes_the_scenario_invalid(run, replay):
    code, _, err = run("validate", replay, "--set", "power.cap=2kW")

    assert code == 2
    assert "idle draw of job 'b'" in err


def test_the_warnings_of_the_log_are_told(run, replay):
    Path("log.csv").write_text(LOG + "e,then,1,60\n")
    code, _, err = run("validate", replay)

    assert code == 0
    assert err.startswith("replay.yaml: warning: 3 of 5 rows could not be read")


def test_run_shows_the_first_line_of_each_reason_and_no_control_characters(run, replay):
    Path("log.csv").write_text("job_id,submit_s,nodes,work_s\na,0,1,3600\nb\x1b[2J,0,1,60\n")
    code, out, _ = run("run", replay)

    assert code == 0
    assert "(first on line 3: 'b\\x1b[2J')" in out
    assert "\x1b[2J" not in out


def test_columns_that_are_not_read_are_named(run, replay):
    Path("log.csv").write_text("job_id,submit_s,nodes,work_s,state,user\na,0,1,60,FAILED,me\n")
    out = run("validate", replay)[1]

    assert any(" ".join(line.split()) == "columns not read state, user" for line in out.splitlines())
