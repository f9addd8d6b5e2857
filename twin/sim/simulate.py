"""Scenario + jobs -> rows in a sink: builds the parts, joins them, runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf, ulp

from twin.errors import StalledError, TwinError
from twin.fleet import Job
from twin.recording import TABLES, Outcome, Rows, Sink, schema
from twin.scenario import MAX_TIME_S, Scenario
from twin.sim.async_job import AsyncJob
from twin.sim.ending import Ending
from twin.sim.power_fabric import PowerFabric
from twin.sim.storage_server import StorageServer
from twin.sim.timeline import STOP, Alarm, Instant, Timeline
from twin.sim.training_job import Phase, TrainingJob

Watch = Callable[[float, int, float], None]  # simulated time [s], events so far, share of the run done [-]
_WATCHED_EVENTS = 10_000  # between two calls of the watch: some 50 ms
_NAMES_SHOWN = 5
_LATEST_S = 4.0 * MAX_TIME_S  # after a launch and some phases of the longest time
_ROUNDS_WITHOUT_WORK = 1_000  # of the slowest wall-clock trigger, after which no work is to be hoped for
_CYCLES_IN_NO_TIME = 100  # of a job, after which its clock is known to stand still: one jitter of 0 is luck, not many


def simulate(
    scenario: Scenario,
    jobs: Sequence[Job],
    sink: Sink,
    provenance: Mapping[str, str],
    *,
    tables: Collection[str] = tuple(TABLES),
    max_events: int | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Run the jobs through the scenario's store and power, exactly, and write what happened into the sink.

    Args:
        jobs: from ``twin.fleet.jobs_of``; at least one.
        provenance: text for the metadata of each table: scenario hash, seed, version.
        tables: those to record; recording changes no result.
        max_events: events after which a run that has not ended is given up; None for no limit. A phase end takes one
            to three.
        watch: called now and then with the simulated time [s], the events so far, and the share of the run done.
    Raises:
        StalledError: the fleet can never move again, time stands still, or it becomes too coarse for what happens.
        TwinError: ``max_events`` was reached.
    """
    return Datacenter(scenario, jobs, sink, provenance, tables).run(max_events, watch)


class Datacenter:
    """The parts of one run and the order in which an instant is settled: power, then storage."""

    def __init__(
        self,
        scenario: Scenario,
        jobs: Sequence[Job],
        sink: Sink,
        provenance: Mapping[str, str],
        tables: Collection[str],
    ) -> None:
        self._rows = {name: Rows(name, sink, schema(name, provenance)) for name in TABLES if name in tables}
        rows = self._rows.get
        self._timeline = timeline = Timeline()
        self._instant = instant = Instant(timeline, self._settle, self._check_time_moves)
        self._ending = Ending(timeline, scenario.stop, len(jobs))
        profiles = sorted({job.power for job in jobs})
        fleet_nodes = None if scenario.fleet is None else scenario.fleet.nodes
        self._fabric = fabric = PowerFabric(
            timeline, instant, scenario.power, profiles, fleet_nodes, scenario.start_s, rows("power"), rows("events")
        )
        self._store = StorageServer(timeline, instant, scenario.storage, rows("storage"))
        parts = self._store, rows("checkpoints"), rows("events"), self._ending
        connections = {job.rank: fabric.connect(job) for job in sorted(jobs, key=lambda job: job.rank)}
        self._jobs = [
            (AsyncJob if job.is_async else TrainingJob)(timeline, job, connections[job.rank], *parts) for job in jobs
        ]
        for job in sorted(self._jobs, key=lambda job: job.job.rank):
            fabric.put_under_limits(job, job.job.places)
        self._settle_fabric = fabric.start()
        has_clocks = any(job.every_s is not None for job in jobs)
        self._has_periods = has_clocks or fabric.longest_period_s > 0.0  # something that comes again for ever
        self._stop = scenario.stop
        if scenario.stop.time_s is None:
            Alarm(timeline, self._give_up, STOP).set(_LATEST_S)
        self._worked_s = 0.0  # last instant with the end of a compute stretch due
        self._long_instant_s = -1.0
        self._cycles_before: list[int] = []  # of each job, early in that instant

    def run(self, max_events: int | None, watch: Watch | None) -> Outcome:
        """Queue every launch, in the order of ranks, and run to the end."""
        for job in sorted(self._jobs, key=lambda job: job.job.rank):
            job.launch()
        if max_events is None and watch is None:
            self._timeline.run(self._ending.event)
        else:
            self._run_in_slices(max_events, watch)
        return self._finish(self._timeline.now)

    def _run_in_slices(self, max_events: int | None, watch: Watch | None) -> None:
        events = 0
        while max_events is None or events < max_events:
            count = _WATCHED_EVENTS if max_events is None else min(_WATCHED_EVENTS, max_events - events)
            if self._timeline.advance(self._ending.event, count):
                return
            events += count
            if watch is not None:
                watch(self._timeline.now, events, self._share_done())
        raise TwinError(
            f"the run was given up after {events} events, the most allowed, at {self._timeline.now:g} s of simulated "
            f"time with {100 * self._share_done():.3g} % of it done; allow more (--max-events, max_events), or end it "
            "earlier with stop.time or stop.cycles"
        )

    def _share_done(self) -> float:
        """How near the run is to the nearest of its ends, from 0 to 1."""
        time_s, cycles = self._stop.time_s or inf, self._stop.cycles or inf
        slowest = min((job.written for job in self._jobs if job.phase is not Phase.DONE), default=0)
        work_s = sum(job.work_s for job in self._jobs) / sum(job.job.work_s for job in self._jobs)
        return min(1.0, max(self._timeline.now / time_s, slowest / cycles, work_s))

    def _settle(self, now_s: float) -> None:
        store = self._store
        if store.queue:
            store.grant(now_s)
        self._settle_fabric(now_s)
        store.settle(now_s)
        if store.clock.due_s == inf or self._has_periods:
            if self._fabric.is_computing():
                self._worked_s = now_s
            else:
                self._check_can_move(now_s)

    def _check_can_move(self, now_s: float) -> None:
        """No end of a compute stretch is due: something else must be."""
        ending = self._ending
        phases = {job.phase for job in self._jobs}
        if ending.awaits_launch or Phase.COMPUTING not in phases or Phase.SNAPSHOT in phases:
            return
        if self._fabric.has_more_to_say:
            return
        periods_s = [job.job.every_s or 0.0 for job in self._jobs if job.is_clocked]
        if period_s := max(self._fabric.longest_period_s, *periods_s, 0.0):
            idle_s = now_s - max(self._worked_s, ending.launched_s)
            if self._ends_without_work() or idle_s <= _ROUNDS_WITHOUT_WORK * period_s:
                return
            if not all(job.has_shown_all_since(now_s - idle_s) for job in self._jobs):
                return
        elif self._store.clock.due_s < inf:
            return
        key, cap_w = self._fabric.binding_cap
        raise StalledError(
            f"the fleet can never move again after {now_s:g} s: the idle draw of the computing jobs alone reaches "
            f"{key} = {cap_w:g} W, so every job stands at speed 0; raise {key} or launch fewer jobs at once"
        )

    def _ends_without_work(self) -> bool:
        """A limit of the run is reached by time, or by checkpoints of jobs that have done no work for them."""
        cycles = self._stop.cycles
        if self._stop.time_s is not None or cycles is None:
            return self._stop.time_s is not None
        return all(job.is_clocked or job.phase is Phase.DONE or job.written >= cycles for job in self._jobs)

    def _give_up(self, _alarm: Alarm) -> None:
        """The clock has become too coarse for what happens on it."""
        raise StalledError(
            f"the run has come to {_LATEST_S:g} s without an end, where a clock cannot tell less than "
            f"{ulp(_LATEST_S):.1g} s: it is as good as stalled; give stop.time, or see which job hardly moves"
        )

    def _check_time_moves(self) -> None:
        """An instant of very many rounds: jobs that went through whole cycles in it will never leave it."""
        now_s = self._timeline.now
        cycles = [job.written for job in self._jobs]
        if self._long_instant_s != now_s:
            self._long_instant_s, self._cycles_before = now_s, cycles
        names = [
            job.job.name
            for job, before in zip(self._jobs, self._cycles_before, strict=True)
            if job.written - before >= _CYCLES_IN_NO_TIME
        ]
        if not names:
            return
        shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
        raise StalledError(
            f"simulated time stands still at {now_s:g} s: {shown} computes and writes again and again in that instant, "
            f"in less than the {ulp(now_s):.1g} s that a clock can tell there; lengthen `compute` or "
            "`checkpoint.size`, launch earlier, or end the run before"
        )

    def _finish(self, end_s: float) -> Outcome:
        """Record the last instant, what the end cut short, and the jobs."""
        self._fabric.close(end_s)
        self._store.close()
        for job in self._jobs:
            job.record_unfinished()
        if "jobs" in self._rows:
            self._record_jobs(self._rows["jobs"], end_s)
        for rows in self._rows.values():
            rows.flush()
        return Outcome(
            end_s=end_s,
            stopped_by=self._ending.reason,
            rows={name: rows.written for name, rows in self._rows.items()},
            phase_ends=sum(job.phase_ends for job in self._jobs),
        )

    def _record_jobs(self, rows: Rows, end_s: float) -> None:
        for job in self._jobs:
            spec = job.job
            rows.append(
                spec.job_id,
                rows.code("name", spec.name),
                rows.code("group", spec.group),
                spec.nodes,
                spec.submit_s,
                Rows.NULL if job.phase is Phase.PENDING else spec.launch_s,
                Rows.NULL if job.end_s is None else job.end_s,
                job.written,
                job.work_done_s(end_s),
                job.interference_until_s(end_s),
                rows.code("state", job.state),
            )
