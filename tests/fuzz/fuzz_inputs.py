"""Thousands of spoiled scenarios and launch logs: each ends with 0 or 2, no traceback, in 10 s and 500 MB.

By hand: ``python -m tests.fuzz.fuzz_inputs [--cases 10000] [--first 0] [--only NUMBER]``; exit code 1 if one fails.
Most cases share a process; one that seems to fail, and every fiftieth, has one of its own in the end, which decides.
Nothing else of ours runs then; since others may be at work on the machine, what is too slow is tried three times.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from tests.fuzz import cases
from tests.fuzz.cases import Case
from tests.fuzz.workers import MOST_S, STUCK_S, Ended, ended_alone, ended_here

ALONE_EVERY = 50
TRIES = 3
WORKERS = len(os.sched_getaffinity(0))
_CONTEXT = multiprocessing.get_context("spawn")


def work(pipe: Connection, folder: Path) -> None:
    """Case numbers in, cases and how they ended out."""
    while True:
        number = pipe.recv()
        case = cases.make(number, _emptied(folder / str(os.getpid())))
        pipe.send((case, ended_here(case.arguments)))


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


class Worker:
    """A process that works on one case at a time in a folder, and is replaced when a case ends it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.number: int | None = None
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self._process: SpawnProcess = _CONTEXT.Process(target=work, args=(theirs, self._folder), daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, number: int) -> None:
        """Work on a case."""
        self.number = number
        self.pipe.send(number)

    def answer(self) -> tuple[Case, Ended] | None:
        """The present case and how it ended; None if it took the process with it."""
        self.number = None
        try:
            found: tuple[Case, Ended] = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.replace()
            return None
        return found

    def replace(self) -> None:
        """End the process, if it has not ended itself, and start another."""
        self.stop()
        self._start()

    def stop(self) -> None:
        """End the process."""
        self.number = None
        self._process.kill()
        self._process.join()


def endings(numbers: Iterable[int]) -> Iterator[tuple[int, tuple[Case, Ended] | None]]:
    """Each case and how it ended among others; None for those that ended their process or got stuck."""
    folder = tempfile.TemporaryDirectory()
    workers = [Worker(Path(folder.name)) for _ in range(WORKERS)]
    left = iter(numbers)
    try:
        while True:
            for worker in workers:
                if worker.number is None and (number := next(left, None)) is not None:
                    worker.begin(number)
            busy = [worker for worker in workers if worker.number is not None]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy], timeout=STUCK_S)
            for worker in busy:
                number = worker.number
                assert number is not None
                if worker.pipe in ready:
                    yield number, worker.answer()
                elif not ready:
                    worker.replace()
                    yield number, None
    finally:
        for worker in workers:
            worker.stop()
        folder.cleanup()


def alone(number: int) -> tuple[Case, Ended]:
    """A case in a process of its own; the fastest of a few tries if it was slow."""
    tried: list[tuple[Case, Ended]] = []
    while len(tried) < TRIES and (not tried or tried[-1][1].busy_s > MOST_S):
        with tempfile.TemporaryDirectory() as name:
            case = cases.make(number, Path(name))
            tried.append((case, ended_alone(case.arguments, Path(name))))
    return min(tried, key=lambda case_and_end: case_and_end[1].busy_s)


class Tally:
    """What was met, by kind of case and command."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], list[Ended]] = defaultdict(list)
        self.failures = 0

    def add(self, case: Case, ended: Ended, *more: str) -> None:
        """Count a case, and tell at once what it broke."""
        self._rows[case.kind, case.arguments[0]].append(ended)
        for broken in (*ended.faults(), *more):
            self.failures += 1
            print(f"case {case.number} ({case.kind}, {case.arguments[0]}): {broken}", flush=True)

    def table(self) -> str:
        """One line for each kind and command."""
        lines = [
            f"{'kind':<20} {'command':<9} {'cases':>6} {'exit 0':>7} {'exit 2':>7} {'slowest s':>10} {'most MB':>8}"
        ]
        for (kind, command), ended in sorted(self._rows.items()):
            codes = [end.code for end in ended]
            slowest, most = max(end.busy_s for end in ended), max(end.peak_mb for end in ended)
            counts = f"{len(ended):>6} {codes.count(0):>7} {codes.count(2):>7}"
            lines.append(f"{kind:<20} {command:<9} {counts} {slowest:>10.2f} {most:>8.0f}")
        return "\n".join(lines)


def fuzz(numbers: Iterable[int]) -> Tally:
    """Every case, and what it broke."""
    tally = Tally()
    apart = []
    for number, among_others in endings(numbers):
        faults = ["ended its process, or got stuck"] if among_others is None else among_others[1].faults()
        if faults:
            print(f"case {number} is tried again: {'; '.join(faults)}", flush=True)
        if faults or number % ALONE_EVERY == 0:
            apart.append((number, among_others))
        elif among_others is not None:
            tally.add(*among_others)
    for number, among_others in apart:
        case, ended = alone(number)
        differs = among_others is not None and among_others[1].code != ended.code
        tally.add(case, ended, *([f"ended otherwise among others: {among_others}"] if differs else []))
    return tally


def main() -> int:
    """Run the cases asked for; 1 if any fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, help="this case alone, with what it says")
    asked = parser.parse_args()
    if asked.only is not None:
        case, ended = alone(asked.only)
        print(case, ended.error, ended, sep="\n")
        return int(bool(ended.faults()))
    tally = fuzz(range(asked.first, asked.first + asked.cases))
    print(tally.table(), f"{tally.failures} failures", sep="\n")
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
