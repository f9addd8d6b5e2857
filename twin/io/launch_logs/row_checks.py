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

from twin.io.launch_logs import column_types
from twin.io.launch_logs.csv_rows import Leftovers
from twin.io.launch_logs.raw_rows import RawBlock
from twin.io.strict_yaml import shown
from twin.scenario import LEAST, MAX_TIME_S
from twin.scenario.fields import MAX_NAME

_SHOWN = 60  # characters of a value in a message
_DATE_OR_CLOCK = r"^\s*[0-9]+([-/.][0-9]+[-/.]|-[0-9]+:|:)[0-9]"  # 2017-10-09, 9.10.2017, 1-02:03:04, 12:30


@dataclass(frozen=True, slots=True)
class Dropped:
    """Rows dropped for one reason.

    Args:
        first_line: line of the first of them, from 1; the row of a Parquet file.
        example: the value there, shortened, with escapes for what cannot be seen.
    """

    reason: str
    rows: int
    first_line: int
    example: str

    def sentence(self) -> str:
        """The same for people."""
        return f"{self.rows}: {self.reason} (first on line {self.first_line}: '{self.example}')"


@dataclass(slots=True)
class Tally:
    """Rows met so far: all, those that could not be read, and those left out, by reason.

    Args:
        blank_rows: lines without a value, which are not counted as rows.
        comments: lines that begin with # and are not counted as rows.
        repeated_rows: rows kept although they equal another one.
    """

    rows_read: int = 0
    unreadable: int = 0
    blank_rows: int = 0
    comments: int = 0
    repeated_rows: int = 0
    _dropped: dict[str, Dropped] = field(default_factory=dict)
    _remedies: dict[str, str] = field(default_factory=dict)

    def drop(self, reason: str, rows: int, line: int, value: str, remedy: str = "") -> None:
        """Count rows dropped for one reason; of all examples, the one on the first line is kept."""
        example = shown(value, _SHOWN)
        known = self._dropped.get(reason)
        if known is not None:
            rows += known.rows
            line, example = min((line, example), (known.first_line, known.example))
        self._dropped[reason] = Dropped(reason, rows, line, example)
        self._remedies[reason] = remedy

    def drop_leftovers(self, leftovers: Leftovers) -> None:
        """Count the lines of a file that gave no row, once it is read."""
        self.blank_rows += leftovers.blank
        self.comments += leftovers.comments
        for reason, broken in leftovers.broken.items():
            self.rows_read += broken.lines
            self.unreadable += broken.lines
            self.drop(reason, broken.lines, broken.first_line, broken.text)

    def remedy(self) -> str:
        """What to do about the most frequent reason; empty if nothing is known."""
        reasons = self.reasons()
        return self._remedies[reasons[0].reason] if reasons else ""

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
        blank = _blank_rows([raw.columns[name] for name in names.values()])
        rows = np.flatnonzero(~blank)
        tally.rows_read += len(rows)
        tally.blank_rows += len(blank) - len(rows)
        self._names = names
        self._columns = {role: raw.columns[name].take(pa.array(rows)) for role, name in names.items()}
        self._tally = tally
        self.lines = raw.lines[rows]
        """Line of each row in the file, from 1."""
        self.stands = np.ones(len(rows), dtype=bool)
        """Which rows have passed every check so far."""

    def __contains__(self, role: str) -> bool:
        return role in self._columns

    def drop(self, failed: np.ndarray, reason: str, role: str, remedy: str = "") -> None:
        """Drop the rows that still stood and cannot be read."""
        self._tally.unreadable += self.leave_out(failed, reason, role, remedy)

    def leave_out(self, failed: np.ndarray, reason: str, role: str, remedy: str = "") -> int:
        """Leave out the rows that still stood and are not wanted; how many they were."""
        rows = np.flatnonzero(failed & self.stands)
        if len(rows):
            first = int(rows[0])
            value = column_types.text(self._columns[role], first)
            self._tally.drop(reason, len(rows), int(self.lines[first]), value, remedy)
            self.stands[rows] = False
        return len(rows)

    def filled(self, texts: Any | None, default: str) -> Any:
        """The texts, with the default for empty ones; the default alone if there are none."""
        if texts is None:
            texts = pa.repeat("", len(self.lines))
        return pc.if_else(pc.equal(texts, ""), default, texts)

    def numbers(self, role: str, at_most: float, *, above_0: bool = False) -> np.ndarray:
        """A column of finite numbers in [0, at_most], or (0, at_most]; nan where the row was dropped."""
        values = self._floats(role)
        self._check(role, values, at_most, above_0=above_0)
        return np.where(self.stands, values, np.nan)

    def whole_numbers(self, role: str, at_most: int) -> np.ndarray:
        """A column of integers in [1, at_most], which may be written 8.0; 1 where the row was dropped."""
        values = self._floats(role)
        self._check(role, values, at_most, above_0=True)
        whole = np.where(self.stands, values, 1.0)
        self.drop(whole != np.floor(whole), f"{self._names[role]} is not a whole number", role)
        return np.where(self.stands, whole, 1.0).astype(np.int64)

    def wall_times(self, role: str) -> np.ndarray:
        """A column of ISO date-times without zone, as seconds since 1970 on the same clock; nan where dropped."""
        column = self._columns[role]
        parsed = _date_times(column) if _is_text(column) else column_types.floats(column)
        values = np.where((parsed >= 0.0) & (parsed <= MAX_TIME_S), parsed, np.nan)
        self.drop(np.isnan(values), f"{self._names[role]} is no date-time without zone from 1970 on", role)
        return values

    def texts(self, role: str, *, may_be_empty: bool = False) -> Any:
        """A column of names, trimmed, as an Arrow array of strings."""
        texts = pc.utf8_trim_whitespace(pc.fill_null(self._columns[role].cast(pa.string()), ""))
        lengths = np.asarray(pc.utf8_length(texts))
        self.drop(lengths > MAX_NAME, f"{self._names[role]} is longer than {MAX_NAME} characters", role)
        is_visible = np.asarray(pc.utf8_is_printable(texts))
        self.drop(~is_visible, f"{self._names[role]} holds a line break or another character that cannot be seen", role)
        if not may_be_empty:
            self.drop(lengths == 0, f"{self._names[role]} is empty", role)
        return texts

    def _floats(self, role: str) -> np.ndarray:
        column = self._columns[role]
        return _numbers(column) if _is_text(column) else column_types.floats(column)

    def _check(self, role: str, values: np.ndarray, at_most: float, *, above_0: bool) -> None:
        name = self._names[role]
        if (no_number := ~np.isfinite(values)).any():
            self._drop_dates(role, no_number)
            self.drop(no_number, f"{name} is not a finite number", role)
        self.drop(values < 0.0, f"{name} is negative", role)
        if above_0:
            self.drop(values == 0.0, f"{name} is 0", role)
            self.drop(values < LEAST, f"{name} is below {LEAST:g}", role)
        self.drop(values > at_most, f"{name} is above {at_most:g}", role)

    def _drop_dates(self, role: str, no_number: np.ndarray) -> None:
        column = self._columns[role]
        if _is_text(column):
            dates = np.asarray(pc.match_substring_regex(column, _DATE_OR_CLOCK))
            reason = f"{self._names[role]} is a date or a clock time, not a number"
            self.drop(no_number & dates, reason, role, "write every time as a number of seconds after any one moment")


def _blank_rows(columns: list[Any]) -> np.ndarray:
    """Which rows hold nothing; none of a Parquet file with numbers, where rows are rows."""
    if not all(_is_text(column) for column in columns):
        return np.zeros(len(columns[0]), dtype=bool)
    return np.asarray(np.logical_and.reduce([np.asarray(pc.equal(column, "")) for column in columns]))


def _is_text(column: Any) -> bool:
    return bool(pa.types.is_string(column.type))


def _numbers(column: Any) -> np.ndarray:
    """Text as floats; nan for what is no number."""
    return np.asarray(_parsed(column, pa.float64(), _float), dtype=np.float64)


def _date_times(column: Any) -> np.ndarray:
    """Text as seconds since 1970; nan for what is no date-time without zone."""
    parsed = _parsed(column, pa.timestamp("us"), _seconds_of_date_time)
    return parsed if isinstance(parsed, np.ndarray) else column_types.floats(parsed)


def _parsed(column: Any, kind: Any, parse: Callable[[str], float]) -> Any:
    """The texts as an Arrow array of the kind, or else as floats.

    Arrow parses a block at once but gives up at the first bad value; then each value is parsed by itself. Both accept
    the same values and round alike, so that a row does not depend on its neighbours.
    """
    texts = pc.utf8_trim_whitespace(column)
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        return np.array([parse(text) for text in texts.to_pylist()])


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
