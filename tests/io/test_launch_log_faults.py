"""A bad row of a launch log is dropped with its reason, and a bad log is refused in one message."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.io.small_logs import KALOS, PHILLY, SCHEDULE, THREE_JOBS, as_lists, dropped, read, refusal
from twin.errors import LaunchLogError
from twin.io.launch_logs import FORMATS, read_schedule
from twin.scenario import Replay

# Rows that make no sense

GOOD = "good,0,1,60\n"


@pytest.mark.parametrize(
    ("row", "reason", "example"),
    [
        ("x,abc,1,60", "submit_s is not a finite number", "abc"),
        ("x,,1,60", "submit_s is not a finite number", ""),
        ("x,nan,1,60", "submit_s is not a finite number", "nan"),
        ("x,1_0,1,60", "submit_s is not a finite number", "1_0"),
        ("x,-5,1,60", "submit_s is negative", "-5"),
        ("x,1e13,1,60", "submit_s is above 1e+12", "1e13"),
        ("x,5,0,60", "nodes is 0", "0"),
        ("x,5,1.5,60", "nodes is not a whole number", "1.5"),
        ("x,5,-1,60", "nodes is negative", "-1"),
        ("x,5,1e9,60", "nodes is above 1e+07", "1e9"),
        ("x,5,1,inf", "work_s is not a finite number", "inf"),
        ("x,5,1,1e999", "work_s is not a finite number", "1e999"),
        ("x,5,1,0", "work_s is 0", "0"),
        ("x,5,1,1e-300", "work_s is below 1e-12", "1e-300"),
        (",5,1,60", "job_id is empty", ""),
        ("x,5,1", "the line has not 4 fields like the header", "x,5,1"),
        ("x,5,1,60,9", "the line has not 4 fields like the header", "x,5,1,60,9"),
        (f"{'x' * 201},5,1,60", "job_id is longer than 200 characters", "x" * 60 + "..."),
    ],
)
def test_a_bad_row_is_dropped_with_reason_line_and_value(tmp_path: Path, row: str, reason: str, example: str) -> None:
    schedule, report = read(tmp_path, f"{SCHEDULE}{GOOD}\n{row}\n")  # with a blank line before the bad one

    assert schedule.names == ["good"]
    assert dropped(report) == {reason: (1, 4, example)}


@pytest.mark.parametrize(
    "date",
    [
        *("2017-02-31 00:00:00", "yesterday", "", "1969-12-31 00:00:00"),
        *("2017-10-09 07:01:55Z", "2017-10-09 07:01:55+01:00"),  # zones beside rows without
    ],
)
def test_a_bad_date_is_dropped(tmp_path: Path, date: str) -> None:
    _, report = read(tmp_path, f"{PHILLY}2017-10-09 07:00:00,1,1,a\n{date},1,1,a\n", format="philly-csv")

    assert dropped(report) == {"timestamp is no date-time without zone from 1970 on": (1, 3, date)}


def test_a_job_that_started_before_it_was_submitted_is_dropped(tmp_path: Path) -> None:
    _, report = read(tmp_path, "job_id,submit_s,start_s,nodes,work_s\na,10,20,1,60\nb,10,9,1,60\n")

    assert dropped(report) == {"it started before it was submitted": (1, 3, "9")}


def test_a_row_means_the_same_beside_a_bad_row(tmp_path: Path) -> None:
    values = ["1", "+1.5", " 2 ", "3.", ".5", "1e2", "0.1", "123456.789"]
    alone, _ = read(tmp_path, SCHEDULE + "".join(f"{i},{value},1,60\n" for i, value in enumerate(values)))
    beside, _ = read(
        tmp_path, SCHEDULE + "".join(f"{i},{value},1,60\n" for i, value in enumerate(values)) + "x,y,1,60\n"
    )

    assert as_lists(beside) == as_lists(alone)


def test_a_repeated_job_id_is_dropped_and_of_two_rows_the_earlier_submission_stays(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, SCHEDULE + "a,20,1,60\nb,0,1,60\nb,0,1,60\na,10,1,60\n")

    assert schedule.names == ["b", "a"]
    assert schedule.submit_s.tolist() == [0.0, 10.0]
    assert dropped(report) == {"repeats a row, job_id and all": (1, 4, "b"), "job_id is taken": (1, 2, "a")}


def test_equal_rows_of_a_log_without_ids_are_jobs_of_their_own(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, PHILLY + "2017-10-09 07:00:00,1,1,a\n" * 3, format="philly-csv")

    assert schedule.names == ["a-0", "a-1", "a-2"]
    assert report.repeated_rows == 2


def test_a_log_of_which_most_rows_make_no_sense_is_read_with_a_warning(tmp_path: Path) -> None:
    _, report = read(tmp_path, SCHEDULE + "a,0,1,60\nb,x,1,60\nc,x,1,60\n")

    assert len(report.warnings) == 1
    assert "2 of 3 rows could not be read" in report.warnings[0]


def test_small_jobs_left_out_are_no_reason_for_a_warning(tmp_path: Path) -> None:
    _, report = read(tmp_path, THREE_JOBS, min_gpus=32)

    assert report.warnings == ()


# Ways to write a file


@pytest.mark.parametrize(
    "content",
    [
        THREE_JOBS.replace("\n", "\r\n"),
        "\ufeff" + THREE_JOBS,
        THREE_JOBS.replace("\n", "\n\n"),
        "\n\n" + THREE_JOBS + "\n\n",
        THREE_JOBS.rstrip("\n"),
        'job_id,submit_s,"nodes",work_s\n"a","100",1,3600\nb,"160",2,7200\nc,220,"4",60\n',
        " job_id , submit_s,nodes ,work_s\n a , 100,1 ,3600\nb, 160 ,2,7200\nc,220,4, 60\n",
        "work_s,extra,job_id,extra,nodes,submit_s\n3600,,a,?,1,100\n7200,,b,?,2,160\n60,,c,?,4,220\n",
    ],
    ids=["crlf", "bom", "blank lines", "blank ends", "no last newline", "quotes", "spaces", "other columns"],
)
def test_the_same_jobs_come_out_however_the_file_is_written(tmp_path: Path, content: str) -> None:
    plain, _ = read(tmp_path, THREE_JOBS)
    same, report = read(tmp_path, content)

    assert as_lists(same) == as_lists(plain)
    assert report.rows_read == 3


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    _, report = read(tmp_path, "job_id,user,submit_s,nodes,work_s\na,me,0,1,60\n")

    assert report.columns_ignored == ("user",)


def test_a_job_id_may_hold_a_quoted_comma(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, SCHEDULE + '"a,1",0,1,60\n')

    assert schedule.names == ["a,1"]


# Files that are no log


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "is empty"),
        (b"\n\r\n\n", "is empty"),
        (SCHEDULE.encode(), "has a header line, but no rows"),
        (SCHEDULE.encode() + b"\n\n", "has a header line, but no rows"),
        (SCHEDULE.encode() + b"short\n", "leaves no job of 1 rows read (1: the line has not 4 fields"),
        (bytes(range(256)) * 20, "is binary"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is not UTF-8"),
        (THREE_JOBS.encode("utf-16"), "is UTF-16 or UTF-32 text"),
        (THREE_JOBS.encode("utf-16-le"), "is binary"),
        (SCHEDULE.encode() + b"\xff\xfe,0,1,60\n", "byte 0xff of the line is not UTF-8"),
        (b"\xe4" + THREE_JOBS.encode(), "is not UTF-8"),
        (THREE_JOBS.replace("\n", "\r").encode(), "is not CSV"),
        (b"PAR1" + bytes(100), "cannot be read as Parquet"),
        (SCHEDULE.encode() + b'a,0,1,60\n"b,0,1,60\nc,0,1,60\n', "a quoted value that begins here"),
        (SCHEDULE.encode() + b"x" * 10_000_000, "the line is longer than 1048576 bytes"),
        (b"x" * 10_000_000, "has no header line in its first 1048576 bytes"),
    ],
    ids=[
        *("empty", "blank", "header only", "header and blanks", "short rows", "binary", "image", "utf-16"),
        *("utf-16 without mark", "latin-1", "latin-1 header", "bare cr", "broken parquet", "open quote"),
        *("long line", "long header"),
    ],
)
def test_a_file_that_is_no_log_is_refused_by_name_and_rule(tmp_path: Path, content: bytes, rule: str) -> None:
    message = refusal(tmp_path, content)

    assert message.startswith("log.csv")
    assert rule in message
    assert "\n" not in message


def test_an_open_quote_is_told_with_its_line(tmp_path: Path) -> None:
    assert refusal(tmp_path, f'{THREE_JOBS}\n"d,0,1,60\ne,0,1,60\n').startswith("log.csv:6: replay.file: ")
    rest = "e,0,1,60\n" * 200_000  # more than a value or a block may hold
    assert refusal(tmp_path, f'{THREE_JOBS}\n"d,0,1,60\n{rest}').startswith("log.csv:6: replay.file: ")


def test_a_log_that_is_not_there_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchLogError, match=r"^none\.csv: replay\.file: no such file"):
        read_schedule(Replay(file="none.csv"), tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(LaunchLogError, match="is a directory"):
        read_schedule(Replay(file="folder"), tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LaunchLogError, match="is no regular file"):
        read_schedule(Replay(file="pipe"), tmp_path)


def test_missing_columns_are_named_with_what_was_found_instead(tmp_path: Path) -> None:
    message = refusal(tmp_path, "job,submit_s,node,work_s\na,0,1,60\n")

    assert "'columns job, submit_s, node, work_s'" in message
    assert "job_id" in message
    assert "nodes or gpus (not 'node')" in message
    assert message.endswith("rename 'job' to job_id, 'node' to nodes in the header line")


def test_a_column_in_use_is_not_offered_for_a_missing_one(tmp_path: Path) -> None:
    message = refusal(tmp_path, "job_id,submit_s,start_s,nodes\na,0,0,1\n")

    assert message.endswith(
        "name the columns in a header line, one without #, or set replay.format to the format of the log"
    )


@pytest.mark.parametrize("date", ["2024-05-01 10:00:00", "2024-05-01T10:00:00Z", "05/01/2024", "1-02:03:04", "12:30"])
def test_dates_where_seconds_are_needed_are_told_with_the_first_of_them_and_what_to_write(
    tmp_path: Path, date: str
) -> None:
    message = refusal(tmp_path, f"{SCHEDULE}a,{date},1,60\nb,2024-05-02,1,60\n")

    assert f"2: submit_s is a date or a clock time, not a number (first on line 2: '{date}')" in message
    assert message.endswith("write every time as a number of seconds after any one moment")


@pytest.mark.parametrize("said", FORMATS)
@pytest.mark.parametrize(
    ("meant", "log"),
    [
        ("schedule", THREE_JOBS),
        ("kalos", KALOS + "1,0,2,1,8\n"),
        ("philly-csv", PHILLY + "2017-10-09 07:00:00,60,1,a\n"),
    ],
)
def test_a_log_read_as_another_format_is_refused_with_the_format_it_looks_like(
    tmp_path: Path, said: str, meant: str, log: str
) -> None:
    if said != meant:
        assert f"these are columns of the format {meant}" in refusal(tmp_path, log, format=said)
    else:
        assert read(tmp_path, log, format=said)[1].rows_kept > 0


def test_semicolons_are_told(tmp_path: Path) -> None:
    assert "separate the columns by commas" in refusal(tmp_path, THREE_JOBS.replace(",", ";"))


def test_a_log_of_which_no_job_is_left_says_where_the_rows_went(tmp_path: Path) -> None:
    message = refusal(tmp_path, THREE_JOBS + "d,x,1,60\n", min_gpus=100)

    assert "leaves no job of 4 rows read" in message
    assert "3: fewer GPUs than min_gpus, 100 (first on line 2: '1')" in message
    assert "1: submit_s is not a finite number (first on line 5: 'x')" in message


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    form=st.sampled_from(sorted(FORMATS)),
    head=st.sampled_from(
        [b"", b"\xef\xbb\xbf", b"\x1f\x8b", b"PAR1", SCHEDULE.encode(), KALOS.encode(), PHILLY.encode()]
    ),
    body=st.binary(max_size=200) | st.text(',\n\r"0123456789.eE+-:xnai \t', max_size=200).map(str.encode),
)
def test_any_bytes_are_read_or_refused_and_nothing_else(tmp_path: Path, form: str, head: bytes, body: bytes) -> None:
    try:
        _, report = read(tmp_path, head + body, format=form)
    except LaunchLogError:
        return
    assert report.rows_read == report.rows_kept + sum(reason.rows for reason in report.dropped)
