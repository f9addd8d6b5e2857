"""What a job does: its phases, its checkpoints, and the transfers that it hands to the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import floor, inf

from tests.oracle.pace import Pace
from twin.fleet import Job


@dataclass
class Cycle:
    """One round of a job [s]; a time that had not come by the end of the run is None."""

    compute_start_s: float
    due_s: float | None = None
    write_start_s: float | None = None
    write_end_s: float | None = None
    stall_s: float | None = None


@dataclass
class Transfer:
    """A checkpoint on its way into the store; it waits for a lane until it is being served."""

    course: Course
    cycle: Cycle
    left_b: float
    is_served: bool = False

    @property
    def place_in_line(self) -> tuple[float, str, int]:
        assert self.cycle.due_s is not None
        return self.cycle.due_s, self.course.job.group, self.course.job.index


@dataclass
class Course:
    """What became of one job."""

    job: Job
    cycles: list[Cycle] = field(default_factory=list)
    work_s: float = 0.0
    interference_s: float = 0.0
    phase: str = "pending"  # one that writes may still wait for a lane; one that waits has too much in flight
    left_s: float = inf  # full-speed work left of the stretch
    until_s: float = inf  # when the clock ends the phase: launch, end of the snapshot, or a trigger
    work_left_s: float = inf
    stretches: Iterator[float] | None = None
    transfers: list[Transfer] = field(default_factory=list)  # pending, oldest first

    def __post_init__(self) -> None:
        self.until_s, self.work_left_s = self.job.launch_s, self.job.work_s

    @property
    def written(self) -> int:
        return sum(cycle.write_end_s is not None for cycle in self.cycles)

    @property
    def state(self) -> str:
        """The phase as a table tells it: who waits for a lane with all he has to write does not write."""
        is_served = any(transfer.is_served for transfer in self.transfers)
        return "waiting" if self.phase == "writing" and not is_served else self.phase

    @property
    def efficiency(self) -> float:
        is_draining = self.job.is_async and any(transfer.is_served for transfer in self.transfers)
        return 1.0 - self.job.interference if is_draining else 1.0

    def node_w(self, speed: float) -> float:
        power = self.job.power
        if self.phase == "computing":
            return power.idle_w + (power.compute_w - power.idle_w) * speed**power.exponent
        return 0.0 if self.phase in ("pending", "done") else power.write_w

    def node_j(self, pace: Pace, step_s: float) -> float:
        """Energy of one node over a step."""
        power = self.job.power
        if self.phase == "computing":
            dynamic_j = (power.compute_w - power.idle_w) * pace.power_s(step_s, power.exponent)
            return power.idle_w * step_s + dynamic_j
        return self.node_w(0.0) * step_s

    def next_end_s(self, now_s: float, pace: Pace) -> float:
        if self.phase != "computing":
            return self.until_s
        return min(now_s + pace.time_for_s(self.left_s / self.efficiency), self.until_s)

    def advance(self, step_s: float, pace: Pace) -> None:
        if self.phase == "computing":
            at_speed_s = pace.work_s(step_s)
            done_s = self.efficiency * at_speed_s
            self.work_s += done_s
            self.interference_s += at_speed_s - done_s
            self.work_left_s -= done_s
            self.left_s -= done_s

    def end_phase(self, now_s: float) -> None:
        """What follows a launch, a stretch or a snapshot."""
        if self.phase == "pending":
            self.stretches = self.job.stretches()
            self._compute(now_s)
        elif self.phase == "computing":
            self.cycles[-1].due_s = now_s
            self.until_s = inf
            if self.job.is_async:
                self._snapshot_or_wait(now_s)
            else:
                self._hand_over()
                self.phase = "writing"
        else:
            self.cycles[-1].stall_s = now_s - _known(self.cycles[-1].due_s)
            self._hand_over()
            self._compute(now_s)

    def begin_write(self, transfer: Transfer, now_s: float) -> None:
        """A lane is free."""
        transfer.is_served = True
        transfer.cycle.write_start_s = now_s

    def end_write(self, transfer: Transfer, now_s: float) -> None:
        transfer.cycle.write_end_s = now_s
        self.transfers.remove(transfer)
        if not self.job.is_async:
            transfer.cycle.stall_s = now_s - _known(transfer.cycle.due_s)
            self._compute(now_s)
        elif self.phase == "waiting":
            self._snapshot_or_wait(now_s)
        elif self.phase == "writing" and not self.transfers:
            self.phase = "done"

    def _snapshot_or_wait(self, now_s: float) -> None:
        if len(self.transfers) < self.job.in_flight:
            self.phase, self.until_s = "snapshot", now_s + self.job.snapshot_s
            if self.until_s == now_s:
                self.end_phase(now_s)  # before lanes are granted: its due time may put it ahead
        else:
            self.phase = "waiting"

    def _hand_over(self) -> None:
        self.transfers.append(Transfer(self, self.cycles[-1], self.job.size_b))

    def _compute(self, now_s: float) -> None:
        """Begin a stretch, or be done; one of no length ends at once, but at speed 0 it waits like any other."""
        job = self.job
        self.until_s = inf
        if job.every_s is None:
            assert self.stretches is not None
            self.left_s = next(self.stretches, -1.0)
            is_done = self.left_s < 0.0
        else:
            self.left_s = self.work_left_s
            is_done = bool(self.cycles) and self.left_s < 1e-9 * job.every_s
        if is_done:
            self.phase = "writing" if self.transfers else "done"
            return
        if job.every_s is not None:
            self.until_s = _trigger_after_s(job.offset_s, job.every_s, now_s)
        self.phase = "computing"
        self.cycles.append(Cycle(now_s))


def _trigger_after_s(offset_s: float, every_s: float, now_s: float) -> float:
    k = floor((now_s - offset_s) / every_s) - 1
    while offset_s + k * every_s <= now_s:
        k += 1
    return offset_s + k * every_s


def _known(time_s: float | None) -> float:
    assert time_s is not None
    return time_s
