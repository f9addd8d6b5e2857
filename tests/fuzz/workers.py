"""Runs commands of the program, in this process or in a new one, and measures what they take."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from twin.cli import main

MOST_S = 10.0
MOST_MB = 500.0
STUCK_S = 300  # after so long a process is ended by the system; long, for a machine that is busy with others
_TRACE = re.compile(r"^Traceback|^\w*Warning: |: \w*Warning: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: exit code, what it wrote on stderr, what it took of the processor [s] and of memory [MB].

    Processor time, because others may be at work on the machine; one that waits for ever is ended after ``STUCK_S``.
    """

    code: int
    error: str
    busy_s: float
    peak_mb: float

    def has_trace(self) -> bool:
        """Whether it wrote a traceback, or a warning of Python."""
        return _TRACE.search(self.error) is not None

    def faults(self) -> list[str]:
        """Every promise that it broke."""
        found = [] if self.code in (0, 2) else [f"ended with {self.code}"]
        if trace := _TRACE.search(self.error):
            found.append(self.error[trace.start() :][-600:])
        if self.code == 2 and not self.error.strip():
            found.append("said nothing")
        if self.busy_s > MOST_S:
            found.append(f"took {self.busy_s:.1f} s")
        if self.peak_mb > MOST_MB:
            found.append(f"took {self.peak_mb:.0f} MB")
        return found


def ended_here(arguments: Sequence[str]) -> Ended:
    """The command, in this process."""
    out, error = StringIO(), StringIO()
    _forget_peak()
    begun_s = time.process_time()
    with redirect_stdout(out), redirect_stderr(error):
        try:
            code = main(arguments)
        except Exception:  # whatever comes through is what is looked for
            code = 1
            error.write(traceback.format_exc())
    return Ended(code, error.getvalue(), time.process_time() - begun_s, _peak_mb())


def ended_alone(arguments: Sequence[str], folder: Path) -> Ended:
    """The command, in a process of its own."""
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "twin", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            preexec_fn=_limit,  # noqa: PLW1509 - no threads here
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stderr.seek(0)
        error = stderr.read().decode("utf-8", "replace")
    return Ended(process.returncode, error, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _limit() -> None:
    signal.alarm(STUCK_S)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0
