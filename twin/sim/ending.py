"""When a run ends: the jobs still to come, running, and short of the cycles asked for."""

from __future__ import annotations

from typing import Literal

from twin.scenario import Stop
from twin.sim.timeline import STOP, Moment, Timeline

Reason = Literal["cycles", "time", "done"]


class Ending:
    """Ends the run at the close of the instant in which the first limit is reached.

    Args:
        jobs: number of jobs of the run.

    Attributes:
        event: run the timeline until this.
        reason: the limit that was reached.
        cycles: checkpoints each job must have ended; 0 if that is no limit.
        launched_s: the last launch [s].
    """

    def __init__(self, timeline: Timeline, stop: Stop, jobs: int) -> None:
        self.event = Moment(timeline)
        self.cycles = stop.cycles or 0
        self.reason: Reason = "time"
        self.launched_s = 0.0
        self._timeline = timeline
        self._pending = jobs
        self._running = 0
        self._short = jobs  # of the cycles asked for
        if stop.time_s is not None:
            timeline.at(self.event, stop.time_s, STOP)

    @property
    def awaits_launch(self) -> bool:
        """A job is still to be launched."""
        return self._pending > 0

    def launched(self) -> None:
        """A job starts."""
        self._pending -= 1
        self._running += 1
        self.launched_s = self._timeline.now

    def reached_last_cycle(self) -> None:
        """A job has ended the checkpoint that completes the cycles asked for."""
        self._short -= 1
        if self._short == 0:
            self._end("cycles")

    def finished(self, cycles: int) -> None:
        """A job is done after ``cycles`` checkpoints."""
        self._running -= 1
        if self._pending + self._running == 0:
            self._end("done")
        elif cycles < self.cycles:
            self.reached_last_cycle()

    def _end(self, reason: Reason) -> None:
        self.reason = reason
        self._timeline.at(self.event, self._timeline.now, STOP)
