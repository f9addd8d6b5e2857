"""The store's law: client-limited, then flat, then crowded; never above the bandwidth."""

from __future__ import annotations

from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.laws.throughput import store_rate_b_s

rates = st.floats(1e-3, 1e13)
weights = st.floats(1e-3, 1e6)
degradations = st.floats(0.0, 10.0)


@pytest.mark.parametrize(
    ("writers", "rate_b_s"),
    [
        (0, 0.0),
        (1, 4.0),
        (2, 8.0),
        (2.5, 10.0),  # W c = B: the knee, and no crowding yet
        (3, 10.0 / 1.1),  # crowding W c / B - 1 = 0.2, at k = 1/2
        (5, 10.0 / 1.5),  # crowding 1
        (10, 4.0),  # crowding 3: 10 / (1 + 3 / 2)
    ],
)
def test_a_store_of_10_for_clients_of_4_that_degrades_by_half(writers, rate_b_s):
    assert store_rate_b_s(writers, 10.0, 4.0, 0.5) == pytest.approx(rate_b_s, rel=1e-15)


def test_without_degradation_a_full_store_is_flat_to_the_last_bit():
    assert [store_rate_b_s(writers, 10.0, 4.0, 0.0) for writers in range(6)] == [0.0, 4.0, 8.0, 10.0, 10.0, 10.0]


@pytest.mark.parametrize("degradation", [0.0, 0.5])
def test_without_a_client_limit_the_rate_is_the_bandwidth_for_any_writers_and_nought_for_none(degradation):
    assert [store_rate_b_s(writers, 10.0, 0.0, degradation) for writers in (0, 1, 2, 1000)] == [0.0, 10.0, 10.0, 10.0]


def test_a_client_as_fast_as_the_store_fills_it_alone():
    assert store_rate_b_s(1, 10.0, 10.0, 0.5) == 10.0


def test_a_client_faster_than_the_store_crowds_it_alone():
    assert store_rate_b_s(1, 10.0, 20.0, 0.5) == pytest.approx(10.0 / 1.5, rel=1e-15)


def test_the_law_has_no_jump_at_the_knee():
    below, above = (store_rate_b_s(nextafter(2.5, side), 10.0, 4.0, 0.5) for side in (0.0, 5.0))

    assert below == pytest.approx(above, rel=1e-15)


@given(weight=weights, bandwidth=rates, client=rates, degradation=degradations)
def test_the_rate_is_above_nought_and_never_above_bandwidth_or_what_clients_ask(weight, bandwidth, client, degradation):
    rate = store_rate_b_s(weight, bandwidth, client, degradation)

    assert 0.0 < rate <= bandwidth
    assert rate <= weight * client


@given(few=weights, many=weights, bandwidth=rates, client=rates)
def test_without_degradation_more_writers_are_never_slower_together(few, many, bandwidth, client):
    few, many = sorted((few, many))

    assert store_rate_b_s(few, bandwidth, client, 0.0) <= store_rate_b_s(many, bandwidth, client, 0.0)


@given(few=weights, many=weights, bandwidth=rates, client=rates, degradation=degradations)
def test_beyond_the_knee_more_writers_are_never_faster_together(few, many, bandwidth, client, degradation):
    knee = bandwidth / client
    few, many = (knee * (1.0 + extra) for extra in sorted((few, many)))

    fewer, more = (store_rate_b_s(weight, bandwidth, client, degradation) for weight in (few, many))
    assert more <= fewer * (1.0 + 1e-15)  # a rounding of the crowding


@given(few=weights, many=weights, bandwidth=rates, client=rates, degradation=degradations)
def test_each_writer_gets_less_the_more_there_are(few, many, bandwidth, client, degradation):
    few, many = sorted((few, many))

    share, less = (store_rate_b_s(weight, bandwidth, client, degradation) / weight for weight in (few, many))
    assert less <= share * (1.0 + 1e-14)  # a handful of roundings on each side


@given(weight=weights, bandwidth=rates, client=rates, mild=degradations, harsh=degradations)
def test_more_degradation_is_never_faster(weight, bandwidth, client, mild, harsh):
    mild, harsh = sorted((mild, harsh))

    assert store_rate_b_s(weight, bandwidth, client, harsh) <= store_rate_b_s(weight, bandwidth, client, mild)
