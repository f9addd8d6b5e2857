"""Step functions read in stretches say what a dense look at the whole function says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.analysis.blocks import blocks, of_feeder
from twin.analysis.step_functions import Steps, largest_ramp, level_shares, steps

from .hand_made import batch_of, in_batches, power_rows, repeatable

# Multiples of 1/4: sums and differences are exact, so every comparison below is too.
QUARTERS = st.integers(1, 400).map(lambda quarters: quarters / 4)


@st.composite
def step_functions(draw: st.DrawFn) -> tuple[list[float], list[int], float]:
    """Times from 0, values, and an end at or after the last time."""
    times_s = [0.0, *sorted(draw(st.sets(QUARTERS, max_size=30)))]
    values = draw(st.lists(st.integers(0, 5), min_size=len(times_s), max_size=len(times_s)))
    return times_s, values, times_s[-1] + draw(st.integers(0, 40)) / 4


def read(times_s: list[float], values: list[int], end_s: float, sizes: list[int], rows: int) -> list[Steps]:
    batches = [batch_of("power", part) for part in in_batches(power_rows(times_s, values), sizes)]
    return list(steps(blocks(batches, ["time_s", "draw_w"], rows), end_s))


def at(times_s: list[float], values: list[int], time_s: float) -> int:
    return [value for start_s, value in zip(times_s, values, strict=True) if start_s <= time_s][-1]


@repeatable
@given(step_functions(), st.lists(st.integers(0, 9), max_size=8), st.integers(1, 7))
def test_every_row_holds_until_the_next_and_the_last_to_the_end(function, sizes, rows):
    times_s, values, end_s = function
    parts = read(times_s, values, end_s, sizes, rows)

    assert np.concatenate([part.hold_s for part in parts]).tolist() == np.diff([*times_s, end_s]).tolist()


@repeatable
@given(step_functions(), st.lists(st.integers(0, 9), max_size=8), st.integers(1, 7))
def test_blocks_have_one_size_however_the_table_was_cut(function, sizes, rows):
    times_s, values, end_s = function
    parts = read(times_s, values, end_s, sizes, rows)

    assert [len(part.time_s) for part in parts[:-1]] == [rows] * (len(parts) - 1)
    assert np.concatenate([part.values["draw_w"] for part in parts]).tolist() == values


@repeatable
@given(step_functions(), st.lists(st.integers(0, 9), max_size=8), st.integers(1, 7), QUARTERS)
def test_the_largest_ramp_is_that_of_every_pair_of_times_a_window_apart(function, sizes, rows, window_s):
    times_s, values, end_s = function
    # On a grid of quarters every step of P(t) and of P(t + w) starts at a grid point.
    grid_s = np.arange(0.0, end_s - window_s + 0.125, 0.25)
    brute = max((abs(at(times_s, values, t + window_s) - at(times_s, values, t)) for t in grid_s), default=0)

    ramp = largest_ramp(lambda: iter(read(times_s, values, end_s, sizes, rows)), "draw_w", window_s, end_s)

    assert ramp == brute / window_s


def test_a_spike_shorter_than_the_window_is_a_ramp():
    function = [0.0, 100.0, 100.25], [1, 5, 1], 200.0

    assert largest_ramp(lambda: iter(read(*function, [], 10)), "draw_w", 10.0, 200.0) == 4 / 10


def test_a_window_longer_than_the_run_has_no_ramp():
    assert largest_ramp(lambda: iter(read([0.0, 1.0], [0, 5], 9.0, [], 10)), "draw_w", 10.0, 9.0) == 0.0


def test_a_step_at_the_very_end_counts_in_a_window_that_ends_there():
    assert largest_ramp(lambda: iter(read([0.0, 10.0], [3, 0], 10.0, [], 10)), "draw_w", 10.0, 10.0) == 3 / 10


@repeatable
@given(step_functions(), st.lists(st.integers(0, 9), max_size=8), st.integers(1, 7))
def test_level_shares_are_the_time_at_each_level(function, sizes, rows):
    times_s, values, end_s = function
    end_s += 0.25  # a run of some length
    parts = read(times_s, values, end_s, sizes, rows)
    holds_s = np.diff([*times_s, end_s])

    shares = level_shares(((part.values["draw_w"].astype(int), part.hold_s) for part in parts), end_s)

    levels = range(max(v for v, hold_s in zip(values, holds_s, strict=True) if hold_s > 0) + 1)
    assert (shares * end_s).tolist() == pytest.approx([holds_s[np.array(values) == k].sum() for k in levels], rel=1e-15)


def test_rows_of_other_feeders_are_left_out():
    still = (1.0, None, None, None, 0.0)
    rows = [("row-1", 0.0, 7.0, 7.0, *still), ("site", 0.0, 9.0, 9.0, *still), ("site", 5.0, 8.0, 8.0, *still)]
    others = [("row-1", 6.0, 7.0, 7.0, *still)]
    site = of_feeder([batch_of("power", rows), batch_of("power", others), batch_of("power", rows[1:])], "site")

    assert pa.Table.from_batches(site)["draw_w"].to_pylist() == [9.0, 8.0, 9.0, 8.0]
