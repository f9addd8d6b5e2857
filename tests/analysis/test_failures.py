"""Expected lost work, effective training time and best intervals, worked out by hand."""

from __future__ import annotations

import pytest

import twin
from twin.analysis.checkpoints import checkpoint_time
from twin.analysis.failures import failure_metrics
from twin.analysis.summary import summarise
from twin.laws.checkpoint_interval import daly_interval_s, expected_ettr
from twin.scenario import Failures

from .hand_made import WORKED, WORKED_END_S, fleet_of, group, recording_of, worked_fleet

FAILURES = Failures.model_validate({"per_node_day": 86.4, "downtime": 100.0})  # 1e-3 per node and second
RATE = 1e-3


def job_row(job_id, name, launch_s, end_s, work_s, nodes=1):
    return (job_id, f"{name}-{job_id}", name, nodes, 0.0, launch_s, end_s, 0, work_s, 0.0, "")


def metrics_of(jobs, checkpoints, groups, end_s, cuts=()):
    _, fleet = fleet_of(jobs=groups, stop={"cycles": 1})
    recording = recording_of({"jobs": jobs, "checkpoints": checkpoints}, cuts)
    return failure_metrics(FAILURES, fleet, recording, checkpoint_time(recording, fleet, end_s), end_s)


def test_work_is_at_risk_from_its_first_second_until_the_last_byte_that_holds_it():
    found = metrics_of(WORKED["jobs"], WORKED["checkpoints"], [group(count=2)], WORKED_END_S)

    # Job 0: 10 s of work grow for 10 s and wait 6 s, then grow for 10 s and wait 4 s until the end; job 1 6 s and 2 s.
    at_risk_s2 = 10 * (5 + 6) + 10 * (5 + 4) + 10 * (5 + 6) + 10 * (5 + 2)
    assert found["lost_work_expected_s"] == pytest.approx(RATE * at_risk_s2, rel=1e-14)
    assert found["lost_work_expected_share"] == pytest.approx(RATE * at_risk_s2 / 40.0, rel=1e-14)
    assert found["failures_expected"] == pytest.approx(RATE * (30.0 + 28.0), rel=1e-14)


def test_effective_time_and_best_intervals_come_from_the_measured_times():
    found = metrics_of(WORKED["jobs"], WORKED["checkpoints"], [group(count=2)], WORKED_END_S)

    # 10 s computing and 6 s writing in the two checkpoints that ended, a failure every 1,000 s
    assert found["ettr_expected"] == pytest.approx((1.0 - RATE * (100.0 + 5.0)) / 1.6, rel=1e-14)
    assert found["young_interval_s"] == pytest.approx((2.0 * 6.0 * 1000.0) ** 0.5, rel=1e-14)
    assert found["daly_interval_s"] == pytest.approx(daly_interval_s(6.0, 1000.0), rel=1e-14)


def test_a_job_that_computes_at_the_end_has_its_last_stretch_at_risk():
    found = metrics_of([job_row(0, "llm", 5.0, None, 15.0)], [], [group()], 20.0)

    assert found["lost_work_expected_s"] == pytest.approx(RATE * 15.0 * 7.5, rel=1e-14)
    assert found["young_interval_s"] is None  # nothing was written: no measured time
    assert found["ettr_expected"] is None


def test_a_throttled_job_has_less_work_at_risk_in_the_same_time():
    found = metrics_of([job_row(0, "llm", 0.0, None, 5.0)], [], [group()], 20.0)

    assert found["lost_work_expected_s"] == pytest.approx(RATE * 5.0 * 10.0, rel=1e-14)  # at a quarter of full speed


def test_a_job_that_is_done_or_was_never_launched_has_nothing_to_lose_any_more():
    checkpoints = [(0, 0, 0.0, 10.0, 10.0, 14.0, 4.0, 8.0, "done")]
    jobs = [job_row(0, "llm", 0.0, 14.0, 10.0), job_row(1, "llm", None, None, 0.0)]
    found = metrics_of(jobs, checkpoints, [group(count=2)], 1000.0)

    assert found["lost_work_expected_s"] == pytest.approx(RATE * 10.0 * (5.0 + 4.0), rel=1e-14)
    assert found["failures_expected"] == pytest.approx(RATE * 14.0, rel=1e-14)


@pytest.mark.parametrize("cuts", [(), (1,), (1, 2)])
def test_each_group_has_figures_of_its_own_and_the_fleet_those_of_its_mean_job(cuts):
    groups = [group(name="small"), group(name="large", nodes=3)]
    jobs = [job_row(0, "small", 0.0, None, 10.0), job_row(1, "large", 50.0, None, 30.0, nodes=3)]
    checkpoints = [
        (0, 0, 0.0, 10.0, 10.0, 100.0, 90.0, 8.0, "done"),
        (1, 0, 50.0, 80.0, 80.0, 100.0, 20.0, 8.0, "done"),
    ]
    found = metrics_of(jobs, checkpoints, groups, 100.0, cuts)

    ettrs = {
        "small": expected_ettr(10.0, 90.0, RATE, 100.0),
        "large": expected_ettr(30.0, 20.0, 3.0 * RATE, 100.0),
    }
    assert found["ettr_expected_by_group"] == pytest.approx(ettrs, rel=1e-14)
    assert found["ettr_expected"] == pytest.approx((100.0 * ettrs["small"] + 50.0 * ettrs["large"]) / 150.0, rel=1e-14)
    assert found["young_interval_by_group_s"]["large"] == pytest.approx((2.0 * 20.0 / (3.0 * RATE)) ** 0.5, rel=1e-14)
    # 55 s a write; 1 node for 100 s and 3 nodes for 50 s are 5 / 3 nodes on average
    assert found["young_interval_s"] == pytest.approx((2.0 * 55.0 / (5.0 / 3.0 * RATE)) ** 0.5, rel=1e-14)


def test_a_scenario_without_failures_has_none_of_their_figures():
    scenario, jobs = worked_fleet()
    found = summarise(scenario, jobs, recording_of(WORKED), WORKED_END_S)

    assert {
        found[name] for name in ("failures_expected", "lost_work_expected_s", "ettr_expected", "young_interval_s")
    } == {None}


def test_a_run_with_failures_is_the_run_without_them_and_their_figures():
    keys = {
        "twin": 1,
        "name": "x",
        "stop": {"cycles": 3},
        "jobs": [group(count=3, launch={"every": 4.0})],
        "storage": {"bandwidth": 2.0},
    }
    without, with_them = (twin.simulate(twin.load(keys | more)) for more in ({}, {"failures": {}}))

    assert with_them.table("checkpoints").to_pylist() == without.table("checkpoints").to_pylist()
    assert with_them.manifest["metrics"]["failures_expected"] > 0.0
    assert without.manifest["metrics"]["failures_expected"] is None


def test_the_lost_work_of_a_steady_job_is_that_of_the_effective_time_but_for_the_writes():
    keys = {
        "twin": 1,
        "name": "x",
        "stop": {"cycles": 1000},
        "jobs": [group(compute=1000.0)],
        "storage": {"bandwidth": 2.0},
        "failures": {"per_node_day": 1.0, "downtime": 0.0},
    }
    metrics = twin.simulate(twin.load(keys)).manifest["metrics"]
    rate, compute_s, write_s = 1.0 / 86_400.0, 1000.0, 4.0

    # productive time / time = 1 / (1 + w / T) less R T / 2 of it; the work held while it is written comes on top
    lost = 1.0 - metrics["ettr_expected"] * (1.0 + write_s / compute_s)
    assert metrics["lost_work_expected_share"] == pytest.approx(lost + rate * write_s, rel=1e-9)
