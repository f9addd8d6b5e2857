"""What a log format must say of itself, and how the columns of a file are matched with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from twin.io.launch_logs.column_types import Kind, misfit
from twin.io.launch_logs.log_file import LogFile
from twin.io.launch_logs.row_checks import Block
from twin.units import nearest

Role = Literal["job_id", "group", "submit_s", "start_s", "nodes", "gpus", "work_s"]

_SHOWN = 20  # column names in a message
_LONGEST_SHOWN = 40  # characters of one


@dataclass(frozen=True, slots=True)
class LogColumn:
    """A column of a format.

    Args:
        role: what it is read for.
        names: that it may have, one of them in a file.
        kind: what its values are.
        is_needed: whether there is no log without it.
        unless: the role of a column that can stand in for it.
    """

    role: Role
    names: tuple[str, ...]
    kind: Kind
    is_needed: bool = True
    unless: Role | None = None


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
            LaunchLogError: a column is missing, there twice, or of a type that cannot be read; the message names the
                format the columns look like.
        """
        found = log.columns
        roles: dict[Role, str] = {}
        for column in self.columns:
            present = [name for name in found if name in column.names]
            if len(present) > 1:
                rule = f"has the columns {' and '.join(present)}, but the {self.name} format takes one of them"
                raise log.fault("", rule, "drop the other, or rename it")
            if present:
                roles[column.role] = present[0]
        if missing := self._missing(roles):
            free = [name for name in found if name not in roles.values()]
            near = {column: _near(column, free) for column in missing}
            wanted = ", ".join(_wanted(column, near[column]) for column in missing)
            rule = f"lack what the {self.name} format needs: {wanted}"
            raise log.fault(f"columns {_shown(found)}", rule, _remedy(found, others, near))
        self._check_types(log, roles)
        return roles

    def fits(self, found: list[str]) -> bool:
        """Whether all needed columns are there."""
        return not self._missing({column.role for column in self.columns if not set(column.names).isdisjoint(found)})

    def _missing(self, roles: Collection[Role]) -> list[LogColumn]:
        return [
            column
            for column in self.columns
            if column.is_needed and column.role not in roles and column.unless not in roles
        ]

    def _check_types(self, log: LogFile, roles: Mapping[Role, str]) -> None:
        for column in self.columns:
            name = roles.get(column.role)
            if name is not None and (wrong := misfit(column.kind, log.types[name])):
                raise log.fault(f"column {name} of type {log.types[name]}", *wrong)


def _near(column: LogColumn, found: list[str]) -> str | None:
    """The column that was found and looks most like this one."""
    return next((near for name in column.names if (near := nearest(name, found))), None)


def _wanted(column: LogColumn, near: str | None) -> str:
    names = (*column.names, *(() if column.unless is None else (column.unless,)))
    return " or ".join(names) + (f" (not {near!r})" if near else "")


def _remedy(found: list[str], others: Sequence[LogFormat], near: Mapping[LogColumn, str | None]) -> str:
    for other in others:
        if other.fits(found):
            return f"these are columns of the format {other.name}: set replay.format to it"
    if len(found) == 1 and any(mark in found[0] for mark in ";\t|"):
        return "separate the columns by commas"
    if renamed := [f"{name!r} to {column.names[0]}" for column, name in near.items() if name]:
        return f"rename {', '.join(renamed)} in the header line"
    return "name the columns in a header line, one without #, or set replay.format to the format of the log"


def _shown(found: list[str]) -> str:
    names = [name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "..." for name in found[:_SHOWN]]
    return ", ".join(names) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
