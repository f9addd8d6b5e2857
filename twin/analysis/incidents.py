"""Incidents of a run that its user should look at, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from twin.analysis.metrics import Value
from twin.recording import Recording
from twin.scenario import ROOT, Scenario, sections
from twin.units import scaled


def incidents(scenario: Scenario, recording: Recording) -> list[str]:
    """Warnings that follow from the events table of a run; none without that table."""
    if scenario.fleet is None or "events" not in recording.sources:
        return []
    first: dict[str, Any] | None = None
    times = 0
    for batch in recording.batches("events", ["time_s", "kind", "value"]):
        exceeded = batch.filter(pc.equal(batch["kind"].cast(pa.string()), "fleet_exceeded")).to_pylist()
        times += len(exceeded)
        first = first or next(iter(exceeded), None)
    if first is None:
        return []
    return [
        f"fleet.nodes: {scenario.fleet.nodes}: the jobs need more nodes at once, {times} times, "
        f"first {first['value']:.0f} at {first['time_s']:g} s; raise fleet.nodes or launch the jobs further apart"
    ]


def above_cap(scenario: Scenario, metrics: Mapping[str, Value]) -> list[str]:
    """A warning for each cap that the draw was above; none if the excursions of the run were not recorded."""
    of_feeders: Any = metrics.get("time_over_cap_by_feeder_s") or {}
    over_s = {ROOT: metrics.get("time_over_cap_s"), **of_feeders}
    found = []
    for name, (key, section) in sections(scenario.power).items():
        if time_s := over_s.get(name):
            limit = section.limit_of_excursions
            place = f"{key}.{'cap' if limit is section.cap else 'limit'}"
            value = f", {scaled(limit, 'W')}," if isinstance(limit, float) else ""
            found.append(f"the draw is above {place}{value} for {scaled(time_s, 's')}")
    return found
