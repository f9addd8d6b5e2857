"""Columns of a launch log -> checked values; every row that fails is dropped with a reason, never silently."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twin.io.launch_logs.log_file import RawBlock
from twin.scenario import LEAST

_LONGEST_NAME = 200  # characters, as for a group of the scenario
_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class Dropped:
    """Rows dropped for one reason.

    Args:
        first_line: line of the first of them, from 1; the row of a Parquet file.
        example: the value there, shortened.
    """

    reason: str
    rows: int
    first_line: int
    example: str

    def sentence(self) -> str:
        """The same for people."""
        return f"{self.rows}: {self.reason} (first on line {self.first_line}: {self.example!r})"


@dataclass(slots=True)
class Tally:
    """Rows met so far: all, those that could not be read, and those left out, by reason.

    Args:
        blank_rows: lines without a value, which are not counted as rows.
        repeated_rows: rows kept although they equal another one.
    """

    rows_read: int = 0
    unreadable: int = 0
    blank_rows: int = 0
    repeated_rows: int = 0
    _dropped: dict[str, Dropped] = field(default_factory=dict)

    def drop(self, reason: str, rows: int, line: int, value: str) -> None:
        """Count rows dropped for one reason; of all examples, the one on the first line is kept."""
        shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
        known = self._dropped.get(reason)
        if known is not None:
            rows += known.rows
            line, shown = min((line, shown), (known.first_line, known.example))
        self._dropped[reason] = Dropped(reason, rows, line, shown)

    def reasons(self) -> list[Dropped]:
        """Every reason, the most frequent first."""
        return sorted(self._dropped.values(), key=lambda dropped: (-dropped.rows, dropped.reason))


class Block:
    """Consecutive rows of a log: columns by role, and which rows still stand.

    Args:
        raw: the columns as read, by name.
        names: name of the column in each role.
        tally: where the rows are counted.
    """

    def __init__(self, raw: RawBlock, names: Mapping[Any, str], tally: Tally) -> None:
        self._names = names
        self._columns = {role: raw.columns[name] for role, name in names.items()}
        self._tally = tally
        self.lines = raw.lines
        """Line of each row in the file, from 1."""
        self.stands = ~self._blank()
        """Which rows have passed every check so far."""
        tally.rows_read += int(self.stands.sum())
        tally.blank_rows += int((~self.stands).sum())

    def __contains__(self, role: str) -> bool:
        return role in self._columns

    def _blank(self) -> np.ndarray:
        if not all(_is_text(column) for column in self._columns.values()):
            return np.zeros(len(self.lines), dtype=bool)  # Parquet: rows are rows
        return np.asarray(
            np.logical_and.reduce([np.asarray(pc.equal(column, "")) for column in self._columns.values()])
        )

    def drop(self, failed: np.ndarray, reason: str, role: str) -> None:
        """Drop the rows that still stood and cannot be read."""
        self._tally.unreadable += self.leave_out(failed, reason, role)

    def leave_out(self, failed: np.ndarray, reason: str, role: str) -> int:
        """Leave out the rows that still stood and are not wanted; how many they were."""
        rows = np.flatnonzero(failed & self.stands)
        if len(rows):
            value = self._columns[role][int(rows[0])].as_py()
            self._tally.drop(reason, len(rows), int(self.lines[rows[0]]), "" if value is None else str(value))
            self.stands[rows] = False
        return len(rows)

    def filled(self, texts: Any | None, default: str) -> Any:
        """The texts, with the default for empty ones; the default alone if there are none."""
        if texts is None:
            texts = pa.repeat("", len(self.lines))
        return pc.if_else(pc.equal(texts, ""), default, texts)

    def numbers(self, role: str, at_most: float, *, above_0: bool = False) -> np.ndarray:
        """A column of finite numbers in [0, at_most], or (0, at_most]; nan where the row was dropped."""
        values = _parsed(self._columns[role], pa.float64(), _float)
        self._check(role, values, at_most, above_0=above_0)
        return np.where(self.stands, values, np.nan)

    def whole_numbers(self, role: str, at_most: int) -> np.ndarray:
        """A column of integers in [1, at_most], which may be written 8.0; 1 where the row was dropped."""
        values = _parsed(self._columns[role], pa.float64(), _float)
        self._check(role, values, at_most, above_0=True)
        whole = np.where(self.stands, values, 1.0)
        self.drop(whole != np.floor(whole), f"{self._names[role]} is not a whole number", role)
        return np.where(self.stands, whole, 1.0).astype(np.int64)

    def wall_times(self, role: str) -> np.ndarray:
        """A column of ISO date-times without zone, as seconds since 1970 on the same clock; nan where dropped."""
        parsed = _parsed(self._columns[role], pa.timestamp("us"), _seconds_of_date_time)
        values = np.where(parsed >= 0.0, parsed, np.nan)
        self.drop(np.isnan(values), f"{self._names[role]} is no date-time without zone from 1970 on", role)
        return values

    def texts(self, role: str, *, may_be_empty: bool = False) -> Any:
        """A column of names, trimmed, as an Arrow array of strings."""
        texts = pc.utf8_trim_whitespace(pc.fill_null(self._columns[role].cast(pa.string()), ""))
        lengths = np.asarray(pc.utf8_length(texts))
        self.drop(lengths > _LONGEST_NAME, f"{self._names[role]} is longer than {_LONGEST_NAME} characters", role)
        if not may_be_empty:
            self.drop(lengths == 0, f"{self._names[role]} is empty", role)
        return texts

    def _check(self, role: str, values: np.ndarray, at_most: float, *, above_0: bool) -> None:
        name = self._names[role]
        self.drop(~np.isfinite(values), f"{name} is not a finite number", role)
        self.drop(values < 0.0, f"{name} is negative", role)
        if above_0:
            self.drop(values == 0.0, f"{name} is 0", role)
            self.drop(values < LEAST, f"{name} is below {LEAST:g}", role)
        self.drop(values > at_most, f"{name} is above {at_most:g}", role)


def _is_text(column: Any) -> bool:
    return bool(pa.types.is_string(column.type))


def _parsed(column: Any, kind: Any, parse: Callable[[str], float]) -> np.ndarray:
    """A column as floats; date-times as seconds since 1970, what cannot be parsed as nan.

    Arrow parses a block at once but gives up at the first bad value; then each value is parsed by itself. Both accept
    the same values and round alike, so that a row does not depend on its neighbours.
    """
    if not _is_text(column) and kind == pa.float64():
        return np.asarray(column.cast(kind, safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    texts = pc.utf8_trim_whitespace(pc.fill_null(column.cast(pa.string()), ""))
    try:
        values = texts.cast(kind)
    except pa.ArrowInvalid:
        return np.array([parse(text) for text in texts.to_pylist()])
    if kind == pa.float64():
        return np.asarray(values.to_numpy(zero_copy_only=False))
    return np.asarray(values.cast(pa.int64())) / 1e6


def _float(text: str) -> float:
    if "_" in text:  # Python reads 1_000
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def _seconds_of_date_time(text: str) -> float:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return math.nan if parsed.tzinfo else parsed.replace(tzinfo=UTC).timestamp()
