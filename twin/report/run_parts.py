"""The parts of a run that several sections of its page draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Block, Floats, blocks, of_feeder
from twin.analysis.rhythm import Rhythm, rhythm
from twin.recording import Recording
from twin.report.downsampling import ThinnedLine
from twin.report.figures import Line

ROOT = "site"


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
        self.cap_w: float | None = recording.manifest["scenario"]["power"].get("cap")

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

    def storage_lines(self, columns: list[str], start_s: float, end_s: float) -> list[ThinnedLine]:
        """Columns of the storage table over a stretch of the run, thinned."""
        return _lines(self._blocks("storage", columns), columns, start_s, end_s)

    def power_lines(self, columns: list[str], start_s: float, end_s: float) -> list[ThinnedLine]:
        """Columns of the site's power over a stretch of the run, thinned."""
        return _lines(self._blocks("power", columns), columns, start_s, end_s)

    def _blocks(self, table: str, columns: list[str]) -> Iterator[Block]:
        wanted = ["time_s", *columns]
        if table != "power":
            return blocks(self.recording.batches(table, wanted), wanted)
        return blocks(of_feeder(self.recording.batches(table, ["feeder", *wanted]), ROOT), wanted)


def drawn(lines: list[ThinnedLine]) -> list[Line]:
    """The points of each line."""
    return [line.points() for line in lines]


def _lines(read: Iterator[Block], columns: list[str], start_s: float, end_s: float) -> list[ThinnedLine]:
    lines = [ThinnedLine(start_s, end_s) for _ in columns]
    for block in read:
        time_s = block["time_s"]
        if time_s[0] <= end_s:
            for line, column in zip(lines, columns, strict=True):
                line.add(time_s, block[column])
    return lines
