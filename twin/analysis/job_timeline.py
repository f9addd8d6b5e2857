"""What each job did when, on a grid of equal cells of time: not there, computing, writing, or a share of both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats, blocks
from twin.recording import Recording

_ROUNDING = 1e-9  # of a cell: what is left of the sums over spans that have ended


def writing_shares(recording: Recording, row_of_job: NDArray[np.integer], cells: int, cell_s: float) -> Floats:
    """Share of each cell that a job spent writing [-], shape (rows, cells); NaN where the job was not there.

    Args:
        row_of_job: row of each job by its id, -1 for a job left out, shape (jobs,).
        cells, cell_s: the grid: ``cells`` cells of ``cell_s`` seconds from t = 0.
    """
    rows = int(row_of_job.max(initial=-1)) + 1
    present, writing = (np.zeros((rows, cells + 2)) for _ in range(2))
    columns = ["job_id", "launch_s", "end_s"]
    for block in blocks(recording.batches("jobs", columns), columns):
        _add_spans(present, row_of_job[block["job_id"]], block["launch_s"] / cell_s, block["end_s"] / cell_s)
    columns = ["job_id", "write_start_s", "write_end_s"]
    for block in blocks(recording.batches("checkpoints", columns), columns):
        row = row_of_job[block["job_id"]]
        _add_spans(writing, row, block["write_start_s"] / cell_s, block["write_end_s"] / cell_s)
    shares, there = (np.cumsum(changes, axis=1)[:, :cells] for changes in (writing, present))
    return np.where(there > _ROUNDING, shares.clip(0.0, 1.0), np.nan)


def _add_spans(changes: Floats, row: NDArray[np.integer], start: Floats, end: Floats) -> None:
    """Add spans of time [cells] to the changes from cell to cell; a NaN end is after the last, a NaN start never."""
    drawn = (row >= 0) & ~np.isnan(start)
    last = float(changes.shape[1] - 2)
    for edge, sign in ((start, 1.0), (np.where(np.isnan(end), last, end), -1.0)):
        at = np.clip(edge[drawn], 0.0, last)
        cell = np.minimum(at, last).astype(np.intp)
        inside = at - cell
        np.add.at(changes, (row[drawn], cell), sign * (1.0 - inside))
        np.add.at(changes, (row[drawn], cell + 1), sign * inside)
