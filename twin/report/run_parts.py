"""The parts of a run that several sections of its page draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Block, Floats, blocks, of_feeder
from twin.analysis.cap_line import cap_line
from twin.analysis.rhythm import Rhythm, rhythm
from twin.recording import ROOT, Recording
from twin.report.downsampling import MEAN_BINS, MOST_POINTS, ThinnedLine
from twin.report.figures import Line
from twin.report.run_summary import is_held
from twin.scenario import Cap, FeederSection, Power, time_of_day_s

PERIOD = """\
fires = checkpoints.groupby("job_id").write_start_s
period_s = (fires.max() - fires.min()).sum() / (fires.count() - 1).clip(lower=0).sum()"""
_CURVE_PIECES = 24  # of a row in which the draw moves
_STRAIGHT = 1e-9  # time constants in a row that goes straight
_CELLS_PER_PERIOD = 4  # coarser cells would show a beat between cells and cycles: then whole periods are taken


@dataclass(frozen=True, slots=True)
class JobRows:
    """The jobs by id: names, groups, launch (NaN if after the end) and end (the run's, if later) [s]."""

    names: list[str]
    groups: list[str]
    launch_s: Floats
    end_s: Floats

    @property
    def launched(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.launch_s)


class RunParts:
    """A recording and what is read from it more than once."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.manifest: Mapping[str, Any] = recording.manifest
        self.metrics: Mapping[str, Any] = recording.manifest["metrics"]
        self.end_s: float = recording.manifest["simulated_end_s"]
        scenario = recording.manifest["scenario"]
        self.power = Power.model_validate(scenario["power"])
        self.is_capped = is_held(scenario["power"])
        self.cap = self.cap_of(ROOT)

    @property
    def has_drains(self) -> bool:
        """Whether some checkpoints drain in the background."""
        return any(group["checkpoint"]["mode"] == "async" for group in self.manifest["scenario"].get("jobs", ()))

    def has(self, *tables: str) -> bool:
        """Whether all these tables were recorded."""
        return all(table in self.recording.sources for table in tables)

    @cached_property
    def jobs(self) -> JobRows:
        table = self.recording.table("jobs")
        launch_s, end_s = (table[name].to_numpy().astype(np.float64) for name in ("launch_s", "end_s"))
        return JobRows(
            table["name"].to_pylist(),
            table["group"].to_pylist(),
            launch_s,
            np.where(np.isnan(end_s), self.end_s, end_s),
        )

    @cached_property
    def rhythm(self) -> Rhythm | None:
        return rhythm(self.recording, len(self.jobs.names))

    def grid(self, most: int) -> tuple[int, float, str]:
        """Equal cells over the run, ``most`` or fewer whole periods: number, width [s] and the query of the width."""
        finest_s = self.end_s / most
        found = self.rhythm if self.has("jobs", "checkpoints") else None
        if found is None or found.period_s is None or finest_s <= found.period_s / _CELLS_PER_PERIOD:
            return most, finest_s, f"end_s / {most}"
        periods = ceil(finest_s / found.period_s)
        width_s = periods * found.period_s
        return ceil(self.end_s / width_s), width_s, f"{periods} * period_s"

    def storage_lines(self, columns: list[str], start_s: float, end_s: float) -> list[ThinnedLine]:
        """Columns of the storage table over a stretch of the run, thinned."""
        return self._lines("storage", columns, start_s, end_s)

    def power_lines(
        self, columns: list[str], start_s: float, end_s: float, feeder: str = ROOT, most: int = MOST_POINTS
    ) -> list[ThinnedLine]:
        """Columns of the power of a feeder over a stretch of the run, thinned to ``most`` points a line."""
        return self._lines("power", columns, start_s, end_s, feeder, most)

    def section_of(self, feeder: str) -> Power | FeederSection:
        """A feeder as the scenario has it."""
        return self.power if feeder == ROOT else self.power.feeders[feeder]

    def cap_of(self, feeder: str) -> Line | None:
        """When which cap of a feeder begins to hold; None without one."""
        return self._steps(self.section_of(feeder).cap)

    def limit_of(self, feeder: str) -> Line | None:
        """The same for what excursions are counted against, where that is not the cap."""
        section = self.section_of(feeder)
        return None if section.limit_of_excursions is section.cap else self._steps(section.limit_of_excursions)

    def caps_between(self, feeder: str, start_s: float, end_s: float) -> tuple[Line | None, Line | None]:
        """Cap of a feeder over a stretch of the run, and what excursions are counted against if that is not the cap."""
        return between(self.cap_of(feeder), start_s, end_s), between(self.limit_of(feeder), start_s, end_s)

    def _steps(self, cap: Cap | None) -> Line | None:
        if cap is None:
            return None
        return cap_line(cap, time_of_day_s(self.manifest["scenario"].get("epoch")), self.end_s)

    def cap_between(self, start_s: float, end_s: float) -> Line | None:
        """The cap of the site over a stretch of the run, as a step function; None without one."""
        return between(self.cap, start_s, end_s)

    def _lines(
        self,
        table: str,
        columns: list[str],
        start_s: float,
        end_s: float,
        feeder: str = ROOT,
        most: int = MOST_POINTS,
    ) -> list[ThinnedLine]:
        _, mean_s, _ = self.grid(MEAN_BINS)
        lines = [ThinnedLine(start_s, end_s, mean_s, most) for _ in columns]
        for block in self._blocks(table, columns, feeder):
            if block["time_s"][0] <= end_s:
                for line, column in zip(lines, columns, strict=True):
                    line.add(block["time_s"], block[column])
        return lines

    def _blocks(self, table: str, columns: list[str], feeder: str) -> Iterator[Block]:
        wanted = ["time_s", *columns]
        if table != "power":
            return blocks(self.recording.batches(table, wanted), wanted)
        moving = [name for name in ("draw_end_w", "target", "tau_s") if name not in wanted]
        batches = of_feeder(self.recording.batches(table, ["feeder", *wanted, *moving]), feeder)
        return in_pieces(blocks(batches, [*wanted, *moving]), columns)


def between(steps: Line | None, start_s: float, end_s: float) -> Line | None:
    """A step function over a stretch of time, its last level repeated at the end; None without one."""
    if steps is None:
        return None
    times_s, levels = steps
    first = max(0, int(np.searchsorted(times_s, start_s, side="right")) - 1)
    last = max(first + 1, int(np.searchsorted(times_s, end_s, side="left")))
    edges_s = np.append(np.maximum(times_s[first:last], start_s), end_s)
    return edges_s, np.append(levels[first:last], levels[last - 1])


def in_pieces(rows: Iterator[Block], columns: list[str]) -> Iterator[Block]:
    """The rows of a feeder, those in which the draw or the speed moves cut into short steps along their curve.

    A row needs the start of the next one: the last row of each block goes over to the next block. A draw moves like
    the speed does, by the time constant, or straight where that of another feeder moves it.
    """
    held: Block | None = None
    for block in rows:
        joined = block if held is None else {name: np.append(held[name], block[name]) for name in block}
        held = {name: values[-1:] for name, values in joined.items()}
        if len(joined["time_s"]) > 1:
            yield _pieces(joined, columns)
    if held is not None:
        yield {name: held[name] for name in ("time_s", *columns)}


def _pieces(rows: Block, columns: list[str]) -> Block:
    """All rows but the last."""
    time_s = rows["time_s"]
    hold_s, end_w = np.diff(time_s), rows["draw_end_w"][:-1]
    tau_s = rows["tau_s"][:-1]
    moves = (~np.isnan(end_w) | ~np.isnan(tau_s)) & (hold_s > 0.0)
    plain = {name: rows[name][:-1] for name in ("time_s", *columns)}
    if not moves.any():
        return plain
    places = np.arange(_CURVE_PIECES) / _CURVE_PIECES
    middles = places + np.where(places > 0.0, 0.5 / _CURVE_PIECES, 0.0)  # the first step keeps the value at the start
    lags = np.where(np.isnan(tau_s), _STRAIGHT, hold_s / tau_s)[moves, np.newaxis]
    way = np.expm1(-lags * middles) / np.expm1(-lags)
    counts = np.where(moves, _CURVE_PIECES, 1)
    steps = {name: np.repeat(values, counts) for name, values in plain.items()}
    curved = np.repeat(moves, counts)
    steps["time_s"][curved] = (time_s[:-1][moves, np.newaxis] + hold_s[moves, np.newaxis] * places).ravel()
    if "draw_w" in steps:
        from_w = plain["draw_w"][moves]
        to_w = np.where(np.isnan(end_w[moves]), from_w, end_w[moves])
        steps["draw_w"][curved] = (from_w[:, np.newaxis] + (to_w - from_w)[:, np.newaxis] * way).ravel()
    if "speed" in steps:
        speed = plain["speed"][moves]
        target = rows["target"][:-1][moves]
        toward = np.where(np.isnan(target), 0.0, target - speed)[:, np.newaxis] * -np.expm1(-lags * middles)
        steps["speed"][curved] = (speed[:, np.newaxis] + toward).ravel()
    return steps


def period_for(query: str) -> str:
    """The set-up that a query needs before all other."""
    return f"{PERIOD}\n" if "period_s" in query else ""


def drawn(lines: list[ThinnedLine]) -> list[Line]:
    """The points of each line."""
    return [line.points() for line in lines]
