"""What all pages share: head, header, navigation, sections with their notes, and scripts. A page loads nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from twin.report.plotly_bundle import plotly_script
from twin.report.section import Section

GENERATOR = "racktwin report"  # the mark by which a page is known as one of ours

_TALL_PX = 960  # a chart taller than that scrolls in its frame
# The browser itself is told to load nothing from anywhere.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

Place = tuple[str, str]  # anchor and title of an entry of the navigation


def document(
    name: str, version: str, header: str, places: Sequence[Place], main: str, footer: str, sections: Iterable[Section]
) -> str:
    """One HTML document, complete in itself.

    Args:
        name: of what the page is about, as text.
        version: of racktwin.
        header, main, footer: HTML.
        sections: whose charts the page draws; their places are within ``main``.
    """
    charts = {section.key: section.figure for section in sections if section.figure is not None}
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="{GENERATOR}, {escape(version)}">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(name)} - racktwin report</title>
<link rel="icon" href="data:,">
<style>{_asset("page.css")}</style>
</head>
<body>
{header}
{_navigation(places)}
<main>
{main}
</main>
<footer>racktwin {escape(version)}, {footer} This page is complete: it loads nothing.</footer>
<script>{plotly_script()}</script>
<script type="application/json" id="charts">{_json(charts)}</script>
<script>{_asset("page.js")}</script>
</body>
</html>
"""


def opening(name: str, question: str | None, lines: str, about: str) -> str:
    """The header of a page.

    Args:
        name, question, about: text.
        lines: HTML between the question and what the page is about.
    """
    return f"""<header>
<div class="eyebrow"><span>racktwin report</span><button id="theme" type="button">Theme</button></div>
<h1>{escape(name)}</h1>
{f'<p class="question">{escape(question)}</p>' if question else ""}
{lines}
<p class="about">{escape(about)}</p>
</header>"""


def places_of(sections: Iterable[Section]) -> list[Place]:
    """The entries of sections in the navigation."""
    return [(section.key, section.key.replace("-", " ").capitalize()) for section in sections]


def section_html(section: Section) -> str:
    """A section: how to read it, its numbers in sight, its chart, and its note."""
    seen = "".join(
        f"<div><dt>{escape(reading.label)}</dt><dd>{escape(reading.shown())}</dd></div>"
        for reading in section.readings
        if reading.in_sight
    )
    chart = ""
    if section.figure is not None:
        height_px = section.figure["layout"]["height"]
        is_grid = "meta" in section.figure["layout"]
        frame = "panels" if is_grid else "scroll" if height_px > _TALL_PX else "frame"
        place = f'<div class="chart" id="chart-{section.key}" style="min-height:{height_px}px"></div>'
        chart = f'<div class="{frame}">{place}</div>'
    return f"""<section id="{section.key}">
<h2>{escape(section.title)}</h2>
<p>{escape(section.reads)}</p>
{f'<dl class="readings">{seen}</dl>' if seen else ""}
{section.html}{chart}{section.below}
{_note(section)}
</section>
"""


def text_html(key: str, title: str, html: str) -> str:
    """A section of tables and text."""
    return f'<section id="{key}" class="long"><h2>{escape(title)}</h2>{html}</section>'


def in_words_html(lines: Iterable[str], warnings: Iterable[str] = ()) -> str:
    """The section of sentences that opens a page."""
    items = "".join(f"<li>{escape(line[:1].upper() + line[1:])}</li>" for line in lines)
    items += "".join(f'<li class="warning">warning: {escape(line)}</li>' for line in dict.fromkeys(warnings))
    return f'<section id="verdicts"><h2>In words</h2><ul class="verdicts">{items}</ul></section>'


def preamble_html(where: str, statements: str) -> str:
    """The section that tells how to get every number again.

    Args:
        where: the folder in which the statements are run, as text.
    """
    return text_html(
        "queries",
        "How to get every number again",
        f"<p>{escape(where)}, with pandas; then the set-up of a section, then its queries. The tables are Parquet, "
        "and the metadata of each column holds its unit and meaning.</p>"
        f'<pre id="preamble">{escape(statements)}</pre>',
    )


def _navigation(places: Iterable[Place]) -> str:
    links = "".join(f'<a href="#{key}">{escape(title)}</a>' for key, title in places)
    return f'<nav aria-label="Sections"><div>{links}</div></nav>'


def _note(section: Section) -> str:
    rows = "".join(
        f'<tr data-value="{reading.value!r}"><th>{escape(reading.label)}</th>'
        f'<td class="number">{escape(reading.shown())}</td><td><code>{escape(reading.query)}</code></td></tr>'
        for reading in section.readings
    )
    setup = f'<pre class="setup">{escape(section.setup)}</pre>'
    return (
        f'<details class="note"><summary>Definition, unit and queries</summary><p>{escape(section.definition)}</p>'
        f'{setup}<div class="table"><table class="queries stacked"><tbody>{rows}</tbody></table></div></details>'
    )


def _json(found: Mapping[str, Any]) -> str:
    """JSON that may stand in a script: no text in it can end the element."""
    return json.dumps(found, allow_nan=False, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return files("twin.report").joinpath(name).read_text(encoding="utf-8")
