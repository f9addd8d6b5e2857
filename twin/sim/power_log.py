"""The changes of all feeders on their way to rows of the power table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twin.recording import Rows
from twin.sim.step_log import Notes

_TIME, _PLACE, _DEMAND, _DRAW, _SPEED, _TARGET, _TAU, _DRAW_BEFORE, _ENERGY = range(9)


class PowerLog(Notes):
    """Rows in order of time, and of the feeders' places within an instant.

    A note is the time, the place of a feeder, its demand and draw [W] and the speed commanded from then on.

    Args:
        names: of the feeders, by their place.
        rows: where the rows go.
    """

    def __init__(self, names: Sequence[str], rows: Rows, width: int = _SPEED + 1) -> None:
        super().__init__(width)
        self._rows = rows
        self._codes = np.array([rows.code("feeder", name) for name in names], np.int32)
        self._last = np.full((len(names), width), np.nan)  # newest row of each feeder
        self._energy_j = np.zeros(len(names))  # up to it

    def close(self, draws_w: Sequence[float]) -> None:
        """Write all that is left; the run has ended, at these draws [W] of the feeders by their place."""
        self._flush(is_over=True)

    def write_states(self, times_s: np.ndarray, states: np.ndarray) -> None:
        """Write states of the first feeder, demand and draw [W] and speed in columns; one for each instant."""
        self._write_rows(self._of_feeder(np.column_stack([times_s, np.zeros_like(times_s), states]), 0))

    def _write(self, notes: np.ndarray) -> None:
        if len(self._codes) == 1:
            self._write_rows(self._of_feeder(notes, 0))
            return
        of_feeders = [notes[notes[:, _PLACE] == place] for place in range(len(self._codes))]
        rows = np.vstack([self._of_feeder(own, place) for place, own in enumerate(of_feeders) if len(own)])
        self._write_rows(rows[np.lexsort((rows[:, _PLACE], rows[:, _TIME]))])

    def _of_feeder(self, notes: np.ndarray, place: int) -> np.ndarray:
        """The rows of one feeder: its notes and the energy until each, [J], in the last column."""
        rows, before = self._changes(notes, place)
        if len(rows) == 0:
            return np.empty((0, self._width + 1))
        steps_j = (rows[:, _TIME] - before[:, _TIME]) * before[:, _DRAW]
        steps_j[0] = 0.0 if np.isnan(steps_j[0]) else self._energy_j[place] + steps_j[0]
        energy_j = np.cumsum(steps_j)
        self._last[place], self._energy_j[place] = rows[-1], energy_j[-1]
        return np.column_stack([rows, energy_j])

    def _changes(self, notes: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray]:
        """The last note of each instant, if it changes anything, and the row before each."""
        rows = notes[np.append(notes[1:, _TIME] != notes[:-1, _TIME], True)]
        before = np.vstack([self._last[place], rows[:-1]])
        changed = rows[:, _DEMAND] != before[:, _DEMAND]
        for column in range(_DEMAND + 1, min(self._width, _TAU + 1)):
            changed |= (rows[:, column] != before[:, column]) & ~(
                np.isnan(rows[:, column]) & np.isnan(before[:, column])
            )
        if changed.all():
            return rows, before
        rows = rows[changed]
        return rows, np.vstack([self._last[place], rows[:-1]])

    def _write_rows(self, rows: np.ndarray) -> None:
        if len(rows):
            feeders = self._codes[rows[:, _PLACE].astype(np.int32)]
            values = [np.ascontiguousarray(rows[:, column]) for column in (_TIME, _DEMAND, _DRAW, _SPEED)]
            self._rows.extend([feeders, *values, None, None, None, np.ascontiguousarray(rows[:, -1])])


class MovingPowerLog(PowerLog):
    """The same where speeds move between changes too.

    A note goes on with target and time constant, the draw just before the instant [W], and the energy so far [J]; a row
    has to wait for the next one of its feeder, to tell how it ends.
    """

    def __init__(self, names: Sequence[str], rows: Rows) -> None:
        super().__init__(names, rows, _ENERGY + 1)

    def close(self, draws_w: Sequence[float]) -> None:
        """Write all that is left; the run has ended, at these draws [W] of the feeders by their place."""
        super().close(draws_w)
        self._write_rows(np.column_stack([self._last, draws_w]))

    def _of_feeder(self, notes: np.ndarray, place: int) -> np.ndarray:
        """The rows of one feeder but for the newest, and the draw at the end of each [W] in the last column."""
        rows, before = self._changes(notes, place)
        if len(rows):
            self._last[place] = rows[-1]
        is_known = ~np.isnan(before[:, _TIME])
        ended: np.ndarray = np.column_stack([before, rows[:, _DRAW_BEFORE]])[is_known]
        return ended

    def _write_rows(self, rows: np.ndarray) -> None:
        if len(rows):
            feeders = self._codes[rows[:, _PLACE].astype(np.int32)]
            values = [np.ascontiguousarray(rows[:, c]) for c in (_TIME, _DEMAND, _DRAW, _SPEED, _TARGET, _TAU)]
            ends_w = np.where(rows[:, -1] == rows[:, _DRAW], np.nan, rows[:, -1])
            self._rows.extend([feeders, *values, ends_w, np.ascontiguousarray(rows[:, _ENERGY])])
