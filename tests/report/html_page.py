"""A page read back: its notes, and its charts with their numbers unpacked."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import numpy as np


@dataclass
class Note:
    """Set-up and queries of a section, with the values that the page shows."""

    setup: str = ""
    values: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """The notes of a page by section, and its preamble."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.notes: dict[str, Note] = {}
        self.preamble = ""
        self.text = ""
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
