"""Runs side by side: common axes, a column for each run, and every number the value of its query."""

from __future__ import annotations

import re

import numpy as np
import plotly.graph_objects as go
import pytest

import twin
from tests.report.fleets import run_of
from tests.report.html_page import Page, charts_of, trace, unpacked, wrong_numbers
from tests.report.studies import LONG, ODD, runs_of, tree_of
from twin.report import several_sections
from twin.report.several_page import several_page


def page_of(runs, beside):
    """The page of run directories, as it would lie in the folder ``beside``."""
    recordings = {name: twin.open_run(run) for name, run in runs.items()}
    return several_page(recordings, {name: str(run.relative_to(beside)) for name, run in runs.items()})


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Four runs of unequal length and fleet, one with feeders, and their page."""
    folder = tmp_path_factory.mktemp("several")
    runs = runs_of(folder, 3) | {"tree": tree_of(folder / "tree", stop={"cycles": 8})}
    return folder, runs, page_of(runs, folder)


def test_every_number_is_the_value_of_its_query(several, monkeypatch):
    monkeypatch.chdir(several[0])
    assert wrong_numbers(Page(several[2])) == []


def test_every_chart_has_a_note_with_a_definition_and_queries(several):
    read, charts = Page(several[2]), charts_of(several[2])
    assert charts.keys() == {"phases", "power", "feeder-1", "feeder-2", "writers", "checkpoint-times"}
    for key in charts:
        assert read.notes[key].setup
        assert read.notes[key].queries


def test_figures_have_only_keys_that_plotly_knows(several):
    for figure in charts_of(several[2]).values():
        go.Figure(figure)  # raises ValueError for any other


def test_panels_of_all_runs_share_their_axes(several):
    for key in ("phases", "power"):
        layout = charts_of(several[2])[key]["layout"]
        assert [layout[f"{axis}axis{number}"]["matches"] for axis in "xy" for number in (2, 3, 4)] == ["x"] * 3 + [
            "y"
        ] * 3
        assert layout["meta"]["panels"] == 4


def test_the_common_time_is_that_of_the_longest_run(several):
    _, runs, html = several
    longest_s = max(twin.open_run(run).manifest["simulated_end_s"] for run in runs.values())
    layout = charts_of(html)["power"]["layout"]
    assert layout["xaxis"]["title"]["text"] == "time [min]"
    assert layout["xaxis"]["range"] == [0.0, longest_s / 60.0]


def test_a_line_of_power_is_the_rows_of_its_run(several):
    _, runs, html = several
    recording = twin.open_run(runs[ODD])
    rows = recording.frame("power")
    panel = next(line for line in charts_of(html)["power"]["data"] if line["xaxis"] == "x2" and line["name"] == "draw")
    assert unpacked(panel["y"])[:-1].tolist() == (rows["draw_w"] / 1e3).tolist()


def test_the_shading_is_the_time_above_the_cap(several):
    _, runs, html = several
    over_s = twin.open_run(runs[LONG]).manifest["metrics"]["time_over_cap_s"]
    shading = [
        each for each in charts_of(html)["power"]["data"] if each["xaxis"] == "x3" and each["name"] == "above the cap"
    ]
    begin, _, end = unpacked(shading[0]["x"]).reshape(-1, 6)[:, :3].T
    assert float((end - begin).sum()) * 60.0 == pytest.approx(over_s, rel=1e-9)  # differences of times near 1,000 s
    assert over_s > 10.0


def test_a_run_never_above_its_cap_has_no_shading(several):
    names = [each["name"] for each in charts_of(several[2])["power"]["data"] if each["xaxis"] == "x"]
    assert names == ["draw", "cap"]


def test_scenarios_are_told_apart_by_the_keys_that_differ(several):
    html = several[2]
    table = html[html.index("How the scenarios differ") : html.index('id="headline"')]
    keys = re.findall(r"<th title=\"\">(.*?)</th>", table)
    assert "stop.cycles" in keys
    assert "power.controller.delay" in keys
    assert "power.feeders.row-1.cap" in keys
    assert "storage.bandwidth" not in keys  # it is the same in all
    assert "1.6 kW" in table


def test_runs_that_do_not_differ_are_said_not_to(tmp_path):
    run = run_of(tmp_path / "run", stop={"cycles": 2})
    assert "Not at all, as resolved." in page_of({"a": run, "b": run}, tmp_path)


def test_names_of_the_user_are_text_and_short(several):
    html = several[2]
    assert "<b>" not in html.replace("<b>Answer", "")
    assert ODD.replace("\u202e", "").strip() in Page(html).text
    panels = [each["text"] for each in charts_of(html)["phases"]["layout"]["annotations"]]
    assert panels[1] == '&lt;b&gt;"delayed" &amp; 50 %&lt;/b&gt; é '
    assert max(len(text) for text in panels) <= 60
    assert "\u202e" not in "".join(panels)


def test_many_fires_are_counted_on_one_scale_of_colours(several, monkeypatch):
    for name in ("_MARKS", "_LEAST_MARKS", "_MOST_MARKS"):
        monkeypatch.setattr(several_sections, name, 10)
    heats = charts_of(page_of(several[1], several[0]))["phases"]["data"]
    assert {heat["type"] for heat in heats} == {"heatmap"}
    assert len({heat["zmax"] for heat in heats}) == 1
    assert max(float(np.nanmax(unpacked(heat["z"]))) for heat in heats) == pytest.approx(heats[0]["zmax"])


def test_curves_that_reach_furthest_stand_out_of_many(several, tmp_path, monkeypatch):
    monkeypatch.setattr(several_sections, "OF_GROUPS", ["#000000"])
    figure = charts_of(page_of(several[1], several[0]))["writers"]
    lengths = {line["name"]: len(unpacked(line["x"])) for line in figure["data"]}
    (named,) = [line["name"] for line in figure["data"] if line.get("showlegend", True)]
    assert lengths[named] == max(lengths.values())
    assert len(lengths) == 4


def test_runs_without_tables_still_have_their_numbers(tmp_path):
    recording = twin.simulate(twin.load(runs_scenario()), tables=["jobs"])
    html = several_page({"a": recording, "b": recording}, {"a": "a", "b": "b"})
    assert charts_of(html).keys() == set()
    assert "peak nodes in use" in html


def runs_scenario():
    return {"twin": 1, "name": "pair", "stop": {"cycles": 2}, "jobs": [{"name": "llm", "count": 2}]}


def test_the_same_runs_give_the_same_page(several):
    assert page_of(several[1], several[0]) == several[2]


def test_each_trace_is_in_the_legend_once(several):
    figure = charts_of(several[2])["power"]
    shown = [line["name"] for line in figure["data"] if line["showlegend"]]
    assert sorted(shown) == ["above the cap", "cap", "draw"]
    assert trace(figure, "draw")["legendgroup"] == "draw"
