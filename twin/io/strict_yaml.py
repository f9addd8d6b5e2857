"""Strict YAML: text -> plain values, each with its place and its text as written; all structural faults at once.

What surprises is refused (duplicate keys, aliases, tags, second documents) or read as text (``NO``, ``012``, ``1:30``).
Events are walked instead of composed nodes, so nesting is bounded before it can exhaust the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from twin.errors import Fault
from twin.units import NUMBER

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
MAX_VALUES = 20_000
MOST_FAULTS = 1000  # located and told one by one
_SHOWN = 60
_LONGEST_INT = 400  # digits; longer ones are read as a float, which is infinite
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(NUMBER)
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Written:
    """How a value stands in the text: line and column of its key and of itself, from 1; its own text if a scalar."""

    key_at: tuple[int, int]
    value_at: tuple[int, int]
    text: str


@dataclass(slots=True)
class Document:
    """A text as read.

    Args:
        value: plain Python values; None when nothing could be read.
        written: how each value stands in the text, by key path.
        faults: structural faults, ``where`` being ``line:column``.
        lost: key paths whose value could not be read and is absent (None in a list).
        is_whole: the text was read to its end.
    """

    value: Any = None
    written: dict[str, Written] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    is_whole: bool = True


def read_bytes(content: bytes) -> Document:
    """The document in the bytes of a file, which must be UTF-8; a byte order mark is skipped."""
    if len(content) > MAX_BYTES:
        rule = f"is larger than {MAX_BYTES // 1024} KiB, the most a scenario may have"
        return _unreadable(Fault("", "", rule, "check that this is a scenario file"))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", errors="replace")
        fault = Fault(
            "", shown(repr(content[error.start : error.start + 1])[2:-1]), "is no UTF-8 text", "save it as UTF-8"
        )
        return _unreadable(fault, _line_and_column(before))
    return read_text(text)


def read_text(text: str) -> Document:
    """The document in a text; a scalar or a list is a document too."""
    document = Document()
    try:
        _Walk(document, text).run()
    except _CannotGoOn as stop:
        document.faults.append(stop.fault)
        document.is_whole = False
    except yaml.YAMLError as error:
        document.faults.append(_syntax_fault(error, text))
        document.is_whole = False
    except UnicodeEncodeError:
        document.faults.append(Fault("", "", "is no UTF-8 text", "write it in UTF-8", "1:1"))
        document.is_whole = False
    return document


def shown(text: str, most: int = _SHOWN) -> str:
    """The text on one line, at most this many characters of it, nothing invisible in it."""
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:most])
    return visible if len(text) <= most else f"{visible}..."


def join(path: str, key: str | int) -> str:
    """Path of an item of a section or of a list."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{shown(key)}" if path else shown(key)


class _CannotGoOn(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault


_LOST = object()  # stands for a value that could not be read


class _Walk:
    """One pass over the events of a text."""

    def __init__(self, document: Document, text: str) -> None:
        self._document = document
        self._values = 0
        self._events: Iterator[Any] = iter(yaml.parse(text, Loader=yaml.CSafeLoader))

    def run(self) -> None:
        next(self._events)  # start of the stream
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            raise _CannotGoOn(Fault("", "", "is empty", "write a scenario, beginning with twin: 1", "1:1"))
        first = next(self._events)
        value = self._value(first, "", _at(first), 0)
        self._document.value = None if value is _LOST else value
        next(self._events)  # end of the document
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            rule, remedy = "begins a second document in the file", "remove the --- line, or split the file"
            self._fault(event, "", "", rule, remedy)

    def _value(self, event: Any, path: str, key_at: tuple[int, int], depth: int) -> Any:
        """The value that begins with this event; its other events are consumed."""
        if isinstance(event, yaml.AliasEvent):
            self._fault(
                event, path, f"*{event.anchor}", "is an alias, which is not supported", "write the value itself"
            )
            self._document.lost.add(path)
            return _LOST
        if event.anchor is not None:
            self._fault(event, path, f"&{event.anchor}", "is an anchor, which is not supported", "remove it")
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._fault(event, path, tag, "is a tag, which is not supported", "write the value without it")
        self._values += 1
        if self._values > MAX_VALUES:
            rule = f"holds more than {MAX_VALUES} values, the most a scenario may have"
            remedy = "launch many jobs with count and one launch form, or from a log with replay"
            raise _CannotGoOn(Fault("", "", rule, remedy, _where(event)))
        text = event.value if isinstance(event, yaml.ScalarEvent) else ""
        self._document.written[path] = Written(key_at, _at(event), text)
        if isinstance(event, yaml.ScalarEvent):
            return _plain_value(text) if event.style is None or event.style == "" else text
        if depth == MAX_DEPTH:
            rule = f"is nested more than {MAX_DEPTH} levels deep"
            raise _CannotGoOn(Fault(path[:_SHOWN], "", rule, "a scenario needs a handful", _where(event)))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path, depth)
        return self._section(path, depth)

    def _list(self, path: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            value = self._value(event, join(path, len(items)), _at(event), depth + 1)
            items.append(None if value is _LOST else value)
        return items

    def _section(self, path: str, depth: int) -> dict[str, Any]:
        section: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, path, depth)
            item_path = join(path, "<<" if key is None else key)
            before = self._document.written.get(item_path)
            value = self._value(next(self._events), item_path, _at(event), depth + 1)
            if key is not None and value is not _LOST:
                if key in section and before is not None:
                    rule = f"is given twice, first in line {before.key_at[0]}"
                    self._fault(event, item_path, _as_value(value), rule, "remove one of the two")
                section[key] = value
        return section

    def _key(self, event: Any, path: str, depth: int) -> str | None:
        """The key as text; None for one that cannot be used."""
        if not isinstance(event, yaml.ScalarEvent):
            if isinstance(event, yaml.AliasEvent):
                found = f"*{event.anchor}"
            else:
                found = ""
                self._value(event, path, _at(event), depth + 1)
            self._fault(event, path, found, "has a key that is no plain name", "write keys as in compute: 30 min")
            return None
        if event.anchor is not None or event.tag is not None:
            self._fault(event, join(path, event.value), "", "has a key with an anchor or a tag", "write the key alone")
        if event.value == "<<" and not event.style:
            self._fault(event, path, "<<", "is a merge key, which is not supported", "write the keys themselves")
            return None
        key: str = event.value
        return key

    def _fault(self, event: Any, path: str, value: str, rule: str, remedy: str) -> None:
        if len(self._document.faults) == MOST_FAULTS:
            rule = f"has more than {MOST_FAULTS} faults, and is read no further than here"
            raise _CannotGoOn(Fault("", "", rule, "mend these first", _where(event)))
        self._document.faults.append(Fault(path, shown(value), rule, remedy, _where(event)))


def _plain_value(text: str) -> Any:
    """What an unquoted scalar means: a word of four, a decimal number, or text."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _LONGEST_INT and _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _as_value(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def _at(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _where(event: Any) -> str:
    line, column = _at(event)
    return f"{line}:{column}"


def _unreadable(fault: Fault, at: tuple[int, int] = (1, 1)) -> Document:
    where = f"{at[0]}:{at[1]}"
    return Document(faults=[Fault(fault.key, fault.value, fault.rule, fault.remedy, where)], is_whole=False)


def _line_and_column(before: str) -> tuple[int, int]:
    """Place of the character that follows this text."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _syntax_fault(error: yaml.YAMLError, text: str) -> Fault:
    """The fault of a text that is no YAML from some place on."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:  # the reader's own errors hold a position instead
        line, column = _line_and_column(text[: getattr(error, "position", 0)])
        remedy = "remove it; a scenario is plain text"
        return Fault("", "", "holds a control character", remedy, f"{line}:{column}")
    lines = text.rstrip().splitlines() or [""]
    is_end = mark.line >= len(lines) or mark.index >= len(text.rstrip())
    line, column = (len(lines), len(lines[-1]) + 1) if is_end else (mark.line + 1, mark.column + 1)
    rule = f"cannot be read as YAML: {getattr(error, 'problem', None) or 'malformed'}"
    begun = getattr(error, "context_mark", None)
    if begun is not None and begun.line + 1 < line:
        rule += f", after what begins in line {begun.line + 1}"
    there = lines[line - 1]
    return Fault("", shown(there.strip()), rule, _syntax_remedy(there[:column], is_end), f"{line}:{column}")


def _syntax_remedy(before: str, is_end: bool) -> str:
    if "\t" in before:
        return "indent with spaces, not tabs"
    if is_end:
        return "close the bracket or quote; the file may be cut"
    return "check the brackets, quotes and indentation here"
