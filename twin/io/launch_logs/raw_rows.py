"""Rows of a launch log as they come out of a file of any kind, and what makes a file unreadable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_EXPANSION = 50  # times its size that a file may unpack to: logs are seen to take three to ten times


class UnreadableLogError(Exception):
    """A file that is no log; who knows its name adds that.

    Args:
        rule, remedy: as in a ``Fault``.
        line: where, from 1; None for the file as a whole.
    """

    def __init__(self, rule: str, remedy: str, line: int | None) -> None:
        super().__init__(rule)
        self.rule = rule
        self.remedy = remedy
        self.line = line


@dataclass(frozen=True, slots=True)
class RawBlock:
    """Consecutive rows: the columns asked for, as Arrow arrays, and the line of each row."""

    columns: dict[str, Any]
    lines: np.ndarray


def expands_too_much(remedy: str) -> UnreadableLogError:
    """The error of a file that unpacks to more than ``MOST_EXPANSION`` times its size."""
    return UnreadableLogError(f"expands to more than {MOST_EXPANSION} times its size, as no log does", remedy, None)
