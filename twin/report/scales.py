"""Axes in units people read: one unit for all of an axis, fit for its largest value."""

from __future__ import annotations

from dataclasses import dataclass

from twin.analysis.blocks import Floats
from twin.analysis.metrics import Metric
from twin.report.run_summary import is_share
from twin.units import DAY_S, quantity, scaled

_DIMENSIONS = {"s": "time", "W": "power", "B/s": "data rate", "B": "data size"}
_SIZES = {
    "J": {"GWh": 3.6e12, "MWh": 3.6e9, "kWh": 3.6e6, "kJ": 1e3, "J": 1.0},
    "W/s": {"GW/s": 1e9, "MW/s": 1e6, "kW/s": 1e3, "W/s": 1.0},
}
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
    if unit not in _DIMENSIONS and unit not in _SIZES:
        return Scale("" if unit == "1" else unit, 1.0)
    name = scaled(largest, unit).split()[-1]
    if unit in _SIZES:
        return Scale(name, _SIZES[unit][name])
    return Scale(name, quantity(f"1 {name}", _DIMENSIONS[unit]))


def scale_of(metric: Metric, largest: float) -> Scale:
    """The scale of a metric in which ``largest`` is readable; shares are in percent."""
    return Scale("%", 0.01) if is_share(metric) else scale_for(largest, metric.unit)


def scale_of_difference(metric: Metric, largest: float) -> Scale:
    """The scale of differences of a metric; those of shares are in percentage points."""
    return Scale("points", 0.01) if is_share(metric) else scale_for(largest, metric.unit)


def with_unit(label: str, scale: Scale) -> str:
    """The title of an axis."""
    return f"{label} [{scale.unit}]" if scale.unit else label


def clock(time_s: float) -> str:
    """A time of the run as days and time of day: ``3 d 04:05:06``; the day is left out before the second."""
    days, rest_s = divmod(round(time_s), int(DAY_S))
    hours, rest_s = divmod(rest_s, int(_HOUR_S))
    minutes, seconds = divmod(rest_s, int(_MINUTE_S))
    return f"{f'{days} d ' if days else ''}{hours:02}:{minutes:02}:{seconds:02}"
