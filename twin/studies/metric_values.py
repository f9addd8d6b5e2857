"""Values of metrics as a user writes them: ``over_cap_s=60``, ``1 min``, ``12 MW``, ``90 %``."""

from __future__ import annotations

from twin.analysis.metrics import Metric
from twin.errors import TwinError
from twin.units import RefusedValue, quantity

_DIMENSIONS = {"s": "time", "W": "power", "B": "data size", "B/s": "data rate", "1": "fraction"}


def metric_value(metric: Metric, text: str, where: str) -> float:
    """The value in the unit of the metric; a bare number is in that unit already.

    Args:
        where: what is told of it in an error: the option, as written.
    Raises:
        TwinError: no number, or a unit of another dimension.
    """
    number: float | str
    try:
        number = float(text)
    except ValueError:
        number = text.strip()
    try:
        return quantity(number, _DIMENSIONS.get(metric.unit, "number"))
    except RefusedValue as refusal:
        raise TwinError(f"{where}: {metric.name} {refusal.rule}; {refusal.remedy}") from None
