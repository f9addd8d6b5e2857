"""Errors a user can act on: what was wrong, where, the rule, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_FAULTS_SHOWN = 50


class TwinError(Exception):
    """Any fault of the input or of the files around a run; its text is the whole message for the user."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of one value; ``str`` of it is a sentence: place: key: 'value' rule; remedy.

    Args:
        key: path of the key, as in ``jobs[0].checkpoint.size``; empty for the whole document.
        value: the value as the user wrote it, shortened; empty for a missing one.
        rule: what is wrong with the value, continuing the sentence: ``must be a time``, ``is missing``.
        remedy: what to do about it.
        where: ``file:line:column`` or another place; empty when the scenario came from memory.
        reads: paths of the other keys the rule read; were one of them at fault itself, this fault may be none.
    """

    key: str
    value: str
    rule: str
    remedy: str
    where: str = ""
    reads: tuple[str, ...] = ()

    def __str__(self) -> str:
        places = "".join(f"{part}: " for part in (self.where, self.key) if part)
        found = f"'{self.value}' " if self.value else ""
        return f"{places}{found}{self.rule}; {self.remedy}"


class ScenarioError(TwinError):
    """A scenario that cannot be run; lists every fault found, one a line.

    A line gives file, line and column, the key, the value, the rule that it breaks, and what to do. ``twin validate``
    finds the same faults without a run.

    Args:
        unlisted: number of faults found beyond ``faults``; of a text full of them, not every one is worth a place.
    """

    def __init__(self, faults: Sequence[Fault], unlisted: int = 0) -> None:
        self.faults = tuple(faults)
        self.unlisted = unlisted
        shown = self.faults[:MOST_FAULTS_SHOWN]
        lines = [str(fault) for fault in shown]
        if more := len(self.faults) - len(shown) + unlisted:
            lines.append(f"and {more} more faults")
        super().__init__("\n".join(lines))


class LaunchLogError(TwinError):
    """A launch log that cannot be read as the format it is said to have, or that leaves no job.

    Check ``replay.file``, ``replay.format`` and the header line. Single rows that cannot be read are dropped, and
    counted in the import report.
    """

    def __init__(self, fault: Fault) -> None:
        self.faults = (fault,)
        super().__init__(str(fault))


class RunDirectoryError(TwinError):
    """A run directory that cannot be written, or is not one.

    A name that is taken by another run is freed by ``--force``; a folder that holds no run is never replaced.
    """


class StalledError(TwinError):
    """A fleet that can never move again, or an instant that never ends.

    Mostly the idle draw of all jobs together reaches the cap, so that no computing job has a speed above 0 once nobody
    writes: raise the cap, or run fewer jobs at once.
    """
