"""The Acme "Kalos" log in its converted form: completed jobs of a cluster for large language models, 2023.

Source: Q. Hu et al., "Characterization of Large Language Model Development in the Datacenter", NSDI 2024.
"""

from __future__ import annotations

from collections.abc import Mapping

from twin.io.launch_logs.log_format import LogColumn, LogFormat, Role, Rows
from twin.io.launch_logs.row_checks import Block
from twin.scenario import MAX_NODES, MAX_TIME_S

_ITERATION_S = 0.5  # made up by the converter: num_iteration = int(duration / 0.5 s)
_MOST_GPUS_PER_WORKER = 1024  # as for the nodes of a scenario


def _rows(block: Block, _: int) -> Rows:
    job_ids = block.texts("job_id")
    submit_s = block.numbers("submit_s", MAX_TIME_S)
    workers = block.whole_numbers("nodes", MAX_NODES)
    gpus = workers * block.whole_numbers("gpus", _MOST_GPUS_PER_WORKER)
    work_s = _ITERATION_S * block.numbers("work_s", MAX_TIME_S, above_0=True)
    return Rows(job_ids, None, submit_s, None, gpus, workers, work_s)


def _notes(_: Mapping[Role, str]) -> tuple[str, ...]:
    return (
        "Durations run from submission to end, the queue included: work and concurrency are upper estimates.",
        "Durations are taken as full-speed compute work; time spent in checkpoints comes on top.",
        "Durations are rounded down to 0.5 s; failed and cancelled jobs are missing from this log.",
    )


KALOS = LogFormat(
    name="kalos",
    columns=(
        LogColumn("job_id", ("job_id",), "name"),
        LogColumn("submit_s", ("arrival_time",), "seconds"),
        LogColumn("work_s", ("num_iteration",), "count"),
        LogColumn("nodes", ("gpu_workers",), "count"),
        LogColumn("gpus", ("gpu_per_worker",), "count"),
    ),
    rows=_rows,
    group="kalos",
    has_wall_times=False,
    time_zone="none: the log counts seconds from its first submission",
    notes=_notes,
)
