"""What a recording says, as arrays: windows of writing, step functions and their integrals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin import api
from twin.recording import Recording

Mapping = dict[str, Any]


def simulate(mapping: Mapping, tables: tuple[str, ...] | None = None, replica: int = 0) -> Recording:
    """Run a scenario given as a mapping on the SimPy lane."""
    return api.simulate(api.load(mapping), "simpy", replica=replica, tables=tables)


def columns(recording: Recording, table: str) -> dict[str, np.ndarray]:
    """Columns of a table; nulls of a float column become NaN."""
    read = recording.table(table)
    return {name: read.column(name).to_pandas().to_numpy() for name in read.column_names}


@dataclass(frozen=True)
class Windows:
    """Start and end of every write [s], shape (cycles, jobs), jobs by id, of the cycles that every job completed."""

    start_s: np.ndarray
    end_s: np.ndarray


def windows(recording: Recording) -> Windows:
    """The completed writes of every job, cut to the number that all of them have."""
    read = columns(recording, "checkpoints")
    done = ~np.isnan(read["write_end_s"])
    job_id, cycle = read["job_id"][done], read["cycle"][done]
    cycles = int(np.bincount(job_id).min())
    kept = cycle < cycles
    start_s, end_s = np.empty((2, cycles, int(job_id.max()) + 1))
    start_s[cycle[kept], job_id[kept]] = read["write_start_s"][done][kept]
    end_s[cycle[kept], job_id[kept]] = read["write_end_s"][done][kept]
    return Windows(start_s, end_s)


def write_windows(mapping: Mapping) -> Windows:
    """Run a scenario for its write windows alone."""
    return windows(simulate(mapping, ("jobs", "checkpoints")))


@dataclass(frozen=True)
class Steps:
    """A right-continuous step function up to ``end_s``; before its first row it is 0."""

    time_s: np.ndarray
    value: np.ndarray
    end_s: float

    def integral(self, until_s: np.ndarray) -> np.ndarray:
        """Integral from t = 0 to each of these times."""
        edges_s = np.append(self.time_s, max(self.end_s, self.time_s[-1]))
        total = np.concatenate(([0.0], np.cumsum(np.diff(edges_s) * self.value)))
        return np.interp(until_s, edges_s, total)

    def at(self, time_s: np.ndarray) -> np.ndarray:
        """Value at each of these times."""
        row = np.searchsorted(self.time_s, time_s, side="right") - 1
        return np.where(row < 0, 0.0, self.value[np.maximum(row, 0)])


def steps(recording: Recording, table: str, column: str) -> Steps:
    """A column of ``storage`` or of ``power`` (root feeder only) as a step function."""
    read = columns(recording, table)
    return Steps(read["time_s"], read[column].astype(float), float(recording.manifest["simulated_end_s"]))


@dataclass(frozen=True)
class Phases:
    """Every interval some job spent in one phase [s], cut at the end of the run; ``job`` is its id."""

    job: np.ndarray
    start_s: np.ndarray
    end_s: np.ndarray


def phases(recording: Recording) -> tuple[Phases, Phases]:
    """All compute stretches and all writes."""
    end_s = float(recording.manifest["simulated_end_s"])
    jobs, rows = columns(recording, "jobs"), columns(recording, "checkpoints")
    # A job that computes at the end has no row for that stretch: it began with its last write end or its launch.
    running = jobs["state"] == "computing"
    began_s = jobs["launch_s"].copy()
    done = ~np.isnan(rows["write_end_s"])
    np.maximum.at(began_s, rows["job_id"][done], rows["write_end_s"][done])
    compute = Phases(
        np.concatenate((rows["job_id"], jobs["job_id"][running])),
        np.concatenate((rows["compute_start_s"], began_s[running])),
        np.concatenate((rows["due_s"], np.full(running.sum(), end_s))),
    )
    return compute, Phases(rows["job_id"], rows["write_start_s"], np.where(done, rows["write_end_s"], end_s))
