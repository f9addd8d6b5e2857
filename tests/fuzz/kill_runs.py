"""Commands killed at any moment, on a full disk, or where nothing may be written: the old, the new or nothing is left.

By hand: ``python -m tests.fuzz.kill_runs [--kills 100] [--seed 0]``; exit code 1 if anything fails. Kills fall at
random moments, and before every single operation on a file once more. The disks need the right to mount a tmpfs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from random import Random

from twin import cli
from twin.errors import TwinError
from twin.io.run_directory import open_run
from twin.recording import TABLES

SCENARIO = """\
twin: 1
name: killed
stop: {cycles: 800}
jobs:
  - {name: llm, count: 8, nodes: 64, jitter: {sigma: 10 s}, launch: {uniform: 30 min}}
power: {cap: 3 MW}
"""
SHORT = ("--set", "stop.cycles=100")
# Runs the command line, and kills itself before the given operation on a file in the present folder.
KILLS_ITSELF = """\
import os, signal, sys
from twin.cli import main
last, here, seen = int(sys.argv.pop(1)), os.getcwd(), 0
def watch(event, arguments):
    global seen
    if event in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.scandir", "os.listdir"):
        if str(arguments[0] if arguments[0] is not None else "").startswith((here, "out", ".")):
            seen += 1
            if seen == last:
                os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
sys.exit(main(sys.argv[1:]))
"""
NO_WAY, KILLED, BAD_INPUT = "no way to mount a tmpfs here: skipped", -signal.SIGKILL, 2


class Failures(list[str]):
    """What went wrong, told at once and kept."""

    def check(self, holds: bool, claim: str) -> None:
        """Note a claim that does not hold."""
        if not holds:
            print(f"FAILED: {claim}")
            self.append(claim)


def twin(*arguments: str) -> tuple[int, str]:
    """Exit code and stderr of a command in this process."""
    error = StringIO()
    with redirect_stderr(error), Path(os.devnull).open("w") as nowhere:
        out, sys.stdout = sys.stdout, nowhere
        try:
            return cli.main(arguments), error.getvalue()
        finally:
            sys.stdout = out


def killed_at(arguments: Sequence[str], delay_s: float) -> bool:
    """Whether a command was killed after a while; it may end before."""
    process = subprocess.Popen(
        [sys.executable, "-m", "twin", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=delay_s)
    process.kill()
    return process.wait() == KILLED


def killed_before(arguments: Sequence[str], operation: int) -> int:
    """Exit code of a command killed before the given operation on a file, unless it ends before."""
    command = [sys.executable, "-c", KILLS_ITSELF, str(operation), *arguments]
    return subprocess.run(command, check=False, capture_output=True).returncode


def run_state(folder: Path) -> str:
    """``nothing``, or the number of cycles of the run; every row of every table is read."""
    if not folder.exists():
        return "nothing"
    recording = open_run(folder)
    for table, rows in recording.manifest["rows"].items():
        if recording.table(table).num_rows != rows or table not in TABLES:
            return f"mixture: {table}"
    return f"run of {recording.manifest['scenario']['stop']['cycles']}"


def leftovers() -> list[str]:
    """Temporary names in the present folder."""
    return sorted(path.name for path in Path().iterdir() if ".twin-" in path.name)


class Trial:
    """One command, what may be there before it, and what may be there after it was killed."""

    def __init__(
        self, name: str, arguments: Sequence[str], prepare: Callable[[], None], state: Callable[[], str]
    ) -> None:
        self.name = name
        self.arguments = arguments
        self._prepare = prepare
        self._state = state
        self.prepare()
        self.old = state()
        begun_s = time.monotonic()
        subprocess.run([sys.executable, "-m", "twin", *arguments], check=True, capture_output=True)
        self.duration_s = time.monotonic() - begun_s
        self.new = state()

    def prepare(self) -> None:
        """What was there before the command."""
        self._prepare()

    def after(self, failures: Failures, moment: str) -> str:
        """What is left after a kill; checked, and the next command too."""
        try:
            left = self._state()
        except TwinError as damage:
            left = f"mixture: {damage}"
        found = {self.old: "old", self.new: "new", "nothing": "nothing"}.get(left, left)
        failures.check(not found.startswith("mixture"), f"{self.name} killed {moment} leaves {left}")
        force = [] if found == "nothing" or "--force" in self.arguments else ["--force"]
        code, error = twin(*self.arguments, *force)
        failures.check(code == 0, f"the next {self.name} after a kill {moment} ends with {code}: {error}")
        failures.check(self._state() == self.new, f"the next {self.name} after a kill {moment} gives something else")
        failures.check(not leftovers(), f"the next {self.name} after a kill {moment} leaves {leftovers()}")
        return found


def kill(trial: Trial, kills: int, rng: Random, failures: Failures) -> None:
    """A command killed at random moments, then before each of its operations on files."""
    met: Counter[str] = Counter()
    most_s = trial.duration_s
    while met.total() < kills:
        trial.prepare()
        delay_s = rng.uniform(0.0, most_s)
        if killed_at(trial.arguments, delay_s):
            met[trial.after(failures, f"after {delay_s:.3f} s")] += 1
        else:
            most_s = delay_s  # the first one was slower than they mostly are
    print(f"{trial.name}: killed at {kills} moments within {most_s:.2f} s: {dict(met)}")
    met.clear()
    operation = 0
    code = KILLED
    while code == KILLED:
        operation += 1
        trial.prepare()
        code = killed_before(trial.arguments, operation)
        if code == KILLED:
            met[trial.after(failures, f"before operation {operation}")] += 1
    failures.check(code == 0, f"{trial.name} ends with {code} when not killed")
    failures.check(operation > 1, f"{trial.name} was never killed before an operation on a file")
    print(f"{trial.name}: killed before each of {operation - 1} operations on files: {dict(met)}")


def trials() -> Iterator[Trial]:
    """The commands to kill, in an own folder."""
    out, page = Path("out"), Path("out.html")
    Path("scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    run = ("run", "scenario.yaml", "--out", "out", "--quiet")
    assert twin("run", "scenario.yaml", "--out", "old", "--quiet", *SHORT)[0] == 0

    def nothing() -> None:
        shutil.rmtree(out, ignore_errors=True)
        page.unlink(missing_ok=True)

    def old_run() -> None:
        nothing()
        shutil.copytree("old", out)

    yield Trial("run", run, nothing, lambda: run_state(out))
    yield Trial("run --force", (*run, "--force"), old_run, lambda: run_state(out))
    assert twin("run", "scenario.yaml", "--out", "new", "--quiet")[0] == 0
    assert twin("report", "old", "-o", "old.html", "--quiet")[0] == 0
    assert twin("report", "new", "-o", "new.html", "--quiet")[0] == 0

    def page_state() -> str:
        if not page.exists():
            return "nothing"
        content = page.read_bytes()
        whole = {Path(name).read_bytes(): name for name in ("old.html", "new.html")}
        return whole.get(content, f"mixture: {len(content)} bytes")

    def old_page() -> None:
        shutil.copy("old.html", page)

    report = ("report", "new", "-o", "out.html", "--quiet")
    yield Trial("report", report, nothing, page_state)
    yield Trial("report over a page", report, old_page, page_state)


@contextmanager
def disk(size_kb: int, full_of: Callable[[], None], *, read_only: bool = False) -> Iterator[bool]:
    """A small disk mounted at ``disk``, with something on it, and whether mounting was allowed."""
    mount = Path("disk")
    mount.mkdir(exist_ok=True)
    options = f"size={size_kb}k"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", mount], check=False, capture_output=True)
    if mounted.returncode:
        yield False
        return
    try:
        full_of()
        if read_only:
            subprocess.run(["mount", "-o", "remount,ro", mount], check=True)
        yield True
    finally:
        subprocess.run(["umount", mount], check=True)


def refuse(name: str, arguments: Sequence[str], failures: Failures) -> str:
    """A command that meets a disk on which it cannot end; what it did, in a word."""
    before = sorted(str(path) for path in Path("disk").rglob("*"))
    command = [sys.executable, "-m", "twin", *arguments]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    code, error = ended.returncode, ended.stderr
    if code == 0:
        return "fits"
    after = sorted(str(path) for path in Path("disk").rglob("*"))
    clear = error.count("\n") == 1 and ("No space left" in error or "Read-only" in error) and ";" in error
    failures.check(code == BAD_INPUT and clear, f"{name}: ends with {code}: {error}")
    failures.check(before == after, f"{name}: leaves {sorted(set(after) ^ set(before))}")
    return "refused"


def disks(failures: Failures) -> None:
    """Full disks of every size, and a folder that may only be read."""
    run = ("run", "scenario.yaml", "--out", "disk/out", "--quiet")
    report = ("report", "new", "-o", "disk/out.html", "--quiet")

    def nothing() -> None:
        pass

    def old() -> None:
        shutil.copytree("old", "disk/out")
        shutil.copy("old.html", "disk/out.html")

    old_kb = sum(path.stat().st_size for path in (*Path("old").iterdir(), Path("old.html"))) // 1024 + 64
    for name, arguments, full_of, least_kb, sizes in (
        ("run", run, nothing, 0, (4, 16, 40, 64, 80, 100, 128, 200, 256, 300, 350, 400, 600, 2_000)),
        ("run --force", (*run, "--force"), old, old_kb, (0, 16, 40, 64, 100, 128, 200, 300, 400, 2_000)),
        ("report", report, nothing, 0, (4, 64, 1_000, 3_000, 4_000, 4_500, 20_000)),
        ("report over a page", report, old, old_kb, (0, 64, 1_000, 3_000, 4_000, 20_000)),
    ):
        met: Counter[str] = Counter()
        for size_kb in sizes:
            with disk(least_kb + size_kb, full_of) as is_there:
                if not is_there:
                    print(NO_WAY)
                    return
                met[refuse(f"{name} with {size_kb} KB left", arguments, failures)] += 1
                if full_of is old and met["fits"] == 0:
                    failures.check(run_state(Path("disk/out")) == "run of 100", f"{name}: the old run is gone")
                    same = Path("disk/out.html").read_bytes() == Path("old.html").read_bytes()
                    failures.check(same, f"{name}: the old page is gone")
        failures.check(
            min(met["fits"], met["refused"]) > 0, f"{name}: the disks were all too small, or all large enough"
        )
        print(f"{name} on disks with {min(sizes)} to {max(sizes)} KB left: {dict(met)}")
        with disk(least_kb + max(sizes), full_of, read_only=True):
            told = refuse(f"{name} on a disk that may only be read", arguments, failures)
        failures.check(told == "refused", f"{name} on a disk that may only be read ends well")
        print(f"{name} on a disk that may only be read: {told}")


def main() -> int:
    """Kill, fill, lock; 1 if any promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = Random(asked.seed)  # noqa: S311 - no secrets here
    failures = Failures()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        for trial in trials():
            kill(trial, asked.kills, rng, failures)
        disks(failures)
        os.chdir("/")
    print(f"{len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
