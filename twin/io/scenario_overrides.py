"""Overrides of single values: ``power.cap=12MW``, ``jobs.llm.launch.at[1]=3 s``, ``power.feeders.row-1.cap=8MW``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from twin.errors import Fault
from twin.io import strict_yaml
from twin.io.scenario_faults import described, dotted
from twin.io.strict_yaml import shown
from twin.scenario.keys import field_of, keys, place_of, section_at
from twin.units import nearest

Path = tuple[str | int, ...]

_FEEDERS = "power.feeders."
_STEP = re.compile(r"\.?([^.\[\]]+)|\[([0-9]{1,9})\]")


@dataclass(frozen=True, slots=True)
class Override:
    """A value set from outside the file.

    Args:
        label: the override as it is named in a fault; in a variant, the variant.
        path: of the value it sets.
        text: the value as written, if a scalar.
        place: where it is written in the file, as ``line:column``; empty for one set from outside.
    """

    label: str
    path: Path
    text: str
    place: str = ""

    @property
    def where(self) -> str:
        """Place and label."""
        return f"{self.place}, {self.label}" if self.place else self.label

    @property
    def key(self) -> str:
        """The path as text, as in ``jobs[0].nodes``."""
        return dotted(self.path)


def apply(values: dict[str, Any], texts: Sequence[str]) -> tuple[list[Override], list[Fault]]:
    """Set each override in ``values``, in order; what was set, and the faults of those that could not be."""
    done: list[Override] = []
    faults: list[Fault] = []
    for text in texts:
        label = f"--set {shown(text)}"
        try:
            done.append(_apply_text(values, text, label))
        except _Refused as refused:
            faults.extend(replace(fault, where=label) for fault in refused.faults)
    return done, faults


def apply_values(
    values: dict[str, Any], changes: Mapping[str, Any], label: str, places: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[Override], list[Fault]]:
    """The same for values by their keys, as those of a variant.

    Args:
        label: what their faults are to be called.
        places: of keys that stand in the file, as ``line:column``.
    """
    done: list[Override] = []
    faults: list[Fault] = []
    for key, value in changes.items():
        override = Override(label, (), "" if isinstance(value, dict | list) else described(value), places.get(key, ""))
        try:
            path = tuple(_path(values, key.strip()))
            _put(values, path, value)
            done.append(replace(override, path=path))
        except _Refused as refused:
            faults.extend(replace(fault, where=override.where) for fault in refused.faults)
    return done, faults


def recorded(overrides: Sequence[Override], resolved: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each key that was set, in order: its path, its value in the resolved scenario, and the SI unit of that.

    A key that was removed has the value of its default, or None.
    """
    units = _units()
    found = []
    for override in {override.path: override for override in overrides}.values():
        place = place_of(override.path)
        unit = units.get(place) or units.get(place.removesuffix("[]"), "")
        found.append({"key": override.key, "value": _value_at(resolved, override.path), "unit": unit})
    return found


@cache
def _units() -> Mapping[str, str]:
    """SI unit of each key."""
    return {key.path: key.unit for key in keys()}


def _value_at(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


class _Refused(Exception):
    def __init__(self, *faults: Fault) -> None:
        super().__init__()
        self.faults = faults


def _apply_text(values: dict[str, Any], text: str, label: str) -> Override:
    key, equals, value_text = text.partition("=")
    if not equals:
        raise _Refused(Fault("", shown(text), "must be key=value", "write it as in power.cap=12MW"))
    path = tuple(_path(values, key.strip()))
    _put(values, path, _value(value_text, dotted(path)))
    return Override(label, path, value_text.strip())


def _put(values: dict[str, Any], path: Path, value: Any) -> None:
    parent: Any = values
    for depth, following in enumerate(path[1:], start=1):
        parent = _child(parent, path[:depth], is_list=isinstance(following, int))
    _set(parent, path, value)


def _path(values: dict[str, Any], key: str) -> Iterator[str | int]:
    """The steps of a path; a group of jobs may be called by its name, which becomes its index."""
    rest = key
    if key.startswith("jobs."):
        index, rest = _group(values, key.removeprefix("jobs."))
        yield from ("jobs", index)
    elif key.startswith(_FEEDERS):
        feeder, rest = _feeder(values, key.removeprefix(_FEEDERS))
        yield from ("power", "feeders", feeder)
    position = 0
    while position < len(rest) or not key:
        step = _STEP.match(rest, position)
        if step is None or (rest == key and position == 0 and key[0] in ".["):
            raise _Refused(Fault(shown(key), "", "is no path of keys", "write it as in power.cap or jobs[0].nodes"))
        yield step[1] if step[2] is None else int(step[2])
        position = step.end()


def _group(values: dict[str, Any], path: str) -> tuple[int, str]:
    """Index of the group whose name begins the path, and the rest of the path."""
    groups = values.get("jobs")
    named = enumerate(groups) if isinstance(groups, list) else ()
    index_of = {str(group["name"]): i for i, group in named if isinstance(group, dict) and group.get("name")}
    name = _longest(index_of, path)
    if name is None:
        asked = path.partition(".")[0]
        meant = nearest(asked, list(index_of)) or next(iter(index_of), None)
        rule = f"names no group of jobs; there are {', '.join(map(shown, index_of)) or 'none'}"
        remedy = f"write jobs.{shown(meant)}" if meant else "add the group to the file"
        raise _Refused(Fault(f"jobs.{shown(asked)}", "", rule, remedy))
    return index_of[name], path[len(name) :]


def _feeder(values: dict[str, Any], path: str) -> tuple[str, str]:
    """Name of the feeder that begins the path, and the rest of the path; a new one can only be set whole."""
    power = values.get("power")
    feeders = power.get("feeders") if isinstance(power, dict) else None
    known = [name for name in feeders if isinstance(name, str) and name] if isinstance(feeders, dict) else []
    name = _longest(known, path)
    if name is not None:
        return name, path[len(name) :]
    asked, dot, _ = path.partition(".")
    if not dot:
        return path, ""
    meant = nearest(asked, known)
    rule = f"names no feeder of the file; there are {', '.join(map(shown, known)) or 'none'}"
    whole = f"{_FEEDERS}{shown(asked)}={{cap: 8 MW}}"
    remedy = f"write {_FEEDERS}{shown(meant)}" if meant else f"add one whole, as in {whole}"
    raise _Refused(Fault(f"{_FEEDERS}{shown(asked)}", "", rule, remedy))


def _longest(names: Iterable[str], path: str) -> str | None:
    """The longest of the names that the path begins with; None if it begins with none."""
    return max(
        (name for name in names if path == name or path.startswith((f"{name}.", f"{name}["))), key=len, default=None
    )


def _value(text: str, key: str) -> Any:
    """The value, read like one in a file."""
    if not text.strip():
        raise _Refused(Fault(key, "", "is set to nothing", "give a value, or null to remove the key"))
    document = strict_yaml.read_text(text)
    if document.faults:
        raise _Refused(*(replace(fault, key=f"{key}{_suffix(fault.key)}") for fault in document.faults))
    return document.value


def _suffix(key: str) -> str:
    return f".{key}" if key and not key.startswith("[") else key


def _child(parent: Any, path: tuple[str | int, ...], *, is_list: bool) -> Any:
    """The section or list at this path, one step down; a section that is not there yet is made."""
    last = path[-1]
    if isinstance(last, int):
        _check_index(parent, path)
        child = parent[last]
    else:
        child = parent.get(last)
        if child is None and not is_list:
            child = parent[last] = {}
    if not isinstance(child, list if is_list else dict):
        rule = "is no list, so it has no such item" if is_list else "is no section, so it has no such key"
        key = dotted(path)
        raise _Refused(Fault(key, described(child), rule, f"set it whole, as in {key}={'[..]' if is_list else '{..}'}"))
    return child


def _set(parent: Any, path: tuple[str | int, ...], value: Any) -> None:
    last = path[-1]
    if isinstance(last, int):
        _check_index(parent, path)
        if value is None:
            raise _Refused(Fault(dotted(path), "null", "cannot remove one item of a list", "set the whole list"))
        parent[last] = value
        return
    model = section_at(path[:-1])
    is_known = path[:-1] == ("power", "feeders") or (model is not None and field_of(model, last) is not None)
    if value is None and is_known:
        parent.pop(last, None)
    else:
        parent[last] = value


def _check_index(items: list[Any], path: tuple[str | int, ...]) -> None:
    index, count = path[-1], len(items)
    if isinstance(index, int) and index >= count:
        remedy = f"use [0] to [{count - 1}]" if count else "set the whole list"
        raise _Refused(Fault(dotted(path), "", f"is not there: {dotted(path[:-1])} has {count} items", remedy))
