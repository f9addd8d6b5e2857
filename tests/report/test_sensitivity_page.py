"""The page of a sensitivity study: a tornado, the widest swing on top, pale where it may be chance."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.report.html_page import Page, charts_of, trace, unpacked, wrong_numbers
from tests.report.studies import sensitivity_of
from twin.report import sensitivity_page as module
from twin.report.sensitivity_page import sensitivity_page


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A study of eight guesses, its folder and its page."""
    folder = tmp_path_factory.mktemp("sensitivity")
    study = sensitivity_of(folder, 8)
    return folder, study, sensitivity_page(study)


def test_every_number_is_the_value_of_its_query(studied, monkeypatch):
    monkeypatch.chdir(studied[0])
    assert wrong_numbers(Page(studied[2])) == []


def test_figures_have_only_keys_that_plotly_knows(studied):
    go.Figure(charts_of(studied[2])["tornado"])


def test_the_widest_swing_is_on_top_and_bars_go_both_ways(studied):
    figure = charts_of(studied[2])["tornado"]
    low, high = (unpacked(trace(figure, name)["x"]) for name in ("moved down", "moved up"))
    swings = np.abs(high - low)
    assert (np.diff(swings) < 0.0).all()
    assert (low > 0.0).all()
    assert (high < 0.0).all()
    assert figure["layout"]["yaxis"]["range"][0] > figure["layout"]["yaxis"]["range"][1]  # the first row on top


def test_a_bar_is_the_difference_with_its_interval_as_whiskers(studied):
    _, study, html = studied
    bar = trace(charts_of(html)["tornado"], "moved down")
    rows = [row for row in study.table.to_pylist() if row["swing"] is not None]
    for place, row in enumerate(rows):
        middle, up, down = (
            float(values[place]) / 100.0
            for values in (
                unpacked(bar["x"]),
                unpacked(bar["error_x"]["array"]),
                unpacked(bar["error_x"]["arrayminus"]),
            )
        )
        told = row["difference_low"], row["difference_low_high"], row["difference_low_low"]
        assert (middle, middle + up, middle - down) == pytest.approx(told, rel=1e-9)


def test_bars_whose_interval_holds_0_are_pale(studied):
    _, study, html = studied
    figure = charts_of(html)["tornado"]
    rows = [row for row in study.table.to_pylist() if row["swing"] is not None]
    for side, name in (("low", "moved down"), ("high", "moved up")):
        holds_0 = [row[f"difference_{side}_low"] <= 0.0 <= row[f"difference_{side}_high"] for row in rows]
        opacity = trace(figure, name)["marker"]["opacity"]
        assert [shown < 1.0 for shown in opacity] == holds_0
        assert set(holds_0) == {True, False}


def test_labels_are_the_key_and_the_two_values(studied):
    labels = charts_of(studied[2])["tornado"]["layout"]["yaxis"]["ticktext"]
    assert labels[0] == "<b>checkpoint.size-0</b><br>30 GB / 50 GB"
    assert "&lt;b&gt;" in labels[1]
    assert len(labels) == 7  # the eighth could not be moved


def test_a_guess_that_could_not_be_moved_is_in_the_table_with_the_reason(studied):
    assert "no room" in Page(studied[2]).text


def test_what_to_measure_first_is_said(studied):
    assert "Measure first: jobs[].checkpoint.size-0 swings goodput by 5" in Page(studied[2]).text


def test_more_guesses_than_bars_are_said_to_be_left_out(studied, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BARS", 3)
    html = sensitivity_page(studied[1])
    assert "The 3 widest are drawn; 4 more are in the table." in Page(html).text
    assert len(unpacked(charts_of(html)["tornado"]["data"][0]["x"])) == 3


def test_a_study_in_which_nothing_moved_has_a_page(tmp_path):
    html = sensitivity_page(sensitivity_of(tmp_path, 1))
    assert charts_of(html) == {}
    assert "No guess could be moved" in Page(html).text


def test_one_replica_has_bars_and_no_interval(tmp_path):
    study = sensitivity_of(tmp_path, 3)
    ends = [f"difference_{side}_{end}" for side in ("low", "high") for end in ("low", "high")]
    rows = [row | dict.fromkeys(ends) for row in study.table.to_pylist()]
    html = sensitivity_page(type(study)(study.manifest, study.table.from_pylist(rows, study.table.schema)))
    assert np.isnan(unpacked(charts_of(html)["tornado"]["data"][0]["error_x"]["array"])).all()
