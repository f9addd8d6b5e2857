"""What a log format must say of itself, and how the columns of a file are matched with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from twin.io.launch_logs.log_file import LogFile
from twin.io.launch_logs.row_checks import Block

Role = Literal["job_id", "group", "submit_s", "start_s", "nodes", "gpus", "work_s"]

_SHOWN = 20  # column names in a message
_LONGEST_SHOWN = 40  # characters of one


@dataclass(frozen=True, slots=True)
class LogColumn:
    """A column of a format: what it is read for, and the names it may have, one of them in a file."""

    role: Role
    names: tuple[str, ...]
    is_needed: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one block as jobs; rows that no longer stand hold anything.

    Args:
        job_ids, groups: Arrow arrays of strings; None in a log without them; an empty group takes the default.
        submit_s, start_s: times on the clock of the log [s]; start_s is None in a log without.
        gpus, nodes: sizes.
        work_s: full-speed work [s].
    """

    job_ids: Any | None
    groups: Any | None
    submit_s: np.ndarray
    start_s: np.ndarray | None
    gpus: np.ndarray
    nodes: np.ndarray
    work_s: np.ndarray


@dataclass(frozen=True, slots=True)
class LogFormat:
    """One log format.

    Args:
        name: as in ``replay.format``.
        rows: a block and the GPUs per node -> jobs; drops the rows it cannot read.
        group: group of jobs without one; None for the stem of the file name.
        has_wall_times: submissions are date-times, read as seconds since 1970.
        time_zone: what is known of the clock of the log.
        notes: name of the column in each role -> what was assumed, in sentences.
    """

    name: str
    columns: tuple[LogColumn, ...]
    rows: Callable[[Block, int], Rows]
    group: str | None
    has_wall_times: bool
    time_zone: str
    notes: Callable[[Mapping[Role, str]], tuple[str, ...]]

    def match(self, log: LogFile, others: Sequence[LogFormat]) -> dict[Role, str]:
        """Name of the column in each role.

        Raises:
            LaunchLogError: a column is missing, or there twice; the message names the format the columns look like.
        """
        found = log.columns
        roles: dict[Role, str] = {}
        missing = []
        for column in self.columns:
            present = [name for name in found if name in column.names]
            if len(present) > 1:
                rule = f"has the columns {' and '.join(present)}, but the {self.name} format takes one of them"
                raise log.fault("", rule, "drop the other, or rename it")
            if present:
                roles[column.role] = present[0]
            elif column.is_needed:
                missing.append(column)
        if missing:
            rule = f"lack what the {self.name} format needs: {', '.join(_wanted(column, found) for column in missing)}"
            raise log.fault(f"columns {_shown(found)}", rule, _remedy(found, others))
        return roles

    def fits(self, found: list[str]) -> bool:
        """Whether all needed columns are there."""
        return all(any(name in found for name in column.names) for column in self.columns if column.is_needed)


def _wanted(column: LogColumn, found: list[str]) -> str:
    near = [match for name in column.names for match in get_close_matches(name, found, n=1)]
    return " or ".join(column.names) + (f" (not {near[0]!r})" if near else "")


def _remedy(found: list[str], others: Sequence[LogFormat]) -> str:
    for other in others:
        if other.fits(found):
            return f"these are columns of the format {other.name}: set replay.format to it"
    if len(found) == 1 and any(mark in found[0] for mark in ";\t|"):
        return "separate the columns by commas"
    return "name the columns in a header line, or set replay.format to the format of the log"


def _shown(found: list[str]) -> str:
    names = [name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "..." for name in found[:_SHOWN]]
    return ", ".join(names) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
