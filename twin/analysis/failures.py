"""What failures would cost a run that was simulated without them, and how often its jobs should checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from twin.analysis.blocks import Floats, blocks
from twin.analysis.checkpoints import CheckpointTime, members_of, ratio
from twin.analysis.metrics import Value
from twin.fleet import Job
from twin.laws.checkpoint_interval import daly_interval_s, expected_ettr, young_interval_s
from twin.recording import Recording
from twin.scenario import Failures
from twin.units import DAY_S

_COLUMNS = ["job_id", "compute_start_s", "due_s", "write_end_s"]


@dataclass(frozen=True, slots=True)
class _Exposure:
    """What each job has to lose, arrays of shape (jobs,).

    Args:
        nodes: nodes held [-].
        present_s: from launch to end of the job or of the run [s].
        work_s: full-speed work done [s].
        interval_s: time computing before the checkpoints that ended [s], all together.
        at_risk_s2: full-speed work not yet durable, integrated over the time present [s^2].
    """

    nodes: Floats
    present_s: Floats
    work_s: Floats
    interval_s: Floats
    at_risk_s2: Floats


def failure_metrics(
    failures: Failures, jobs: Sequence[Job], recording: Recording, spent: CheckpointTime, end_s: float
) -> dict[str, Value]:
    """Expected lost work, effective training time and best intervals; definitions in ``METRICS``.

    Args:
        recording: with the tables jobs and checkpoints.
        spent: time in checkpoints of the same run.
        end_s: end of the run [s].
    """
    exposed = _exposure(jobs, recording, spent, end_s)
    failures_per_s = failures.per_node_day / DAY_S * exposed.nodes
    lost_s = float(failures_per_s @ exposed.at_risk_s2)
    members = members_of(jobs)
    groups = {group: _Rhythm.of(failures, exposed, spent, ids) for group, ids in members.items()}
    fleet = _Rhythm.of(failures, exposed, spent, range(len(jobs)))
    return {
        "failures_expected": float(failures_per_s @ exposed.present_s),
        "lost_work_expected_s": lost_s,
        "lost_work_expected_share": ratio(lost_s, float(exposed.work_s.sum())),
        "ettr_expected": _mean_over_time(groups),
        "ettr_expected_by_group": {group: rhythm.ettr for group, rhythm in groups.items()},
        "young_interval_s": fleet.young_s,
        "young_interval_by_group_s": {group: rhythm.young_s for group, rhythm in groups.items()},
        "daly_interval_s": fleet.daly_s,
        "daly_interval_by_group_s": {group: rhythm.daly_s for group, rhythm in groups.items()},
    }


@dataclass(frozen=True, slots=True)
class _Rhythm:
    """The mean job of a group, and what the closed forms make of it; None where no checkpoint ended."""

    present_s: float
    ettr: float | None
    young_s: float | None
    daly_s: float | None

    @classmethod
    def of(cls, failures: Failures, exposed: _Exposure, spent: CheckpointTime, ids: Sequence[int]) -> _Rhythm:
        chosen = list(ids)
        written, present_s = int(spent.written[chosen].sum()), float(exposed.present_s[chosen].sum())
        if not written or not present_s:
            return cls(present_s, None, None, None)
        stop_s = float(spent.stopped_s[chosen].sum()) / written
        interval_s = float(exposed.interval_s[chosen].sum()) / written
        nodes = float(exposed.nodes[chosen] @ exposed.present_s[chosen]) / present_s
        failures_per_s = failures.per_node_day / DAY_S * nodes
        ettr = expected_ettr(interval_s, stop_s, failures_per_s, failures.downtime_s) if interval_s else None
        between_s = 1.0 / failures_per_s
        return cls(present_s, ettr, young_interval_s(stop_s, between_s), daly_interval_s(stop_s, between_s))


def _mean_over_time(groups: Mapping[str, _Rhythm]) -> float | None:
    known = [(rhythm.present_s, rhythm.ettr) for rhythm in groups.values() if rhythm.ettr is not None]
    return ratio(sum(present_s * ettr for present_s, ettr in known), sum(present_s for present_s, _ in known))


def _exposure(jobs: Sequence[Job], recording: Recording, spent: CheckpointTime, end_s: float) -> _Exposure:
    columns = ["launch_s", "end_s", "work_s"]
    parts = list(blocks(recording.batches("jobs", columns), columns))
    launch_s, done_s, work_s = (np.concatenate([part[name] for part in parts]) for name in columns)
    # A job that was not launched is present for no time; one that was starts its first stretch then.
    began_s = np.where(np.isnan(launch_s), end_s, launch_s)
    present_s = np.where(np.isnan(done_s), end_s, done_s) - began_s
    count = len(jobs)
    computing_s, interval_s, risk_s2 = np.zeros(count), np.zeros(count), np.zeros(count)
    for block in blocks(recording.batches("checkpoints", _COLUMNS), _COLUMNS):
        job, done = block["job_id"], ~np.isnan(block["write_end_s"])
        compute_s = block["due_s"] - block["compute_start_s"]
        until_durable_s = np.where(done, block["write_end_s"], end_s) - block["due_s"]
        computing_s += np.bincount(job, compute_s, count)
        interval_s += np.bincount(job[done], compute_s[done], count)
        risk_s2 += np.bincount(job, compute_s * (0.5 * compute_s + until_durable_s), count)
    resumed_s = np.where(np.isnan(spent.resumed_s), began_s, spent.resumed_s)
    worked = np.array([job.is_done(job.work_s - done) for job, done in zip(jobs, work_s.tolist(), strict=True)])
    rest_s = np.where(spent.is_stopped | worked | ~np.isnan(done_s), 0.0, end_s - resumed_s)
    computing_s += rest_s
    risk_s2 += 0.5 * rest_s**2
    speed = np.divide(work_s, computing_s, out=np.zeros(count), where=computing_s > 0.0)
    return _Exposure(np.array([float(job.nodes) for job in jobs]), present_s, work_s, interval_s, speed * risk_s2)
