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
from twin.analysis.rhythm import Rhythm, rhythm
from twin.recording import ROOT, Recording
from twin.report.downsampling import MEAN_BINS, ThinnedLine
from twin.report.figures import Line
from twin.report.run_summary import is_held

PERIOD = """\
fires = checkpoints.groupby("job_id").write_start_s
period_s = (fires.max() - fires.min()).sum() / (fires.count() - 1).clip(lower=0).sum()"""
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
        power = recording.manifest["scenario"]["power"]
        self.cap_w: float | None = power.get("cap")
        self.is_capped = is_held(power)

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

    def power_lines(self, columns: list[str], start_s: float, end_s: float) -> list[ThinnedLine]:
        """Columns of the site's power over a stretch of the run, thinned."""
        return self._lines("power", columns, start_s, end_s)

    def _lines(self, table: str, columns: list[str], start_s: float, end_s: float) -> list[ThinnedLine]:
        _, mean_s, _ = self.grid(MEAN_BINS)
        lines = [ThinnedLine(start_s, end_s, mean_s) for _ in columns]
        for block in self._blocks(table, columns):
            if block["time_s"][0] <= end_s:
                for line, column in zip(lines, columns, strict=True):
                    line.add(block["time_s"], block[column])
        return lines

    def _blocks(self, table: str, columns: list[str]) -> Iterator[Block]:
        wanted = ["time_s", *columns]
        if table != "power":
            return blocks(self.recording.batches(table, wanted), wanted)
        return blocks(of_feeder(self.recording.batches(table, ["feeder", *wanted]), ROOT), wanted)


def period_for(query: str) -> str:
    """The set-up that a query needs before all other."""
    return f"{PERIOD}\n" if "period_s" in query else ""


def drawn(lines: list[ThinnedLine]) -> list[Line]:
    """The points of each line."""
    return [line.points() for line in lines]
