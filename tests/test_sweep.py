"""``twin sweep``: every point once, whatever ends it; resumed, extended and repaired by the same command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

import twin
from tests.planning_cases import scenario
from twin import planning
from twin.io.sweep_directory import read_sweep
from twin.studies.sweep import plain_rows

GRID = ["power.cap=180kW..240kW:3", "jobs.llm.checkpoint.mode=blocking,async"]


def sweep(tmp_path, document=None, grid=GRID, **options):
    document = scenario() if document is None else document
    return planning.sweep(document, tmp_path / "sweep", grid=grid, **{"replicas": 2, "processes": 0} | options)


@pytest.fixture
def small(tmp_path):
    """The path of a small scenario."""
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(scenario()))
    return str(path)


def test_there_is_one_row_per_point_and_replica_in_the_order_of_the_grid(tmp_path):
    table = sweep(tmp_path).sweep.table.to_pandas()

    assert table["power.cap"].tolist() == [180e3] * 4 + [210e3] * 4 + [240e3] * 4
    assert table["jobs.llm.checkpoint.mode"].tolist() == ["blocking", "blocking", "async", "async"] * 3
    assert table.replica.tolist() == [0, 1] * 6
    assert table.point.nunique() == 6


def test_a_row_holds_the_summary_numbers_of_that_run_to_the_last_bit(tmp_path):
    row = plain_rows(sweep(tmp_path).sweep.table)[3]
    run = twin.load(scenario(), ["power.cap=180 kW", "jobs.llm.checkpoint.mode=async"])
    metrics = twin.measure(run, 1)

    assert {name: row[name] for name in metrics} == metrics


def test_results_are_hive_partitions_that_any_reader_of_parquet_finds(tmp_path):
    outcome = sweep(tmp_path)
    found = pd.read_parquet(tmp_path / "sweep" / "results")
    table = outcome.sweep.table.to_pandas()

    assert len(found) == 12
    merged = found.assign(point=found.point.astype(str), replica=found.replica.astype(int))
    both = merged.merge(table, on=["point", "replica"])
    assert (both.goodput_x == both.goodput_y).all()
    assert len(both) == 12


def test_columns_carry_their_unit_and_meaning(tmp_path):
    schema = sweep(tmp_path).sweep.table.schema

    assert schema.field("power.cap").metadata[b"unit"] == b"W"
    assert schema.field("energy_j").metadata[b"unit"] == b"J"
    assert b"Full-speed work" in schema.field("goodput").metadata[b"meaning"]


def test_a_finished_point_never_runs_twice(tmp_path):
    first = sweep(tmp_path)
    again = sweep(tmp_path)

    assert (first.ran, again.ran) == (12, 0)
    assert again.sweep.table.equals(first.sweep.table)


def test_a_value_more_runs_only_what_is_new(tmp_path):
    sweep(tmp_path)
    more = sweep(tmp_path, grid=["power.cap=180kW..270kW:4", GRID[1]])

    assert more.ran == 4
    assert more.sweep.table.num_rows == 16


def test_another_axis_runs_only_what_is_new(tmp_path):
    sweep(tmp_path)
    more = sweep(tmp_path, grid=[*GRID, "storage.bandwidth=20 GB/s, 30 GB/s"])

    assert more.ran == 12
    assert more.sweep.table.num_rows == 24


def test_points_of_the_same_content_run_once(tmp_path):
    outcome = sweep(tmp_path, grid=["power.cap=210 kW, 210000"])

    assert outcome.ran == 2
    assert outcome.sweep.table.num_rows == 4


def test_words_of_the_scenario_change_no_point(tmp_path):
    first = sweep(tmp_path)
    again = sweep(tmp_path, scenario(question="Which cap?", answer="That one.", name="renamed"))

    assert again.ran == 0
    assert again.sweep.table.equals(first.sweep.table)


def test_another_launch_log_makes_other_points(tmp_path):
    log = tmp_path / "log.csv"
    document = {
        "twin": 1,
        "name": "log",
        "replay": {"file": str(log), "profile": "h100"},
        "storage": {"bandwidth": "20 GB/s"},
    }
    log.write_text("job_id,submit_s,nodes,work_s\na,0,2,4000\n")
    sweep(tmp_path, document, grid=["storage.bandwidth=10GB/s,20GB/s"], replicas=1)
    log.write_text("job_id,submit_s,nodes,work_s\na,0,2,4000\nb,0,2,4000\n")

    with pytest.raises(twin.RunDirectoryError, match="another scenario"):
        sweep(tmp_path, document, grid=["storage.bandwidth=10GB/s,20GB/s"], replicas=1)


def test_a_combination_that_cannot_be_fails_alone_and_a_value_that_never_can_is_bad_input(tmp_path):
    outcome = sweep(tmp_path, grid=["power.cap=10kW..210kW:2", GRID[1]])

    assert outcome.sweep.table["power.cap"].to_pylist() == [210e3] * 4
    assert [replica for _, replica, _ in outcome.failures] == [None, None]
    assert "could never compute" in outcome.failures[0][2]
    with pytest.raises(twin.ScenarioError, match="must be one of blocking, async"):
        sweep(tmp_path, grid=["power.cap=210 kW", "jobs.llm.checkpoint.mode=blocking,asink"])


def test_a_run_that_fails_is_kept_with_its_error_and_run_again_only_when_asked(tmp_path, monkeypatch):
    stalls = ["power.cap=60 kW, 210 kW"]  # 32 nodes of 1.8 kW idle draw 57.6 kW: with all computing, 2.4 kW are left
    first = sweep(tmp_path, grid=["power.cap=50 kW, 210 kW"])

    assert [(values["power.cap"], replica) for values, replica, _ in first.failures] == [(50e3, 0), (50e3, 1)]
    assert "never move again" in first.failures[0][2]
    assert sweep(tmp_path, grid=["power.cap=50 kW, 210 kW"]).ran == 0
    assert sweep(tmp_path, grid=["power.cap=50 kW, 210 kW"], retry_failed=True).ran == 2
    assert sweep(tmp_path, grid=stalls).failures == []


def test_a_sample_fills_the_ranges_and_is_the_same_again(tmp_path):
    grid = ["power.cap=180kW..240kW", "jobs.llm.nodes=4..8"]
    outcome = sweep(tmp_path, grid=grid, sample="sobol:8", replicas=1)
    table = outcome.sweep.table.to_pandas()

    assert outcome.ran == 8
    assert table["power.cap"].between(180e3, 240e3).all()
    assert set(table["jobs.llm.nodes"]) <= {4.0, 5.0, 6.0, 7.0, 8.0}
    assert sweep(tmp_path, grid=grid, sample="sobol:8", replicas=1).ran == 0


def test_a_point_that_a_sample_draws_twice_counts_once(tmp_path):
    grid = ["jobs.llm.checkpoint.mode=blocking,async"]
    outcome = sweep(tmp_path, grid=grid, sample="sobol:8", replicas=1)

    assert outcome.sweep.table.num_rows == 2


def test_a_controller_may_be_called_by_its_policy(tmp_path):
    outcome = sweep(tmp_path, grid=["power.controller=anonymous,{policy: delayed, delay: 9 s}"], replicas=1)

    assert outcome.sweep.table.num_rows == 2


def test_traces_are_run_directories(tmp_path):
    outcome = sweep(tmp_path, grid=["power.cap=210 kW"], replicas=1, traces=True)
    (point,) = outcome.sweep.table["point"].to_pylist()
    run = twin.open_run(tmp_path / "sweep" / "traces" / f"point={point}" / "replica=0")

    assert run.manifest["metrics"]["goodput"] == outcome.sweep.table["goodput"].to_pylist()[0]


def test_a_trace_whose_result_was_lost_is_made_again(tmp_path):
    sweep(tmp_path, grid=["power.cap=210 kW"], replicas=1, traces=True)
    next((tmp_path / "sweep" / "results").rglob("metrics.parquet")).unlink()

    assert sweep(tmp_path, grid=["power.cap=210 kW"], replicas=1, traces=True).failures == []


def test_a_table_of_an_earlier_grid_is_no_table_of_this_one(tmp_path, monkeypatch):
    sweep(tmp_path, grid=["power.cap=210 kW"])
    monkeypatch.setattr("twin.studies.workers._Here.map", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path, grid=["power.cap=210 kW", "storage.bandwidth=20 GB/s,30 GB/s"])

    with pytest.raises(twin.RunDirectoryError, match="has not been through"):
        read_sweep(tmp_path / "sweep")


def test_a_sample_that_is_no_power_of_two_is_said_to_be_less_even(small, tmp_path, run):
    grid = ("--grid", "power.cap=180kW..240kW", "--sample", "sobol:3", "--workers", "0")
    code, _, err = run("sweep", small, *grid, "--out", str(tmp_path / "s"))

    assert code == 0
    assert "as sobol:2 or sobol:4" in err


def command(small, folder, *options):
    return [
        *[sys.executable, "-m", "twin", "sweep", small, "--grid", "power.cap=150kW..249kW:100", "--replicas", "2"],
        *["--out", str(folder), "--workers", "2", *options],
    ]


def results(folder):
    return {path.parent: path.stat().st_mtime_ns for path in folder.glob("results/*/*/metrics.parquet")}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=["kill", "term", "int"])
def test_a_sweep_that_was_ended_goes_on_with_what_is_unfinished_and_ends_with_the_same_table(tmp_path, small, number):
    ended, whole = tmp_path / "ended", tmp_path / "whole"
    process = subprocess.Popen(command(small, ended), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60.0
    while len(results(ended)) < 20 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    said = process.communicate(timeout=30)[1]
    before = results(ended)
    assert 20 <= len(before) < 200
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert "Traceback" not in said
    if number != signal.SIGKILL:
        assert "run the same command again" in said

    again = subprocess.run(command(small, ended), capture_output=True, check=True, text=True)
    subprocess.run(command(small, whole), capture_output=True, check=True)

    after = results(ended)
    assert {place: after[place] for place in before} == before  # not one was written again
    assert f"{200 - len(before)} run now" in again.stderr
    assert pq.read_table(ended / "sweep.parquet").equals(pq.read_table(whole / "sweep.parquet"))


def test_ctrl_c_reaches_the_whole_group_and_only_the_command_answers(tmp_path, small):
    process = subprocess.Popen(
        command(small, tmp_path / "s"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60.0
    while len(results(tmp_path / "s")) < 10 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=30)[1]

    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said


def test_a_cluster_started_by_hand_gives_the_same_table(tmp_path):
    from tests.studies.test_workers import cluster

    here = sweep(tmp_path / "here")
    with cluster(2) as (address, _):
        there = sweep(tmp_path / "there", scheduler=address)

    assert there.sweep.table.equals(here.sweep.table)


def test_a_lost_scheduler_ends_the_command_in_words_and_the_same_command_goes_on(tmp_path, small):
    from tests.studies.test_workers import cluster

    folder = tmp_path / "lost"
    with cluster(2) as (address, scheduler):
        process = subprocess.Popen(
            command(small, folder, "--scheduler", address), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 60.0
        while len(results(folder)) < 10 and time.monotonic() < deadline:
            time.sleep(0.02)
        scheduler.kill()
        killed_s = time.monotonic()
        said = process.communicate(timeout=30)[1]

    assert time.monotonic() - killed_s < 10.0  # the contract
    assert process.returncode == 2
    assert "connection to the scheduler is lost" in said
    assert "run the same command again" in said
    assert "Traceback" not in said
    assert len(results(folder)) >= 10
    again = subprocess.run(command(small, folder), capture_output=True, check=True, text=True)
    assert "200 results" in again.stderr


def test_the_best_point_stands_on_top_of_the_frontier(small, tmp_path, run):
    out = str(tmp_path / "s")
    grid = ("--grid", "power.cap=180kW..240kW:3", "--workers", "0")
    code, printed, _ = run(
        "sweep", small, *grid, "--out", out, "--best", "goodput", "--subject-to", "peak_power_w < 0.2 MW"
    )
    lines = printed.splitlines()

    assert code == 0
    assert next(line for line in lines if line.endswith("best")).split()[:2] == ["180", "kW"]
    code, printed, _ = run("sweep", small, *grid, "--out", out, "--best", "goodput", "--subject-to", "goodput > 2")
    assert "no point keeps goodput > 2" in printed


def test_json_is_one_document(small, tmp_path, run):
    grid = ("--grid", "power.cap=180kW..240kW:3", "--workers", "0")
    code, printed, _ = run("sweep", small, *grid, "--out", str(tmp_path / "s"), "--json", "--best", "goodput")
    found = json.loads(printed)

    assert code == 0
    assert len(found["results"]) == 3
    assert found["best"][0]["values"] == {"power.cap": 240e3}


def test_failures_are_listed_and_end_with_exit_code_one(small, tmp_path, run):
    code, _, err = run("sweep", small, "--grid", "power.cap=50kW,210kW", "--out", str(tmp_path / "s"), "--workers", "0")

    assert code == 1
    assert "failed: power.cap = 50 kW, replica 0: the fleet can never move again" in err
    assert "--retry-failed" in err


FAULTS = {
    "no grid": ([], "--grid: is missing"),
    "unknown key": (["--grid", "power.cup=1,2"], "write cap"),
    "wrong unit": (["--grid", "power.cap=1GB..2GB:3"], "has the unit 'B'"),
    "range without a number": (["--grid", "power.cap=1MW..2MW"], "needs a number of values"),
    "unknown metric": (["--grid", "seed=1", "--best", "godput"], "did you mean goodput"),
    "constraint without best": (["--grid", "seed=1", "--subject-to", "goodput > 1"], "give --best too"),
    "constraint that is none": (["--grid", "seed=1", "--best", "goodput", "--subject-to", "goodput"], "METRIC"),
    "constraint of a wrong unit": (
        ["--grid", "seed=1", "--best", "goodput", "--subject-to", "over_cap_s < 1 W"],
        "has the unit 'W'",
    ),
    "no such sample": (["--grid", "power.cap=1MW..2MW", "--sample", "halton:3"], "sobol:N or latin:N"),
    "no address": (["--grid", "seed=1,2", "--scheduler", "here"], "no address of a scheduler"),
}


@pytest.mark.parametrize(("options", "words"), FAULTS.values(), ids=FAULTS)
def test_bad_input_ends_with_one_message(tmp_path, small, run, options, words):
    code, out, err = run("sweep", small, "--out", str(tmp_path / "s"), *options)

    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    assert not (tmp_path / "s" / "results").exists()


def test_the_folder_of_another_scenario_of_another_kind_or_of_a_newer_format_is_left_alone(tmp_path, small, run):
    folder = tmp_path / "s"
    run("sweep", small, "--grid", "seed=1", "--out", str(folder), "--workers", "0")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    code, _, err = run("sweep", small, "--set", "storage.bandwidth=1GB/s", "--grid", "seed=1", "--out", str(folder))
    assert (code, "another scenario" in err) == (2, True)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before

    manifest = json.loads((folder / "sweep.json").read_text())
    (folder / "sweep.json").write_text(json.dumps(manifest | {"format": 99}))
    code, _, err = run("sweep", small, "--grid", "seed=1", "--out", str(folder))
    assert (code, "format 99" in err) == (2, True)

    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("mine")
    code, _, err = run("sweep", small, "--grid", "seed=1", "--out", str(other))
    assert (code, "not the folder of a sweep" in err) == (2, True)
    assert [path.name for path in other.iterdir()] == ["precious.txt"]


def test_a_damaged_result_is_named_and_can_be_made_again(tmp_path):
    sweep(tmp_path)
    path = next((tmp_path / "sweep" / "results").rglob("metrics.parquet"))
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(twin.RunDirectoryError, match="delete the file"):
        sweep(tmp_path)
    path.unlink()
    assert sweep(tmp_path).ran == 1


def test_a_full_disk_ends_the_sweep_in_words_and_keeps_what_is_done(tmp_path, monkeypatch):
    from twin.io import sweep_directory

    kept = 0
    give = sweep_directory._give

    def full_after_five(temporary, path):
        nonlocal kept
        if path.name == "metrics.parquet":
            if kept == 5:
                raise OSError(28, os.strerror(28))
            kept += 1
        give(temporary, path)

    monkeypatch.setattr(sweep_directory, "_give", full_after_five)
    with pytest.raises(twin.RunDirectoryError, match=r"No space left.*what is done is kept"):
        sweep(tmp_path)
    monkeypatch.setattr(sweep_directory, "_give", give)

    assert not list((tmp_path / "sweep").rglob("*.tmp"))
    assert sweep(tmp_path).ran == 7
    assert read_sweep(tmp_path / "sweep").table.num_rows == 12
