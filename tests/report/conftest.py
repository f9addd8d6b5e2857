"""A browser without a network, and its tabs: a test fails if a page asks for anything or complains."""

from __future__ import annotations

from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser: {CHROMIUM} is not there")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def tabs(browser, pages):
    """Open tabs by page, width and colour scheme, each with what it asked for or complained of.

    The fixture ``pages`` of the module is the folder of the pages, ``NAME.html`` each.
    """
    found = {}

    def tab_of(name, width, scheme):
        if (name, width, scheme) not in found:
            size = {"width": width, "height": 900}
            tab = browser.new_context(viewport=size, offline=True, color_scheme=scheme).new_page()
            address, complaints = (pages / f"{name}.html").as_uri(), []
            tab.on("console", lambda message: complaints.append(message.text))
            tab.on("pageerror", lambda error: complaints.append(str(error)))
            tab.on("dialog", lambda dialog: complaints.append(dialog.message))
            tab.on("request", lambda asked: complaints.append(asked.url) if asked.url != address else None)
            tab.goto(address)
            tab.wait_for_selector("html[data-drawn]")
            found[name, width, scheme] = tab, complaints
        return found[name, width, scheme]

    return tab_of


@pytest.fixture
def opened(tabs):
    """Open a page, or come back to it; the test fails if it asks for anything or complains."""
    used = []

    def open_page(name="fleet", width=1200, scheme="light"):
        tab, complaints = tabs(name, width, scheme)
        used.append(complaints)
        return tab

    yield open_page
    for complaints in used:
        assert [text for text in complaints if not text.startswith("data:")] == []
