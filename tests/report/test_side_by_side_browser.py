"""Pages of many runs and of studies in a browser: drawn fast, legible on a desk and on a phone, one zoom for all."""

from __future__ import annotations

import itertools
import time

import pytest

from tests.report.browsing import axis_range, box_of, colour, wait_until
from tests.report.studies import comparison_of, sensitivity_of, sweep_of
from twin.report.comparison_page import comparison_page
from twin.report.sensitivity_page import sensitivity_page
from twin.report.several_page import several_page
from twin.report.sweep_page import sweep_page

AXES = {"power.cap": ("W", [1e6, 2e6, 3e6, 5e6, 6e6]), "jobs[].compute": ("s", [60.0 * n for n in range(1, 7)])}
PAGES = ("compared-2", "compared-8", "compared-40", "several-2", "several-40", "sensitivity", "sweep", "sample")
_DRAWN_S = 6.0


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    html = {}
    for count in (2, 8, 40):
        study = comparison_of(folder / f"study-{count}", count)
        html[f"compared-{count}"] = comparison_page(study)
        html[f"several-{count}"] = several_page(study.traces, study.manifest["traces"])
    html["sensitivity"] = sensitivity_page(sensitivity_of(folder / "sensitivity", 9))
    html["sweep"] = sweep_page(sweep_of(folder / "sweep", AXES))
    html["sample"] = sweep_page(sweep_of(folder / "sample", AXES, sample=40))
    for name, text in html.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


def domains(tab, key, axis):
    return tab.evaluate(
        f"Object.entries(document.getElementById('chart-{key}').layout).filter(([name]) => /^{axis}axis/.test(name))"
        ".map(([, each]) => each.domain)"
    )


@pytest.mark.parametrize("name", PAGES)
def test_every_chart_is_drawn_without_a_request_or_a_complaint(opened, name):
    drawn = opened(name).evaluate(
        "[...document.querySelectorAll('.chart')].map((each) => [each.id, "
        "each.querySelector('.scatterlayer .trace, .barlayer .trace, .heatmaplayer image') !== null])"
    )
    assert len(drawn) >= 1
    assert [key for key, is_drawn in drawn if not is_drawn] == []


def test_40_variants_are_drawn_in_seconds(browser, pages):
    tab = browser.new_page()
    begun_s = time.monotonic()
    tab.goto((pages / "compared-40.html").as_uri())
    tab.wait_for_selector("html[data-drawn]")
    assert time.monotonic() - begun_s < _DRAWN_S
    tab.close()
    assert (pages / "compared-40.html").stat().st_size < 12e6


@pytest.mark.parametrize("name", ["compared-8", "compared-40", "several-40", "sensitivity", "sweep"])
def test_on_a_phone_nothing_overflows_and_panels_stand_one_below_the_other(opened, name):
    tab = opened(name, width=420)
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") == 420
    for room, width in tab.evaluate(
        "[...document.querySelectorAll('.chart')].map((each) => "
        "[each.getBoundingClientRect().width, each.querySelector('.main-svg').getBoundingClientRect().width])"
    ):
        assert width <= room + 1
    if name.endswith("8"):
        assert {tuple(domain) for domain in domains(tab, "power", "x")} == {(0, 1)}


def test_on_a_desk_panels_stand_side_by_side_and_do_not_overlap(opened):
    tab = opened("compared-40")
    across, up = domains(tab, "power", "x"), domains(tab, "power", "y")
    places = sorted(zip(map(tuple, across), map(tuple, up), strict=True))
    assert len({left for (left, _), _ in places}) == 4
    assert len(set(places)) == 40
    columns = sorted({tuple(domain) for domain in across})
    assert all(first[1] < second[0] for first, second in itertools.pairwise(columns))


def test_columns_follow_the_width_of_the_window(opened):
    tab = opened("several-2")
    assert tab.evaluate("document.getElementById('chart-power').dataset.columns") == "2"
    tab.set_viewport_size({"width": 500, "height": 900})
    wait_until(tab, "document.getElementById('chart-power').dataset.columns === '1'")
    tab.set_viewport_size({"width": 1200, "height": 900})
    wait_until(tab, "document.getElementById('chart-power').dataset.columns === '2'")


def test_a_zoom_in_one_panel_is_a_zoom_in_all(opened):
    tab = opened("compared-8")
    box = box_of(tab, "#chart-power .nsewdrag")
    before = axis_range(tab, "power")
    middle = box["y"] + box["height"] / 2
    tab.mouse.move(box["x"] + 0.25 * box["width"], middle)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.75 * box["width"], middle, steps=4)
    tab.mouse.up()
    wait_until(tab, f"document.getElementById('chart-power').layout.xaxis.range[1] < {0.9 * before[1]}")
    assert axis_range(tab, "power", "xaxis7") == axis_range(tab, "power")
    tab.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    wait_until(tab, f"document.getElementById('chart-power').layout.xaxis.range[1] > {0.99 * before[1]}")


def test_a_click_in_the_legend_hides_a_line_in_all_panels(opened):
    tab = opened("compared-8")
    box = box_of(tab, "#chart-power .legendtoggle")
    tab.mouse.click(box["x"] + 10, box["y"] + box["height"] / 2)
    hidden = "document.getElementById('chart-power').data.filter((line) => line.visible === 'legendonly').length"
    wait_until(tab, f"{hidden} >= 7")
    tab.wait_for_timeout(400)  # a second click sooner would be a double one
    tab.mouse.click(box["x"] + 10, box["y"] + box["height"] / 2)
    wait_until(tab, f"{hidden} === 0")


def test_the_theme_changes_tables_and_charts(opened):
    tab = opened("compared-2")
    places = ((".wide thead th", "background-color"), ("#chart-differences text", "fill"), ("body", "background-color"))
    light = [colour(tab, *place) for place in places]
    tab.click("#theme")
    dark = [colour(tab, *place) for place in places]
    tab.click("#theme")
    assert all(one != other for one, other in zip(light, dark, strict=True))


def test_numbers_in_a_heat_map_stand_out_from_their_cells_in_either_theme(opened):
    for scheme in ("light", "dark"):
        tab = opened("sweep", scheme=scheme)
        inks = set(
            tab.evaluate(
                "[...document.querySelectorAll('.heatmap-label text')].map((each) => getComputedStyle(each).fill)"
            )
        )
        assert len(inks) == 2  # dark on pale cells, pale on dark ones


def test_the_first_column_of_a_wide_table_stays_when_it_scrolls(opened):
    tab = opened("compared-40")
    place = "#headline .wide"
    before = tab.locator(f"{place} tbody th").first.bounding_box()["x"]
    tab.evaluate(f"document.querySelector('{place}').scrollLeft = 600")
    assert tab.evaluate(f"document.querySelector('{place}').scrollLeft") == 600
    assert tab.locator(f"{place} tbody th").first.bounding_box()["x"] == pytest.approx(before, abs=1.5)


def test_on_paper_panels_fit_the_page(opened):
    tab = opened("compared-8", scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    wait_until(tab, "document.querySelector('#chart-power .main-svg').getBoundingClientRect().width <= 680")
    assert tab.evaluate("document.getElementById('chart-power').dataset.columns") == "1"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    wait_until(tab, "document.getElementById('chart-power').dataset.columns === '3'")


def test_text_of_the_user_makes_no_tag(opened):
    tab = opened("compared-8")
    assert tab.title() == "small <study> - racktwin report"
    assert tab.locator("#variants b").count() == 0
    assert '<b>"delayed" & 50 %</b> é' in tab.locator("#chart-phases .annotation-text").nth(1).text_content()
