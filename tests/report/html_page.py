"""A page read back: its notes, and its charts with their numbers unpacked."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import dataclass, field
from html.parser import HTMLParser
from math import isclose
from typing import Any, NamedTuple

import numpy as np


@dataclass
class Note:
    """Set-up and queries of a section, with the values that the page shows."""

    setup: str = ""
    values: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


class Cell(NamedTuple):
    """A cell of a wide table: its section, the query of its row, what it is of, and the value that the page shows."""

    section: str
    query: str
    names: dict[str, str]
    value: str


class Page(HTMLParser):
    """The notes of a page by section, its preamble, and the cells of its wide tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.notes: dict[str, Note] = {}
        self.preamble = ""
        self.text = ""
        self.cells: list[Cell] = []
        self._columns: list[str] = []
        self._place = 0
        self._query = ""
        self._section = ""
        self._into = ""
        self._row = False
        self.feed(html)

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        attributes = dict(pairs)
        if tag == "section":
            self._section = attributes["id"] or ""
            self.notes[self._section] = Note()
        note = self.notes.get(self._section)
        self._read_cell(tag, attributes)
        if tag == "tr" and note is not None:
            self._row = "data-value" in attributes
            if self._row:
                note.values.append(attributes["data-value"] or "")
                note.labels.append("")
                note.queries.append("")
        into = {"preamble": "preamble"}.get(attributes.get("id") or "") or {"setup": "setup"}.get(
            attributes.get("class") or ""
        )
        if into:
            self._into = into
        elif self._row and tag in ("th", "code"):
            self._into = {"th": "label", "code": "query"}[tag]

    def _read_cell(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "table":
            self._columns = []
        elif tag == "tr":
            self._query, self._place = attributes.get("data-query") or "", 0
        elif tag == "th" and "data-name" in attributes:
            self._columns.append(attributes["data-name"] or "")
        elif tag == "td":
            if "data-value" in attributes:
                metric = attributes.get("data-metric")
                names = {"metric": metric} if metric else {"name": self._columns[self._place]}
                self.cells.append(Cell(self._section, self._query, names, attributes["data-value"] or ""))
            self._place += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in ("pre", "th", "code", "script", "style"):
            self._into = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        note = self.notes.get(self._section)
        if self._into == "preamble":
            self.preamble += data
        elif note is None:
            return
        elif self._into == "setup":
            note.setup += data
        elif self._into == "label":
            note.labels[-1] += data
        elif self._into == "query":
            note.queries[-1] += data


def charts_of(html: str) -> dict[str, Any]:
    """The figures of a page by section."""
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def unpacked(numbers: Any) -> np.ndarray:
    """The numbers of a trace, packed or not."""
    if not isinstance(numbers, dict):
        return np.asarray(numbers)
    array = np.frombuffer(b64decode(numbers["bdata"]), np.dtype("<" + numbers["dtype"]))
    return array.reshape([int(size) for size in numbers["shape"].split(",")]) if "shape" in numbers else array


def trace(figure: Any, name: str, number: int = 0) -> dict[str, Any]:
    """One trace of a figure by its name; several may have it."""
    return [found for found in figure["data"] if found.get("name") == name][number]


def wrong_numbers(read: Page) -> list[tuple[Any, ...]]:
    """The numbers of a page that its queries, run in the current folder, do not give; there must be some numbers."""
    found, checked = [], 0
    for section, note in read.notes.items():
        if not note.setup and not any(cell.section == section for cell in read.cells):
            continue
        names: dict[str, Any] = {}
        exec(read.preamble, names)  # noqa: S102 - our own page, as a reader would run it
        exec(note.setup, names)  # noqa: S102
        asked = [(query, {}, value) for query, value in zip(note.queries, note.values, strict=True)]
        asked += [(cell.query, cell.names, cell.value) for cell in read.cells if cell.section == section]
        for query, of, value in asked:
            given = eval(query, names | of)  # noqa: S307
            checked += 1
            if not _same(json.loads(value), given):
                found.append((section, query, of, value, given))
    assert checked > 10
    return found


def _same(shown: Any, given: Any) -> bool:
    if isinstance(shown, list):
        return len(shown) == len(given) and all(_same(*pair) for pair in zip(shown, given, strict=True))
    if shown is None or isinstance(shown, str | bool):
        return bool(shown == given)
    return isclose(shown, float(given), rel_tol=1e-9, abs_tol=1e-12)  # sums of thousands of doubles in another order
