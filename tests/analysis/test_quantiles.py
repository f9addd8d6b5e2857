"""Quantiles read in passes are exactly those of the sorted sample."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twin.analysis.quantiles import sample_quantiles, time_quantiles

from .hand_made import in_batches, repeatable

PROBABILITIES = (0.0, 0.3, 0.99, 1.0)
NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), 5e-324, 22.8])
SIZES = st.lists(st.integers(0, 20), max_size=6)
KEPT = st.sampled_from([0, 1, 5, 1000])  # from nothing held in memory, every bit counted, to everything held


@repeatable
@given(st.lists(NUMBERS, min_size=1, max_size=60), SIZES, KEPT)
def test_sample_quantiles_are_those_of_numpy_digit_for_digit(values, sizes, kept):
    sample = np.array(values)

    assert sample_quantiles(lambda: in_batches(sample, sizes), PROBABILITIES, kept) == (
        np.quantile(sample, PROBABILITIES).tolist()
    )


@repeatable
@given(st.lists(st.tuples(NUMBERS, st.integers(0, 9)), min_size=1, max_size=60), SIZES, KEPT)
def test_a_time_quantile_is_the_smallest_value_with_that_share_of_time_at_or_below(pairs, sizes, kept):
    values, hold_s = np.array([v for v, _ in pairs]), np.array([float(h) for _, h in pairs])
    total_s = hold_s.sum()
    shares = (0.25, 0.5, 1.0)  # binary fractions of whole seconds: no rounding on either side

    found = time_quantiles(
        lambda: [*zip(in_batches(values, sizes), in_batches(hold_s, sizes), strict=True)], shares, kept
    )

    lasting = values[hold_s > 0]
    expected = (
        [min(v for v in lasting if hold_s[values <= v].sum() >= share * total_s) for share in shares]
        if total_s
        else None
    )
    assert found == expected


def test_a_long_sample_is_read_at_most_three_times_when_its_values_are_spread():
    sample = np.random.default_rng(1).lognormal(size=100_000)
    readings = []

    def passes():
        readings.append(1)
        return np.array_split(sample, 7)

    assert sample_quantiles(passes, (0.5, 0.99), kept=1000) == np.quantile(sample, (0.5, 0.99)).tolist()
    assert len(readings) == 3


def test_an_empty_sample_has_no_quantile():
    assert sample_quantiles(lambda: [np.zeros(0)], (0.5,)) is None


def test_a_value_that_did_not_last_is_no_time_quantile():
    assert time_quantiles(lambda: [(np.array([9.0, 4.0]), np.array([0.0, 2.0]))], (1.0,)) == [4.0]
