"""Energy, peaks, steps, ramps, and what binds; between two rows a draw may move, under lagged control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

import numpy as np
import pyarrow as pa

from twin.analysis.blocks import Block, Floats, blocks, of_feeder
from twin.analysis.metrics import Value
from twin.analysis.quantiles import time_quantiles
from twin.analysis.step_functions import Steps, largest_ramp, steps
from twin.recording import ROOT, Recording
from twin.scenario import Power

ROUNDING = 1e-9  # of a draw: less is none
_HOUR_S = 3600.0
_PIECES = 64  # of a stretch in which the draw moves, for the time at or below a draw
_COLUMNS = ["time_s", "demand_w", "draw_w", "draw_end_w", "speed", "target", "energy_j"]
_LIMITING = ("fixed_limit", "three_band")  # policies that command no speed for all


def power_metrics(recording: Recording, power: Power, limit_events: int | None, end_s: float) -> dict[str, Value]:
    """The power metrics of a run of ``end_s`` > 0 seconds, but for those of excursions.

    Args:
        recording: with the table power.
        power: the section of the scenario.
        limit_events: limits cut and released; None if not recorded.
    """
    totals = feeder_totals(recording, power, end_s)
    site = totals.get(ROOT)
    if site is None:
        return {}

    def draws() -> Iterator[Steps]:
        columns = ["time_s", "draw_w", "draw_end_w"]
        batches = of_feeder(recording.batches("power", ["feeder", *columns]), ROOT)
        return (_with_ends(each) for each in steps(blocks(batches, columns), end_s))

    (p99_w,) = time_quantiles(lambda: (_held(step) for step in draws()), (0.99,)) or (None,)
    found: dict[str, Value] = {
        "energy_j": site.energy_j,
        "mean_power_w": site.energy_j / end_s,
        "peak_power_w": site.peak_w,
        "power_p99_w": p99_w,
        "min_power_w": site.min_w,
        "load_factor": site.energy_j / end_s / site.peak_w if site.peak_w > 0.0 else None,
        "largest_step_w": site.step_w,
        **{f"ramp_{w}s_w_s": largest_ramp(draws, "draw_w", float(w), end_s, "draw_end_w") for w in (1, 10, 60)},
        "cap_binding_share": site.bound_s / end_s,
    }
    if limit_events is not None:
        actions = limit_events + sum(feeder.commands for feeder in totals.values())
        found["control_actions_per_hour"] = actions * _HOUR_S / end_s
    if power.feeders:
        found |= {
            "energy_by_feeder_j": {name: feeder.energy_j for name, feeder in totals.items()},
            "peak_power_by_feeder_w": {name: feeder.peak_w for name, feeder in totals.items()},
            "cap_binding_share_by_feeder": {name: feeder.bound_s / end_s for name, feeder in totals.items()},
        }
    return found


@dataclass(slots=True)
class FeederTotals:
    """What one feeder drew over the run.

    Args:
        limits: its controller limits job by job.
        energy_j: drawn; exact.
        peak_w, min_w: highest and lowest draw that lasted.
        step_w: largest change of the draw in one instant after t = 0.
        bound_s: time that its control slowed some job down.
        commands: changes of the speed commanded.
    """

    limits: bool
    energy_j: float = 0.0
    peak_w: float = 0.0
    min_w: float = inf
    step_w: float = 0.0
    bound_s: float = 0.0
    commands: int = 0

    def add(self, rows: Block, hold_s: Floats) -> None:
        """Add rows with the time that each holds; the last one but for its hold is added once more with the next."""
        draw_w, end_w, demand_w = rows["draw_w"], rows["draw_end_w"], rows["demand_w"]
        lasting = hold_s > 0.0
        self.peak_w = max(self.peak_w, float(np.maximum(draw_w, end_w).max(where=lasting, initial=0.0)))
        self.min_w = min(self.min_w, float(np.minimum(draw_w, end_w).min(where=lasting, initial=inf)))
        self.step_w = max(self.step_w, float(np.abs(draw_w[1:] - end_w[:-1]).max(initial=0.0)))
        commanded = np.where(np.isnan(rows["target"]), rows["speed"], rows["target"])
        self.commands += int(np.count_nonzero(np.diff(commanded)))
        is_slowed = np.minimum(draw_w, end_w) < demand_w * (1.0 - ROUNDING)
        commands_less = np.minimum(rows["speed"], commanded) < 1.0
        self.bound_s += float(hold_s[is_slowed & (commands_less | self.limits)].sum())

    def close(self, last: Block, hold_s: float) -> None:
        """The last row, and how long it holds; a draw that still moves in it counts by its mean of both ends."""
        self.add(last, np.array([hold_s]))
        self.energy_j = float(last["energy_j"][0] + hold_s * 0.5 * (last["draw_w"][0] + last["draw_end_w"][0]))


def feeder_totals(recording: Recording, power: Power, end_s: float) -> dict[str, FeederTotals]:
    """The totals of each feeder by name, the site's first; one that has no row is left out. One pass for all."""
    names = [ROOT, *power.feeders]
    policies = [power.controller.policy, *(section.controller.policy for section in power.feeders.values())]
    totals = [FeederTotals(policy in _LIMITING) for policy in policies]
    held: dict[int, Block] = {}  # the newest row of each
    batches = _numbered(recording.batches("power", ["feeder", *_COLUMNS]), names)
    for block in blocks(batches, ["feeder", *_COLUMNS]):
        order = np.argsort(block["feeder"], kind="stable")
        places, starts = np.unique(block["feeder"][order], return_index=True)
        for place, mine in zip(places.tolist(), np.split(order, starts[1:]), strict=True):
            rows = {name: block[name][mine] for name in _COLUMNS}
            rows["draw_end_w"] = np.where(np.isnan(rows["draw_end_w"]), rows["draw_w"], rows["draw_end_w"])
            if place in held:
                rows = {name: np.append(held[place][name], rows[name]) for name in _COLUMNS}
            totals[place].add(rows, np.append(np.diff(rows["time_s"]), 0.0))
            held[place] = {name: rows[name][-1:] for name in _COLUMNS}
    for place, last in held.items():
        totals[place].close(last, end_s - float(last["time_s"][0]))
    return {name: totals[place] for place, name in enumerate(names) if place in held}


def _numbered(batches: Iterable[pa.RecordBatch], names: list[str]) -> Iterator[pa.RecordBatch]:
    """The same with the place of each feeder among the names instead of its own."""
    places = {name: place for place, name in enumerate(names)}
    for batch in batches:
        feeders = batch.column("feeder")
        of_code = np.array([places[name] for name in feeders.dictionary.to_pylist()], np.int32)
        numbers = pa.array(of_code[feeders.indices.to_numpy()])
        yield pa.RecordBatch.from_arrays([numbers, *batch.columns[1:]], ["feeder", *batch.schema.names[1:]])


def _with_ends(step: Steps) -> Steps:
    """The same with the draw at the end of every row."""
    draw_w, end_w = step.values["draw_w"], step.values["draw_end_w"]
    step.values["draw_end_w"] = np.where(np.isnan(end_w), draw_w, end_w)
    return step


def _held(step: Steps) -> tuple[Floats, Floats]:
    """Draws and how long each was held; a stretch in which it moves is cut into equal parts, each at its mean."""
    draw_w, end_w, hold_s = step.values["draw_w"], step.values["draw_end_w"], step.hold_s
    moves = end_w != draw_w
    if not moves.any():
        return draw_w, hold_s
    places = (np.arange(_PIECES) + 0.5) / _PIECES
    pieces_w = draw_w[moves, np.newaxis] + (end_w - draw_w)[moves, np.newaxis] * places
    pieces_s = np.repeat(hold_s[moves] / _PIECES, _PIECES)
    return np.append(draw_w[~moves], pieces_w.ravel()), np.append(hold_s[~moves], pieces_s)
