"""Which guess must be measured first: the swing of a metric when each guessed default moves a share up and down."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from twin.analysis.intervals import interval, paired_difference
from twin.scenario import Scenario, defaulted
from twin.studies.variants import Changes

SHARE = 0.25
_WHY_NOT = "the rules of the scenario leave no room for the move"
_PROFILE = "replay.profile."


@dataclass(frozen=True, slots=True)
class Guess:
    """A default that is a guess.

    Args:
        key: of the value, without numbers of groups: the same default of several groups is one guess.
        places: the keys that have it.
        value: in SI.
        source: what the guess is based on.
    """

    key: str
    places: tuple[str, ...]
    value: float
    source: str

    def moved_by(self, factor: float, scenario: Scenario) -> Changes:
        """What sets it to ``factor`` times its value."""
        return dict(_change(place, factor * self.value, scenario) for place in self.places)


@dataclass(frozen=True, slots=True)
class Move:
    """A guess moved down or up.

    Args:
        side: ``low`` or ``high``.
        value: what it is set to.
        scenario: with that value; None if it cannot have it.
    """

    guess: Guess
    side: str
    value: float
    scenario: Scenario | None


def moves(scenario: Scenario, changed: Callable[[Changes], Scenario | None]) -> list[Move]:
    """Each guess of a scenario moved down, then up.

    Args:
        changed: the scenario with some keys set; None if it cannot be.
    """
    return [
        Move(guess, side, factor * guess.value, changed(guess.moved_by(factor, scenario)) if guess.value else None)
        for guess in guesses(scenario)
        for side, factor in (("low", 1.0 - SHARE), ("high", 1.0 + SHARE))
    ]


def guesses(scenario: Scenario) -> list[Guess]:
    """The guessed defaults that are numbers, in the order of the file."""
    found: dict[tuple[str, float], Guess] = {}
    for default in defaulted(scenario):
        value = default["value"]
        if default["mark"] != "guess" or isinstance(value, bool) or not isinstance(value, int | float):
            continue
        key = re.sub(r"\[\d+\]", "[]", default["key"])
        known = found.get((key, value))
        places = (*(known.places if known else ()), default["key"])
        found[key, value] = Guess(key, places, value, default["source"])
    return list(found.values())


def _change(place: str, value: float, scenario: Scenario) -> tuple[str, Any]:
    """The key to set, and its value: a profile that has a name is written out."""
    if not place.startswith(_PROFILE) or scenario.replay is None or not isinstance(scenario.replay.profile, str):
        return place, value
    profile = scenario.replay.job_profile.model_dump(mode="json", by_alias=True, exclude_none=True)
    section: Any = profile
    *above, last = place.removeprefix(_PROFILE).split(".")
    for name in above:
        section = section[name]
    section[last] = value
    return _PROFILE.rstrip("."), profile


def _field(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, metadata={"meaning": meaning})


_NUMBER = pa.float64()
SENSITIVITY_SCHEMA = pa.schema(
    [
        _field("key", pa.string(), "the guessed default"),
        _field("mark", pa.string(), "guess"),
        _field("source", pa.string(), "what the guess is based on"),
        _field("value", _NUMBER, "as guessed, in SI"),
        _field("low_value", _NUMBER, "moved down; null where it cannot be"),
        _field("high_value", _NUMBER, "moved up; null where it cannot be"),
        _field("unit", pa.string(), "SI unit of these"),
        _field("metric_at_low", _NUMBER, "mean of the metric with the low value"),
        _field("metric_at_high", _NUMBER, "mean of the metric with the high value"),
        *(
            _field(f"difference_{side}{end}", _NUMBER, f"with the {side} value less as written: {what}")
            for side in ("low", "high")
            for end, what in (("", "mean"), ("_low", "lower end"), ("_high", "upper end"))
        ),
        _field("swing", _NUMBER, "|metric at high - metric at low|; the larger single difference if one is not known"),
        _field("note", pa.string(), "why it could not be moved"),
    ]
)


def sensitivity_table(
    base: Sequence[float | None],
    planned: Sequence[Move],
    moved: Sequence[Sequence[float | None]],
    units: Mapping[str, str],
) -> pa.Table:
    """One row per guess, the largest swing first.

    Args:
        base: metric of each replica as written.
        planned: the moves, as ``moves`` gives them.
        moved: metric of each replica for each of them that has a scenario, in their order.
        units: SI unit of the values, by key; one that is missing has none.
    """
    rows: dict[Guess, dict[str, Any]] = {}
    results = iter(moved)
    for move in planned:
        row = rows.setdefault(move.guess, _opening(move.guess, units))
        if move.scenario is None:
            row["note"] = _WHY_NOT if move.guess.value else "a share of 0 is 0: measure it, or try a value"
        else:
            row |= _measured(move, base, next(results))
    for row in rows.values():
        row["swing"] = _swing(row)
    in_order = sorted(rows.values(), key=lambda row: -1.0 if row["swing"] is None else row["swing"], reverse=True)
    return pa.Table.from_pylist(in_order, SENSITIVITY_SCHEMA)


def _opening(guess: Guess, units: Mapping[str, str]) -> dict[str, Any]:
    unit = units.get(guess.key, "")
    return {"key": guess.key, "mark": "guess", "source": guess.source, "value": guess.value, "unit": unit, "note": ""}


def _measured(move: Move, base: Sequence[float | None], values: Sequence[float | None]) -> dict[str, Any]:
    found = paired_difference(base, values).interval
    return {
        f"{move.side}_value": move.value,
        f"metric_at_{move.side}": interval([value for value in values if value is not None]).mean,
        f"difference_{move.side}": found.mean,
        f"difference_{move.side}_low": found.low,
        f"difference_{move.side}_high": found.high,
    }


def _swing(row: Mapping[str, Any]) -> float | None:
    low, high = row.get("metric_at_low"), row.get("metric_at_high")
    if low is not None and high is not None:
        return abs(float(high) - float(low))
    known = [float(row[key]) for key in ("difference_low", "difference_high") if row.get(key) is not None]
    return abs(known[0]) if known else None
