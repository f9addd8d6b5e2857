"""Errors a user can act on: what was wrong, where, the rule, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class TwinError(Exception):
    """Any fault of the input or of the files around a run; its text is the whole message for the user."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of one value.

    Args:
        key: dotted path of the key, as in ``jobs[0].checkpoint.size``; empty for the whole document.
        value: the value as the user wrote it, shortened.
        rule: what the value must be.
        remedy: what to do about it.
        where: ``file:line:column`` or another place; empty when the scenario came from memory.
    """

    key: str
    value: str
    rule: str
    remedy: str
    where: str = ""

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.where, self.key) if part)
        found = f"{self.value}: " if self.value else ""
        return f"{place}: {found}{self.rule}; {self.remedy}" if place else f"{found}{self.rule}; {self.remedy}"


class ScenarioError(TwinError):
    """A scenario that cannot be run; lists every fault found, one a line."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class LaunchLogError(TwinError):
    """A launch log that cannot be read as the format it is said to have."""


class RunDirectoryError(TwinError):
    """A run directory that cannot be written, or is not one."""


class StalledError(TwinError):
    """A fleet that can never move again, or an instant that never ends."""
