"""The Microsoft Philly log as a flat CSV file: jobs of a multi-tenant GPU cluster, 2017.

Source: M. Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", ATC 2019.
"""

from __future__ import annotations

from collections.abc import Mapping

from twin.io.launch_logs.log_format import LogColumn, LogFormat, Role, Rows
from twin.io.launch_logs.row_checks import Block
from twin.scenario import MAX_NODES, MAX_TIME_S


def _rows(block: Block, gpus_per_node: int) -> Rows:
    submit_s = block.wall_times("submit_s")
    gpus = block.whole_numbers("gpus", MAX_NODES)
    work_s = block.numbers("work_s", MAX_TIME_S, above_0=True)
    groups = block.texts("group", may_be_empty=True)
    return Rows(None, groups, submit_s, None, gpus, -(-gpus // gpus_per_node), work_s)


def _notes(_: Mapping[Role, str]) -> tuple[str, ...]:
    return (
        "The log has no start times: every job starts when submitted, so concurrency is an upper estimate.",
        "Durations are taken as full-speed compute work; time spent in checkpoints comes on top.",
        "The log has no job ids: jobs are named by group and place in time, and equal rows are jobs of their own.",
        "A change to or from summer time inside the log would shift the jobs around it by up to an hour.",
    )


PHILLY_CSV = LogFormat(
    name="philly-csv",
    columns=(
        LogColumn("submit_s", ("timestamp",), "date-time"),
        LogColumn("work_s", ("duration",), "seconds"),
        LogColumn("gpus", ("num_gpus",), "count"),
        LogColumn("group", ("cluster",), "name"),
    ),
    rows=_rows,
    group="philly",
    has_wall_times=True,
    time_zone="not documented, read as naive local time",
    notes=_notes,
)
