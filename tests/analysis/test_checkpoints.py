"""Checkpoint durations, stretch and time spent, on rows worked out by hand."""

from __future__ import annotations

import pytest

from twin.analysis.checkpoints import checkpoint_metrics, checkpoint_time, lone_write_s, mean_durations

from .hand_made import WORKED, WORKED_END_S, clocked_group, fleet_of, group, recording_of, worked_fleet


def metrics_of(keys, rows, cuts=()):
    scenario, jobs = fleet_of(**keys)
    return checkpoint_metrics(scenario.storage, jobs, recording_of({"checkpoints": rows}, cuts))


def test_duration_is_first_byte_to_last_of_the_checkpoints_that_ended():
    rows = [*WORKED["checkpoints"], (1, 2, 40.0, 50.0, 50.0, 54.0, 4.0, 8.0, "done")]
    metrics = metrics_of({"jobs": [group(count=2)], "stop": {"cycles": 1}}, rows)

    assert metrics["checkpoint_duration_p50_s"] == 6.0  # of 4, 6, 6
    assert metrics["checkpoint_duration_max_s"] == 6.0


def test_stretch_is_the_cycle_over_the_work_drawn_and_the_lone_write():
    scenario, jobs = worked_fleet()
    metrics = checkpoint_metrics(scenario.storage, jobs, recording_of({"checkpoints": WORKED["checkpoints"]}))

    assert metrics["stretch_max"] == 16.0 / 14.0  # 0 to 16 s, and 2 to 18 s, for 10 s + 8 B at 2 B/s


def test_a_throttled_cycle_is_stretched_by_its_longer_compute_time():
    metrics = metrics_of({"jobs": [group()], "stop": {"cycles": 1}}, [(0, 0, 0.0, 24.0, 24.0, 28.0, 4.0, 8.0, "done")])

    assert metrics["stretch_p50"] == 2.0  # 24 s for 10 s of work, then 4 s: 28 s for 14 s


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (1, 2, 3, 4, 5)])
def test_stretch_takes_the_work_of_each_cycle_from_the_job_s_own_stream(cuts):
    keys = {"jobs": [group(count=2, jitter={"sigma": 2.0})], "seed": 3, "stop": {"cycles": 3}}
    _, jobs = fleet_of(**keys)
    drawn = [[next(stream) for _ in range(3)] for stream in (job.stretches() for job in jobs)]
    rows = []
    for cycle in range(3):  # every cycle lasts 1.5 times its work and lone write
        for job in (1, 0):
            start_s = 100.0 * cycle
            rows.append(
                (job, cycle, start_s, start_s, start_s, start_s + 1.5 * (drawn[job][cycle] + 4.0), 0.0, 8.0, "done")
            )

    metrics = metrics_of(keys, rows, cuts)

    assert metrics["stretch_p50"] == pytest.approx(1.5, rel=1e-13)  # start + cycle - start: a few roundings at 200 s
    assert metrics["stretch_max"] == pytest.approx(1.5, rel=1e-13)


def test_the_last_stretch_of_a_job_with_work_counts_only_what_was_left():
    rows = [(0, 0, 0.0, 10.0, 10.0, 14.0, 4.0, 8.0, "done"), (0, 1, 14.0, 17.0, 17.0, 21.0, 4.0, 8.0, "done")]
    metrics = metrics_of({"jobs": [group(work=13.0)]}, rows)

    assert metrics["stretch_max"] == 1.0  # 3 s + 4 s for the 3 s left


def test_a_wall_clock_cycle_is_measured_against_its_own_time_to_the_trigger():
    metrics = metrics_of(
        {"jobs": [clocked_group()], "stop": {"cycles": 1}}, [(0, 0, 0.0, 20.0, 20.0, 28.0, 8.0, 8.0, "done")]
    )

    assert metrics["stretch_max"] == 28.0 / 24.0  # 20 s to the trigger, 4 s for a lone write


def test_a_lone_write_has_the_client_s_rate_to_itself():
    scenario, (job,) = fleet_of(jobs=[group()], storage={"bandwidth": 8.0, "client_bandwidth": 2.0}, stop={"cycles": 1})

    assert lone_write_s(scenario.storage, job) == 4.0


def test_a_lone_write_has_the_rate_of_all_its_nodes_where_shares_go_by_node():
    storage = {"bandwidth": 8.0, "client_bandwidth": 1.0, "share": "node"}
    scenario, (job,) = fleet_of(jobs=[group(nodes=4)], storage=storage, stop={"cycles": 1})

    assert lone_write_s(scenario.storage, job) == 2.0


def fleet_in_background(**more):
    """One job of 10 s work, a snapshot of 1 s and a drain of 8 B."""
    checkpoint = {"size": 8.0, "mode": "async", "snapshot": 1.0, "interference": 0.1, **more}
    return {"jobs": [group(checkpoint=checkpoint)], "stop": {"cycles": 1}}


def test_a_cycle_with_its_checkpoint_in_the_background_ends_with_the_stall():
    rows = [(0, 0, 0.0, 10.0, 11.0, 19.0, 1.0, 8.0, "done"), (0, 1, 11.0, 30.5, 33.0, 37.0, 2.5, 8.0, "done")]
    metrics = metrics_of(fleet_in_background(), rows)

    assert metrics["stretch_max"] == (30.5 + 2.5 - 11.0) / (10.0 + 1.0)
    assert metrics["checkpoint_duration_max_s"] == 8.0  # first byte to last, whatever the stall
    assert (metrics["checkpoint_stall_p50_s"], metrics["checkpoint_stall_max_s"]) == (1.75, 2.5)


def test_what_a_stall_takes_beyond_the_snapshot_was_a_wait_for_room():
    _, jobs = fleet_of(**fleet_in_background())
    rows = [(0, 0, 0.0, 10.0, 11.0, 15.0, 1.0, 8.0, "done"), (0, 1, 11.0, 21.0, 24.0, None, 3.0, 8.0, "writing")]
    spent = checkpoint_time(recording_of({"checkpoints": rows}), jobs, 30.0)

    assert (spent.stalled_s.tolist(), spent.waited_s.tolist()) == ([4.0], [2.0])
    assert spent.writing_s.tolist() == [4.0 + 6.0]
    assert (spent.resumed_s.tolist(), spent.is_stopped.tolist()) == ([24.0], [False])


def test_a_blocking_job_waits_from_when_it_is_due_to_its_first_byte():
    _, jobs = fleet_of(jobs=[group()], stop={"cycles": 1})
    rows = [(0, 0, 0.0, 10.0, 13.0, 17.0, 7.0, 8.0, "done"), (0, 1, 17.0, 27.0, None, None, None, 8.0, "waiting")]
    spent = checkpoint_time(recording_of({"checkpoints": rows}), jobs, 30.0)

    assert (spent.stalled_s.tolist(), spent.waited_s.tolist()) == ([7.0 + 3.0], [3.0 + 3.0])


def test_no_finished_checkpoint_has_no_duration_and_no_stretch():
    metrics = metrics_of(
        {"jobs": [group()], "stop": {"cycles": 1}}, [(0, 0, 0.0, 10.0, 10.0, None, None, 8.0, "writing")]
    )

    assert set(metrics.values()) == {None}


@pytest.mark.parametrize("cuts", [(), (1, 3)])
def test_time_in_checkpoints_includes_the_unfinished_up_to_the_end(cuts):
    spent = checkpoint_time(recording_of({"checkpoints": WORKED["checkpoints"]}, cuts), worked_fleet()[1], WORKED_END_S)

    assert spent.stalled_s.tolist() == [6.0 + 4.0, 6.0 + 2.0]
    assert spent.writing_s.tolist() == [6.0 + 4.0, 6.0 + 2.0]
    assert spent.written.tolist() == [1, 1]
    assert spent.written_s.tolist() == [6.0, 6.0]


def test_a_checkpoint_that_waits_at_the_end_stalls_its_job_and_writes_nothing():
    waiting = [(0, 0, 0.0, 10.0, None, None, None, 8.0, "waiting")]
    spent = checkpoint_time(recording_of({"checkpoints": waiting}), worked_fleet()[1][:1], WORKED_END_S)

    assert (spent.stalled_s.tolist(), spent.writing_s.tolist()) == ([20.0], [0.0])


def test_every_checkpoint_counts_once_in_the_means_of_the_fleet_and_of_its_groups():
    _, jobs = fleet_of(jobs=[group(name="a"), group(name="b", count=2)], stop={"cycles": 1})
    rows = [
        (0, 0, 0.0, 10.0, 10.0, 14.0, 4.0, 8.0, "done"),
        (0, 1, 14.0, 24.0, 24.0, 29.0, 5.0, 8.0, "done"),
        (1, 0, 0.0, 20.0, 20.0, 29.0, 9.0, 8.0, "done"),
        (1, 1, 29.0, 30.0, 30.0, None, None, 8.0, "writing"),
    ]
    found = mean_durations(jobs, checkpoint_time(recording_of({"checkpoints": rows}), jobs, 31.0))

    assert found["checkpoints_written"] == 3
    assert found["checkpoint_duration_mean_s"] == 6.0
    assert found["checkpoint_duration_mean_by_group_s"] == {"a": 4.5, "b": 9.0}


def test_a_group_that_wrote_nothing_has_no_mean():
    _, jobs = fleet_of(jobs=[group()], stop={"cycles": 1})
    found = mean_durations(jobs, checkpoint_time(recording_of({"checkpoints": []}), jobs, 31.0))

    assert found == {
        "checkpoints_written": 0,
        "checkpoint_duration_mean_s": None,
        "checkpoint_duration_mean_by_group_s": {"llm": None},
    }
