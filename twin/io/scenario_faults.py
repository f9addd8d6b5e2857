"""What the models of a scenario refuse, in the field's words: one fault for each error of a validation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from twin.errors import Fault
from twin.io.strict_yaml import MOST_FAULTS, join, shown
from twin.scenario import Scenario
from twin.scenario.fields import SECTION, WORD
from twin.units import RefusedValue, nearest

Path = tuple[str | int, ...]


def field_faults(error: ValidationError) -> tuple[list[tuple[Path, Fault]], int]:
    """Path and fault of each value that is invalid alone, ``MOST_FAULTS`` at most, and the number of all others."""
    invalid = [
        details
        for details in error.errors(include_url=False)
        if details["type"] != "default_factory_not_called"  # it follows from another error
    ]
    return [_field_fault(details) for details in invalid[:MOST_FAULTS]], len(invalid[MOST_FAULTS:])


def _field_fault(details: ErrorDetails) -> tuple[Path, Fault]:
    path = _path(details["loc"])
    rule, remedy = _rule_and_remedy(path, details)
    value = "" if details["type"] == "missing" else described(details["input"])
    return path, Fault(dotted(path), value, rule, remedy)


def _path(location: Path) -> Path:
    """The path without the tags that follow a key of two forms."""
    before = ("", *location)
    return tuple(
        part
        for key, part in zip(before, location, strict=False)
        if not (part in {SECTION, WORD} and key in {"trigger", "profile"})
    )


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
    if isinstance(value, int) and abs(value) > 10**100:
        return "a number of more than 100 digits"
    return shown(str(value))


def section_at(path: Sequence[str | int]) -> type[BaseModel] | None:
    """The model of the section at this path; None for a path that leads to none."""
    model: type[BaseModel] | None = Scenario
    for part in path:
        if isinstance(part, int):
            continue  # an item of a list of sections: the field's annotation has led to its model already
        field = None if model is None else field_of(model, part)
        model = None if field is None else _model_in(field.annotation, field.metadata)
    return model


def field_of(model: type[BaseModel], key: str) -> FieldInfo | None:
    """The field of a key of a section."""
    return next((field for name, field in model.model_fields.items() if (field.alias or name) == key), None)


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys a section may have."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(*annotations: Any) -> type[BaseModel] | None:
    """The model somewhere in an annotation such as ``tuple[JobGroup, ...] | None``."""
    for annotation in annotations:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
        if (found := _model_in(*get_args(annotation))) is not None:
            return found
    return None


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
            answer = ("must be a list", f"write it as in {'[0 s, 30 s]' if path[-1] == 'at' else '- name: llm'}")
        case "too_short":
            answer = ("must hold at least one value", "add one, or remove the key")
        case "string_type":
            answer = ("must be text", "put it in quotes")
        case _:
            answer = (f"is not accepted: {details['msg']}", "see `twin schema` for what is")
    return answer


def _unknown_key(path: Path) -> tuple[str, str]:
    model = section_at(path[:-1])
    known = keys_of(model) if model else []
    meant = nearest(str(path[-1]), known)
    section = dotted(path[:-1]) or "a scenario"
    rule = f"is given for an unknown key; {section} has the keys {', '.join(known)}"
    return rule, f"write {meant}" if meant else "remove it"


def _choice(value: Any, choices: list[str]) -> tuple[str, str]:
    meant = nearest(str(value), choices) or choices[0]
    if len(choices) == 1:
        return f"must be {choices[0]}, the only choice so far", f"write {meant}"
    return f"must be one of {', '.join(choices)}", f"write {meant}"


def _example(path: Path) -> str:
    model = section_at(path[:-1])
    field = field_of(model, str(path[-1])) if model else None
    return str(field.examples[0]) if field is not None and field.examples else "..."
