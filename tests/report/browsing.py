"""What is done to a page in a tab, and read of it."""

from __future__ import annotations

import time


def wait_until(tab, expression):
    """Wait for an expression to be true; the page itself is not allowed to evaluate text."""
    end_s = time.monotonic() + 30.0
    while not tab.evaluate(expression):
        assert time.monotonic() < end_s, expression
        tab.wait_for_timeout(50)


def axis_range(tab, key, axis="xaxis"):
    return tab.evaluate(f"document.getElementById('chart-{key}').layout.{axis}.range")


def box_of(tab, selector):
    place = tab.locator(selector).first
    place.scroll_into_view_if_needed()
    return place.bounding_box()


def colour(tab, selector, what="color"):
    return tab.evaluate(f"getComputedStyle(document.querySelector('{selector}'))['{what}']")
