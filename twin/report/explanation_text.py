"""Explanations -> lines of at most 80 columns: one in full, several in brief, or all by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from twin.report.explanations import GROUPS, Explanation

_COLUMNS = 79
_IN_FULL = 4  # more are shown in brief
_WIDEST_NAME = 36
_HOW = "  twin explain NAME, or a label of the summary, or the beginning of either"
_NESTED = ("scenario key", "column")  # names of the form holder.name


def paragraphs(found: Sequence[Explanation]) -> dict[str, list[str]]:
    """Title and lines of each entry if they are few, else of each group in brief."""
    if len(found) <= _IN_FULL:
        return {f"{entry.name} ({entry.kind})": list(_full(entry)) for entry in found}
    return {title: list(_brief(entries)) for title, entries in _by_group(found)}


def contents(found: Sequence[Explanation]) -> dict[str, list[str]]:
    """Title of each group, and the names in it."""
    return {title: list(_names(entries)) for title, entries in _by_group(found)} | {"Each in full": [_HOW]}


def _by_group(found: Sequence[Explanation]) -> Iterator[tuple[str, list[Explanation]]]:
    for kind, title in GROUPS.items():
        if entries := [entry for entry in found if entry.kind == kind]:
            yield title, entries


def _full(entry: Explanation) -> Iterator[str]:
    for label in ("unit", "example", "default", "definition", "source"):
        if text := getattr(entry, label):
            yield from _hanging(f"  {label:<10}  ", text)


def _brief(entries: Sequence[Explanation]) -> Iterator[str]:
    width = min(max(len(entry.name) for entry in entries), _WIDEST_NAME)
    for entry in entries:
        yield from _hanging(f"  {entry.name:<{width}}  ", entry.brief, width + 4)


def _names(entries: Sequence[Explanation]) -> Iterator[str]:
    """Names on as few lines as they need; nested ones by what holds them."""
    held: dict[str, list[str]] = {}
    for entry in entries:
        holder, _, name = entry.name.partition(".") if entry.kind in _NESTED else ("", "", entry.name)
        held.setdefault(holder if name else "", []).append(name or holder)
    for holder, names in held.items():
        yield from _hanging(f"  {holder}: " if holder else "  ", ", ".join(names), 4 if holder else 2)


def _hanging(head: str, text: str, indent: int | None = None) -> list[str]:
    """Head and text, further lines indented; as deep as the head is long, if nothing else is said."""
    further = " " * (len(head) if indent is None else indent)
    return wrap(
        text, _COLUMNS, initial_indent=head, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )
