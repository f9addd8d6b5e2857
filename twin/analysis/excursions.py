"""Excursions above the caps, from the incidents that each leaves: when it begins, how high it goes, when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twin.analysis.blocks import Floats
from twin.analysis.cap_line import cap_line, lowest_in
from twin.analysis.metrics import Value
from twin.recording import ROOT, Recording
from twin.scenario import Cap

_BEGIN, _PEAK, _END = "cap_exceeded", "excursion_peak", "excursion_end"


@dataclass(slots=True)
class Excursions:
    """What one feeder did above its cap within the run.

    Args:
        count: excursions [-].
        time_s, energy_j: in them, and above the cap in them.
        longest_s: the longest [s].
        overshoot: highest draw of one over the lowest cap in force during it, less 1 [-].
    """

    count: int = 0
    time_s: float = 0.0
    energy_j: float = 0.0
    longest_s: float = 0.0
    overshoot: float = 0.0

    def add(self, begin_s: Floats, end_s: Floats, peak_w: Floats, energy_j: Floats, cap_w: Floats) -> None:
        """Add excursions, arrays of one shape (excursions,)."""
        spans_s = end_s - begin_s
        self.count += len(spans_s)
        self.time_s += float(spans_s.sum())
        self.energy_j += float(energy_j.sum())
        self.longest_s = max(self.longest_s, float(spans_s.max(initial=0.0)))
        self.overshoot = max(self.overshoot, float((peak_w / cap_w - 1.0).max(initial=0.0)))


def excursions(
    recording: Recording, caps: Mapping[str, Cap | None], start_s: float, end_s: float
) -> dict[str, Excursions]:
    """The excursions of each feeder with a cap, by its name.

    Args:
        recording: with the table events.
        caps: of the feeders by name, or what else their draw is counted against.
        start_s, end_s: time of day of t = 0, and end of the run [s].
    """
    steps = {name: cap_line(cap, start_s, end_s) for name, cap in caps.items() if cap is not None}
    found = {name: Excursions() for name in steps}
    begun: dict[str, Floats] = {name: np.zeros(0) for name in steps}  # excursions that go on into the next batch
    peaked: dict[str, Floats] = {name: np.zeros(0) for name in steps}
    for batch in recording.batches("events", ["time_s", "kind", "feeder", "value"]):
        kinds, feeders = (batch[column].cast(pa.string()) for column in ("kind", "feeder"))
        of_kind = {kind: pc.equal(kinds, kind) for kind in (_BEGIN, _PEAK, _END)}
        concerned = feeders.filter(pc.is_in(kinds, pa.array(list(of_kind))))
        for name in pc.unique(concerned).to_pylist():
            mine = pc.equal(feeders, name)
            rows = {kind: batch.filter(pc.and_(mine, hits)) for kind, hits in of_kind.items()}
            begin_s = np.append(begun[name], _floats(rows[_BEGIN], "time_s"))
            peak_w = np.append(peaked[name], _floats(rows[_PEAK], "value"))
            ended_s, energy_j = _floats(rows[_END], "time_s"), _floats(rows[_END], "value")
            done = len(ended_s)
            cap_w = lowest_in(steps[name], begin_s[:done], ended_s)
            found[name].add(begin_s[:done], ended_s, peak_w[:done], energy_j, cap_w)
            begun[name], peaked[name] = begin_s[done:], peak_w[done:]
    return found


def limit_events(recording: Recording) -> int:
    """How often three-band controllers cut limits, and removed them."""
    kinds = pa.array(["limits_cut", "limits_released"])
    batches = recording.batches("events", ["kind"])
    return sum(int(pc.sum(pc.is_in(batch["kind"].cast(pa.string()), kinds)).as_py() or 0) for batch in batches)


def excursion_metrics(found: Mapping[str, Excursions]) -> dict[str, Value]:
    """The metrics of the site, and by feeder where there are others; none without a cap."""
    metrics: dict[str, Value] = {}
    if ROOT in found:
        site = found[ROOT]
        metrics |= {
            "time_over_cap_s": site.time_s,
            "energy_over_cap_j": site.energy_j,
            "excursions": site.count,
            "longest_excursion_s": site.longest_s,
            "highest_overshoot_share": site.overshoot,
        }
    if set(found) - {ROOT}:
        metrics |= {
            "time_over_cap_by_feeder_s": {name: each.time_s for name, each in found.items()},
            "energy_over_cap_by_feeder_j": {name: each.energy_j for name, each in found.items()},
            "excursions_by_feeder": {name: each.count for name, each in found.items()},
            "longest_excursion_by_feeder_s": {name: each.longest_s for name, each in found.items()},
            "highest_overshoot_share_by_feeder": {name: each.overshoot for name, each in found.items()},
        }
    return metrics


def _floats(batch: pa.RecordBatch, column: str) -> Floats:
    values: Floats = batch[column].to_numpy(zero_copy_only=False)
    return values
