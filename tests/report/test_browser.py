"""The page in a browser without a network: it draws, zooms, toggles, changes theme, fits a phone and paper."""

from __future__ import annotations

import re

import pytest

import twin
from tests.report.browsing import axis_range, box_of, colour, wait_until
from tests.report.fleets import replay_of, run_of
from twin.report.page import page


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files: a fleet, and a replay whose log and texts try to be more than text."""
    folder = tmp_path_factory.mktemp("pages")
    runs = {
        "fleet": run_of(folder / "fleet", stop={"cycles": 400}),
        "replay": replay_of(folder / "replay", question="</script><script>document.title = 'broken'</script>"),
    }
    for name, run in runs.items():
        (folder / f"{name}.html").write_text(page(twin.open_run(run)), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["fleet", "replay"])
def test_every_chart_is_drawn_without_a_request_or_a_complaint(opened, name):
    drawn = opened(name).evaluate(
        "[...document.querySelectorAll('.chart')].map((each) => [each.id, "
        "each.querySelector('.scatterlayer .trace, .barlayer .trace, .heatmaplayer image') !== null])"
    )
    assert len(drawn) >= 7
    assert [key for key, is_drawn in drawn if not is_drawn] == []


def test_the_browser_is_told_to_refuse_any_request(browser, pages):
    tab = browser.new_page()
    tab.goto((pages / "fleet.html").as_uri())
    tab.evaluate("addEventListener('securitypolicyviolation', (found) => { window.refused = found.blockedURI; })")
    assert tab.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')") == "refused"
    wait_until(tab, "window.refused === 'https://example.org/'")
    tab.close()


def test_no_button_of_a_chart_sends_its_data_away(opened):
    tab = opened("fleet")
    buttons = set(tab.evaluate("[...document.querySelectorAll('.modebar-btn')].map((button) => button.dataset.title)"))

    assert "download plot as a png" in {button.lower() for button in buttons}
    assert {title for title in buttons if re.search("cloud|share|edit|send|upload", title, re.IGNORECASE)} == set()


def test_dragging_zooms_and_a_double_click_returns(opened):
    tab = opened()
    box = box_of(tab, "#chart-store .nsewdrag")
    before = axis_range(tab, "store")
    middle = box["y"] + box["height"] / 2
    tab.mouse.move(box["x"] + 0.25 * box["width"], middle)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.75 * box["width"], middle, steps=5)
    tab.mouse.up()
    wait_until(
        tab,
        f"document.getElementById('chart-store').layout.xaxis.range[1] < {before[1]} - 0.2 * {before[1] - before[0]}",
    )
    assert axis_range(tab, "store")[1] - axis_range(tab, "store")[0] == pytest.approx(
        0.5 * (before[1] - before[0]), rel=0.05
    )  # a pixel or two at either end
    tab.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    wait_until(tab, f"document.getElementById('chart-store').layout.xaxis.range[1] > 0.99 * {before[1]}")


def test_a_click_in_the_legend_hides_a_line_and_its_band(opened):
    tab = opened()
    box = box_of(tab, "#chart-power .legendtoggle")
    tab.mouse.click(box["x"] + 10, box["y"] + box["height"] / 2)
    hidden = "document.getElementById('chart-power').data.filter((line) => line.visible === 'legendonly').length"
    wait_until(tab, f"{hidden} === 2")
    tab.wait_for_timeout(400)  # a second click sooner would be a double one
    tab.mouse.click(box["x"] + 10, box["y"] + box["height"] / 2)
    wait_until(tab, f"{hidden} === 0")


def test_the_theme_follows_the_system_and_the_button(opened):
    light, dark = opened(), opened(scheme="dark")
    for tab, other in ((light, dark), (dark, light)):
        tab.click("#theme")
        for selector, what in (("body", "background-color"), ("#chart-store text", "fill"), ("section", "color")):
            assert colour(tab, selector, what) == colour(other, selector, what), selector
        tab.click("#theme")
        for selector, what in (("body", "background-color"), ("#chart-store text", "fill"), ("section", "color")):
            assert colour(tab, selector, what) != colour(other, selector, what), selector


@pytest.mark.parametrize("name", ["fleet", "replay"])
def test_at_400_pixels_nothing_overflows(opened, name):
    tab = opened(name, width=400)
    assert tab.evaluate("document.documentElement.scrollWidth") == 400
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") == 400
    charts = tab.evaluate(
        "[...document.querySelectorAll('.chart')].map((each) => "
        "[each.getBoundingClientRect().width, each.querySelector('.main-svg').getBoundingClientRect().width])"
    )
    for room, width in charts:
        assert width <= room + 1


def test_charts_follow_the_width_of_the_window(opened):
    tab = opened()
    tab.set_viewport_size({"width": 700, "height": 900})
    wait_until(tab, "document.querySelector('#chart-store .main-svg').getBoundingClientRect().width < 700")
    tab.set_viewport_size({"width": 1200, "height": 900})
    wait_until(tab, "document.querySelector('#chart-store .main-svg').getBoundingClientRect().width > 900")


def test_print_is_dark_on_white_with_every_note_open_and_then_all_is_as_before(opened):
    tab = opened(scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print", color_scheme="dark")
    assert colour(tab, "body", "background-color") == "rgb(255, 255, 255)"
    assert colour(tab, "section", "color") == "rgb(0, 0, 0)"
    assert colour(tab, "nav", "display") == "none"
    assert tab.locator("details:not([open])").count() == 0
    wait_until(tab, "document.querySelector('#chart-store .main-svg').getBoundingClientRect().width <= 680")
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    tab.emulate_media(media="screen")
    assert tab.locator("details[open]").count() == 0
    wait_until(tab, "document.querySelector('#chart-store .main-svg').getBoundingClientRect().width > 900")


def test_text_of_the_user_runs_no_script_and_makes_no_tag(opened):
    tab = opened("replay")
    assert tab.title() == "replay - racktwin report"
    assert "<script>document.title = 'broken'</script>" in tab.inner_text("header")
    assert "<b>bold</b>" in tab.locator("#chart-timeline").text_content()


def test_a_chart_of_many_rows_scrolls_in_its_frame(opened):
    heights = opened("replay").evaluate(
        "[...document.querySelectorAll('.scroll')].map((each) => [each.clientHeight, each.scrollHeight])"
    )
    assert all(shown <= 960 < whole for shown, whole in heights)
