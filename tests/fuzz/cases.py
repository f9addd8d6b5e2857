"""Case number -> spoiled scenario or launch log, and the command that meets it; the same number gives the same case."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import yaml

from tests.fuzz.mutations import EXTREMES, as_yaml, spoil_structure, spoil_values, spoiled_bytes, spoiled_lines

ROOT = Path(__file__).parents[2]
EVENTS = 5_000  # most in a run: what is legal, but long, ends too
BIG_EVERY = 100  # one case in so many is as large as the program accepts, or larger
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
REPLAY = {
    "twin": 1,
    "name": "log",
    "stop": {"time": "3 d"},
    "replay": {"file": "log", "format": "schedule", "profile": "h100", "copies": 1, "time_scale": 1.0},
    "power": {"cap": "30 MW"},
}
HEADERS = {
    "schedule": ["job_id", "submit_s", "nodes", "gpus", "work_s", "group", "start_s"],
    "kalos": ["job_id", "arrival_time", "num_iteration", "gpu_workers", "gpu_per_worker"],
    "philly-csv": ["timestamp", "duration", "num_gpus", "cluster"],
}
DATES = ("2017-10-09 07:00:00", "2017-10-09T07:00:00Z", "2017-10-09 07:00:00+02:00", "09/10/2017", "2017-13-40", "1e9")


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
    command = "run" if kind.startswith("log") else rng.choice(("validate", "run", "estimate"))
    more: tuple[str, ...] = ()
    if command == "run":
        more = ("--out", str(folder / "out"), "--force", "--max-events", str(EVENTS))
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


def _scenario_lines(rng: Random, _: Path) -> str:
    return spoiled_lines(rng, rng.choice(_scenarios()))


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
        _write_log(rng, folder / "log", "schedule", rows=50)
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


def _log_scenario(rng: Random, form: str) -> str:
    values = json.loads(json.dumps(REPLAY))
    values["replay"]["format"] = form if rng.random() < 0.95 else rng.choice(tuple(HEADERS))
    more = {
        "starts": rng.choice(("submit", "start")),
        "min_gpus": rng.choice((1, 8, 10_000)),
        "copies": rng.choice((1, 3, 10_000)),
        "window": rng.choice((["0 d", "3 d"], ["2017-10-01", "2017-12-01"], ["1 d", "1e12 s"])),
        "time_scale": rng.choice((1e-6, 0.5, 1e6)),
    }
    values["replay"] |= {key: more[key] for key in more if rng.random() < 0.2}
    return as_yaml(rng, values)


def _log_bytes(rng: Random, folder: Path) -> str:
    form = rng.choice(tuple(HEADERS))
    log = folder / "log"
    _write_log(rng, log, form, rows=rng.choice((1, 5, 50, 2_000)))
    if rng.random() < 0.3:
        pq.write_table(arrow_csv.read_csv(log), log)
    log.write_bytes(spoiled_bytes(rng, log.read_bytes()))
    return _log_scenario(rng, form)


def _log_rows(rng: Random, folder: Path) -> str:
    """Rows unsorted, doubled, quoted, of other lengths; columns missing, doubled, renamed; other ends of lines."""
    form = rng.choice(tuple(HEADERS))
    log = folder / "log"
    if rng.randrange(BIG_EVERY) == 0:
        _write_log(rng, log, form, rows=rng.choice((60_000, 1_000_000)))
        return _log_scenario(rng, form)
    _write_log(rng, log, form, rows=rng.choice((1, 5, 50, 2_000)))
    rows = [line.split(",") for line in log.read_text(encoding="utf-8").splitlines()]
    body = rows[1:]
    if rng.random() < 0.5:
        rng.shuffle(body)
    if rng.random() < 0.3:
        body += rng.choices(body, k=len(body))
    rows = [rows[0], *body]
    if rng.random() < 0.1:
        column = rng.randrange(len(rows[0]))
        rows = [row[:column] + row[column + 1 :] * rng.choice((1, 1, 2)) for row in rows]
    for _ in range(rng.choice((0, 1, 5))):
        row = rng.choice(rows)
        row[:] = rng.choice((row[:-1], [*row, "more"], [], [f'"{x}"' for x in row], ['"open', *row[1:]]))
    if rng.random() < 0.3:
        rows = [[f'"{field}"' for field in row] for row in rows]
    comma, end = rng.choice((",", ",", ",", ",", ";")), rng.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
    text = end.join(comma.join(row) for row in rows)
    content = rng.choice((b"", b"", b"\xef\xbb\xbf")) + text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16")))
    log.write_bytes(gzip.compress(content) if rng.random() < 0.3 else content)
    return _log_scenario(rng, form)


def _log_values(rng: Random, folder: Path) -> str:
    """Values extreme, of other kinds, dates of other zones and forms."""
    form = rng.choice(tuple(HEADERS))
    log = folder / "log"
    _write_log(rng, log, form, rows=rng.choice((1, 5, 50)))
    rows = [line.split(",") for line in log.read_text(encoding="utf-8").splitlines()]
    for _ in range(rng.choice((1, 3, 30))):
        row = rng.choice(rows if rng.random() < 0.1 else rows[1:])
        extreme = str(rng.choice((*EXTREMES, *DATES))).encode("utf-8", "replace").decode().replace("\n", " ")
        row[rng.randrange(len(row))] = f'"{extreme}"' if "," in extreme else extreme
    log.write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    return _log_scenario(rng, form)


def _write_log(rng: Random, path: Path, form: str, rows: int) -> None:
    """A good log; a large one repeats a thousand different rows under numbers of their own."""
    different = [_row(rng, form) for _ in range(min(rows, 1_000))]
    numbered = form != "philly-csv"
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(HEADERS[form]) + "\n")
        for number in range(rows):
            name = f"j{number}," if numbered else ""
            file.write(f"{name}{different[number % len(different)]}\n")


def _row(rng: Random, form: str) -> str:
    """A row without its number."""
    submit_s, work_s = rng.randrange(300_000), rng.randrange(1, 200_000)
    if form == "schedule":
        values: tuple[Any, ...] = (submit_s, rng.randrange(1, 65), rng.randrange(1, 513), work_s)
        return ",".join(map(str, (*values, rng.choice(("a", "b", "")), submit_s + rng.randrange(9_000))))
    if form == "kalos":
        return ",".join(map(str, (submit_s, 2 * work_s, rng.randrange(1, 65), 8)))
    date = f"2017-10-{9 + submit_s // 86_400:02} {submit_s // 3600 % 24:02}:{submit_s // 60 % 60:02}:00"
    return f"{date},{work_s},{rng.randrange(1, 513)},c{rng.randrange(5)}"


KINDS: dict[str, Callable[[Random, Path], str | bytes]] = {
    "scenario bytes": _scenario_bytes,
    "scenario lines": _scenario_lines,
    "scenario structure": _scenario_structure,
    "scenario values": _scenario_values,
    "log bytes": _log_bytes,
    "log rows": _log_rows,
    "log values": _log_values,
}
