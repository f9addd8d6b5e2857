"""Scenario file, or mapping, and overrides -> Scenario; every fault at once, each with its place."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from twin.errors import Fault, ScenarioError
from twin.io import scenario_overrides, strict_yaml
from twin.io.scenario_faults import dotted, field_faults, field_of, section_at
from twin.io.scenario_overrides import Override
from twin.io.strict_yaml import Document, Written, shown
from twin.scenario import Scenario
from twin.units import nearest

_MAX_PATH = 4096


def read(path: str | Path, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of a YAML file.

    Args:
        overrides: ``key=value`` each, as in ``power.cap=12MW`` or ``jobs.llm.nodes=64``; ``null`` removes a key.
    Raises:
        ScenarioError: every fault of the file and of the overrides.
    """
    path = Path(path)
    return _scenario(_document(path), shown(str(path), _MAX_PATH), overrides, path.parent)


def from_mapping(values: Mapping[str, Any], overrides: Sequence[str] = (), folder: Path | None = None) -> Scenario:
    """The scenario of a mapping with the keys of a scenario file.

    Args:
        overrides: as for ``read``.
        folder: where relative paths in the scenario start; default the current folder.
    Raises:
        ScenarioError: every fault of the mapping and of the overrides.
    """
    return _scenario(Document(value=_plain(values)), "", overrides, folder or Path())


def _document(path: Path) -> Document:
    try:
        with path.open("rb") as file:
            return strict_yaml.read_bytes(file.read(strict_yaml.MAX_BYTES + 1))
    except IsADirectoryError:
        fault = Fault("", "", "is a folder", "name a scenario file in it")
    except FileNotFoundError:
        fault = Fault("", "", "does not exist", _files_like(path))
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        reason = getattr(error, "strerror", None) or error
        fault = Fault("", "", f"cannot be read: {reason}", "check its name and who may read it")
    return Document(faults=[fault], is_whole=False)


def _files_like(path: Path) -> str:
    try:
        beside = [other.name for other in path.parent.iterdir() if other.suffix in {".yaml", ".yml"}]
    except (OSError, ValueError):
        return "check the folder"
    meant = nearest(path.name, beside)
    return f"did you mean {shown(str(path.parent / meant))}?" if meant else "check its name"


def _scenario(document: Document, source: str, overrides: Sequence[str], folder: Path) -> Scenario:
    """The scenario of a document as read, or all its faults."""
    faults = list(document.faults)
    if document.is_whole and not isinstance(document.value, dict):
        faults.append(Fault("", "", "must be a section of keys at its top", "begin with twin: 1", "1:1"))
    if not document.is_whole or not isinstance(document.value, dict):
        raise ScenarioError([replace(fault, where=_place(source, fault.where)) for fault in faults])
    done, refused = scenario_overrides.apply(document.value, overrides)
    faults += refused
    scenario, found = _validated(document.value, {fault.key for fault in faults}, document.lost)
    faults += [_located(fault, document.written, done) for fault in found]
    if scenario is None or faults:
        raise ScenarioError([replace(f, where=_place(source, f.where)) for f in sorted(faults, key=_order)])
    scenario._folder = folder
    return scenario


def _validated(values: dict[str, Any], suspect: set[str], lost: set[str]) -> tuple[Scenario | None, list[Fault]]:
    """The scenario, or its faults; those that may follow from a suspect or lost value are left out."""
    try:
        return Scenario.model_validate(values), []
    except ScenarioError as error:
        return None, [fault for fault in error.faults if not _follows(fault, suspect)]
    except ValidationError as error:
        invalid = [(path, fault) for path, fault in field_faults(error) if not _touches(fault.key, lost)]
    # The rules between values still hold for the rest: judge them with defaults in place of what is invalid.
    rest = _plain(values)
    for path, _ in invalid:
        _forget(rest, path)
    faults = [fault for _, fault in invalid]
    try:
        Scenario.model_validate(rest)
    except ScenarioError as error:
        doubtful = suspect | {fault.key for fault in faults}
        faults += [fault for fault in error.faults if not _follows(fault, doubtful)]
    except ValidationError:
        pass  # only what is lost is still missing, and that is reported already
    return None, faults


def _follows(fault: Fault, doubtful: set[str]) -> bool:
    """Whether the fault may be none once the doubtful values are right."""
    return any(_touches(key, doubtful) for key in (fault.key, *fault.reads))


def _touches(key: str, others: Iterable[str]) -> bool:
    """Whether the value of this key is one of the others, or holds one, or is part of one."""
    return any(_holds(key, other) or _holds(other, key) for other in others)


def _holds(key: str, other: str) -> bool:
    return other == key or other.startswith((f"{key}.", f"{key}["))


def _forget(values: dict[str, Any], path: tuple[str | int, ...]) -> None:
    """Remove an invalid value; one that is required gets a stand-in, or takes its section along."""
    while path:
        parent: Any = values
        for part in path[:-1]:
            try:
                parent = parent[part]
            except (KeyError, IndexError, TypeError):
                return  # gone already
        last = path[-1]
        model = section_at(path[:-1])
        field = field_of(model, last) if model is not None and isinstance(last, str) else None
        if isinstance(last, int) and path[:-1] == ("jobs",):
            parent[last] = {"name": dotted(path)}
        elif isinstance(parent, dict) and last == "name":
            parent[last] = dotted(path[:-1]) or last
        elif isinstance(parent, dict) and path == ("twin",):
            parent[last] = 1
        elif isinstance(parent, dict) and (field is None or not field.is_required()):
            parent.pop(last, None)
        else:
            path = path[:-1]
            continue
        return


def _located(fault: Fault, written: dict[str, Written], overrides: Sequence[Override]) -> Fault:
    """The fault with its place, and its value as written."""
    for override in reversed(overrides):
        if _holds(override.key, fault.key):
            text = override.text if override.key == fault.key and fault.value else ""
            return replace(fault, where=override.label, value=shown(text) or fault.value)
    place, value = _in_file(fault, written)
    for override in reversed(overrides):
        if _touches(override.key, (fault.key, *fault.reads)):
            where = f"{place}, with {override.label}" if place and fault.key in written else override.label
            return replace(fault, where=where, value=value)
    return replace(fault, where=place, value=value)


def _in_file(fault: Fault, written: dict[str, Written]) -> tuple[str, str]:
    """Place and text of the value; for a missing one, the place of the section it is missing in."""
    if not written:
        return "", fault.value
    if (found := written.get(fault.key)) is not None:
        (line, column), text = (found.value_at, found.text) if found.text else (found.key_at, "")
        return f"{line}:{column}", shown(text) if fault.value and text else fault.value
    sections = [key for key in written if key and _holds(key, fault.key)]
    line, column = written[max(sections, key=len, default="")].key_at
    return f"{line}:{column}", fault.value


def _place(source: str, where: str) -> str:
    """``file:line:column``, or the file and what was set on top of it."""
    if not source or not where:
        return source or where
    return f"{source}:{where}" if where[0].isdigit() else f"{source}: {where}"


def _order(fault: Fault) -> tuple[float, float]:
    """In the order of the file; what has no place in it comes last."""
    place = re.match(r"(\d+):(\d+)", fault.where)
    return (int(place[1]), int(place[2])) if place else (math.inf, 0)


def _plain(value: Any, depth: int = 0) -> Any:
    """A copy made of dicts and lists."""
    if depth > strict_yaml.MAX_DEPTH:
        rule = f"is nested more than {strict_yaml.MAX_DEPTH} levels deep"
        raise ScenarioError([Fault("", "", rule, "a scenario needs a handful")])
    if isinstance(value, Mapping):
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    return value
