"""A launch log on disk -> its columns, block by block: CSV, gzipped CSV or Parquet, told apart by content."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from twin.errors import Fault, LaunchLogError
from twin.io.launch_logs import column_types, parquet_rows
from twin.io.launch_logs.csv_rows import ByteStream, CsvText, Leftovers
from twin.io.launch_logs.raw_rows import MOST_EXPANSION, RawBlock, UnreadableLogError, expands_too_much
from twin.io.strict_yaml import shown

_LEAST_EXPANDED_B = 32 << 20  # what a gzipped log may always expand to
_LONGEST_MESSAGE = 1500  # characters of a part of one


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
        self._kind = "a log"
        with self._as_launch_log_error():
            if path.exists() and not path.is_file():
                kind = "a directory" if path.is_dir() else "no regular file"
                raise self.fault("", f"is {kind}", "name a CSV or Parquet file")
            with path.open("rb") as file:
                magic = file.read(4)
        self.is_parquet = magic == b"PAR1"
        self._is_gzip = magic[:2] == b"\x1f\x8b"
        self._kind = "Parquet" if self.is_parquet else "gzipped CSV" if self._is_gzip else "CSV"
        schema = self._schema()
        self.columns = [name for name, _ in schema]
        """Names of its columns, in file order."""
        self.types = dict(schema)
        """Arrow type of each column: text in a CSV file."""

    def fault(self, value: str, rule: str, remedy: str, line: int | None = None) -> LaunchLogError:
        """The error to raise: what was wrong with this file, where, the rule, the remedy."""
        where = self.name if line is None else f"{self.name}:{line}"
        value, rule = (shown(text, _LONGEST_MESSAGE) for text in (value, rule))
        return LaunchLogError(Fault("replay.file", value, rule, remedy, where))

    def sha256(self) -> str:
        """Digest of the file as it lies on disk, in hex."""
        with self._as_launch_log_error(), self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _schema(self) -> list[tuple[str, Any]]:
        with self._as_launch_log_error():
            if self.is_parquet:
                return column_types.parquet_columns(pq.ParquetFile(self.path))
            with self._open_text() as file:
                return [(name, pa.string()) for name in CsvText(file).columns]

    def blocks(self, wanted: list[str], leftovers: Leftovers) -> Iterator[RawBlock]:
        """All rows, a block at a time, the wanted columns only; lines are counted from 1, rows of Parquet too.

        A blank line may come as a row of empty texts; lines that are no rows are only counted in ``leftovers``.
        Raises:
            LaunchLogError: the file turns out to be broken on the way.
        """
        with self._as_launch_log_error():
            if self.is_parquet:
                texts = [name for name in wanted if column_types.is_text(self.types[name])]
                yield from parquet_rows.blocks(self.path, wanted, texts)
                return
            with self._open_text() as file:
                yield from CsvText(file).blocks(wanted, leftovers)

    @contextmanager
    def _open_text(self) -> Iterator[ByteStream]:
        if self._is_gzip:
            with gzip.open(self.path) as unzipped:
                yield _Expanding(unzipped, max(_LEAST_EXPANDED_B, MOST_EXPANSION * self.path.stat().st_size))
        else:
            with self.path.open("rb") as file:
                yield file

    @contextmanager
    def _as_launch_log_error(self) -> Iterator[None]:
        remedy = "name a whole CSV (UTF-8, gzipped or not) or Parquet file"
        try:
            yield
        except UnreadableLogError as error:
            raise self.fault("", error.rule, error.remedy, error.line) from error
        except FileNotFoundError as error:
            raise self.fault("", "no such file", "relative paths start at the folder of the scenario file") from error
        except EOFError as error:
            raise self.fault("", "is a gzip file that is cut short", "copy or make it again, whole") from error
        except (gzip.BadGzipFile, zlib.error) as error:
            rule = f"is a gzip file that is damaged, or has something else behind its end ({error})"
            raise self.fault("", rule, "copy or make it again, whole; gzip -t tests it") from error
        except OSError as error:
            raise self.fault("", f"cannot be read: {error.strerror or error}", remedy) from error
        except (pa.ArrowException, ValueError) as error:
            raise self.fault(
                "", f"cannot be read as {self._kind}: {str(error).partition(chr(10))[0]}", remedy
            ) from error


class _Expanding:
    """A gzipped file that may expand to so many bytes: a few kilobytes of gzip can hold gigabytes of nothing."""

    def __init__(self, file: gzip.GzipFile, most_b: int) -> None:
        self._file = file
        self._most_b = most_b

    def read(self, size: int, /) -> bytes:
        return self._counted(self._file.read(size))

    def readline(self, size: int, /) -> bytes:
        return self._counted(self._file.readline(size))

    def _counted(self, data: bytes) -> bytes:
        self._most_b -= len(data)
        if self._most_b < 0:
            raise expands_too_much("unpack it and see; a log that is not gzipped may have any size")
        return data
