"""How far a run is: simulated time, rate and time left, in a line that renews itself or in plain lines now and then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from twin.units import scaled

_FIRST_S = 0.5  # of wall time, before which a run needs no progress
_RENEW_S = 0.1
_PLAIN_S = 30.0  # between plain lines

Watch = Callable[[float, int, float], None]
WatchOfRuns = Callable[[int, int], None]


class Pace:
    """What there is to say of a run under way.

    Args:
        clock: wall time [s], which only differences are taken of.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began_s = clock()

    @property
    def elapsed_s(self) -> float:
        """Wall time since the run began [s]."""
        return self._clock() - self._began_s

    def sentence(self, time_s: float, events: int, share: float) -> str:
        """``simulated 2.3 d, 40 %, 150,000 events/s, 0:00:12 left``."""
        elapsed_s = self.elapsed_s
        parts = [f"simulated {scaled(time_s, 's')}", f"{100 * share:.0f} %"]
        if elapsed_s > 0.0:
            parts.append(f"{events / elapsed_s:,.0f} events/s")
        if (left := self._left(elapsed_s, share)) is not None:
            parts.append(f"{left} left")
        return ", ".join(parts)

    def sentence_of_runs(self, done: int, total: int) -> str:
        """``150 of 200 runs, 3.1 runs/s, 0:00:16 left``."""
        elapsed_s = self.elapsed_s
        parts = [f"{done:,} of {total:,} runs"]
        if elapsed_s > 0.0 and done:
            parts.append(f"{done / elapsed_s:.3g} runs/s")
        if (left := self._left(elapsed_s, done / total if total else 1.0)) is not None:
            parts.append(f"{left} left")
        return ", ".join(parts)

    def _left(self, elapsed_s: float, share: float) -> timedelta | None:
        """Wall time left, if the rest goes as fast; None if nobody can tell yet, or it is beyond all reason."""
        if share <= 0.0:
            return None
        try:
            return timedelta(seconds=round(elapsed_s * (1.0 / share - 1.0)))
        except OverflowError:
            return None


@contextmanager
def progress(console: Console, clock: Callable[[], float] = monotonic) -> Iterator[Watch]:
    """A watch for ``twin.sim.simulate`` that tells the console how far the run is; the line is gone after the block."""
    pace = Pace(clock)
    with _lines(console, pace) as tell:

        def watch(time_s: float, events: int, share: float) -> None:
            tell(share, pace.sentence(time_s, events, share))

        yield watch


@contextmanager
def progress_of_runs(console: Console, clock: Callable[[], float] = monotonic) -> Iterator[WatchOfRuns]:
    """The same for a study of many runs, whose watch is told the runs done and those there will be.

    Their pace counts from the first call of the watch on.
    """
    paces: list[Pace] = []
    with _lines(console, Pace(clock)) as tell:

        def watch(done: int, total: int) -> None:
            if not paces:
                paces.append(Pace(clock))
            tell(done / total if total else 1.0, paces[0].sentence_of_runs(done, total))

        yield watch


@contextmanager
def _lines(console: Console, pace: Pace) -> Iterator[Callable[[float, str], None]]:
    """What tells the share done and a sentence: a line that renews itself, or plain lines now and then."""
    if not (console.is_interactive and console.file.isatty()):
        yield _plain_lines(console, pace)
        return
    columns = (BarColumn(bar_width=20), TextColumn("{task.description}"))
    with_bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
    try:
        yield _renewed_line(with_bar, pace)
    finally:
        with_bar.stop()


def _plain_lines(console: Console, pace: Pace) -> Callable[[float, str], None]:
    due_s = _PLAIN_S

    def tell(_share: float, sentence: str) -> None:
        nonlocal due_s
        if pace.elapsed_s >= due_s:
            due_s = pace.elapsed_s + _PLAIN_S
            console.out(sentence, highlight=False)

    return tell


def _renewed_line(bar: Progress, pace: Pace) -> Callable[[float, str], None]:
    task = bar.add_task("", total=1.0)
    due_s = _FIRST_S

    def tell(share: float, sentence: str) -> None:
        nonlocal due_s
        if pace.elapsed_s >= due_s:
            due_s = pace.elapsed_s + _RENEW_S
            bar.start()
            bar.update(task, completed=share, description=sentence, refresh=True)

    return tell
