"""The variants of a comparison: what each sets, and which one the others are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twin.errors import TwinError
from twin.scenario import Cap, DailyCap, Scenario, sections
from twin.units import nearest

AS_WRITTEN = "baseline"  # name of the scenario as written, beside its variants
_REALISTIC = {"policy": "delayed"}
_MOST_NAMED = 12

Changes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cast:
    """Who is compared.

    Args:
        baseline: name of the variant that the others are compared with.
        changes: what each variant sets, by its name, the baseline first.
        added: the name of the realistic variant that was added; None if none was.
    """

    baseline: str
    changes: dict[str, Changes]
    added: str | None = None


def cast(written: Mapping[str, Changes], varied: Mapping[str, Changes], baseline: str | None) -> Cast:
    """The variants of a file beside the scenario as written, or those that were asked for instead.

    A variant that changes nothing is the scenario as written, under a name of the user's.

    Args:
        written: variants of the scenario.
        varied: variants asked for; the first one is the baseline.
        baseline: name of another baseline.
    Raises:
        TwinError: nothing to compare, or a baseline that is no variant.
    """
    own_name = next((name for name, changes in written.items() if not changes), AS_WRITTEN)  # one may be it, named
    found = dict(varied) or {own_name: {}, **written}
    if not varied and not written:
        raise TwinError(
            "variants: the scenario names none, so there is nothing to compare; write some under `variants:`, or vary "
            "a key, as in --vary 'power.controller=[anonymous, sampled]'"
        )
    if baseline is not None and baseline not in found:
        meant = nearest(baseline, list(found))
        remedy = f"did you mean {meant!r}?" if meant else f"name one of {', '.join(list(found)[:_MOST_NAMED])}"
        raise TwinError(f"--baseline {baseline!r}: names no variant; {remedy}")
    first = baseline if baseline is not None else next(iter(found))
    return Cast(first, {first: found[first], **found})


def idealised(scenario: Scenario) -> dict[str, Changes]:
    """What makes the controllers that hold a cap at once, without error, realistic: their sections by key."""
    return {
        f"{key}.controller": dict(_REALISTIC)
        for key, section in sections(scenario.power).values()
        if section.cap is not None and section.controller.policy == "anonymous"
    }


def with_a_realistic_variant(found: Cast, scenarios: Mapping[str, Scenario]) -> Cast:
    """The same, and a delayed variant of a baseline whose control is idealised, unless one is there already."""
    to_change = idealised(scenarios[found.baseline])
    if not to_change or any(_acts_late(scenario) for scenario in scenarios.values()):
        return found
    name = next(name for name in ("delayed", "delayed (added)") if name not in found.changes)
    added = {name: {**found.changes[found.baseline], **to_change}}
    return Cast(found.baseline, found.changes | added, name)


def is_tunable(scenario: Scenario) -> bool:
    """Whether the site's controller holds a cap, or a limit of watts per node, that could be another.

    Raises:
        TwinError: a scenario without a cap to count excursions against.
    """
    power = scenario.power
    if power.limit_of_excursions is None:
        raise TwinError("power.cap: is missing, so nothing is over it; --match needs a cap, as in power.cap: 15 MW")
    return power.controller.limit_w is not None or (power.cap is not None and power.controller.policy != "none")


def with_its_caps_at(scenario: Scenario, factor: float) -> Changes:
    """What scales the caps that the site's controller holds, while excursions stay counted against those written.

    A controller that limits the watts of each node has that limit scaled.
    """
    power = scenario.power
    assert power.limit_of_excursions is not None
    changes: Changes = {"power.limit": plain_cap(power.limit_of_excursions)}
    if power.controller.limit_w is not None:
        return changes | {"power.controller.limit": factor * power.controller.limit_w}
    assert power.cap is not None
    return changes | {"power.cap": plain_cap(power.cap, factor)}


def plain_cap(cap: Cap, factor: float = 1.0) -> Any:
    """A cap as a scenario file would hold it, scaled."""
    if isinstance(cap, DailyCap):
        return {"daily": plain_cap(cap.daily, factor)}
    if isinstance(cap, tuple):
        return [{"at": step.at_s, "value": factor * step.value_w} for step in cap]
    return factor * cap


def _acts_late(scenario: Scenario) -> bool:
    return any(section.controller.policy == "delayed" for _, section in sections(scenario.power).values())
