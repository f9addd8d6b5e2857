"""What the jobs got done, where their time went, the nodes they held, and the load they offer to the store."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, isinf

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats, blocks
from twin.analysis.checkpoints import CheckpointTime, lone_write_s
from twin.analysis.metrics import Value
from twin.fleet import REST, Job
from twin.recording import Recording
from twin.scenario import Storage

_COLUMNS = ["job_id", "nodes", "submit_s", "launch_s", "end_s", "work_s", "interference_s"]
_DRAINING = ("done", "writing", "waiting")  # states of a job whose work is done, if its checkpoints do not block


def work_metrics(
    recording: Recording, fleet: Sequence[Job], spent: CheckpointTime | None, end_s: float
) -> dict[str, Value]:
    """Goodput, overhead split, makespan and nodes in use, of the jobs table.

    Args:
        fleet: by job id.
        spent: time each job spent in checkpoints; None leaves the split out.
        end_s: end of the run [s].
    """
    # A row a job, as many as the fleet in memory has: the table is small whatever the length of the run.
    parts = list(blocks(recording.batches("jobs", _COLUMNS), _COLUMNS))
    if not parts:
        return {}
    jobs = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    done, launched = ~np.isnan(jobs["end_s"]), ~np.isnan(jobs["launch_s"])
    last_s = np.where(done, jobs["end_s"], end_s)
    present_s = np.where(launched, last_s - np.where(launched, jobs["launch_s"], 0.0), 0.0)
    work_s = float(jobs["work_s"].sum())
    stops = None
    if spent is not None:
        last_drains_s = _last_drains_s(recording, fleet, spent, last_s, jobs["job_id"])
        waited_s = float(spent.waited_s.sum()) + last_drains_s
        stops = float(spent.stalled_s.sum()) + last_drains_s - waited_s, waited_s
    return {
        "jobs_done": int(done.sum()),
        "makespan_s": float(jobs["end_s"].max() - jobs["submit_s"].min()) if done.all() else None,
        "peak_nodes": _peak_nodes(jobs["nodes"][launched], jobs["launch_s"][launched], last_s[launched]),
        "goodput": work_s / (len(done) * end_s) if end_s > 0.0 else None,
        "present_share": float(present_s.sum()) / (len(done) * end_s) if end_s > 0.0 else None,
        "mean_work_s": work_s / len(done),
        **_overhead_split(float(present_s.sum()), work_s, float(jobs["interference_s"].sum()), stops),
    }


def job_stretch_metrics(storage: Storage, jobs: Sequence[Job], recording: Recording) -> dict[str, Value]:
    """Mean and P95 of the duration of the jobs done over their nominal one [-]; none of no jobs done."""
    columns = ["job_id", "launch_s", "end_s", "cycles", "work_s"]
    stretches: list[Floats] = []
    for block in blocks(recording.batches("jobs", columns), columns):
        counts = zip(block["job_id"].tolist(), block["cycles"].tolist(), strict=True)
        stops_s = np.array([lone_stops_s(storage, jobs[job_id], cycles) for job_id, cycles in counts])
        stretch = (block["end_s"] - block["launch_s"]) / (block["work_s"] + stops_s)
        stretches.append(stretch[~np.isnan(block["end_s"].astype(np.float64))])
    of_done = np.concatenate([np.zeros(0), *stretches])
    if not len(of_done):
        return {}
    return {"job_stretch_mean": float(of_done.mean()), "job_stretch_p95": float(np.quantile(of_done, 0.95))}


def offered_load(jobs: Sequence[Job], bandwidth_b_s: float, end_s: float) -> float:
    """The load number rho of the fleet over a run of ``end_s`` > 0 seconds [-]; definition in ``METRICS``."""
    return sum(_offered_share(job, job.size_b / bandwidth_b_s, end_s) for job in jobs)


def _offered_share(job: Job, lone_s: float, end_s: float) -> float:
    stop_s = job.snapshot_s if job.is_async else lone_s
    period_s = job.compute_s + stop_s if job.every_s is None else max(job.every_s, stop_s)
    if isinf(job.work_s):
        return lone_s / period_s
    compute_s = period_s - stop_s
    last_s = lone_s if job.is_async else 0.0  # the job stays until its last drain is written
    alive_s = max(0.0, min(life_s(job.work_s, compute_s, stop_s) + last_s, end_s - job.launch_s))
    return lone_s / period_s * alive_s / end_s


def lone_stops_s(storage: Storage, job: Job, checkpoints: float) -> float:
    """Time that a job would not compute for so many checkpoints, last drain included, with the store to itself [s]."""
    if isinf(checkpoints):
        return inf
    lone_s = lone_write_s(storage, job)
    return checkpoints * job.snapshot_s + lone_s if job.is_async else checkpoints * lone_s


def checkpoints_of(work_s: float, compute_s: float) -> float:
    """Checkpoints of a job that does ``work_s`` in stretches of ``compute_s``; inf for an endless one."""
    return inf if isinf(work_s) or compute_s == 0.0 else max(1, ceil(work_s / compute_s - REST))


def life_s(work_s: float, compute_s: float, lone_s: float) -> float:
    """Launch to end of a job that is never slowed down [s]; inf for an endless one.

    Args:
        compute_s: full-speed work between checkpoints [s].
        lone_s: time of each write [s].
    """
    return work_s + checkpoints_of(work_s, compute_s) * lone_s


def _last_drains_s(
    recording: Recording, fleet: Sequence[Job], spent: CheckpointTime, last_s: Floats, job_ids: NDArray[np.int32]
) -> float:
    """Time that jobs with their work done waited for their last checkpoints in the background [s], all together."""
    if not any(job.is_async for job in fleet):
        return 0.0
    states: list[str] = []
    for batch in recording.batches("jobs", ["state"]):
        states += batch["state"].to_pylist()
    waited_s = 0.0
    for job_id, state, until_s in zip(job_ids.tolist(), states, last_s.tolist(), strict=True):
        if fleet[job_id].is_async and state in _DRAINING and not spent.is_stopped[job_id]:
            waited_s += until_s - float(spent.resumed_s[job_id])
    return waited_s


def _overhead_split(
    present_s: float, work_s: float, interference_s: float, stops: tuple[float, float] | None
) -> dict[str, Value]:
    """Shares of the time present; ``stops`` are the times stalled and waiting, None if not known."""
    if stops is None or present_s == 0.0:
        return {}
    compute_share, interference_share = work_s / present_s, interference_s / present_s
    stall_share, wait_share = (part_s / present_s for part_s in stops)
    # What the throttle took is what the others left; where it took nothing, their rounding may exceed 1.
    throttled_share = max(0.0, 1.0 - stall_share - wait_share - interference_share - compute_share)
    return {
        "compute_share": compute_share,
        "throttled_share": throttled_share,
        "throttled_job_s": throttled_share * present_s,
        "interference_share": interference_share,
        "stall_share": stall_share,
        "wait_share": wait_share,
    }


def _peak_nodes(nodes: Floats, launch_s: Floats, end_s: Floats) -> int:
    """Most nodes in use at once; a job that ends at an instant hands its nodes to one launched then."""
    time_s = np.concatenate([end_s, launch_s])
    change = np.concatenate([-nodes, nodes]).astype(np.int64)
    order = np.lexsort((change > 0, time_s))
    return int(np.cumsum(change[order]).max(initial=0))
