"""The training job: compute, write a checkpoint, repeat; launched once, done when its work is."""

from __future__ import annotations

from enum import StrEnum
from math import floor

from twin.fleet import Job
from twin.recording import Rows
from twin.sim.ending import Ending
from twin.sim.power_fabric import PowerFabric
from twin.sim.storage_server import StorageServer
from twin.sim.timeline import PHASE_END, Alarm, Process, Timeline
from twin.sim.virtual_clock import User


class Phase(StrEnum):
    """Where a job is."""

    PENDING = "pending"
    COMPUTING = "computing"
    WRITING = "writing"
    DONE = "done"


PENDING, COMPUTING, WRITING, DONE = Phase  # bare names: they are compared at every phase end


class TrainingJob:
    """One blocking job at the store and behind the power fabric.

    Args:
        profile: place of its power profile in the fabric.
        checkpoints, events: where its checkpoints and skipped triggers go; None records nothing.
        ending: told of launches, of the checkpoint that counts for ``stop.cycles``, and of the end.

    Attributes:
        work_s: full-speed work of the stretches ended [s].
        cycle: number of the present cycle, which is the number of checkpoints written.
    """

    def __init__(
        self,
        timeline: Timeline,
        job: Job,
        profile: int,
        fabric: PowerFabric,
        store: StorageServer,
        checkpoints: Rows | None,
        events: Rows | None,
        ending: Ending,
    ) -> None:
        self.job = job
        life = self._run() if job.every_s is None else self._run_on_wall_clock()
        self.user = User(job.rank, life.__next__)
        self.phase = PENDING
        self.cycle = 0
        self.compute_start_s = 0.0
        self.due_s = 0.0
        self.end_s: float | None = None
        self.work_s = 0.0
        self._has_quit = False  # the present write was triggered by the clock, its work is in ``user.served``
        self._tick_number = 0
        self._timeline = timeline
        self._profile = profile
        self._nodes = job.nodes
        self._size_b = job.size_b
        self._fabric = fabric
        self._store = store
        self._checkpoints = checkpoints
        self._events = events
        self._ending = ending
        self._last_cycle = ending.cycles
        self._done_code = checkpoints.code("state", "done") if checkpoints is not None else 0

    def launch(self) -> None:
        """Queue the launch of the job."""
        Alarm(self._timeline, lambda _: self.user.resume(), PHASE_END).set(self.job.launch_s)

    def _run(self) -> Process:
        """The life of a job whose checkpoints follow its work."""
        self._start()
        for work_s in self.job.stretches():
            self._compute(work_s)
            yield
            self.work_s += work_s
            self._write()
            yield
            self._end_cycle()
        self._finish()

    def _run_on_wall_clock(self) -> Process:
        """The life of a job whose checkpoints fall at offset + k * every, whatever it got done by then."""
        self._start()
        self._set_next_tick(Alarm(self._timeline, self._tick, PHASE_END))
        left_s = self.job.work_s
        while self.cycle == 0 or not self.job.is_done(left_s):
            self._compute(left_s)
            yield
            if not self._has_quit:
                self.work_s = self.job.work_s
            self._write()
            yield
            if self._has_quit:
                self._has_quit = False
                self.work_s += self.user.served
            left_s = self.job.work_s - self.work_s
            self._end_cycle()
        self._finish()

    @property
    def is_clocked(self) -> bool:
        """A wall-clock trigger is pending for it."""
        return self.job.every_s is not None and self.phase in (COMPUTING, WRITING)

    @property
    def phase_ends(self) -> int:
        """Ends of compute stretches and of writes so far."""
        return 2 * self.cycle + (self.phase is WRITING)

    def has_shown_all_since(self, time_s: float) -> bool:
        """Whatever it does without work has come and gone since ``time_s`` [s].

        That is a write of its own on the wall clock, begun and ended; without such a trigger, no write that still
        goes on.
        """
        if self.job.every_s is None:
            return self.phase is not WRITING
        return self.phase is DONE or self.compute_start_s > time_s

    def work_done_s(self, now_s: float) -> float:
        """Full-speed work done up to ``now_s`` [s], at the close of an instant or later in the same state."""
        if self.phase is COMPUTING:
            return self.work_s + self._fabric.clock.served_at(now_s, self.user)
        return self.work_s + (self.user.served if self._has_quit else 0.0)

    def record_unfinished(self) -> None:
        """Write down a checkpoint cut by the end of the run."""
        if self.phase is WRITING and self._checkpoints is not None:
            rows, job, null = self._checkpoints, self.job, Rows.NULL
            state = rows.code("state", self.phase)
            rows.append(
                job.job_id, self.cycle, self.compute_start_s, self.due_s, self.due_s, null, null, job.size_b, state
            )

    def _start(self) -> None:
        self._fabric.running[self._profile] += self._nodes
        self._ending.launched()

    def _compute(self, work_s: float) -> None:
        self.phase = COMPUTING
        self._fabric.computing[self._profile] += self._nodes
        self.compute_start_s = self._timeline._now
        self._fabric.clock.join(work_s, self.user)

    def _write(self) -> None:
        self.phase = WRITING
        self._fabric.computing[self._profile] -= self._nodes
        self.due_s = self._timeline._now
        self._store.write(self._size_b, self.user)

    def _end_cycle(self) -> None:
        self._store.writers -= 1
        now_s, due_s = self._timeline._now, self.due_s
        if self._checkpoints is not None:
            self._checkpoints.append(
                self.job.job_id,
                self.cycle,
                self.compute_start_s,
                due_s,
                due_s,
                now_s,
                now_s - due_s,
                self._size_b,
                self._done_code,
            )
        self.cycle += 1
        if self.cycle == self._last_cycle:
            self._ending.reached_last_cycle()

    def _finish(self) -> None:
        self._fabric.running[self._profile] -= self._nodes
        self.phase = DONE
        self.end_s = self._timeline._now
        self._ending.finished(self.cycle)

    def _tick(self, ticks: Alarm) -> None:
        """A wall-clock trigger: ends the compute stretch, or is skipped if the job is not in one."""
        if self.phase is DONE:
            return
        if self.phase is COMPUTING and self.compute_start_s < self._timeline._now:
            self._has_quit = True
            self._fabric.clock.quit(self.user)
            self.user.resume()
        elif self._events is not None:
            kind = self._events.code("kind", "trigger_skipped")
            detail = self._events.code("detail", "it fell in a stall")
            number = float(self._tick_number)
            self._events.append(self._timeline._now, kind, self.job.job_id, Rows.NO_CODE, number, detail)
        self._set_next_tick(ticks)

    def _set_next_tick(self, ticks: Alarm) -> None:
        every_s, offset_s, now_s = self.job.every_s, self.job.offset_s, self._timeline._now
        assert every_s is not None
        k = floor((now_s - offset_s) / every_s)
        while offset_s + k * every_s <= now_s:
            k += 1
        self._tick_number = k
        ticks.set(offset_s + k * every_s)
