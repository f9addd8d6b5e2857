"""The section of feeders: a panel for each with a cap, the time above it shaded, numbers with their queries."""

from __future__ import annotations

import re

import pytest

import twin
from tests.report.fleets import FLEET, run_of
from tests.report.html_page import Page, charts_of, unpacked, wrong_numbers
from tests.report.studies import LLM, tree_of
from twin.report import feeder_section
from twin.report.page import page


def rows_of(count: int) -> dict:
    """A site with so many rows below it, of which only the last two are ever above their caps."""
    caps = {f"row {number}": "9 kW" if number < count - 2 else "0.9 kW" for number in range(count)}
    none = {"policy": "none"}
    return {"cap": "20 kW", "feeders": {name: {"cap": cap, "controller": none} for name, cap in caps.items()}}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tree_of(tmp_path_factory.mktemp("tree") / "run", stop={"cycles": 10})
    return folder, page(twin.open_run(folder))


def panels(html):
    return [each["text"] for each in charts_of(html)["feeders"]["layout"]["annotations"]]


def test_every_number_is_the_value_of_its_query(tree, monkeypatch):
    monkeypatch.chdir(tree[0])
    assert wrong_numbers(Page(tree[1])) == []
    labels = Page(tree[1]).notes["feeders"].labels
    assert [f"row-1, {label}" for label in ("peak", "time over the cap", "excursions")] == labels[3:6]


def test_each_feeder_with_a_cap_has_a_panel_the_site_first(tree):
    assert panels(tree[1]) == ["site", "row-1", "row-2"]


def test_a_feeder_without_cap_and_control_has_none(tmp_path):
    power = {"cap": "3.5 kW", "feeders": {"row-1": {"cap": "1.6 kW"}, "row-2": {}}}
    jobs = [LLM | {"feeders": {"rotate": ["row-1", "row-2"]}}]
    html = page(twin.open_run(run_of(tmp_path / "run", jobs=jobs, power=power, stop={"cycles": 2})))
    assert panels(html) == ["site", "row-1"]


def test_the_line_of_a_feeder_is_its_rows_and_the_shading_its_excursions(tree):
    folder, html = tree
    recording = twin.open_run(folder)
    rows = recording.frame("power").query("feeder == 'row-1'")
    of_panel = {each["name"]: each for each in charts_of(html)["feeders"]["data"] if each["xaxis"] == "x2"}
    assert unpacked(of_panel["draw"]["y"])[:-1].tolist() == (rows["draw_w"] / 1e3).tolist()
    assert unpacked(of_panel["cap"]["y"]).tolist() == [1.6, 1.6]
    begin, _, end = unpacked(of_panel["above the cap"]["x"]).reshape(-1, 6)[:, :3].T
    told = recording.manifest["metrics"]["time_over_cap_by_feeder_s"]["row-1"]
    assert float((end - begin).sum()) * 60.0 == pytest.approx(told, rel=1e-9)
    assert told > 10.0


def test_the_site_alone_has_no_such_section(tmp_path):
    html = page(twin.open_run(run_of(tmp_path / "run", stop={"cycles": 2})))
    assert "feeders" not in charts_of(html)


def test_of_many_feeders_those_longest_above_their_caps_are_drawn_and_the_others_named(tmp_path, monkeypatch):
    monkeypatch.setattr(feeder_section, "_MOST", 4)
    power = rows_of(9)
    jobs = [LLM | {"count": 9, "feeders": {"rotate": list(power["feeders"])}}]
    folder = run_of(tmp_path / "run", jobs=jobs, power=power, stop={"cycles": 2})
    html = page(twin.open_run(folder))
    assert panels(html) == ["site", "row 0", "row 7", "row 8"]
    assert "not row 1, row 2, row 3, row 4, row 5, row 6." in Page(html).text
    monkeypatch.chdir(folder)
    assert wrong_numbers(Page(html)) == []


def test_what_excursions_are_counted_against_is_drawn_where_it_is_not_the_cap(tmp_path):
    power = FLEET["power"] | {"limit": "3.6 kW", "controller": {"policy": "delayed", "delay": "3 s"}}
    html = page(twin.open_run(run_of(tmp_path / "run", power=power, stop={"cycles": 5})))
    lines = {each["name"]: each for each in charts_of(html)["power"]["data"]}
    assert unpacked(lines["limit of excursions"]["y"]).tolist() == [3.6, 3.6]
    assert unpacked(lines["cap"]["y"]).tolist() == [3.2, 3.2]


def test_names_of_feeders_are_text(tmp_path):
    name = "row & " + "x" * 50
    power = {"cap": "3.5 kW", "feeders": {name: {"cap": "1.6 kW"}}}
    html = page(
        twin.open_run(run_of(tmp_path / "run", jobs=[LLM | {"feeders": name}], power=power, stop={"cycles": 2}))
    )
    assert panels(html)[1].startswith("row &amp; xxx")
    assert "…" in panels(html)[1]
    assert re.search(r"<th>row &amp; x+…x+</th>", html)
