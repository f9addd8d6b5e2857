"""From a scenario to its jobs: who launches when, who works how much, in which rank; and what changes no draw."""

from __future__ import annotations

from itertools import accumulate, islice
from math import inf, sqrt

import numpy as np
import pytest

from tests.fleets import FLAT, NODE, group, scenario
from twin import api
from twin.chance import Purpose, stream
from twin.fleet import Job, LaunchSchedule, jobs_of
from twin.scenario import Scenario

PROFILE = {"compute": 600.0, "size_per_gpu": 2e9, "jitter": 0.02}


def jobs(*groups, **more) -> list[Job]:
    replica = more.pop("replica", 0)
    return jobs_of(api.load(scenario(list(groups), {"time": 1e6}, **more)), replica=replica)


def launches(launch, count, **more) -> list[float]:
    return [job.launch_s for job in jobs({"name": "a", "count": count, "launch": launch}, **more)]


def stretches(**own) -> list[float]:
    """Every stretch of a job of one group, or its first twenty."""
    (job,) = jobs({"name": "a", **own})
    return list(islice(job.stretches(), 20))


# Launches


def test_launches_at_given_times_are_those_times_in_their_order():
    assert launches({"at": [7.0, 0.0, 3.5]}, 3) == [7.0, 0.0, 3.5]


def test_launches_together_are_one_instant_for_all():
    assert launches({"together": 4.25}, 3) == [4.25] * 3


def test_without_a_launch_form_all_launch_at_the_start():
    assert [job.launch_s for job in jobs({"name": "a", "count": 3})] == [0.0] * 3


def test_launches_at_an_interval_are_index_times_interval_and_not_a_running_sum():
    times_s = launches({"every": 0.1}, 100)

    assert times_s == [index * 0.1 for index in range(100)]
    assert times_s != list(accumulate([0.0] + [0.1] * 99))  # 0.1 has no exact double, so the two can be told apart


def test_uniform_launches_lie_in_the_window_and_fill_it():
    times_s = np.array(launches({"uniform": 50.0}, 1000))

    assert times_s.min() >= 0.0
    assert times_s.max() < 50.0
    assert len(set(times_s)) == 1000
    # mean 25 s and standard deviation 50 / sqrt(12) s; three standard errors of a mean of 1,000
    assert times_s.mean() == pytest.approx(25.0, abs=3.0 * 50.0 / sqrt(12.0 * 1000))
    # the standard error of the standard deviation is sigma sqrt((kurtosis - 1) / 4n), the kurtosis of this law is 1.8
    assert times_s.std() == pytest.approx(50.0 / sqrt(12.0), rel=3.0 * sqrt(0.8 / 4000))


def test_uniform_launches_scale_with_their_window_and_are_the_same_again():
    assert launches({"uniform": 40.0}, 5) == launches({"uniform": 40.0}, 5)
    assert launches({"uniform": 80.0}, 5) == [2.0 * time_s for time_s in launches({"uniform": 40.0}, 5)]


def test_a_uniform_launch_belongs_to_its_job_so_more_jobs_move_none():
    assert launches({"uniform": 40.0}, 9)[:5] == launches({"uniform": 40.0}, 5)


def test_poisson_launches_are_running_sums_of_exponential_gaps_the_first_gap_included():
    gaps_s = 20.0 * stream(0, 0, "a", 0, Purpose.LAUNCHES).standard_exponential(50)

    assert launches({"poisson": 20.0}, 50, seed=0) == list(accumulate(gaps_s.tolist()))


def test_poisson_gaps_have_the_mean_and_the_spread_of_an_exponential_law():
    gaps_s = np.diff(launches({"poisson": 20.0}, 4000), prepend=0.0)

    assert gaps_s.min() > 0.0
    assert gaps_s.mean() == pytest.approx(20.0, rel=3.0 / sqrt(4000))  # standard error: mean / sqrt(n)
    assert gaps_s.std() == pytest.approx(20.0, rel=3.0 * sqrt(2.0 / 4000))  # sqrt((kurtosis - 1) / 4n), kurtosis 9


@pytest.mark.parametrize("launch", [{"uniform": 50.0}, {"poisson": 20.0}], ids=["uniform", "poisson"])
def test_another_seed_replica_or_group_meets_other_launches(launch):
    first = launches(launch, 3)

    assert launches(launch, 3, seed=8) != first
    assert launches(launch, 3, replica=1) != first
    assert [job.launch_s for job in jobs({"name": "b", "count": 3, "launch": launch})] != first


# Who is who


def test_ids_follow_the_file_and_ranks_follow_the_name_of_the_group_and_the_index():
    fleet = jobs({"name": "b", "count": 2}, {"name": "a", "count": 11})

    assert [job.job_id for job in fleet] == list(range(13))
    assert [job.name for job in fleet] == ["b-0", "b-1", *(f"a-{index}" for index in range(11))]
    assert [job.rank for job in fleet] == [11, 12, *range(11)]  # a-10 after a-9: by number, not by text


def test_jobs_of_a_schedule_follow_those_of_the_groups_copies_beside_their_original():
    schedule = LaunchSchedule(
        names=["x", "y"],
        groups=["b", "a"],
        submit_s=np.array([0.0, 5.0]),
        launch_s=np.array([10.0, 15.0]),
        gpus=np.array([4, 16]),
        nodes=np.array([1, 2]),
        work_s=np.array([60.0, 90.0]),
    )
    mapping = scenario([{"name": "b", "count": 1}], {"time": 1e6})
    mapping["replay"] = {"file": "x.csv", "profile": PROFILE, "copies": 2}
    fleet = jobs_of(Scenario.model_validate(mapping), schedule)

    assert [(job.job_id, job.name, job.group, job.index, job.rank) for job in fleet] == [
        (0, "b-0", "b", 0, 2),
        (1, "x.0", "b", 1, 3),
        (2, "x.1", "b", 2, 4),
        (3, "y.0", "a", 0, 0),
        (4, "y.1", "a", 1, 1),
    ]
    assert [job.launch_s - job.submit_s for job in fleet[1:]] == [10.0] * 4
    assert [(job.submit_s, job.size_b, job.work_s) for job in fleet[1::2]] == [(0.0, 8e9, 60.0), (5.0, 32e9, 90.0)]


# Stretches


def test_an_endless_job_without_jitter_computes_the_same_stretch_for_ever():
    assert stretches(compute=7.0) == [7.0] * 20


def test_the_last_stretch_is_cut_to_the_work_that_is_left():
    assert stretches(compute=8.0, work=20.0) == [8.0, 8.0, 4.0]


def test_work_that_is_a_whole_number_of_stretches_has_no_rest():
    assert stretches(compute=8.0, work=24.0) == [8.0, 8.0, 8.0]


def test_less_work_than_a_stretch_is_one_short_stretch():
    assert stretches(compute=8.0, work=0.5) == [0.5]


@pytest.mark.parametrize(("rest", "count"), [(0.9e-9, 2), (1.1e-9, 3)])
def test_a_rest_under_1e_9_of_a_stretch_is_none_and_a_larger_one_is_a_stretch(rest, count):
    found = stretches(compute=8.0, work=16.0 + 8.0 * rest)

    assert len(found) == count
    assert found[:2] == [8.0, 8.0]


def test_a_rest_is_judged_by_the_mean_stretch_however_long_the_job():
    # 0.1 + 0.1 + ... misses 1 by a rounding, a rest of which must not become an eleventh stretch
    assert stretches(compute=0.1, work=1.0)[:9] == [0.1] * 9
    assert len(stretches(compute=0.1, work=1.0)) == 10


def test_jittered_stretches_of_a_job_with_work_are_those_of_an_endless_job_but_for_the_last():
    jitter = {"law": "normal", "sigma": 2.0}
    endless, ending = stretches(compute=10.0, jitter=jitter), stretches(compute=10.0, jitter=jitter, work=75.0)

    assert ending[:-1] == endless[: len(ending) - 1]
    assert 0.0 < ending[-1] <= endless[len(ending) - 1]
    assert sum(ending) == pytest.approx(75.0, rel=1e-14)  # some ten roundings


def test_without_work_a_job_never_ends():
    (job,) = jobs({"name": "a"})

    assert job.work_s == inf


# Luck


def luck(fleet: list[Job]) -> dict[str, tuple[float, list[float]]]:
    """Launch and first stretches of each job."""
    return {job.name: (job.launch_s, list(islice(job.stretches(), 10))) for job in fleet}


JITTER = {"law": "normal", "sigma": 2.0}
PAIR = group("pair", 10.0, 1.0, {"uniform": 30.0}, NODE, count=2, jitter=JITTER)
STREAM = group("stream", 10.0, 1.0, {"poisson": 30.0}, NODE, count=3, jitter={"law": "lognormal", "sigma": 1.0})
FIRST = group("first", 10.0, 1.0, {"uniform": 30.0}, NODE, count=2, jitter=JITTER)


@pytest.mark.parametrize(
    "change",
    [
        {"power": {"controller": {"policy": "none"}}},
        {"power": {"cap": 10_000.0}},
        {"storage": {"bandwidth": 5.0, "client_bandwidth": 1.0}},
        {"jobs": [FIRST, PAIR, STREAM]},
        {"jobs": [STREAM, PAIR]},
        {"stop": {"cycles": 3}},
        {"name": "other"},
        {"fleet": {"nodes": 100}},
    ],
    ids=["policy", "cap", "store", "one more group", "order of groups", "stop", "name", "fleet"],
)
def test_a_change_of_anything_but_a_group_itself_changes_no_draw_of_it(change):
    plain = scenario([PAIR, STREAM], {"time": 1e6}, FLAT, seed=5)
    before, after = (luck(jobs_of(api.load(mapping))) for mapping in (plain, plain | change))

    assert {name: after[name] for name in before} == before


def test_more_jobs_in_a_group_change_no_stretch_of_those_before():
    few, many = luck(jobs(PAIR)), luck(jobs(PAIR | {"count": 7}))

    assert {name: many[name] for name in few} == few


def test_every_job_has_luck_of_its_own():
    fleet = luck(jobs(PAIR, FIRST, STREAM))

    assert len({stretch for _, drawn in fleet.values() for stretch in drawn}) == 10 * len(fleet)


@pytest.mark.parametrize("change", [{"seed": 6}, {"replica": 1}], ids=["seed", "replica"])
def test_another_seed_or_replica_changes_every_launch_and_stretch(change):
    before, after = luck(jobs(PAIR, STREAM, seed=5)), luck(jobs(PAIR, STREAM, **{"seed": 5} | change))

    for name, (launch_s, drawn) in before.items():
        assert after[name][0] != launch_s
        assert not set(after[name][1]) & set(drawn)
