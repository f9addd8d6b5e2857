"""The product form against sums over all subsets of jobs, worked cases and conservation."""

from itertools import combinations
from math import comb, factorial, prod

import numpy as np
import pytest

from twin.laws.occupancy import mean_checkpoint_s, time_shares, writing_shares

SIZES_B = np.array([1.0, 3.0, 0.5, 2.0, 7.0])
COMPUTE_S = np.array([10.0, 8.0, 30.0, 1.0, 5.0])
RATES_B_S = np.array([1.0, 1.8, 2.0, 1.7, 1.2])
SPEEDS = np.array([1.0, 1.0, 0.9, 0.6, 0.4])
ROUNDING = 1e-13  # some ten operations with logarithms below 100 in double precision


def subset_weight(writing: tuple[int, ...]) -> float:
    """Weight of the state in which exactly these jobs write, straight from the product form."""
    k = len(writing)
    ratios = prod(SIZES_B[i] / COMPUTE_S[i] for i in writing)
    return ratios * factorial(k) / (prod(RATES_B_S[:k]) * prod(SPEEDS[: len(SIZES_B) - k]))


def all_states() -> list[tuple[int, ...]]:
    jobs = range(len(SIZES_B))
    return [writing for k in range(len(SIZES_B) + 1) for writing in combinations(jobs, k)]


def test_shares_are_the_sums_over_all_subsets_of_writers():
    weights = np.zeros(len(SIZES_B) + 1)
    for writing in all_states():
        weights[len(writing)] += subset_weight(writing)

    shares = time_shares(SIZES_B / COMPUTE_S, RATES_B_S, SPEEDS)

    np.testing.assert_allclose(shares, weights / weights.sum(), rtol=ROUNDING)


def test_a_lone_job_writes_its_lone_write_time_over_its_period():
    shares = time_shares([2.0 / 10.0], [0.5], [0.8])  # writes 2 B at 0.5 B/s: 4 s; computes 10 s at 0.8: 12.5 s

    np.testing.assert_allclose(shares, [12.5 / 16.5, 4.0 / 16.5], rtol=ROUNDING)


def test_jobs_that_never_slow_each_other_are_independent():
    n, lone_share = 6, 2.0 / 12.0  # 2 s of writing after 10 s of computing

    shares = time_shares([2.0 / 10.0] * n, np.arange(1.0, n + 1), np.ones(n))

    binomial = [comb(n, k) * lone_share**k * (1 - lone_share) ** (n - k) for k in range(n + 1)]
    np.testing.assert_allclose(shares, binomial, rtol=ROUNDING)


def test_the_order_of_the_jobs_changes_no_share():
    ratios = SIZES_B / COMPUTE_S

    there, back = (time_shares(order, RATES_B_S, SPEEDS) for order in (ratios, ratios[::-1]))

    np.testing.assert_allclose(there, back, rtol=ROUNDING)


def test_sixty_four_jobs_of_extreme_sizes_neither_overflow_nor_vanish():
    ratios = np.geomspace(1e3, 1e15, 64)  # the product of all is 1e576

    shares = time_shares(ratios, np.full(64, 1e11), np.full(64, 1e-3))

    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1.0, rel=ROUNDING)


def test_each_job_writes_for_the_share_of_the_states_in_which_it_does():
    weights = {writing: subset_weight(writing) for writing in all_states()}
    expected = [sum(w for s, w in weights.items() if job in s) / sum(weights.values()) for job in range(len(SIZES_B))]

    shares = writing_shares(SIZES_B / COMPUTE_S, RATES_B_S, SPEEDS)

    np.testing.assert_allclose(shares, expected, rtol=ROUNDING)


def test_equal_jobs_have_equal_durations_to_the_last_but_a_few_digits_in_a_fleet_of_hundreds():
    n = 400

    durations_s = mean_checkpoint_s([1.0] * n, [5.0 * n] * n, np.ones(n), np.linspace(1.0, 0.5, n))

    np.testing.assert_allclose(durations_s, durations_s[0], rtol=n * ROUNDING)


def test_bytes_asked_for_by_the_jobs_are_the_bytes_the_store_moves():
    shares = time_shares(SIZES_B / COMPUTE_S, RATES_B_S, SPEEDS)
    durations_s = mean_checkpoint_s(SIZES_B, COMPUTE_S, RATES_B_S, SPEEDS)
    weights = {writing: subset_weight(writing) for writing in all_states()}
    total = sum(weights.values())
    writing_share = np.array([sum(w for s, w in weights.items() if i in s) / total for i in range(len(SIZES_B))])

    checkpoints_per_s = writing_share / durations_s

    assert checkpoints_per_s @ SIZES_B == pytest.approx(shares[1:] @ RATES_B_S, rel=ROUNDING)


def test_full_speed_work_of_each_job_keeps_pace_with_its_checkpoints():
    weights = {writing: subset_weight(writing) for writing in all_states()}
    total, n = sum(weights.values()), len(SIZES_B)
    durations_s = mean_checkpoint_s(SIZES_B, COMPUTE_S, RATES_B_S, SPEEDS)

    for job in range(n):
        writing_share = sum(w for s, w in weights.items() if job in s) / total
        work_per_s = sum(w * SPEEDS[n - len(s) - 1] for s, w in weights.items() if job not in s) / total
        assert work_per_s / COMPUTE_S[job] == pytest.approx(writing_share / durations_s[job], rel=ROUNDING)


def test_a_store_that_serves_each_writer_at_its_own_rate_stretches_no_checkpoint():
    durations_s = mean_checkpoint_s(SIZES_B, COMPUTE_S, 0.5 * np.arange(1, 6), SPEEDS)

    np.testing.assert_allclose(durations_s, SIZES_B / 0.5, rtol=ROUNDING)


def test_fewer_computing_jobs_than_can_be_stopped_by_writers_are_never_seen():
    speeds = np.array([0.0, 0.0, 0.5, 0.6, 0.4])  # one or two computing jobs stand still until a writer ends
    almost = np.where(speeds == 0.0, 1e-9, speeds)  # neglects states with weight 1e-9 of the others

    shares = time_shares(SIZES_B / COMPUTE_S, RATES_B_S, speeds)

    assert (shares[4:] == 0.0).all()
    np.testing.assert_allclose(shares, time_shares(SIZES_B / COMPUTE_S, RATES_B_S, almost), atol=1e-7)


@pytest.mark.parametrize(
    ("ratios", "rates", "speeds", "named"),
    [
        ([], [], [], "shapes"),
        ([1.0, 1.0], [1.0], [1.0, 1.0], "shapes"),
        ([1.0, 0.0], [1.0, 1.0], [1.0, 1.0], "ratios_b_s"),
        ([1.0, 1.0], [1.0, np.inf], [1.0, 1.0], "store_rates_b_s"),
        ([1.0, 1.0], [1.0, 1.0], [1.0, 0.0], "speeds"),
        ([1.0, 1.0], [1.0, 1.0], [np.nan, 1.0], "speeds"),
    ],
)
def test_an_input_without_a_stationary_state_is_refused_by_name(ratios, rates, speeds, named):
    with pytest.raises(ValueError, match=named):
        time_shares(ratios, rates, speeds)
