"""Real launch logs, simulated from end to end: every job that was kept is accounted for, with the work of its row."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import twin

LOGS = Path(__file__).parents[2] / "shared" / "data"
KALOS = {"file": str(LOGS / "acme-kalos-converted/converted_kalos_trace_rows_001-160.csv"), "format": "kalos"}
PHILLY = {
    "file": str(LOGS / "philly-csv/philly_rows_00001-20000.csv"),
    "format": "philly-csv",
    "min_gpus": 2,
    "window": ["2017-10-02", "2017-10-16"],
}
REPLAYS = {"kalos": KALOS, "philly": PHILLY}
CAP_W = {"kalos": 5e5, "philly": 2e5}  # below the peak without a cap, above the idle draw of all at once

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="needs the public logs in ../shared/data")
each_log = pytest.mark.parametrize("log", REPLAYS)


@cache
def replayed(log: str, stop_s: float | None = None) -> twin.Recording:
    mapping = {
        "twin": 1,
        "name": log,
        "replay": REPLAYS[log] | {"profile": "a100"},
        "storage": {"bandwidth": "20 GB/s", "client_bandwidth": "5 GB/s"},
        "power": {"cap": CAP_W[log]},
    }
    if stop_s is not None:
        mapping["stop"] = {"time": stop_s}
    return twin.simulate(twin.load(mapping), tables=("jobs", "checkpoints", "power"))


def durations_s(log: str) -> list[float]:
    """Durations of the rows that are to be kept, read by hand."""
    rows = [line.split(",") for line in Path(REPLAYS[log]["file"]).read_text().splitlines()]
    header, rows = rows[0], rows[1:]
    if log == "kalos":
        return [
            0.5 * float(row[header.index("num_iteration")]) for row in rows
        ]  # an iteration stands for half a second
    first, last = PHILLY["window"]
    return [float(row[1]) for row in rows if first <= row[0] < last and int(row[2]) >= PHILLY["min_gpus"]]


@each_log
def test_every_job_of_the_report_is_a_row_of_the_table(log):
    report, jobs = replayed(log).manifest["import_report"], replayed(log).frame("jobs")

    assert len(jobs) == report["jobs"] == report["rows_kept"] == len(durations_s(log))
    assert report["rows_read"] == report["rows_kept"] + sum(reason["rows"] for reason in report["dropped"])
    assert jobs.name.is_unique


@each_log
def test_without_a_limit_every_job_gets_done_with_the_work_of_its_row(log):
    jobs = replayed(log).frame("jobs")

    assert replayed(log).manifest["stopped_by"] == "done"
    assert set(jobs.state) == {"done"}
    # A rest under 1e-9 of a stretch of 1,800 s is none; the sum of up to a thousand stretches rounds far below that.
    assert sorted(jobs.work_s) == pytest.approx(sorted(durations_s(log)), rel=1e-12, abs=1800.0 * 1e-9)


@each_log
def test_no_job_starts_before_it_was_submitted_or_ends_before_its_work_is_done(log):
    jobs = replayed(log).frame("jobs")

    assert (jobs.launch_s == jobs.submit_s).all()
    assert (jobs.end_s - jobs.launch_s > jobs.work_s * (1.0 - 1e-12)).all()


@each_log
def test_every_job_ends_with_a_checkpoint_and_has_as_many_as_it_says(log):
    jobs = replayed(log).frame("jobs")
    checkpoints = replayed(log).frame("checkpoints")

    written = Counter(checkpoints.job_id)
    assert [written[job_id] for job_id in jobs.job_id] == jobs.cycles.tolist()
    assert checkpoints.groupby("job_id").write_end_s.max().tolist() == jobs.end_s.tolist()


@each_log
def test_the_cap_of_these_replays_binds(log):
    assert replayed(log).manifest["metrics"]["cap_binding_share"] > 0.005


@each_log
def test_a_replay_cut_at_a_third_of_its_time_still_has_every_job_in_some_state(log):
    whole_s = replayed(log).manifest["simulated_end_s"]
    cut = replayed(log, whole_s / 3.0)
    jobs, whole = cut.frame("jobs"), replayed(log).frame("jobs")

    assert jobs.name.tolist() == whole.name.tolist()
    assert set(jobs.state) >= {"done", "computing", "pending"}
    assert jobs.launch_s.isna().tolist() == (jobs.state == "pending").tolist()
    assert jobs.end_s.isna().tolist() == (jobs.state != "done").tolist()
    assert (jobs.work_s <= whole.work_s).all()
    done = jobs.state == "done"
    assert jobs.work_s[done].tolist() == whole.work_s[done].tolist()
