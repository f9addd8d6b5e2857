"""The product form without simulating: its numbers against long simulations, and when it says that it is exact."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import twin
from tests.fleets import NODE, equal_jobs, group, scenario, store_rates
from tests.unequal_fleets import FLEETS, measured_shares
from twin.analysis.anonymous_rates import AnonymousRates, kept_phases
from twin.analysis.estimate import MOST_JOBS, Estimate
from twin.analysis.metrics import METRICS
from twin.fleet import jobs_of
from twin.laws.occupancy import time_shares

REPLICAS = 32
ENDLESS = {"time": 1e6}
ROUNDING = 1e-12  # some hundred operations in double precision


def estimated(mapping) -> Estimate:
    return twin.estimate(twin.load(mapping))


def shares_of(found: Estimate) -> np.ndarray:
    """Time shares with 0, 1, ... writers."""
    return np.array([state.share for state in found.product_form.states])


# Against simulation, and against the law


@pytest.mark.parametrize("name", FLEETS)
def test_every_share_above_a_thousandth_is_met_by_long_simulations_of_unequal_fleets(name):
    fleet = FLEETS[name]
    found = estimated(fleet.mapping())
    expected = shares_of(found)
    common = expected > 1e-3

    shares = np.array([measured_shares(fleet, replica) for replica in range(REPLICAS)])[:, : len(expected)]

    assert found.verdict == "exact"
    # Runs of other launches and other luck are independent: standard error from their spread.
    standard_error = shares.std(axis=0, ddof=1) / np.sqrt(REPLICAS)
    assert (standard_error < 0.004).all(), "too short to tell the product form from independent phases"
    assert (np.abs(shares.mean(axis=0) - expected)[common] <= 3.0 * standard_error[common]).all()


@pytest.mark.parametrize("name", FLEETS)
def test_shares_are_those_of_the_law_at_the_rates_worked_out_by_definition(name):
    fleet = replace(FLEETS[name], jitter={})  # or clipping would lengthen the mean work
    rates_b_s = store_rates(fleet.store, fleet.jobs)

    found = shares_of(estimated(fleet.mapping()))

    expected = time_shares(np.divide(fleet.size_b, fleet.compute_s), rates_b_s, fleet.speeds())
    np.testing.assert_allclose(found, expected[: len(found)], rtol=ROUNDING)


# A lone job, worked out by hand: 10 s of work at u = 0.5, then 4 B at 1 B/s

LONE = scenario([group("job", 10.0, 4.0, {"at": [0.0]})], ENDLESS, {"bandwidth": 2.0, "client_bandwidth": 1.0}, cap=0.5)


def test_a_lone_job_computes_20_s_and_writes_4_s_of_every_24_s():
    found = estimated(LONE)
    metrics = found.product_form.metrics

    expected = {
        "jobs": 1,
        "checkpoint_duration_mean_s": 4.0,
        "goodput": 10.0 / 24.0,
        "compute_share": 10.0 / 24.0,
        "throttled_share": 10.0 / 24.0,
        "stall_share": 4.0 / 24.0,
        "store_utilisation": 4.0 / (2.0 * 24.0),
        "mean_power_w": 0.5 * 20.0 / 24.0,
        "power_p99_w": 0.5,
        "cap_binding_share": 20.0 / 24.0,
    }
    assert found.verdict == "exact"
    assert {name: metrics[name] for name in expected} == pytest.approx(expected, rel=ROUNDING)
    assert metrics["writers_share_at_least"] == pytest.approx([4.0 / 24.0], rel=ROUNDING)
    assert metrics["checkpoint_duration_mean_by_group_s"] == pytest.approx({"job": 4.0}, rel=ROUNDING)


def test_states_say_rate_speed_and_draw_by_the_number_of_writers():
    computing, writing = estimated(LONE).product_form.states

    assert (computing.writers, computing.store_b_s, computing.speed) == (0, 0.0, 0.5)
    assert computing.draw_w == pytest.approx(0.5, rel=ROUNDING)
    assert (writing.writers, writing.store_b_s, writing.speed, writing.draw_w) == (1, 1.0, None, 0.0)


def test_an_estimate_is_ready_for_json_and_speaks_of_known_metrics_only():
    found = estimated(FLEETS["degrading store, watt cap, jitter"].mapping()).as_dict()

    assert json.loads(json.dumps(found, allow_nan=False))["verdict"] == "exact"
    assert found["product_form"]["metrics"].keys() <= METRICS.keys()


def test_clipped_jitter_lengthens_the_mean_work():
    wide = {"law": "normal", "sigma": 10.0}  # a sixth of the draws would be negative: they are 0, and the mean 10.83
    fleet = scenario([group("job", 10.0, 1.0, {"at": [0.0]}, jitter=wide)], ENDLESS)

    writing = estimated(fleet).product_form.metrics["stall_share"]

    mean_s = 10.0 * 0.8413447460685429 + 10.0 * 0.24197072451914337  # 10 Phi(1) + 10 phi(1)
    assert writing == pytest.approx(1.0 / (mean_s + 1.0), rel=ROUNDING)


def test_bytes_written_and_energy_drawn_of_a_run_agree_with_the_estimate_beside_it():
    mapping = {**FLEETS["flat store, linear cap, jitter"].mapping(), "stop": {"time": 1e5}}
    manifest = twin.simulate(twin.load(mapping), tables=("jobs", "checkpoints", "power", "storage")).manifest
    expected = manifest["estimate"]["product_form"]["metrics"]

    # some 8,000 cycles a job; the spread of such runs is below a third of a percent
    for name in ("goodput", "mean_power_w", "store_utilisation", "checkpoint_duration_mean_s", "cap_binding_share"):
        assert manifest["metrics"][name] == pytest.approx(expected[name], rel=0.01), name


# Unequal power


def two_sizes(cap):
    return scenario(
        [
            group("small", 10.0, 1.0, {"at": [0.0]}, NODE),
            group("large", 11.3, 1.0, {"at": [3.0]}, NODE, nodes=3),
        ],
        ENDLESS,
        cap=cap,
    )


def test_unequal_power_without_a_cap_has_a_mean_draw_but_no_levels():
    found = estimated(two_sizes(None)).product_form
    small, large = (1.0 - share for share in _writing_shares(two_sizes(None)))

    expected_w = 2712.5 * 4 + (7750.0 - 2712.5) * (small + 3 * large)
    assert found.metrics["mean_power_w"] == pytest.approx(expected_w, rel=ROUNDING)
    assert {state.draw_w for state in found.states} == {None}


def test_a_cap_that_binds_only_while_all_compute_leaves_unequal_power_anonymous():
    cap_w = 3 * 7750.0 + 2712.5 + 1.0  # above what is drawn while the small job writes
    found = estimated(two_sizes(cap_w))

    assert found.verdict == "exact"
    assert found.product_form.states[0].speed < 1.0
    assert {state.speed for state in found.product_form.states[1:]} == {1.0, None}


def test_unequal_power_behind_a_cap_that_tells_the_jobs_apart_is_not_applicable():
    found = estimated(two_sizes(2.0 * 7750.0))

    assert found.verdict == "not applicable"
    assert "unequal power" in found.because
    assert found.product_form is None


def test_half_the_nodes_at_twice_the_power_is_equal_power():
    double = {name: 2.0 * value if name != "exponent" else value for name, value in NODE.items()}
    fleet = scenario(
        [group("many", 10.0, 1.0, {"at": [0.0]}, NODE, nodes=2), group("few", 11.3, 1.0, {"at": [3.0]}, double)],
        ENDLESS,
        cap=2.5 * 7750.0,
    )
    found = estimated(fleet)

    assert found.verdict == "exact"
    assert found.product_form.states[0].draw_w == pytest.approx(2.5 * 7750.0, rel=ROUNDING)


def _writing_shares(mapping):
    """By the law for two jobs: job i writes while the other computes, or both do."""
    jobs = jobs_of(twin.load(mapping))
    x = [job.size_b / job.compute_s for job in jobs]
    weights = {"none": 1.0, "first": x[0], "second": x[1], "both": 2.0 * x[0] * x[1]}  # F = 1, u = 1
    total = sum(weights.values())
    return (weights["first"] + weights["both"]) / total, (weights["second"] + weights["both"]) / total


# Verdicts


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        (
            scenario(
                [
                    {
                        "name": "clocked",
                        "count": 2,
                        "checkpoint": {"size": 1.0, "trigger": {"every": 10.0}},
                        "launch": {"every": 1.0},
                    }
                ],
                ENDLESS,
            ),
            "2 jobs checkpoint by the wall clock",
        ),
        (equal_jobs([0.0, 0.0, 3.0], 1), "2 jobs of one rhythm are launched at one instant and nothing parts them"),
        (scenario([group("late", 10.0, 1.0, {"at": [2e6]})], ENDLESS), "no job is launched before stop.time"),
        (
            scenario(
                [{"name": "many", "count": MOST_JOBS + 1, "launch": {"uniform": 1000.0}, "jitter": {"sigma": 1.0}}],
                ENDLESS,
            ),
            f"more than {MOST_JOBS:,} jobs at once",
        ),
        (equal_jobs([0.0, 3.0, 7.0], 1, power=NODE, cap=3 * 1800.0), "idle draw of all jobs"),
    ],
    ids=["wall clock", "in step", "late", "many", "stalled"],
)
def test_where_it_does_not_apply_it_says_why_and_gives_no_number(mapping, reason):
    found = estimated(mapping)

    assert found.verdict == "not applicable"
    assert reason in found.because
    assert (found.product_form, found.windows) == (None, ())


def test_jobs_of_one_rhythm_launched_together_part_once_there_is_jitter():
    fleet = scenario([{**group("job", 10.0, 1.0, {"together": 0.0}, jitter={"sigma": 1.0}), "count": 3}], ENDLESS)

    assert estimated(fleet).verdict == "exact"


@pytest.mark.parametrize(
    ("at_s", "size_b"),
    [([0.0, 3.0], 1.0), ([0.0, 3.0], 15.0), ([0.0, 3.0, 7.0], 1.0)],
    ids=["pair", "pair that always overlaps", "three with room for a stagger"],
)
def test_equal_jobs_without_jitter_that_keep_their_phases_are_met_on_average_over_launches_only(at_s, size_b):
    found = estimated(equal_jobs(at_s, 1, size_b=size_b))

    assert found.verdict == "on average over launches"
    assert found.product_form is not None


def test_equal_jobs_without_jitter_and_without_room_for_a_stagger_forget_their_launches():
    assert estimated(equal_jobs([0.0, 3.0, 7.0], 1, size_b=6.0)).verdict == "exact"  # 3 x 6 s > 10 s + 6 s


def test_the_average_over_launches_of_two_equal_jobs_is_the_product_form():
    # A gap g below the lone write of 1 s is kept: in each cycle the writes overlap for 2 (1 s - g), at half the rate,
    # and the cycle of 11 s is longer by half of that. A gap counts by the time that its cycle takes.
    gaps_s = (np.arange(20_000) + 0.5) / 20_000 * 5.5  # half of 11 s: the other half is the same
    overlap_s = 2.0 * np.maximum(1.0 - gaps_s, 0.0)
    average = float(overlap_s.sum() / (11.0 + 0.5 * overlap_s).sum())

    expected = shares_of(estimated(equal_jobs([0.0, 3.0], 1)))[2]

    assert average == pytest.approx(expected, rel=1e-3)  # the grid of gaps is that fine


# Kept phases


def kept(mapping):
    loaded = twin.load(mapping)
    return kept_phases(AnonymousRates.of(loaded, jobs_of(loaded)))


def test_jobs_that_nothing_slows_keep_their_phases_whatever_their_rhythm():
    wide = {"bandwidth": 10.0, "client_bandwidth": 1.0}
    unequal = [group("a", 10.0, 1.0, {"at": [0.0]}), group("b", 13.7, 1.0, {"at": [1.0]})]

    assert "nothing slows a job down" in kept(scenario(unequal, ENDLESS, wide))
    assert kept(scenario(unequal, ENDLESS, wide, cap=1.5)) is None  # the cap does


def test_one_jittered_job_mixes_the_phases_of_all_that_contend_with_it():
    jobs = [group("steady", 10.0, 1.0, {"at": [0.0, 3.0, 7.0]})]

    assert kept(scenario(jobs, ENDLESS)) is not None
    assert kept(scenario([*jobs, group("jittered", 10.0, 1.0, {"at": [5.0]}, jitter={"sigma": 1.0})], ENDLESS)) is None


# Jobs that come and go


def coming_and_going(**more):
    jobs = [
        group("base", 100.0, 10.0, {"at": [0.0, 20.0]}, work=900_000.0),
        group("burst", 100.0, 10.0, {"at": [100_000.0, 100_010.0, 100_020.0]}, work=1000.0),
        group("brief", 100.0, 30.0, {"at": [200_000.0]}, work=50.0),
    ]
    return scenario(jobs, {"time": 400_000.0}, **more)


def test_the_busiest_moment_of_each_of_the_three_busiest_days_is_taken_as_stationary():
    found = estimated(coming_and_going())

    assert found.verdict == "busiest windows"
    assert found.product_form is None
    assert [window.jobs for window in found.windows] == [2, 5, 3]  # on the days 0, 1 and 2
    assert [(window.start_s, window.end_s) for window in found.windows][1:] == [
        (100_020.0, 101_100.0),  # 10 checkpoints of 10 s come on top of 1,000 s of work
        (200_000.0, 200_080.0),
    ]


def test_a_window_has_the_shares_of_its_jobs_running_for_ever():
    busiest = estimated(coming_and_going()).windows[1]

    expected = time_shares([0.1] * 5, np.ones(5), np.ones(5))
    found = [state.share for state in busiest.product_form.states]
    np.testing.assert_allclose(found, expected, rtol=ROUNDING)


def test_a_job_shorter_than_its_interval_checkpoints_after_its_own_work():
    brief = estimated(coming_and_going()).windows[2]

    expected = time_shares([0.1, 0.1, 30.0 / 50.0], np.ones(3), np.ones(3))
    np.testing.assert_allclose([state.share for state in brief.product_form.states], expected, rtol=ROUNDING)


def test_a_window_to_which_it_does_not_apply_says_why_beside_those_to_which_it_does():
    jobs = coming_and_going()["jobs"]
    jobs[2] |= {"nodes": 4}
    found = estimated(scenario(jobs, {"time": 400_000.0}, cap=3.0))

    applies = [window.product_form is not None for window in found.windows]
    assert applies == [True, True, False]
    assert "unequal power" in found.windows[2].because


def test_a_fleet_whose_jobs_cannot_end_before_the_stop_is_stationary():
    jobs = [group("base", 100.0, 10.0, {"at": [0.0, 20.0]}, work=900_000.0, jitter={"sigma": 1.0})]

    assert estimated(scenario(jobs, {"time": 900_000.0})).verdict == "exact"
    assert estimated(scenario(jobs, {"time": 900_001.0})).verdict == "busiest windows"
