"""What the jobs got done, where their time went, the nodes they held, and the load they offer to the store."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, isinf

import numpy as np

from twin.analysis.blocks import Floats, blocks
from twin.analysis.checkpoints import lone_write_s
from twin.analysis.metrics import Value
from twin.fleet import REST, Job
from twin.recording import Recording
from twin.scenario import Storage

_COLUMNS = ["nodes", "submit_s", "launch_s", "end_s", "work_s"]


def work_metrics(recording: Recording, stalled_s: Floats | None, end_s: float) -> dict[str, Value]:
    """Goodput, overhead split, makespan and nodes in use, of the jobs table.

    Args:
        stalled_s: time each job was stopped for checkpoints [s], by job id; None leaves the split out.
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
    return {
        "jobs_done": int(done.sum()),
        "makespan_s": float(jobs["end_s"].max() - jobs["submit_s"].min()) if done.all() else None,
        "peak_nodes": _peak_nodes(jobs["nodes"][launched], jobs["launch_s"][launched], last_s[launched]),
        "goodput": work_s / (len(done) * end_s) if end_s > 0.0 else None,
        "present_share": float(present_s.sum()) / (len(done) * end_s) if end_s > 0.0 else None,
        "mean_work_s": work_s / len(done),
        **_overhead_split(float(present_s.sum()), work_s, stalled_s),
    }


def job_stretch_metrics(storage: Storage, jobs: Sequence[Job], recording: Recording) -> dict[str, Value]:
    """Mean and P95 of the duration of the jobs done over their nominal one [-]; none of no jobs done."""
    columns = ["job_id", "launch_s", "end_s", "cycles", "work_s"]
    stretches: list[Floats] = []
    for block in blocks(recording.batches("jobs", columns), columns):
        lone_s = np.array([lone_write_s(storage, jobs[job_id].size_b) for job_id in block["job_id"].tolist()])
        stretch = (block["end_s"] - block["launch_s"]) / (block["work_s"] + block["cycles"] * lone_s)
        stretches.append(stretch[~np.isnan(block["end_s"].astype(np.float64))])
    of_done = np.concatenate([np.zeros(0), *stretches])
    if not len(of_done):
        return {}
    return {"job_stretch_mean": float(of_done.mean()), "job_stretch_p95": float(np.quantile(of_done, 0.95))}


def offered_load(jobs: Sequence[Job], bandwidth_b_s: float, end_s: float) -> float:
    """The load number rho of the fleet over a run of ``end_s`` > 0 seconds [-]; definition in ``METRICS``."""
    return sum(_offered_share(job, job.size_b / bandwidth_b_s, end_s) for job in jobs)


def _offered_share(job: Job, lone_s: float, end_s: float) -> float:
    period_s = job.compute_s + lone_s if job.every_s is None else max(job.every_s, lone_s)
    if isinf(job.work_s):
        return lone_s / period_s
    compute_s = period_s - lone_s
    alive_s = max(0.0, min(life_s(job.work_s, compute_s, lone_s), end_s - job.launch_s))
    return lone_s / period_s * alive_s / end_s


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


def _overhead_split(present_s: float, work_s: float, stalled_s: Floats | None) -> dict[str, Value]:
    if stalled_s is None or present_s == 0.0:
        return {}
    stall_share = float(stalled_s.sum()) / present_s
    compute_share = work_s / present_s
    return {
        "compute_share": compute_share,
        # What the throttle took is what the other two left; where it took nothing, their rounding may exceed 1.
        "throttled_share": max(0.0, 1.0 - stall_share - compute_share),
        "stall_share": stall_share,
    }


def _peak_nodes(nodes: Floats, launch_s: Floats, end_s: Floats) -> int:
    """Most nodes in use at once; a job that ends at an instant hands its nodes to one launched then."""
    time_s = np.concatenate([end_s, launch_s])
    change = np.concatenate([-nodes, nodes]).astype(np.int64)
    order = np.lexsort((change > 0, time_s))
    return int(np.cumsum(change[order]).max(initial=0))
