"""The training job: compute, write a checkpoint, repeat; launched once, done when its work is."""

from __future__ import annotations

from enum import StrEnum
from math import floor

from twin.fleet import Job, PowerProfile
from twin.laws.speed import dynamic_draw_w
from twin.recording import Rows
from twin.sim.ending import Ending
from twin.sim.power_fabric import Connection
from twin.sim.storage_server import StorageServer, Transfer
from twin.sim.timeline import PHASE_END, Alarm, Process, Timeline
from twin.sim.virtual_clock import User


class Phase(StrEnum):
    """Where a job is."""

    PENDING = "pending"
    COMPUTING = "computing"
    WAITING = "waiting"
    SNAPSHOT = "snapshot"
    WRITING = "writing"
    DONE = "done"


PENDING, COMPUTING, WAITING, SNAPSHOT, WRITING, DONE = Phase  # bare names: they are compared at every phase end


class TrainingJob:
    """One blocking job at the store and on the power fabric.

    Args:
        connection: where its nodes are counted, and the group whose clock it computes on.
        checkpoints, events: where its checkpoints and skipped triggers go; None records nothing.
        ending: told of launches, of the checkpoint that counts for ``stop.cycles``, and of the end.

    Attributes:
        work_s: full-speed work of the stretches ended [s].
        interference_s: full-speed work lost to drains in the background [s].
        written: checkpoints written.
    """

    # Ten thousand of them run a tenth faster so: less memory to go through in each event.
    __slots__ = (
        "_checkpoints",
        "_clock",
        "_connection",
        "_counts",
        "_done_code",
        "_ending",
        "_events",
        "_free_ceiling",
        "_has_quit",
        "_last_cycle",
        "_limits_w",
        "_nodes",
        "_other_counts",
        "_place",
        "_size_b",
        "_store",
        "_tick_number",
        "_timeline",
        "_transfer",
        "_weight",
        "_work",
        "compute_start_s",
        "due_s",
        "end_s",
        "interference_s",
        "job",
        "phase",
        "user",
        "work_s",
        "written",
    )

    def __init__(
        self,
        timeline: Timeline,
        job: Job,
        connection: Connection,
        store: StorageServer,
        checkpoints: Rows | None,
        events: Rows | None,
        ending: Ending,
    ) -> None:
        self.job = job
        life = self._run() if job.every_s is None else self._run_on_wall_clock()
        self.user = User(job.rank, life.__next__)
        self.phase = PENDING
        self.written = 0
        self.compute_start_s = 0.0
        self.due_s = 0.0
        self.end_s: float | None = None
        self.work_s = 0.0
        self.interference_s = 0.0
        self._has_quit = False  # the present stretch was ended by the clock, its work is in ``user.served``
        self._tick_number = 0
        self._timeline = timeline
        self._limits_w: dict[object, float] = {}  # of a node, by the controller that set it
        self._free_ceiling = connection.ceiling
        self._connect(connection)
        self._weight = job.weight
        self._size_b = job.size_b
        self._work = job.size_b / job.weight  # of a write, on the clock of the store
        self._transfer = None if store.takes_all else Transfer(job.size_b, job.weight, 0.0, self.user)
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
        while self.written == 0 or not self.job.is_done(left_s):
            self.user.forget()
            self._compute(left_s)
            yield
            if not self._has_quit:
                self.work_s = self.job.work_s
            self._write()
            yield
            left_s = self._left_s()
            self._end_cycle()
        self._finish()

    @property
    def profile(self) -> PowerProfile:
        """Power of its nodes."""
        return self.job.power

    @property
    def speed(self) -> float | None:
        """Speed at which it computes [-]; None while it does not."""
        return self._connection.group.motion.at(self._timeline.now) if self.phase is COMPUTING else None

    @property
    def node_w(self) -> float:
        """What a node of it draws while it computes [W]: its limit where that is what slows it, to the last digit."""
        speed, power = self.speed, self.job.power
        limit_w = min([self._connection.limit_w, *self._limits_w.values()])
        if speed == self._connection.ceiling and limit_w < power.compute_w:
            return limit_w
        return power.idle_w + dynamic_draw_w(power.compute_w - power.idle_w, speed or 0.0, power.exponent)

    def limit(self, by: object, limit_w: float | None) -> bool:
        """Let it draw so much a node at most [W], None for no limit; whether it had a limit of this controller."""
        before_w = self._limits_w.pop(by, None)
        if limit_w is not None:
            self._limits_w[by] = limit_w
        ceilings = [self.job.power.speed_within(watts) for watts in self._limits_w.values()]
        ceiling = min([self._free_ceiling, *ceilings])
        if ceiling != self._connection.ceiling:
            self._change_ceiling(ceiling)
        return before_w is not None

    @property
    def is_clocked(self) -> bool:
        """A wall-clock trigger is pending for it."""
        return self.job.every_s is not None and self.phase not in (PENDING, DONE)

    @property
    def phase_ends(self) -> int:
        """Ends of compute stretches and of writes so far."""
        return 2 * self.written + (self.phase is WRITING)

    @property
    def state(self) -> Phase:
        """Where it is, as the jobs table says: who waits for a lane does not write."""
        return WAITING if self.phase is WRITING and self._write_start_s is None else self.phase

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
            return self.work_s + self._clock.served_at(now_s, self.user)
        return self.work_s + (self.user.served if self._has_quit else 0.0)

    def interference_until_s(self, now_s: float) -> float:
        """Full-speed work lost to drains in the background up to ``now_s`` [s]; none for a blocking job."""
        return 0.0

    @property
    def _write_start_s(self) -> float | None:
        """When the present write began [s]; None while it waits for a lane."""
        return self.due_s if self._transfer is None else self._transfer.start_s

    def record_unfinished(self) -> None:
        """Write down what the end of the run cut."""
        if self.phase is WRITING:
            start_s = self._write_start_s
            state = WAITING if start_s is None else WRITING
            self._record_cut(self.written, self.compute_start_s, self.due_s, start_s, None, state)

    def _record_cut(
        self,
        cycle: int,
        compute_start_s: float,
        due_s: float,
        write_start_s: float | None,
        stall_s: float | None,
        state: Phase,
    ) -> None:
        """Write down a checkpoint that the end of the run cut."""
        if (rows := self._checkpoints) is not None:
            known = [Rows.NULL if value is None else value for value in (write_start_s, None, stall_s)]
            code = rows.code("state", state)
            rows.append(self.job.job_id, cycle, compute_start_s, due_s, *known, self.job.size_b, code)

    def _connect(self, connection: Connection) -> None:
        self._connection = connection
        self._clock = connection.group.clock
        (self._counts, self._place, self._nodes), *self._other_counts = connection.computing

    def _change_ceiling(self, ceiling: float) -> None:
        """Go over to the group of another ceiling, with what is left of the present stretch."""
        clock, is_computing = self._clock, self.phase is COMPUTING
        if is_computing:
            self._count_computing(-1)
        self._connect(self._connection.reconnect(ceiling))
        if is_computing:
            self._count_computing(1)
            clock.move(self.user, self._clock)

    def _count_others(self, sign: int) -> None:
        """Count its computing nodes wherever they count, but for the first place."""
        for counts, place, nodes in self._other_counts:
            counts[place] += sign * nodes

    def _count_computing(self, sign: int) -> None:
        self._counts[self._place] += sign * self._nodes
        self._count_others(sign)

    def _start(self) -> None:
        for counts, place, nodes in self._connection.running:
            counts[place] += nodes
        self._ending.launched()

    def _compute(self, work_s: float) -> None:
        self.phase = COMPUTING
        if self.user.passed:  # in the stretch before, on the clock of another ceiling
            self.user.forget()
        self._counts[self._place] += self._nodes
        if self._other_counts:
            self._count_others(1)
        self.compute_start_s = self._timeline._now
        self._clock.join(work_s, self.user)

    def _write(self) -> None:
        self.phase = WRITING
        self._counts[self._place] -= self._nodes
        if self._other_counts:
            self._count_others(-1)
        self.due_s = self._timeline._now
        if self._transfer is None:
            self._store.admit(self._work, self._weight, self.user)
        else:
            self._transfer.due_s = self.due_s
            self._store.write(self._transfer)

    def _left_s(self) -> float:
        """Work left on the wall clock, the stretch that it ended included [s]."""
        if self._has_quit:
            self._has_quit = False
            self.work_s += self.user.served
        return self.job.work_s - self.work_s

    def _end_cycle(self) -> None:
        store = self._store
        store.writers -= 1
        store.weight -= self._weight
        if self._checkpoints is not None:
            now_s, due_s = self._timeline._now, self.due_s
            self._checkpoints.append(
                self.job.job_id,
                self.written,
                self.compute_start_s,
                due_s,
                due_s if self._transfer is None else self._transfer.start_s,  # type: ignore[arg-type]  # it has ended
                now_s,
                now_s - due_s,
                self._size_b,
                self._done_code,
            )
        self.written += 1
        if self.written == self._last_cycle:
            self._ending.reached_last_cycle()

    def _finish(self) -> None:
        for counts, place, nodes in self._connection.running:
            counts[place] -= nodes
        self._clock.touch()
        self.phase = DONE
        self.end_s = self._timeline._now
        self._ending.finished(self.written)

    def _tick(self, ticks: Alarm) -> None:
        """A wall-clock trigger: ends the compute stretch, or is skipped if the job is not in one."""
        if self.phase is DONE:
            return
        if self.phase is COMPUTING and self.compute_start_s < self._timeline._now:
            self._has_quit = True
            self._clock.quit(self.user)
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
