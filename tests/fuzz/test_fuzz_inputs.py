"""Spoiled scenarios and launch logs end with a result or a message; ``fuzz_inputs.py`` tries thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import cases
from tests.fuzz.cases import KINDS, Case, make
from tests.fuzz.workers import Ended, ended_here
from twin.cli import main
from twin.io.strict_yaml import MAX_VALUES, MOST_FAULTS
from twin.scenario.rules import MAX_JOBS

HEAD = "twin: 1\nname: big\nstop: {time: 1 d}\n"
SAMPLE = range(200)  # of the cases of ``fuzz_inputs.py``


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Case, Ended]]:
    """The sample without its rare large cases, which take minutes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "BIG_EVERY", 10**9)
        made = [make(number, tmp_path_factory.mktemp(f"case-{number}-")) for number in SAMPLE]
    return [(case, ended_here(case.arguments)) for case in made]


def test_every_spoiled_input_ends_with_zero_or_two_and_no_traceback(ended: list[tuple[Case, Ended]]) -> None:
    broken = [(case.number, end.code, end.error) for case, end in ended if end.code not in (0, 2) or end.has_trace()]
    assert broken == []


def test_every_refused_input_is_told_why(ended: list[tuple[Case, Ended]]) -> None:
    assert [case.number for case, end in ended if end.code == 2 and "; " not in end.error] == []


def test_the_sample_holds_good_and_bad_inputs_of_every_kind(ended: list[tuple[Case, Ended]]) -> None:
    assert {(case.kind, end.code) for case, end in ended} == {(kind, code) for kind in KINDS for code in (0, 2)}


def test_a_case_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for number in range(20):
        texts = []
        for folder in folders:
            folder.mkdir(exist_ok=True)
            make(number, folder)
            texts.append([path.read_bytes() for path in sorted(folder.iterdir())])
        assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\n" * 150_000, f"and {MOST_FAULTS + 1 - 50} more faults"),  # the last one: it is read no further
        ("x: [" + "0," * 200_000 + "]", f"holds more than {MAX_VALUES} values"),
        ("jobs:\n" + "- {}\n" * (MAX_VALUES - 10), f"and {MAX_VALUES - 10 - 50} more faults"),
        ("jobs:\n" + "- name: same\n" * (MAX_VALUES // 2 - 10), f"and {MAX_VALUES // 2 - 11 - 50} more faults"),
        ("jobs: [{name: many, count: 1000000}]", f"must be at most {MAX_JOBS}"),
    ],
    ids=["structure", "values", "fields", "rules", "jobs"],
)
def test_what_is_too_much_of_a_scenario_is_counted_instead_of_told(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "big.yaml"
    file.write_text(HEAD + text)

    assert main(["validate", str(file)]) == 2
    message = capsys.readouterr().err
    assert told in message
    assert message.count("\n") <= 51


def test_a_log_of_too_many_rows_is_refused_before_all_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = 4 * MAX_JOBS + 100_000
    (tmp_path / "log").write_text("job_id,submit_s,nodes,work_s\n" + "".join(f"{i},0,1,60\n" for i in range(rows)))
    (tmp_path / "log.yaml").write_text(HEAD + "replay: {file: log}\n")

    assert main(["estimate", str(tmp_path / "log.yaml")]) == 2
    assert f"leaves more than {4 * MAX_JOBS} rows" in capsys.readouterr().err
