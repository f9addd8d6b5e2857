"""Case number -> spoiled scenario or launch log, and the command that meets it; the same number gives the same case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from tests.fuzz import spoiled_logs
from tests.fuzz.mutations import as_yaml, spoil_structure, spoil_values, spoiled_bytes, spoiled_lines

ROOT = Path(__file__).parents[2]
EVENTS = 5_000  # most in a run: what is legal, but long, ends too
BIG_EVERY = 100  # one case in so many is as large as the program accepts, or larger
PAGE_EVERY = 20  # one run in so many gets its page too
EVERY_KEY = """\
twin: 1
name: every-key
question: What if?
answer: This.
seed: 7
stop: {cycles: 3, time: 3 d}
fleet: {nodes: 2048, gpus_per_node: 8}
jobs:
  - name: llm
    count: 2
    nodes: 64
    compute: 30 min
    work: 5 h
    jitter: {law: lognormal, sigma: 10 s}
    checkpoint: {size: 912 GB, mode: blocking, trigger: work}
    power: {compute: 7.75 kW, idle: 1.8 kW, write: 2.7 kW, exponent: 2.5}
    launch: {at: [0 s, 3 s]}
  - name: clock
    count: 3
    checkpoint: {size: 9 GB, trigger: {every: 30 min, offset: 1 min}}
    launch: {poisson: 5 min}
storage: {bandwidth: 40 GB/s, share: job, client_bandwidth: 20 GB/s, degradation: 0.5}
power: {cap: 1.1 MW, controller: {policy: anonymous}}
failures: {per_node_day: 3.8e-3, downtime: 12 min}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments of one command; its files lie in the folder it was made for."""

    number: int
    kind: str
    arguments: tuple[str, ...]


def make(number: int, folder: Path) -> Case:
    """Write the files of a case into a folder."""
    rng = Random(number)  # noqa: S311 - no secrets here
    scenario = folder / "scenario.yaml"
    kind = rng.choice(tuple(KINDS))
    content = KINDS[kind](rng, folder)
    scenario.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    command = rng.choice(("validate", "run", "estimate"))
    more: tuple[str, ...] = ()
    if command == "run":
        more = ("--out", str(folder / "out"), "--force", "--max-events", str(EVENTS))
        more += ("--report",) if rng.randrange(PAGE_EVERY) == 0 else ()
    return Case(number, kind, (command, str(scenario), *more))


@cache
def _scenarios() -> tuple[str, ...]:
    files = sorted((ROOT / "scenarios").glob("*.yaml"))
    return (*[EVERY_KEY] * len(files), *(file.read_text(encoding="utf-8") for file in files))


def _parsed(rng: Random) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(rng.choice(_scenarios()))
    return values


def _scenario_bytes(rng: Random, _: Path) -> bytes:
    return spoiled_bytes(rng, rng.choice(_scenarios()).encode())


def _scenario_lines(rng: Random, _: Path) -> bytes:
    text = spoiled_lines(rng, rng.choice(_scenarios())).replace("\n", rng.choice(("\n", "\n", "\r\n", "\r")))
    start = rng.choice((b"", b"", b"", b"\xef\xbb\xbf"))
    return start + text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "latin-1")), "replace")


def _scenario_structure(rng: Random, _: Path) -> str:
    values = _parsed(rng)
    spoil_structure(rng, values)
    return as_yaml(rng, values)


def _scenario_values(rng: Random, folder: Path) -> str:
    if rng.randrange(BIG_EVERY) == 0:
        return _big_scenario(rng)
    values = _parsed(rng)
    spoil_values(rng, values)
    if "replay" in values and rng.random() < 0.8:
        spoiled_logs.write(rng, folder / "log", "schedule", rows=50)
        values["replay"] = {"file": "log"} | {"copies": rng.choice((1, 2, 10_000))}
    return as_yaml(rng, values)


def _big_scenario(rng: Random) -> str:
    """A scenario of many jobs, groups, values or faults, about as large as a file may be."""
    head = "twin: 1\nname: big\nstop: {time: 1 d}\n"
    count = rng.choice((1_000, 9_000, 50_000, 300_000, 1_000_000))
    few = rng.choice((1, count))
    item = rng.choice(
        (
            *("- {{name: g{0}}}\n", "- {{name: g}}\n", "- {{nam: g{0}}}\n", "- 1\n", "- {{}}\n", "- []\n", "- *a\n"),
            *("- {{name: g{0}, launch: {{}}, power: {{idle: 1 MW}}}}\n", "- {{name: g{0}, count: -1, nodes: x}}\n"),
        )
    )
    laws = rng.choice(("", ", jitter: {law: normal, sigma: 1 min}", ", jitter: {law: uniform, sigma: 1 h}"))
    launch = rng.choice(("together: 0", "uniform: 1 h", "poisson: 1 s", "every: 1 ms"))
    text = rng.choice(
        (
            head + f"jobs: [{{name: g, count: {count}, launch: {{{launch}}}{laws}}}]\n",
            head + "jobs:\n" + "".join(item.format(i) for i in range(min(count, 200_000))),
            head + f"jobs: [{{name: g, count: {count}, launch: {{at: [{'0,' * few}]}}}}]\n",
            head + "".join(f"k{i}: 1\n" for i in range(min(count, 90_000))),
            head + "a: 1\n" * min(count, 190_000),
            head + "x: " + "[" * count,
            head + "question: '" + "word \n" * min(count, 170_000) + "'\n",
            head + "? [a]\n: 1\n" * min(count, 90_000),
        )
    )
    return text if rng.random() < 0.1 else text[: 1024 * 1024]


KINDS: dict[str, Callable[[Random, Path], str | bytes]] = {
    "scenario bytes": _scenario_bytes,
    "scenario lines": _scenario_lines,
    "scenario structure": _scenario_structure,
    "scenario values": _scenario_values,
    "log bytes": spoiled_logs.with_spoiled_bytes,
    "log rows": lambda rng, folder: spoiled_logs.with_spoiled_rows(rng, folder, BIG_EVERY),
    "log values": spoiled_logs.with_spoiled_values,
    "log types": lambda rng, folder: spoiled_logs.with_spoiled_types(rng, folder, BIG_EVERY),
}
