"""Goodput, the split of the jobs' time, makespan, nodes and offered load, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from twin.analysis.checkpoints import CheckpointTime
from twin.analysis.work import job_stretch_metrics, offered_load, work_metrics

from .hand_made import WORKED, WORKED_END_S, clocked_group, fleet_of, group, recording_of


def job_row(job_id, nodes, launch_s, end_s, work_s=0.0, submit_s=0.0):
    return (job_id, f"llm-{job_id}", "llm", nodes, submit_s, launch_s, end_s, 0, work_s, 0.0, "done")


def metrics_of(rows, end_s, spent=None, **keys):
    _, jobs = fleet_of(jobs=[group(count=len(rows), **keys)], stop={"cycles": 1})
    return work_metrics(recording_of({"jobs": rows}, cuts=(1,)), jobs, spent, end_s)


def stalled(stalled_s, waited_s=None, resumed_s=None):
    """Time in checkpoints of which nothing else is asked."""
    none = np.zeros(len(stalled_s))
    waited = none if waited_s is None else np.array(waited_s)
    resumed = none if resumed_s is None else np.array(resumed_s)
    return CheckpointTime(none.astype(int), none, np.array(stalled_s), waited, none, none, resumed, none.astype(bool))


def test_goodput_is_work_over_jobs_and_horizon():
    assert metrics_of(WORKED["jobs"], WORKED_END_S)["goodput"] == (20.0 + 20.0) / (2 * 30.0)


def test_the_split_is_over_the_time_from_launch_to_end():
    metrics = metrics_of([job_row(0, 1, 2.0, 22.0, work_s=10.0)], 30.0, stalled([5.0]))

    # 20 s present: 10 s of work, 5 s stalled, so 15 s computing of which 5 s were lost to the throttle
    assert [metrics[f"{part}_share"] for part in ("compute", "stall", "throttled")] == [0.5, 0.25, 0.25]


def test_a_throttle_that_took_nothing_took_not_less_than_nothing():
    assert 1.0 - 0.32 - 0.68 < 0.0  # in doubles: -1.1e-16
    metrics = metrics_of([job_row(0, 1, 0.0, 1.0, work_s=0.68)], 1.0, stalled([0.32]))

    assert metrics["throttled_share"] == 0.0


PARTS = ("compute", "throttled", "interference", "stall", "wait")


def test_the_split_tells_waiting_from_stalling_and_interference_from_the_throttle():
    row = (*job_row(0, 1, 0.0, 20.0, work_s=8.0)[:9], 2.0, "computing")
    metrics = metrics_of([row], 20.0, stalled([6.0], waited_s=[1.0]))

    # 20 s: 8 s of work, 2 s lost to drains, 5 s stalled, 1 s waiting; the throttle took the other 4 s
    assert [metrics[f"{part}_share"] for part in PARTS] == pytest.approx([0.4, 0.2, 0.1, 0.25, 0.05], rel=1e-14)
    assert metrics["throttled_job_s"] == pytest.approx(4.0, rel=1e-14)


def test_a_job_with_its_work_done_waits_for_its_last_drain():
    background = {"size": 8.0, "mode": "async", "snapshot": 1.0}
    rows = [job_row(0, 1, 0.0, 15.0, work_s=10.0)]
    metrics = metrics_of(rows, 20.0, stalled([1.0], resumed_s=[11.0]), checkpoint=background)

    # done after 10 s of work, 1 s of snapshot and a drain of 4 s
    assert [metrics[f"{part}_share"] * 15.0 for part in PARTS] == pytest.approx([10, 0, 0, 1, 4], abs=1e-13)


def test_a_job_never_launched_takes_no_part_in_the_split():
    metrics = metrics_of([job_row(0, 1, 0.0, None, work_s=30.0), job_row(1, 1, None, None)], 30.0, stalled([0.0, 0.0]))

    assert metrics["compute_share"] == 1.0
    assert metrics["goodput"] == 0.5


def test_makespan_is_first_submission_to_last_completion():
    assert (
        metrics_of([job_row(0, 1, 4.0, 20.0, submit_s=3.0), job_row(1, 1, 5.0, 19.0, submit_s=5.0)], 20.0)["makespan_s"]
        == 17.0
    )


def test_there_is_no_makespan_while_a_job_is_not_done():
    assert metrics_of([job_row(0, 1, 0.0, 20.0), job_row(1, 1, 5.0, None)], 20.0)["makespan_s"] is None


def test_peak_nodes_counts_the_jobs_that_run_at_once():
    rows = [job_row(0, 4, 0.0, 10.0), job_row(1, 8, 5.0, None), job_row(2, 2, 12.0, None)]

    assert metrics_of(rows, 30.0)["peak_nodes"] == 4 + 8


def test_a_job_that_ends_hands_its_nodes_to_one_launched_at_that_instant():
    assert metrics_of([job_row(0, 4, 0.0, 10.0), job_row(1, 4, 10.0, 20.0)], 30.0)["peak_nodes"] == 4


def test_the_share_present_counts_neither_before_launch_nor_after_the_end():
    assert metrics_of([job_row(0, 1, 5.0, 20.0), job_row(1, 1, None, None)], 30.0)["present_share"] == 15.0 / 60.0


def stretches_of(rows):
    scenario, jobs = fleet_of(jobs=[group(count=len(rows), work=20.0)])
    return job_stretch_metrics(scenario.storage, jobs, recording_of({"jobs": rows}, cuts=(1,)))


def done(job_id, launch_s, end_s, cycles=2):
    return (job_id, f"llm-{job_id}", "llm", 1, launch_s, launch_s, end_s, cycles, 20.0, 0.0, "done")


def test_job_stretch_is_the_duration_over_work_and_lone_writes():
    # 20 s of work and two writes of 8 B at 2 B/s: 28 s alone; here 28 s and 42 s
    found = stretches_of([done(0, 5.0, 33.0), done(1, 0.0, 42.0)])

    assert found["job_stretch_mean"] == 1.25
    assert found["job_stretch_p95"] == pytest.approx(1.0 + 0.95 * 0.5, rel=1e-15)  # between two order statistics


def test_jobs_that_are_not_done_have_no_stretch():
    assert stretches_of([done(0, 5.0, 33.0), done(1, 0.0, None)])["job_stretch_mean"] == 1.0
    assert stretches_of([done(0, 5.0, None)]) == {}


def load_of(end_s, **keys):
    scenario, jobs = fleet_of(**keys)
    return offered_load(jobs, scenario.storage.bandwidth_b_s, end_s)


def test_offered_load_is_the_sum_of_the_lone_write_shares():
    assert load_of(1000.0, jobs=[group(count=3)], stop={"cycles": 9}) == pytest.approx(3 * 4.0 / 14.0, rel=1e-15)


def test_a_wall_clock_job_offers_a_checkpoint_an_interval():
    assert load_of(1000.0, jobs=[clocked_group()], stop={"cycles": 9}) == 4.0 / 20.0


def test_jobs_of_one_write_each_offer_their_bytes_over_bandwidth_and_time():
    # lambda E[V] / B of an M/G/1 queue: 5 jobs of 4 s in 100 s
    assert load_of(100.0, jobs=[group(count=5, work=10.0)]) == pytest.approx(5 * 4.0 / 100.0, rel=1e-15)


def test_a_job_with_work_offers_load_only_as_long_as_it_would_last_alone():
    # 25 s of work are three stretches: 25 + 3 * 4 = 37 s of 100 s
    assert load_of(100.0, jobs=[group(work=25.0)]) == pytest.approx(4.0 / 14.0 * 0.37, rel=1e-15)


def test_a_job_cut_by_the_end_of_the_run_offers_load_up_to_it():
    assert load_of(100.0, jobs=[group(work=1000.0, launch={"at": [60.0]})]) == pytest.approx(
        4.0 / 14.0 * 0.4, rel=1e-15
    )
