"""What a launch log gave: rows read, kept and dropped with reasons, ranges, and what was assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from twin.fleet import LaunchSchedule
from twin.io.launch_logs.log_file import LogFile
from twin.io.launch_logs.log_format import LogFormat, Role
from twin.io.launch_logs.row_checks import Dropped, Tally
from twin.io.strict_yaml import shown
from twin.scenario import Replay

_LONGEST_NAME = 100  # characters of the name of a column


@dataclass(frozen=True, slots=True)
class ImportReport:
    """How a launch log became jobs; ``dataclasses.asdict`` of it is ready for JSON.

    ``rows_read`` is always ``rows_kept`` plus the rows of ``dropped``.

    Args:
        file: name of the log, without its folder.
        sha256: of its bytes on disk.
        jobs: rows kept times copies.
        gpus, nodes: smallest and largest of a kept row.
        duration_s: shortest and longest [s]; durations are full-speed work here.
        work_s, work_gpu_s: sum over the kept rows of work [s], and of work times GPUs [GPU s].
        submit_s: first and last kept submission after t = 0 of the run [s], ``time_scale`` applied.
        wall_times: the same on the clock of the log; None if that has no date-times.
        repeated_rows: kept rows that equal another one, in a log without job ids.
        columns_ignored: columns of the file that were not read.
        notes: assumptions and quirks, in sentences.
        warnings: what the user should look at.
    """

    file: str
    format: str
    sha256: str
    rows_read: int
    rows_kept: int
    dropped: tuple[Dropped, ...]
    jobs: int
    gpus: tuple[int, int]
    nodes: tuple[int, int]
    duration_s: tuple[float, float]
    work_s: float
    work_gpu_s: float
    submit_s: tuple[float, float]
    wall_times: tuple[str, str] | None
    time_zone: str
    repeated_rows: int
    columns_ignored: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def import_report(
    replay: Replay,
    log: LogFile,
    form: LogFormat,
    names: Mapping[Role, str],
    rows: pd.DataFrame,
    schedule: LaunchSchedule,
    tally: Tally,
) -> ImportReport:
    """The report of a log that was read.

    Args:
        names: column in each role.
        rows: the rows kept, on the clock of the log; at least one.
        schedule: what became of them.
    """
    used = set(names.values())
    return ImportReport(
        file=log.path.name,
        format=form.name,
        sha256=log.sha256(),
        rows_read=tally.rows_read,
        rows_kept=len(schedule),
        dropped=tuple(tally.reasons()),
        jobs=len(schedule) * replay.copies,
        gpus=(int(schedule.gpus.min()), int(schedule.gpus.max())),
        nodes=(int(schedule.nodes.min()), int(schedule.nodes.max())),
        duration_s=(float(schedule.work_s.min()), float(schedule.work_s.max())),
        work_s=float(schedule.work_s.sum()),
        work_gpu_s=float((schedule.work_s * schedule.gpus).sum()),
        submit_s=(float(schedule.submit_s.min()), float(schedule.submit_s.max())),
        wall_times=_wall_times(rows) if form.has_wall_times else None,
        time_zone=form.time_zone,
        repeated_rows=tally.repeated_rows,
        columns_ignored=tuple(shown(name, _LONGEST_NAME) for name in log.columns if name not in used),
        notes=(*form.notes(names), *_notes(replay, schedule, tally)),
        warnings=tuple(_warnings(tally)),
    )


def _wall_times(rows: pd.DataFrame) -> tuple[str, str]:
    first, last = (np.datetime64(int(time_s), "s") for time_s in (rows["submit_s"].min(), rows["submit_s"].max()))
    return str(first), str(last)


def _notes(replay: Replay, schedule: LaunchSchedule, tally: Tally) -> list[str]:
    notes = []
    per_node = replay.job_profile.gpus_per_node
    if parts := int((schedule.gpus < schedule.nodes * per_node).sum()):
        notes.append(f"{parts} jobs do not fill their nodes of {per_node} GPUs; each holds and powers whole nodes.")
    if replay.copies > 1:
        notes.append(f"{replay.copies} copies of each job; each later one starts up to a checkpoint interval after.")
    if tally.repeated_rows:
        notes.append(f"{tally.repeated_rows} of the rows kept repeat another one.")
    if tally.blank_rows:
        notes.append(f"{tally.blank_rows} blank lines are not counted as rows.")
    if tally.comments:
        notes.append(f"{tally.comments} lines that begin with # are not counted as rows.")
    return notes


def _warnings(tally: Tally) -> list[str]:
    if tally.unreadable * 2 <= tally.rows_read:
        return []
    return [f"{tally.unreadable} of {tally.rows_read} rows could not be read; check replay.format and the log"]
