"""Axes in units people read: one unit for all of an axis, fit for its largest value."""

from __future__ import annotations

from dataclasses import dataclass

from twin.analysis.blocks import Floats
from twin.units import DAY_S, quantity, scaled

_DIMENSIONS = {"s": "time", "W": "power", "B/s": "data rate", "B": "data size"}
_MINUTE_S, _HOUR_S = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit and its size in SI."""

    unit: str
    size: float

    def of(self, values: Floats) -> Floats:
        """The values, given in SI, in this unit."""
        return values / self.size


def scale_for(largest: float, unit: str) -> Scale:
    """The scale in which ``largest``, in the SI unit given, is at least one and readable."""
    name = scaled(largest, unit).split()[-1]
    return Scale(name, quantity(f"1 {name}", _DIMENSIONS[unit]))


def clock(time_s: float) -> str:
    """A time of the run as days and time of day: ``3 d 04:05:06``; the day is left out before the second."""
    days, rest_s = divmod(round(time_s), int(DAY_S))
    hours, rest_s = divmod(rest_s, int(_HOUR_S))
    minutes, seconds = divmod(rest_s, int(_MINUTE_S))
    return f"{f'{days} d ' if days else ''}{hours:02}:{minutes:02}:{seconds:02}"
