"""Recording -> every summary number, in memory that does not grow with the run."""

from __future__ import annotations

from collections.abc import Sequence

from twin.analysis.checkpoints import checkpoint_metrics, checkpoint_time, lone_checkpoints_s, mean_durations
from twin.analysis.concurrency import independent_tail, storage_metrics
from twin.analysis.failures import failure_metrics
from twin.analysis.metrics import METRICS, Value
from twin.analysis.power import power_metrics
from twin.analysis.work import job_stretch_metrics, offered_load, work_metrics
from twin.fleet import Job
from twin.recording import Recording
from twin.scenario import Scenario


def summarise(scenario: Scenario, jobs: Sequence[Job], recording: Recording, end_s: float) -> dict[str, Value]:
    """The metrics of a run by name, in the order of ``METRICS``; the same bits however its tables are cut into batches.

    Args:
        jobs: the fleet that was run, by job id.
        recording: the tables of the run; a metric that needs a table not recorded is None.
        end_s: end of the run [s].
    """
    found: dict[str, Value] = {"horizon_s": end_s, "jobs": len(jobs)}
    spent = None
    if "checkpoints" in recording.sources:
        spent = checkpoint_time(recording, len(jobs), end_s)
        found |= mean_durations(jobs, spent)
        found["lone_checkpoint_by_group_s"] = lone_checkpoints_s(scenario.storage, jobs, spent.written.tolist())
        found |= checkpoint_metrics(scenario.storage, jobs, recording)
    if "jobs" in recording.sources:
        found |= work_metrics(recording, None if spent is None else spent.stalled_s, end_s)
        found |= job_stretch_metrics(scenario.storage, jobs, recording)
    if end_s > 0.0:  # over no time there are no averages
        found["offered_load"] = offered_load(jobs, scenario.storage.bandwidth_b_s, end_s)
        if "storage" in recording.sources:
            found |= storage_metrics(recording, scenario.storage.bandwidth_b_s, end_s)
        if "power" in recording.sources:
            found |= power_metrics(recording, scenario.power.cap_w, end_s)
        peak = found.get("peak_writers")
        if spent is not None and isinstance(peak, int):
            found["writers_share_at_least_independent"] = independent_tail(spent.writing_s / end_s, peak).tolist()
        if scenario.failures is not None and spent is not None and "jobs" in recording.sources:
            found |= failure_metrics(scenario.failures, jobs, recording, spent, end_s)
    return {name: found.get(name) for name in METRICS}
