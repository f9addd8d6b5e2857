"""Faults of feeders, controllers, caps, asynchronous checkpoints and lanes: exit code 2 and one message each."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from twin.cli import main
from twin.io.scenario_files import read

BASE = """\
twin: 1
name: base
stop: {cycles: 3}
jobs:
  - name: llm
    count: 4
    nodes: 64
    compute: 30 min
    feeders: {rotate: [row-1, row-2]}
storage: {bandwidth: 40 GB/s}
power:
  cap: 2 MW
  controller: {policy: delayed, delay: 2 s}
  feeders:
    row-1: {cap: 1 MW, controller: {policy: lagged, tau: 5 s}}
    row-2: {cap: [{at: 0 s, value: 1 MW}, {at: 1 h, value: 900 kW}]}
    row.3 b: {cap: 1 MW}
"""


class Case(NamedTuple):
    """One line of the base scenario replaced; where the fault is, and what the message must say."""

    line: int
    text: str
    column: int
    key: str
    value: str
    rule: str
    remedy: str


ROW_1 = "power.feeders.row-1"
FEEDERS = "jobs[0].feeders"
CONTROLLER = "power.controller"
CASES = {
    # the tree
    "own parent": Case(
        15, "    row-1: {parent: row-1}", 21, f"{ROW_1}.parent", "'row-1'", "hangs it on itself", "write site"
    ),
    "ring": Case(
        17,
        "    row-3: {parent: row-4}\n    row-4: {parent: row-3}",
        21,
        "power.feeders.row-3.parent",
        "'row-4'",
        "closes a ring: row-3 -> row-4 -> row-3",
        "hang one of them on site",
    ),
    "unknown parent": Case(
        15, "    row-1: {parent: rwo-2}", 21, f"{ROW_1}.parent", "'rwo-2'", "is no feeder", "write row-2"
    ),
    "feeder named as the root": Case(17, "    site: {cap: 1 MW}", 5, "power.feeders.site", "", "is the root", "rename"),
    "feeder named rotate": Case(17, "    rotate: {}", 5, "power.feeders.rotate", "", "take feeders in turn", "rename"),
    "feeder with an unsafe name": Case(
        17, '    "a\\tb": {}', 5, "power.feeders.a\\tb", "'a\\tb'", "printable characters", "as in row-1"
    ),
    "unknown key of a feeder": Case(
        17, "    row-3: {parnt: site}", 20, "power.feeders.row-3.parnt", "'site'", "unknown key", "write parent"
    ),
    "feeder without a section": Case(
        17, "    row-3:", 5, "power.feeders.row-3", "'null'", "must be a section", "below"
    ),
    # caps
    "delayed without a cap": Case(12, "  pue: 1.2", 1, "power.cap", "", "policy delayed has nothing to hold", "add a"),
    "lagged without a cap": Case(
        15, "    row-1: {controller: {policy: lagged}}", 5, f"{ROW_1}.cap", "", "policy lagged has nothing", "add a cap"
    ),
    "sampled without a cap": Case(
        15, "    row-1: {controller: {policy: sampled}}", 5, f"{ROW_1}.cap", "", "policy sampled has nothing", "add a"
    ),
    "three bands without a cap": Case(
        15,
        "    row-1: {controller: {policy: three_band}}",
        5,
        f"{ROW_1}.cap",
        "",
        "three_band has nothing",
        "add a cap",
    ),
    "caps out of order": Case(
        12,
        "  cap: [{at: 0, value: 2 MW}, {at: 2 h, value: 1 MW}, {at: 1 h, value: 1 MW}]",
        60,
        "power.cap[2].at",
        "'1 h'",
        "must come after the one before it, 7200 s",
        "in order of time",
    ),
    "one time twice": Case(
        12,
        "  cap: [{at: 0, value: 2 MW}, {at: 0, value: 1 MW}]",
        36,
        "power.cap[1].at",
        "'0'",
        "must come after",
        "once",
    ),
    "caps that start late": Case(
        12, "  cap: [{at: 1 s, value: 2 MW}]", 14, "power.cap[0].at", "'1 s'", "must be 0 s", "write 0 s"
    ),
    "no caps": Case(12, "  cap: []", 3, "power.cap", "'[]'", "must hold at least one value", "add one"),
    "no daily caps": Case(12, "  cap: {daily: []}", 9, "power.cap.daily", "'[]'", "at least one value", "add one"),
    "daily caps that are no list": Case(
        12, "  cap: {daily: 1 MW}", 16, "power.cap.daily", "'1 MW'", "must be a list", "[{at: 0 h, value: 15 MW}]"
    ),
    "daily cap beyond the day": Case(
        12,
        "  cap: {daily: [{at: 0 s, value: 2 MW}, {at: 25 h, value: 1 MW}]}",
        46,
        "power.cap.daily[1].at",
        "'25 h'",
        "must be less than 24 h",
        "time of day",
    ),
    "one step for a list": Case(
        12, "  cap: {at: 0 s, value: 2 MW}", 3, "power.cap", "'{at, value}'", "must be one value, a list", "[{at: 0 s,"
    ),
    "unknown key of a step": Case(
        12,
        "  cap: [{at: 0 s, value: 2 MW, valu: 1 MW}]",
        38,
        "power.cap[0].valu",
        "'1 MW'",
        "unknown key; power.cap[0] has the keys at, value",
        "write value",
    ),
    "unknown key of a daily step": Case(
        12,
        "  cap: {daily: [{at: 0 s, value: 2 MW, until: 3 h}]}",
        47,
        "power.cap.daily[0].until",
        "'3 h'",
        "unknown key",
        "remove it",
    ),
    "step in another unit": Case(
        12, "  cap: [{at: 0 s, value: 2 GB}]", 26, "power.cap[0].value", "'2 GB'", "unit 'GB' of a data size", "1.5 MW"
    ),
    "step before the start": Case(
        12, "  cap: [{at: -1 s, value: 2 MW}]", 14, "power.cap[0].at", "'-1 s'", "must be at least 0 s", "raise it"
    ),
    "cap of a feeder below the idle draw of a job": Case(
        15, "    row-1: {cap: 100 kW}", 18, f"{ROW_1}.cap", "'100 kW'", "idle draw of job 'llm' alone", "above 115200 W"
    ),
    "step of a feeder below the idle draw of a job": Case(
        16,
        "    row-2: {cap: [{at: 0 s, value: 1 MW}, {at: 1 h, value: 90 kW}]}",
        60,
        "power.feeders.row-2.cap[1].value",
        "'90 kW'",
        "idle draw of job 'llm' alone",
        "above 115200 W",
    ),
    "cap below the idle draw of a job and the site's own": Case(
        12,
        "  pue: 1.5\n  cap: 150 kW",
        8,
        "power.cap",
        "'150 kW'",
        "with power.fixed 0 W and power.pue 1.5",
        "above 172800 W",  # 1.5 x 115200 W
    ),
    "pue below one": Case(12, "  cap: 2 MW\n  pue: 0.9", 8, "power.pue", "'0.9'", "must be at least 1", "raise it"),
    "negative fixed draw": Case(
        12, "  cap: 2 MW\n  fixed: -1 MW", 10, "power.fixed", "'-1 MW'", "must be at least 0 W", "raise it"
    ),
    "no date": Case(2, "name: base\nepoch: tomorrow", 8, "epoch", "'tomorrow'", "a date and time", "2026-01-05T08:00"),
    "day that is none": Case(
        2, "name: base\nepoch: 2026-02-30", 8, "epoch", "'2026-02-30'", "a date and time", "as in"
    ),
    # controllers
    "negative delay": Case(
        13,
        "  controller: {policy: delayed, delay: -2 s}",
        40,
        f"{CONTROLLER}.delay",
        "'-2 s'",
        "more than 0 s",
        "raise",
    ),
    "no delay": Case(
        13, "  controller: {policy: delayed, delay: 0}", 40, f"{CONTROLLER}.delay", "'0'", "more than 0", "anonymous"
    ),
    "no time constant": Case(
        15,
        "    row-1: {cap: 1 MW, controller: {policy: lagged, tau: 0 s}}",
        58,
        f"{ROW_1}.controller.tau",
        "'0 s'",
        "must be more than 0",
        "use policy: anonymous",
    ),
    "no period": Case(
        13, "  controller: {policy: sampled, period: 0 s}", 41, f"{CONTROLLER}.period", "'0 s'", "than 0", "anonymous"
    ),
    "negative latency": Case(
        13,
        "  controller: {policy: sampled, latency: -1 s}",
        42,
        f"{CONTROLLER}.latency",
        "'-1 s'",
        "at least 0",
        "raise",
    ),
    "two lagged controllers on a path": Case(
        13,
        "  controller: {policy: lagged}",
        5,
        FEEDERS,
        "'{rotate: [row-1, row-2]}'",
        "under two lagged controllers, those of row-1 and site",
        "keep one of them lagged",
    ),
    "parameter of another policy": Case(
        13,
        "  controller: {policy: delayed, tau: 3 s}",
        38,
        f"{CONTROLLER}.tau",
        "'3 s'",
        "no meaning with policy: delayed",
        "or use policy: lagged",
    ),
    "parameter without its policy": Case(
        13,
        "  controller: {delay: 3 s}",
        23,
        f"{CONTROLLER}.delay",
        "'3 s'",
        "with policy: anonymous",
        "policy: delayed",
    ),
    "no limit": Case(
        13, "  controller: {policy: fixed_limit}", 3, f"{CONTROLLER}.limit", "", "is missing", "as in limit: 6 kW"
    ),
    "limit at the idle draw": Case(
        13,
        "  controller: {policy: fixed_limit, limit: 1.8 kW}",
        44,
        f"{CONTROLLER}.limit",
        "'1.8 kW'",
        "at or below the idle draw of a node of job 'llm', 1800 W",
        "above 1800 W",
    ),
    "bands out of order": Case(
        13,
        "  controller: {policy: three_band, high: 90 %}",
        42,
        f"{CONTROLLER}.high",
        "'90 %'",
        "breaks the order low < target < high: they are 0.9, 0.95 and 0.9",
        "0.90, 0.95, 0.99",
    ),
    "unknown key of a controller": Case(
        13, "  controller: {polcy: none}", 23, f"{CONTROLLER}.polcy", "'none'", "unknown key", "write policy"
    ),
    "cap in the controller of a feeder": Case(
        15,
        "    row-1: {controller: {cap: 1 MW}}",
        31,
        f"{ROW_1}.controller.cap",
        "'1 MW'",
        "unknown key",
        "belongs under power.feeders.row-1: as power.feeders.row-1.cap",
    ),
    # placements
    "unknown feeder": Case(9, "    feeders: row2", 14, FEEDERS, "'row2'", "is no feeder; there are site,", "row-2"),
    "unknown feeder of a list": Case(
        9, "    feeders: [row-1, rwo-2]", 22, f"{FEEDERS}[1]", "'rwo-2'", "is no feeder", "write row-2"
    ),
    "unknown feeder with nodes": Case(
        9, "    feeders: {row-1: 32, rwo-2: 32}", 26, f"{FEEDERS}.rwo-2", "", "is no feeder", "write row-2"
    ),
    "unknown feeder in turn": Case(
        9, "    feeders: {rotate: [row-1, rwo-2]}", 31, f"{FEEDERS}.rotate[1]", "'rwo-2'", "is no feeder", "write row-2"
    ),
    "counts that do not add up": Case(
        9,
        "    feeders: {row-1: 32, row-2: 31}",
        5,
        FEEDERS,
        "'{row-1: 32, row-2: 31}'",
        "adds up to 63 nodes, and the job has 64",
        "nodes to 63",
    ),
    "more feeders than nodes": Case(
        9,
        "    feeders: row-1\n  - {name: b, nodes: 1, feeders: [row-1, row-2]}",
        25,
        "jobs[1].feeders",
        "'[row-1, row-2]'",
        "more than the job has nodes: 1",
        "{rotate: [...]}",
    ),
    "no feeder in turn": Case(9, "    feeders: {rotate: []}", 15, f"{FEEDERS}.rotate", "'[]'", "names no", "write it"),
    "turn that is no list": Case(
        9, "    feeders: {rotate: 3}", 23, f"{FEEDERS}.rotate", "'3'", "must be a list", "[row-1, row-2]"
    ),
    "no feeder": Case(9, "    feeders: []", 5, FEEDERS, "'[]'", "names no feeder", "write it as in row-1"),
    "number for a feeder": Case(9, "    feeders: 3", 14, FEEDERS, "'3'", "must be a feeder", "write it as in row-1"),
    "feeder twice": Case(9, "    feeders: [row-1, row-1]", 5, FEEDERS, "[row-1, row-1]", "names row-1 twice", "once"),
    "no nodes on a feeder": Case(
        9, "    feeders: {row-1: 0, row-2: 64}", 22, f"{FEEDERS}.row-1", "'0'", "must be at least 1", "raise it to 1"
    ),
    "nodes for the jobs of a log": Case(
        10,
        "replay: {file: log.csv, place: {row-1: 32}}",
        25,
        "replay.place",
        "'{row-1: 32}'",
        "the jobs of a log have their own",
        "[row-1, row-2]",
    ),
    # checkpoints and lanes
    "snapshot longer than the interval": Case(
        8,
        "    compute: 30 min\n    checkpoint: {mode: async, snapshot: 40 min}",
        41,
        "jobs[0].checkpoint.snapshot",
        "'40 min'",
        "less than the interval between checkpoints, 1800 s",
        "shorten it",
    ),
    "snapshot longer than the interval of the wall clock": Case(
        8,
        "    checkpoint: {mode: async, snapshot: 2 h, trigger: {every: 1 h}}",
        41,
        "jobs[0].checkpoint.snapshot",
        "'2 h'",
        "less than the interval between checkpoints, 3600 s",
        "shorten it",
    ),
    "snapshot of a blocking job": Case(
        8,
        "    checkpoint: {snapshot: 4 s}",
        28,
        "jobs[0].checkpoint.snapshot",
        "'4 s'",
        "mode: blocking",
        "mode: async",
    ),
    "interference with a blocking job": Case(
        8,
        "    checkpoint: {interference: 3 %}",
        32,
        "jobs[0].checkpoint.interference",
        "'3 %'",
        "no meaning with mode: blocking",
        "mode: async",
    ),
    "drains of a blocking job": Case(
        8, "    checkpoint: {in_flight: 2}", 29, "jobs[0].checkpoint.in_flight", "'2'", "mode: blocking", "mode: async"
    ),
    "no drain in flight": Case(
        8,
        "    checkpoint: {mode: async, in_flight: 0}",
        42,
        "jobs[0].checkpoint.in_flight",
        "'0'",
        "must be at least 1",
        "raise it to 1",
    ),
    "drain that takes all": Case(
        8,
        "    checkpoint: {mode: async, interference: 100 %}",
        45,
        "jobs[0].checkpoint.interference",
        "'100 %'",
        "must be at most 0.99",
        "lower it",
    ),
    "list of triggers": Case(
        8,
        "    checkpoint: {trigger: [{every: 30 min}], size: 1 GB}",
        18,
        "jobs[0].checkpoint.trigger",
        "'[{every}]'",
        "must be one value or a section of keys",
        "explain trigger",
    ),
    "cut that cuts nothing": Case(
        13,
        "  controller: {policy: three_band, floor: 100 %}",
        43,
        f"{CONTROLLER}.floor",
        "'100 %'",
        "leaves every job at full speed",
        "as in 0.2",
    ),
    "factor in words": Case(11, "power:\n  pue: low", 8, "power.pue", "'low'", "must be a number", "as in 2.5"),
    "no lanes": Case(10, "storage: {lanes: 0}", 18, "storage.lanes", "'0'", "must be at least 1", "or none"),
    "negative lanes": Case(10, "storage: {lanes: -1}", 18, "storage.lanes", "'-1'", "must be at least 1", "or none"),
    "lanes in words": Case(10, "storage: {lanes: four}", 18, "storage.lanes", "'four'", "a whole number", "or none"),
}
# Where the fault is not in the lines that were replaced, nor in the section around them.
OTHER_LINES = {"two lagged controllers on a path": 9}


def run(capsys, *arguments):
    code = main(arguments)
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return code, printed.out, printed.err


def faulty(folder, *cases):
    lines = BASE.splitlines()
    for case in cases:
        lines[case.line - 1] = case.text
    file = folder / "faulty.yaml"
    file.write_text("\n".join(lines) + "\n")
    (folder / "log.csv").write_text("job_id,submit_s,nodes,work_s\na,0,1,3600\n")
    return file


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_one_line_that_says_where_what_why_and_what_to_do(name, tmp_path, capsys):
    case = CASES[name]
    file = faulty(tmp_path, case)

    code, out, err = run(capsys, "validate", str(file))

    assert (code, out) == (2, "")
    (message,) = err.splitlines()
    place, key, said = message.split(": ", 2)
    line, column = map(int, place.removeprefix(f"{file}:").split(":"))
    assert key == case.key
    assert column == case.column
    first = OTHER_LINES.get(name, case.line)
    assert first - 1 <= line <= first + case.text.count("\n")  # in what was replaced, or the section it is in
    assert case.value in said
    assert case.rule in said
    assert case.remedy in said.rsplit("; ", 1)[1]


def test_the_base_of_these_faults_has_none(tmp_path, capsys):
    assert run(capsys, "validate", str(faulty(tmp_path)))[0] == 0


def test_a_fault_hides_no_other(tmp_path, capsys):
    names = ("own parent", "step before the start", "no delay", "no lanes", "unknown feeder of a list", "no date")
    cases = [CASES[name] for name in names]

    _, _, err = run(capsys, "validate", str(faulty(tmp_path, *cases)))

    assert {message.split(": ")[1] for message in err.splitlines()} == {case.key for case in cases}


def test_each_ring_is_told_once(tmp_path, capsys):
    rings = f"{CASES['ring'].text}\n    a: {{parent: b}}\n    b: {{parent: a}}\n    leads-to-a: {{parent: a}}"
    file = faulty(tmp_path, CASES["ring"]._replace(text=rings))

    _, _, err = run(capsys, "validate", str(file))

    assert [line.partition("closes a ring: ")[2].partition(";")[0] for line in err.splitlines()] == [
        "row-3 -> row-4 -> row-3",
        "a -> b -> a",
    ]


def test_a_ring_hides_no_fault_of_a_cap_elsewhere(tmp_path, capsys):
    low = Case(15, "    row-1: {cap: 1 kW}", 0, "", "", "", "")
    ring = Case(17, "    row-3: {parent: row-3}", 0, "", "", "", "")

    _, _, err = run(capsys, "validate", str(faulty(tmp_path, low, ring)))

    assert [line.split(": ")[1] for line in err.splitlines()] == [f"{ROW_1}.cap", "power.feeders.row-3.parent"]


def test_a_cap_that_only_some_of_the_jobs_in_turn_could_reach_is_judged_by_those_that_do(tmp_path, capsys):
    one = Case(6, "    count: 1", 0, "", "", "", "")
    low = Case(16, "    row-2: {cap: 1 kW}", 0, "", "", "", "")

    assert run(capsys, "validate", str(faulty(tmp_path, one, low)))[0] == 0


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("power.feeders.row-1.cap=8MW", "power.feeders.row-1.cap", 8e6),
        ("power.feeders.row.3 b.cap=8MW", "power.feeders.row.3 b.cap", 8e6),
        ("power.feeders.row-2.cap[1].value=3MW", "power.feeders.row-2.cap[1].value", 3e6),
        ("power.cap=[{at: 0 s, value: 1 MW}]", "power.cap", [{"at": 0.0, "value": 1e6}]),
        ("power.feeders.row.3 b=null", "power.feeders.row.3 b", None),
        ("jobs.llm.feeders=[row-1, row-2]", "jobs[0].feeders", ["row-1", "row-2"]),
    ],
)
def test_an_override_reaches_a_feeder_by_its_name(override, key, value, tmp_path):
    (found,) = read(faulty(tmp_path), [override])._overrides

    assert (found["key"], found["value"]) == (key, value)


@pytest.mark.parametrize(
    ("override", "key", "rule", "remedy"),
    [
        ("power.feeders.rwo-1.cap=8MW", "power.feeders.rwo-1", "names no feeder of the file", "feeders.row-1"),
        ("power.feeders.new.cap=8MW", "power.feeders.new", "names no feeder of the file", "new={cap: 8 MW}"),
        ("power.feeders.row.3 b.cap=8GB", "power.feeders.row.3 b.cap", "'8GB' has the unit 'GB'", "1.5 MW"),
        ("power.feeders.row-1.cap=[]", "power.feeders.row-1.cap", "at least one value", "add one"),
        ("power.feeders.row-1.controller.tau=0", "power.feeders.row-1.controller.tau", "more than 0", "anonymous"),
        ("power.feeders.row-1.parent=row-1", "power.feeders.row-1.parent", "hangs it on itself", "write site"),
        ("power.cap=[{at: 3 s, value: 1 MW}]", "power.cap[0].at", "must be 0 s", "write 0 s"),
        ("jobs.llm.feeders={row-1: 60, row-2: 3}", "jobs[0].feeders", "adds up to 63 nodes", "nodes to 63"),
        ("storage.lanes=0", "storage.lanes", "must be at least 1", "or none"),
    ],
)
def test_a_fault_of_an_override_is_one_line_that_names_it(override, key, rule, remedy, tmp_path, capsys):
    file = faulty(tmp_path)
    code, out, err = run(capsys, "validate", str(file), "--set", override)

    assert (code, out) == (2, "")
    (message,) = err.splitlines()
    assert message.startswith(f"{file}: --set {override}: {key}: ")
    assert rule in message
    assert remedy in message.rsplit("; ", 1)[1]
