"""Arithmetic of a virtual clock: V moves at the rate and never past the head, and is due when it reaches it."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.laws.clock import advanced, due_s

times = st.floats(0.0, 1e9)
works = st.floats(0.0, 1e15)
rates = st.floats(1e-6, 1e12)


def test_v_grows_at_the_rate():
    assert advanced(2.0, 10.0, 0.5, 14.0, 100.0) == 4.0  # 2 + 4 s x 0.5 / s


def test_v_stops_at_the_smallest_mark():
    assert advanced(2.0, 10.0, 0.5, 14.0, 3.5) == 3.5


def test_v_stands_still_without_a_rate_or_without_time():
    assert advanced(2.0, 10.0, 0.0, 14.0, 100.0) == 2.0
    assert advanced(2.0, 10.0, 0.5, 10.0, 100.0) == 2.0


def test_the_head_is_due_after_its_work_at_the_rate():
    assert due_s(10.0, 2.0, 0.5, 5.0) == 16.0  # 10 s + 3 / (0.5 / s)


def test_a_head_that_is_reached_is_due_now():
    assert due_s(10.0, 5.0, 0.5, 5.0) == 10.0


@pytest.mark.parametrize("rate", [0.0, -0.0])
def test_without_a_rate_nothing_is_ever_due(rate):
    assert due_s(10.0, 2.0, rate, 5.0) == inf
    assert due_s(10.0, 5.0, rate, 5.0) == inf  # not even a head that is reached


def test_due_times_are_worked_out_from_v_and_not_from_time():
    # The four operations in their order: another one rounds otherwise.
    now_s, v, rate, head = 0.3, 0.1, 0.7, 1.1

    assert due_s(now_s, v, rate, head) == now_s + (head - v) / rate
    assert advanced(v, 0.1, rate, now_s, head) == v + (now_s - 0.1) * rate


@given(v=works, since_s=times, passed_s=times, rate=rates, room=works)
def test_v_is_never_below_where_it_was_nor_above_the_head(v, since_s, passed_s, rate, room):
    found = advanced(v, since_s, rate, since_s + passed_s, v + room)

    assert v <= found <= v + room


@given(now_s=times, v=works, rate=rates, room=works)
def test_at_any_rate_the_head_is_due_some_time_and_not_in_the_past(now_s, v, rate, room):
    assert now_s <= due_s(now_s, v, rate, v + room) < inf


@given(now_s=st.floats(0.0, 1e6), v=st.floats(0.0, 1e6), rate=st.floats(0.01, 100.0), room=st.floats(0.0, 1e6))
def test_v_at_the_due_time_is_the_head_but_for_the_rounding_of_time_and_work(now_s, v, rate, room):
    head = v + room
    due = due_s(now_s, v, rate, head)

    # Time is kept to 2^-53 of its value, which is worth as much work as the rate does in it; V and the head likewise.
    rounding = 4.0 * 2.0**-53 * (due * rate + head)
    assert advanced(v, now_s, rate, due, head) == pytest.approx(head, rel=0.0, abs=rounding)
