"""How long checkpoints take, how far contention stretches the cycles, and the time each job spends in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Block, Floats, blocks
from twin.analysis.metrics import Value
from twin.analysis.quantiles import sample_quantiles
from twin.fleet import Job, total_rate_b_s
from twin.recording import Recording
from twin.scenario import Storage

_ULPS = 4.0  # of the time at which a stall began: rounding of its length


@dataclass(frozen=True, slots=True)
class CheckpointTime:
    """Time of each job in checkpoints within the run.

    Args:
        written: checkpoints ended, shape (jobs,).
        written_s: between first and last byte of those [s], shape (jobs,).
        stalled_s: not computing for a checkpoint, an unfinished one included [s], shape (jobs,).
        waited_s: of that, waiting for a lane of the store or for room for one more drain [s], shape (jobs,).
        stopped_s: not computing for the checkpoints that ended [s], shape (jobs,).
        writing_s: between first and last byte, an unfinished one included [s], shape (jobs,).
        resumed_s: end of the last stall, at which the job went on [s], NaN before the first, shape (jobs,).
        is_stopped: in a checkpoint at the end of the run that has it not compute, shape (jobs,).
    """

    written: NDArray[np.int64]
    written_s: Floats
    stalled_s: Floats
    waited_s: Floats
    stopped_s: Floats
    writing_s: Floats
    resumed_s: Floats
    is_stopped: NDArray[np.bool_]


def checkpoint_time(recording: Recording, fleet: Sequence[Job], end_s: float) -> CheckpointTime:
    """Checkpoints written, and the time that each job spent in them up to ``end_s``."""
    jobs = len(fleet)
    stalled_s, waited_s, stopped_s, writing_s, written_s = (np.zeros(jobs) for _ in range(5))
    written, resumed_s, is_stopped = np.zeros(jobs, np.int64), np.full(jobs, -np.inf), np.zeros(jobs, np.bool_)
    is_async = np.array([job.is_async for job in fleet], np.bool_)
    snapshots_s = np.array([job.snapshot_s for job in fleet])
    columns = ["job_id", "due_s", "write_start_s", "write_end_s", "stall_s"]
    for block in blocks(recording.batches("checkpoints", columns), columns):
        job, ended_s = block["job_id"], _until(block["write_end_s"], end_s)
        done = ~np.isnan(block["write_end_s"])
        is_open = np.isnan(block["stall_s"])
        stall_s = np.where(is_open, end_s - block["due_s"], block["stall_s"])
        stalled_s += np.bincount(job, stall_s, jobs)
        started_s = _until(block["write_start_s"], end_s)
        # What goes beyond the snapshot was a wait for room; a snapshot that the end of the run cut counts likewise.
        beyond_s = stall_s - snapshots_s[job]
        beyond_s[beyond_s <= _ULPS * np.spacing(block["due_s"])] = 0.0  # no wait, but what the clock cannot tell
        waited_s += np.bincount(job, np.where(is_async[job], beyond_s, started_s - block["due_s"]), jobs)
        stopped_s += np.bincount(job[done], stall_s[done], jobs)
        back_s = np.where(is_async[job], block["due_s"] + stall_s, ended_s)
        np.maximum.at(resumed_s, job[~is_open], back_s[~is_open])
        is_stopped[job[is_open]] = True
        spent_s = ended_s - started_s
        writing_s += np.bincount(job, spent_s, jobs)
        written_s += np.bincount(job[done], spent_s[done], jobs)
        written += np.bincount(job[done], minlength=jobs)
    resumed_s[resumed_s == -np.inf] = np.nan
    parts = stalled_s, waited_s, stopped_s, writing_s, resumed_s, is_stopped
    return CheckpointTime(written, written_s, *parts)


def mean_durations(jobs: Sequence[Job], spent: CheckpointTime) -> dict[str, Value]:
    """Checkpoints written and their mean duration [s], of all and by group; None where none ended."""
    members = members_of(jobs)
    written = int(spent.written.sum())
    return {
        "checkpoints_written": written,
        "checkpoint_duration_mean_s": ratio(float(spent.written_s.sum()), written),
        "checkpoint_duration_mean_by_group_s": {
            group: ratio(float(spent.written_s[ids].sum()), int(spent.written[ids].sum()))
            for group, ids in members.items()
        },
    }


def members_of(jobs: Sequence[Job]) -> dict[str, list[int]]:
    """Job ids of each group, the groups in the order of their first jobs."""
    members: dict[str, list[int]] = {}
    for job in jobs:
        members.setdefault(job.group, []).append(job.job_id)
    return members


def ratio(part: float, whole: float) -> float | None:
    """Their quotient; None over nothing."""
    return part / whole if whole else None


def checkpoint_metrics(storage: Storage, jobs: Sequence[Job], recording: Recording) -> dict[str, Value]:
    """Exact quantiles of checkpoint durations [s] and of the stretch [-]; None if no checkpoint ended."""
    p50, p99, longest = sample_quantiles(lambda: durations_s(recording), (0.5, 0.99, 1.0)) or (None,) * 3
    stalls = sample_quantiles(lambda: _stalls_s(recording), (0.5, 0.99, 1.0)) or (None,) * 3
    stretches = sample_quantiles(lambda: _stretches(storage, jobs, recording), (0.5, 0.95, 0.99, 1.0))
    stretch_p50, stretch_p95, stretch_p99, stretch_max = stretches or (None,) * 4
    return {
        "checkpoint_duration_p50_s": p50,
        "checkpoint_duration_p99_s": p99,
        "checkpoint_duration_max_s": longest,
        "checkpoint_stall_p50_s": stalls[0],
        "checkpoint_stall_p99_s": stalls[1],
        "checkpoint_stall_max_s": stalls[2],
        "stretch_p50": stretch_p50,
        "stretch_p95": stretch_p95,
        "stretch_p99": stretch_p99,
        "stretch_max": stretch_max,
    }


def lone_write_s(storage: Storage, job: Job) -> float:
    """Time that a checkpoint of the job takes with the store to itself [s]."""
    return job.size_b / total_rate_b_s(storage, job.weight)


def lone_checkpoints_s(storage: Storage, jobs: Sequence[Job], counts: Sequence[float]) -> dict[str, float | None]:
    """Time of a checkpoint with the store to itself [s], mean over the checkpoints of each group.

    Args:
        counts: checkpoints of each job, in the order of ``jobs``.
    """
    number, spent_s = dict[str, float](), dict[str, float]()
    for job, count in zip(jobs, counts, strict=True):
        number[job.group] = number.get(job.group, 0.0) + count
        spent_s[job.group] = spent_s.get(job.group, 0.0) + count * lone_write_s(storage, job)
    return {group: ratio(spent_s[group], number[group]) for group in number}


def durations_s(recording: Recording) -> Iterator[Floats]:
    """Time from first byte to last of the checkpoints that ended within the run [s], in blocks."""
    columns = ["write_start_s", "write_end_s"]
    for block in blocks(recording.batches("checkpoints", columns), columns):
        duration_s = (block["write_end_s"] - block["write_start_s"]).astype(np.float64, copy=False)
        yield duration_s[~np.isnan(duration_s)]


def _stalls_s(recording: Recording) -> Iterator[Floats]:
    """Time not computing for each of those checkpoints [s], in blocks."""
    for block in blocks(recording.batches("checkpoints", ["write_end_s", "stall_s"]), ["write_end_s", "stall_s"]):
        yield block["stall_s"][~np.isnan(block["write_end_s"])].astype(np.float64, copy=False)


def _stretches(storage: Storage, jobs: Sequence[Job], recording: Recording) -> Iterator[Floats]:
    """Cycle time / lone cycle time of each checkpoint ended; with one in the background the cycle ends as it resumes.

    The work drawn is no column: it is drawn again from the job's own stream, one value for each of its rows, which
    come in the order of its cycles.
    """
    columns = ["job_id", "compute_start_s", "due_s", "write_end_s", "stall_s", "size_b"]
    is_async = np.array([job.is_async for job in jobs], np.bool_)
    snapshots_s = np.array([job.snapshot_s for job in jobs])
    lone_b_s = np.array([total_rate_b_s(storage, job.weight) for job in jobs])
    draws = [job.stretches() if job.every_s is None else None for job in jobs]
    for block in blocks(recording.batches("checkpoints", columns), columns):
        job = block["job_id"]
        lone_stall_s = np.where(is_async[job], snapshots_s[job], block["size_b"] / lone_b_s[job])
        lone_s = _lone_compute_s(block, draws) + lone_stall_s
        back_s = np.where(is_async[job], block["due_s"] + block["stall_s"], block["write_end_s"])
        is_done = ~np.isnan(block["write_end_s"])
        yield ((back_s - block["compute_start_s"])[is_done] / lone_s[is_done]).astype(np.float64, copy=False)


def _lone_compute_s(block: Block, draws: Sequence[Iterator[float] | None]) -> Floats:
    lone_s: Floats = (block["due_s"] - block["compute_start_s"]).astype(np.float64, copy=False)
    by_job = np.argsort(block["job_id"], kind="stable")
    job = block["job_id"][by_job]
    starts = np.flatnonzero(np.diff(job, prepend=-1))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(job)], strict=True):
        drawn = draws[int(job[start])]
        if drawn is not None:
            lone_s[by_job[start:stop]] = np.fromiter(islice(drawn, stop - start), np.float64, stop - start)
    return lone_s


def _until(time_s: Floats, end_s: float) -> Floats:
    return np.where(np.isnan(time_s), end_s, time_s)
