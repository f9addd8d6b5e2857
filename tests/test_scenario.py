"""A built scenario is valid, complete and honest about its defaults."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from twin.errors import ScenarioError
from twin.scenario import Launch, Power, Scenario, cap_faults, defaulted, resolved, scenario_hash


def build(**changes):
    values = {"twin": 1, "name": "x", "stop": {"cycles": 3}, "jobs": [{"name": "llm"}]}
    return Scenario.model_validate(values | changes)


def group(**changes):
    return build(jobs=[{"name": "llm"} | changes])


def faults_of(**changes):
    with pytest.raises(ScenarioError) as caught:
        build(**changes)
    return [(fault.key, fault.rule) for fault in caught.value.faults]


def only_fault(**changes):
    (fault,) = faults_of(**changes)
    return fault


def test_values_with_units_are_held_in_si():
    scenario = group(compute="30 min", checkpoint={"size": "912 GB"}, power={"compute": "7.75 kW"})
    assert scenario.jobs[0].compute_s == 1800.0
    assert scenario.jobs[0].checkpoint.size_b == 912e9
    assert scenario.jobs[0].power.compute_w == 7750.0


def test_a_built_scenario_never_changes():
    with pytest.raises(ValidationError, match="frozen"):
        build().seed = 3


def test_write_power_defaults_to_a_share_of_compute_power():
    assert group(power={"compute": "10 kW", "idle": 0}).jobs[0].power.write_w == 3500.0  # 0.35 x 10 kW


def test_the_interval_of_a_work_trigger_is_the_compute_work():
    assert group(compute="20 min").jobs[0].interval_s == 1200.0


def test_the_interval_of_a_wall_clock_trigger_is_its_own_and_there_is_no_compute_work():
    jobs = group(checkpoint={"trigger": {"every": "20 min"}}).jobs[0]
    assert jobs.interval_s == 1200.0
    assert jobs.compute_s is None


# Rules between values


def test_something_must_run():
    assert only_fault(jobs=[]) == ("jobs", "is missing: there is nothing to run")


def test_a_replay_alone_needs_neither_jobs_nor_a_stop():
    assert build(jobs=[], stop={}, replay={"file": "x.csv"}).replay.file == "x.csv"


def test_endless_jobs_need_a_stop():
    key, rule = only_fault(stop={})
    assert key == "stop"
    assert "would run for ever" in rule


def test_jobs_with_work_need_no_stop():
    assert build(stop={}, jobs=[{"name": "a", "work": "1 d"}]).stop.cycles is None


def test_one_endless_group_beside_a_finite_one_needs_a_stop():
    key, rule = only_fault(stop={}, jobs=[{"name": "a", "work": "1 d"}, {"name": "b"}])
    assert key == "stop"
    assert "'b'" in rule


def test_names_of_groups_are_unique():
    assert only_fault(jobs=[{"name": "a"}, {"name": "b"}, {"name": "a"}]) == (
        "jobs[2].name",
        "is the name of jobs[0] too",
    )


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x1bb", "a\x00", "\ud800", "a" * 201])
def test_a_name_is_one_short_printable_line(name):
    with pytest.raises(ValidationError, match="printable"):
        group(name=name)


@pytest.mark.parametrize("launch", [{}, {"at": [0], "together": 0}, {"every": 5, "poisson": 5, "uniform": 5}])
def test_there_is_exactly_one_launch_form(launch):
    key, rule = only_fault(jobs=[{"name": "a", "launch": launch}])
    assert key == "jobs[0].launch"
    assert rule.startswith("must be exactly one launch form")


def test_a_launch_at_nought_is_a_launch_form():
    assert group(launch={"together": 0}).jobs[0].launch == Launch(together=0.0)


@pytest.mark.parametrize("times", [[0.0], [0.0, 1.0, 2.0]])
def test_launch_times_are_as_many_as_the_jobs(times):
    key, rule = only_fault(jobs=[{"name": "a", "count": 2, "launch": {"at": times}}])
    assert key == "jobs[0].launch.at"
    assert "jobs[0].count is 2" in rule


@pytest.mark.parametrize("extra", [{"compute": "5 min"}, {"jitter": {"sigma": "1 s"}}])
def test_a_wall_clock_trigger_leaves_no_place_for_compute_or_jitter(extra):
    key, rule = only_fault(jobs=[{"name": "a", "checkpoint": {"trigger": {"every": "1 h"}}} | extra])
    assert key == f"jobs[0].{next(iter(extra))}"
    assert "wall clock" in rule


def test_a_work_trigger_needs_compute_work():
    assert only_fault(jobs=[{"name": "a", "compute": None}])[0] == "jobs[0].compute"


@pytest.mark.parametrize("cap", [64 * 1800.0, 64 * 1800.0 - 1.0])
def test_a_cap_at_or_below_the_idle_draw_of_one_job_is_a_fault(cap):
    key, rule = only_fault(jobs=[{"name": "a", "nodes": 64}], power={"cap": cap})
    assert key == "power.cap"
    assert "64 nodes x 1800 W" in rule


def test_a_cap_above_the_idle_draw_of_each_job_alone_is_none_even_below_that_of_all():
    jobs = [{"name": "a", "nodes": 64, "count": 10}]
    assert build(jobs=jobs, power={"cap": 64 * 1800.0 + 1.0}).power.cap_w == 115_201.0


def capped(cap_w):
    return Power.model_validate({"cap": cap_w})


def test_the_cap_is_judged_by_the_job_of_the_largest_idle_draw():
    jobs = [("small", 1, 100.0), ("wide", 20, 60.0), ("hot", 2, 300.0)]
    (fault,) = cap_faults(capped(1000.0), [(name, (("site", nodes),), idle_w) for name, nodes, idle_w in jobs])
    assert "'wide'" in fault.rule


def test_without_a_cap_or_without_jobs_no_cap_is_too_low():
    assert cap_faults(Power(), [("a", (("site", 1),), 100.0)]) == []
    assert cap_faults(capped(10.0), []) == []


def test_idle_power_is_below_compute_power():
    jobs = [{"name": "a", "power": {"compute": 1000, "idle": 1000, "write": 0}}]
    assert only_fault(jobs=jobs)[0] == "jobs[0].power.idle"


def test_idle_power_of_a_replay_profile_is_below_its_compute_power():
    replay = {"file": "x", "profile": {"power": {"compute": 1, "idle": 2}}}
    assert only_fault(replay=replay)[0] == "replay.profile.power.idle"


def test_all_groups_together_stay_within_the_most_jobs():
    jobs = [{"name": "a", "count": 30_000}, {"name": "b", "count": 30_000}]
    assert only_fault(jobs=jobs) == ("jobs", "must be at most 50000 jobs in all")


@pytest.mark.parametrize(
    "window",
    [
        ["2 d", "1 d"],
        ["1 d", "1 d"],
        ["2023-07-02", "2023-07-01"],
        ["2023-07-01", "1 d"],
        ["2023-07-01", "2023-07-02T00:00:00+00:00"],
    ],
)
def test_a_window_ends_after_it_starts_in_the_same_form(window):
    assert only_fault(replay={"file": "x", "window": window})[0] == "replay.window"


def test_a_window_of_times_is_held_in_seconds_and_one_of_dates_as_written():
    assert build(replay={"file": "x", "window": ["1 d", "2 d"]}).replay.window == (86_400.0, 172_800.0)
    assert build(replay={"file": "x", "window": ["2023-07-01", "2023-08-01"]}).replay.window[0] == "2023-07-01"


def test_all_faults_between_values_come_at_once():
    jobs = [{"name": "a", "launch": {}}, {"name": "a", "nodes": 64}]
    keys = {key for key, _ in faults_of(jobs=jobs, stop={}, power={"cap": "1 kW"})}
    assert keys == {"jobs[0].launch", "jobs[1].name", "power.cap", "stop"}


# Warnings


def test_a_plain_scenario_warns_of_nothing():
    assert build().warnings() == []


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"fleet": {"nodes": 3}, "jobs": [{"name": "a", "nodes": 4}]}, "fleet.nodes"),
        ({"storage": {"degradation": 0.1}}, "client_bandwidth"),
        ({"power": {"cap": "1 MW", "controller": {"policy": "none"}}}, "not enforced"),
        ({"jobs": [{"name": "a", "nodes": 4}, {"name": "b", "nodes": 5}]}, "equal shares"),
        (
            {"jobs": [{"name": "a", "power": {"compute": 7.75, "idle": 1.8}}]},
            "power.compute is 7.75 W per node; did you",
        ),
        ({"jobs": [{"name": "a", "checkpoint": {"size": 912}}]}, "checkpoint.size is 912 B for the whole job; did you"),
        ({"storage": {"bandwidth": 40}}, "storage.bandwidth is 40 B/s in all; did you mean 40 GB/s?"),
        ({"storage": {"bandwidth": 40_000}}, "storage.bandwidth is 40000 B/s in all; a bare number is in B/s"),
        ({"storage": {"client_bandwidth": 40}}, "client_bandwidth is 40 B/s of one job; did you mean 40 GB/s?"),
        (
            {"replay": {"file": "x.csv", "profile": {"power": {"compute": 7, "idle": 1}}}},
            "replay.profile.power.compute",
        ),
        ({"jobs": [{"name": "a", "count": 4}], "power": {"cap": "7.2 kW"}}, "draw 0.0072 MW at speed 0"),
    ],
)
def test_what_is_legal_but_odd_warns(changes, word):
    (warning,) = build(**changes).warnings()
    assert word in warning


@pytest.mark.parametrize(
    "changes",
    [
        {"jobs": [{"name": "a", "power": {"compute": 100, "idle": 1}}]},
        {"storage": {"bandwidth": "1 MB/s"}},
        {"jobs": [{"name": "a", "count": 4}], "power": {"cap": "7.3 kW"}},  # 4 x 1.8 kW is less
        {"jobs": [{"name": "a", "nodes": 4}, {"name": "b", "nodes": 4}]},
    ],
)
def test_what_is_small_but_plausible_does_not_warn(changes):
    assert build(**changes).warnings() == []


def test_a_cap_below_the_idle_draw_of_all_that_nothing_enforces_stalls_nobody():
    (warning,) = build(
        jobs=[{"name": "a", "count": 4}], power={"cap": "2 kW", "controller": {"policy": "none"}}
    ).warnings()
    assert "not enforced" in warning


@pytest.mark.parametrize(("cap_w", "meant"), [(2.0, "2 MW"), (200.0, "200 kW"), (1000.0, None), (1e5, None)])
def test_a_cap_below_one_node_asks_for_the_unit_if_a_small_number_was_written(cap_w, meant):
    (fault,) = cap_faults(capped(cap_w), [("a", (("site", 64),), 1800.0)])
    assert fault.remedy == "raise it above 115200 W" + (f"; did you mean {meant}?" if meant else "")


# Defaults and the resolved scenario


def test_a_default_is_listed_with_key_value_mark_and_source():
    assert {
        "key": "jobs[0].power.idle",
        "value": 1800.0,
        "mark": "guess",
        "source": "range 1.2-2.5 kW",
    } in defaulted(build())


def test_a_value_that_was_given_is_no_default_even_if_equal():
    keys = {entry["key"] for entry in defaulted(group(power={"idle": "1.8 kW"}))}
    assert "jobs[0].power.idle" not in keys
    assert "jobs[0].power.compute" in keys


def test_defaults_of_every_group_and_of_sections_left_out_are_listed():
    keys = {entry["key"] for entry in defaulted(build(jobs=[{"name": "a"}, {"name": "b"}]))}
    assert {"jobs[0].launch", "jobs[1].checkpoint.size", "storage.bandwidth", "power.controller.policy"} <= keys


def test_failures_are_left_out_by_default_and_have_marked_defaults_once_asked_for():
    assert build().failures is None
    assert [key for key in (entry["key"] for entry in defaulted(build())) if key.startswith("failures")] == []
    asked = {entry["key"]: (entry["value"], entry["mark"]) for entry in defaulted(build(failures={}))}
    assert asked["failures.per_node_day"] == (3.8e-3, "derived")
    assert asked["failures.downtime"] == (720.0, "guess")


def test_every_default_has_a_mark_of_the_four():
    marks = {entry["mark"] for entry in defaulted(build(replay={"file": "x", "profile": {}}, fleet={"nodes": 1}))}
    assert marks == {"source", "derived", "guess", "choice"}


def test_a_wall_clock_group_lists_no_default_compute_work():
    keys = {entry["key"] for entry in defaulted(group(checkpoint={"trigger": {"every": 60}}))}
    assert "jobs[0].compute" not in keys
    assert "jobs[0].checkpoint.trigger.offset" in keys


def test_once_resolved_nothing_that_has_a_value_comes_from_a_default():
    again = Scenario.model_validate(resolved(build()))
    assert [entry["key"] for entry in defaulted(again) if entry["value"] is not None] == []


times = st.floats(min_value=1e-3, max_value=1e6)
launches = st.one_of(
    st.fixed_dictionaries({"together": times}),
    st.fixed_dictionaries({"every": times}),
    st.fixed_dictionaries({"uniform": times}),
    st.fixed_dictionaries({"poisson": times}),
)
groups = st.fixed_dictionaries(
    {"launch": launches, "nodes": st.integers(1, 100), "count": st.integers(1, 5)},
    optional={
        "work": times,
        "compute": times,
        "jitter": st.fixed_dictionaries(
            {"sigma": times}, optional={"law": st.sampled_from(["normal", "lognormal", "uniform"])}
        ),
        "checkpoint": st.fixed_dictionaries({}, optional={"size": times, "trigger": st.just("work")}),
    },
)
clocks = st.fixed_dictionaries(
    {"checkpoint": st.fixed_dictionaries({"trigger": st.fixed_dictionaries({"every": times, "offset": times})})}
)
scenarios = st.builds(
    lambda bodies, cap: {
        "twin": 1,
        "name": "x",
        "stop": {"cycles": 3},
        "jobs": [{"name": f"g{i}"} | body for i, body in enumerate(bodies)],
        "power": {"cap": cap},
    },
    st.lists(st.one_of(groups, clocks), min_size=1, max_size=4),
    st.one_of(st.none(), st.floats(min_value=1e6, max_value=1e9)),
)


@given(scenarios)
def test_a_resolved_scenario_builds_an_equal_one_with_an_equal_hash(values):
    scenario = Scenario.model_validate(values)
    again = Scenario.model_validate(json.loads(json.dumps(resolved(scenario))))
    assert again == scenario
    assert scenario_hash(again) == scenario_hash(scenario)


def test_any_value_changes_the_hash():
    assert len({scenario_hash(s) for s in (build(), build(seed=1), build(name="y"), group(nodes=2))}) == 4


def test_a_default_written_out_does_not_change_the_hash():
    assert scenario_hash(build(seed=0)) == scenario_hash(build())
