"""An override is checked like the file, and named as the place of its faults."""

from __future__ import annotations

import pytest

from tests.io.small_scenario import BASE, faults, only_fault
from twin.io.scenario_files import read


def value_after(base, override, *attributes):
    found = read(base, [override] if isinstance(override, str) else override)
    for name in attributes:
        found = found[name] if isinstance(name, int) else getattr(found, name)
    return found


def test_an_override_sets_a_value_with_a_unit(base):
    assert value_after(base, "power.cap=12MW", "power", "cap_w") == 12e6


def test_an_override_names_a_group_by_its_name_or_index(base):
    assert value_after(base, "jobs.llm.nodes=5", "jobs", 0, "nodes") == 5
    assert value_after(base, "jobs[1].nodes=5", "jobs", 1, "nodes") == 5


def test_a_name_with_a_dot_is_found(base):
    assert value_after(base, "jobs.vision.v2.nodes=5", "jobs", 1, "nodes") == 5


def test_an_override_makes_the_section_it_needs(base):
    base.write_text(BASE.replace("stop: {cycles: 3}\n", ""))
    assert value_after(base, "stop.time=1 d", "stop", "time_s") == 86_400.0
    assert (
        value_after(base, ["stop.cycles=2", "jobs.llm.checkpoint.size=1 GB"], "jobs", 0, "checkpoint", "size_b") == 1e9
    )


def test_an_override_sets_a_whole_section_or_list(base):
    assert value_after(base, "jobs.llm.launch={every: 5 s}", "jobs", 0, "launch", "every_s") == 5.0
    assert value_after(base, "jobs.llm.launch.at=[1 s, 2 s]", "jobs", 0, "launch", "at_s") == (1.0, 2.0)


def test_an_override_sets_one_item_of_a_list(base):
    assert value_after(base, "jobs.llm.launch.at[1]=9 s", "jobs", 0, "launch", "at_s") == (0.0, 9.0)


def test_null_removes_a_value(base):
    assert value_after(base, "power.cap=null", "power", "cap_w") is None
    assert value_after(base, "jobs.llm.nodes=null", "jobs", 0, "nodes") == 1


def test_null_removes_one_launch_form_for_another(base):
    both = ["jobs.llm.launch.at=null", "jobs.llm.launch.every=5 s"]
    assert value_after(base, both, "jobs", 0, "launch", "every_s") == 5.0


def test_the_last_of_two_overrides_of_a_key_counts(base):
    assert value_after(base, ["seed=1", "seed=2"], "seed") == 2


def test_an_override_repairs_a_fault_of_the_file(base):
    base.write_text(BASE.replace("1 MW", "1 mw"))
    assert value_after(base, "power.cap=2 MW", "power", "cap_w") == 2e6


@pytest.mark.parametrize(
    ("override", "key", "words"),
    [
        ("power.cap=12mw", "power.cap", "write 12 MW"),
        ("power.cpa=1", "power.cpa", "write cap"),
        ("power.cpa=null", "power.cpa", "write cap"),
        ("pwoer.cap=1", "pwoer", "write power"),
        ("jobs.lm.nodes=4", "jobs.lm", "write jobs.llm"),
        ("jobs[7].nodes=4", "jobs[7]", "use [0] to [1]"),
        ("jobs[0]=null", "jobs[0]", "set the whole list"),
        ("jobs=null", "jobs", "nothing to run"),
        ("name.x=4", "name", "set it whole"),
        ("jobs.llm.launch.at.x=4", "jobs[0].launch.at", "is no section"),
        ("power[0]=4", "power", "is no list"),
        ("seed=", "seed", "null to remove"),
        ("seed=# x", "seed", "is empty"),
        ("seed=[1", "seed", "cannot be read as YAML"),
        ("seed=*x", "seed", "is an alias"),
        ("seed={a: 1, a: 2}", "seed.a", "is given twice"),
        ("seed", "", "must be key=value"),
        ("=3", "", "is no path of keys"),
        ("a..b=3", "a..b", "is no path of keys"),
        (".a=3", ".a", "is no path of keys"),
        ("[0]=3", "[0]", "is no path of keys"),
        ("seed=\udcff", "seed", "is no UTF-8 text"),
    ],
)
def test_a_fault_of_an_override_names_the_override_as_its_place(base, override, key, words):
    fault = only_fault(base, [override])
    assert fault.where.startswith(f"{base}: --set ")
    assert fault.key == key
    assert words in str(fault)


def test_a_fault_between_a_value_of_the_file_and_an_override_names_both(base):
    fault = only_fault(base, ["jobs.llm.count=3"])
    assert fault.where == f"{base}:8:14, with --set jobs.llm.count=3"


def test_faults_of_file_and_overrides_come_at_once(base):
    base.write_text(BASE.replace("nodes: 8", "nodes: 0"))
    assert [fault.key for fault in faults(base, ["power.cap=x", "jobs.lm.nodes=1"])] == [
        "jobs[1].nodes",
        "jobs.lm",
        "power.cap",
    ]


def test_a_fault_of_a_mapping_has_no_place():
    fault = only_fault({"twin": 1, "name": "x", "stop": {"cycles": 3}, "jobs": [{"name": "a", "nodes": 0}]})
    assert str(fault) == "jobs[0].nodes: '0' must be at least 1; raise it to 1 or more"


def test_a_mapping_that_holds_itself_is_a_fault():
    values = {"twin": 1, "name": "x"}
    values["jobs"] = [values]
    assert "levels deep" in only_fault(values).rule
