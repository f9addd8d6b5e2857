"""Tables with a column for each run or variant, and a query for each row: its value is the cell of the column."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from twin.analysis.metrics import METRICS, Metric
from twin.report.panels import cut
from twin.report.run_summary import shown
from twin.scenario.keys import keys
from twin.units import scaled

MOST_CELLS = 12_000  # of a table: more, and a browser is slow to lay it out
_HEAD_CHARACTERS = 40
_MOST_DIFFERENCES = 60
_VALUE_CHARACTERS = 80
_NONE = "-"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and its number or numbers, as the query gives them; None for text without a query."""

    text: str
    value: float | int | str | Sequence[float | None] | None = None
    small: str = ""
    kind: str = "number"


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Args:
        label: as text, with what it means.
        query: Python expression of its values, of the column ``name``; empty for a row without numbers.
    """

    label: str
    meaning: str
    query: str
    cells: Sequence[Cell]


def wide_table(first: str, names: Sequence[str], rows: Sequence[Row], heads: Sequence[str] | None = None) -> str:
    """The table in a frame of its own, in which it scrolls beneath its heads and beside its labels.

    Args:
        first: head of the labels.
        names: what ``name`` is in the query, a column each.
        heads: what is shown of them, if that is other than the name.
    """
    has_query = any(row.query for row in rows)
    columns = "".join(
        f'<th data-name="{escape(name)}" title="{escape(name)}">{escape(cut(head, _HEAD_CHARACTERS))}</th>'
        for name, head in zip(names, heads or names, strict=True)
    )
    query = "<th>query, with the name of a column</th>" if has_query else ""
    return (
        f'<div class="wide"><table class="columns"><thead><tr><th>{escape(first)}</th>{columns}{query}</tr></thead>'
        f"<tbody>{''.join(_row(row, has_query) for row in rows)}</tbody></table></div>"
    )


def _row(row: Row, has_query: bool) -> str:
    head = f'<th title="{escape(row.meaning)}">{escape(row.label)}</th>'
    cells = "".join(_cell(cell) for cell in row.cells)
    if not has_query:
        return f"<tr>{head}{cells}</tr>"
    code = f"<code>{escape(row.query)}</code>" if row.query else ""
    return f'<tr data-query="{escape(row.query)}">{head}{cells}<td class="soft">{code}</td></tr>'


def _cell(cell: Cell) -> str:
    value = "" if cell.value is None else f' data-value="{escape(json.dumps(cell.value))}"'
    small = f"<small>{escape(cell.small)}</small>" if cell.small else ""
    return f'<td class="{cell.kind}"{value}>{escape(cell.text)}{small}</td>'


def metric_rows(
    metrics: Mapping[str, Mapping[str, Any]], names: Sequence[str] | None = None, hidden: Sequence[str] = ()
) -> list[Row]:
    """A row for each summary number that any run knows; lists have charts of their own.

    Args:
        metrics: of each run, by its name.
        names: of the metrics; default all.
        hidden: metrics left out.
    """
    found = (METRICS[name] for name in names or METRICS if name not in hidden)
    rows = [row for metric in found for row in _rows_of(metric, metrics)]
    return rows[: max(1, MOST_CELLS // len(metrics))]


def _rows_of(metric: Metric, metrics: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    query = f'runs[name]["metrics"]["{metric.name}"]'
    values = [of_run.get(metric.name) for of_run in metrics.values()]
    if any(isinstance(value, Mapping) for value in values):
        items = dict.fromkeys(item for value in values if isinstance(value, Mapping) for item in value)
        for item in items:
            of_item = [value.get(item) if isinstance(value, Mapping) else None for value in values]
            if any(value is not None for value in of_item):
                cells = [Cell(shown(metric, value), value) for value in of_item]
                yield Row(f"{metric.label}, {cut(item)}", metric.definition, f"{query}[{item!r}]", cells)
    elif any(isinstance(value, int | float) for value in values):
        cells = [Cell(shown(metric, value), value) for value in values]
        yield Row(metric.label, metric.definition, query, cells)


def differences(scenarios: Mapping[str, Mapping[str, Any]], place: Callable[[str], str]) -> tuple[list[Row], int]:
    """The keys in which scenarios, as resolved, differ: a row each, and how many there are.

    Args:
        scenarios: by name.
        place: the query of the scenario, given the rest that reads a key: ``runs[name]["scenario"]{rest}``.
    """
    leaves = [dict(_leaves(scenario)) for scenario in scenarios.values()]
    units = {key.path: key.unit for key in keys()}
    rows = []
    for key in dict.fromkeys(key for each in leaves for key in each):
        values = [each.get(key) for each in leaves]
        if all(value == values[0] for value in values):
            continue
        unit = units.get(_path(key), "")
        cells = [Cell(_written(value, unit), value, kind="" if value == values[0] else "other") for value in values]
        query = place("".join(f"[{part!r}]" for part in key))
        rows.append(Row(_dotted(key), "", query, cells))
    return rows[:_MOST_DIFFERENCES], len(rows)


_Key = tuple[str | int, ...]


def _leaves(value: Any, key: _Key = ()) -> Iterator[tuple[_Key, Any]]:
    """Every value of a scenario that is no section, by the way to it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not (not key and name in ("twin", "name", "question", "answer", "variants")):
                yield from _leaves(inner, (*key, name))
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for number, inner in enumerate(value):
            yield from _leaves(inner, (*key, number))
    elif isinstance(value, list):
        yield key, tuple(value)
    else:
        yield key, value


def _path(key: _Key) -> str:
    """The path by which the keys of scenarios are known."""
    parts = [*key]
    if parts[:2] == ["power", "feeders"] and len(parts) > 2:  # noqa: PLR2004 - below the name of a feeder
        parts[2] = "NAME"
    return ".".join("[]" if isinstance(part, int) else part for part in parts).replace(".[]", "[]")


def _dotted(key: _Key) -> str:
    return ".".join(f"[{part}]" if isinstance(part, int) else part for part in key).replace(".[", "[")


def _written(value: Any, unit: str) -> str:
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return cut(", ".join(_written(inner, unit) for inner in value[:_VALUE_CHARACTERS]), _VALUE_CHARACTERS)
    if isinstance(value, int | float):
        return scaled(value, unit or "1")
    return cut(str(value), _VALUE_CHARACTERS)
