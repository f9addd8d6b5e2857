"""The moments a planner wants enlarged: when most jobs wrote at once, and the checkpoint that took longest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twin.analysis.blocks import Block, blocks
from twin.analysis.step_functions import steps
from twin.recording import Recording

_WRITES = ["job_id", "cycle", "write_start_s", "write_end_s"]


@dataclass(frozen=True, slots=True)
class Busiest:
    """The longest stretch with the most writers, the first of equals.

    Args:
        writers: jobs writing at once [-].
        start_s, end_s: the stretch [s].
    """

    writers: int
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Longest:
    """The checkpoint that took longest from first byte to last, the first of equals; times in s."""

    job_id: int
    cycle: int
    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s


def busiest(recording: Recording, end_s: float) -> Busiest | None:
    """The stretch of the run with the most writers; None if nobody wrote for any length of time."""
    found = Busiest(0, 0.0, 0.0)
    columns = ["time_s", "writers"]
    for step in steps(blocks(recording.batches("storage", columns), columns), end_s):
        lasting = step.hold_s > 0.0
        writers = np.where(lasting, step.values["writers"], 0)
        most = int(writers.max(initial=0))
        if most == 0:
            continue
        at = int(np.argmax(np.where(writers == most, step.hold_s, 0.0)))
        hold_s = float(step.hold_s[at])
        if (most, hold_s) > (found.writers, found.end_s - found.start_s):
            start_s = float(step.time_s[at])
            found = Busiest(most, start_s, start_s + hold_s)
    return found if found.writers else None


def longest(recording: Recording) -> Longest | None:
    """The longest checkpoint that ended within the run; None if none did."""
    found: Longest | None = None
    for block in blocks(recording.batches("checkpoints", _WRITES), _WRITES):
        duration_s = np.nan_to_num(block["write_end_s"] - block["write_start_s"], nan=-1.0)
        at = int(np.argmax(duration_s))
        if duration_s[at] >= 0.0 and (found is None or duration_s[at] > found.duration_s):
            job, cycle = int(block["job_id"][at]), int(block["cycle"][at])
            found = Longest(job, cycle, float(block["write_start_s"][at]), float(block["write_end_s"][at]))
    return found


def writes_between(recording: Recording, start_s: float, end_s: float) -> Block:
    """The checkpoints that were being written at some time in (start_s, end_s), in order of their table.

    Returns:
        job_id, cycle, write_start_s, write_end_s; inf is the end of one that the run cut.
    """
    kept: list[Block] = [{name: np.zeros(0) for name in _WRITES}]
    for block in blocks(recording.batches("checkpoints", _WRITES), _WRITES):
        until_s = np.where(np.isnan(block["write_end_s"]), np.inf, block["write_end_s"])
        inside = (block["write_start_s"] < end_s) & (until_s > start_s)
        if inside.any():
            kept.append({name: (block | {"write_end_s": until_s})[name][inside] for name in _WRITES})
    return {name: np.concatenate([part[name] for part in kept]) for name in _WRITES}
