"""The speed law: full speed if all fits, none if the fixed draw leaves no room, else the speed that meets the cap."""

from __future__ import annotations

from math import inf, nextafter, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.laws.speed import dynamic_draw_w, mixed_target_speed, target_speed

watts = st.floats(1e-3, 1e8)
exponents = st.floats(1.0, 6.0)
loads = st.lists(st.tuples(watts, exponents), min_size=1, max_size=5)


def drawn_w(dynamic_w, speed, powers):
    """Draw above the fixed one, from the definition."""
    return sum(load_w * speed**power for load_w, power in zip(dynamic_w, powers, strict=True))


@pytest.mark.parametrize(
    ("exponent", "speed"), [(1.0, 0.5), (2.0, sqrt(0.5)), (0.5, 0.25)], ids=["linear", "square", "root"]
)
def test_half_of_the_dynamic_draw_is_met_at_its_root(exponent, speed):
    assert target_speed(2.0, 8.0, 6.0, exponent) == pytest.approx(speed, rel=1e-15)  # (6 - 2) / 8 = 1 / 2


@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
def test_the_reference_law_shares_a_cap_of_c_jobs_among_n(jobs):
    assert target_speed(0.0, float(jobs), 1.5, 1.0) == min(1.0, 1.5 / jobs)


def test_a_cap_equal_to_the_full_draw_is_full_speed_and_a_little_less_is_not():
    assert target_speed(2.0, 8.0, 10.0, 2.5) == 1.0
    assert 0.999 < target_speed(2.0, 8.0, nextafter(10.0, 0.0), 2.5) <= 1.0
    assert target_speed(2.0, 8.0, 9.99, 2.5) < 1.0


def test_a_cap_equal_to_the_fixed_draw_is_a_stop_and_a_little_more_is_not():
    assert target_speed(2.0, 8.0, 2.0, 2.5) == 0.0
    assert target_speed(2.0, 8.0, 1.0, 2.5) == 0.0
    assert 0.0 < target_speed(2.0, 8.0, nextafter(2.0, 3.0), 2.5) < 1e-5


def test_without_a_cap_the_speed_is_full():
    assert target_speed(2.0, 8.0, inf, 2.5) == 1.0
    assert mixed_target_speed(2.0, (8.0, 1.0), inf, (2.5, 1.0)) == 1.0


def test_when_nobody_computes_the_speed_is_full_unless_the_others_are_above_the_cap():
    assert target_speed(5.0, 0.0, 5.0, 1.0) == 1.0
    assert target_speed(5.0, 0.0, 4.0, 1.0) == 0.0
    assert mixed_target_speed(5.0, (), 5.0, ()) == 1.0
    assert mixed_target_speed(5.0, (), 4.0, ()) == 0.0


@given(fixed_w=watts, dynamic_w=watts, cap_w=watts, exponent=exponents)
def test_a_speed_lies_between_nought_and_one(fixed_w, dynamic_w, cap_w, exponent):
    assert 0.0 <= target_speed(fixed_w, dynamic_w, cap_w, exponent) <= 1.0


@given(load=loads, fixed_w=watts, cap_w=watts)
def test_a_speed_of_mixed_exponents_lies_between_nought_and_one(load, fixed_w, cap_w):
    dynamic_w, powers = zip(*load, strict=True)

    assert 0.0 <= mixed_target_speed(fixed_w, dynamic_w, cap_w, powers) <= 1.0


@given(fixed_w=watts, dynamic_w=watts, share=st.floats(1e-6, 0.999), exponent=exponents)
def test_a_speed_between_meets_the_cap(fixed_w, dynamic_w, share, exponent):
    cap_w = fixed_w + share * dynamic_w
    draw_w = fixed_w + dynamic_draw_w(dynamic_w, target_speed(fixed_w, dynamic_w, cap_w, exponent), exponent)

    assert draw_w == pytest.approx(cap_w, rel=1e-12)  # a dozen roundings, those of the root times the exponent


@given(load=loads, fixed_w=watts, share=st.floats(1e-6, 0.999))
def test_a_speed_of_mixed_exponents_meets_the_cap(load, fixed_w, share):
    dynamic_w, powers = zip(*load, strict=True)
    cap_w = fixed_w + share * sum(dynamic_w)
    draw_w = fixed_w + drawn_w(dynamic_w, mixed_target_speed(fixed_w, dynamic_w, cap_w, powers), powers)

    assert draw_w == pytest.approx(cap_w, rel=1e-12)


@pytest.mark.parametrize(
    ("dynamic_w", "powers", "room_w", "speed"),
    [
        ((2.0, 3.0), (1.0, 2.0), 1.0, 1.0 / 3.0),  # 2 s + 3 s^2 = 1
        ((1.0, 1.0), (1.0, 3.0), 0.625, 0.5),  # s + s^3 = 5 / 8
        ((4.0, 2.0, 8.0), (1.0, 2.0, 3.0), 3.5, 0.5),  # 2 + 1 / 2 + 1
    ],
)
def test_mixed_exponents_have_the_root_worked_by_hand(dynamic_w, powers, room_w, speed):
    assert mixed_target_speed(10.0, dynamic_w, 10.0 + room_w, powers) == pytest.approx(speed, rel=1e-14)


@given(load=st.lists(watts, min_size=1, max_size=4), share=st.floats(0.01, 0.99), exponent=exponents)
def test_with_one_exponent_the_mixed_law_is_the_plain_one(load, share, exponent):
    cap_w = share * sum(load)
    mixed = mixed_target_speed(0.0, tuple(load), cap_w, (exponent,) * len(load))

    assert mixed == pytest.approx(target_speed(0.0, sum(load), cap_w, exponent), rel=1e-12)


@given(load=loads, fixed_w=watts, caps_w=st.tuples(watts, watts))
def test_a_higher_cap_slows_nobody(load, fixed_w, caps_w):
    dynamic_w, powers = zip(*load, strict=True)
    low, high = (mixed_target_speed(fixed_w, dynamic_w, cap_w, powers) for cap_w in sorted(caps_w))

    assert low <= high * (1.0 + 1e-12)  # two roots, each to a few roundings
    low, high = (target_speed(fixed_w, dynamic_w[0], cap_w, powers[0]) for cap_w in sorted(caps_w))
    assert low <= high


def test_dynamic_draw_is_exact_at_full_speed_and_nought_at_rest():
    assert dynamic_draw_w(7.3, 1.0, 2.5) == 7.3
    assert dynamic_draw_w(7.3, 0.0, 2.5) == 0.0
    assert dynamic_draw_w(8.0, 0.25, 1.5) == 1.0  # 8 x (1 / 4)^(3 / 2)
