"""Quantities with units -> SI floats: ``30 min``, ``912 GB``, ``1.5 MW``, ``40 GB/s``, ``12 %``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

_TIMES = {"ns": "1e-9", "us": "1e-6", "ms": "1e-3", "s": "1", "min": "60", "h": "3600", "d": "86400"}
_BYTES = {"B": "1", "kB": "1e3", "MB": "1e6", "GB": "1e9", "TB": "1e12", "PB": "1e15", "EB": "1e18"}
_BINARY = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4, "PiB": 1024**5}
_DATA = _BYTES | {unit: str(size) for unit, size in _BINARY.items()}

UNITS: dict[str, dict[str, str]] = {
    "time": _TIMES,
    "data": _DATA,
    "data rate": {f"{unit}/s": size for unit, size in _DATA.items()},
    "power": {"W": "1", "kW": "1e3", "MW": "1e6", "GW": "1e9"},
    "fraction": {"%": "0.01"},
    "number": {},
}
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*")


def quantity(value: object, dimension: str) -> float:
    """The value in SI units; a bare number is SI already.

    Args:
        value: a number, or text such as ``"30 min"``.
        dimension: a key of ``UNITS``.
    Raises:
        ValueError: not a number, or a unit of another dimension.
    """
    units = UNITS[dimension]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"must be a {dimension}, a number with or without one of the units {', '.join(units)}")
    number, unit = match.groups()
    if unit and unit not in units:
        raise ValueError(f"unit {unit!r} is none of a {dimension}: {', '.join(units)}")
    try:
        scaled = float(Decimal(number) * Decimal(units[unit] if unit else "1"))
    except InvalidOperation:
        scaled = math.inf
    return scaled


def quantity_reader(dimension: str) -> Callable[[object], float]:
    """``quantity`` of one dimension, for a validator."""
    return lambda value: quantity(value, dimension)
