"""The sections of the page that are tables and text: all numbers, assumptions, what was run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import yaml

from twin.analysis.metrics import METRICS, Metric
from twin.report.run_summary import percent, shown
from twin.units import scaled


def all_numbers(metrics: Mapping[str, Any], left_out: Collection[str]) -> str:
    """Every summary number with its definition and the query that reads it; lists have a section of their own."""
    rows = []
    for metric in (metric for metric in METRICS.values() if metric.name not in left_out):
        value = metrics.get(metric.name)
        query = f'run["metrics"]["{metric.name}"]'
        if isinstance(value, Mapping):
            for group, of_group in value.items():
                rows.append(_number(f"{metric.label}, {group}", metric, of_group, f"{query}[{group!r}]"))
        elif value is not None and not isinstance(value, list):
            rows.append(_number(metric.label, metric, value, query))
    return _table(("number", "", "definition and query"), rows, "queries stacked")


def promises(assumptions: Mapping[str, Any]) -> str:
    """What the theory promises for the run, and behind a fold what it does not, each with its reason."""
    rows: dict[bool, list[str]] = {True: [], False: []}
    for name, found in assumptions["promises"].items():
        kind = "" if found["applies"] else "soft"
        rows[found["applies"]].append(f'<tr><th>{escape(name)}</th><td class="{kind}">{escape(found["why"])}</td></tr>')
    applying = _table(("promise that applies", "what it says"), rows[True]) if rows[True] else "<p>None applies.</p>"
    others = _table(("promise", "why it does not apply"), rows[False])
    return f"{applying}<details><summary>{len(rows[False])} promises that do not apply</summary>{others}</details>"


def assumed(assumptions: Mapping[str, Any], left_out: Collection[str]) -> str:
    """The assumptions but for the promises."""
    rows = []
    for name, value in assumptions.items():
        if name not in ("promises", *left_out):
            plain = percent(value) if name.endswith("_share") and value is not None else _plain(value)
            rows.append(f"<tr><th>{escape(name.replace('_', ' '))}</th><td>{escape(plain)}</td></tr>")
    return _table((), rows)


def defaults(found: Sequence[Mapping[str, Any]]) -> str:
    """Values that nobody set, with where they come from."""
    if not found:
        return "<p>Every value was set in the scenario.</p>"
    rows = [
        f"<tr><th><code>{escape(default['key'])}</code></th><td>{escape(_plain(default['value']))}</td>"
        f'<td><span class="mark {escape(default["mark"])}">{escape(default["mark"])}</span></td>'
        f'<td class="soft">{escape(default["source"])}</td></tr>'
        for default in found
    ]
    return _table(("key", "value, SI", "mark", "source"), rows)


def import_report(report: Mapping[str, Any]) -> str:
    """How the launch log became jobs."""
    rows = [("file", f"{report['file']} ({report['format']})"), ("sha256", report["sha256"])]
    rows.append(("rows read", f"{report['rows_read']:,}"))
    rows += [
        (
            "dropped",
            f"{dropped['rows']:,}, {dropped['reason']} (first on line {dropped['first_line']:,}: "
            f"'{dropped['example']}')",
        )
        for dropped in report["dropped"]
    ]
    rows += [("rows kept", f"{report['rows_kept']:,}"), ("jobs", f"{report['jobs']:,}")]
    rows += [(name, " to ".join(f"{edge:,}" for edge in report[name])) for name in ("gpus", "nodes")]
    rows.append(("work", " to ".join(scaled(edge, "s") for edge in report["duration_s"])))
    rows.append(("submitted", " to ".join(scaled(edge, "s") for edge in report["submit_s"])))
    if report["wall_times"] is not None:
        rows.append(("on the log's clock", f"{' to '.join(report['wall_times'])}, {report['time_zone']}"))
    if report["columns_ignored"]:
        rows.append(("columns not read", ", ".join(report["columns_ignored"])))
    rows += [("note", note) for note in report["notes"]] + [("warning", warning) for warning in report["warnings"]]
    return _table((), [f"<tr><th>{escape(name)}</th><td>{escape(str(text))}</td></tr>" for name, text in rows])


def identity(manifest: Mapping[str, Any]) -> str:
    """What tells the run from any other."""
    versions = ", ".join(f"{name} {number}" for name, number in manifest["versions"].items())
    rows = {
        "seed": str(manifest["seed"]),
        "replica": str(manifest["replica"]),
        "engine": manifest["lane"],
        "scenario hash": manifest["scenario_hash"],
        "versions": versions,
        "trace rows": ", ".join(f"{table} {rows:,}" for table, rows in manifest["rows"].items()),
    }
    return _table((), [f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items()])


def scenario(resolved: Mapping[str, Any]) -> str:
    """The scenario as it was run, in SI units; as a file it gives the same run again."""
    return f"<pre>{escape(yaml.safe_dump(dict(resolved), sort_keys=False, allow_unicode=True, width=100))}</pre>"


def _number(label: str, metric: Metric, value: Any, query: str) -> str:
    if value is None:
        return ""
    return (
        f'<tr data-value="{escape(repr(value))}"><th>{escape(label)}</th>'
        f'<td class="number">{escape(shown(metric, value))}</td>'
        f'<td class="soft">{escape(metric.definition)}<small><code>{escape(query)}</code></small></td></tr>'
    )


def _plain(value: Any) -> str:
    """A JSON value in words."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')}: {_plain(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_plain(inner) for inner in value) or "none"
    return str(value)


def _table(heads: Sequence[str], rows: Iterable[str], kind: str = "stacked") -> str:
    head = f"<thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in heads)}</tr></thead>" if heads else ""
    return f'<div class="table"><table class="{kind}">{head}<tbody>{"".join(rows)}</tbody></table></div>'
