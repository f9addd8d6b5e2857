"""Launch logs of every format and container, spoiled in their bytes, rows, values or types, beside their scenario."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from tests.fuzz.mutations import EXTREMES, as_yaml, spoiled_bytes

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
WINDOWS = (
    *(["0 d", "3 d"], ["1 d", "1e12 s"], ["2017-10-01", "2017-12-01"]),
    *(["2017-10-01T00:00Z", "2017-12-01"], ["2017-10-01T00:00+02:00", "2017-12-01T00:00-08:00"]),
)
DATES = ("2017-10-09 07:00:00", "2017-10-09T07:00:00Z", "2017-10-09 07:00:00+02:00", "09/10/2017", "2017-13-40", "1e9")
ZONES = ("", "", "Z", "+02:00", "-0800", " UTC", " CEST", ".5", "+25:00")
TYPES: tuple[Any, ...] = (
    *(pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.binary(), pa.bool_(), pa.null()),
    *(pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(38, 3)),
    *(pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("ms", "UTC"), pa.timestamp("us", "Europe/Berlin")),
    *(pa.duration("s"), pa.duration("ns"), pa.date32(), pa.date64(), pa.time64("us")),
    *(pa.dictionary(pa.int32(), pa.duration("s")), pa.list_(pa.int64()), pa.struct({"seconds": pa.int64()})),
)
COMPRESSIONS = ("none", "snappy", "gzip", "zstd", "brotli", "lz4")
SMALL, LARGE = (1, 5, 50, 2_000), (60_000, 1_000_000)


def _scenario(rng: Random, form: str) -> str:
    """A scenario that replays the log."""
    values = json.loads(json.dumps(REPLAY))
    values["replay"]["format"] = form if rng.random() < 0.95 else rng.choice(tuple(HEADERS))
    more = {
        "starts": rng.choice(("submit", "start")),
        "min_gpus": rng.choice((1, 8, 10_000)),
        "copies": rng.choice((1, 3, 10_000)),
        "window": rng.choice(WINDOWS),
        "time_scale": rng.choice((1e-6, 0.5, 1e6)),
    }
    values["replay"] |= {key: more[key] for key in more if rng.random() < 0.2}
    return as_yaml(rng, values)


def with_spoiled_bytes(rng: Random, folder: Path) -> str:
    """Bytes of a CSV, gzip or Parquet file spoiled; gzip in parts, or of far more than it seems to be."""
    form = rng.choice(tuple(HEADERS))
    log = folder / "log"
    write(rng, log, form, rows=rng.choice(SMALL))
    content = log.read_bytes()
    match rng.randrange(6):
        case 0 | 1:
            content = spoiled_bytes(rng, _gzipped(content, level=rng.choice((0, 1, 9))))
        case 2:
            cut = rng.randrange(len(content))
            parts = [_gzipped(content[:cut]), _gzipped(content[cut:])]
            parts.insert(rng.randrange(3), rng.choice((b"", b"", b"\0" * 512, b"more", _gzipped(b""))))
            content = b"".join(parts)
        case 3:
            pq.write_table(arrow_csv.read_csv(log), log, compression=rng.choice(COMPRESSIONS))
            content = spoiled_bytes(rng, log.read_bytes())
        case 4 if rng.random() < 0.05:
            content = _gzipped(content + rng.choice((b"\0", b"\n", b"1,", b"#\n")) * 100_000_000)
        case _:
            content = spoiled_bytes(rng, content)
    log.write_bytes(content)
    return _scenario(rng, form)


def _good_log(rng: Random, folder: Path, large_every: int) -> tuple[str, Path]:
    """Format and file of a log without a fault, one in ``large_every`` of them large."""
    form = rng.choice(tuple(HEADERS))
    is_large = rng.randrange(large_every) == 0
    log = folder / "log"
    write(rng, log, form, rows=rng.choice(LARGE if is_large else SMALL))
    return form, log


def with_spoiled_rows(rng: Random, folder: Path, large_every: int) -> str:
    """Rows unsorted, doubled, quoted, of other lengths; columns missing, doubled, renamed; other ends of lines."""
    form, log = _good_log(rng, folder, large_every)
    head, *body = log.read_text(encoding="utf-8").splitlines()
    if rng.random() < 0.5:
        rng.shuffle(body)
    if rng.random() < 0.3:
        body += rng.choices(body, k=len(body))
    lines = [head, *body]
    if rng.random() < 0.1:
        column, copies = rng.randrange(len(HEADERS[form])), rng.choice((0, 0, 2))
        lines = [_with_column(line, column, copies) for line in lines]
    elif rng.random() < 0.05:
        lines[0] = rng.choice((head.upper(), head.replace("_", " "), head.replace(",", ", "), "# " + head, "", "1,2"))
    for _ in range(rng.choice((0, 1, 5))):
        at = rng.randrange(len(lines))
        cut = lines[at].rpartition(",")[0]
        lines[at] = rng.choice((cut, lines[at] + ",more", "", _quoted(lines[at]), '"open,' + lines[at], "# a remark"))
    if rng.random() < 0.3:
        lines = [_quoted(line) for line in lines]
    if rng.random() < 0.1:
        lines = [line.replace(",", ";") for line in lines]
    end = rng.choice(("\n", "\n", "\r\n", "\r\n", "\r", "\n\n"))
    text = end.join(lines) + rng.choice(("", end))
    content = rng.choice((b"", b"", b"\xef\xbb\xbf")) + text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16")))
    log.write_bytes(_gzipped(content) if rng.random() < 0.3 else content)
    return _scenario(rng, form)


def with_spoiled_values(rng: Random, folder: Path) -> str:
    """Values extreme, of other kinds, dates of other zones and forms."""
    form = rng.choice(tuple(HEADERS))
    log = folder / "log"
    write(rng, log, form, rows=rng.choice(SMALL[:-1]))
    rows = [line.split(",") for line in log.read_text(encoding="utf-8").splitlines()]
    if form == "philly-csv" and rng.random() < 0.3:
        for row in rows[1:]:
            row[0] = row[0].replace(" ", rng.choice(" T")) + rng.choice(ZONES)
    for _ in range(rng.choice((1, 3, 30))):
        row = rng.choice(rows if rng.random() < 0.1 else rows[1:])
        extreme = str(rng.choice((*EXTREMES, *DATES))).encode("utf-8", "replace").decode().replace("\n", " ")
        row[rng.randrange(len(row))] = f'"{extreme}"' if "," in extreme else extreme
    content = "\n".join(",".join(row) for row in rows).encode()
    log.write_bytes(_gzipped(content) if rng.random() < 0.1 else content)
    return _scenario(rng, form)


def with_spoiled_types(rng: Random, folder: Path, large_every: int) -> str:
    """A Parquet file: columns of other types, missing, doubled, renamed, with nulls or long texts; odd row groups."""
    form, log = _good_log(rng, folder, large_every)
    table = arrow_csv.read_csv(log)
    for _ in range(rng.choice((0, 1, 1, 3))):
        column = rng.randrange(table.num_columns)
        if pa.types.is_dictionary(table.column(column).type):  # which may stand for more than memory holds
            continue
        match rng.randrange(12):
            case 0 if table.num_columns > 1:
                table = table.remove_column(column)
            case 1:
                table = table.append_column(rng.choice(table.column_names), table.column(column))
            case 2:
                name = rng.choice(("", "é", "nodes", "x" * 5_000, table.column_names[column].upper()))
                table = table.rename_columns([*table.column_names[:column], name, *table.column_names[column + 1 :]])
            case 3:
                text = rng.choice(("x", "é", "\0", "\n")) * rng.choice((0, 201, 5_000, 100_000))
                table = _replaced(table, column, _repeated(text, table.num_rows))
            case 4:
                table = table.slice(rng.randrange(table.num_rows + 1), rng.choice((0, table.num_rows)))
            case 5:
                table = _replaced(table, column, _other_values(rng, table.num_rows))
            case 6:
                wanted = _over_and_over(pa.array([rng.random() < 0.5 for _ in range(100)]), table.num_rows)
                nulls = pa.nulls(table.num_rows, table.column(column).type)
                table = _replaced(table, column, pc.if_else(wanted, table.column(column), nulls))
            case _:
                with suppress(pa.ArrowException, ValueError):  # what fits no such type keeps its own
                    table = _replaced(table, column, table.column(column).cast(rng.choice(TYPES), safe=False))
    repeats = any(pa.types.is_dictionary(column.type) for column in table.columns)
    pq.write_table(
        table,
        log,
        compression=rng.choice(COMPRESSIONS),
        row_group_size=rng.choice((1, 7)) if table.num_rows < 100 else rng.choice((1_000, None)),
        use_dictionary=repeats or rng.random() < 0.7,
        store_schema=rng.random() < 0.9,
        version=rng.choice(("1.0", "2.6")),
        coerce_timestamps="ms",
        allow_truncated_timestamps=True,
    )
    return _scenario(rng, form)


def write(rng: Random, path: Path, form: str, rows: int) -> None:
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
    date = datetime(2017, 10, 9, tzinfo=UTC) + timedelta(seconds=submit_s)
    return f"{date:%Y-%m-%d %H:%M:%S},{work_s},{rng.randrange(1, 513)},c{rng.randrange(5)}"


def _gzipped(content: bytes, level: int = 1) -> bytes:
    return gzip.compress(content, level, mtime=0)  # the same bytes at any time


def _with_column(line: str, column: int, copies: int) -> str:
    """The line with one of its fields so many times."""
    fields = line.split(",")
    return ",".join((*fields[:column], *fields[column : column + 1] * copies, *fields[column + 1 :]))


def _quoted(line: str) -> str:
    return '"' + line.replace(",", '","') + '"'


def _replaced(table: Any, column: int, values: Any) -> Any:
    return table.set_column(column, table.column_names[column], values)


def _repeated(text: str, rows: int) -> Any:
    """One text in every row, stored once: a small file may hold far more than memory does."""
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([text]))


def _other_values(rng: Random, rows: int) -> Any:
    """The same few values over and over, extreme ones among them."""
    kind = rng.choice((int, float, str))
    values = [value for value in EXTREMES if type(value) is kind and (not isinstance(value, int) or abs(value) < 2**63)]
    few = [rng.choice(values) for _ in range(100)]
    texts = [value.encode("utf-8", "replace").decode() if isinstance(value, str) else value for value in few]
    array = pa.array(texts, {int: pa.int64(), float: pa.float64(), str: pa.string()}[kind])
    return _over_and_over(array, rows)


def _over_and_over(array: Any, rows: int) -> Any:
    return pa.concat_arrays([array] * (rows // len(array) + 1)).slice(0, rows)
