"""``--vary`` texts -> named variants: ``power.controller=[anonymous, {policy: delayed, delay: 2 s}, sampled]``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from twin.errors import TwinError
from twin.io import strict_yaml
from twin.io.scenario_faults import described
from twin.io.strict_yaml import shown

MOST_VARIANTS = 1000
_EXAMPLE = "write it as in 'power.controller=[anonymous, sampled]'"

Changes = dict[str, Any]


def varied(texts: Sequence[str]) -> dict[str, Changes]:
    """What each variant sets, by its name; several texts are combined, each value of one with each of the others.

    Raises:
        TwinError: a text that is no ``KEY=[VALUE, ...]``, a key given twice, or more than ``MOST_VARIANTS``.
    """
    axes = [_axis(text) for text in texts]
    keys = [key for key, _ in axes]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise TwinError(f"--vary: {shown(twice)} is given twice; write all its values in one list")
    found: dict[str, Changes] = {}
    if not axes:
        return found
    for values in product(*(values for _, values in axes)):
        if len(found) == MOST_VARIANTS:
            raise TwinError(f"--vary: gives more than {MOST_VARIANTS} variants; vary less, or use twin sweep")
        named = [_named(key, value, alone=len(axes) == 1) for key, value in zip(keys, values, strict=True)]
        found[_free(", ".join(named), found)] = dict(zip(keys, map(value_of, keys, values), strict=True))
    return found


def _axis(text: str) -> tuple[str, list[Any]]:
    key, equals, values_text = text.partition("=")
    if not equals or not key.strip():
        raise TwinError(f"--vary {shown(text)}: must be KEY=[VALUE, ...]; {_EXAMPLE}")
    document = strict_yaml.read_text(values_text)
    if document.faults:
        raise TwinError(f"--vary {shown(text)}: {document.faults[0].rule}; {document.faults[0].remedy}")
    values = document.value
    if not isinstance(values, list) or not values:
        raise TwinError(f"--vary {shown(text)}: must set a list of values; {_EXAMPLE}")
    return key.strip(), values


def value_of(key: str, value: Any) -> Any:
    """The value as the scenario wants it: a controller may be called by its policy."""
    return {"policy": value} if key.rsplit(".", maxsplit=1)[-1] == "controller" and isinstance(value, str) else value


def _named(key: str, value: Any, *, alone: bool) -> str:
    """A few words for a value: ``delayed, delay 2 s``; with its key's last word where several keys vary."""
    if isinstance(value, dict):
        rest = [f"{name} {described(inner)}" for name, inner in value.items() if name != "policy"]
        words = ", ".join([*([described(value["policy"])] if "policy" in value else []), *rest])
    else:
        words = described(value)
    return words if alone else f"{key.rsplit('.', maxsplit=1)[-1]} {words}"


def _free(name: str, taken: dict[str, Changes]) -> str:
    """The name, with a number behind it if it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free
