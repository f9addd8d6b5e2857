"""Lines of few points: every extreme stays, and every level that holds for long is right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.report.downsampling import MEAN_BINS, MOST_POINTS, ThinnedLine, extremes


def line_of(time_s, values, start_s=0.0, end_s=None, most=MOST_POINTS, stretches=1):
    line = ThinnedLine(start_s, time_s[-1] if end_s is None else end_s, most=most)
    for times, levels in zip(np.array_split(time_s, stretches), np.array_split(values, stretches), strict=True):
        if len(times):
            line.add(times, levels)
    return line


def level_at(points, time_s):
    """The step function through the points, read at times."""
    times, levels = points
    return levels[np.searchsorted(times, time_s, side="right") - 1]


def test_a_short_line_is_kept_as_it_is_and_reaches_to_the_end():
    times, levels = line_of(np.array([0.0, 1.0, 2.5]), np.array([3.0, 1.0, 2.0]), end_s=4.0).points()
    assert times.tolist() == [0.0, 1.0, 2.5, 4.0]
    assert levels.tolist() == [3.0, 1.0, 2.0, 2.0]


def test_a_spike_of_one_row_in_five_million_stays_in_sight_at_its_time():
    time_s, values = np.arange(5_000_000.0), np.sin(np.arange(5_000_000.0))
    values[3_141_592] = 9.0
    values[2_718_281] = -7.0
    times, levels = line_of(time_s, values, stretches=150).points()
    assert len(times) <= MOST_POINTS + 1
    assert times[levels == 9.0].tolist() == [3_141_592.0]
    assert times[levels == -7.0].tolist() == [2_718_281.0]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=400), st.integers(1, 9), st.integers(8, 60))
def test_every_bin_keeps_its_extremes_and_every_end_of_a_bin_its_level(levels, stretches, most):
    time_s, values = np.arange(float(len(levels))), np.array(levels, dtype=float)
    end_s = len(levels) + 3.0
    thinned = line_of(time_s, values, end_s=end_s, most=most, stretches=stretches)
    points = thinned.points()
    assert len(points[0]) <= max(most, 8) + 1
    if not thinned.is_thinned:
        assert points[1][:-1].tolist() == values.tolist()
        return
    bins = most // 4
    bin_of = np.minimum((time_s * (bins / end_s)).astype(int), bins - 1)
    kept_in = np.minimum((points[0][:-1] * (bins / end_s)).astype(int), bins - 1)
    for each in np.unique(bin_of):
        mine, kept = values[bin_of == each], points[1][:-1][kept_in == each]
        assert (kept.min(), kept.max(), kept[-1]) == (mine.min(), mine.max(), mine[-1])


def test_the_level_before_a_long_silence_is_the_last_one_not_an_extreme():
    time_s = np.append(np.arange(100.0), 1e6)
    values = np.append(np.tile([5.0, 0.0, 2.0, 1.0], 25), 3.0)
    points = line_of(time_s, values, end_s=2e6, most=16).points()
    assert level_at(points, np.array([5e5])).tolist() == [1.0]


def test_rows_before_the_window_count_by_the_level_they_leave():
    line = line_of(np.array([0.0, 1.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0]), start_s=5.0, end_s=8.0, stretches=2)
    times, levels = line.points()
    assert (times.tolist(), levels.tolist()) == ([5.0, 8.0], [3.0, 3.0])


def test_of_equal_extremes_the_first_is_kept():
    assert extremes(np.zeros(6, dtype=int), np.array([1.0, 5.0, 0.0, 5.0, 0.0, 1.0])).tolist() == [0, 1, 2, 5]


@pytest.mark.parametrize("stretches", [1, 7])
def test_means_of_a_dense_line_give_its_integral_however_it_came_in_stretches(stretches):
    rng = np.random.default_rng(5)
    time_s = np.append(0.0, np.cumsum(rng.exponential(1.0, 5000)))
    values = rng.integers(0, 5, 5001).astype(float)
    end_s = time_s[-1] + 10.0
    edges_s, means = line_of(time_s, values, end_s=end_s, stretches=stretches).means()
    area = float((values * np.diff(time_s, append=end_s)).sum())
    assert len(means) == MEAN_BINS + 1
    assert float((means[:-1] * np.diff(edges_s)).sum()) == pytest.approx(area, rel=1e-12)  # sums in another order


def test_the_last_bin_of_the_means_is_cut_by_the_end():
    line = ThinnedLine(0.0, 25.0, mean_s=10.0)
    line.add(np.linspace(0.0, 24.0, 1001), np.linspace(0.0, 24.0, 1001))
    edges_s, means = line.means()
    assert edges_s.tolist() == [0.0, 10.0, 20.0, 25.0]
    assert means[:-1] == pytest.approx([5.0, 15.0, 22.4], abs=0.02)  # half a step of 0.024


def test_a_line_that_can_be_followed_has_no_means():
    assert line_of(np.arange(100.0), np.ones(100)).means() is None
