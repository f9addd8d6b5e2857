"""The training job with background checkpoints: a snapshot stalls it, the drain into the store goes on behind it."""

from __future__ import annotations

from typing import Any

from twin.sim.storage_server import Transfer
from twin.sim.timeline import PHASE_END, SAMPLE, Alarm, Process
from twin.sim.training_job import COMPUTING, SNAPSHOT, WAITING, WRITING, Phase, TrainingJob
from twin.sim.virtual_clock import User


class AsyncJob(TrainingJob):
    """The same life with checkpoints in the background; arguments as for ``TrainingJob``."""

    __slots__ = ("_awaits_drain", "_cycle", "_drains", "_running_drains", "_settled", "_timer")

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._cycle = 0  # number of the checkpoint to come
        self._drains: list[_Drain] = []  # pending: snapshot taken, not yet written
        self._running_drains = 0
        self._awaits_drain = False
        self._timer = Alarm(self._timeline, self._resume, PHASE_END)
        self._settled = Alarm(self._timeline, self._resume, SAMPLE)

    def _run(self) -> Process:
        self._start()
        for work_s in self.job.stretches():
            self._compute(work_s)
            yield
            self._end_stretch(work_s)
            yield from self._checkpoint()
        yield from self._last_drains()
        self._finish()

    def _run_on_wall_clock(self) -> Process:
        self._start()
        self._set_next_tick(Alarm(self._timeline, self._tick, PHASE_END))
        left_s = self.job.work_s
        while self._cycle == 0 or not self.job.is_done(left_s):
            self._compute(left_s)
            yield
            has_quit, now_s = self._has_quit, self._timeline.now
            if has_quit:
                self._stop_computing()
            else:
                self._end_stretch(left_s)
            yield from self._checkpoint()
            if has_quit and self._timeline.now == now_s:
                self._settled.set(now_s)  # what it got done is known then
                yield
            if has_quit and self.job.interference > 0.0:
                self.interference_s += self.user.passed - self.user.served
            left_s = self._left_s() if has_quit else 0.0
        yield from self._last_drains()
        self._finish()

    def interference_until_s(self, now_s: float) -> float:
        """Full-speed work lost to drains in the background up to ``now_s`` [s]."""
        if self.job.interference == 0.0:
            return 0.0
        if self.phase is not COMPUTING:
            return self.interference_s + (self.user.passed - self.user.served if self._has_quit else 0.0)
        return self.interference_s + self._clock.passed_at(now_s, self.user) - self._clock.served_at(now_s, self.user)

    @property
    def phase_ends(self) -> int:
        """Ends of compute stretches and of writes so far."""
        return self._cycle + (self.phase in (WAITING, SNAPSHOT)) + self.written

    @property
    def state(self) -> Phase:
        """Where it is, as the jobs table says: who waits for a lane does not write."""
        return WAITING if self.phase is WRITING and self._running_drains == 0 else self.phase

    def record_unfinished(self) -> None:
        """Write down what the end of the run cut."""
        for drain in self._drains:
            start_s = drain.transfer.start_s
            state = WAITING if start_s is None else WRITING
            self._record_cut(drain.cycle, drain.compute_start_s, drain.due_s, start_s, drain.stall_s, state)
        if self.phase in (WAITING, SNAPSHOT):
            self._record_cut(self._cycle, self.compute_start_s, self.due_s, None, None, self.phase)

    def _compute(self, work_s: float) -> None:
        self.user.forget()
        self.user.factor = self.user.next_factor = self._factor
        super()._compute(work_s)

    def _stop_computing(self) -> None:
        self.phase = WAITING
        self._clock.cancel_conversion(self.user)
        self._count_computing(-1)
        self.due_s = self._timeline._now

    @property
    def _factor(self) -> float:
        return 1.0 - self.job.interference if self._running_drains else 1.0

    def _end_stretch(self, work_s: float) -> None:
        """Count a stretch that was served to its end."""
        user = self.user
        self.work_s += work_s
        if self.job.interference > 0.0:  # else a difference of nothing but rounding
            self.interference_s += user.passed + (user.mark - user.joined) - work_s
        self._stop_computing()

    def _checkpoint(self) -> Process:
        """Take a snapshot once there is room for one more drain, and let it drain."""
        while len(self._drains) >= self.job.in_flight:
            self._awaits_drain = True
            yield
        self.phase = SNAPSHOT
        if self.job.snapshot_s > 0.0:
            self._timer.set(self._timeline._now + self.job.snapshot_s)
            yield
        drain = _Drain(self, self._cycle)
        self._cycle += 1
        self._drains.append(drain)
        self._store.write(drain.transfer)
        if drain.transfer.start_s is not None:
            self.drain_started()

    def _last_drains(self) -> Process:
        self.phase = WRITING
        while self._drains:
            self._awaits_drain = True
            yield

    def drain_started(self) -> None:
        """The store begins to serve a drain."""
        self._running_drains += 1
        if self._running_drains == 1:
            self._change_factor()

    def drain_ended(self, drain: _Drain) -> None:
        """A checkpoint is written."""
        self._drains.remove(drain)
        self._running_drains -= 1
        if self._running_drains == 0:
            self._change_factor()
        self._store.writers -= 1
        self._store.weight -= self._weight
        if self._checkpoints is not None:
            start_s = drain.transfer.start_s
            assert start_s is not None
            times_s = drain.compute_start_s, drain.due_s, start_s, self._timeline.now, drain.stall_s
            self._checkpoints.append(self.job.job_id, drain.cycle, *times_s, self._size_b, self._done_code)
        self.written += 1
        if self.written == self._last_cycle:
            self._ending.reached_last_cycle()
        if self._awaits_drain:
            self._awaits_drain = False
            self.user.resume()

    def _change_factor(self) -> None:
        if self.phase is COMPUTING and self.job.interference > 0.0:
            self.user.next_factor = self._factor
            self._clock.convert(self.user)

    def _resume(self, alarm: Alarm) -> None:
        alarm.callbacks = alarm.again
        self.user.resume()


class _Drain:
    """One checkpoint that has left its job for the store."""

    def __init__(self, job: AsyncJob, cycle: int) -> None:
        self.cycle = cycle
        self.compute_start_s = job.compute_start_s
        self.due_s = job.due_s
        self.stall_s = job._timeline._now - job.due_s
        user = User(job.job.rank, lambda: job.drain_ended(self))
        user.order += cycle  # the drains of one job leave in this order
        self.transfer = Transfer(job.job.size_b, job.job.weight, job.due_s, user, job.drain_started)
