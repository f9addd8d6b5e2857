"""Where the nodes of a job hang: the forms in which a scenario says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from twin.scenario.fields import LIST, SECTION, TURNS, WORD, Nodes, form
from twin.units import RefusedValue

ROOT = "site"  # the feeder above all others
_EXAMPLES = "row-1, [row-1, row-2], {row-1: 64, row-2: 64} or {rotate: [row-1, row-2]}"

Placement = str | tuple[str, ...] | Mapping[Any, Any]  # feeders to nodes, or rotate to feeders


def _placement_form(value: object) -> str:
    return TURNS if isinstance(value, dict) and "rotate" in value else form(value)


def _feeder(value: object) -> object:
    if not isinstance(value, str) or not value:
        raise RefusedValue("must be a feeder, a list of feeders, or nodes by feeder", f"write it as in {_EXAMPLES}")
    return value


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise RefusedValue(f"names {name} twice", "name each feeder once")
        seen.add(name)
    return names


def _not_empty(value: object) -> object:
    if not value:
        raise RefusedValue("names no feeder", f"write it as in {_EXAMPLES}")
    return value


_Feeders = Annotated[
    tuple[str, ...], Field(json_schema_extra={"minItems": 1, "uniqueItems": True}), AfterValidator(_each_once)
]
_Listed = Annotated[_Feeders, BeforeValidator(_not_empty)]
_NodesByFeeder = Annotated[dict[str, Nodes], Field(json_schema_extra={"minProperties": 1}), BeforeValidator(_not_empty)]

PlacementField = Annotated[
    Annotated[str, BeforeValidator(_feeder), Tag(WORD)]
    | Annotated[_Listed, Tag(LIST)]
    | Annotated[dict[Literal["rotate"], _Listed], Tag(TURNS)]
    | Annotated[_NodesByFeeder, Tag(SECTION)],
    Discriminator(_placement_form),
]


def feeders_named(placement: Placement) -> dict[str, str]:
    """The feeders that a placement names, each by its place below the key of the placement: ``.rotate[0]``."""
    if isinstance(placement, str):
        return {"": placement}
    if isinstance(placement, tuple):
        return {f"[{index}]": name for index, name in enumerate(placement)}
    if "rotate" in placement:
        return {f".rotate[{index}]": name for index, name in enumerate(placement["rotate"])}
    return {f".{name}": name for name in placement}


def places_of(placement: Placement, nodes: int, index: int) -> tuple[tuple[str, int], ...]:
    """Feeder and nodes there of job ``index`` of a group of jobs of so many nodes, in the order of the feeders' names.

    A list shares the nodes evenly; what is left over goes to the first of it, one node each. A feeder without a node
    of the job is none of its places.
    """
    if isinstance(placement, str):
        return ((placement, nodes),)
    if isinstance(placement, Mapping):
        if "rotate" in placement:
            names = placement["rotate"]
            return ((names[index % len(names)], nodes),)
        return tuple(sorted(placement.items()))
    share, rest = divmod(nodes, len(placement))
    shares = ((name, share + (place < rest)) for place, name in enumerate(placement))
    return tuple(sorted((name, there) for name, there in shares if there))


def ways(placement: Placement, nodes: int, count: int) -> list[tuple[tuple[tuple[str, int], ...], int]]:
    """Each way in which so many jobs are placed, as ``places_of`` has it, and how many of them are placed that way."""
    different = len(placement["rotate"]) if isinstance(placement, Mapping) and "rotate" in placement else 1
    share, rest = divmod(count, different)
    return [(places_of(placement, nodes, way), share + (way < rest)) for way in range(min(different, count))]


def as_written(placement: Placement) -> str:
    """The placement on one line, as a scenario file has it."""
    if isinstance(placement, str):
        return placement
    if isinstance(placement, tuple):
        return f"[{', '.join(placement)}]"
    items = (f"{key}: {as_written(value) if key == 'rotate' else value}" for key, value in placement.items())
    return f"{{{', '.join(items)}}}"
