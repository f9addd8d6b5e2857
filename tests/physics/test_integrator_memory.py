"""The independent integrator on controllers with memory, feeders, async, shares and lanes: cases worked by hand."""

from math import exp, log

import pytest

from tests.fleets import FLAT, REFERENCE, Mapping, equal_jobs, group, scenario
from tests.oracle import Course, Trajectory, integrate
from twin.fleet import jobs_of
from twin.scenario import Scenario

HAND = 1e-14  # relative: a few roundings of numbers worked out exactly
HOT: Mapping = {"compute": 5.0, "idle": 1.0, "write": 2.0, "exponent": 2.0}


def run(mapping: Mapping) -> Trajectory:
    fleet = Scenario.model_validate(mapping)
    return integrate(fleet, jobs_of(fleet))


def lone(compute_s: float, power: Mapping = REFERENCE, size_b: float = 1.0, **more: object) -> Mapping:
    return group("a", compute_s, size_b, {"at": [0.0]}, power, **more)


def controlled(groups: list[Mapping], power: Mapping, store: Mapping = FLAT, **more: object) -> Mapping:
    return scenario(groups, {"cycles": 1}, store, power=power, **more)


def dues(trajectory: Trajectory) -> list[float | None]:
    return [course.cycles[0].due_s for course in trajectory.courses]


def writes(course: Course) -> list[tuple[float | None, float | None]]:
    return [(cycle.write_start_s, cycle.write_end_s) for cycle in course.cycles]


def test_a_delayed_cap_is_exceeded_until_its_command_arrives_and_holds_on_too_long():
    # Both at full speed until 6, though job 1 came at 4; job 0 has 4 s left at half speed. It writes from 14 to 15:
    # job 1 gets full speed from 16, when job 0 computes again, to 17, and ends its last 2 s at half speed.
    delayed = equal_jobs([0.0, 4.0], cycles=1) | {
        "power": {"cap": 1.0, "controller": {"policy": "delayed", "delay": 2.0}}
    }

    trajectory = run(delayed)

    assert dues(trajectory) == pytest.approx([14.0, 21.0], rel=HAND)
    assert trajectory.energy_j == pytest.approx(24.0, rel=HAND)  # 4 + 4 + 8 + 0.5 + 1 + 2 + 4 + 0.5, to the end at 22


def test_a_sampled_cap_acts_on_readings_only():
    # Readings at 1, 6, 11, 16; half speed from 7 on, for no reading falls into the write from 13 to 14.
    controller = {"policy": "sampled", "period": 5.0, "offset": 1.0, "latency": 1.0}

    trajectory = run(equal_jobs([0.0, 4.0], cycles=1) | {"power": {"cap": 1.0, "controller": controller}})

    assert dues(trajectory) == pytest.approx([13.0, 21.0], rel=HAND)


def test_a_reading_without_latency_acts_in_its_own_instant():
    controller = {"policy": "sampled", "period": 5.0, "offset": 1.0, "latency": 0.0}

    trajectory = run(equal_jobs([0.0, 4.0], cycles=1) | {"power": {"cap": 1.0, "controller": controller}})

    assert dues(trajectory)[0] == pytest.approx(6.0 + 4.0 / 0.5, rel=HAND)


def test_a_lagged_speed_comes_down_from_one_and_its_energy_is_the_integral():
    # s = (1 + exp(-t / 5)) / 2 until 10 s; the draw of exponent 2 is its square.
    work_s = 5.0 + 2.5 * (1.0 - exp(-2.0))
    square = {"compute": 1.0, "idle": 0.0, "write": 0.0, "exponent": 2.0}
    power = {"cap": 0.25, "controller": {"policy": "lagged", "tau": 5.0}}

    trajectory = run(controlled([lone(work_s, square)], power))

    assert dues(trajectory) == pytest.approx([10.0], rel=HAND)
    energy_j = 2.5 + 2.5 * (1.0 - exp(-2.0)) + 0.625 * (1.0 - exp(-4.0))
    assert trajectory.energy_j == pytest.approx(energy_j, rel=HAND)


def test_a_job_keeps_to_a_fixed_feeder_until_the_lagged_speed_falls_below_it():
    # s = 1/4 + 3/4 exp(-t / 5) passes one half at 5 ln 3; from there to 10 ln 3 it does 5/4 ln 3 + 5/6 of work.
    limit = {"policy": "fixed_limit", "limit": 0.5}
    power = {"cap": 0.25, "controller": {"policy": "lagged", "tau": 5.0}, "feeders": {"row": {"controller": limit}}}

    trajectory = run(controlled([lone(3.75 * log(3.0) + 5.0 / 6.0, feeders="row")], power))

    assert dues(trajectory) == pytest.approx([10.0 * log(3.0)], rel=HAND)


def test_a_fixed_limit_leaves_each_kind_of_node_a_speed_of_its_own():
    cool = {"compute": 1.5, "idle": 1.0, "write": 1.0, "exponent": 2.0}
    groups = [lone(10.0, HOT), group("b", 10.0, 1.0, {"at": [0.0]}, cool)]

    trajectory = run(controlled(groups, {"controller": {"policy": "fixed_limit", "limit": 2.0}}))

    assert dues(trajectory) == pytest.approx([20.0, 10.0], rel=HAND)  # 1 + 4 s^2 = 2 W at one half


def test_a_job_on_two_feeders_runs_at_the_slower_and_draws_on_both():
    feeders = {"row-1": {"cap": 0.5}, "row-2": {"cap": 9.0}}
    groups = [
        lone(10.0, nodes=2, feeders={"row-1": 1, "row-2": 1}),
        group("b", 10.0, 1.0, {"at": [0.0]}, feeders="row-2"),
    ]

    trajectory = run(controlled(groups, {"feeders": feeders}))

    assert dues(trajectory) == pytest.approx([20.0, 10.0], rel=HAND)
    # Row 1: half a watt until 20. Row 2 as much, and job b at full speed except while it writes, from 10 to 11; both to
    # 20, and b for the second until 21.
    assert trajectory.energies_j["row-1"] == pytest.approx(10.0, rel=HAND)
    assert trajectory.energies_j["row-2"] == pytest.approx(10.0 + 19.0 + 1.0, rel=HAND)
    assert trajectory.energies_j["site"] == pytest.approx(40.0, rel=HAND)


def test_a_cap_of_the_hall_holds_the_rows_below_it():
    feeders: Mapping = {"hall": {"cap": 1.0}, "row": {"parent": "hall"}}
    groups = [lone(10.0, feeders="row"), group("b", 10.0, 1.0, {"at": [0.0]}, feeders="hall")]

    assert dues(run(controlled(groups, {"feeders": feeders}))) == pytest.approx([20.0, 20.0], rel=HAND)


def test_the_site_draws_its_fixed_load_and_its_losses_beside_the_jobs():
    # 1.5 x (2 W + 4 W x s) = 6 W at one half.
    four = {"compute": 4.0, "idle": 0.0, "write": 0.0, "exponent": 1.0}

    trajectory = run(controlled([lone(10.0, four)], {"cap": 6.0, "fixed": 2.0, "pue": 1.5}))

    assert dues(trajectory) == pytest.approx([20.0], rel=HAND)
    assert trajectory.energy_j == pytest.approx(6.0 * 20.0 + 3.0 * 1.0, rel=HAND)


def test_a_daily_cap_follows_the_clock_of_the_epoch_over_midnight():
    # From ten seconds before midnight: the cap of last night for 5 s, one half for 10 s.
    daily = {"daily": [{"at": 5.0, "value": 1.0}, {"at": 86395.0, "value": 0.5}]}

    trajectory = run(controlled([lone(12.0)], {"cap": daily}, epoch="2026-01-05T23:59:50"))

    assert dues(trajectory) == pytest.approx([5.0 + 10.0 + 2.0], rel=HAND)


def test_three_bands_cut_the_draw_to_their_target_after_they_settled():
    # 10 W against 8: at 1 s the draw is to be 7.6 W, from 3 s on: 3.8 W a node, seven tenths of full speed.
    linear = {"compute": 5.0, "idle": 1.0, "write": 2.0, "exponent": 1.0}
    controller = {"policy": "three_band", "period": 3.0, "offset": 1.0, "settle": 2.0, "target": 0.95, "floor": 0.2}

    trajectory = run(controlled([lone(10.0, linear, nodes=2)], {"cap": 8.0, "controller": controller}))

    assert dues(trajectory) == pytest.approx([3.0 + 7.0 / 0.7], rel=HAND)


def test_three_bands_cut_the_hottest_nodes_to_the_floor_before_the_next():
    # 5 + 3 W against 6: 2.3 W too many. The first gives the 2 W down to its floor of one half, the second 0.3 of 3 W.
    hot, warm = ({"compute": w, "idle": 1.0, "write": 0.0, "exponent": 1.0} for w in (5.0, 3.0))
    groups = [lone(10.0, hot), group("b", 10.0, 1.0, {"at": [0.0]}, warm)]
    controller = {"policy": "three_band", "period": 100.0, "settle": 0.0, "target": 0.95, "floor": 0.5}

    trajectory = run(controlled(groups, {"cap": 6.0, "controller": controller}))

    assert dues(trajectory) == pytest.approx([20.0, 10.0 / 0.85], rel=HAND)


def test_a_drain_in_the_background_slows_its_job_and_nothing_else_does():
    # Due at 10, snapshot to 12, drain to 17 at 4/5 of full speed; 6 s are left then.
    checkpoint = {"size": 5.0, "mode": "async", "snapshot": 2.0, "interference": 0.2}

    trajectory = run(scenario([lone(10.0, checkpoint=checkpoint)], {"cycles": 2}))

    (course,) = trajectory.courses
    assert [cycle.due_s for cycle in course.cycles][:2] == pytest.approx([10.0, 23.0], rel=HAND)
    assert writes(course)[:2] == [pytest.approx((12.0, 17.0), rel=HAND), pytest.approx((25.0, 30.0), rel=HAND)]
    assert [cycle.stall_s for cycle in course.cycles][:2] == pytest.approx([2.0, 2.0], rel=HAND)
    assert course.interference_s == pytest.approx(2.0, rel=HAND)


def test_a_job_with_a_drain_in_flight_waits_for_its_end_before_its_snapshot():
    checkpoint = {"size": 20.0, "mode": "async", "snapshot": 2.0, "interference": 0.2, "in_flight": 1}

    trajectory = run(scenario([lone(10.0, checkpoint=checkpoint)], {"cycles": 2}))

    second = trajectory.courses[0].cycles[1]
    assert (second.due_s, second.write_start_s) == pytest.approx((12.0 + 10.0 / 0.8, 32.0 + 2.0), rel=HAND)


def test_two_drains_in_flight_share_the_store():
    checkpoint = {"size": 20.0, "mode": "async", "snapshot": 2.0, "interference": 0.0, "in_flight": 2}

    trajectory = run(scenario([lone(10.0, checkpoint=checkpoint)], {"cycles": 1}))

    # The second drain starts at 24 with 8 B of the first left, which then takes 16 s.
    assert writes(trajectory.courses[0])[0] == pytest.approx((12.0, 40.0), rel=HAND)


def test_shares_by_node_give_each_job_the_rate_of_its_nodes():
    groups = [lone(10.0, nodes=1, size_b=1.0), group("b", 10.0, 3.0, {"at": [0.0]}, nodes=3)]

    trajectory = run(scenario(groups, {"cycles": 1}, {"bandwidth": 1.0, "share": "node"}))

    assert [course.cycles[0].write_end_s for course in trajectory.courses] == pytest.approx([14.0, 14.0], rel=HAND)


def test_one_lane_makes_the_second_wait_and_draw_as_a_writer():
    writing = {"compute": 1.0, "idle": 0.0, "write": 3.0, "exponent": 1.0}
    first, second = lone(10.0, writing), group("b", 10.0, 2.0, {"at": [0.5]}, writing)

    trajectory = run(scenario([first, second], {"cycles": 1}, {"bandwidth": 1.0, "lanes": 1}))

    assert [writes(course)[0] for course in trajectory.courses] == [(10.0, 11.0), (11.0, 13.0)]
    assert trajectory.energy_j == pytest.approx(12.0 + 3.0 + 10.0 + 7.5, rel=HAND)


def test_equal_due_times_enter_the_lane_by_group_and_index():
    jobs = equal_jobs([3.0, 3.0, 3.0], cycles=1, store={"bandwidth": 1.0, "lanes": 1})

    assert [writes(course)[0] for course in run(jobs).courses] == [(13.0, 14.0), (14.0, 15.0), (15.0, 16.0)]
