"""What goes in comes out: bytes, joules and job time of random fleets balance, and no limit is passed."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import assume, given, settings

from tests.fleets import Mapping, fleets, store_rates
from tests.traces import Phases, Steps, columns, phases, simulate, steps

BALANCE = 1e-9  # the promise; sums of at most some thousand doubles of one sign stay far below

any_fleet = given(fleets())
sixty_of_them = settings(max_examples=60)


def groups_of_jobs(mapping: Mapping) -> list[Mapping]:
    """The group of each job, by job id."""
    return [own for own in mapping["jobs"] for _ in range(own["count"])]


def per_job(mapping: Mapping, key: Callable[[Mapping], Any], job: np.ndarray) -> np.ndarray:
    return np.array([key(own) for own in groups_of_jobs(mapping)], dtype=float)[job]


def over(rate: Steps, intervals: Phases) -> np.ndarray:
    """Integral of a step function over each interval."""
    return rate.integral(intervals.end_s) - rate.integral(intervals.start_s)


def per_writer(writers: Steps, rate: Steps) -> Steps:
    return Steps(rate.time_s, rate.value / np.maximum(writers.value, 1.0), rate.end_s)


def present(intervals: Phases, weight: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    """Sum of the weights of the intervals [start, end) that hold each time."""
    begun = (intervals.start_s <= time_s[:, None]) & (time_s[:, None] < intervals.end_s)
    return begun @ weight


@sixty_of_them
@any_fleet
def test_bytes_moved_are_the_sizes_of_the_checkpoints_and_what_was_written_of_the_cut_ones(mapping):
    run = simulate(mapping)
    rows = columns(run, "checkpoints")
    writers, rate = steps(run, "storage", "writers"), steps(run, "storage", "rate_b_s")
    _, writes = phases(run)
    done = ~np.isnan(rows["write_end_s"])

    received_b = over(per_writer(writers, rate), writes)

    # Each write against its own size: the times involved are up to 1e3 writes long, so 1e-13 of relative error.
    np.testing.assert_allclose(received_b[done], rows["size_b"][done], rtol=BALANCE)
    assert (received_b[~done] <= rows["size_b"][~done] * (1.0 + BALANCE)).all()
    moved_b = rate.integral(np.array([rate.end_s]))[0]
    np.testing.assert_allclose(moved_b, rows["size_b"][done].sum() + received_b[~done].sum(), rtol=BALANCE)


@sixty_of_them
@any_fleet
def test_the_energy_column_is_the_integral_of_the_draw(mapping):
    run = simulate(mapping)
    draw = steps(run, "power", "draw_w")

    np.testing.assert_allclose(columns(run, "power")["energy_j"], draw.integral(draw.time_s), rtol=BALANCE)


@sixty_of_them
@any_fleet
def test_the_energy_of_the_site_is_the_sum_over_jobs_and_phases(mapping):
    run = simulate(mapping)
    draw, speed = steps(run, "power", "draw_w"), steps(run, "power", "speed")
    computing, writing = phases(run)

    energy_j = 0.0
    for exponent in {own["power"]["exponent"] for own in mapping["jobs"]}:
        load = Steps(speed.time_s, speed.value**exponent, speed.end_s)
        mine = per_job(mapping, lambda own: own["power"]["exponent"], computing.job) == exponent
        swing_w = per_job(
            mapping, lambda own: own["nodes"] * (own["power"]["compute"] - own["power"]["idle"]), computing.job
        )
        energy_j += float(over(load, computing)[mine] @ swing_w[mine])
    for intervals, phase in ((computing, "idle"), (writing, "write")):
        floor_w = per_job(mapping, lambda own, phase=phase: own["nodes"] * own["power"][phase], intervals.job)
        energy_j += float((intervals.end_s - intervals.start_s) @ floor_w)

    np.testing.assert_allclose(draw.integral(np.array([draw.end_s]))[0], energy_j, rtol=BALANCE)


@sixty_of_them
@any_fleet
def test_the_work_of_a_job_is_the_integral_of_its_speed(mapping):
    run = simulate(mapping)
    jobs = columns(run, "jobs")
    computing, _ = phases(run)

    done_s = np.bincount(computing.job, over(steps(run, "power", "speed"), computing), len(jobs["job_id"]))

    np.testing.assert_allclose(jobs["work_s"], done_s, rtol=BALANCE)


@sixty_of_them
@any_fleet
def test_the_time_of_a_job_is_its_work_its_throttled_loss_and_its_stall(mapping):
    run = simulate(mapping)
    jobs, rows = columns(run, "jobs"), columns(run, "checkpoints")
    computing, writing = phases(run)
    speed = steps(run, "power", "speed")
    loss = Steps(speed.time_s, 1.0 - speed.value, speed.end_s)
    count, done = len(jobs["job_id"]), ~np.isnan(rows["write_end_s"])

    lost_s = np.bincount(computing.job, over(loss, computing), count)
    stall_s = np.where(done, rows["stall_s"], writing.end_s - writing.start_s)  # null while it lasts
    stalled_s = np.bincount(rows["job_id"], stall_s, count)

    lived_s = np.where(np.isnan(jobs["end_s"]), speed.end_s, jobs["end_s"]) - jobs["launch_s"]
    lived_s = np.where(np.isnan(lived_s), 0.0, lived_s)  # never launched
    np.testing.assert_allclose(jobs["work_s"] + lost_s + stalled_s, lived_s, rtol=BALANCE)


@sixty_of_them
@any_fleet
def test_the_split_in_the_metrics_is_the_loss_of_speed_over_the_compute_time_and_the_time_writing(mapping):
    run = simulate(mapping)
    metrics = run.manifest["metrics"]
    computing, writing = phases(run)
    speed = steps(run, "power", "speed")
    loss = Steps(speed.time_s, 1.0 - speed.value, speed.end_s)
    written_s = float((writing.end_s - writing.start_s).sum())
    present_s = float((computing.end_s - computing.start_s).sum()) + written_s
    assume(present_s > 0.0)  # else there is nothing to split

    found = [metrics[f"{part}_share"] for part in ("compute", "throttled", "stall")]

    parts_s = [over(speed, computing).sum(), over(loss, computing).sum(), written_s]
    np.testing.assert_allclose(found, np.array(parts_s) / present_s, rtol=0.0, atol=BALANCE)  # shares of 1


@sixty_of_them
@any_fleet
def test_a_job_that_is_done_did_all_its_work(mapping):
    jobs = columns(simulate(mapping), "jobs")
    done = jobs["state"] == "done"

    np.testing.assert_allclose(
        jobs["work_s"][done], per_job(mapping, lambda own: own.get("work", np.inf), jobs["job_id"])[done], rtol=BALANCE
    )


@sixty_of_them
@any_fleet
def test_the_store_moves_what_its_law_gives_to_its_writers_and_no_more(mapping):
    rows = columns(simulate(mapping), "storage")
    law_b_s = np.concatenate(([0.0], store_rates(mapping["storage"], len(groups_of_jobs(mapping)))))

    np.testing.assert_allclose(rows["rate_b_s"], law_b_s[rows["writers"]], rtol=1e-14)  # one formula, a few roundings


@sixty_of_them
@any_fleet
def test_the_draw_stays_below_the_cap_unless_the_fixed_draw_alone_is_above(mapping):
    run = simulate(mapping)
    draw = steps(run, "power", "draw_w")
    computing, writing = phases(run)
    time_s = draw.time_s[draw.time_s < draw.end_s]  # at the end itself the phases are cut

    fixed_w = np.zeros(len(time_s))
    for intervals, phase in ((computing, "idle"), (writing, "write")):
        weight_w = per_job(mapping, lambda own, phase=phase: own["nodes"] * own["power"][phase], intervals.job)
        fixed_w += present(intervals, weight_w, time_s)

    cap_w = mapping.get("power", {}).get("cap", np.inf)
    assert (draw.at(time_s) <= np.maximum(cap_w, fixed_w) * (1.0 + BALANCE)).all()


@sixty_of_them
@any_fleet
def test_the_cap_slows_nobody_without_need(mapping):
    run = simulate(mapping)
    rows = columns(run, "power")
    throttled = rows["speed"] < 1.0
    moving = throttled & (rows["speed"] > 0.0)
    cap_w = mapping.get("power", {}).get("cap", np.inf)

    assert (rows["demand_w"][throttled] > cap_w * (1.0 - BALANCE)).all()
    np.testing.assert_allclose(rows["draw_w"][moving], np.full(moving.sum(), cap_w), rtol=BALANCE)
    np.testing.assert_allclose(rows["draw_w"][~throttled], rows["demand_w"][~throttled], rtol=BALANCE)
