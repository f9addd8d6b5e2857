"""The independent integrator itself, on cases worked by hand."""

from math import sqrt

import pytest

from tests.fleets import CLIENT_LIMITED, REFERENCE, Mapping, equal_jobs, group, scenario
from tests.oracle import Course, NeverMovesError, Trajectory, integrate
from twin.fleet import jobs_of
from twin.scenario import Scenario

HAND = 1e-14  # relative: a few roundings of numbers worked out exactly


def run(mapping: Mapping) -> Trajectory:
    fleet = Scenario.model_validate(mapping)
    return integrate(fleet, jobs_of(fleet))


def times(course: Course) -> list[tuple[float | None, ...]]:
    return [(cycle.compute_start_s, cycle.due_s, cycle.write_end_s) for cycle in course.cycles]


def test_two_overlapping_writes_share_the_store_and_keep_their_gap():
    # Job 0 writes alone from 10 to 10.5, then both share: each has 0.5 B and 1 B left, at 0.5 B/s.
    trajectory = run(equal_jobs([0.0, 0.5], cycles=1))

    first, second = trajectory.courses
    assert times(first)[0] == pytest.approx((0.0, 10.0, 11.5), rel=HAND)
    assert times(second)[0] == pytest.approx((0.5, 10.5, 12.0), rel=HAND)
    assert trajectory.bytes_b == pytest.approx(2.0, rel=HAND)


def test_two_writers_below_saturation_do_not_meet():
    trajectory = run(equal_jobs([0.0, 0.5], cycles=1, store=CLIENT_LIMITED))

    assert [course.cycles[0].write_end_s for course in trajectory.courses] == pytest.approx([11.0, 11.5], rel=HAND)


def test_a_cap_of_one_job_halves_the_speed_of_two():
    trajectory = run(equal_jobs([0.0, 4.0], cycles=1, cap=1.0))

    # Job 0 works 4 s alone and 6 s at half speed: due at 16. Job 1 has done 6 s by then, 1 s more while job 0 writes
    # alone, and its last 3 s at half speed: due at 23.
    assert [course.cycles[0].due_s for course in trajectory.courses] == pytest.approx([16.0, 23.0], rel=HAND)
    assert trajectory.energy_j == pytest.approx(24.0, rel=HAND)  # somebody computes all the time, at 1 W together


def test_mixed_exponents_under_one_cap_run_at_the_common_speed_that_fills_it():
    linear, square = ({"compute": 4.0, "idle": 0.0, "write": 0.0, "exponent": a} for a in (1.0, 2.0))
    groups = [group("a", 3.0, 1.0, {"at": [0.0]}, linear), group("b", 9.0, 1.0, {"at": [0.0]}, square)]

    trajectory = run(scenario(groups, {"cycles": 1}, cap=3.0))

    # 4 s + 4 s^2 = 3 W at s = 1/2; b alone draws 4 s^2 = 3 W at s = sqrt(3)/2 while a writes, 6 to 7 s and 13 to 14 s.
    assert trajectory.courses[0].cycles[0].due_s == pytest.approx(6.0, rel=HAND)
    assert trajectory.courses[0].cycles[0].write_end_s == pytest.approx(7.0, rel=HAND)
    assert trajectory.courses[1].cycles[0].due_s == pytest.approx(14.0 + 2.0 * (3.0 - sqrt(3.0)), rel=HAND)


def test_a_trigger_that_falls_in_a_write_is_skipped():
    job = group("a", 1.0, 25.0, {"at": [0.0]}) | {"checkpoint": {"size": 25.0, "trigger": {"every": 10.0}}}
    del job["compute"]

    trajectory = run(scenario([job], {"cycles": 2}))

    assert times(trajectory.courses[0])[:2] == [(0.0, 10.0, 35.0), (35.0, 40.0, 65.0)]


def test_the_last_stretch_is_cut_to_the_work_left_and_written():
    trajectory = run(scenario([group("a", 10.0, 1.0, {"at": [0.0]}, REFERENCE, work=25.0)], {}))

    assert times(trajectory.courses[0]) == [(0.0, 10.0, 11.0), (11.0, 21.0, 22.0), (22.0, 27.0, 28.0)]
    assert trajectory.end_s == 28.0


def test_writers_above_the_cap_stop_the_computing_job_until_they_end():
    power = {"compute": 3.0, "idle": 1.0, "write": 4.0, "exponent": 1.0}
    groups = [group("a", 9.0, 5.0, {"at": [0.0]}, power), group("b", 12.0, 5.0, {"at": [0.0]}, power)]

    trajectory = run(scenario(groups, {"cycles": 1}, cap=3.5))

    # Both computing: (3.5 - 2) / 4 = 3/8 of full speed, so a is due at 24 and writes to 29; b stands still, then has
    # 3 s left at 3/8 of full speed.
    assert times(trajectory.courses[0])[0] == pytest.approx((0.0, 24.0, 29.0), rel=HAND)
    assert trajectory.courses[1].cycles[0].due_s == pytest.approx(37.0, rel=HAND)


def test_idle_draws_at_the_cap_stand_still_for_ever():
    power = {"compute": 3.0, "idle": 1.0, "write": 1.0, "exponent": 1.0}

    with pytest.raises(NeverMovesError):
        run(equal_jobs([0.0, 0.0], cycles=1, power=power, cap=2.0))
