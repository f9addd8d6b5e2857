"""Intervals of means and of paired differences: worked by hand, against scipy, and how often they cover the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from twin.analysis.intervals import interval, paired_difference


def test_the_interval_is_students():
    values = [3.1, 2.9, 3.6, 3.3, 2.7]
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))

    found = interval(values)

    assert (found.n, found.mean) == (5, pytest.approx(3.12, rel=1e-15))
    assert (found.low, found.high) == (pytest.approx(low, rel=1e-12), pytest.approx(high, rel=1e-12))


@pytest.mark.parametrize("repeated", [0.1, -1e300, 5e-324])
def test_equal_values_have_no_width_and_their_mean_is_the_value_to_the_last_bit(repeated):
    found = interval([repeated] * 7)

    assert (found.mean, found.low, found.high, found.deviation) == (repeated, repeated, repeated, 0.0)


def test_one_value_has_no_interval_and_none_has_no_mean():
    assert (interval([2.0]).mean, interval([2.0]).low) == (2.0, None)
    assert interval([]).mean is None


def test_equal_replicas_are_a_tie_and_differ_by_exactly_nothing():
    found = paired_difference([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])

    assert (found.verdict, found.interval.mean, found.interval.low, found.interval.high) == ("tie", 0.0, 0.0, 0.0)


def test_luck_that_both_share_drops_out_of_the_difference():
    luck = [1.0, 50.0, 7.0, 300.0]
    found = paired_difference(luck, [value + 0.25 for value in luck])

    assert (found.verdict, found.interval.mean) == ("higher", 0.25)
    assert found.interval.low == found.interval.high == 0.25


def test_replicas_of_which_one_does_not_know_are_left_out():
    found = paired_difference([1.0, None, 3.0, 4.0], [2.0, 9.0, None, 5.0])

    assert (found.interval.n, found.interval.mean) == (2, 1.0)


def test_one_pair_decides_nothing():
    assert paired_difference([1.0], [2.0]).verdict == "unknown"


@pytest.mark.parametrize("share", [0.1, 0.3, 0.4])
def test_an_open_difference_says_how_many_replicas_would_tell(share):
    differences = [share + 1.0, share - 1.0] * 10
    found = paired_difference([0.0] * 20, differences)
    deviation = np.std(differences, ddof=1)
    needed = next(n for n in range(2, 10_000) if stats.t.ppf(0.975, n - 1) * deviation / n**0.5 < share)

    assert (found.verdict, found.replicas_needed) == ("open", needed)


def test_a_difference_whose_mean_is_nothing_is_told_by_no_number_of_replicas():
    found = paired_difference([0.0] * 4, [1.0, -1.0, 1.0, -1.0])

    assert (found.verdict, found.replicas_needed) == ("open", None)


def test_the_interval_covers_the_truth_in_95_of_100_repetitions():
    rng = np.random.default_rng(20261201)
    covered = 0
    for _ in range(400):
        luck = rng.gamma(2.0, 5.0, 20)  # met by both, and skewed
        baseline = luck + rng.normal(0.0, 1.0, 20)
        variant = luck + 0.5 + rng.normal(0.0, 1.0, 20)
        found = paired_difference(baseline.tolist(), variant.tolist()).interval
        covered += found.low <= 0.5 <= found.high

    assert 0.92 * 400 <= covered <= 0.98 * 400  # 95 % +- three standard errors of 400 trials


def test_different_numbers_of_replicas_are_refused():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        paired_difference([1.0], [1.0, 2.0])
