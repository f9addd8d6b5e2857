"""The keys of a scenario file, from the models that hold them: path, meaning, unit, choices and default of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from twin.scenario.fields import Quantity
from twin.scenario.models import Scenario
from twin.scenario.section import Model
from twin.units import DIMENSIONS, Dimension


class Key(NamedTuple):
    """A key of a scenario file.

    Args:
        path: as in ``jobs[].checkpoint.size``; ``[]`` follows a list of sections.
        field: of the model that holds it.
        section: model of the keys below it; None for a plain value.
    """

    path: str
    field: FieldInfo
    section: type[Model] | None

    @property
    def name(self) -> str:
        """The last part of the path, as it is written in a file."""
        return self.path.rpartition(".")[2].removesuffix("[]")

    @property
    def holder(self) -> str:
        """Path of the section that has the key; empty at the top."""
        return self.path.rpartition(".")[0]

    @property
    def meaning(self) -> str:
        """What the value is, in a sentence or two."""
        return self.field.description or (self.section.meaning() if self.section else "")

    @property
    def unit(self) -> str:
        """SI unit of the value; empty for one that has none."""
        dimension = self._dimension()
        return dimension.si if dimension else ""

    @property
    def example(self) -> str:
        """How to write the value; empty for one that needs no example."""
        if self.field.examples:
            return str(self.field.examples[0])
        dimension = self._dimension()
        return dimension.example if dimension and dimension.units else ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that the value may be; empty for any other value, and beside a section."""
        words = () if self.section else get_args(self.field.annotation)
        return words if get_origin(self.field.annotation) is Literal and isinstance(words[0], str) else ()

    def _dimension(self) -> Dimension | None:
        parts = (*self.field.metadata, *_parts(self.field.annotation))
        quantities = (DIMENSIONS[part.dimension] for part in parts if isinstance(part, Quantity))
        return next(quantities, None)


def keys(section: type[BaseModel] = Scenario, holder: str = "") -> Iterator[Key]:
    """Every key below a section, in the order of the models; a section comes before its keys."""
    for name, field in section.model_fields.items():
        below = model_in(field)
        is_list = below is not None and get_origin(field.annotation) is tuple
        path = f"{holder}{field.alias or name}{'[]' if is_list else ''}"
        yield Key(path, field, below)
        if below is not None:
            yield from keys(below, f"{path}.NAME." if _is_named(field) else f"{path}.")
        listed = None if is_list else _model_among(_listed(field.annotation))
        if listed is not None and listed is not below:  # the value may be a list of sections too
            yield from keys(listed, f"{path}[].")


def section_at(path: Sequence[str | int]) -> type[BaseModel] | None:
    """The model of the section at this path; None for a path that leads to none."""
    model: type[BaseModel] | None = Scenario
    field: FieldInfo | None = None
    for part in path:
        if isinstance(part, int):  # an item of a list of sections
            model = None if field is None else _model_among(_listed(field.annotation))
        elif field is not None and _is_named(field):  # a section with a name of the user's
            model = model_in(field)
            field = None
        else:
            field = None if model is None else field_of(model, part)
            model = None if field is None or _is_named(field) else model_in(field)
    return model


def place_of(path: Sequence[str | int]) -> str:
    """The path of a value as ``Key.path`` has it, with [] for an index and NAME for a name of the user's."""
    text = ""
    for depth, part in enumerate(path):
        if isinstance(part, int):
            text += "[]"
        else:
            name = "NAME" if _is_name(path[: depth + 1]) else part
            text += f".{name}" if text else name
    return text


def _is_name(path: Sequence[str | int]) -> bool:
    """Whether the last part is a name that the user gave to a section."""
    holder = section_at(path[:-2]) if len(path) > 1 else None
    field = field_of(holder, str(path[-2])) if holder is not None else None
    return field is not None and _is_named(field)


def field_of(model: type[BaseModel], key: str) -> FieldInfo | None:
    """The field of a key of a section."""
    return next((field for name, field in model.model_fields.items() if (field.alias or name) == key), None)


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys a section may have."""
    return [field.alias or name for name, field in model.model_fields.items()]


def model_in(field: FieldInfo) -> type[Model] | None:
    """The model somewhere in an annotation such as ``tuple[JobGroup, ...] | None``."""
    return _model_among(_parts(field.annotation))


def _model_among(parts: Iterator[Any]) -> type[Model] | None:
    return next((part for part in parts if isinstance(part, type) and issubclass(part, Model)), None)


def _listed(annotation: Any) -> Iterator[Any]:
    """What the lists in an annotation are made of."""
    return (inner for part in _parts(annotation) if get_origin(part) is tuple for inner in _parts(part))


def _is_named(field: FieldInfo) -> bool:
    """Whether it holds sections by names that the user gives."""
    return model_in(field) is not None and any(get_origin(part) is dict for part in _parts(field.annotation))


def _parts(annotation: Any) -> Iterator[Any]:
    """The annotation, and all that it is made of."""
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)
