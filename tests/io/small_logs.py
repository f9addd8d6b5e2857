"""Small launch logs, written and read in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from twin.errors import LaunchLogError
from twin.fleet import LaunchSchedule
from twin.io.launch_logs import read_schedule
from twin.io.launch_logs.import_report import ImportReport
from twin.scenario import Replay

SCHEDULE = "job_id,submit_s,nodes,work_s\n"
THREE_JOBS = SCHEDULE + "a,100,1,3600\nb,160,2,7200\nc,220,4,60\n"
KALOS = "job_id,arrival_time,num_iteration,gpu_workers,gpu_per_worker\n"
PHILLY = "timestamp,duration,num_gpus,cluster\n"

Read = tuple[LaunchSchedule, ImportReport]


def read(folder: Path, content: str | bytes, name: str = "log.csv", **replay: Any) -> Read:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_schedule(Replay.model_validate({"file": name, **replay}), folder)


def refusal(folder: Path, content: str | bytes, **replay: Any) -> str:
    with pytest.raises(LaunchLogError) as refused:
        read(folder, content, **replay)
    return str(refused.value)


def dropped(report: ImportReport) -> dict[str, tuple[int, int, str]]:
    return {reason.reason: (reason.rows, reason.first_line, reason.example) for reason in report.dropped}


def as_lists(schedule: LaunchSchedule) -> list[list[Any]]:
    return [np.asarray(getattr(schedule, name)).tolist() for name in LaunchSchedule.__slots__]
