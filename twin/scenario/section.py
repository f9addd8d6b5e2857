"""What all sections of a scenario have in common: they are strict and frozen, and each key says what it means."""

from __future__ import annotations

from inspect import isclass, signature
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

Mark = Literal["source", "derived", "guess", "choice"]


def default(alias: str, value: Any, mark: Mark, source: str, meaning: str) -> Any:
    """A field with a default and the origin of it, for ``run.json``; its meaning, for the schema and ``explain``."""
    origin: JsonDict = {"mark": mark, "source": source}
    if callable(value):
        return Field(alias=alias, default_factory=value, json_schema_extra=origin, description=meaning)
    return Field(alias=alias, default=value, json_schema_extra=origin, description=meaning)


def required(alias: str, example: str, meaning: str) -> Any:
    """A field without a default; the example helps who forgot it."""
    return Field(alias=alias, examples=[example], description=meaning)


def optional(alias: str, meaning: str) -> Any:
    """A field that may be left out, which says nothing of its own."""
    return Field(alias=alias, default=None, description=meaning)


def _depends(field: FieldInfo) -> bool:
    """Whether its default follows from other keys."""
    factory = field.default_factory
    return factory is not None and not isclass(factory) and len(signature(factory).parameters) > 0


class Model(BaseModel):
    """Strict and frozen: an unknown key is a fault, a built scenario never changes.

    The first paragraph of the docstring of a section is its meaning in the schema and in ``explain``.
    """

    keeps_nulls: ClassVar[bool] = False  # a null is a value of its own, where the default follows from other keys

    # Sections are built with the scenario that holds them, not one by one: half the time of `twin validate`.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _null_means_left_out(cls, values: Any) -> Any:
        """A null where the default follows from other keys is that default, as after ``--set key=null``."""
        if cls.keeps_nulls or not isinstance(values, dict) or None not in values.values():
            return values
        dependent = {field.alias for field in cls.model_fields.values() if _depends(field)}
        return {key: value for key, value in values.items() if value is not None or key not in dependent}

    @classmethod
    def meaning(cls) -> str:
        """What the section is, on one line."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        found = handler.resolve_ref_schema(handler(core))
        return found | {"description": cls.meaning()}
