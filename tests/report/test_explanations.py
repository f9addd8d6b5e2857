"""Every name a user meets is explained, from the place that defines it."""

from __future__ import annotations

import html
import re
from typing import get_args

import pytest

import twin
from tests.fleets import group, scenario
from twin import cli
from twin.analysis.metrics import METRICS
from twin.errors import TwinError
from twin.recording import EVENT_KINDS, TABLES
from twin.report.explanations import explain, explanations
from twin.report.page import page
from twin.report.run_summary import summary
from twin.scenario import POLICIES, Controller, defaulted


def test_every_metric_column_event_policy_and_error_has_an_explanation_of_its_own():
    names = {(entry.kind, entry.name) for entry in explanations()}

    assert {("metric", name) for name in METRICS} <= names
    assert {("column", f"{table}.{column.name}") for table, columns in TABLES.items() for column in columns} <= names
    assert {("policy", name) for name in get_args(Controller.model_fields["policy"].annotation)} <= names
    assert {("error", name) for name in twin.__all__ if name.endswith("Error")} <= names
    assert {("event", name) for name in EVENT_KINDS} <= names
    assert {("exit code", f"exit code {code}") for code in (0, cli.BAD_INPUT, 130, cli.BROKEN_PIPE)} <= names


def test_every_key_of_a_scenario_is_explained_with_its_default_mark_and_source():
    entries = {entry.name: entry for entry in explanations() if entry.kind == "scenario key"}
    text = {"twin": 1, "name": "x", "stop": {"cycles": 3}, "jobs": [{"name": "a"}]}
    given = defaulted(twin.load(text | {"failures": {}, "fleet": {"nodes": 1}}))
    names = {re.sub(r"\[[0-9]+\]", "[]", default["key"]): default for default in given}

    assert len(names) > 20
    assert names.keys() <= entries.keys()
    assert {
        name
        for name, default in names.items()
        if f"({default['mark']}: {default['source']})" not in entries[name].default
    } == set()


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("storage.bandwidth", "storage.bandwidth"),
        ("bandwidth", "storage.bandwidth"),
        ("storage.b", "storage.bandwidth"),
        ("checkpoint.size", "jobs[].checkpoint.size"),
        ("jobs[0].checkpoint.size", "jobs[].checkpoint.size"),
        ("jobs[].checkpoint.size", "jobs[].checkpoint.size"),
        ("jobs.llm.checkpoint.size", "jobs[].checkpoint.size"),
        ("jitter.sigma", "jobs[].jitter.sigma"),
        ("launch.poisson", "jobs[].launch.poisson"),
        ("launch.po", "jobs[].launch.poisson"),
    ],
)
def test_a_scenario_key_goes_by_its_path_the_end_of_it_and_the_beginning_of_either(topic, name):
    assert [entry.name for entry in explain(topic)] == [name]


def test_a_section_names_its_keys():
    (stop,) = explain("stop")
    assert stop.definition.endswith("Keys: cycles, time.")


def test_an_ambiguous_beginning_gives_every_candidate():
    assert [entry.name for entry in explain("ramp")] == ["ramp_1s_w_s", "ramp_10s_w_s", "ramp_60s_w_s"]


def test_a_name_is_preferred_to_the_beginning_of_others():
    assert {entry.name for entry in explain("jobs")} == {"jobs[]", "jobs"}


def test_the_title_of_a_group_gives_the_group():
    assert [entry.name for entry in explain("Policies")] == list(POLICIES)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("goodput", "goodput"),
        ("cap-binding share", "cap_binding_share"),
        ("time the cap binds", "cap_binding_share"),
        ("time with at least 4 writing", "writers_share_at_least"),
        ("R", "order parameter"),
        ("Young/Daly", "Young/Daly"),
        ("exit 2", "exit code 2"),
        ("idealised", "idealised"),
        ("occupancy", "product form"),
        ("stretch", "stretch_p50"),
    ],
)
def test_a_label_or_a_word_of_the_field_is_explained_however_it_is_spelt(label, name):
    spelt = (label, label.upper(), label.replace(" ", "_"), label.replace("-", " "))
    assert all(name in [entry.name for entry in explain(topic)] for topic in spelt)


def test_every_label_of_the_summary_and_of_the_page_is_explained():
    size = {"checkpoint": {"size": 100.0}}
    jobs = [{"name": "a", "count": 3, "launch": {"uniform": 10.0}} | size, {"name": "b", "nodes": 2} | size]
    text = scenario(jobs, {"cycles": 5}, power={"cap": "10 kW"}, failures={}, fleet={"nodes": 9})
    recording = twin.simulate(twin.load(text))
    labels = {line.label for lines in summary(recording.manifest).values() for line in lines}
    labels |= {html.unescape(label) for label in re.findall("<dt>(.*?)</dt>", page(recording))}

    assert len(labels) > 60
    for label in labels:
        explain(label)  # or it refuses what it does not know


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
    with pytest.raises(TwinError, match="'%%' is no scenario key") as refused:
        explain("%%")
    assert "did you mean" not in str(refused.value)


def test_the_events_of_a_run_are_of_the_kinds_explained():
    clock = {"size": 5.0, "trigger": {"every": 2.0}}
    jobs = [{"name": "job", "count": 2, "checkpoint": clock, "launch": {"every": 1.0}}]
    events = twin.simulate(twin.load(scenario(jobs, {"time": 60.0}, fleet={"nodes": 1}))).table("events")

    banded = {"cap": 1.5, "controller": {"policy": "three_band"}}
    limited = twin.simulate(
        twin.load(scenario([group("job", 10.0, 5.0, {"at": [0.0, 4.0]})], {"time": 60.0}, power=banded))
    )

    found = [*events.column("kind").to_pylist(), *limited.table("events").column("kind").to_pylist()]
    assert set(found) == set(EVENT_KINDS)
