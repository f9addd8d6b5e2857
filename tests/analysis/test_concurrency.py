"""How many write at once, and what independent phases would give."""

from __future__ import annotations

from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from twin.analysis.concurrency import independent_tail, storage_metrics

from .hand_made import WORKED, WORKED_END_S, recording_of, repeatable


@pytest.fixture
def metrics():
    return storage_metrics(recording_of({"storage": WORKED["storage"]}, cuts=(2, 3)), 2.0, WORKED_END_S)


def test_bytes_delivered_is_the_integral_of_the_rate(metrics):
    assert metrics["bytes_delivered_b"] == 2.0 * (18.0 - 10.0) + 2.0 * (30.0 - 26.0)


def test_utilisation_is_bytes_over_bandwidth_and_time(metrics):
    assert metrics["store_utilisation"] == 24.0 / (2.0 * 30.0)


def test_shares_of_at_least_k_writers_count_time_and_not_events(metrics):
    assert metrics["writers_share_at_least"] == pytest.approx([12.0 / 30.0, 6.0 / 30.0], rel=1e-15)
    assert metrics["peak_writers"] == 2


def test_writers_that_did_not_last_are_no_peak():
    rows = [(0.0, 1, 0, 0, 2.0), (5.0, 3, 0, 0, 2.0)]

    assert storage_metrics(recording_of({"storage": rows}), 2.0, end_s=5.0)["peak_writers"] == 1


def test_a_store_nobody_used_has_an_empty_tail():
    metrics = storage_metrics(recording_of({"storage": [(0.0, 0, 0, 0, 0.0)]}), 2.0, end_s=5.0)

    assert (metrics["peak_writers"], metrics["writers_share_at_least"]) == (0, [])


def test_independent_equal_jobs_follow_the_binomial_law():
    binomial = [sum(comb(5, k) * 0.2**k * 0.8 ** (5 - k) for k in range(least, 6)) for least in range(1, 6)]

    assert independent_tail([0.2] * 5).tolist() == pytest.approx(binomial, rel=1e-14)  # some 20 roundings


@repeatable
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6))
def test_the_independent_tail_is_the_sum_over_all_sets_of_writers(fractions):
    jobs = range(len(fractions))

    def exactly(k):
        return sum(
            prod(fractions[i] if i in writing else 1.0 - fractions[i] for i in jobs)
            for writing in combinations(jobs, k)
        )

    brute = [sum(exactly(k) for k in range(least, len(fractions) + 1)) for least in range(1, len(fractions) + 1)]
    assert independent_tail(fractions).tolist() == pytest.approx(brute, rel=1e-13, abs=1e-300)  # 2^6 positive terms


def test_a_tail_cut_short_has_the_same_values():
    fractions = [0.1, 0.5, 0.3, 0.9]

    assert independent_tail(fractions, 2).tolist() == independent_tail(fractions).tolist()[:2]


def directly(fractions):
    """One job added at a time: what the field calls the direct way; its time grows with the square of the jobs."""
    at_least = np.zeros(len(fractions) + 1)
    at_least[0] = 1.0
    for fraction in fractions:
        at_least[1:] = (1.0 - fraction) * at_least[1:] + fraction * at_least[:-1]
    return at_least[1:]


@pytest.mark.parametrize("most", [1e-3, 0.05, 1.0])
@pytest.mark.parametrize("jobs", [63, 64, 65, 129, 1500])
def test_the_tail_of_a_folded_fleet_is_that_of_one_job_added_at_a_time(jobs, most):
    fractions = np.random.default_rng(jobs).uniform(0.0, most, jobs)
    expected = directly(fractions)
    seen = expected > 1e-270  # smaller ones may be left out

    # 1500 roundings of 1e-16 each, were they all one way
    assert independent_tail(fractions)[seen] == pytest.approx(expected[seen], rel=2e-13, abs=0.0)
    assert independent_tail(fractions)[~seen].max(initial=0.0) <= 1e-269


@pytest.mark.parametrize("fraction", [0.0073, 0.3, 0.999])
def test_the_tail_of_fifty_thousand_equal_jobs_is_the_binomial_law(fraction):
    jobs = 50_000
    expected = binom.sf(np.arange(jobs), jobs, fraction)

    # the promise; scipy's own law is good for some 1e-13
    assert np.abs(independent_tail(np.full(jobs, fraction)) - expected).max() < 1e-12


def test_jobs_that_always_write_are_always_counted():
    assert independent_tail([1.0] * 200 + [0.5]).tolist() == [1.0] * 200 + [0.5]


def test_the_tail_has_the_same_bits_in_any_order_of_the_jobs():
    fractions = np.random.default_rng(0).random(500)

    assert independent_tail(fractions).tolist() == independent_tail(fractions[::-1]).tolist()


def test_nobody_to_write_gives_an_empty_tail():
    assert independent_tail([]).tolist() == []


def test_a_tail_longer_than_the_fleet_ends_in_zeros():
    assert independent_tail([0.5], 3).tolist() == [0.5, 0.0, 0.0]
