"""Progress says how far a run is, on a terminal in one line, elsewhere in a plain line now and then."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from twin.report.run_progress import Pace, progress


class Clock:
    """Wall time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Terminal(io.StringIO):
    """A terminal that remembers what it was told."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock():
    return Clock()


def sentence(clock: Clock, elapsed_s: float, share: float) -> str:
    pace = Pace(clock)
    clock.now_s += elapsed_s
    return pace.sentence(2.5 * 86400.0, 50_000, share)


def test_the_sentence_gives_simulated_time_share_rate_and_what_is_left(clock):
    assert sentence(clock, 10.0, 0.25) == "simulated 2.5 d, 25 %, 5,000 events/s, 0:00:30 left"


@pytest.mark.parametrize("share", [0.0, 1e-300])  # 1e-300 would leave more time than a clock holds
def test_time_left_is_not_said_while_nobody_can_tell(clock, share):
    assert sentence(clock, 10.0, share) == "simulated 2.5 d, 0 %, 5,000 events/s"


def test_a_run_of_no_wall_time_has_no_rate(clock):
    assert sentence(clock, 0.0, 1.0) == "simulated 2.5 d, 100 %, 0:00:00 left"


def told(out: io.StringIO, clock: Clock, moments_s: list[float]) -> str:
    """What stands on the console after the watch was called at these wall times, before the block ends."""
    began_s = clock.now_s
    with progress(Console(file=out, width=120), clock) as watch:
        for moment_s in moments_s:
            clock.now_s = began_s + moment_s
            watch(60.0 * moment_s, 10, moment_s / 100.0)
        return out.getvalue()


def test_away_from_a_terminal_a_plain_line_comes_every_half_minute(clock):
    lines = told(io.StringIO(), clock, [1.0, 29.0, 31.0, 32.0, 60.0, 61.0]).splitlines()
    assert [line.split(",")[0] for line in lines] == ["simulated 31 min", "simulated 61 min"]


def test_on_a_terminal_the_line_is_renewed(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    text = told(Terminal(), clock, [0.6, 50.0])
    assert "simulated 36 s" in text
    assert "simulated 50 min, 50 %" in text
    assert "\x1b[2K" in text  # the line before is wiped


def test_a_terminal_is_told_nothing_of_a_run_that_ends_at_once(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert told(Terminal(), clock, [0.1, 0.4]) == ""


def test_an_interrupt_gives_the_terminal_its_cursor_back(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    with pytest.raises(KeyboardInterrupt), progress(Console(file=out), clock) as watch:  # noqa: PT012
        clock.now_s += 1.0
        watch(1.0, 1, 0.5)
        raise KeyboardInterrupt
    assert out.getvalue().rfind("\x1b[?25h") > out.getvalue().rfind("\x1b[?25l") >= 0


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in told(Terminal(), clock, [31.0])
