"""CSV as people and programs write it: quotes, comments, foreign bytes, gzip; and text that is made to do harm."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.io.small_logs import PHILLY, SCHEDULE, THREE_JOBS, as_lists, dropped, read, refusal
from twin.io.launch_logs import csv_rows

# Quotes and comments


def test_a_line_break_in_a_quoted_value_that_is_not_read_splits_no_row(tmp_path: Path) -> None:
    log = 'job_id,submit_s,nodes,work_s,command\na,0,1,60,"train \\\n  --big\n"\nb,1,1,60,eval\nc,x,1,60,eval\n'
    schedule, report = read(tmp_path, log)

    assert schedule.names == ["a", "b"]
    assert dropped(report) == {"submit_s is not a finite number": (1, 6, "x")}  # lines of the file, not rows


def test_a_row_may_run_from_one_block_into_the_next(tmp_path: Path) -> None:
    note = '"' + "x" * 100 + "\n" + "y" * 100 + '"'
    rows = [f"{row},{row},1,60,{note}\n" for row in range(20_000)]  # 4 MB: several blocks, few with an end between rows
    schedule, report = read(tmp_path, "job_id,submit_s,nodes,work_s,note\n" + "".join(rows) + "bad,x,1,60,\n")

    assert len(schedule) == 20_000
    assert dropped(report) == {"submit_s is not a finite number": (1, 40_002, "x")}


def test_quoted_rows_give_the_same_jobs_as_plain_ones(tmp_path: Path) -> None:
    rows = [f"{row},{row * 7 % 1000},{row % 5},{row % 3 * 60}\n" for row in range(3000)]
    rows[100:100] = ["\n", "short,row\n", "a,b,c,d,e\n", "  \n", "# a comment\n", ",,,\n"]
    plain, of_plain = read(tmp_path, SCHEDULE + "".join(rows))
    quoted, of_quoted = read(tmp_path, SCHEDULE + "".join(rows).replace("\n7,49,", '\n"7",49,'))

    assert as_lists(quoted) == as_lists(plain)
    assert dropped(of_quoted) == dropped(of_plain)
    assert (of_quoted.rows_read, of_quoted.notes) == (of_plain.rows_read, of_plain.notes)


def test_a_quote_within_a_value_is_a_letter_and_a_doubled_one_is_one(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, SCHEDULE + '5" disk,0,1,60\n"the ""big"" one",0,1,60\n')

    assert schedule.names == ['5" disk', 'the "big" one']


def test_comments_stand_before_the_header_and_between_rows_and_are_counted(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, f"# exported, May\n\n#\n{SCHEDULE}a,0,1,60\n# night\nb,1,1,60\n")

    assert schedule.names == ["a", "b"]
    assert report.rows_read == 2
    assert "1 lines that begin with # are not counted as rows." in report.notes


def test_a_carriage_return_within_a_line_costs_that_line_alone(tmp_path: Path) -> None:
    schedule, report = read(tmp_path, SCHEDULE + "a,0,1,60\nb\rc,0,1,60\nd,0,1,60\n")

    assert schedule.names == ["a", "d"]
    assert dropped(report) == {"a carriage return splits the line": (1, 3, "\\r")}


def test_line_ends_may_differ_within_a_file(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, SCHEDULE + "a,0,1,60\r\nb,0,1,60\n\r\nc,0,1,60")

    assert schedule.names == ["a", "b", "c"]


# Sizes


def test_without_nodes_a_job_takes_as_few_as_its_gpus_need(tmp_path: Path) -> None:
    log = "job_id,submit_s,gpus,work_s\na,0,1,60\nb,0,4,60\nc,0,9,60\n"
    schedule, report = read(tmp_path, log, profile={"gpus_per_node": 4})

    assert schedule.nodes.tolist() == [1, 1, 3]
    assert schedule.gpus.tolist() == [1, 4, 9]
    assert any(note.startswith("The log has no nodes") for note in report.notes)


# Bytes that are no text


@pytest.mark.parametrize("attempt", range(50))
def test_a_foreign_byte_is_told_with_its_line_wherever_it_stands(tmp_path: Path, attempt: int) -> None:
    # A thread of the parser once met the error of a Python file now and then, and took the whole process down.
    rows = [f"{row},{row},1,60\n".encode() for row in range(100_000)]  # 1.8 MB, two blocks
    line = 1 + 1999 * (attempt + 1)
    rows[line - 2] = b"caf\xe9,0,1,60\n"
    message = refusal(tmp_path, SCHEDULE.encode() + b"".join(rows), min_gpus=100)

    assert message == f"log.csv:{line}: replay.file: byte 0xe9 of the line is not UTF-8; save the log in UTF-8"


@pytest.mark.parametrize("odd", ["\x1b[2J", "\x00", "\x07", "\u202e", "\u200b", "\x9b31m", "\u2028"])
def test_a_name_with_characters_that_cannot_be_seen_is_dropped_and_shown_escaped(tmp_path: Path, odd: str) -> None:
    _, report = read(tmp_path, f"{SCHEDULE}good,0,1,60\nb{odd}d,0,1,60\n")
    reason, (rows, line, example) = next(iter(dropped(report).items()))

    assert reason == "job_id holds a line break or another character that cannot be seen"
    assert (rows, line) == (1, 3)
    assert example == f"b{odd.encode('unicode_escape').decode()}d"


def test_a_name_with_a_line_break_is_dropped(tmp_path: Path) -> None:
    _, report = read(tmp_path, SCHEDULE + 'good,0,1,60\n"a\nb",0,1,60\n')

    assert dropped(report) == {"job_id holds a line break or another character that cannot be seen": (1, 3, "a\\nb")}


def test_a_group_with_characters_that_cannot_be_seen_drops_its_row(tmp_path: Path) -> None:
    rows = "2017-10-09 07:00:00,1,1,a\n2017-10-09 07:00:00,1,1,b\x1b[31m\n"
    schedule, _ = read(tmp_path, PHILLY + rows, format="philly-csv")

    assert schedule.groups == ["a"]


def test_letters_of_every_script_are_names(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, SCHEDULE + "naïve,0,1,60\n作业,0,1,60\nłódź,0,1,60\n")

    assert schedule.names == ["naïve", "łódź", "作业"]


def test_nothing_that_a_log_says_reaches_a_message_or_the_report_unescaped(tmp_path: Path) -> None:
    evil = "\x1b[2J\u202e"
    _, report = read(tmp_path, f"job_id,submit_s,nodes,work_s,{evil}\na,0,1,60,\nb,{evil},1,60,\n{evil}\n")
    messages = [
        refusal(tmp_path, f"job_id,submit{evil},nodes,work_s\na,0,1,60\n"),
        refusal(tmp_path, f"{SCHEDULE}{evil},0,1,60\n"),
        refusal(tmp_path, f"{SCHEDULE}{evil}\n"),
        json.dumps(asdict(report), ensure_ascii=False),
    ]

    assert all(message.isprintable() for message in messages)


# Gzip


def test_a_gzip_file_cut_short_is_told(tmp_path: Path) -> None:
    assert "is a gzip file that is cut short" in refusal(tmp_path, gzip.compress(THREE_JOBS.encode() * 1000)[:-20])
    assert "is a gzip file that is cut short" in refusal(tmp_path, b"\x1f\x8b")


def test_a_gzip_file_with_something_behind_its_end_or_a_wrong_sum_is_told(tmp_path: Path) -> None:
    whole = gzip.compress(THREE_JOBS.encode())
    for damaged in (whole + b"more", whole[:-8] + bytes(8)):
        assert "is a gzip file that is damaged, or has something else behind its end" in refusal(tmp_path, damaged)


def test_two_gzip_files_in_one_are_read_as_one(tmp_path: Path) -> None:
    schedule, _ = read(tmp_path, gzip.compress(THREE_JOBS.encode()) + gzip.compress(b"d,0,1,60\n"))

    assert schedule.names == ["d", "a", "b", "c"]


def bomb(line: bytes) -> bytes:
    """A gzip file of some 50 kB: a header line and 50 MB of one line."""
    packer = zlib.compressobj(9, wbits=31)
    head = packer.compress(SCHEDULE.encode())
    block = line * (1_000_000 // len(line))
    return head + b"".join(packer.compress(block) for _ in range(50)) + packer.flush()


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b"\n", "(1048576 blank, 0 comments)"),
        (b"x\n", "the line has not 4 fields like the header"),
        (b"x,y,1,5\n", "submit_s is not a finite number (first on line 2: 'y')"),
        (b" ", "the line is longer than 1048576 bytes"),
        (b'"', "the line is longer than 1048576 bytes"),
        (b'"\n",', "a quoted value that begins here is longer than 131072 characters, or never ends"),
        (b"x,0,1,5\n", "expands to more than 50 times its size"),
    ],
)
def test_a_small_gzip_file_that_holds_millions_of_lines_is_given_up_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, rule: str
) -> None:
    read_b = 0
    pieces: Callable[[csv_rows.CsvText], object] = csv_rows.CsvText._pieces

    def counted(text: csv_rows.CsvText) -> object:
        nonlocal read_b
        for piece in pieces(text):  # type: ignore[attr-defined]
            read_b += len(piece)
            yield piece

    monkeypatch.setattr(csv_rows.CsvText, "_pieces", counted)

    assert rule in refusal(tmp_path, bomb(line), min_gpus=100)
    assert read_b <= 33 << 20  # of 50 MB


def test_blank_lines_without_end_before_the_header_are_given_up(tmp_path: Path) -> None:
    assert "has no header line in its first 1048576 bytes" in refusal(tmp_path, gzip.compress(b"\n" * 2_000_000))


# Size


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_log_of_a_million_rows_is_read_for_the_few_that_are_wanted(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    rows = "".join(f"{row},{row},{1 + row % 1000 // 999},60\n" for row in range(1_000_000))
    schedule, report = read(tmp_path, pack((SCHEDULE + rows).encode()), min_gpus=9)

    assert report.rows_read == 1_000_000
    assert len(schedule) == 1000
    assert dropped(report) == {"fewer GPUs than min_gpus, 9": (999_000, 2, "1")}
