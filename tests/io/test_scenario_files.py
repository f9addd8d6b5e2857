"""A scenario file is read strictly, and all faults come at once, with places; anything is a scenario or a fault."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.io.small_scenario import BASE, faults, only_fault
from twin.errors import ScenarioError
from twin.io.scenario_files import from_mapping, read
from twin.scenario import resolved


def test_a_file_gives_the_scenario_of_its_mapping(base):
    assert resolved(read(base)) == resolved(
        from_mapping(
            {
                "twin": 1,
                "name": "base",
                "stop": {"cycles": 3},
                "jobs": [
                    {"name": "llm", "count": 2, "nodes": 64, "launch": {"at": [0, 3.0]}},
                    {"name": "vision.v2", "nodes": 8, "work": 432_000},
                ],
                "power": {"cap": 1e6},
            }
        )
    )


def test_relative_paths_start_in_the_folder_of_the_file(base):
    assert read(base)._folder == base.parent


def test_a_mapping_is_not_changed_by_overrides():
    values = {"twin": 1, "name": "x", "stop": {"cycles": 3}, "jobs": [{"name": "a"}]}
    from_mapping(values, ["jobs.a.nodes=5", "stop.cycles=4"])
    assert values == {"twin": 1, "name": "x", "stop": {"cycles": 3}, "jobs": [{"name": "a"}]}


def test_tuples_are_lists_in_a_mapping():
    assert from_mapping({"twin": 1, "name": "x", "stop": {"cycles": 3}, "jobs": ({"name": "a"},)}).jobs[0].name == "a"


def test_faults_come_at_once_in_the_order_of_the_file(base):
    base.write_text(BASE.replace("nodes: 64", "nodse: 64").replace("work: 5 d", "work: -5 d").replace("1 MW", "1 mw"))
    assert [(fault.where.removeprefix(f"{base}:"), fault.key) for fault in faults(base)] == [
        ("7:12", "jobs[0].nodse"),
        ("11:11", "jobs[1].work"),
        ("12:14", "power.cap"),
    ]


def test_faults_of_structure_of_values_and_between_values_come_at_once(base):
    text = (
        BASE.replace("count: 2", "count: 3").replace("nodes: 8", "nodes: 0").replace("stop: {cycles: 3}", "seed: &x 1")
    )
    base.write_text(text)
    assert [(fault.where.rsplit(":", 2)[1], fault.key) for fault in faults(base)] == [
        ("1", "stop"),
        ("3", "seed"),
        ("8", "jobs[0].launch.at"),
        ("10", "jobs[1].nodes"),
    ]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("stop: {cycles: 3}", "stop: {cycles: -3}"),  # not also: no stop
        ("count: 2", "count: two"),  # not also: launch times do not match
        ("cap: 1 MW", "cap: 1 mw"),
        ("  - name: llm", "  - nome: llm"),
    ],
)
def test_a_fault_is_not_reported_again_as_what_follows_from_it(base, good, bad):
    base.write_text(BASE.replace(good, bad))
    assert len({fault.where.split(":")[1] for fault in faults(base)}) == 1


def test_a_missing_key_is_placed_at_its_section(base):
    base.write_text(BASE.replace("  - name: llm\n    count: 2", "  - count: 2"))
    fault = only_fault(base)
    assert (fault.where, fault.key) == (f"{base}:5:5", "jobs[0].name")


def test_the_value_is_shown_as_written(base):
    base.write_text(BASE.replace("nodes: 64", "nodes: 64.00"))
    assert only_fault(base).value == "64.00"


def test_a_long_value_is_shown_shortened(base):
    base.write_text(BASE.replace("1 MW", "x" * 1000))
    assert only_fault(base).value == "x" * 60 + "..."


def test_an_invisible_character_is_shown(base):
    base.write_text(BASE.replace("name: llm", 'name: "a\\eb"'))
    assert only_fault(base).value == "a\\x1bb"


def test_a_file_that_may_not_be_read_is_a_fault(base, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "open", refuse)
    assert only_fault(base).rule == "cannot be read: Permission denied"


def test_a_misspelt_file_name_is_answered_with_the_nearest(base):
    assert "base.yaml?" in only_fault(base.with_name("bsae.yaml")).remedy


# Anything at all


def outcome(load, source, overrides=()):
    """The scenario, or the text of its faults."""
    try:
        return load(source, overrides)
    except ScenarioError as error:
        return str(error).strip()


@given(content=st.binary(max_size=300))
def test_random_bytes_are_a_scenario_or_a_fault(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "bytes.yaml"
    file.write_bytes(content)
    assert outcome(read, file)


SCRAPS = [
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "\n",
    "  ",
    "\t",
    "&a ",
    "*a",
    "!!x ",
    "<<: ",
    "---\n",
    "'",
    '"',
    "null",
    "1e999",
    "-1",
]


@given(cut=st.integers(0, len(BASE)), length=st.integers(0, 20), scrap=st.sampled_from(SCRAPS))
def test_a_mutated_scenario_is_a_scenario_or_a_fault(tmp_path_factory, cut, length, scrap):
    file = tmp_path_factory.getbasetemp() / "mutated.yaml"
    file.write_text(BASE[:cut] + scrap + BASE[cut + length :])
    assert outcome(read, file)


WORDS = "twin name seed stop cycles time jobs nodes count launch at checkpoint trigger every power cap storage replay"
KEYS = st.sampled_from([*WORDS.split(), "file", "profile", "window", "jitter", "sigma", "x", "", "<section>"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1 d", "llm", "work"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(values=st.dictionaries(KEYS, VALUES, max_size=8), overrides=st.lists(st.text(max_size=20), max_size=2))
def test_any_mapping_and_overrides_are_a_scenario_or_a_fault(values, overrides):
    assert outcome(from_mapping, {"twin": 1, "name": "x"} | values, overrides)


@given(
    path=st.lists(KEYS, min_size=1, max_size=4), value=st.sampled_from(["3", "null", "[1]", "{a: 1}", "x", "-1", "1 d"])
)
def test_an_override_of_any_path_is_a_scenario_or_a_fault(tmp_path_factory, path, value):
    file = tmp_path_factory.getbasetemp() / "base.yaml"
    file.write_text(BASE)
    assert outcome(read, file, [f"{'.'.join(path)}={value}", f"jobs.llm.{'.'.join(path)}={value}"])


def test_a_pipe_is_refused_before_anybody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")

    with pytest.raises(ScenarioError, match="is a pipe"):
        read(tmp_path / "pipe.yaml")
