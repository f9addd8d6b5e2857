"""The canonical launch schedule: one row per job, times in seconds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from twin.io.launch_logs.log_format import LogColumn, LogFormat, Role, Rows
from twin.io.launch_logs.row_checks import Block
from twin.scenario import MAX_NODES, MAX_TIME_S


def _rows(block: Block, gpus_per_node: int) -> Rows:
    job_ids = block.texts("job_id")
    submit_s = block.numbers("submit_s", MAX_TIME_S)
    nodes, gpus = _sizes(block, gpus_per_node)
    work_s = block.numbers("work_s", MAX_TIME_S, above_0=True)
    start_s = None
    if "start_s" in block:
        start_s = block.numbers("start_s", MAX_TIME_S)
        block.drop(start_s < submit_s, "it started before it was submitted", "start_s")
    groups = block.texts("group", may_be_empty=True) if "group" in block else None
    return Rows(job_ids, groups, submit_s, start_s, gpus, nodes, work_s)


def _sizes(block: Block, gpus_per_node: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and GPUs of each row; where a log has one of them, full nodes, or as few nodes as the GPUs need."""
    if "nodes" not in block:
        gpus = block.whole_numbers("gpus", MAX_NODES)
        return -(-gpus // gpus_per_node), gpus
    nodes = block.whole_numbers("nodes", MAX_NODES)
    return nodes, block.whole_numbers("gpus", MAX_NODES) if "gpus" in block else nodes * gpus_per_node


def _notes(names: Mapping[Role, str]) -> tuple[str, ...]:
    notes = []
    if not names["work_s"].startswith("work"):
        notes.append(f"{names['work_s']} is taken as full-speed compute work; time spent in checkpoints comes on top.")
    if "nodes" not in names:
        notes.append("The log has no nodes: each job takes as few nodes of the profile as its gpus need.")
    return tuple(notes)


SCHEDULE = LogFormat(
    name="schedule",
    columns=(
        LogColumn("job_id", ("job_id",), "name"),
        LogColumn("submit_s", ("submit_s", "submit"), "seconds"),
        LogColumn("nodes", ("nodes",), "count", unless="gpus"),
        LogColumn("work_s", ("work_s", "work", "duration_s", "duration"), "seconds"),
        LogColumn("gpus", ("gpus",), "count", is_needed=False),
        LogColumn("group", ("group",), "name", is_needed=False),
        LogColumn("start_s", ("start_s", "start"), "seconds", is_needed=False),
    ),
    rows=_rows,
    group=None,
    has_wall_times=False,
    time_zone="none: the log counts seconds",
    notes=_notes,
)
