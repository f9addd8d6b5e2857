"""How a command ends when it is told to: at once if there is nothing to lose, else by unwinding what is half done."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, NoReturn

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
CLEANING_S = 2.0  # in which a second signal does not disturb; one that comes later finds that the first was lost


class Stopped(BaseException):
    """A signal ended the command.

    Attributes:
        word: what to say.
        code: exit code, 128 + the signal's number, as a shell counts it.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.word = _WORDS[signal.Signals(number)]
        self.code = 128 + number


def end_at_once() -> None:
    """From now on SIGINT and SIGTERM end the process on the spot.

    While modules are loaded an exception can come out as another one, or not at all.
    """
    for number in _WORDS:
        signal.signal(number, _leave)


def end_quietly() -> None:
    """From now on they end it without a word: nothing is left to do."""
    for number in _WORDS:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def unwinding() -> Iterator[None]:
    """Within, SIGINT and SIGTERM raise ``Stopped``, so that nothing half-written stays.

    Raises:
        Stopped: whatever the signal's exception has become on its way.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone hears of signals
        yield
        return
    came: list[tuple[int, float]] = []

    def unwind(number: int, _frame: Any) -> None:
        now_s = monotonic()
        if not came or now_s - came[-1][1] > CLEANING_S:
            came.append((number, now_s))
            raise Stopped(number)

    before = {number: signal.signal(number, unwind) for number in _WORDS}
    try:
        yield
    except BaseException:
        if came:
            raise Stopped(came[0][0]) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: Any) -> NoReturn:
    stopped = Stopped(number)
    os.write(2, f"{stopped.word}\n".encode())
    os._exit(stopped.code)
