"""What was set on top of a scenario is kept with it: the key, the value as resolved, and its SI unit."""

from __future__ import annotations

import pytest

import twin
from tests.io.small_scenario import BASE
from twin.report.run_summary import changes


def recorded(base, *overrides):
    return list(twin.load(base, overrides)._overrides)


@pytest.mark.parametrize(
    ("override", "key", "value", "unit"),
    [
        ("power.cap=12MW", "power.cap", 12e6, "W"),
        ("jobs.llm.nodes=5", "jobs[0].nodes", 5, ""),
        ("jobs.llm.checkpoint.size=1 GB", "jobs[0].checkpoint.size", 1e9, "B"),
        ("jobs.llm.launch.at[1]=9 min", "jobs[0].launch.at[1]", 540.0, "s"),
        ("storage.degradation=12 %", "storage.degradation", 0.12, ""),
        ("stop={time: 1 d}", "stop", {"time": 86400.0}, ""),
    ],
)
def test_an_override_is_kept_as_it_was_resolved(base, override, key, value, unit):
    assert recorded(base, override) == [{"key": key, "value": value, "unit": unit}]


def test_a_key_that_was_removed_has_its_default_or_nothing(base):
    assert recorded(base, "jobs.llm.nodes=null", "power.cap=null") == [
        {"key": "jobs[0].nodes", "value": 1, "unit": ""},
        {"key": "power.cap", "value": None, "unit": "W"},
    ]


def test_a_key_set_twice_is_kept_once_with_its_last_value(base):
    assert recorded(base, "seed=1", "seed=0") == [{"key": "seed", "value": 0, "unit": ""}]


def test_a_scenario_as_written_has_none(base):
    assert recorded(base) == []


def test_a_run_keeps_them_and_a_scenario_loaded_from_it_does_not(base, tmp_path):
    twin.run(twin.load(base, ["power.cap=12MW", "stop.cycles=1"]), tmp_path / "run")
    manifest = twin.open_run(tmp_path / "run").manifest

    assert [override["key"] for override in manifest["overrides"]] == ["power.cap", "stop.cycles"]
    assert twin.load(manifest["scenario"])._overrides == ()


def test_they_change_neither_hash_nor_numbers_of_a_run(base, tmp_path):
    written = tmp_path / "written.yaml"
    written.write_text(BASE.replace("seed: 0", "seed: 3") if "seed: 0" in BASE else f"{BASE}seed: 3\n")
    set_so, as_written = twin.simulate(twin.load(base, ["seed=3"])), twin.simulate(twin.load(written))

    assert set_so.manifest["scenario_hash"] == as_written.manifest["scenario_hash"]
    assert set_so.table("checkpoints").equals(as_written.table("checkpoints"), check_metadata=True)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12e6, "W", "12 MW"),
        ([0.0, 540.0], "s", "0 s, 9 min"),
        (0, "", "0"),
        (0.12, "", "0.12"),
        ("anonymous", "", "anonymous"),
        (None, "W", "none"),
        ({"unit": 86400.0, "mode": "async"}, "", "unit 86400.0, mode async"),
    ],
)
def test_a_change_reads_as_key_and_scaled_value(value, unit, text):
    assert changes({"overrides": [{"key": "a.b", "value": value, "unit": unit}]}) == [f"a.b = {text}"]


def test_a_section_that_was_set_reads_with_the_units_of_its_keys():
    section = {"size": 912e9, "mode": "async", "snapshot": 2.0}
    override = {"key": "jobs[0].checkpoint", "value": section, "unit": ""}

    assert changes({"overrides": [override]}) == ["jobs[0].checkpoint = size 912 GB, mode async, snapshot 2 s"]


def test_a_run_of_an_earlier_version_tells_of_no_changes():
    assert changes({}) == []
