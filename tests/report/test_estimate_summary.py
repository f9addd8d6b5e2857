"""An estimate in words: the verdict first, then the numbers; beside a run, the same names stand side by side."""

from __future__ import annotations

import pytest

import twin
from tests.fleets import NODE, equal_jobs, group, scenario
from twin.report.estimate_summary import estimate_summary
from twin.report.run_summary import summary

STEADY = scenario(
    [group("a", 10.0, 1.0, {"at": [0.0]}, NODE), group("b", 13.7, 2.0, {"at": [1.0]}, NODE)], {"time": 2000.0}
)


def lines_of(mapping):
    return estimate_summary(twin.estimate(twin.load(mapping)).as_dict())


def run_lines(mapping):
    sections = summary(twin.simulate(twin.load(mapping)).manifest)
    return {line.label: line.value for lines in sections.values() for line in lines}


def test_the_verdict_comes_first():
    assert next(iter(lines_of(STEADY).values()))[0].label == "exact"


def test_no_number_is_told_twice():
    labels = [line.label for lines in lines_of(STEADY).values() for line in lines]

    assert sorted(labels) == sorted(set(labels))


def test_where_it_does_not_apply_the_reason_is_given_and_what_holds_without_contention():
    sections = lines_of(equal_jobs([0.0, 0.0], 1) | {"stop": {"time": 100.0}})
    alone = {line.label: line.value for line in sections["Without contention"]}

    assert [line.label for line in sections["Product form"]] == ["not applicable"]
    assert len(sections) == 2
    assert alone.keys() == {"jobs", "offered load", "checkpoint alone"}
    assert alone["checkpoint alone"] == "1 s"


def test_the_time_of_a_lone_checkpoint_is_told_group_by_group():
    alone = {line.label: line.value for line in lines_of(STEADY)["Without contention"]}

    assert (alone["checkpoint alone, a"], alone["checkpoint alone, b"]) == ("1 s", "2 s")


def test_states_are_shown_with_share_rate_speed_and_draw():
    head, none, one, two = lines_of(STEADY)["By number of jobs writing"]

    # weights 1, x + y, 2 x y with x = 1 / 10 and y = 2 / 13.7, store and speeds 1
    assert head.value.split() == ["time", "store", "speed", "draw"]
    assert none.value.split() == ["78.42", "%", "0", "B/s", "1", "15.5", "kW"]
    assert one.value.split() == ["19.29", "%", "1", "B/s", "1", "10.46", "kW"]
    assert two.value.split() == ["2.29", "%", "1", "B/s", "-", "5.425", "kW"]


def test_each_busy_window_has_a_section_of_its_own():
    jobs = [group("a", 10.0, 1.0, {"at": [0.0, 1.0]}, work=200.0)]
    title = list(lines_of(scenario(jobs, {"time": 1000.0})))[2]

    assert title == "Day 0.00, 3.65 min"  # 219 s: 20 checkpoints of 1 s on top of 200 s, the second job a second later


def test_a_run_shows_the_product_form_beside_its_own_shares_and_mean_checkpoint_time():
    lines = run_lines(STEADY)

    assert "product form 2.29 %" in lines["time with at least 2 writing"]
    assert "product form" in lines["checkpoint duration mean"]
    assert lines["product form"].startswith("exact: ")


def test_a_run_to_which_it_does_not_apply_shows_only_the_reason():
    lines = run_lines(equal_jobs([0.0, 0.0], 3))

    assert lines["product form"].startswith("not applicable: 2 jobs of one rhythm")
    assert "product form" not in lines["checkpoint duration mean"]


def test_groups_are_shown_one_by_one_where_there_are_several():
    assert "checkpoint duration mean, b" in run_lines(STEADY)
    assert "checkpoint duration mean, job" not in run_lines(equal_jobs([0.0, 3.0], 3))


def test_of_many_groups_the_first_are_shown_and_the_rest_counted():
    jobs = [group(f"g{i}", 10.0 + i, 1.0, {"at": [float(i)]}) for i in range(11)]
    lines = run_lines(scenario(jobs, {"time": 300.0}, {"bandwidth": 20.0}))

    assert "checkpoint duration mean, g7" in lines
    assert "checkpoint duration mean, g8" not in lines
    assert lines["checkpoint duration mean"] == "of 3 more groups in run.json"


@pytest.mark.parametrize("more", [{}, {"failures": {}}], ids=["without", "with"])
def test_failures_are_spoken_of_only_where_the_scenario_has_them(more):
    assert ("expected lost work" in run_lines(STEADY | more)) == bool(more)
