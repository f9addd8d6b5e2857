"""A launch log becomes the jobs it holds, and every row is accounted for."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.small_logs import KALOS, PHILLY, SCHEDULE, THREE_JOBS, as_lists, dropped, read, refusal
from twin.fleet import Job, jobs_of
from twin.io.launch_logs import read_schedule
from twin.scenario import Replay, Scenario

REAL_LOGS = Path(__file__).parents[3] / "shared" / "data"
REAL_KALOS = "acme-kalos-converted/converted_kalos_trace_rows_001-160.csv"
REAL_PHILLY = "philly-csv/philly_rows_00001-20000.csv"
needs_real_logs = pytest.mark.skipif(not REAL_LOGS.is_dir(), reason="needs the public logs in ../shared/data")


def jobs_from(folder: Path, content: str, **replay: Any) -> list[Job]:
    schedule, _ = read(folder, content, **replay)
    scenario = Scenario.model_validate({"twin": 1, "name": "x", "replay": {"file": "log.csv", **replay}})
    return jobs_of(scenario, schedule)


# What the formats mean


def test_a_schedule_becomes_its_jobs_with_times_from_the_first_submission(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, THREE_JOBS)

    assert schedule.names == ["a", "b", "c"]
    assert schedule.submit_s.tolist() == [0.0, 60.0, 120.0]
    assert schedule.launch_s.tolist() == [0.0, 60.0, 120.0]
    assert schedule.nodes.tolist() == [1, 2, 4]
    assert schedule.work_s.tolist() == [3600.0, 7200.0, 60.0]


@pytest.mark.parametrize("column", ["work_s", "work", "duration_s", "duration"])
def test_work_may_be_given_under_each_of_its_names(tmp_path: Path, column: str) -> None:
    schedule, _ = read(tmp_path, f"job_id,submit,nodes,{column}\na,5,1,60\n")

    assert schedule.work_s.tolist() == [60.0]


def test_work_and_duration_in_one_file_are_refused(tmp_path: Path) -> None:
    assert "has the columns work_s and duration" in refusal(
        tmp_path, "job_id,submit_s,nodes,work_s,duration\na,0,1,1,1\n"
    )


def test_a_duration_is_noted_as_taken_for_work_and_work_is_not(tmp_path: Path) -> None:
    _, of_work = read(tmp_path, THREE_JOBS)
    _, of_durations = read(tmp_path, THREE_JOBS.replace("work_s", "duration_s"))

    assert not any("full-speed" in note for note in of_work.notes)
    assert any("duration_s is taken as full-speed compute work" in note for note in of_durations.notes)


def test_without_a_column_of_gpus_every_node_is_full(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, THREE_JOBS, profile={"gpus_per_node": 4})

    assert schedule.gpus.tolist() == [4, 8, 16]


def test_a_column_of_gpus_is_taken_as_it_is(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, "job_id,submit_s,nodes,gpus,work_s\na,0,1,1,60\nb,0,2,16,60\n")

    assert schedule.gpus.tolist() == [1, 16]
    assert any(note.startswith("1 jobs do not fill their nodes of 8 GPUs") for note in report.notes)


def test_jobs_without_a_group_are_grouped_by_the_name_of_the_file(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, "job_id,submit_s,nodes,work_s,group\na,0,1,1,llm\nb,0,1,1,\n", name="may.csv.gz")

    assert schedule.groups == ["llm", "may"]


def test_a_kalos_row_is_iterations_of_half_a_second_on_workers_times_gpus(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, KALOS + "7,50.0,208,37,8.0\n", format="kalos")

    assert schedule.names == ["7"]
    assert schedule.work_s.tolist() == [104.0]  # 208 x 0.5 s
    assert schedule.nodes.tolist() == [37]  # the log's own, whatever the profile
    assert schedule.gpus.tolist() == [296]
    assert any("the queue included" in note for note in report.notes)


def test_a_philly_row_takes_as_many_nodes_as_its_gpus_need(tmp_path: Path) -> None:
    rows = "2017-10-09 07:00:00,60.5,12,abc\n2017-10-09 07:01:00,1.0,8,abc\n2017-10-09 06:59:00,9.0,1,abc\n"
    schedule, report = read(tmp_path, PHILLY + rows, format="philly-csv")

    assert schedule.names == ["abc-0", "abc-1", "abc-2"]
    assert schedule.submit_s.tolist() == [0.0, 60.0, 120.0]
    assert schedule.nodes.tolist() == [1, 2, 1]
    assert schedule.work_s.tolist() == [9.0, 60.5, 1.0]
    assert report.wall_times == ("2017-10-09T06:59:00", "2017-10-09T07:01:00")
    assert report.time_zone == "not documented, read as naive local time"
    assert any("no start times" in note for note in report.notes)


def test_a_group_that_looks_like_a_number_keeps_its_digits(tmp_path: Path) -> None:
    schedule, _ = read(
        tmp_path, PHILLY + "2017-10-09 07:00:00,60.0,1,0010\n2017-10-09 07:00:00,60.0,1,1e3\n", format="philly-csv"
    )

    assert schedule.groups == ["0010", "1e3"]


def test_a_log_may_be_parquet_with_numbers_or_text(tmp_path: Path) -> None:
    table = pa.table({"job_id": [1, 2], "submit_s": ["0", "5"], "nodes": [1.0, 2.0], "duration": pa.array([60, None])})
    pq.write_table(table, tmp_path / "log.csv")  # told by content, whatever the name
    schedule, report = read_schedule(Replay(file="log.csv"), tmp_path)

    assert schedule.names == ["1"]
    assert dropped(report) == {"duration is not a finite number": (1, 2, "")}


def test_a_log_may_be_gzipped(tmp_path: Path) -> None:
    plain, _ = read(tmp_path, THREE_JOBS)
    zipped, _ = read(tmp_path, gzip.compress(THREE_JOBS.encode()))

    assert as_lists(zipped) == as_lists(plain)


# Filters


def test_launches_are_submissions_unless_starts_are_asked_for(tmp_path: Path) -> None:
    log = "job_id,submit_s,start_s,nodes,work_s\na,100,130,1,60\nb,110,110,1,60\n"
    at_submission, _ = read(tmp_path, log)
    at_start, _ = read(tmp_path, log, starts="start")

    assert at_submission.launch_s.tolist() == [0.0, 10.0]
    assert at_start.submit_s.tolist() == [0.0, 10.0]
    assert at_start.launch_s.tolist() == [30.0, 10.0]


def test_starts_of_a_log_without_start_times_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, KALOS + "1,0,2,1,8\n", format="kalos", starts="start")

    assert message.startswith("replay.starts: 'start'")
    assert message.endswith("set replay.starts to submit")


def test_a_window_keeps_submissions_from_its_start_up_to_but_not_at_its_end(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, THREE_JOBS, window=["1 min", 120])

    assert schedule.names == ["b"]
    assert schedule.submit_s.tolist() == [0.0]  # b was submitted 60 s after the first row, as the window opens
    assert dropped(report) == {
        "submitted before the window": (1, 2, "100"),
        "submitted after the window": (1, 4, "220"),
    }


def test_the_window_counts_from_the_first_submission_of_an_unsorted_log_small_jobs_included(tmp_path: Path) -> None:
    log = SCHEDULE + "late,1100,2,60\nlater,1160,2,60\nfirst-but-small,1000,1,60\n"
    schedule, _ = read(tmp_path, log, window=[90, 150], min_gpus=16)

    assert schedule.names == ["late"]
    assert schedule.submit_s.tolist() == [10.0]


def test_a_window_may_hold_dates_for_a_log_with_dates(tmp_path: Path) -> None:
    rows = "2017-10-08 23:59:59,60,1,a\n2017-10-09 06:00:00,60,1,b\n2017-10-10 00:00:00,60,1,c\n"
    schedule, _ = read(tmp_path, PHILLY + rows, format="philly-csv", window=["2017-10-09", "2017-10-10"])

    assert schedule.groups == ["b"]
    assert schedule.submit_s.tolist() == [6 * 3600.0]


def test_dates_for_a_log_that_counts_seconds_are_refused(tmp_path: Path) -> None:
    assert "holds dates, but the log counts seconds" in refusal(
        tmp_path, THREE_JOBS, window=["2017-10-09", "2017-10-10"]
    )


def test_dates_with_a_time_zone_are_refused(tmp_path: Path) -> None:
    window = ["2017-10-09T00:00:00+00:00", "2017-10-10T00:00:00+00:00"]

    assert "has a time zone" in refusal(
        tmp_path, PHILLY + "2017-10-09 06:00:00,60,1,b\n", format="philly-csv", window=window
    )


def test_min_gpus_counts_gpus_not_nodes(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, THREE_JOBS, min_gpus=16)

    assert schedule.names == ["b", "c"]
    assert dropped(report) == {"fewer GPUs than min_gpus, 16": (1, 2, "1")}


def test_time_scale_packs_submissions_and_leaves_work(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, THREE_JOBS, time_scale=0.5)

    assert schedule.submit_s.tolist() == [0.0, 30.0, 60.0]
    assert schedule.work_s.tolist() == [3600.0, 7200.0, 60.0]
    assert report.submit_s == (0.0, 60.0)


def test_a_time_scale_that_drives_launches_out_of_range_is_refused(tmp_path: Path) -> None:
    assert "replay.time_scale" in refusal(tmp_path, SCHEDULE + "a,0,1,1\nb,1e11,1,1\n", time_scale=1000)


def test_copies_start_within_one_checkpoint_interval_of_their_original_and_never_together(tmp_path: Path) -> None:
    jobs = jobs_from(tmp_path, THREE_JOBS, copies=3)
    of_b = [job for job in jobs if job.name.startswith("b.")]

    assert [job.name for job in of_b] == ["b.0", "b.1", "b.2"]
    assert of_b[0].launch_s == 60.0
    assert all(60.0 < job.launch_s < 60.0 + 1800.0 for job in of_b[1:])
    assert of_b[1].launch_s != of_b[2].launch_s


def test_more_copies_than_jobs_may_be_are_refused_before_they_are_made(tmp_path: Path) -> None:
    log = SCHEDULE + "".join(f"{i},0,1,1\n" for i in range(101))

    assert "gives 101 jobs x 10000 copies" in refusal(tmp_path, log, copies=10_000)


# From a row to a job


def test_a_group_with_jobs_of_both_kinds_numbers_them_on(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, "job_id,submit_s,nodes,work_s,group\na,0,1,60,llm\n")
    group = {"name": "llm", "count": 2, "work": "1 h"}
    jobs = jobs_of(
        Scenario.model_validate({"twin": 1, "name": "x", "jobs": [group], "replay": {"file": "log.csv"}}), schedule
    )

    assert [(job.job_id, job.index, job.rank) for job in jobs] == [(0, 0, 0), (1, 1, 1), (2, 2, 2)]


def test_a_job_takes_checkpoint_size_from_its_gpus_and_the_rest_from_the_profile(tmp_path: Path) -> None:
    profile = {
        "compute": "10 min",
        "size_per_gpu": "2 GB",
        "jitter": "2 %",
        "power": {"compute": "5 kW", "idle": "1 kW"},
    }
    job = jobs_from(tmp_path, "job_id,submit_s,nodes,gpus,work_s\na,0,2,12,3600\n", profile=profile)[0]

    assert (job.nodes, job.size_b, job.compute_s, job.work_s) == (2, 24e9, 600.0, 3600.0)
    assert (job.law, job.sigma_s) == ("normal", 12.0)
    assert (job.power.compute_w, job.power.idle_w) == (5000.0, 1000.0)


def test_the_a100_profile_draws_less_than_the_h100_profile_in_every_phase(tmp_path: Path) -> None:
    small, large = (jobs_from(tmp_path, THREE_JOBS, profile=name)[0].power for name in ("a100", "h100"))

    assert small.compute_w < large.compute_w
    assert small.idle_w < large.idle_w
    assert small.write_w < large.write_w


# Promises over many logs


def rows_of(seed: int, count: int) -> list[str]:
    """Rows with ties in time, repeated and taken ids, and nonsense."""
    rng = random.Random(seed)  # noqa: S311 no secrets here
    rows = []
    for _ in range(count):
        nodes = rng.choice(["1", "2", "2", "x", "0"])
        rows.append(
            f"{rng.randrange(count)},{rng.randrange(20)},{nodes},{rng.choice([60, 120, -1])},{rng.choice('ab')}\n"
        )
    return rows


@pytest.mark.parametrize("replay", [{}, {"window": [3, 15]}, {"min_gpus": 16, "copies": 2}])
def test_the_order_of_the_rows_changes_neither_jobs_nor_counts(tmp_path: Path, replay: dict[str, Any]) -> None:
    header, rows = "job_id,submit_s,nodes,work_s,group\n", rows_of(1, 200)
    first, report = read(tmp_path, header + "".join(rows), **replay)
    random.Random(2).shuffle(rows)  # noqa: S311
    second, again = read(tmp_path, header + "".join(rows), **replay)

    assert as_lists(first) == as_lists(second)
    assert {reason: rows for reason, (rows, _, _) in dropped(report).items()} == {
        reason: rows for reason, (rows, _, _) in dropped(again).items()
    }


@pytest.mark.parametrize("seed", range(10))
def test_rows_read_are_rows_kept_plus_rows_dropped(tmp_path: Path, seed: int) -> None:
    log = "job_id,submit_s,nodes,work_s,group\n" + "\n".join(rows_of(seed, 50)) + "short,row\n"
    schedule, report = read(tmp_path, log, window=[2, 18], min_gpus=9)

    assert report.rows_read == 51
    assert report.rows_read == report.rows_kept + sum(reason.rows for reason in report.dropped)
    assert report.rows_kept == len(schedule)


def test_the_line_of_a_bad_row_is_right_after_many_blocks_with_blank_and_short_lines(tmp_path: Path) -> None:
    lines = [SCHEDULE] + [f"{i},{i},1,60\n" for i in range(150_000)]  # some 3 MB: several blocks of 1 MiB
    for line in range(1000, 120_000, 7000):
        lines[line] = "\n" if line % 2000 else "short\n"
    lines[140_000] = "late,x,1,60\n"
    _, report = read(tmp_path, "".join(lines), window=[120_000, 150_000])

    assert dropped(report)["submit_s is not a finite number"] == (1, 140_001, "x")


def test_the_report_is_ready_for_json_and_names_no_folder(tmp_path: Path) -> None:
    _, report = read(tmp_path, THREE_JOBS + "d,x,1,60\n", copies=2)
    text = json.dumps(asdict(report))

    assert json.loads(text)["rows_kept"] == 3
    assert json.loads(text)["jobs"] == 6
    assert str(tmp_path) not in text


def test_the_report_adds_up_work_and_gpus(tmp_path: Path) -> None:
    _, report = read(tmp_path, THREE_JOBS)

    assert report.work_s == 3600 + 7200 + 60
    assert report.work_gpu_s == 8 * 3600 + 16 * 7200 + 32 * 60
    assert (report.gpus, report.nodes, report.duration_s) == ((8, 32), (1, 4), (60.0, 7200.0))


# Real logs


@needs_real_logs
def test_every_row_of_the_real_kalos_log_is_a_job() -> None:
    schedule, report = read_schedule(Replay(file=REAL_KALOS, format="kalos", profile="a100"), REAL_LOGS)

    assert (report.rows_read, report.rows_kept, report.jobs, report.dropped) == (160, 160, 160, ())
    assert report.gpus == (1, 1024)
    assert report.submit_s == (0.0, 3903495.0)  # arrival_time of the first and last row
    assert schedule.nodes.max() == 128


@needs_real_logs
def test_every_row_of_the_real_philly_log_is_a_job() -> None:
    schedule, report = read_schedule(Replay(file=REAL_PHILLY, format="philly-csv"), REAL_LOGS)

    assert (report.rows_read, report.rows_kept, report.jobs, report.dropped) == (20_000, 20_000, 20_000, ())
    assert report.repeated_rows == 23
    assert len(set(schedule.names)) == 20_000
    assert report.wall_times == ("2017-09-07T09:57:50", "2017-12-09T08:02:12")


@needs_real_logs
@pytest.mark.parametrize(("file", "form"), [(REAL_KALOS, "kalos"), (REAL_PHILLY, "philly-csv")])
def test_a_real_log_shuffled_gives_the_same_jobs(tmp_path: Path, file: str, form: str) -> None:
    header, *rows = (REAL_LOGS / file).read_text().splitlines(keepends=True)
    original, _ = read_schedule(Replay(file=file, format=form), REAL_LOGS)
    random.Random(3).shuffle(rows)  # noqa: S311
    shuffled, _ = read(tmp_path, header + "".join(rows), format=form)

    assert as_lists(shuffled) == as_lists(original)


@needs_real_logs
def test_filters_of_a_real_log_leave_what_a_count_by_hand_leaves() -> None:
    lines = (REAL_LOGS / REAL_PHILLY).read_text().splitlines()[1:]
    fields = [line.split(",") for line in lines]
    expected = [row for row in fields if "2017-10-01" <= row[0] < "2017-10-15" and int(row[2]) >= 8]
    replay = Replay(file=REAL_PHILLY, format="philly-csv", min_gpus=8, window=("2017-10-01", "2017-10-15"))
    schedule, report = read_schedule(replay, REAL_LOGS)

    assert report.rows_kept == len(expected)
    assert sorted(schedule.work_s) == sorted(float(row[1]) for row in expected)
