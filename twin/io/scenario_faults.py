"""What the models of a scenario refuse, in the field's words: one fault for each error of a validation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from twin.errors import Fault
from twin.io.strict_yaml import MOST_FAULTS, join, shown
from twin.scenario.fields import LIST, SECTION, TURNS, WORD
from twin.scenario.keys import Key, field_of, keys, keys_of, place_of, section_at
from twin.units import RefusedValue, nearest

Path = tuple[str | int, ...]

_TAGS = {SECTION, WORD, LIST, TURNS}
_FORMS = {WORD: "one value", SECTION: "a section of keys", LIST: "a list", TURNS: "a section with the key rotate"}
_LISTS: dict[str | int, str] = {
    "at": "[0 s, 30 s]",
    "daily": "[{at: 0 h, value: 15 MW}]",
    "rotate": "[row-1, row-2]",
}
_ALMOST_EQUAL = 0.85  # of a key of another section: a letter or two are wrong


def field_faults(error: ValidationError) -> tuple[list[tuple[Path, Fault]], int]:
    """Path and fault of each value that is invalid alone, ``MOST_FAULTS`` at most, and the number of all others."""
    invalid = [
        details
        for details in error.errors(include_url=False)
        if details["type"] != "default_factory_not_called"  # it follows from another error
        and not (details["type"] == "too_short" and details["input"])  # no item of it is valid
    ]
    return [_field_fault(details) for details in invalid[:MOST_FAULTS]], len(invalid[MOST_FAULTS:])


def _field_fault(details: ErrorDetails) -> tuple[Path, Fault]:
    path = _path(details["loc"])
    rule, remedy = _rule_and_remedy(path, details)
    value = "" if details["type"] == "missing" else described(details["input"])
    return path, Fault(dotted(path), value, rule, remedy)


def _path(location: Path) -> Path:
    """The path without the tags that follow a key of several forms, and without the word for a key itself."""
    known = tuple(part for at, part in enumerate(location) if not (part in _TAGS and _has_forms(location[:at])))
    return known[:-1] if known[-1] == "[key]" else known


def _has_forms(location: Path) -> bool:
    if location[-1:] == ("feeders",):
        return location[0] == "jobs"
    return location[-1:] in {("trigger",), ("profile",), ("cap",), ("place",)}


def dotted(path: Sequence[str | int]) -> str:
    """The path as text: ``jobs[0].checkpoint.size``."""
    text = ""
    for part in path:
        text = join(text, part)
    return text


def described(value: Any) -> str:
    """The value on one line, shortened."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return shown(f"{{{', '.join(map(str, value))}}}")
    if isinstance(value, list | tuple):
        return shown(f"[{', '.join(map(described, value))}]")
    if isinstance(value, int) and abs(value) > 10**100:
        return "a number of more than 100 digits"
    return shown(str(value))


def _rule_and_remedy(path: Path, details: ErrorDetails) -> tuple[str, str]:
    context = details.get("ctx", {})
    match details["type"]:
        case "value_error" if isinstance(context.get("error"), RefusedValue):
            answer = (context["error"].rule, context["error"].remedy)
        case "extra_forbidden":
            answer = _unknown_key(path)
        case "missing":
            answer = ("is missing", f"add it, as in {path[-1]}: {_example(path)}")
        case "literal_error":
            answer = _choice(details["input"], re.findall(r"'([^']*)'", context["expected"]))
        case "model_type" | "model_attributes_type" | "dict_type":
            model = section_at(path)
            keys = f" ({', '.join(keys_of(model))})" if model else ""
            answer = (f"must be a section with keys of its own{keys}", "write its keys indented below it, or remove it")
        case "tuple_type":
            answer = ("must be a list", f"write it as in {_LISTS.get(path[-1], '- name: llm')}")
        case "too_short":
            answer = ("must hold at least one value", "add one, or remove the key")
        case "string_type":
            answer = ("must be text", "put it in quotes")
        case "union_tag_invalid":
            forms = " or ".join(_FORMS[tag] for tag in re.findall(r"'([^']*)'", context["expected_tags"]))
            answer = (f"must be {forms}", f"see `twin explain {path[-1]}` for what it may be")
        case _:
            answer = (f"is not accepted: {details['msg']}", "see `twin schema` for what is")
    return answer


def _unknown_key(path: Path) -> tuple[str, str]:
    model = section_at(path[:-1])
    known = keys_of(model) if model else []
    section = dotted(path[:-1]) or "a scenario"
    rule = f"is given for an unknown key; {section} has the keys {', '.join(known)}"
    if homes := _homes(path):
        return rule, f"it belongs {' or '.join(_place(home, path[:-1]) for home in homes)}"
    if meant := nearest(str(path[-1]), known):
        return rule, f"write {meant}"
    if far := get_close_matches(str(path[-1]), [key.name for key in keys()], n=1, cutoff=_ALMOST_EQUAL):
        homes = _homes((*path[:-1], far[0]))
        return rule, f"write {far[0]}, which belongs {' or '.join(_place(home, path[:-1]) for home in homes)}"
    return rule, "remove it"


def _homes(path: Path) -> list[Key]:
    """The keys of that name that were probably meant: below or around this section, else in one of its name, or any."""
    same = [key for key in keys() if key.name == path[-1]]
    here = place_of(path[:-1])
    section = here.rpartition(".")[2]
    below = [key for key in same if section and key.path.startswith(f"{here}.")]
    nearest_below = [key for key in below if ".NAME." not in key.path.removeprefix(here)]
    around = [key for key in same if key.holder and here.startswith(f"{key.holder}.")]
    alike = [key for key in same if section and key.holder.rpartition(".")[2] == section]
    rest = [key for key in same if not key.path.startswith("replay.")]
    return nearest_below or below or around[-1:] or alike[:1] or rest or same


def _place(home: Key, section: Path) -> str:
    """Where a key belongs, seen from the section it was found in."""
    here, place = dotted(section), place_of(section)
    full, holder = home.path, home.holder
    for depth in range(len(section), 0, -1):  # the names and numbers that the two have in common
        outer = place_of(section[:depth])
        if full.startswith(f"{outer}."):
            full, holder = (f"{dotted(section[:depth])}{path.removeprefix(outer)}" for path in (full, holder))
            break
    if not holder:
        return "at the top of the file"
    if here and full.startswith(f"{here}."):
        return f"under {holder.removeprefix(f'{here}.')}: as {full}"
    at_top = " at the top of the file," if place and "." not in holder and "[" not in holder else ""
    return f"under {holder}:{at_top} as {full}"


def _choice(value: Any, choices: list[str]) -> tuple[str, str]:
    meant = nearest(str(value), choices) or choices[0]
    if len(choices) == 1:
        return f"must be {choices[0]}, the only choice so far", f"write {meant}"
    return f"must be one of {', '.join(choices)}", f"write {meant}"


def _example(path: Path) -> str:
    model = section_at(path[:-1])
    field = field_of(model, str(path[-1])) if model else None
    return str(field.examples[0]) if field is not None and field.examples else "..."
