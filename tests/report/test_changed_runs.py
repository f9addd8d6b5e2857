"""The page of a run that was changed on the command line says so, and of a damaged one says nothing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import twin
from tests.report.fleets import FLEET, run_of
from tests.report.html_page import Page
from twin.errors import RunDirectoryError
from twin.report.page import page

ANSWERED = FLEET | {"answer": "All of it."}
WRONG = ("removed", None, "1", "\ud800", -1, 3.5, True, 1e308, 10**30, [], {}, [None], {"a": None})


def header_of(run: Path) -> str:
    html = page(twin.open_run(run))
    return Page(html[html.index("<header>") : html.index("</header>")]).text


def test_a_changed_run_says_what_was_changed_and_not_the_answer_to_the_file_as_written(tmp_path: Path) -> None:
    twin.run(twin.load(ANSWERED, ["power.cap=2.5 kW", "stop.cycles=3"]), tmp_path / "changed")

    header = header_of(tmp_path / "changed")
    assert "changed: power.cap = 2.5 kW" in header
    assert "changed: stop.cycles = 3" in header
    assert "All of it." not in header


def test_a_run_as_written_says_its_answer_and_nothing_of_changes(tmp_path: Path) -> None:
    twin.run(twin.load(ANSWERED), tmp_path / "run")

    header = header_of(tmp_path / "run")
    assert "All of it." in header
    assert "changed:" not in header


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value below, and to the value itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(found for key, child in inner for found in places(child, (*place, key)))]


@pytest.mark.parametrize("number", range(4))
def test_whatever_value_of_a_manifest_is_wrong_there_is_a_page_or_one_message(tmp_path: Path, number: int) -> None:
    path = run_of(tmp_path / "run", stop={"cycles": 2}) / "run.json"
    text = path.read_text()
    rng = Random(number)  # noqa: S311
    refused = 0
    for *way, last in rng.sample([place for place in places(json.loads(text)) if place], 40):
        manifest = json.loads(text)
        holder = manifest
        for key in way:
            holder = holder[key]
        wrong = rng.choice(WRONG)
        if wrong == "removed":
            del holder[last]
        else:
            holder[last] = wrong
        path.write_text(json.dumps(manifest))
        try:
            page(twin.open_run(path.parent)).encode()
        except RunDirectoryError as error:
            assert "\n" not in str(error)  # noqa: PT017
            refused += 1
    assert refused > 0
