"""A launch log on disk -> its columns, block by block: CSV, gzipped CSV or Parquet, told apart by content."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from twin.errors import Fault, LaunchLogError

_BLOCK_B = 1 << 20  # bytes of CSV parsed at a time; also the longest line
_BLOCK_ROWS = 1 << 16  # rows of Parquet decoded at a time
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Ragged:
    """Lines of a CSV file with another number of fields than the header: how many, and the first of them."""

    fields: int = 0
    rows: int = 0
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class RawBlock:
    """Consecutive rows: the columns asked for, Arrow arrays of text or (Parquet) numbers, and the line of each row."""

    columns: dict[str, Any]
    lines: np.ndarray


class _CheckedText:
    """A file that hands out UTF-8 only: on anything else the parser would fail where no error can be caught."""

    closed = False

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._decoder.decode(data, final=not data)
        return data


class LogFile:
    """A launch log.

    Args:
        path: where it lies.
        name: what the scenario calls it; stands in every message.
    Raises:
        LaunchLogError: no such file, not readable, empty, binary, or without a header line.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        with self._as_launch_log_error():
            if path.exists() and not path.is_file():
                kind = "a directory" if path.is_dir() else "no regular file"
                raise self.fault("", f"is {kind}", "name a CSV or Parquet file")
            with path.open("rb") as file:
                magic = file.read(4)
        self.is_parquet = magic == b"PAR1"
        self._is_gzip = magic[:2] == b"\x1f\x8b"
        self.columns = self._columns()
        """Names of its columns, in file order."""

    def fault(self, value: str, rule: str, remedy: str, line: int | None = None) -> LaunchLogError:
        """The error to raise: what was wrong with this file, where, the rule, the remedy."""
        where = self.name if line is None else f"{self.name}:{line}"
        return LaunchLogError(str(Fault("replay.file", value, rule, remedy, where)))

    def sha256(self) -> str:
        """Digest of the file as it lies on disk, in hex."""
        with self._as_launch_log_error(), self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _columns(self) -> list[str]:
        with self._as_launch_log_error():
            if self.is_parquet:
                return list(pq.ParquetFile(self.path).schema_arrow.names)
            with self._open_text() as file:
                return self._header(file)[0]

    def blocks(self, wanted: list[str], ragged: Ragged) -> Iterator[RawBlock]:
        """All rows, a block at a time, the wanted columns only; lines are counted from 1, rows of Parquet too.

        A blank line comes as a row of empty texts; a line with another number of fields is only counted in ``ragged``.
        Raises:
            LaunchLogError: the file turns out to be broken on the way.
        """
        with self._as_launch_log_error():
            yield from self._parquet_blocks(wanted) if self.is_parquet else self._csv_blocks(wanted, ragged)

    def _parquet_blocks(self, wanted: list[str]) -> Iterator[RawBlock]:
        first = 1
        for batch in pq.ParquetFile(self.path).iter_batches(_BLOCK_ROWS, columns=wanted):
            columns = {name: _number_or_text(batch.column(name)) for name in wanted}
            yield RawBlock(columns, np.arange(first, first + batch.num_rows))
            first += batch.num_rows

    def _csv_blocks(self, wanted: list[str], ragged: Ragged) -> Iterator[RawBlock]:
        with self._open_text() as file:
            names, header_line = self._header(file)
            if not file.peek(1):
                return
            ragged.fields = len(names)
            skipped: list[int] = []  # rows left out by the parser, counted from 1 behind the header

            def skip(row: Any) -> str:
                skipped.append(row.number)
                if not ragged.rows:
                    ragged.line, ragged.text = header_line + row.number, row.text
                ragged.rows += 1
                if "\n" in row.text.rstrip("\r\n"):
                    torn.append(header_line + row.number)
                return "skip"

            torn: list[int] = []
            keys = [str(names.index(name)) for name in wanted]  # by place: other columns may share a name
            reader = arrow_csv.open_csv(
                pa.PythonFile(_CheckedText(file), "r"),
                # without threads, or the parser does not know the number of a row
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=_BLOCK_B, column_names=[str(i) for i in range(len(names))]
                ),
                # blank lines must come as rows, or lines could not be counted
                arrow_csv.ParseOptions(ignore_empty_lines=False, invalid_row_handler=skip),
                arrow_csv.ConvertOptions(
                    include_columns=keys, column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False
                ),
            )
            good = 0  # rows that came through so far
            for batch in reader:
                columns = {name: batch.column(key) for name, key in zip(wanted, keys, strict=True)}
                rows = np.arange(good, good + batch.num_rows)
                before = np.array(skipped, dtype=np.int64) - np.arange(1, len(skipped) + 1)  # good rows before each
                lines = header_line + 1 + rows + np.searchsorted(before, rows, side="right")
                for column in columns.values():
                    torn.extend(lines[np.asarray(pc.match_substring(column, "\n"))].tolist())
                if torn:
                    raise self._torn(min(torn))
                yield RawBlock(columns, lines)
                good += batch.num_rows
            if torn:
                raise self._torn(min(torn))

    def _torn(self, line: int) -> LaunchLogError:
        return self.fault("", "a quoted value runs over the end of its line", "close the quote, or drop it", line)

    def _open_text(self) -> BufferedReader:
        return gzip.open(self.path) if self._is_gzip else self.path.open("rb")  # type: ignore[return-value]

    def _header(self, file: BufferedReader) -> tuple[list[str], int]:
        """Column names and line of the first line that is not blank; the file is left behind it."""
        for number, raw in enumerate(iter(lambda: file.readline(_BLOCK_B), b""), start=1):
            line = raw.removeprefix(_BOM) if number == 1 else raw
            if b"\0" in line or len(line) == _BLOCK_B:
                raise self.fault("", "is binary, not a table", "name a CSV or Parquet file", number)
            if line.strip():
                return self._names(line, number), number
        raise self.fault("", "is empty", "name a log with a header line and one row per job")

    def _names(self, line: bytes, number: int) -> list[str]:
        try:
            text = line.decode("utf-8")
            return [name.strip() for name in next(csv.reader([text.strip("\r\n")]))]
        except UnicodeDecodeError as error:
            rule = "the header line is not UTF-8 text"
            raise self.fault("", rule, "name a CSV or Parquet file in UTF-8", number) from error
        except csv.Error as error:
            rule = f"the header line is not CSV ({error})"
            raise self.fault("", rule, "name a CSV file with lines that end in LF or CRLF", number) from error

    @contextmanager
    def _as_launch_log_error(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise self.fault("", "no such file", "relative paths start at the folder of the scenario file") from error
        except (OSError, EOFError, zlib.error, pa.ArrowException, ValueError) as error:
            reason = str(getattr(error, "strerror", None) or error).partition("\n")[0]
            rule = f"cannot be read as {'Parquet' if self.is_parquet else 'CSV'}: {reason}"
            raise self.fault("", rule, "name a whole CSV (UTF-8, gzipped or not) or Parquet file") from error


def _number_or_text(column: Any) -> Any:
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column
    return pc.fill_null(column.cast(pa.string()), "")
