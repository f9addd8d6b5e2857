"""The page of a comparison: paired differences first, goodput beside its price, every number the value of its query."""

from __future__ import annotations

import re
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from tests.report.html_page import Page, charts_of, trace, unpacked, wrong_numbers
from tests.report.studies import LONG, ODD, comparison_of
from twin.report.comparison_page import comparison_page


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A comparison of four variants, its folder and its page."""
    folder = tmp_path_factory.mktemp("comparison")
    study = comparison_of(folder, 4)
    return folder, study, comparison_page(study)


def dots(figure, kind):
    """Numbers of the rows, and their differences, of the first panel."""
    found = trace(figure, kind)
    return unpacked(found["y"]).tolist(), unpacked(found["x"])


def test_every_number_is_the_value_of_its_query(compared, monkeypatch):
    monkeypatch.chdir(compared[0])
    assert wrong_numbers(Page(compared[2])) == []


def test_figures_have_only_keys_that_plotly_knows(compared):
    for figure in charts_of(compared[2]).values():
        go.Figure(figure)  # raises ValueError for any other


def test_every_headline_metric_that_is_known_has_a_panel_of_differences(compared):
    panels = [each["text"] for each in charts_of(compared[2])["differences"]["layout"]["annotations"]]
    assert panels == ["goodput", "time over the cap", "energy over the cap", "checkpoint duration P99"]


def test_a_dot_is_the_paired_difference_and_its_whisker_the_interval(compared):
    _, study, html = compared
    figure = charts_of(html)["differences"]
    rows = {(row["variant"], row["metric"]): row for row in study.table.to_pylist() if not row["item"]}
    names = [name for name in study.traces if name != "as written"]
    drawn = {}
    for kind in ("clear difference", "open", "tie"):
        found = trace(figure, kind)
        for place, middle, up in zip(
            unpacked(found["y"]), unpacked(found["x"]), unpacked(found["error_x"]["array"]), strict=True
        ):
            drawn[names[place]] = middle / 100.0, (middle + up) / 100.0
    for name in names:
        row = rows[name, "goodput"]
        assert drawn[name] == pytest.approx((row["difference"], row["difference_high"]), rel=1e-9)


def test_a_tie_is_a_mark_on_0_that_is_named(compared):
    figure = charts_of(compared[2])["differences"]
    rows, differences = dots(figure, "tie")
    assert rows == [2]
    assert differences.tolist() == [0.0]
    assert trace(figure, "tie")["text"] == ["tie"]


def test_an_open_difference_is_pale_and_says_what_it_would_take(compared):
    figure = charts_of(compared[2])["differences"]
    assert trace(figure, "open")["opacity"] < 1.0
    assert "replicas would tell" in Page(compared[2]).text


def test_goodput_stands_against_time_and_energy_over_the_cap_with_every_variant(compared):
    figure = charts_of(compared[2])["price"]
    assert [each["text"] for each in figure["layout"]["annotations"]] == ["time over the cap", "energy over the cap"]
    time_over, energy_over = (
        {each["name"]: each for each in figure["data"] if each["xaxis"] == axis} for axis in ("x", "x2")
    )
    assert time_over.keys() == energy_over.keys()
    assert len(time_over) == 4
    assert len({each["marker"]["symbol"] for each in time_over.values()}) == 4
    assert [unpacked(each["x"]).tolist() for each in time_over.values()] == [[0.0], [20.0], [40.0], [0.0]]
    assert unpacked(time_over["delay-3"]["y"]) == unpacked(time_over["baseline"]["y"])  # the tie


def test_many_variants_are_numbered_in_charts_as_in_the_table(tmp_path):
    study = comparison_of(tmp_path, 12, replicas=2)
    html = comparison_page(replace(study, traces={}))
    assert trace(charts_of(html)["price"], "variants")["text"] == [str(number) for number in range(2, 13)]
    assert "12. delay-11" in Page(html).text


def test_without_traces_the_page_has_the_numbers_only(compared):
    html = comparison_page(replace(compared[1], traces={}))
    assert charts_of(html).keys() == {"differences", "price"}
    assert "replica 0" not in Page(html).text


def test_charts_of_traces_are_said_to_be_of_replica_0(compared):
    assert charts_of(compared[2]).keys() >= {"phases", "power", "writers", "checkpoint-times"}
    assert "From here on replica 0 of each variant" in Page(compared[2]).text


def test_one_replica_has_differences_and_no_interval(tmp_path):
    study = comparison_of(tmp_path, 3, replicas=1)
    html = comparison_page(study)
    assert "no interval" in Page(html).text
    assert charts_of(html)["differences"]["data"]


def test_a_baseline_alone_has_its_means(tmp_path):
    html = comparison_page(comparison_of(tmp_path, 1, replicas=2))
    assert "differences" not in charts_of(html)
    assert "price" in charts_of(html)


def test_names_of_the_user_are_text_and_short(compared):
    html = compared[2]
    assert '<b>"' not in html
    assert "<study>" in Page(html).text
    for text in charts_of(html)["differences"]["layout"]["yaxis"]["ticktext"]:
        assert len(text) < 40
    assert ODD[:10] in Page(html).text
    assert LONG not in Page(re.sub(r"<code>.*?</code>|<pre.*?</pre>", "", html, flags=re.DOTALL)).text


def test_the_risk_that_variants_are_matched_at_is_said(compared):
    assert "compared at equal risk" in Page(compared[2]).text
    assert "caps x 0.98, at the risk asked for" in Page(compared[2]).text
