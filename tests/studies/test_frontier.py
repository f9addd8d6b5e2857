"""The best point under constraints, and the frontier, on points made by hand."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from twin.errors import TwinError
from twin.studies.frontier import Goal, constraint, goal, standings

# cap, goodput, peak power
POINTS = [(5, 0.7, 5e6), (6, 0.8, 6e6), (7, 0.9, 7e6), (8, 0.9, 8e6), (9, 0.85, 9e6)]


def table(points=POINTS, replicas=2):
    rows = [
        {"cap": float(cap), "replica": k, "goodput": goodput + 0.001 * k, "peak_power_w": peak_w}
        for cap, goodput, peak_w in points
        for k in range(replicas)
    ]
    return pa.Table.from_pylist(rows)


def judged(best, *constraints, points=POINTS):
    return standings(table(points), ["cap"], goal(best), [constraint(text) for text in constraints])


def test_the_best_point_keeps_all_constraints_and_stands_on_top():
    found = judged("goodput", "peak_power_w < 7 MW")

    assert [each.values for each in found] == [(6.0,), (5.0,), (7.0,), (8.0,), (9.0,)]
    assert [each.is_feasible for each in found] == [True, True, False, False, False]


def test_a_point_that_another_beats_in_everything_is_not_on_the_frontier():
    found = {each.values[0]: each.is_on_frontier for each in judged("goodput", "peak_power_w < 100 MW")}

    assert found == {5.0: True, 6.0: True, 7.0: True, 8.0: False, 9.0: False}


def test_without_a_constraint_the_frontier_is_the_best_value():
    assert {each.values[0] for each in judged("goodput") if each.is_on_frontier} == {7.0, 8.0}


def test_means_are_over_the_replicas():
    assert judged("goodput")[0].metrics["goodput"].mean == pytest.approx(0.9005, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("goodput", Goal("goodput", True)),
        ("peak_power_w", Goal("peak_power_w", False)),
        ("over_cap_s", Goal("time_over_cap_s", False)),
        ("max:peak_power_w", Goal("peak_power_w", True)),
        ("min: goodput", Goal("goodput", False)),
    ],
)
def test_what_is_best_is_the_good_way_unless_it_is_said(text, expected):
    assert goal(text) == expected


@pytest.mark.parametrize(
    ("text", "sign", "value"),
    [
        ("over_cap_s < 1", "<", 1.0),
        ("peak_power_w<=12 MW", "<=", 12e6),
        ("goodput > 90 %", ">", 0.9),
        ("jobs>=2", ">=", 2),
    ],
)
def test_a_constraint_has_a_metric_a_sign_and_a_value_with_its_unit(text, sign, value):
    found = constraint(text)

    assert (found.sign, found.value) == (sign, pytest.approx(value))


@pytest.mark.parametrize(
    ("made", "text", "words"),
    [
        (constraint, "goodput", "METRIC, one of < <= > >="),
        (constraint, "goodput = 1", "METRIC, one of < <= > >="),
        (constraint, "goodput < high", "must be a fraction"),
        (constraint, "over_cap_s < 1 W", "has the unit 'W'"),
        (constraint, "godput < 1", "did you mean goodput"),
        (goal, "most:goodput", "min:METRIC or max:METRIC"),
        (goal, "energy_by_feeder_j", "several numbers"),
    ],
)
def test_what_is_none_is_refused_in_words(made, text, words):
    with pytest.raises(TwinError, match=re.escape(words)):
        made(text)


def test_points_of_which_what_counts_is_not_known_are_left_out():
    rows = [*table().to_pylist(), {"cap": 10.0, "replica": 0, "goodput": None, "peak_power_w": 1.0}]

    assert len(standings(pa.Table.from_pylist(rows), ["cap"], goal("goodput"), [])) == 5


def test_no_points_have_no_frontier():
    assert standings(table().slice(0, 0), ["cap"], goal("goodput"), []) == []
