"""What the README shows is what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from twin.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [
    ["run", "mid-fleet"],
    ["run", "replay"],
    ["run", "staggered"],
    ["run", "what-couples", "--variant", "delayed"],
    ["compare", "throttle-policies", "--no-traces"],
]


@pytest.mark.parametrize(("place", "command"), list(enumerate(COMMANDS)), ids=[name for _, name, *_ in COMMANDS])
def test_each_line_of_output_shown_is_printed_by_the_command_in_that_order(place, command, tmp_path, capsys):
    verb, name, *options = command
    assert main([verb, str(ROOT / f"scenarios/{name}.yaml"), *options, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out.splitlines()
    places = [printed.index(line) for line in blocks("text")[place].splitlines()]

    assert len(places) > 2
    assert places == sorted(places)


def test_the_scenario_shown_is_the_bundled_one():
    (shown,) = (yaml.safe_load(block) for block in blocks("yaml"))
    bundled = yaml.safe_load((ROOT / "scenarios/mid-fleet.yaml").read_text())

    assert shown == {key: bundled[key] for key in shown}


def test_the_python_shown_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    (shown,) = blocks("python")
    exec(compile(shown, "README.md", "exec"), {})  # noqa: S102 - our own text

    assert "mean" in capsys.readouterr().out


def test_every_file_the_readme_names_is_there():
    named = set(re.findall(r"(?:scenarios|data)/[\w.-]+\w", README))

    assert len(named) > 3
    assert {name for name in named if not (ROOT / name).exists()} == set()
