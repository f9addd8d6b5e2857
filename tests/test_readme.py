"""What the README shows is what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from twin.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def block(language: str) -> str:
    """The only code block of a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return found


def test_each_line_of_output_shown_is_printed_by_the_run_in_that_order(tmp_path, capsys):
    assert main(["run", str(ROOT / "scenarios/mid-fleet.yaml"), "--out", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out.splitlines()
    places = [printed.index(line) for line in block("text").splitlines()]

    assert len(places) > 10
    assert places == sorted(places)


def test_the_scenario_shown_is_the_bundled_one():
    shown = yaml.safe_load(block("yaml"))
    bundled = yaml.safe_load((ROOT / "scenarios/mid-fleet.yaml").read_text())

    assert shown == {key: bundled[key] for key in shown}


def test_the_python_shown_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(compile(block("python"), "README.md", "exec"), {})  # noqa: S102 - our own text

    assert "mean" in capsys.readouterr().out
