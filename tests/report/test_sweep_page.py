"""The page of a sweep: lines, heat maps or clouds by its axes, and every number the value of its query."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.report.html_page import Page, charts_of, trace, unpacked, wrong_numbers
from tests.report.studies import ODD, sweep_of
from twin.report import sweep_charts
from twin.report import sweep_page as module
from twin.report.sweep_page import sweep_page

CAP = {"power.cap": ("W", [1e6, 2e6, 3e6, 5e6, 6e6])}
COMPUTE = {"jobs[].compute": ("s", [600.0, 1200.0, 1800.0, 3600.0, 7200.0, 9000.0])}
POLICY = {"power.controller.policy": ("", ["none", ODD, "delayed"])}
SHARE = {"storage.share": ("", ["job", "node"])}
DELAY = {"power.controller.delay": ("s", [float(value) for value in range(1, 14)])}
SWEEPS = {
    "one axis": (CAP, {}),
    "words": (POLICY, {}),
    "two axes": (CAP | COMPUTE, {}),
    "numbers and words": (CAP | POLICY, {}),
    "facets": (CAP | COMPUTE | SHARE, {}),
    "too many facets": (CAP | SHARE | DELAY, {}),
    "one replica": (CAP | COMPUTE, {"replicas": 1}),
    "sample": (CAP | COMPUTE, {"sample": 32}),
}


@pytest.fixture(scope="module", params=SWEEPS)
def swept(request, tmp_path_factory):
    """Its name, its folder, the sweep and its page."""
    axes, more = SWEEPS[request.param]
    folder = tmp_path_factory.mktemp("sweep")
    sweep = sweep_of(folder, axes, **more)
    return request.param, folder, sweep, sweep_page(sweep)


def test_every_number_is_the_value_of_its_query(swept, monkeypatch):
    monkeypatch.chdir(swept[1])
    assert wrong_numbers(Page(swept[3])) == []


def test_figures_have_only_keys_that_plotly_knows(swept):
    charts = charts_of(swept[3])
    assert charts.keys() == {"goodput", "time-over-cap-s", "peak-power-w"}  # of no point is the energy known
    for figure in charts.values():
        go.Figure(figure)  # raises ValueError for any other


def test_axes_have_units(swept):
    layout = charts_of(swept[3])["goodput"]["layout"]
    titles = [axis["title"]["text"] for name, axis in layout.items() if name.startswith(("xaxis", "yaxis"))]
    if swept[0] in ("one axis", "sample", "too many facets"):
        assert "goodput [%]" in titles
        assert "power.cap [MW]" in titles


def page_of(folder, axes, **more):
    return sweep_page(sweep_of(folder, axes, **more))


def test_one_axis_is_a_line_of_means_with_intervals(tmp_path):
    line = charts_of(page_of(tmp_path, CAP))["time-over-cap-s"]["data"][0]
    assert line["mode"] == "lines+markers"
    assert unpacked(line["x"]).tolist() == [1.0, 2.0, 5.0, 6.0]  # MW; the third point failed
    means = unpacked(line["y"])
    assert means[[0, 2, 3]].tolist() == [1.0, 31.0, 41.0]  # of 0, 1, 2; of 30, 31, 32; ...
    assert np.isnan(means[1])
    # Student's t of three values 1 apart: 4.303 / sqrt(3)
    assert unpacked(line["error_y"]["array"])[0] == pytest.approx(4.30265 / 3**0.5, rel=1e-5)


def test_an_axis_of_words_is_marks_in_the_order_of_the_sweep(tmp_path):
    figure = charts_of(page_of(tmp_path, POLICY | {}))["goodput"]
    assert figure["data"][0]["mode"] == "markers"
    assert figure["layout"]["xaxis"]["ticktext"][0] == "none"
    assert figure["layout"]["xaxis"]["ticktext"][1].startswith("&lt;b&gt;")


def test_two_axes_are_a_heat_map_of_the_means_with_a_scale_of_colours(tmp_path):
    figure = charts_of(page_of(tmp_path, CAP | COMPUTE))["time-over-cap-s"]
    (heat,) = figure["data"]
    z = unpacked(heat["z"])
    assert z.shape == (6, 5)  # compute upwards, the cap across
    assert z[0, 0] * 60.0 == 1.0
    assert z[5, 4] * 60.0 == pytest.approx(291.0)  # point 29, replicas of 290, 291, 292
    assert np.isnan(z[1, 0])
    assert np.isnan(z[2, 0])
    assert heat["showscale"]
    assert heat["colorbar"]["title"]["text"] == "min"
    assert figure["layout"]["xaxis"]["ticktext"] == ["1 MW", "2 MW", "3 MW", "5 MW", "6 MW"]


def test_a_short_axis_or_one_of_words_is_a_line_for_each_value(tmp_path):
    figure = charts_of(page_of(tmp_path / "a", CAP | POLICY))["goodput"]
    assert next(line["name"] for line in figure["data"]) == "power.controller.policy none"
    assert len(figure["data"]) == 3
    assert len({line["marker"]["symbol"] for line in figure["data"]}) == 3
    short = {"power.controller.delay": ("s", [1.0, 2.0, 5.0])}
    figure = charts_of(page_of(tmp_path / "b", CAP | short))["goodput"]
    assert [line["name"] for line in figure["data"]] == [f"power.controller.delay {value} s" for value in (1, 2, 5)]


def test_a_third_axis_is_a_panel_for_each_value_on_one_scale_of_colours(tmp_path):
    figure = charts_of(page_of(tmp_path, CAP | COMPUTE | SHARE))["goodput"]
    assert [each["text"] for each in figure["layout"]["annotations"]] == ["storage.share job", "storage.share node"]
    assert len({(heat["zmin"], heat["zmax"]) for heat in figure["data"]}) == 1
    assert [heat["showscale"] for heat in figure["data"]] == [True, False]


def test_a_sample_is_a_cloud_against_each_axis(tmp_path):
    figure = charts_of(page_of(tmp_path, CAP | COMPUTE, sample=32))["goodput"]
    assert [each["text"] for each in figure["layout"]["annotations"]] == ["power.cap", "jobs[].compute"]
    assert [len(unpacked(cloud["x"])) for cloud in figure["data"]] == [31, 31]


def test_a_large_sample_is_drawn_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_charts, "_MOST_MARKS", 10)
    html = page_of(tmp_path, CAP | COMPUTE, sample=32)
    assert "About 10 of them are drawn" in Page(html).text
    assert len(unpacked(charts_of(html)["goodput"]["data"][0]["x"])) <= 10


def test_the_table_is_bounded_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_ROWS", 4)
    read = Page(page_of(tmp_path, CAP | COMPUTE))
    assert "The first 4 of 29 points are shown; the rest are in sweep.parquet." in read.text
    assert len({cell.query for cell in read.cells}) == 3  # the second one knows nothing


def test_points_without_a_result_are_said(tmp_path):
    assert "1 of 5 points have no result" in Page(page_of(tmp_path, CAP)).text


def test_other_metrics_may_be_asked_for(tmp_path):
    html = sweep_page(sweep_of(tmp_path, CAP), ["peak_power_w"])
    assert charts_of(html).keys() == {"peak-power-w"}


def test_a_sweep_of_no_results_has_a_page(tmp_path):
    sweep = sweep_of(tmp_path, CAP)
    html = sweep_page(type(sweep)(sweep.manifest, sweep.table.slice(0, 0)))
    assert charts_of(html) == {}
    assert "No point knows any of the numbers asked for" in Page(html).text


def test_words_of_the_user_are_text(tmp_path):
    html = page_of(tmp_path, CAP | POLICY)
    assert '<b>"delayed' not in html
    assert (
        trace(charts_of(html)["goodput"], charts_of(html)["goodput"]["data"][1]["name"])["name"].count("&lt;b&gt;") == 1
    )
