"""The text of a CSV file -> its columns, block by block, each row with its line; what is no row is counted.

A block without quotes is split by Arrow, ten times as fast as by the csv module; blocks with quotes go through the
latter, since a quoted value may run over lines. Where both could be used they give the same rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from twin.io.launch_logs.raw_rows import RawBlock, UnreadableLogError

BLOCK_B = 1 << 20  # bytes parsed at a time; also the longest line
_BOM = b"\xef\xbb\xbf"
_COMMENT = "#"
_SHOWN = 300  # characters of a broken line worth keeping


@dataclass(slots=True)
class Broken:
    """Lines that are no rows for one reason: how many, and the first of them."""

    lines: int
    first_line: int
    text: str


@dataclass(slots=True)
class Leftovers:
    """Lines met so far that gave no row."""

    blank: int = 0
    comments: int = 0
    broken: dict[str, Broken] = field(default_factory=dict)

    def lines(self) -> int:
        """All of them."""
        return self.blank + self.comments + sum(broken.lines for broken in self.broken.values())

    def add(self, reason: str, line: int, text: str) -> None:
        """Count a line that is no row, unless it is a comment."""
        if text.startswith(_COMMENT):
            self.comments += 1
        elif known := self.broken.get(reason):
            known.lines += 1
        else:
            self.broken[reason] = Broken(1, line, text[:_SHOWN])


class ByteStream(Protocol):
    """A file open for reading bytes."""

    def read(self, size: int, /) -> bytes: ...

    def readline(self, size: int, /) -> bytes: ...


class CsvText:
    """A CSV file that is being read: its header line at once, its rows on request.

    Args:
        file: its bytes, from the start.
    Raises:
        UnreadableLogError: no header line, or one that is not CSV in UTF-8.
    """

    def __init__(self, file: ByteStream) -> None:
        self._file = file
        self.columns, self._header_line = self._header()
        """Names of the columns; comments and blank lines may stand before them."""

    def _header(self) -> tuple[list[str], int]:
        read = number = 0
        while line := self._file.readline(BLOCK_B):
            number += 1
            read += len(line)
            if number == 1:
                if line[:2] in {b"\xff\xfe", b"\xfe\xff"} and b"\0" in line:
                    raise UnreadableLogError("is UTF-16 or UTF-32 text, not UTF-8", "save it as CSV in UTF-8", number)
                line = line.removeprefix(_BOM)
            if b"\0" in line:
                raise UnreadableLogError("is binary, not a table", "name a CSV or Parquet file", number)
            if read >= BLOCK_B:
                rule = f"has no header line in its first {BLOCK_B} bytes"
                raise UnreadableLogError(rule, "begin the file with the names of its columns", number)
            if line.strip() and not line.startswith(_COMMENT.encode()):
                return _names(line, number), number
        raise UnreadableLogError("is empty", "name a log with a header line and one row per job", max(number, 1))

    def blocks(self, wanted: list[str], leftovers: Leftovers) -> Iterator[RawBlock]:
        """All rows behind the header, the wanted columns only, as text.

        A blank line may come as a row of empty texts; lines that are no rows are only counted in ``leftovers``. A block
        comes after every ``BLOCK_B`` bytes, though it may have no row.
        Raises:
            UnreadableLogError: a line that is not UTF-8 or too long, or a quote that is never closed.
        """
        places = {name: self.columns.index(name) for name in wanted}  # by place: other columns may share a name
        pieces = self._pieces()
        line = self._header_line + 1
        for piece in pieces:
            if b'"' in piece or piece.count(b"\r") != piece.count(b"\r\n"):
                quoted = _QuotedRows(piece, pieces, line, len(self.columns), leftovers)
                yield quoted.block(places)
                line += quoted.lines_taken
            else:
                yield _plain_block(piece, line, places, len(self.columns), leftovers)
                line += _lines_in(piece)

    def _pieces(self) -> Iterator[bytes]:
        """Whole lines of UTF-8, about ``BLOCK_B`` bytes at a time."""
        line = self._header_line + 1
        rest = b""
        while data := self._file.read(BLOCK_B):
            text = rest + data
            cut = text.rfind(b"\n") + 1
            piece, rest = text[:cut], text[cut:]
            if len(rest) > BLOCK_B:
                _check_utf8(piece, line)
                rule = f"the line is longer than {BLOCK_B} bytes"
                raise UnreadableLogError(rule, "end each row with a line feed", line + _lines_in(piece))
            if piece:
                _check_utf8(piece, line)
                yield piece
                line += _lines_in(piece)
        if rest:
            _check_utf8(rest, line)
            yield rest


class _QuotedRows:
    """The rows of one piece of text with quotes, and of as much of the next ones as its last row runs into."""

    def __init__(self, piece: bytes, more: Iterator[bytes], line: int, fields: int, leftovers: Leftovers) -> None:
        self._piece = piece
        self._more = more
        self._first_line = line
        self._fields = fields
        self._leftovers = leftovers
        self._closed = 0  # lines up to the end of the last row that came out
        self.lines_taken = 0
        """Lines of the text handed to the parser."""

    def block(self, places: dict[str, int]) -> RawBlock:
        rows: list[list[str]] = []
        lines: list[int] = []
        for line, row in self._rows():
            if len(row) == self._fields:
                rows.append(row)
                lines.append(line)
            elif (text := ",".join(row)).strip():
                self._leftovers.add(_other_fields(self._fields), line, text)
            else:
                self._leftovers.blank += 1
        columns = {name: pa.array([row[place] for row in rows], pa.string()) for name, place in places.items()}
        return RawBlock(columns, np.array(lines, dtype=np.int64))

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line and fields of each row."""
        reader = csv.reader(self._lines())
        while True:
            try:
                for row in reader:
                    line = self._first_line + self._closed
                    self._closed = reader.line_num
                    yield line, row
            except csv.Error as error:
                if "limit" in str(error):  # the other error of the parser is a carriage return
                    raise self._open_quote() from error
                self._leftovers.add("a carriage return splits the line", self._first_line + self._closed, "\r")
                self._closed = reader.line_num
            else:
                return

    def _lines(self) -> Iterator[str]:
        """The lines of the piece, and on as long as the last row is not closed."""
        piece = self._piece
        while True:
            before = self.lines_taken
            self.lines_taken += _lines_in(piece)
            yield from io.StringIO(piece.decode("utf-8"), newline="\n")
            if self._closed == self.lines_taken:
                return
            piece = next(self._more, b"")
            if not piece or self._closed < before:
                raise self._open_quote()

    def _open_quote(self) -> UnreadableLogError:
        rule = f"a quoted value that begins here is longer than {csv.field_size_limit()} characters, or never ends"
        return UnreadableLogError(rule, "close the quote, or drop it", self._first_line + self._closed)


def _plain_block(piece: bytes, first_line: int, places: dict[str, int], fields: int, leftovers: Leftovers) -> RawBlock:
    """The rows of whole lines without a quote."""
    skipped: list[int] = []  # rows left out by the parser, from 1

    def skip(row: Any) -> str:
        skipped.append(row.number)
        if row.text.strip():
            leftovers.add(_other_fields(fields), first_line + row.number - 1, row.text)
        else:
            leftovers.blank += 1
        return "skip"

    keys = {name: str(place) for name, place in places.items()}
    table = arrow_csv.read_csv(
        pa.BufferReader(piece),  # memory, never a Python file: threads of Arrow must not meet errors of Python
        # without threads, or the parser does not know the number of a row
        arrow_csv.ReadOptions(
            use_threads=False, block_size=len(piece) + 1, column_names=[str(place) for place in range(fields)]
        ),
        # blank lines must come as rows, or lines could not be counted
        arrow_csv.ParseOptions(ignore_empty_lines=False, quote_char=False, invalid_row_handler=skip),
        arrow_csv.ConvertOptions(
            include_columns=list(keys.values()),
            column_types=dict.fromkeys(keys.values(), pa.string()),
            strings_can_be_null=False,
            check_utf8=False,
        ),
    )
    rows = np.arange(table.num_rows)
    before = np.array(skipped, dtype=np.int64) - np.arange(1, len(skipped) + 1)  # good rows before each
    lines = first_line + rows + np.searchsorted(before, rows, side="right")
    return RawBlock({name: table.column(key).combine_chunks() for name, key in keys.items()}, lines)


def _names(line: bytes, number: int) -> list[str]:
    try:
        text = line.decode("utf-8")
        return [name.strip() for name in next(csv.reader([text.strip("\r\n")]))]
    except UnicodeDecodeError as error:
        rule = "the header line is not UTF-8 text"
        raise UnreadableLogError(rule, "name a CSV or Parquet file in UTF-8", number) from error
    except csv.Error as error:
        rule = f"the header line is not CSV ({error})"
        raise UnreadableLogError(rule, "name a CSV file with lines that end in LF or CRLF", number) from error


def _check_utf8(piece: bytes, first_line: int) -> None:
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        rule = f"byte 0x{piece[error.start]:02x} of the line is not UTF-8"
        line = first_line + piece.count(b"\n", 0, error.start)
        raise UnreadableLogError(rule, "save the log in UTF-8", line) from error


def _lines_in(piece: bytes) -> int:
    return piece.count(b"\n") + (not piece.endswith(b"\n"))


def _other_fields(fields: int) -> str:
    return f"the line has not {fields} fields like the header"
