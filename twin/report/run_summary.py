"""The manifest of a run -> its summary for people: sections of labels and scaled values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from twin.analysis.metrics import METRICS, Metric
from twin.units import scaled

_SECTIONS = {
    "checkpoints": "Checkpoints",
    "work": "Work",
    "storage": "Storage",
    "power": "Power",
    "failures": "Failures",
    "fleet": "Run",
}
_SHARES = ("_share", "goodput", "store_utilisation", "load_factor", "ettr_expected", "ettr_expected_by_group")
_TAIL, _TAIL_INDEPENDENT = "writers_share_at_least", "writers_share_at_least_independent"
_ENDS = {
    "cycles": "every job has written stop.cycles checkpoints or is done",
    "time": "stop.time is reached",
    "done": "all jobs are done",
}
_OF_THE_CAP = ("cap_binding_share", "time_over_cap_s")
_OF_CONTROL = ("cap_binding_share",)  # says nothing without one
_STEADY = 0.95  # of the time that jobs are there; with less they come and go
_PRACTICALLY_NEVER = 1e-9  # of the time: a second in thirty years
_BESIDE = ("checkpoint_duration_mean_s", "goodput", "mean_power_w")  # shown with the product form
_ROUNDING = 1e-12  # a share that is a difference of others, and none
_IDLE = "jobs come and go: idle before launch and after the end"
_FEW = 4  # numbers of writers shown one by one
_MOST_GROUPS = 8  # groups shown one by one


class Line(NamedTuple):
    """One line of the summary."""

    label: str
    value: str


def summary(manifest: Mapping[str, Any]) -> dict[str, list[Line]]:
    """The lines of each section by its title, in the order of reading; values that are not known read ``-``."""
    estimate = manifest.get("estimate") or {}  # a run of an earlier version has none
    form = estimate.get("product_form") or {}
    metrics = {name: value for name, value in manifest["metrics"].items() if name not in left_out(manifest)}
    sections = metric_sections(metrics, form.get("metrics", {}))
    if "Power" in sections:
        sections["Power"].insert(0, Line("cap", cap_in_words(manifest["scenario"]["power"])))
    if manifest["import_report"] is not None:
        sections["Launch log"] = list(launch_log_lines(manifest["import_report"]))
    run = sections.pop("Run", [])
    sections["Run"] = [*run, *_run(manifest)]
    if estimate:
        sections["Run"].append(Line("product form", f"{estimate['verdict']}: {estimate['because']}"))
    return sections


def left_out(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Metrics that mean nothing for the run: those of a cap that is not there, or of a control that does nothing."""
    power = manifest["scenario"]["power"]
    if power.get("cap") is None:
        return _OF_THE_CAP
    return () if is_enforced(power) else _OF_CONTROL


def cap_in_words(power: Mapping[str, Any]) -> str:
    """The site's cap, given the section ``power`` of a scenario as resolved."""
    if power.get("cap") is None:
        return "no cap"
    return scaled(power["cap"], "W") if is_enforced(power) else f"cap not enforced ({scaled(power['cap'], 'W')})"


def comes_and_goes(metrics: Mapping[str, Any]) -> bool:
    """Whether jobs are there for a part of the run only: then goodput tells of launches and ends, not of loss."""
    present = metrics.get("present_share")
    return present is not None and present < _STEADY


def is_enforced(power: Mapping[str, Any]) -> bool:
    """Whether the control holds the cap, if there is one, given the section ``power`` of a scenario as resolved."""
    return bool(power["controller"]["policy"] != "none")


def is_held(power: Mapping[str, Any]) -> bool:
    """Whether there is a cap and the control holds it, given the section ``power`` of a scenario as resolved."""
    return power.get("cap") is not None and is_enforced(power)


def changes(manifest: Mapping[str, Any]) -> list[str]:
    """What was set on top of the scenario file, a line each: ``power.cap = 12 MW``."""
    found = manifest.get("overrides", ())  # a run of an earlier version has none
    return [f"{override['key']} = {_set_to(override['value'], override['unit'])}" for override in found]


def _set_to(value: Any, unit: str) -> str:
    if isinstance(value, int | float) and unit:
        return scaled(value, unit)
    if isinstance(value, list):
        return ", ".join(_set_to(item, unit) for item in value)
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def metric_sections(metrics: Mapping[str, Any], product_form: Mapping[str, Any]) -> dict[str, list[Line]]:
    """The lines of the metrics given, by the title of their section.

    Args:
        metrics: by the names of ``METRICS``.
        product_form: the same, shown beside a few of them.
    """
    sections: dict[str, list[Line]] = {}
    for name, metric in METRICS.items():
        if name in metrics and name != _TAIL_INDEPENDENT:
            lines = _metric_lines(metric, metrics, product_form)
            sections.setdefault(_SECTIONS[metric.section], []).extend(lines)
    return {title: sections[title] for title in _SECTIONS.values() if sections.get(title)}


def _metric_lines(metric: Metric, metrics: Mapping[str, Any], product_form: Mapping[str, Any]) -> Iterator[Line]:
    value, expected = metrics[metric.name], product_form.get(metric.name)
    if metric.name == _TAIL:
        yield from _tail(value, {"independent phases": metrics.get(_TAIL_INDEPENDENT), "product form": expected})
    elif metric.is_by_group:
        yield from _by_group(metric, value or {})
    elif value is not None or metric.section != "failures":  # without failures in the scenario, not a word of them
        beside = "" if expected is None or metric.name not in _BESIDE else f" (product form {shown(metric, expected)})"
        idle = f" ({_IDLE})" if metric.name == "goodput" and comes_and_goes(metrics) else ""
        yield Line(metric.label, f"{shown(metric, value)}{beside}{idle}")


def _has_whole(metric: Metric) -> bool:
    """Whether the value of the whole fleet is a metric too."""
    return metric.name.replace("_by_group", "") in METRICS


def _by_group(metric: Metric, values: Mapping[str, Any]) -> Iterator[Line]:
    """The value of each of the first groups; a single group is the fleet, whose value may be shown already."""
    label = metric.label.replace(" by group", "")
    if len(values) == 1 and not _has_whole(metric):
        yield Line(label, shown(metric, *values.values()))
    for group, value in islice(values.items(), _MOST_GROUPS if len(values) > 1 else 0):
        yield Line(f"{label}, {group}", shown(metric, value))
    if len(values) > _MOST_GROUPS:
        yield Line(label, f"of {len(values) - _MOST_GROUPS} more groups in run.json")


def shown(metric: Metric, value: Any) -> str:
    """One value of a metric as people read it; ``-`` for one that is not known."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if metric.name.endswith(_SHARES):
        return percent(value)
    return scaled(value, metric.unit)


def percent(share: float) -> str:
    """A share in percent, to four digits; what rounding leaves is none."""
    return f"{100.0 * share if abs(share) > _ROUNDING else 0.0:.4g} %"


def seldom(share: float) -> str:
    """A share of time in percent, or in words where no run is long enough to see it."""
    return "practically never" if 0.0 < share < _PRACTICALLY_NEVER else f"{100.0 * share:.4g} %"


def _tail(shares: Sequence[float] | None, others: Mapping[str, Sequence[float] | None]) -> Iterator[Line]:
    """Time with at least k writers for the first k, then for doubling ones, then for the peak; others in brackets."""
    peak = len(shares or ())
    for k in range(1, peak + 1):
        if shares is not None and (k <= _FEW or k == peak or k & (k - 1) == 0):
            known = [f"{name} {seldom(other[k - 1])}" for name, other in others.items() if other and k <= len(other)]
            beside = f" ({', '.join(known)})" if known else ""
            yield Line(f"time with at least {k} writing", f"{seldom(shares[k - 1])}{beside}")


def launch_log_lines(report: Mapping[str, Any]) -> Iterator[Line]:
    """What was read of a launch log, what was dropped and why, and what was kept.

    Args:
        report: the import report of a manifest.
    """
    yield Line("file", f"{report['file']} ({report['format']})")
    yield Line("rows read", f"{report['rows_read']:,}")
    for dropped in report["dropped"]:
        first = f"first on line {dropped['first_line']:,}: '{dropped['example']}'"
        yield Line("rows dropped", f"{dropped['rows']:,}, {dropped['reason']} ({first})")
    yield Line("rows kept", f"{report['rows_kept']:,}, {report['jobs']:,} jobs")
    yield Line("sizes", f"{_range(report['gpus'])} GPUs on {_range(report['nodes'])} nodes")
    shortest_s, longest_s = report["duration_s"]
    yield Line("work of a job", f"{scaled(shortest_s, 's')} to {scaled(longest_s, 's')}")
    yield Line("submitted", f"{' to '.join(scaled(edge, 's') for edge in report['submit_s'])} after t = 0")
    yield Line("time zone", report["time_zone"])
    if report["columns_ignored"]:
        yield Line("columns not read", ", ".join(report["columns_ignored"]))
    for note in report["notes"]:
        yield Line("note", note)


def _range(ends: Sequence[int]) -> str:
    return f"{ends[0]:,} to {ends[1]:,}"


def ending(manifest: Mapping[str, Any]) -> str:
    """Why the run ended."""
    return _ENDS.get(manifest["stopped_by"], str(manifest["stopped_by"]))


def _run(manifest: Mapping[str, Any]) -> Iterator[Line]:
    yield Line("ended because", ending(manifest))
    yield Line("seed", str(manifest["seed"]))
    broken_by = manifest["assumptions"].get("broken_by")
    yield Line("anonymous", f"no, broken by {', '.join(broken_by)}" if broken_by else "yes")
    defaults = manifest["defaults"]
    guesses = sum(default["mark"] == "guess" for default in defaults)
    yield Line("values from defaults", f"{len(defaults)} (guesses: {guesses})")
