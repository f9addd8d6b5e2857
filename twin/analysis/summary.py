"""Recording -> every summary number, in memory that does not grow with the run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twin.analysis.checkpoints import checkpoint_metrics, checkpoint_time, lone_checkpoints_s, mean_durations
from twin.analysis.concurrency import independent_tail, slots_of, storage_metrics
from twin.analysis.excursions import excursion_metrics, excursions, limit_events
from twin.analysis.failures import failure_metrics
from twin.analysis.metrics import METRICS, Value
from twin.analysis.power import power_metrics
from twin.analysis.work import job_stretch_metrics, offered_load, work_metrics
from twin.fleet import Job
from twin.recording import Recording
from twin.scenario import Scenario, sections


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
        spent = checkpoint_time(recording, jobs, end_s)
        found |= mean_durations(jobs, spent)
        found["lone_checkpoint_by_group_s"] = lone_checkpoints_s(scenario.storage, jobs, spent.written.tolist())
        found |= checkpoint_metrics(scenario.storage, jobs, recording)
    if "jobs" in recording.sources:
        found |= work_metrics(recording, jobs, spent, end_s)
        found |= job_stretch_metrics(scenario.storage, jobs, recording)
    if end_s > 0.0:  # over no time there are no averages
        found["offered_load"] = offered_load(jobs, scenario.storage.bandwidth_b_s, end_s)
        if "storage" in recording.sources:
            found |= storage_metrics(recording, scenario.storage.bandwidth_b_s, end_s)
        found |= _of_power(scenario, recording, end_s)
        peak = found.get("peak_writers")
        if spent is not None and isinstance(peak, int):
            slots = slots_of(jobs)
            fractions = np.repeat(spent.writing_s / end_s / slots, slots)
            found["writers_share_at_least_independent"] = independent_tail(fractions, peak).tolist()
        if scenario.failures is not None and spent is not None and "jobs" in recording.sources:
            found |= failure_metrics(scenario.failures, jobs, recording, spent, end_s)
    return {name: found.get(name) for name in METRICS}


def _of_power(scenario: Scenario, recording: Recording, end_s: float) -> dict[str, Value]:
    """The metrics of the power and of what went over the caps, as far as they were recorded."""
    found: dict[str, Value] = {}
    power, actions = scenario.power, None
    if "events" in recording.sources:
        limits = {name: section.limit_of_excursions for name, (_, section) in sections(power).items()}
        found |= excursion_metrics(excursions(recording, limits, scenario.start_s, end_s))
        actions = limit_events(recording)
    if "power" in recording.sources:
        found |= power_metrics(recording, power, actions, end_s)
    return found
