"""Quantities with units -> SI floats: ``30 min``, ``912 GB``, ``1.5 MW``, ``40 GB/s``, ``12 %``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from difflib import get_close_matches
from numbers import Integral, Real

DAY_S = 86_400.0

_TIMES = {"ns": "1e-9", "us": "1e-6", "ms": "1e-3", "s": "1", "min": "60", "h": "3600", "d": "86400"}
_BYTES = {"B": "1", "kB": "1e3", "MB": "1e6", "GB": "1e9", "TB": "1e12", "PB": "1e15", "EB": "1e18"}
_BINARY = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4, "PiB": 1024**5}
_DATA = _BYTES | {unit: str(size) for unit, size in _BINARY.items()}


@dataclass(frozen=True, slots=True)
class Dimension:
    """A kind of quantity.

    Args:
        units: factor to SI of each unit, as exact decimal text.
        si: the unit of a bare number.
        example: how to write a value of it.
    """

    units: dict[str, str]
    si: str
    example: str


DIMENSIONS: dict[str, Dimension] = {
    "time": Dimension(_TIMES, "s", "30 min"),
    "data size": Dimension(_DATA, "B", "912 GB"),
    "data rate": Dimension({f"{unit}/s": size for unit, size in _DATA.items()}, "B/s", "40 GB/s"),
    "power": Dimension({"W": "1", "kW": "1e3", "MW": "1e6", "GW": "1e9"}, "W", "1.5 MW"),
    "fraction": Dimension({"%": "0.01"}, "", "12 %"),
    "number": Dimension({}, "", "2.5"),
}

_SCALES: dict[str, Sequence[tuple[float, str]]] = {
    "s": ((DAY_S, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms")),
    "W": ((1e9, "GW"), (1e6, "MW"), (1e3, "kW"), (1.0, "W")),
    "W/s": ((1e9, "GW/s"), (1e6, "MW/s"), (1e3, "kW/s"), (1.0, "W/s")),
    "J": ((3.6e12, "GWh"), (3.6e9, "MWh"), (3.6e6, "kWh"), (1e3, "kJ"), (1.0, "J")),
    "B": ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1.0, "B")),
    "B/s": ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1.0, "B/s")),
}
_ALMOST = 0.99995  # what four digits show as 1
_ALL_DIGITS = 1000.0
_TOO_LONG = 1e12  # to be read digit by digit

NUMBER = r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_QUANTITY = re.compile(rf"\s*({NUMBER})\s*((?:%|[^\W\d_]\S*)?)\s*")
_DIGITS = re.compile(r"[0-9]{1,20}")
_LONGEST = 100  # characters of a number worth reading
_LARGEST = 1e300
_EXACT = Context(prec=2 * _LONGEST, traps=[])  # no rounding before the one to double


class RefusedValue(ValueError):
    """A value that is not what its key asks for.

    Args:
        rule: what is wrong with it, continuing the sentence that names the value.
        remedy: what to write instead.
    """

    def __init__(self, rule: str, remedy: str) -> None:
        self.rule = rule
        self.remedy = remedy
        super().__init__(f"{rule}; {remedy}")


def quantity(value: object, dimension: str) -> float:
    """The value in SI units, rounded once to the nearest double; a bare number is SI already.

    Args:
        value: a number, or text such as ``"30 min"``.
        dimension: a key of ``DIMENSIONS``.
    Raises:
        RefusedValue: not a finite number, or a unit of another dimension.
    """
    kind = DIMENSIONS[dimension]
    number, unit = _split(value, dimension)
    if unit and unit not in kind.units:
        raise RefusedValue(_unit_rule(unit, dimension), _unit_remedy(number, unit, kind))
    scaled = float(_EXACT.multiply(_EXACT.create_decimal(number), Decimal(kind.units.get(unit, "1"))))
    if not math.isfinite(scaled):
        raise RefusedValue("is too large for a number", f"write a {dimension} such as {kind.example}")
    return scaled + 0.0  # -0 is 0


def bounded_quantity(
    value: object, dimension: str, *, above: float = -math.inf, at_least: float = -math.inf, at_most: float = math.inf
) -> float:
    """The value in SI units, within the bounds (in SI units).

    Raises:
        RefusedValue: as ``quantity``, or out of bounds.
    """
    kind = DIMENSIONS[dimension]
    read = quantity(value, dimension)
    unit = f" {kind.si}" if kind.si else ""
    if read <= above:
        raise RefusedValue(
            f"must be more than {above:g}{unit}",
            f"raise it{f', as in {kind.example}' if kind.units else f' above {above:g}'}",
        )
    if read < at_least:
        raise RefusedValue(f"must be at least {at_least:g}{unit}", f"raise it to {at_least:g}{unit} or more")
    if read > at_most:
        raise RefusedValue(f"must be at most {at_most:g}{unit}", f"lower it to {at_most:g}{unit} or less")
    return read


def whole_number(value: object, *, at_least: int, at_most: int) -> int:
    """The value, if it is a whole number within the bounds.

    Raises:
        RefusedValue: a fraction, a truth value, text, or out of bounds.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        is_whole = isinstance(value, float) and value.is_integer() and at_least <= value <= at_most
        remedy = f"write {value:.0f}" if is_whole else f"write digits only, as in {max(8, at_least)}"
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            remedy = f"write digits only, without quotes and leading zeros: {int(value)}"
        raise RefusedValue("must be a whole number, without fraction, exponent or unit", remedy)
    whole = int(value)
    if whole < at_least:
        raise RefusedValue(f"must be at least {at_least}", f"raise it to {at_least} or more")
    if whole > at_most:
        raise RefusedValue(f"must be at most {at_most}", f"lower it to {at_most} or less")
    return whole


def nearest(word: str, known: list[str]) -> str | None:
    """The known word most like this one, whatever its case; none when nothing is like it."""
    folded = {other.lower(): other for other in reversed(known)}
    close = get_close_matches(word.lower()[:_LONGEST], list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def _split(value: object, dimension: str) -> tuple[str, str]:
    """Number and unit of a value, as text."""
    if isinstance(value, Real) and not isinstance(value, bool):
        number = int(value) if isinstance(value, Integral) else float(value)
        if not abs(number) <= _LARGEST:  # true for nan, and for whole numbers that no double holds
            raise RefusedValue("is no finite number", f"write a {dimension} such as {DIMENSIONS[dimension].example}")
        return repr(number), ""
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    if match is None:
        kind = DIMENSIONS[dimension]
        units = f" with one of the units {', '.join(kind.units)}, or a bare number" if kind.units else ""
        in_si = f" in {kind.si}" if kind.si else ""
        what = dimension if dimension == "number" else f"{dimension}: a number"
        raise RefusedValue(f"must be a {what}{units}{in_si}", f"write it as in {kind.example}")
    return match[1], match[2]


def _unit_rule(unit: str, dimension: str) -> str:
    homes = [name for name, kind in DIMENSIONS.items() if unit in kind.units]
    found = f"has the unit {unit!r} of a {homes[0]}" if homes else f"has the unknown unit {unit!r}"
    units = DIMENSIONS[dimension].units
    if not units:
        return f"{found}, but must be a number without unit"
    return f"{found}, but must be a {dimension} ({', '.join(units)})"


def _unit_remedy(number: str, unit: str, kind: Dimension) -> str:
    """The value as probably meant: the unit in another case, one this one starts with (``minutes``), or a near one."""
    folded = unit.lower()
    same = [known for known in kind.units if known.lower() == folded]
    starts = sorted((known for known in kind.units if folded.startswith(known.lower())), key=len, reverse=True)
    close = nearest(unit, list(kind.units))
    meant = next((known for known in (*same, *starts, close) if known), None)
    if not kind.units:
        return f"write {number}"
    if meant is None:
        return f"write it as in {kind.example}"
    is_bits = "b" in unit and "B" in meant
    return f"write {number} {meant}" + (", or an eighth of it if you mean bits" if is_bits else "")


def scaled(value: float, unit: str) -> str:
    """The value in the largest unit of which it is at least one, to four digits: ``22.8 s``, ``1.2 MW``.

    Times change to a larger unit from two of it on: ``91.2 s`` stands beside ``22.8 s``.

    Args:
        value: in the unit given, an SI unit or ``1``.
    """
    scales = _SCALES.get(unit, ((1.0, "" if unit == "1" else unit),))
    least = {size: 2.0 * size if unit == "s" and size > 1.0 else size for size, _ in scales}
    fitting = (
        scale for scale in scales if abs(value) >= _ALMOST * least[scale[0]] or (value == 0.0 and scale[0] == 1.0)
    )
    size, name = next(fitting, scales[-1])
    return f"{_digits(value / size)} {name}".rstrip()


def _digits(value: float) -> str:
    """Four significant digits, without an exponent but for the largest values."""
    return f"{value:,.0f}" if _ALL_DIGITS <= abs(value) < _TOO_LONG else f"{value:.4g}"
