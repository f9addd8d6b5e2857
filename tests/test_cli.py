"""Results go to stdout, everything else to stderr, and the exit code says how it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from twin import api, cli, signals
from twin.errors import StalledError
from twin.report import explanations
from twin.report.run_summary import summary
from twin.scenario import CapStep, Scenario
from twin.scenario.keys import keys
from twin.units import scaled

SCENARIO = """\
twin: 1
name: four in turn
question: Does a stagger of 5 s hold?
stop: {cycles: 3}
jobs:
  - {name: llm, count: 4, nodes: 64, launch: {every: 5 s}}
power: {cap: 1.5 MW}
"""


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("four.yaml").write_text(SCENARIO)
    return "four.yaml"


# Help and version


def test_help_names_every_command(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert {"run", "validate", "schema", "estimate", "explain"} <= set(out.split())


def loaded_by(*arguments):
    """Names of all modules that a command loads."""
    code = f"import sys, twin.cli; twin.cli.main({list(arguments)}); print(*sys.modules, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stderr.split())


def test_the_list_of_commands_says_what_each_does_without_cutting_it_off(run):
    assert "..." not in run("--help")[1].partition("Commands:")[2]


def test_help_loads_neither_models_nor_simulator():
    assert loaded_by("--help") & {"pydantic", "yaml", "simpy", "numpy"} == set()


def test_validate_loads_neither_simulator_nor_tables(scenario):
    modules = loaded_by("validate", scenario)
    assert "pydantic" in modules
    assert modules & {"simpy", "numpy", "pandas", "pyarrow"} == set()


def test_version_is_the_one_installed(run):
    from importlib.metadata import version

    assert run("--version") == (0, f"twin {version('racktwin')}\n", "")


# validate


def test_a_valid_file_is_said_to_be_so(run, scenario):
    assert run("validate", scenario, "--set", "power=null") == (0, "four.yaml: valid: jobs: 4 in groups: 1\n", "")


OVERSUBSCRIBED = (
    "site is oversubscribed: at full speed its jobs draw 1.984 MW at once, 1.32 x its cap of 1.5 MW"  # 256 x 7.75 kW
)


def test_the_feeders_of_a_valid_file_are_drawn_with_what_hangs_below_them(run, scenario):
    code, out, err = run("validate", scenario)
    assert code == 0
    assert err == f"{scenario}: warning: {OVERSUBSCRIBED}\n"
    assert out.splitlines()[1:] == [  # 256 nodes of 7.75 kW
        "  site  cap 1.5 MW; jobs: 4 on 256 nodes; 1.984 MW at full speed, 1.32 x the cap; controller: anonymous"
    ]


def test_one_bad_file_of_two_ends_with_two_and_both_are_judged(run, scenario):
    Path("bad.yaml").write_text(SCENARIO.replace("64", "0"))
    code, out, err = run("validate", "bad.yaml", scenario)
    assert code == 2
    assert out.startswith("four.yaml: valid: jobs: 4 in groups: 1\n")
    assert err.startswith("bad.yaml:6:34: jobs[0].nodes: '0' must be at least 1")


def test_validate_as_json_is_one_document_of_verdicts_and_faults(run, scenario):
    Path("bad.yaml").write_text(SCENARIO.replace("64", "0"))
    code, out, _ = run("validate", "bad.yaml", scenario, "--json")
    bad, good = json.loads(out)
    assert code == 2
    assert [row["demand_w"] for row in good.pop("feeders")] == [256 * 7750.0]
    assert good == {"file": "four.yaml", "valid": True, "faults": [], "warnings": [OVERSUBSCRIBED]}
    assert bad["faults"] == [
        {
            "key": "jobs[0].nodes",
            "value": "0",
            "rule": "must be at least 1",
            "remedy": "raise it to 1 or more",
            "where": "bad.yaml:6:34",
        }
    ]


def test_a_warning_goes_to_stderr_and_leaves_the_file_valid(run, scenario):
    code, out, err = run("validate", scenario, "--set", "storage.degradation=0.1")
    assert code == 0
    assert "valid" in out
    assert err.startswith("four.yaml: warning: storage.degradation")


# schema


def test_the_schema_takes_quantities_as_numbers_or_text_and_no_unknown_key(run):
    code, out, _ = run("schema")
    schema = json.loads(out)
    fixed = schema["$defs"]["Power"]["properties"]["fixed"]
    kinds = {option["type"] for option in fixed["anyOf"]}
    assert code == 0
    assert kinds == {"number", "string"}
    assert schema["additionalProperties"] is False
    assert {"twin", "name"} == set(schema["required"])


def test_the_schema_gives_each_default_its_mark(run):
    schema = json.loads(run("schema")[1])
    idle = schema["$defs"]["NodePower"]["properties"]["idle"]
    assert (idle["default"], idle["mark"]) == (1800.0, "guess")


def test_the_schema_describes_every_key_in_the_words_of_explain(run):
    sections = json.loads(run("schema")[1])
    described = {
        (name, key): found["description"]
        for name, section in [("Scenario", sections), *sections["$defs"].items()]
        for key, found in section["properties"].items()
        if "description" in found
    }
    values = {(section.__name__, key.name): key.meaning for section, key in keys_with_sections() if not key.section}
    assert len(values) > 40
    assert values.items() <= described.items()


def keys_with_sections():
    """The model that holds it, and the key, of every key of a scenario."""
    models = {"": Scenario} | {key.path: key.section for key in keys() if key.section}
    in_steps = ("power.cap[]", "power.limit[]", "power.feeders.NAME.cap[]")  # one form of a cap
    models |= dict.fromkeys(in_steps, CapStep)
    return [(models[key.holder.removesuffix(".NAME")], key) for key in keys()]


def test_the_schema_describes_every_section_in_one_sentence_or_two_without_markup(run):
    sections = json.loads(run("schema")[1])
    texts = [sections["description"], *(section["description"] for section in sections["$defs"].values())]
    assert [text for text in texts if not text or "``" in text or "Raises" in text or "\n" in text] == []


# estimate


def test_an_estimate_prints_its_verdict_and_numbers_on_stdout_and_writes_nothing(run, scenario):
    code, out, err = run("estimate", scenario)
    assert (code, err) == (0, "")
    assert out.startswith("four in turn\n")
    assert "on average over launches" in out
    assert "time with at least 2 writing" in out
    assert [path.name for path in Path().iterdir()] == ["four.yaml"]


def test_an_estimate_as_json_is_one_document_and_overrides_count(run, scenario):
    code, out, _ = run("estimate", scenario, "--json", "--set", "jobs.llm.jitter.sigma=10 s")
    found = json.loads(out)
    assert (code, found["verdict"], found["product_form"]["metrics"]["jobs"]) == (0, "exact", 4)


def test_an_estimate_loads_neither_simulator_nor_pandas(scenario):
    modules = loaded_by("estimate", scenario)
    assert "twin.analysis.estimate" in modules
    assert modules & {"simpy", "pandas"} == set()


def test_an_estimate_that_does_not_apply_is_an_answer_not_an_error(run, scenario):
    code, out, _ = run("estimate", scenario, "--set", "jobs.llm.launch=null")
    assert code == 0
    assert "not applicable  4 jobs of one rhythm are launched at one instant" in out


# explain


def test_an_explanation_gives_unit_definition_and_source(run):
    assert run("explain", "young_interval_s") == (
        0,
        "young_interval_s (metric)\n"
        "  unit        s\n"
        "  definition  Computing between checkpoints, sqrt(2 C M), for the mean job of\n"
        "              the fleet. C is the mean time that a checkpoint of the run\n"
        "              stopped its job, M the mean time between failures of the job.\n"
        "  source      J. W. Young, CACM 17 (1974) 530\n",
        "",
    )


def test_an_explanation_of_a_scenario_key_gives_its_default_with_mark_and_source(run):
    code, out, _ = run("explain", "power.idle")
    assert code == 0
    assert out.startswith("jobs[].power.idle (scenario key)\n  unit        W\n")
    assert "  default     1.8 kW (guess: range 1.2-2.5 kW)\n" in out


def test_a_topic_of_several_words_needs_no_quotes(run):
    assert run("explain", "offered", "load") == run("explain", "offered load")


def test_without_a_topic_all_names_are_listed_by_group(run):
    code, out, _ = run("explain")
    assert code == 0
    titles = [line for line in out.splitlines() if not line.startswith(" ")]
    assert titles == [*explanations.GROUPS.values(), "Each in full"]
    assert "goodput" in out.partition("Metrics\n")[2].partition("Columns\n")[0]
    assert "bandwidth" in out.partition("Metrics\n")[0]


@pytest.mark.parametrize("topic", [[], ["checkpoint"], ["c"], ["metrics"], ["concepts"], ["errors"], ["scenario keys"]])
def test_explanations_fit_in_80_columns(run, topic):
    code, out, _ = run("explain", *topic)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80


def test_an_unknown_topic_ends_with_two_and_the_nearest_name(run):
    assert run("explain", "goodpt") == (
        2,
        "",
        "'goodpt' is no scenario key, metric, column, policy, error or word of the summary; did you mean goodput? "
        "`twin explain` lists all\n",
    )


def test_an_explanation_as_json_is_a_list_of_all_that_has_the_name(run):
    _, out, _ = run("explain", "energy_j", "--json")
    assert [(entry["kind"], entry["unit"]) for entry in json.loads(out)] == [("metric", "J"), ("column", "J")]


# run


def test_a_run_prints_its_summary_on_stdout_and_its_folder_on_stderr(run, scenario):
    code, out, err = run("run", scenario, "--out", "out")
    assert code == 0
    assert err == "run directory: out\n"
    assert out.startswith("four in turn\nquestion: Does a stagger of 5 s hold?\n")
    titles = [line for line in out.splitlines() if line and not line.startswith(" ")][2:]
    assert titles == ["Checkpoints", "Work", "Storage", "Power", "Run"]
    assert (Path("out") / "run.json").is_file()


@pytest.mark.parametrize(
    ("options", "is_terminal", "hints"),
    [([], True, 1), ([], False, 0), (["--quiet"], True, 0), (["--json"], True, 0), (["--report"], True, 0)],
)
def test_on_a_terminal_the_summary_ends_with_how_to_see_the_page(
    run, scenario, monkeypatch, options, is_terminal, hints
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    _, out, _ = run("run", scenario, "--out", "my run", *options)
    assert out.count("\nto see it: twin report 'my run' -o page.html\n") == hints
    assert out.endswith("page.html\n") == bool(hints)


def test_on_a_terminal_a_run_with_a_page_ends_with_where_the_page_is(run, scenario, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = run("run", scenario, "--out", "mine", "--report")
    assert out.endswith("\nto see it: open mine.html in a browser\n")
    assert Path("mine.html").is_file()


def test_without_out_a_run_goes_to_a_folder_of_its_name(run, scenario):
    code, _, err = run("run", scenario)
    assert (code, err) == (0, "run directory: runs/four-in-turn\n")


def test_a_name_cannot_lead_out_of_the_folder_of_runs(run, scenario):
    _, _, err = run("run", scenario, "--set", "name=../../up")
    assert err == "run directory: runs/up\n"


def test_a_run_as_json_prints_the_manifest_and_nothing_else(run, scenario):
    code, out, _ = run("run", scenario, "--out", "out", "--json")
    assert code == 0
    assert json.loads(out) == json.loads((Path("out") / "run.json").read_text())


def test_a_quiet_run_prints_nothing(run, scenario):
    assert run("run", scenario, "--out", "out", "--quiet") == (0, "", "")


def test_the_seed_option_sets_the_seed_even_to_nought(run, scenario):
    assert json.loads(run("run", scenario, "--seed", "0", "--set", "seed=5", "--json")[1])["seed"] == 0


def test_a_run_directory_is_replaced_only_by_force(run, scenario):
    assert run("run", scenario, "--out", "out")[0] == 0
    code, out, err = run("run", scenario, "--out", "out")
    assert (code, out) == (2, "")
    assert "--force" in err
    assert run("run", scenario, "--out", "out", "--force")[0] == 0


def test_warnings_of_a_run_go_to_stderr(run, scenario):
    _, out, err = run("run", scenario, "--out", "out", "--set", "fleet={nodes: 32}")
    assert "warning" not in out
    assert err.startswith("warning: one job of group 'llm' needs 64 nodes")


def test_the_summary_of_a_replay_accounts_for_every_row_of_its_log(run, scenario):
    Path("log.csv").write_text("job_id,submit_s,nodes,work_s\na,0,1,60\nb,5,2,60\nc,9000,2,60\n")
    Path("replay.yaml").write_text("twin: 1\nname: r\nreplay: {file: log.csv, window: [0, 1 h]}\n")
    code, out, _ = run("run", "replay.yaml")
    lines = out.split("Launch log\n")[1].splitlines()
    assert code == 0
    after = "1, submitted after the window (first on line 4: '9000')"
    assert [line.split(maxsplit=2)[2] for line in lines[1:4]] == ["3", after, "2, 2 jobs"]


@pytest.mark.parametrize(("bad_rows", "warnings"), [(1, 0), (4, 1)])
def test_rows_that_cannot_be_read_are_a_warning_said_once_if_they_are_most_of_a_log(run, scenario, bad_rows, warnings):
    rows = "a,0,1,60\nb,5,2,60\n" + "".join(f"c{row},soon,2,60\n" for row in range(bad_rows))
    Path("log.csv").write_text("job_id,submit_s,nodes,work_s\n" + rows)
    Path("replay.yaml").write_text("twin: 1\nname: r\nreplay: {file: log.csv}\n")
    code, out, err = run("run", "replay.yaml", "--out", "out")

    assert code == 0
    assert err.count("\n") == warnings + 1  # the last line names the folder
    assert err.count(f"warning: {bad_rows} of {bad_rows + 2} rows could not be read") == warnings
    assert f"{bad_rows}, submit_s is not a finite number" in out
    assert out.count("could not be read") == 0


# Endings


def test_an_error_of_a_run_is_its_message(run, scenario, monkeypatch):
    def stall(*_, **__):
        raise StalledError("no job can ever move again")

    monkeypatch.setattr(api, "run", stall)
    assert run("run", scenario) == (2, "", "no job can ever move again\n")


def test_a_full_disk_is_a_message(run, scenario, monkeypatch):
    def fill(*_, **__):
        raise OSError(28, os.strerror(28), "out/power.parquet")

    monkeypatch.setattr(api, "run", fill)
    code, out, err = run("run", scenario)
    assert (code, out) == (2, "")
    assert err.startswith("out/power.parquet: No space left on device;")


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
@pytest.mark.parametrize("fate", ["as it is", "another", "lost"])
def test_a_stopped_command_ends_with_a_word_and_no_traceback_whatever_becomes_of_the_exception(
    run, scenario, monkeypatch, number, word, fate
):
    def stop(*_, **__):
        try:
            signal.raise_signal(number)
        except BaseException as stopped:
            if fate == "as it is":
                raise
            if fate == "another":
                raise SystemError("initialization of a module raised an unreported exception") from stopped
        signal.raise_signal(number)

    monkeypatch.setattr(signals, "CLEANING_S", 0.0)
    monkeypatch.setattr(api, "run", stop)
    code, out, err = run("run", scenario)
    assert (code, out) == (128 + number, "")
    assert err.strip() == word


def test_a_second_signal_does_not_disturb_the_cleaning_up():
    cleaned = []

    def clean():
        signal.raise_signal(signal.SIGTERM)
        cleaned.append(True)

    with pytest.raises(signals.Stopped), signals.unwinding(), ExitStack() as cleaning:  # noqa: PT012 - both matter
        cleaning.callback(clean)
        signal.raise_signal(signal.SIGINT)
    assert cleaned == [True]


def test_a_real_interrupt_leaves_no_run_and_no_traceback(scenario):
    endless = ["run", scenario, "--out", "out", "--set", "stop.cycles=100000000"]
    command = subprocess.Popen([sys.executable, "-m", "twin", *endless], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(1200):  # until the run has written its first rows
        if any(path.stat().st_size > 1000 for path in Path.cwd().glob(".*/*.parquet")):
            break
        time.sleep(0.05)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert [path.name for path in Path.cwd().iterdir()] == ["four.yaml"]


def test_a_closed_pipe_ends_quietly():
    ended = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m twin schema | true"], capture_output=True, check=False, text=True
    )
    assert ended.stderr == ""


def test_a_terminal_without_utf_8_does_not_end_a_run(scenario):
    Path("four.yaml").write_text(SCENARIO.replace("four in turn", "all ✓"), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    ended = subprocess.run(
        [sys.executable, "-m", "twin", "run", scenario], env=environment, capture_output=True, check=False, text=True
    )
    assert ended.returncode == 0
    assert ended.stdout.startswith("all \\u2713\n")


def test_the_group_works_under_clicks_own_runner(scenario):
    assert CliRunner().invoke(cli.cli, ["validate", scenario]).exit_code == 0


# The summary


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (22.8, "s", "22.8 s"),
        (90.0, "s", "90 s"),
        (150.0, "s", "2.5 min"),
        (0.25, "s", "250 ms"),
        (0.0, "s", "0 s"),
        (999_999.9, "W", "1 MW"),
        (-2e6, "W", "-2 MW"),
        (7.2e9, "J", "2 MWh"),
        (14.592e12, "B", "14.59 TB"),
        (1.5112858, "1", "1.511"),
        (12345.6, "1", "12,346"),
    ],
)
def test_a_value_is_scaled_to_a_readable_unit(value, unit, text):
    assert scaled(value, unit) == text


def manifest(**metrics):
    rest = {"stopped_by": "time", "seed": 0, "assumptions": {"broken_by": []}, "defaults": [], "import_report": None}
    scenario = {"power": {"controller": {"policy": "anonymous"}}, "storage": {}}
    return {"metrics": metrics, "scenario": scenario} | rest


def test_a_value_that_is_not_known_reads_as_a_dash():
    lines = dict(summary(manifest(makespan_s=None))["Run"])
    assert lines["makespan"] == "-"


def test_a_long_tail_of_writers_is_shown_at_the_start_at_doublings_and_at_the_peak():
    shares = [1.0 / k for k in range(1, 21)]
    lines = summary(manifest(writers_share_at_least=shares, writers_share_at_least_independent=shares))["Storage"]
    shown = [line.label for line in lines if line.label.startswith("time with at least")]
    assert shown == [f"time with at least {k} writing" for k in (1, 2, 3, 4, 8, 16, 20)]


def test_a_changed_scenario_says_what_was_changed_and_not_the_answer_to_the_file_as_written(tmp_path, capsys):
    scenario = str(Path(__file__).parents[1] / "scenarios/phase-blind.yaml")

    assert cli.main(["run", scenario, "--out", str(tmp_path / "as-written")]) == 0
    assert "answer expected: No." in capsys.readouterr().out
    assert cli.main(["run", scenario, "--out", str(tmp_path / "changed"), "--set", "stop.cycles=3", "--seed", "1"]) == 0
    printed = capsys.readouterr().out
    assert "answer" not in printed
    assert "changed: stop.cycles = 3\nchanged: seed = 1\n" in printed
