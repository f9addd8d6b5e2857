"""A scenario as resolved: every value in SI units, where the defaulted ones come from, and the hash of it all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from twin.scenario.launch_log import Replay
from twin.scenario.models import Scenario


def resolved(scenario: Scenario) -> dict[str, Any]:
    """Every value of the scenario in SI units by key, ready for JSON; built again, it gives an equal scenario.

    The variants are left out: they change nothing of the scenario itself.
    """
    return scenario.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"variants"})


def scenario_hash(scenario: Scenario) -> str:
    """SHA-256 of the resolved scenario, in hexadecimal; it changes with any value."""
    return hash_of(resolved(scenario))


def hash_of(resolved_scenario: Mapping[str, Any]) -> str:
    """The same of a scenario as resolved, wherever it was kept."""
    text = json.dumps(resolved_scenario, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def defaulted(scenario: Scenario) -> list[dict[str, Any]]:
    """Every value that came from a default: its key, value in SI units, mark (see ``Mark``) and source."""
    return list(_defaulted("", scenario))


def _defaulted(prefix: str, section: BaseModel) -> Iterator[dict[str, Any]]:
    if isinstance(section, Replay) and isinstance(section.profile, str):
        yield from _defaulted(f"{prefix}profile.", section.job_profile)
    for name, field in type(section).model_fields.items():
        key = f"{prefix}{field.alias or name}"
        value = getattr(section, name)
        origin = field.json_schema_extra
        came_from_default = name not in section.model_fields_set
        if came_from_default and isinstance(origin, dict) and "mark" in origin:
            if value is not None or field.default_factory is None:  # a default that depends may say: does not apply
                yield {"key": key, "value": _plain(value), "mark": origin["mark"], "source": origin["source"]}
        elif isinstance(value, BaseModel):
            yield from _defaulted(f"{key}.", value)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from _defaulted(f"{key}[{index}].", item)
        elif isinstance(value, dict):
            for own, item in value.items():
                if isinstance(item, BaseModel):
                    yield from _defaulted(f"{key}.{own}.", item)


def _plain(value: Any) -> Any:
    """The value as JSON would hold it."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if isinstance(value, BaseModel) else value
