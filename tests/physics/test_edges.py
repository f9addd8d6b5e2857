"""Where the rules bite: speed 0, fleets that stand still, the instant of the stop, stretches of no length."""

from itertools import islice
from typing import Any

import numpy as np
import pytest

from tests.fleets import FLAT, REFERENCE, Mapping, equal_jobs, group, scenario
from tests.traces import columns, phases, simulate, steps, windows
from twin import api
from twin.errors import StalledError
from twin.fleet import jobs_of

HEAVY_WRITERS: Mapping = {"compute": 3.0, "idle": 1.0, "write": 4.0, "exponent": 1.0}
ROUNDING = 1e-14  # relative, of a handful of operations


def test_writers_above_the_cap_stop_the_computing_job_until_they_end():
    groups = [
        group(name, compute_s, 5.0, {"at": [0.0]}, HEAVY_WRITERS) for name, compute_s in (("a", 9.0), ("b", 12.0))
    ]

    rows = columns(simulate(scenario(groups, {"cycles": 1}, cap=3.5)), "checkpoints")

    # Both computing: (3.5 - 2) / 4 = 3/8 of full speed, so a is due at 24 and writes to 29 while b, with 3 s left,
    # stands still; together again b needs 3 / (3/8) = 8 s.
    first = {job: np.flatnonzero((rows["job_id"] == job) & (rows["cycle"] == 0))[0] for job in (0, 1)}
    assert rows["write_start_s"][first[0]] == pytest.approx(24.0, rel=ROUNDING)
    assert rows["write_end_s"][first[0]] == pytest.approx(29.0, rel=ROUNDING)
    assert rows["write_start_s"][first[1]] == pytest.approx(37.0, rel=ROUNDING)


def test_a_stopped_fleet_draws_its_fixed_power_above_the_cap():
    groups = [
        group(name, compute_s, 5.0, {"at": [0.0]}, HEAVY_WRITERS) for name, compute_s in (("a", 9.0), ("b", 12.0))
    ]

    run = simulate(scenario(groups, {"cycles": 1}, cap=3.5))

    at_s = np.array([26.0])  # a writes, b waits for it
    assert steps(run, "power", "speed").at(at_s) == 0.0
    assert steps(run, "power", "draw_w").at(at_s) == 5.0


def test_a_fleet_whose_idle_draw_reaches_the_cap_ends_with_an_error_that_names_the_cap():
    with pytest.raises(StalledError, match="cap"):
        simulate(equal_jobs([0.0, 0.0], 1, power=HEAVY_WRITERS, cap=2.0))


def test_a_launch_that_stops_everybody_for_ever_is_an_error_when_it_comes():
    with pytest.raises(StalledError, match="cap"):
        simulate(equal_jobs([0.0, 5.0], 1, power=HEAVY_WRITERS, cap=2.0))


def test_a_stopped_fleet_moves_on_at_its_wall_clock_triggers():
    stopped = group("a", 1.0, 1.0, {"at": [0.0, 0.0]}, HEAVY_WRITERS)
    stopped["checkpoint"]["trigger"] = {"every": 10.0}
    del stopped["compute"]

    rows = columns(simulate(scenario([stopped], {"cycles": 2}, cap=2.0)), "checkpoints")

    assert rows["write_start_s"].tolist() == [10.0, 10.0, 20.0, 20.0]
    assert rows["write_end_s"].tolist() == [12.0, 12.0, 22.0, 22.0]


def wall_clock_jobs(launch: Mapping, power: Mapping, every_s: float = 10.0, **more: Any) -> Mapping:
    jobs = group("a", 1.0, 1.0, launch, power, **more)
    jobs["checkpoint"]["trigger"] = {"every": every_s}
    del jobs["compute"]
    return jobs


@pytest.mark.parametrize("power", [HEAVY_WRITERS, HEAVY_WRITERS | {"write": 0.5}], ids=["never", "only out of step"])
def test_a_stopped_fleet_whose_triggers_bring_no_work_is_an_error_if_only_work_could_end_it(power):
    jobs = wall_clock_jobs({"at": [0.0, 0.0]}, power, work=100.0)

    with pytest.raises(StalledError, match="cap"):
        simulate(scenario([jobs], {}, cap=2.0))


def test_a_stopped_wall_clock_job_beside_one_that_waits_for_work_never_has_all_cycles():
    clocked = wall_clock_jobs({"at": [0.0]}, HEAVY_WRITERS)
    waiting = group("b", 10.0, 1.0, {"at": [0.0]}, HEAVY_WRITERS)

    with pytest.raises(StalledError, match="cap"):
        simulate(scenario([clocked, waiting], {"cycles": 3}, cap=2.0))


def test_a_stopped_job_goes_on_when_a_write_ends_though_the_last_wall_clock_job_is_done():
    clocked = wall_clock_jobs({"at": [0.0]}, REFERENCE, work=1.0)
    writers = group("b", 1.0, 200.0, {"at": [0.0]}, HEAVY_WRITERS, work=1.0)
    stopped = group("c", 100.0, 1.0, {"at": [0.0]}, HEAVY_WRITERS, work=100.0)

    jobs = columns(simulate(scenario([clocked, writers, stopped], {}, cap=4.5)), "jobs")

    assert jobs["state"].tolist() == ["done", "done", "done"]
    assert jobs["end_s"].argsort().tolist() == [0, 1, 2]


@pytest.mark.parametrize("long_writer", ["another job", "itself"])
def test_a_fleet_that_one_long_write_stops_for_thousands_of_triggers_goes_on_after_it(long_writer):
    if long_writer == "another job":
        clocked = wall_clock_jobs({"at": [3.0]}, HEAVY_WRITERS | {"write": 0.5}, every_s=1.0, work=10.0)
        clocked["checkpoint"]["size"] = 0.01
        fleet = [clocked, group("b", 1.0, 5000.0, {"at": [0.0]}, HEAVY_WRITERS, work=1.0)]
    else:
        clocked = wall_clock_jobs({"at": [0.0]}, HEAVY_WRITERS, every_s=1.0, work=1.5)
        clocked["checkpoint"]["size"] = 5000.0
        fleet = [clocked, group("b", 100.0, 1.0, {"at": [0.0]}, HEAVY_WRITERS, work=100.0)]

    jobs = columns(simulate(scenario(fleet, {}, cap=4.5)), "jobs")

    assert jobs["state"].tolist() == ["done", "done"]
    assert jobs["end_s"].max() > 5000.0


def test_a_run_that_goes_on_beyond_what_a_clock_can_tell_is_an_error():
    crawling = HEAVY_WRITERS | {"compute": 10_000.0, "idle": 1_000.0, "write": 500.0, "exponent": 10.0}
    groups = [group(name, 1e11, 1.0, {"at": [0.0]}, crawling) for name in ("a", "b")]

    with pytest.raises(StalledError, match=r"come to 4e\+12 s"):
        simulate(scenario(groups, {"cycles": 3}, cap=2000.0000000001))


def test_a_stopped_fleet_whose_writes_make_room_gets_its_work_done():
    apart = [
        wall_clock_jobs({"at": [0.0]}, HEAVY_WRITERS | {"write": 0.5}, every_s, work=3.0) | {"name": f"every {every_s}"}
        for every_s in (10.0, 7.0)
    ]

    jobs = columns(simulate(scenario(apart, {}, cap=2.0)), "jobs")

    assert jobs["state"].tolist() == ["done", "done"]
    assert jobs["work_s"] == pytest.approx([3.0, 3.0], rel=ROUNDING)


def test_a_stopped_fleet_with_a_time_limit_still_ends_with_the_error():
    with pytest.raises(StalledError, match="cap"):
        simulate(scenario([group("a", 10.0, 1.0, {"at": [0.0, 0.0]}, HEAVY_WRITERS)], {"time": 100.0}, cap=2.0))


def unequal_pair(cycles: int) -> Mapping:
    groups = [group("fast", 4.0, 1.0, {"at": [0.0]}), group("slow", 30.0, 1.0, {"at": [0.0]})]
    return scenario(groups, {"cycles": cycles}, FLAT, 1.0)


def test_a_fast_job_goes_on_until_the_slowest_has_its_cycles():
    run = simulate(unequal_pair(3))

    assert columns(run, "jobs")["cycles"][1] == 3
    assert columns(run, "jobs")["cycles"][0] > 3
    assert run.manifest["simulated_end_s"] == windows(run).end_s[-1, 1]


def test_a_later_stop_changes_nothing_of_what_came_before():
    short, long = (windows(simulate(unequal_pair(cycles))) for cycles in (3, 6))

    assert (short.start_s == long.start_s[:3]).all()
    assert (short.end_s == long.end_s[:3]).all()


def test_the_instant_at_which_the_cycles_are_complete_is_completed():
    run = simulate(equal_jobs([0.0, 0.0, 0.0], 2))

    rows, jobs = columns(run, "checkpoints"), columns(run, "jobs")
    assert (rows["state"] == "done").sum() == 6
    assert jobs["state"].tolist() == ["computing"] * 3
    assert run.manifest["simulated_end_s"] == 26.0
    assert steps(run, "storage", "writers").value[-1] == 0


def test_the_instant_at_which_the_time_is_up_is_completed():
    run = simulate(scenario([group("a", 10.0, 1.0, {"at": [0.0, 0.0]})], {"time": 10.0}))

    rows = columns(run, "checkpoints")
    assert rows["write_start_s"].tolist() == [10.0, 10.0]
    assert rows["state"].tolist() == ["writing"] * 2
    assert np.isnan(rows["write_end_s"]).all()
    assert columns(run, "storage")["time_s"][-1] == 10.0
    assert columns(run, "storage")["writers"][-1] == 2
    assert columns(run, "power")["draw_w"][-1] == 0.0


@pytest.mark.parametrize(
    ("stop", "work", "reason"),
    [
        ({"cycles": 1, "time": 50.0}, {}, "cycles"),
        ({"cycles": 9, "time": 50.0}, {}, "time"),
        ({}, {"work": 5.0}, "done"),
    ],
)
def test_the_run_says_which_limit_ended_it(stop, work, reason):
    run = simulate(scenario([group("a", 10.0, 1.0, {"at": [0.0, 1.0]}, **work)], stop))

    assert run.manifest["stopped_by"] == reason


def test_a_launch_after_the_end_never_happened():
    run = simulate(scenario([group("a", 10.0, 1.0, {"at": [0.0, 50.0]})], {"time": 20.0}))

    jobs = columns(run, "jobs")
    assert jobs["state"].tolist() == ["computing", "pending"]
    assert np.isnan(jobs["launch_s"][1])


def test_a_rest_of_work_too_small_to_count_adds_no_checkpoint():
    jobs = columns(simulate(scenario([group("a", 0.1, 1.0, {"at": [0.0]}, work=0.3)], {})), "jobs")

    assert jobs["cycles"].tolist() == [3]  # 0.3 - 0.1 - 0.1 - 0.1 is not 0 in doubles


def test_a_stretch_clipped_to_nothing_writes_again_in_the_same_instant():
    wild = group("a", 1.0, 1.0, {"at": [0.0] * 3}, REFERENCE, jitter={"law": "normal", "sigma": 4.0})

    run = simulate(scenario([wild], {"cycles": 50}))

    rows = columns(run, "checkpoints")
    empty = rows["due_s"] == rows["compute_start_s"]
    assert 0.3 < empty.mean() < 0.5  # P(z < -1/4) = 0.40
    np.testing.assert_array_equal(rows["write_start_s"][empty], rows["compute_start_s"][empty])


def test_a_stretch_of_no_length_waits_like_any_other_while_the_speed_is_0():
    launches_s = [0.1 * i for i in range(12)]  # into each other's writes, and two stretches in five are empty
    wild = group("a", 1.0, 1.0, {"at": launches_s}, HEAVY_WRITERS, jitter={"law": "normal", "sigma": 4.0})
    mapping = scenario([wild], {"cycles": 5}, cap=14.0)

    run = simulate(mapping)

    rows, speed = columns(run, "checkpoints"), steps(run, "power", "speed")
    drawn_s = [list(islice(job.stretches(), 1000)) for job in jobs_of(api.load(mapping))]
    empty = np.array([drawn_s[job][cycle] == 0.0 for job, cycle in zip(rows["job_id"], rows["cycle"], strict=True)])
    waited = empty & (rows["due_s"] > rows["compute_start_s"])
    assert waited.any()
    assert (speed.at(rows["compute_start_s"][waited]) == 0.0).all()
    assert np.isin(rows["due_s"][waited], rows["write_end_s"]).all()  # until a writer ends and the speed returns


def test_an_instant_in_which_a_writer_leaves_and_comes_back_leaves_one_row():
    wild = group("a", 1.0, 1.0, {"at": [0.0] * 3}, REFERENCE, jitter={"law": "normal", "sigma": 4.0})

    run = simulate(scenario([wild], {"cycles": 50}, cap=2.5))

    for table in ("storage", "power"):
        rows = columns(run, table)
        assert (np.diff(rows["time_s"]) > 0.0).all(), table
    _, writing = phases(run)
    writers = steps(run, "storage", "writers")
    middle_s = 0.5 * (writers.time_s[1:] + writers.time_s[:-1])
    held = (writing.start_s <= middle_s[:, None]) & (middle_s[:, None] < writing.end_s)
    np.testing.assert_array_equal(writers.at(middle_s), held.sum(axis=1))


def test_triggers_that_fall_in_a_write_are_recorded_and_skipped():
    long_write = group("a", 1.0, 25.0, {"at": [0.0]})
    long_write["checkpoint"]["trigger"] = {"every": 10.0}
    del long_write["compute"]

    run = simulate(scenario([long_write], {"cycles": 2}))

    assert columns(run, "checkpoints")["write_start_s"].tolist() == [10.0, 40.0]
    events = columns(run, "events")
    assert events["time_s"][events["kind"] == "trigger_skipped"].tolist() == [20.0, 30.0, 50.0, 60.0]


def test_incidents_are_recorded_in_order_of_time():
    skipping = wall_clock_jobs({"at": [0.0]}, REFERENCE)
    skipping["checkpoint"]["size"] = 35.0
    late = group("late", 1000.0, 1.0, {"at": [5.0]})

    events = columns(simulate(scenario([skipping, late], {"time": 100.0}, fleet={"nodes": 1})), "events")

    assert (events["kind"][0], events["time_s"][0]) == ("fleet_exceeded", 5.0)
    assert events["time_s"].tolist() == sorted(events["time_s"])
    assert len(set(events["kind"])) == 2


def test_a_fleet_exceeded_within_an_instant_only_is_no_incident():
    leaving = group("leaving", 10.0, 1.0, {"at": [0.0]}, work=10.0)
    coming = group("coming", 10.0, 1.0, {"at": [11.0]}, work=10.0)

    run = simulate(scenario([leaving, coming], {}, fleet={"nodes": 1}))

    assert columns(run, "jobs")["end_s"].tolist() == [11.0, 22.0]
    assert columns(run, "events")["kind"].tolist() == []


def test_the_triggers_of_a_clock_reach_back_before_its_offset():
    early = wall_clock_jobs({"at": [0.0]}, REFERENCE, every_s=7.0)
    early["checkpoint"]["trigger"]["offset"] = 50.0

    starts_s = columns(simulate(scenario([early], {"cycles": 3})), "checkpoints")["write_start_s"]

    assert starts_s.tolist() == [1.0, 8.0, 15.0]
