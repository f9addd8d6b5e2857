"""Every name a user meets is explained, from the place that defines it."""

from __future__ import annotations

from typing import get_args

import pytest

import twin
from tests.fleets import scenario
from twin.analysis.metrics import METRICS
from twin.errors import TwinError
from twin.recording import EVENT_KINDS, TABLES
from twin.report.explanations import explain, explanations
from twin.scenario import POLICIES, Controller


def test_every_metric_column_event_policy_and_error_has_an_explanation_of_its_own():
    names = {(entry.kind, entry.name) for entry in explanations()}

    assert {("metric", name) for name in METRICS} <= names
    assert {("column", f"{table}.{column.name}") for table, columns in TABLES.items() for column in columns} <= names
    assert {("policy", name) for name in get_args(Controller.model_fields["policy"].annotation)} <= names
    assert {("error", name) for name in twin.__all__ if name.endswith("Error")} <= names
    assert {("event", name) for name in EVENT_KINDS} <= names


def test_no_explanation_is_empty():
    assert [entry.name for entry in explanations() if not entry.definition] == []


def test_every_policy_of_a_controller_is_described_and_no_other():
    assert list(POLICIES) == list(get_args(Controller.model_fields["policy"].annotation))


def test_a_metric_is_explained_in_the_words_of_the_registry():
    (entry,) = explain("offered_load")
    metric = METRICS["offered_load"]

    assert (entry.kind, entry.unit, entry.definition, entry.source) == (
        "metric",
        metric.unit,
        metric.definition,
        metric.source,
    )


def test_a_column_is_found_with_and_without_its_table():
    assert [entry.name for entry in explain("write_start_s")] == ["checkpoints.write_start_s"]
    assert explain("checkpoints.write_start_s") == explain("write_start_s")


def test_a_name_of_two_things_explains_both():
    assert [(entry.kind, entry.name) for entry in explain("energy_j")] == [
        ("metric", "energy_j"),
        ("column", "power.energy_j"),
    ]


def test_the_case_of_a_name_does_not_matter():
    assert explain("stallederror") == explain("StalledError")


@pytest.mark.parametrize(
    ("topic", "meant"), [("goodpt", "goodput"), ("anonymos", "anonymous"), ("write_strat_s", "write_start_s")]
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(topic, meant):
    with pytest.raises(TwinError, match=f"did you mean {meant}\\?"):
        explain(topic)


def test_a_name_like_no_other_is_refused_without_a_guess():
    with pytest.raises(TwinError, match="'%%' is no metric") as refused:
        explain("%%")
    assert "did you mean" not in str(refused.value)


def test_the_events_of_a_run_are_of_the_kinds_explained():
    clock = {"size": 5.0, "trigger": {"every": 2.0}}
    jobs = [{"name": "job", "count": 2, "checkpoint": clock, "launch": {"every": 1.0}}]
    events = twin.simulate(twin.load(scenario(jobs, {"time": 60.0}, fleet={"nodes": 1}))).table("events")

    assert set(events.column("kind").to_pylist()) == set(EVENT_KINDS)
