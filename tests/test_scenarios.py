"""Each bundled scenario meets the answer it announces."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import twin

SCENARIOS = Path(__file__).parents[1] / "scenarios"
NAMES = sorted(path.stem for path in SCENARIOS.glob("*.yaml"))


@cache
def recording(name: str):
    return twin.simulate(twin.load(SCENARIOS / f"{name}.yaml"))


def metrics(name: str) -> dict:
    return recording(name).manifest["metrics"]


def fires_s(name: str) -> np.ndarray:
    """Fire times by job and cycle [s], the cycles that all jobs have ended."""
    checkpoints = recording(name).frame("checkpoints")
    return checkpoints.pivot_table(index="job_id", columns="cycle", values="write_start_s").dropna(axis=1).to_numpy()


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_scenario_opens_with_a_question_and_its_answer(name):
    text = (SCENARIOS / f"{name}.yaml").read_text()
    scenario = twin.load(SCENARIOS / f"{name}.yaml")

    assert scenario.name == name
    assert scenario.question is not None
    assert scenario.answer is not None
    assert text.startswith("#")


def test_phase_blind_keeps_the_gap_of_the_pair():
    fires = fires_s("phase-blind")
    gaps_s = fires[1] - fires[0]

    assert len(gaps_s) >= 1000
    np.testing.assert_allclose(gaps_s, 3.7, atol=1e-9 * 148.4)  # 1e-9 of the period
    assert metrics("phase-blind")["cap_binding_share"] > 0.8


def test_in_step_stays_exactly_in_step_with_16_writers_or_none():
    fires = fires_s("in-step")

    assert fires.shape == (16, 1000)
    assert np.all(fires == fires[0])
    assert set(recording("in-step").frame("storage").writers) == {0, 16}


def test_staggered_never_overlaps_and_keeps_its_spacing():
    fires = np.sort(fires_s("staggered").ravel())
    checkpoints = recording("staggered").frame("checkpoints").sort_values("write_start_s")
    free_s = checkpoints.write_start_s.to_numpy()[1:] - checkpoints.write_end_s.to_numpy()[:-1]

    assert metrics("staggered")["peak_writers"] == 1
    np.testing.assert_allclose(np.diff(fires), 35.7142857, atol=1e-6)  # launches are given to 1e-12 s
    np.testing.assert_allclose(free_s, 25.7142857, atol=1e-6)
    assert metrics("staggered")["cap_binding_share"] > 0.99


def test_random_fleet_keeps_its_order_and_never_fires_as_one():
    fires = fires_s("random-fleet")
    order = np.argsort(fires[:, 0])
    writers = recording("random-fleet").frame("storage")
    end_s = recording("random-fleet").manifest["simulated_end_s"]
    mean_writers = np.sum(np.diff(writers.time_s, append=end_s) * writers.writers) / end_s

    assert fires.shape == (8, 500)
    assert np.all(np.diff(fires[order], axis=0) >= 0.0)
    assert np.all(fires[order[0], 1:] >= fires[order[-1], :-1])  # the first fires again after the last
    in_time = np.sort(fires.ravel())
    assert np.min(in_time[7:] - in_time[:-7]) > 50.0  # any eight fires in a row, of a lone period of 110 s
    assert metrics("random-fleet")["peak_writers"] == 6
    assert mean_writers == pytest.approx(1.25, abs=0.005)


def test_capped_fleet_runs_at_82_per_cent_and_does_not_gather():
    work = metrics("capped-fleet")

    assert work["compute_share"] / (work["compute_share"] + work["throttled_share"]) == pytest.approx(0.82, abs=0.01)
    assert work["writers_share_at_least"][1] == pytest.approx(0.004, abs=0.0005)


def test_wall_clock_storm_writes_16_at_once_for_365_s():
    storm, mild = metrics("wall-clock-storm"), metrics("mid-fleet")

    assert storm["peak_writers"] == 16
    assert storm["checkpoint_duration_p50_s"] == pytest.approx(16 * 22.8, abs=1e-6)  # 16 equal shares of the store
    assert storm["stall_share"] == pytest.approx(0.2, abs=0.01)
    assert mild["stall_share"] == pytest.approx(0.0137, abs=0.0005)


def test_mid_fleet_writes_mostly_alone_and_keeps_91_per_cent_of_its_work():
    fleet = metrics("mid-fleet")

    assert fleet["checkpoint_duration_p50_s"] == pytest.approx(22.8, abs=1e-6)  # 912 GB through 40 GB/s
    assert fleet["checkpoint_duration_p99_s"] == pytest.approx(62, abs=1)
    assert fleet["writers_share_at_least"][2] == pytest.approx(0.005, abs=0.0005)
    assert fleet["writers_share_at_least"][2] / fleet["writers_share_at_least_independent"][2] == pytest.approx(
        4, abs=0.5
    )
    assert fleet["goodput"] == pytest.approx(0.91, abs=0.005)


def test_replay_is_slowed_by_the_cap_rather_than_the_store():
    manifest = recording("replay").manifest
    report, work = manifest["import_report"], manifest["metrics"]

    assert report["rows_read"] == 2029
    assert report["jobs"] == report["rows_kept"] == 2029 - sum(dropped["rows"] for dropped in report["dropped"])
    # as printed in the answer: the tolerance is half a unit of the last digit
    assert work["cap_binding_share"] == pytest.approx(0.14, abs=0.005)
    assert work["throttled_share"] == pytest.approx(0.025, abs=0.0005)
    assert work["stall_share"] == pytest.approx(0.015, abs=0.0005)
    assert work["writers_share_at_least"][1] == pytest.approx(0.004, abs=0.0005)
    assert work["checkpoint_duration_max_s"] == pytest.approx(108.0, abs=0.5)


ANSWERED_BY = {
    "capped-fleet": test_capped_fleet_runs_at_82_per_cent_and_does_not_gather,
    "in-step": test_in_step_stays_exactly_in_step_with_16_writers_or_none,
    "mid-fleet": test_mid_fleet_writes_mostly_alone_and_keeps_91_per_cent_of_its_work,
    "phase-blind": test_phase_blind_keeps_the_gap_of_the_pair,
    "random-fleet": test_random_fleet_keeps_its_order_and_never_fires_as_one,
    "replay": test_replay_is_slowed_by_the_cap_rather_than_the_store,
    "staggered": test_staggered_never_overlaps_and_keeps_its_spacing,
    "wall-clock-storm": test_wall_clock_storm_writes_16_at_once_for_365_s,
}


def test_every_bundled_scenario_has_a_test_of_its_answer():
    assert list(ANSWERED_BY) == NAMES
