"""Whether jobs without jitter have room to keep their phases."""

from __future__ import annotations

import pytest

from twin.laws.stagger import can_keep_phases


@pytest.mark.parametrize(("jobs", "fits"), [(2, True), (11, True), (12, False)])
def test_as_many_equal_jobs_keep_apart_as_windows_fit_into_a_period(jobs, fits):
    assert can_keep_phases([10.0] * jobs, [1.0] * jobs, 1.0, 1.0) == fits  # windows of 1 s in 11 s


def test_a_cap_makes_room_as_the_others_get_less_done_while_one_writes():
    jobs = 20  # on the compute clock a window takes 0.5 s of 10.5 s

    assert can_keep_phases([10.0] * jobs, [1.0] * jobs, 0.5, 1.0)
    assert not can_keep_phases([10.0] * jobs, [1.0] * jobs, 1.0, 1.0)


def test_a_store_that_serves_two_at_once_makes_room_for_twice_as_many():
    assert can_keep_phases([10.0] * 22, [1.0] * 22, 1.0, 2.0)
    assert not can_keep_phases([10.0] * 23, [1.0] * 23, 1.0, 2.0)


@pytest.mark.parametrize(
    ("compute_s", "write_s", "fits"),
    [
        ((9.0, 19.0), (1.0, 1.0), True),  # periods of 10 and 20 s share 10 s
        ((9.0, 14.0), (1.0, 1.0), True),  # 10 and 15 s share 5 s
        ((9.0, 14.0), (2.0, 1.0), False),  # 11 and 15 s share 1 s, the windows need 3 s
        ((7.0, 18.0), (3.0, 2.0), True),  # 10 and 20 s, unequal windows
        ((4.0, 9.0), (6.0, 6.0), False),  # 10 and 15 s share 5 s, the windows need 12 s
        ((9.0, 10.618033988749895), (1.0, 1.0), False),  # no common rhythm
    ],
)
def test_two_rhythms_miss_each_other_if_their_common_divisor_holds_both_windows(compute_s, write_s, fits):
    assert can_keep_phases(compute_s, write_s, 1.0, 1.0) == fits


def test_each_pair_may_fit_and_all_together_not():
    assert can_keep_phases([7.0] * 2, [3.0] * 2, 1.0, 1.0)
    assert not can_keep_phases([7.0] * 4, [3.0] * 4, 1.0, 1.0)  # 12 s of windows in 10 s


def test_windows_of_no_length_on_the_compute_clock_always_fit():
    assert can_keep_phases([10.0, 13.0], [5.0, 5.0], 0.0, 1.0)  # everybody waits for the writer
