"""Scenario file, or mapping, and overrides -> Scenario; every fault at once, each with its place."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from twin.errors import Fault, ScenarioError
from twin.io import scenario_overrides, strict_yaml
from twin.io.scenario_faults import dotted, field_faults
from twin.io.scenario_overrides import Override
from twin.io.strict_yaml import MOST_FAULTS, Document, Written, shown
from twin.scenario import Scenario, resolved
from twin.scenario.keys import field_of, section_at
from twin.units import nearest

_MAX_PATH = 4096


def read(path: str | Path, overrides: Sequence[str] = (), variant: str | None = None) -> Scenario:
    """The scenario of a YAML file.

    Args:
        overrides: ``key=value`` each, as in ``power.cap=12MW`` or ``jobs.llm.nodes=64``; ``null`` removes a key.
        variant: name of the variant to read instead; the overrides are set on top of it.
    Raises:
        ScenarioError: every fault of the file, of its variants and of the overrides.
    """
    path = Path(path)
    return _scenario(_document(path), shown(str(path), _MAX_PATH), overrides, variant, path.parent)


def from_mapping(
    values: Mapping[str, Any], overrides: Sequence[str] = (), variant: str | None = None, folder: Path | None = None
) -> Scenario:
    """The scenario of a mapping with the keys of a scenario file.

    Args:
        overrides, variant: as for ``read``.
        folder: where relative paths in the scenario start; default the current folder.
    Raises:
        ScenarioError: every fault of the mapping and of the overrides.
    """
    return _scenario(Document(value=_plain(values)), "", overrides, variant, folder or Path())


@dataclass(frozen=True, slots=True)
class Family:
    """Scenarios that differ from one in a few values each.

    Args:
        base: the scenario they differ from.
        members: by name.
        settings: what was set for each member, in the order of its changes: ``key``, and ``value`` and ``unit`` in SI.
        refused: the faults of those that could not be built, by name.
    """

    base: Scenario
    members: dict[str, Scenario]
    settings: dict[str, list[dict[str, Any]]]
    refused: dict[str, ScenarioError]


def family(
    source: str | Path | Mapping[str, Any],
    changes: Mapping[str, Mapping[str, Any]],
    overrides: Sequence[str] = (),
    variant: str | None = None,
    label: str = "variant",
) -> Family:
    """A scenario, and scenarios made of it by setting values of some keys.

    Args:
        source: a file, or a mapping with the keys of one.
        changes: what is set for each member, by its name: values by key, as in ``{"power.cap": "12 MW"}``.
        overrides, variant: as for ``read``; what a member changes is set on top of them.
        label: what a member is called in its faults, before its name.
    Raises:
        ScenarioError: faults of the base, its variants and the overrides.
    """
    if isinstance(source, Mapping):
        document, place, folder = Document(value=_plain(source)), "", Path()
    else:
        path = Path(source)
        document, place, folder = _document(path), shown(str(path), _MAX_PATH), path.parent
    base = _scenario(document, place, overrides, variant, folder)
    start, done = _plain(document.value), list[Override]()
    start.pop("variants", None)
    if variant is not None:
        done += scenario_overrides.apply_values(
            start, document.value["variants"][variant], f"variant {shown(variant)}"
        )[0]
    done += scenario_overrides.apply(start, overrides)[0]
    found = Family(base, {}, {}, {})
    for name, values_by_key in changes.items():
        values = _plain(start)
        more, refused = scenario_overrides.apply_values(values, values_by_key, f"{label} {shown(name)}")
        scenario, faults, unlisted = _built(document, values, [*done, *more], refused, folder)
        if scenario is None or faults:
            placed = [replace(fault, where=_place(place, fault.where)) for fault in faults]
            found.refused[name] = ScenarioError(placed, unlisted)
        else:
            found.members[name] = scenario
            found.settings[name] = scenario_overrides.recorded(more, resolved(scenario))
    return found


def _document(path: Path) -> Document:
    try:
        if path.is_fifo():  # opening one would wait for ever
            return Document(faults=[Fault("", "", "is a pipe", "name a scenario file")], is_whole=False)
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
    return f"did you mean {shown(str(path.parent / meant), _MAX_PATH)}?" if meant else "check its name"


def _scenario(document: Document, source: str, overrides: Sequence[str], variant: str | None, folder: Path) -> Scenario:
    """The scenario of a document as read, or its variant; or all their faults."""
    faults = list(document.faults)
    if document.is_whole and not isinstance(document.value, dict):
        faults.append(Fault("", "", "must be a section of keys at its top", "begin with twin: 1", "1:1"))
    if not document.is_whole or not isinstance(document.value, dict):
        raise ScenarioError([replace(fault, where=_place(source, fault.where)) for fault in faults])
    values = _plain(document.value)
    scenario, found, unlisted = _built(document, values, *scenario_overrides.apply(values, overrides), folder)
    faults += found
    if scenario is not None and not faults:
        variants = scenario.variants.items()
        built = {name: _variant(document, name, changes, overrides, folder) for name, changes in variants}
        faults += [fault for _, found, _ in built.values() for fault in found]
        unlisted += sum(more for _, _, more in built.values())
        if variant is not None and variant not in built:
            meant = nearest(variant, list(built))
            rule = f"names no variant; there are {', '.join(map(shown, built)) or 'none'}"
            remedy = f"write {shown(meant)}" if meant else "name one of them, or leave it out"
            faults.append(Fault("", shown(variant), rule, remedy, "--variant"))
        elif variant is not None:
            scenario = built[variant][0]
    if scenario is None or faults:
        placed = [replace(fault, where=_place(source, fault.where)) for fault in sorted(faults, key=_order)]
        raise ScenarioError(placed, unlisted)
    return scenario


def _variant(
    document: Document, name: str, changes: Mapping[str, Any], overrides: Sequence[str], folder: Path
) -> tuple[Scenario | None, list[Fault], int]:
    """A variant of a document whose scenario is valid; or its faults, and the number of those not listed."""
    values = _plain(document.value)
    del values["variants"]
    places = {key: _in_file(Fault(f"variants.{name}.{key}", "", "", ""), document.written)[0] for key in changes}
    done, refused = scenario_overrides.apply_values(values, changes, f"variant {shown(name)}", places)
    more, _ = scenario_overrides.apply(values, overrides)  # what it refuses is refused without the variant too
    return _built(document, values, [*done, *more], refused, folder)


def _built(
    document: Document, values: dict[str, Any], done: Sequence[Override], refused: Sequence[Fault], folder: Path
) -> tuple[Scenario | None, list[Fault], int]:
    """The scenario of the values of a document, on which something was set; or its faults and how many are not listed.

    Args:
        done, refused: what was set, and the faults of what could not be.
    """
    faults = list(refused)
    suspect = _Keys(fault.key for fault in (*document.faults, *refused))
    scenario, found, unlisted = _validated(values, suspect, _Keys(document.lost))
    faults += [_located(fault, document.written, done) for fault in found]
    if scenario is not None and scenario.replay is not None and not (folder / scenario.replay.file).is_file():
        fault = Fault("replay.file", shown(scenario.replay.file), "is no file", f"it is looked for from {folder}/")
        faults.append(_located(fault, document.written, done))
    if scenario is not None and not faults:
        scenario._folder = folder
        scenario._overrides = tuple(scenario_overrides.recorded(done, resolved(scenario)))
    return scenario, faults, unlisted


def _validated(values: dict[str, Any], suspect: _Keys, lost: _Keys) -> tuple[Scenario | None, list[Fault], int]:
    """The scenario, or its faults and the number of those not listed.

    Faults that may follow from a suspect or lost value are left out.
    """
    try:
        return Scenario.model_validate(values), [], 0
    except ScenarioError as error:
        faults = [fault for fault in error.faults if not suspect.cause(fault)]
        return None, faults[:MOST_FAULTS], len(faults[MOST_FAULTS:])
    except ValidationError as error:
        listed, unlisted = field_faults(error)
    invalid = [(path, fault) for path, fault in listed if not lost.touch(fault.key)]
    faults = [fault for _, fault in invalid]
    if unlisted:
        return None, faults, unlisted
    # The rules between values still hold for the rest: judge them with defaults in place of what is invalid.
    rest = _plain(values)
    for path, _ in invalid:
        _forget(rest, path)
    try:
        Scenario.model_validate(rest)
    except ScenarioError as error:
        doubtful = _Keys(fault.key for fault in faults)
        faults += [fault for fault in error.faults if not (doubtful.cause(fault) or suspect.cause(fault))]
    except ValidationError:
        pass  # only what is lost is still missing, and that is reported already
    return None, faults[:MOST_FAULTS], len(faults[MOST_FAULTS:])


class _Keys:
    """Key paths of values that are not what they should be."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = set(keys)
        self._holders = {holder for key in self._keys for holder in _upwards(key)}

    def touch(self, key: str) -> bool:
        """Whether one of these values is the value of this key, or holds it, or is part of it."""
        return key in self._holders or any(holder in self._keys for holder in _upwards(key))

    def cause(self, fault: Fault) -> bool:
        """Whether the fault may be none once these values are right."""
        return any(self.touch(key) for key in (fault.key, *fault.reads))


def _upwards(key: str) -> Iterator[str]:
    """The key, then what holds it, up to the top."""
    while key:
        yield key
        key = key[: max(key.rfind("."), key.rfind("["), 0)]


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
        if override.key in _upwards(fault.key):
            text = override.text if override.key == fault.key and fault.value else ""
            return replace(fault, where=override.where, value=shown(text) or fault.value)
    place, value = _in_file(fault, written)
    for override in reversed(overrides):
        if _Keys([override.key]).cause(fault):
            where = f"{place}, with {override.label}" if fault.key in written else override.label
            return replace(fault, where=where, value=value)
    return replace(fault, where=place, value=value)


def _in_file(fault: Fault, written: dict[str, Written]) -> tuple[str, str]:
    """Place and text of the value; for a missing one, the place of the section it is missing in."""
    if not written:
        return "", fault.value
    found = next(written[key] for key in (*_upwards(fault.key), "") if key in written)
    is_scalar = bool(found.text) and fault.key in written
    line, column = found.value_at if is_scalar and fault.value else found.key_at
    return f"{line}:{column}", shown(found.text) if is_scalar and fault.value else fault.value


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
