"""A scenario file is read strictly, an override is checked like the file, and all faults come at once, with places."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.errors import ScenarioError
from twin.io.scenario_files import from_mapping, read
from twin.io.strict_yaml import MAX_BYTES, MAX_DEPTH, read_bytes, read_text
from twin.scenario import resolved

BASE = """\
twin: 1
name: base
stop: {cycles: 3}
jobs:
  - name: llm
    count: 2
    nodes: 64
    launch: {at: [0 s, 3 s]}
  - name: vision.v2
    nodes: 8
    work: 5 d
power: {cap: 1 MW}
"""


@pytest.fixture
def base(tmp_path):
    file = tmp_path / "base.yaml"
    file.write_text(BASE)
    return file


def faults(source, overrides=()):
    load = read if isinstance(source, Path) else from_mapping
    with pytest.raises(ScenarioError) as caught:
        load(source, overrides)
    return caught.value.faults


def only_fault(source, overrides=()):
    (fault,) = faults(source, overrides)
    return fault


# Plain values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("NO", "NO"),
        ("yes", "yes"),
        ("True", "True"),
        ("012", "012"),
        ("1:30", "1:30"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("2023-07-01", "2023-07-01"),
        ("30 min", "30 min"),
        ("'3'", "3"),
        ('"true"', "true"),
        ("''", ""),
    ],
)
def test_a_scalar_means_what_it_looks_like(text, value):
    found = read_text(f"a: {text}").value["a"]
    assert found == value
    assert type(found) is type(value)


def test_a_key_is_text_as_written():
    assert read_text("{1: a, null: b, true: c, 1.0: d}").value == {"1": "a", "null": "b", "true": "c", "1.0": "d"}


def test_a_byte_order_mark_is_skipped():
    assert read_bytes(b"\xef\xbb\xbfa: 1").value == {"a": 1}


def test_one_document_may_be_marked_as_such():
    document = read_text("---\na: 1\n...\n")
    assert document.value == {"a": 1}
    assert document.faults == []


def test_line_and_column_count_characters_from_one():
    written = read_text("é: {ü: 1, b: [x, yy]}").written
    assert written["ü"[:0]].value_at == (1, 1)
    assert written["é.b"].key_at == (1, 11)
    assert written["é.b[1]"].value_at == (1, 18)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_nesting_ends_at_the_most_levels(depth):
    document = read_text("[" * depth + "]" * depth)
    assert document.is_whole == (depth <= MAX_DEPTH)


@pytest.mark.parametrize("size", [MAX_BYTES, MAX_BYTES + 1])
def test_a_file_has_at_most_a_mebibyte(size):
    assert read_bytes(b"a: 1 #" + b"x" * (size - 6)).is_whole == (size <= MAX_BYTES)


@given(st.text())
def test_any_text_is_read_or_has_faults(text):
    document = read_text(text)
    assert document.is_whole or document.faults


# Files


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


# Overrides


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
