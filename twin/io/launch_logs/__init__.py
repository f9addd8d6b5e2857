"""A launch log of any known format -> the canonical launch schedule, and a report of what was kept."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from twin.errors import Fault, LaunchLogError
from twin.fleet import LaunchSchedule
from twin.io.launch_logs.csv_rows import Leftovers
from twin.io.launch_logs.import_report import ImportReport, import_report
from twin.io.launch_logs.kalos import KALOS
from twin.io.launch_logs.log_file import LogFile
from twin.io.launch_logs.log_format import LogFormat, Rows
from twin.io.launch_logs.philly_csv import PHILLY_CSV
from twin.io.launch_logs.row_checks import Block, Tally
from twin.io.launch_logs.schedule import SCHEDULE
from twin.io.launch_logs.window import window_s
from twin.scenario import MAX_TIME_S, Replay
from twin.scenario.rules import MAX_JOBS

FORMATS: dict[str, LogFormat] = {form.name: form for form in (SCHEDULE, KALOS, PHILLY_CSV)}
"""The known formats, by the name they have in ``replay.format``."""

_MOST_ROWS = 4 * MAX_JOBS  # kept before repeated ones are dropped, so that memory stays bounded
_MOST_USELESS = 1_000_000  # lines without a row, or with one that makes no sense, beyond the number of good rows
_VALUES = ["submit_s", "job_id", "group", "gpus", "nodes", "work_s", "start_s"]


def read_schedule(replay: Replay, folder: Path) -> tuple[LaunchSchedule, ImportReport]:
    """The jobs of a launch log, and what was kept and dropped on the way.

    Times count from the start of the window; without a window, from the first readable submission of the log, kept or
    not. The window holds submissions. ``time_scale`` stretches submissions and starts, never work. The order of the
    rows in the file changes nothing; memory holds the rows kept and one block of the file.

    Args:
        replay: what to read and keep; copies are made later, with the jobs.
        folder: where a relative ``replay.file`` starts.
    Raises:
        LaunchLogError: the log cannot be read as the format it is said to have, or no job is left.
    """
    log = LogFile(folder / replay.file, replay.file)
    reader = _Reader(replay, log, FORMATS[replay.format])
    window = None
    if replay.window is not None:
        window = window_s(replay.window, reader.first_submission_s, has_wall_times=reader.form.has_wall_times)
    rows, tally, first_submission_s = reader.kept_rows(window)
    rows = _with_unique_names(rows, tally)
    _check_count(replay, log, len(rows), tally)
    schedule = _schedule(rows, first_submission_s if window is None else window[0], replay)
    return schedule, import_report(replay, log, reader.form, reader.names, rows, schedule, tally)


class _Reader:
    """Reads a log block by block, and keeps what the filters of the replay let through.

    Raises:
        LaunchLogError: the columns do not fit the format, or the replay asks for times that are not there.
    """

    def __init__(self, replay: Replay, log: LogFile, form: LogFormat) -> None:
        self.log = log
        self.form = form
        self.names = form.match(log, [other for other in FORMATS.values() if other is not form])
        self._replay = replay
        if replay.starts == "start" and "start_s" not in self.names:
            rule = f"asks for start times, which {log.name} (format {form.name}) does not have"
            raise LaunchLogError(Fault("replay.starts", "start", rule, "set replay.starts to submit"))

    def first_submission_s(self) -> float:
        """First readable submission, on the clock of the log [s]; inf if there is none."""
        return min((_first_s(block, rows) for block, rows in self._blocks(Tally())), default=inf)

    def kept_rows(self, window: tuple[float, float] | None) -> tuple[pd.DataFrame, Tally, float]:
        """The rows kept, in an order of their values alone; what was dropped; the first readable submission [s]."""
        tally = Tally()
        kept = []
        rows_kept = 0
        first_s = inf
        for block, rows in self._blocks(tally):
            first_s = min(first_s, _first_s(block, rows))
            self._filter(block, rows, window)
            kept.append(self._table(rows, block))
            rows_kept += len(kept[-1])
            if rows_kept > _MOST_ROWS:
                raise _too_many(
                    self.log, f"leaves more than {_MOST_ROWS} rows, and a run holds {MAX_JOBS} jobs at most"
                )
        if not kept:
            raise _no_job_left(self.log, tally)
        # the line comes last: of two equal rows, the later one repeats the earlier
        return (
            pa.concat_tables(kept).sort_by([(key, "ascending") for key in [*_VALUES, "line"]]).to_pandas(),
            tally,
            first_s,
        )

    def _blocks(self, tally: Tally) -> Iterator[tuple[Block, Rows]]:
        gpus_per_node = self._replay.job_profile.gpus_per_node
        leftovers = Leftovers()
        for raw in self.log.blocks(list(self.names.values()), leftovers):
            block = Block(raw, self.names, tally)
            yield block, self.form.rows(block, gpus_per_node)
            useless = leftovers.lines() + tally.blank_rows + tally.unreadable
            if useless > tally.rows_read - tally.unreadable + _MOST_USELESS:
                tally.drop_leftovers(leftovers)
                raise _all_useless(self.log, tally)
        tally.drop_leftovers(leftovers)

    def _filter(self, block: Block, rows: Rows, window: tuple[float, float] | None) -> None:
        smallest = self._replay.min_gpus
        size = "gpus" if "gpus" in self.names else "nodes"
        block.leave_out(rows.gpus < smallest, f"fewer GPUs than min_gpus, {smallest}", size)
        if window is not None:
            block.leave_out(rows.submit_s < window[0], "submitted before the window", "submit_s")
            block.leave_out(rows.submit_s >= window[1], "submitted after the window", "submit_s")

    def _table(self, rows: Rows, block: Block) -> pa.Table:
        unnamed = pa.nulls(len(block.lines), pa.string())
        columns = {
            "submit_s": rows.submit_s,
            "job_id": unnamed if rows.job_ids is None else rows.job_ids,
            "group": block.filled(rows.groups, self.form.group or self.log.path.name.partition(".")[0]),
            "gpus": rows.gpus,
            "nodes": rows.nodes,
            "work_s": rows.work_s,
            "start_s": rows.submit_s if rows.start_s is None else rows.start_s,
            "line": block.lines,
        }
        return pa.table(columns).filter(pa.array(block.stands))


def _first_s(block: Block, rows: Rows) -> float:
    return float(rows.submit_s[block.stands].min(initial=inf))


def _with_unique_names(rows: pd.DataFrame, tally: Tally) -> pd.DataFrame:
    """The rows with a column ``name``: the job id, of which the first row is kept; without ids, group and place."""
    values = rows[_VALUES].dropna(axis="columns", how="all")
    same = (values == values.shift()).all(axis="columns")  # rows of equal values follow each other
    if "job_id" not in values:
        tally.repeated_rows = int(same.sum())
        return rows.assign(name=rows["group"] + "-" + rows.groupby("group").cumcount().astype(str))
    again = rows["job_id"].duplicated()
    for dropped, reason in ((again & same, "repeats a row, job_id and all"), (again & ~same, "job_id is taken")):
        first = rows[dropped].nsmallest(1, "line")
        for line, job_id in zip(first["line"], first["job_id"], strict=True):
            tally.drop(reason, int(dropped.sum()), int(line), job_id)
    return rows[~again].assign(name=rows["job_id"])


def _check_count(replay: Replay, log: LogFile, kept: int, tally: Tally) -> None:
    if not kept:
        raise _no_job_left(log, tally)
    if kept * replay.copies > MAX_JOBS:
        raise _too_many(log, f"gives {kept} jobs x {replay.copies} copies, above {MAX_JOBS}")


def _too_many(log: LogFile, rule: str) -> LaunchLogError:
    return log.fault("", rule, "narrow replay.window, raise replay.min_gpus or lower replay.copies")


def _no_job_left(log: LogFile, tally: Tally) -> LaunchLogError:
    if not tally.rows_read:
        return log.fault("", "has a header line, but no rows", "name a log with one row per job")
    rule = f"leaves no job of {tally.rows_read} rows read ({_told(tally)})"
    return log.fault("", rule, tally.remedy() or "widen replay.window, lower replay.min_gpus, or mend the log")


def _all_useless(log: LogFile, tally: Tally) -> LaunchLogError:
    lines = tally.rows_read + tally.blank_rows + tally.comments
    told = "; ".join(part for part in (_told(tally), f"{tally.blank_rows} blank, {tally.comments} comments") if part)
    rule = f"holds hardly a row that can be read in its first {lines} lines ({told})"
    return log.fault("", rule, "name a log with one row per job, and its format in replay.format")


def _told(tally: Tally) -> str:
    return "; ".join(dropped.sentence() for dropped in tally.reasons())


def _schedule(rows: pd.DataFrame, origin_s: float, replay: Replay) -> LaunchSchedule:
    submit_s = replay.time_scale * (rows["submit_s"].to_numpy() - origin_s)
    start_s = replay.time_scale * (rows["start_s"].to_numpy() - origin_s)
    schedule = LaunchSchedule(
        names=rows["name"].tolist(),
        groups=rows["group"].tolist(),
        submit_s=submit_s,
        launch_s=start_s if replay.starts == "start" else submit_s,
        gpus=rows["gpus"].to_numpy(),
        nodes=rows["nodes"].to_numpy(),
        work_s=rows["work_s"].to_numpy(),
    )
    if (last_s := float(np.max(schedule.launch_s))) > MAX_TIME_S:
        rule = f"puts the last launch at {last_s:g} s, above {MAX_TIME_S:g} s"
        raise LaunchLogError(Fault("replay.time_scale", f"{replay.time_scale:g}", rule, "lower it"))
    return schedule
