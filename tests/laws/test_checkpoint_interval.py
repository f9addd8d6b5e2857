"""Best checkpoint intervals and effective training time, against the exact cost of exponential failures."""

from __future__ import annotations

from math import exp, expm1

import pytest
from scipy.optimize import minimize_scalar

from twin.laws.checkpoint_interval import daly_interval_s, expected_ettr, young_interval_s


def slowdown(interval_s: float, write_s: float, between_s: float) -> float:
    """Expected wall time per second of work with exponential failures and an instant restart, exactly.

    A segment of interval and write takes M (exp((T + C) / M) - 1) to be done without a failure in between.
    """
    return between_s * expm1((interval_s + write_s) / between_s) / interval_s


def best(write_s: float, between_s: float) -> float:
    """The least slowdown over all intervals."""
    found = minimize_scalar(lambda x: slowdown(exp(x), write_s, between_s), bounds=(-5.0, 20.0), method="bounded")
    return float(found.fun)


def test_young_s_interval_is_the_root_of_twice_write_time_times_time_between_failures():
    assert young_interval_s(20.0, 36_000.0) == 1200.0  # 2 x 20 x 36,000 = 1200^2


@pytest.mark.parametrize("write_s", [1.0, 10.0, 100.0, 1000.0])
def test_daly_s_interval_loses_next_to_nothing_against_the_best_of_all_intervals(write_s):
    between_s = 10_000.0

    # 1e-4 of the time at a write of a tenth of the time between failures, far less below
    assert slowdown(daly_interval_s(write_s, between_s), write_s, between_s) < (1.0 + 1e-4) * best(write_s, between_s)


@pytest.mark.parametrize("write_s", [10.0, 100.0, 1000.0])
def test_daly_s_interval_is_better_than_young_s(write_s):
    daly, young = (law(write_s, 10_000.0) for law in (daly_interval_s, young_interval_s))

    assert slowdown(daly, write_s, 10_000.0) < slowdown(young, write_s, 10_000.0)


def test_daly_s_interval_approaches_young_s_for_short_writes():
    assert daly_interval_s(1e-6, 1e6) == pytest.approx(young_interval_s(1e-6, 1e6), rel=1e-5)


@pytest.mark.parametrize("write_s", [2000.0, 1e6])
def test_a_write_of_twice_the_time_between_failures_or_more_leaves_the_interval_at_that_time(write_s):
    assert daly_interval_s(write_s, 1000.0) == 1000.0


def test_the_two_branches_of_daly_s_interval_meet_within_a_ninth():
    # x = 1: 2 M (1 + 1/3 + 1/9) - 2 M = 8/9 M, the known step at the edge of the range
    assert daly_interval_s(2000.0 * (1.0 - 1e-12), 1000.0) == pytest.approx(8.0 / 9.0 * 1000.0, rel=1e-9)


def test_a_job_that_never_fails_loses_its_writes_only():
    assert expected_ettr(1600.0, 400.0, 0.0, 720.0) == 0.8


def test_every_failure_costs_its_downtime_and_half_an_interval():
    assert expected_ettr(1000.0, 0.0, 1e-4, 500.0) == pytest.approx(1.0 - 1e-4 * (500.0 + 500.0), rel=1e-15)


def test_the_effective_time_is_that_of_exponential_failures_to_first_order():
    compute_s, write_s, between_s = 1800.0, 20.0, 500_000.0

    exact = 1.0 / slowdown(compute_s, write_s, between_s)

    # left out: the write itself may be lost, 20 s in 500,000 s, and second order, (1,820 s / 500,000 s)^2
    assert expected_ettr(compute_s, write_s, 1.0 / between_s, 0.0) == pytest.approx(exact, abs=6e-5)


def test_a_job_that_fails_faster_than_it_recovers_gets_nothing_done_but_not_less():
    assert expected_ettr(1800.0, 20.0, 1e-2, 720.0) == 0.0
