"""Types of the values of a scenario: what each may be, in words a planner understands, and in JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from math import inf
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from twin.units import DIMENSIONS, NUMBER, RefusedValue, bounded_quantity, quantity, whole_number

LEAST = 1e-12  # of what must be more than 0, in SI units: ratios of such values stay far from where doubles end
MAX_TIME_S = 1e12
MAX_BYTES = 1e21
MAX_WATTS = 1e12
MAX_NODES = 10_000_000
MAX_NAME = 200
MAX_FEEDER_NAME = 60  # it is part of the path of a key, which messages show in full


@dataclass(frozen=True, slots=True)
class Quantity:
    """Annotation of a float field that may be written with a unit.

    Args:
        above, at_least, at_most: bounds, in SI units.
        instead_of_0: what to do instead of writing 0, if there is something better than a larger value.
    """

    dimension: str
    above: float = -inf
    at_least: float = -inf
    at_most: float = inf
    instead_of_0: str = ""

    def read(self, value: object) -> float:
        if self.instead_of_0 and quantity(value, self.dimension) == 0.0:
            raise RefusedValue("must be more than 0", self.instead_of_0)
        return bounded_quantity(value, self.dimension, above=self.above, at_least=self.at_least, at_most=self.at_most)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        kind = DIMENSIONS[self.dimension]
        bounds = {"exclusiveMinimum": self.above, "minimum": self.at_least, "maximum": self.at_most}
        number: dict[str, Any] = {name: bound for name, bound in bounds.items() if abs(bound) < inf}
        number |= {"type": "number"} | ({"description": f"in {kind.si}"} if kind.si else {})
        text = {
            "type": "string",
            "pattern": rf"^\s*{NUMBER}\s*({'|'.join(kind.units)})?\s*$",
            "examples": [kind.example],
        }
        return {"anyOf": [number, text]}


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """Annotation of an int field with bounds."""

    at_least: int
    at_most: int

    def read(self, value: object) -> int:
        return whole_number(value, at_least=self.at_least, at_most=self.at_most)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.at_least, "maximum": self.at_most}


def _name_up_to(most: int, example: str) -> AfterValidator:
    def plain_name(text: str) -> str:
        if not text.strip() or len(text) > most or not text.isprintable():
            rule = f"must be one line of 1 to {most} printable characters"
            raise RefusedValue(rule, f"write a short name, as in {example}")
        return text

    return AfterValidator(plain_name)


def _encodable(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise RefusedValue("holds characters that are no text", "write it in UTF-8")
    return text


def _window(edges: object) -> tuple[float | str, float | str]:
    if not isinstance(edges, list | tuple) or len(edges) != 2:  # noqa: PLR2004 a start and an end
        raise RefusedValue("must be a list of two, start and end", "write it as in [0 d, 30 d]")
    start, end = (_window_edge(edge) for edge in edges)
    return start, end


def _window_edge(edge: object) -> float | str:
    """Seconds after the first row of the log, or a date as written."""
    if isinstance(edge, str):
        try:
            datetime.fromisoformat(edge)
        except ValueError:
            pass
        else:
            return edge
    try:
        return bounded_quantity(edge, "time", at_least=0.0, at_most=MAX_TIME_S)
    except RefusedValue as refusal:
        raise RefusedValue(
            "must hold times since the start of the log, or dates", "write it as in [0 d, 30 d] or ['2023-07-01', ...]"
        ) from refusal


def _epoch(value: object) -> str:
    """The date and time as ISO 8601 writes it; YAML may have read it already."""
    try:
        if isinstance(value, datetime | date):
            return value.isoformat()
        return datetime.fromisoformat(str(value)).isoformat()
    except ValueError as error:
        raise RefusedValue("must be a date and time", "write it as in 2026-01-05T08:00") from error


Time = Annotated[float, Quantity("time", at_least=0.0, at_most=MAX_TIME_S)]
Duration = Annotated[float, Quantity("time", above=0.0, at_least=LEAST, at_most=MAX_TIME_S)]
Size = Annotated[float, Quantity("data size", above=0.0, at_least=LEAST, at_most=MAX_BYTES)]
Rate = Annotated[float, Quantity("data rate", above=0.0, at_least=LEAST, at_most=MAX_BYTES)]
Watts = Annotated[float, Quantity("power", at_least=0.0, at_most=MAX_WATTS)]
PositiveWatts = Annotated[float, Quantity("power", above=0.0, at_least=LEAST, at_most=MAX_WATTS)]
Nodes = Annotated[int, WholeNumber(1, MAX_NODES)]
GpusPerNode = Annotated[int, WholeNumber(1, 1024)]
Name = Annotated[str, _name_up_to(MAX_NAME, "llm-70b")]
FeederName = Annotated[str, _name_up_to(MAX_FEEDER_NAME, "row-1")]
Text = Annotated[str, AfterValidator(_encodable)]
WindowEdges = Annotated[
    tuple[float | str, float | str],
    PlainValidator(_window),
    PlainSerializer(list),  # JSON has no tuples
    WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["number", "string"]}}),
]
Epoch = Annotated[str, PlainValidator(_epoch), WithJsonSchema({"type": "string", "format": "date-time"})]

# Tags of the forms of a value; they appear in pydantic's error paths.
SECTION, WORD, LIST, TURNS = "<section>", "<word>", "<list>", "<turns>"


def form(value: object) -> str:
    if isinstance(value, list | tuple):
        return LIST
    return SECTION if isinstance(value, dict | BaseModel) else WORD
