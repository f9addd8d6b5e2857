"""The common period, and places in it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.hand_made import WORKED, recording_of
from twin.analysis.rhythm import Rhythm, order_parameter_between, places, rhythm


def fires_at(*times_s):
    """Two jobs that fire in turn at these times."""
    rows = [(i % 2, i // 2, 0.0, t, t, t + 1.0, 1.0, 8.0, "done") for i, t in enumerate(times_s)]
    return recording_of({"checkpoints": rows})


def test_the_period_is_the_mean_interval_of_all_jobs():
    assert rhythm(fires_at(0.0, 3.0, 10.0, 15.0), 2) == Rhythm(11.0, 4, 0.0, 15.0)  # 10 s and 12 s


def test_a_checkpoint_that_waits_has_not_fired():
    rows = [*WORKED["checkpoints"][:3], (1, 1, 18.0, 28.0, None, None, None, 8.0, "waiting")]
    assert rhythm(recording_of({"checkpoints": rows}), 2) == Rhythm(16.0, 3, 10.0, 26.0)


def test_jobs_that_fired_once_have_no_period():
    found = rhythm(fires_at(0.0, 3.0), 2)
    assert found is not None
    assert found.period_s is None


def test_no_fire_is_no_rhythm():
    assert rhythm(fires_at(), 2) is None


def test_places_begin_a_little_before_the_first_fire():
    found = places(np.array([5.0, 9.9, 13.6, 13.8, 15.0]), 5.0, 10.0)
    assert found == pytest.approx([0.0, 0.49, 0.86, -0.12, 0.0], abs=1e-12)  # rounding of a remainder


def test_jobs_in_step_have_order_one_and_opposite_ones_none():
    assert order_parameter_between(fires_at(0.0, 10.0, 20.0), 0.0, 20.0, 10.0) == (pytest.approx(1.0), 3)
    assert order_parameter_between(fires_at(0.0, 5.0, 20.0), 0.0, 10.0, 10.0) == (pytest.approx(0.0, abs=1e-12), 2)


def test_no_fire_between_two_times_has_no_order():
    assert order_parameter_between(fires_at(0.0), 5.0, 9.0, 10.0) == (0.0, 0)
