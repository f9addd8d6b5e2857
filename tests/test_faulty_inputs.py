"""Every faulty input ends with exit code 2 and one message: file, line, key, value, rule, remedy; no traceback."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

import pytest

from twin.cli import main

BASE = """\
twin: 1
name: base
seed: 7
stop: {cycles: 3}
jobs:
  - name: llm
    count: 2
    nodes: 64
    compute: 30 min
    checkpoint: {size: 912 GB}
    launch: {every: 5 s}
storage: {bandwidth: 40 GB/s}
power: {cap: 1 MW}
"""


class Case(NamedTuple):
    """One line of the base scenario replaced, and what the message must say."""

    line: int
    text: str
    key: str
    value: str
    rule: str
    remedy: str


CASES = {
    "unknown key": Case(8, "    nodse: 64", "jobs[0].nodse", "'64'", "unknown key", "write nodes"),
    "unknown key at the top": Case(13, "powr: {cap: 1 MW}", "powr", "'{cap}'", "unknown key", "write power"),
    "unknown key in a section": Case(
        12, "storage: {bandwith: 1}", "storage.bandwith", "'1'", "unknown key", "bandwidth"
    ),
    "key of the checkpoint at its job": Case(
        9,
        "    size: 1 GB",
        "jobs[0].size",
        "'1 GB'",
        "unknown key",
        "belongs under checkpoint: as jobs[0].checkpoint.size",
    ),
    "trigger at its job": Case(
        9,
        "    trigger: work",
        "jobs[0].trigger",
        "'work'",
        "unknown key",
        "under checkpoint: as jobs[0].checkpoint.trig",
    ),
    "key of two sections at the job": Case(
        9,
        "    every: 1 s",
        "jobs[0].every",
        "'1 s'",
        "unknown key",
        "under checkpoint.trigger: as jobs[0].checkpoint.trigger.every or under launch: as jobs[0].launch.every",
    ),
    "key of the store at the top": Case(
        12, "bandwidth: 4 GB/s", "bandwidth", "'4 GB/s'", "unknown key", "belongs under storage: as storage.bandwidth"
    ),
    "cap at the top": Case(13, "cap: 1 MW", "cap", "'1 MW'", "unknown key", "belongs under power: as power.cap"),
    "cap of a job": Case(
        9,
        "    power: {cap: 1 MW}",
        "jobs[0].power.cap",
        "'1 MW'",
        "unknown key",
        "belongs under power: at the top of the file, as power.cap",
    ),
    "cycles at the top": Case(3, "cycles: 3", "cycles", "'3'", "unknown key", "belongs under stop: as stop.cycles"),
    "size of the store": Case(
        12,
        "storage: {size: 1 TB}",
        "storage.size",
        "'1 TB'",
        "unknown key",
        "jobs[].checkpoint: as jobs[].checkpoint.size",
    ),
    "exponent of the site": Case(
        13, "power: {exponent: 2}", "power.exponent", "'2'", "unknown key", "jobs[].power: as jobs[].power.exponent"
    ),
    "seed of a job": Case(9, "    seed: 3", "jobs[0].seed", "'3'", "unknown key", "belongs at the top of the file"),
    "misspelt and misplaced": Case(
        12, "bandwith: 4 GB/s", "bandwith", "'4 GB/s'", "unknown key", "write bandwidth, which belongs under storage:"
    ),
    "feeder that is no section": Case(
        13, "power: {feeders: {r: 1}}", "power.feeders.r", "'1'", "must be a section", "indented below"
    ),
    "variants as a list": Case(13, "variants: [a]", "variants", "'[a]'", "must be a section", "indented below"),
    "variant that is no section": Case(13, "variants: {a: 1}", "variants.a", "'1'", "must be a section", "indented"),
    "variant without a key": Case(13, "variants: {a: {'': 1}}", "", "", "is no path of keys", "write it as in"),
    "variant of an unknown key": Case(
        13, "variants: {a: {power.cup: 1 MW}}", "power.cup", "'1 MW'", "unknown key", "write cap"
    ),
    "variant with a wrong value": Case(
        13, "variants: {a: {storage.lanes: 0}}", "storage.lanes", "'0'", "must be at least 1", "none for all at once"
    ),
    "missing version": Case(1, "#", "twin", "", "is missing", "add it, as in twin: 1"),
    "other version": Case(1, "twin: 2", "twin", "'2'", "version of the format", "write twin: 1"),
    "version as truth value": Case(1, "twin: true", "twin", "'true'", "must be 1", "write twin: 1"),
    "missing name": Case(6, "  -", "jobs[0].name", "", "is missing", "add it, as in name: llm"),
    "wrong unit": Case(9, "    compute: 30 GB", "jobs[0].compute", "'30 GB'", "must be a time", "as in 30 min"),
    "unknown unit": Case(9, "    compute: 30 mins", "jobs[0].compute", "'30 mins'", "unknown unit", "write 30 min"),
    "unit in the wrong case": Case(13, "power: {cap: 1 mw}", "power.cap", "'1 mw'", "unknown unit", "write 1 MW"),
    "size for a rate": Case(
        12, "storage: {bandwidth: 4 GB}", "storage.bandwidth", "'4 GB'", "data rate", "write 4 GB/s"
    ),
    "bits": Case(10, "    checkpoint: {size: 9 Gb}", "jobs[0].checkpoint.size", "'9 Gb'", "unknown unit", "an eighth"),
    "negative": Case(9, "    compute: -30 min", "jobs[0].compute", "'-30 min'", "must be more than 0 s", "raise it"),
    "zero": Case(12, "storage: {bandwidth: 0}", "storage.bandwidth", "'0'", "must be more than 0 B/s", "raise it"),
    "hardly more than zero": Case(
        9, "    compute: 5e-324", "jobs[0].compute", "'5e-324'", "must be at least 1e-12 s", "raise it"
    ),
    "not a number": Case(9, "    compute: .nan", "jobs[0].compute", "'.nan'", "must be a time", "as in 30 min"),
    "infinite": Case(9, "    compute: inf", "jobs[0].compute", "'inf'", "must be a time", "as in 30 min"),
    "huge float": Case(9, "    compute: 1e400", "jobs[0].compute", "'1e400'", "no finite number", "such as 30 min"),
    "huge whole number": Case(8, f"    nodes: {'9' * 5000}", "jobs[0].nodes", "'999", "whole number", "digits only"),
    "beyond the largest": Case(9, "    compute: 1e13 s", "jobs[0].compute", "'1e13 s'", "must be at most", "lower it"),
    "time of day": Case(9, "    compute: 1:30", "jobs[0].compute", "'1:30'", "must be a time", "as in 30 min"),
    "octal": Case(8, "    nodes: 012", "jobs[0].nodes", "'012'", "must be a whole number", "leading zeros: 12"),
    "truth value as number": Case(
        9, "    compute: true", "jobs[0].compute", "'true'", "must be a time", "as in 30 min"
    ),
    "truth value as count": Case(7, "    count: false", "jobs[0].count", "'false'", "whole number", "digits only"),
    "fraction as count": Case(8, "    nodes: 64.0", "jobs[0].nodes", "'64.0'", "must be a whole number", "write 64"),
    "text as count": Case(
        8, "    nodes: '64'", "jobs[0].nodes", "'64'", "must be a whole number", "without quotes and leading zeros: 64"
    ),
    "no nodes": Case(8, "    nodes: 0", "jobs[0].nodes", "'0'", "must be at least 1", "raise it to 1"),
    "number as name": Case(2, "name: 7", "name", "'7'", "must be text", "put it in quotes"),
    "unsafe name": Case(6, '  - name: "a\\nb"', "jobs[0].name", "'a\\nb'", "printable", "write a short name"),
    "negative seed": Case(3, "seed: -1", "seed", "'-1'", "must be at least 0", "raise it to 0"),
    "seed in words": Case(3, "seed: lucky", "seed", "'lucky'", "must be a whole number", "digits only"),
    "seed beyond 63 bits": Case(3, f"seed: {2**63}", "seed", f"'{2**63}'", "must be at most", "lower it"),
    "list for a section": Case(12, "storage: [1]", "storage", "'[1]'", "must be a section", "indented below"),
    "scalar for a section": Case(12, "storage: 40 GB/s", "storage", "'40 GB/s'", "must be a section", "indented below"),
    "nothing for a section": Case(12, "storage:", "storage", "'null'", "must be a section", "remove it"),
    "section for a list": Case(5, "jobs:\n  x:", "jobs", "'{x}'", "must be a list", "- name: llm"),
    "other mode": Case(
        10, "    checkpoint: {mode: asink}", "jobs[0].checkpoint.mode", "'asink'", "blocking, async", "write async"
    ),
    "other share": Case(12, "storage: {share: nodes}", "storage.share", "'nodes'", "one of job, node", "write node"),
    "unknown policy": Case(
        13, "power: {controller: {policy: anonymos}}", "power.controller.policy", "'anonymos'", "one of", "anonymous"
    ),
    "unknown jitter law": Case(
        9, "    jitter: {law: norm, sigma: 1}", "jobs[0].jitter.law", "'norm'", "one of", "normal"
    ),
    "jitter without sigma": Case(
        9, "    jitter: {law: normal}", "jobs[0].jitter.sigma", "", "is missing", "sigma: 10 s"
    ),
    "unknown trigger": Case(
        10, "    checkpoint: {trigger: clock}", "jobs[0].checkpoint.trigger", "'clock'", "must be work", "write work"
    ),
    "compute and wall clock": Case(
        10,
        "    checkpoint: {trigger: {every: 1 h}}",
        "jobs[0].compute",
        "'30 min'",
        "on the wall clock",
        "remove compute to keep that clock, or remove trigger to write one after each 1800 s of work",
    ),
    "two launch forms": Case(
        11, "    launch: {every: 5 s, together: 0}", "jobs[0].launch", "'together and every'", "exactly one", "keep one"
    ),
    "no launch form": Case(11, "    launch: {}", "jobs[0].launch", "'{}'", "exactly one", "{together: 0 s}"),
    "fewer launch times": Case(
        11, "    launch: {at: [0 s]}", "jobs[0].launch.at", "'1 launch times'", "jobs[0].count is 2", "give 2 times"
    ),
    "empty launch times": Case(11, "    launch: {at: []}", "jobs[0].launch.at", "'[]'", "at least one", "add one"),
    "no stop": Case(4, "stop: {}", "stop", "", "would run for ever", "stop: {time: 30 d}"),
    "cap below the idle draw": Case(
        13, "power: {cap: 100 kW}", "power.cap", "'100 kW'", "at or below the idle draw of job 'llm'", "above 115200 W"
    ),
    "cap in megawatts without the unit": Case(
        13, "power: {cap: 12}", "power.cap", "'12'", "at or below the idle draw", "did you mean 12 MW?"
    ),
    "same name twice": Case(
        5, "jobs:\n  - {name: llm}", "jobs[1].name", "'llm'", "is the name of jobs[0] too", "rename one"
    ),
    "idle above compute power": Case(
        9, "    power: {idle: 9 kW}", "jobs[0].power.idle", "'9 kW'", "less than jobs[0].power.compute", "lower idle"
    ),
    "unknown key of failures": Case(
        13, "failures: {per_node_dy: 1}", "failures.per_node_dy", "'1'", "unknown key", "write per_node_day"
    ),
    "no failures at all": Case(
        13, "failures: {per_node_day: 0}", "failures.per_node_day", "'0'", "must be more than 0", "raise it"
    ),
    "failures with a unit": Case(
        13, "failures: {per_node_day: 1 h}", "failures.per_node_day", "'1 h'", "must be a number", "write 1"
    ),
    "negative downtime": Case(
        13, "failures: {downtime: -1 s}", "failures.downtime", "'-1 s'", "must be at least 0 s", "raise it"
    ),
    "rate for the section of failures": Case(
        13, "failures: 3.8e-3", "failures", "'3.8e-3'", "must be a section", "indented below"
    ),
    "unknown profile": Case(
        13,
        "replay: {file: a.csv, profile: h1000}",
        "replay.profile",
        "'h1000'",
        "must be a known profile",
        "write h100",
    ),
    "unknown log format": Case(13, "replay: {file: a.csv, format: kalo}", "replay.format", "'kalo'", "one of", "kalos"),
    "window that ends early": Case(
        13, "replay: {file: a.csv, window: [2 d, 1 d]}", "replay.window", "86400 s", "must end after it starts", "swap"
    ),
    "duplicate key": Case(9, "    nodes: 32", "jobs[0].nodes", "'32'", "given twice, first in line 8", "remove one"),
    "alias": Case(9, "    compute: *x", "jobs[0].compute", "'*x'", "is an alias", "write the value itself"),
    "anchor": Case(9, "    compute: &x 30 min", "jobs[0].compute", "'&x'", "is an anchor", "remove it"),
    "tag": Case(9, "    compute: !!float 30", "jobs[0].compute", "'!!float'", "is a tag", "without it"),
    "merge key": Case(9, "    <<: {compute: 5 s}", "jobs[0]", "'<<'", "is a merge key", "the keys themselves"),
    "key that is a list": Case(13, "? [a]\n: 1", "", "", "key that is no plain name", "write keys as in"),
    "second document": Case(13, "---\na: 1", "", "", "second document", "split the file"),
    "tab": Case(9, "\tcompute: 30 min", "", "'compute: 30 min'", "cannot be read as YAML", "with spaces, not tabs"),
    "cut": Case(13, "power: {cap: 1 M", "", "'power: {cap: 1 M'", "cannot be read as YAML", "the file may be cut"),
    "open quote": Case(13, 'question: "what', "", "question", "cannot be read as YAML", "the file may be cut"),
    "too deep": Case(13, "x: " + "[" * 100, "x", "", "more than 64 levels deep", "handful"),
    "control character": Case(13, "x: \x01", "", "", "control character", "remove it"),
}
# Where the fault is not in the line that was replaced, but further on or back.
OTHER_LINES = {
    "compute and wall clock": 9,
    "missing name": 7,
    "same name twice": 7,
    "missing version": 2,
}


def run(capsys, *arguments):
    code = main(arguments)
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return code, printed.out, printed.err


@pytest.mark.parametrize("name", CASES)
def test_a_fault_of_a_file_is_one_line_that_says_where_what_why_and_what_to_do(name, tmp_path, capsys):
    case = CASES[name]
    lines = BASE.splitlines()
    lines[case.line - 1] = case.text
    file = tmp_path / "faulty.yaml"
    file.write_text("\n".join(lines) + "\n")

    code, out, err = run(capsys, "validate", str(file))

    assert (code, out) == (2, "")
    (message,) = err.splitlines()
    assert case.rule in message
    assert message.startswith(f"{file}:{OTHER_LINES.get(name, case.line)}:")
    assert f" {case.key}" in message
    assert case.value in message
    assert case.remedy in message.split(";", 1)[1]


@pytest.mark.parametrize(
    ("override", "key", "value", "rule", "remedy"),
    [
        ("power.cap=12mw", "power.cap", "'12mw'", "unknown unit 'mw'", "write 12 MW"),
        ("power.cap=-1", "power.cap", "'-1'", "must be more than 0 W", "raise it"),
        ("power.cap=.nan", "power.cap", "'.nan'", "must be a power", "as in 1.5 MW"),
        ("power.cap=1e999", "power.cap", "'1e999'", "no finite number", "such as 1.5 MW"),
        ("power.cap=1 kW", "power.cap", "'1 kW'", "idle draw", "above 115200 W"),
        ("power.cpa=1 kW", "power.cpa", "'1 kW'", "unknown key", "write cap"),
        ("jobs.llm.nodes=many", "jobs[0].nodes", "'many'", "whole number", "digits only"),
        ("jobs.lm.nodes=4", "jobs.lm", "", "names no group", "write jobs.llm"),
        ("jobs[4].nodes=4", "jobs[4]", "", "is not there", "use [0] to [0]"),
        ("stop=null", "stop", "", "would run for ever", "add stop"),
        ("seed=", "seed", "", "is set to nothing", "give a value"),
        ("seed={", "seed", "'{'", "cannot be read as YAML", "close the bracket"),
        ("jobs.llm.launch.together=0", "jobs[0].launch", "'together and every'", "exactly one", "remove every"),
        ("seed", "", "'seed'", "must be key=value", "power.cap=12MW"),
    ],
)
def test_a_fault_of_an_override_is_one_line_that_says_which_what_why_and_what_to_do(
    override, key, value, rule, remedy, tmp_path, capsys
):
    file = tmp_path / "good.yaml"
    file.write_text(BASE)

    code, out, err = run(capsys, "run", str(file), "--out", str(tmp_path / "out"), "--set", override)

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(f"{file}:")
    assert f"--set {override}: " in err
    assert f" {key}" in err
    assert value in err
    assert rule in err
    assert remedy in err.split(";", 1)[1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "rule", "remedy"),
    [
        (b"", "is empty", "twin: 1"),
        (b"# only a comment\n", "is empty", "twin: 1"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is no UTF-8 text", "save it as UTF-8"),
        (BASE.encode("utf-16"), "is no UTF-8 text", "save it as UTF-8"),
        (b"twin\n", "must be a section of keys", "twin: 1"),
        (b"- twin: 1\n", "must be a section of keys", "twin: 1"),
        (b"~\n", "must be a section of keys", "twin: 1"),
        (b"x" * (1024 * 1024 + 1), "is larger than 1024 KiB", "scenario file"),
        (BASE.encode()[:-8], "cannot be read as YAML", "may be cut"),
    ],
    ids=["empty", "comment", "binary", "utf-16", "word", "list", "null", "too big", "cut"],
)
def test_a_file_that_is_no_scenario_is_named_with_line_and_column(content, rule, remedy, tmp_path, capsys):
    file = tmp_path / "faulty.yaml"
    file.write_bytes(content)

    code, out, err = run(capsys, "validate", str(file))

    assert (code, out) == (2, "")
    (message,) = err.splitlines()
    assert message.startswith(f"{file}:")
    assert rule in message
    assert remedy in message


def test_a_missing_file_is_named(tmp_path, capsys):
    code, _, err = run(capsys, "validate", str(tmp_path / "none.yaml"))
    assert (code, err) == (2, f"{tmp_path / 'none.yaml'}: does not exist; check its name\n")


def test_a_folder_is_named(tmp_path, capsys):
    code, _, err = run(capsys, "run", str(tmp_path))
    assert (code, err) == (2, f"{tmp_path}: is a folder; name a scenario file in it\n")


def test_a_bad_seed_on_the_command_line_is_named(tmp_path, capsys):
    file = tmp_path / "good.yaml"
    file.write_text(BASE)
    code, _, err = run(capsys, "run", str(file), "--seed", "x")
    assert code == 2
    assert err.count("\n") == 1
    assert "seed: 'x' must be a whole number" in err


def test_an_unknown_option_or_command_is_named(capsys):
    assert run(capsys, "validate", "--jsn", "x")[0] == 2
    assert run(capsys, "valdate")[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "faulty.yaml"],
        ["run", "faulty.yaml"],
        ["validate", "none.yaml"],
        ["validate", "."],
        ["run", "good.yaml", "--set", "power.cap=12mw"],
        ["run", "good.yaml", "--set", b"name=\xff"],
        ["nonsense"],
    ],
    ids=str,
)
def test_the_command_itself_ends_with_two_and_no_traceback(arguments, tmp_path):
    (tmp_path / "good.yaml").write_text(BASE)
    (tmp_path / "faulty.yaml").write_text(BASE.replace("64", "0"))

    ended = subprocess.run([sys.executable, "-m", "twin", *arguments], cwd=tmp_path, capture_output=True, check=False)

    assert ended.returncode == 2
    assert ended.stdout == b""
    assert ended.stderr.strip()
    assert b"Traceback" not in ended.stderr
