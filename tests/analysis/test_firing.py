"""Fires, gaps, order and synchrony, on series whose answers are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import twin
from twin.analysis.firing import (
    aligned_s,
    fire_times_s,
    first_overlap,
    independent_order_parameter,
    intervals_s,
    order_parameter,
    phases,
    smallest_gaps_s,
    strict_inversions,
)

from .hand_made import recording_of

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def rhythm(offsets_s, cycles=5, period_s=100.0):
    """Jobs that fire once a period, each at its own offset."""
    return np.array(offsets_s)[:, np.newaxis] + period_s * np.arange(cycles)


def checkpoint(job, cycle, fire_s):
    return (job, cycle, 0.0, 0.0, fire_s, None, None, 1.0, "writing" if fire_s is not None else "waiting")


def test_fires_are_found_by_job_and_cycle_and_a_missing_one_is_nan():
    rows = [checkpoint(0, 0, 5.0), checkpoint(1, 0, 7.0), checkpoint(0, 1, 9.0), checkpoint(1, 1, None)]
    found = fire_times_s(recording_of({"checkpoints": rows}), 3)

    np.testing.assert_array_equal(found, [[5.0, 9.0], [7.0, np.nan], [np.nan, np.nan]])


def test_an_empty_recording_has_no_cycles():
    assert fire_times_s(recording_of({"checkpoints": []}), 2).shape == (2, 0)
    assert aligned_s(np.empty((2, 0))).shape == (2, 0)
    assert aligned_s(np.empty((0, 0))).shape == (0, 0)


def test_what_fired_before_the_last_job_took_part_is_left_out():
    fires = np.array([[0.0, 100.0, 200.0, 300.0], [250.0, 350.0, np.nan, np.nan]])

    np.testing.assert_array_equal(aligned_s(fires), [[300.0], [250.0]])


def test_a_job_that_never_fired_leaves_nothing_to_align():
    assert aligned_s(np.array([[0.0, 100.0], [np.nan, np.nan]])).shape == (2, 0)


def test_intervals_go_round_and_sum_to_the_period():
    found = intervals_s(rhythm([30.0, 0.0, 10.0]))

    np.testing.assert_allclose(found, [[10.0, 20.0, 70.0]] * 4)
    np.testing.assert_allclose(smallest_gaps_s(rhythm([30.0, 0.0, 10.0])), [10.0] * 4)


def test_one_job_has_one_interval_its_period():
    np.testing.assert_allclose(intervals_s(rhythm([3.0])), [[100.0]] * 4)
    assert strict_inversions(rhythm([3.0])) == 0


def test_no_two_cycles_have_no_interval():
    assert intervals_s(rhythm([0.0, 1.0], cycles=1)).shape == (0, 2)
    assert smallest_gaps_s(rhythm([0.0, 1.0], cycles=1)).shape == (0,)


def test_an_order_that_is_kept_has_no_inversion_and_an_exchange_is_one():
    fires = rhythm([0.0, 10.0, 30.0])
    assert strict_inversions(fires) == 0

    fires[1, 3] = fires[0, 3] - 1.0
    assert strict_inversions(fires) == 1


def test_overtaking_round_the_cycle_is_an_inversion_too():
    fires = rhythm([0.0, 10.0])
    fires[1, 2] = fires[0, 3] + 1.0

    assert strict_inversions(fires) == 1


def test_equal_times_are_never_an_exchange():
    fires = rhythm([0.0, 0.0, 10.0])
    fires[0, 2:] += 5.0  # the tie parts
    fires[2, 1] = fires[1, 1]

    assert strict_inversions(fires) == 0


def test_phases_run_from_0_to_1_between_fires_and_are_unknown_outside():
    found = phases(rhythm([0.0, 50.0], cycles=3), np.array([-1.0, 0.0, 25.0, 75.0, 200.0]))

    np.testing.assert_allclose(found, [[np.nan, 0.0, 0.25, 0.75, np.nan], [np.nan, np.nan, np.nan, 0.25, 0.5]])


def test_jobs_of_different_numbers_of_cycles_have_phases_as_long_as_they_fire():
    fires = np.array([[0.0, 10.0, np.nan], [0.0, 20.0, 40.0]])

    np.testing.assert_allclose(phases(fires, np.array([5.0, 30.0])), [[0.5, np.nan], [0.25, 0.5]])


def test_r_is_1_in_step_and_0_evenly_spread():
    in_step, even = np.full((4, 1), 0.3), np.array([[0.0], [0.25], [0.5], [0.75]])

    assert order_parameter(in_step)[0] == pytest.approx(1.0, abs=1e-15)
    assert order_parameter(even)[0] == pytest.approx(0.0, abs=1e-15)
    assert np.isnan(order_parameter(np.full((2, 1), np.nan))[0])


def test_r_is_over_the_jobs_that_have_a_phase():
    assert order_parameter(np.array([[0.1], [np.nan], [0.1]]))[0] == pytest.approx(1.0)


@pytest.mark.parametrize("jobs", [1, 2, 3, 5, 16, 60, 200])
def test_r_of_independent_phases_has_the_mean_of_a_random_walk(jobs):
    places = np.random.default_rng(5).random((jobs, 100_000))

    assert independent_order_parameter(jobs) == pytest.approx(order_parameter(places).mean(), rel=0.008)


def test_r_of_independent_phases_is_the_closed_form_for_five():
    assert 5 * independent_order_parameter(5) == pytest.approx(2.0081618, rel=1e-6)  # J. M. Borwein et al., 2011


def test_a_stagger_that_holds_never_overlaps_and_one_that_fails_says_when():
    fires = rhythm([0.0, 30.0, 60.0])
    ends = fires + 20.0
    assert first_overlap(fires, ends).tolist() == [-1, -1, -1]

    fires[1, 3] -= 15.0
    assert first_overlap(fires, ends).tolist() == [-1, 3, -1]


def test_the_first_of_a_cycle_may_run_into_the_last_of_the_one_before():
    fires = rhythm([0.0, 90.0])
    ends = fires + 5.0
    ends[1, 1] = fires[0, 2] + 1.0

    assert first_overlap(fires, ends).tolist() == [2, -1]


def test_the_fires_of_a_blind_pair_keep_their_gap_and_order():
    run = twin.simulate(twin.load(SCENARIOS / "phase-blind.yaml"))
    fires = aligned_s(fire_times_s(run, 2))

    assert np.ptp(smallest_gaps_s(fires)) < 1e-9
    assert strict_inversions(fires) == 0
