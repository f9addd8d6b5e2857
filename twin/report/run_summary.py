"""The manifest of a run -> its summary for people: sections of labels and scaled values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from twin.analysis.metrics import METRICS, Metric
from twin.scenario.keys import keys
from twin.scenario.placement import ROOT
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
_OVER = ("energy_over_cap_j", "excursions", "longest_excursion_s", "highest_overshoot_share")  # if it is ever over
_OF_THE_CAP = ("time_over_cap_s", *_OVER)
_OF_CONTROL = ("cap_binding_share", "control_actions_per_hour", "throttled_job_s")  # say nothing without one
_OF_LANES = ("peak_waiting", "waiting_share")
_OF_BACKGROUND = ("interference_share",)
_OF_STALLS = ("checkpoint_stall_p50_s", "checkpoint_stall_p99_s", "checkpoint_stall_max_s", "wait_share")
_STEADY = 0.95  # of the time that jobs are there; with less they come and go
_PRACTICALLY_NEVER = 1e-9  # of the time: a second in thirty years
_BESIDE = ("checkpoint_duration_mean_s", "goodput", "mean_power_w")  # shown with the product form
_ROUNDING = 1e-12  # a share that is a difference of others, and none
_IDLE = "jobs come and go: idle before launch and after the end"
_FEW = 4  # numbers of writers shown one by one
_MOST_GROUPS = 8  # groups shown one by one
_BANDS = ("high", "target", "low")
_TIMES = ("delay", "tau", "period", "latency")  # of a controller
_MOST_FEEDERS = 12  # feeders shown one by one


class Line(NamedTuple):
    """One line of the summary."""

    label: str
    value: str


def summary(manifest: Mapping[str, Any]) -> dict[str, list[Line]]:
    """The lines of each section by its title, in the order of reading; values that are not known read ``-``."""
    estimate = manifest.get("estimate") or {}  # a run of an earlier version has none
    form = estimate.get("product_form") or {}
    hidden = {*left_out(manifest), *(name for name, metric in METRICS.items() if metric.is_by_feeder)}
    metrics = {name: value for name, value in manifest["metrics"].items() if name not in hidden}
    sections = metric_sections(metrics, form.get("metrics", {}))
    if "Power" in sections:
        power = manifest["scenario"]["power"]
        sections["Power"].insert(0, Line("cap", cap_in_words(power)))
        if power.get("limit") is not None:
            sections["Power"].insert(1, Line("limit", _watts_in_words(power["limit"])))
        if is_held(power):
            sections["Power"].insert(1, Line("control", control_in_words(power["controller"])))
        if power.get("feeders"):
            sections["Feeders"] = [*feeder_lines(manifest)]
    if manifest["import_report"] is not None:
        sections["Launch log"] = list(launch_log_lines(manifest["import_report"]))
    run = sections.pop("Run", [])
    sections["Run"] = [*run, *_run(manifest)]
    if estimate:
        sections["Run"].append(Line("product form", f"{estimate['verdict']}: {estimate['because']}"))
    return sections


def left_out(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Metrics that mean nothing for the run: those of a cap that is not there, or of a control that does nothing."""
    scenario, metrics = manifest["scenario"], manifest["metrics"]
    power = scenario["power"]
    hidden: list[str] = []
    if power.get("cap") is None and power.get("limit") is None:
        hidden += _OF_THE_CAP
    elif not metrics.get("time_over_cap_s"):
        hidden += _OVER
    sections = [power, *power.get("feeders", {}).values()]
    if not any(is_held(section) for section in sections):
        hidden += _OF_CONTROL
    elif not is_held(power):
        hidden.append("cap_binding_share")
    has_lanes = scenario["storage"].get("lanes", "none") not in ("none", None)
    in_background = any(group["checkpoint"].get("mode") == "async" for group in scenario.get("jobs", ()))
    hidden += [] if has_lanes else _OF_LANES
    hidden += [] if in_background else _OF_BACKGROUND
    hidden += [] if in_background or has_lanes else _OF_STALLS
    return tuple(hidden)


def is_held(section: Mapping[str, Any]) -> bool:
    """Whether the controller of a feeder, as resolved, holds something: a cap, or watts per node."""
    policy = section["controller"]["policy"]
    return bool(policy == "fixed_limit" or (section.get("cap") is not None and policy != "none"))


def cap_in_words(power: Mapping[str, Any]) -> str:
    """The cap of a feeder, given its section of a scenario as resolved."""
    cap = power.get("cap")
    if cap is None:
        return "no cap"
    words = _watts_in_words(cap)
    return words if is_enforced(power) else f"cap not enforced ({words})"


def _watts_in_words(cap: Any) -> str:
    """A cap or a limit, as resolved."""
    if not isinstance(cap, Mapping | list):
        return scaled(cap, "W")
    steps = cap["daily"] if isinstance(cap, Mapping) else cap
    lowest_w, highest_w = (pick(step["value"] for step in steps) for pick in (min, max))
    return f"{scaled(lowest_w, 'W')} to {scaled(highest_w, 'W')}, by time{' of day' if cap is not steps else ''}"


def control_in_words(controller: Mapping[str, Any]) -> str:
    """A controller as resolved: its policy with what it is set to."""
    set_to = {name: scaled(value, "s") for name, value in controller.items() if name in _TIMES and value is not None}
    set_to |= {name: percent(controller[name]) for name in _BANDS if controller.get(name) is not None}
    words = {
        "anonymous": "anonymous (idealised: at once, without error)",
        "delayed": "delayed by {delay}",
        "lagged": "lagged, time constant {tau}",
        "sampled": "sampled every {period}, effective {latency} later",
        "fixed_limit": "fixed limit of {limit} a node",
        "three_band": "three bands, read every {period}: above {high} of the cap cut to {target}, below {low} released",
    }
    if controller.get("limit") is not None:
        set_to["limit"] = scaled(controller["limit"], "W")
    policy: str = controller["policy"]
    return words.get(policy, policy).format_map(set_to)


def feeder_lines(manifest: Mapping[str, Any]) -> Iterator[Line]:
    """One line for each feeder, the site first: cap, control, peak, time over the cap, share of time that it binds."""
    power, metrics = manifest["scenario"]["power"], manifest["metrics"]
    peaks, over, bound = (
        metrics.get(name) or {}
        for name in ("peak_power_by_feeder_w", "time_over_cap_by_feeder_s", "cap_binding_share_by_feeder")
    )
    sections = {ROOT: power, **power["feeders"]}
    for name, section in islice(sections.items(), _MOST_FEEDERS):
        parts = [cap_in_words(section)]
        if is_held(section):
            parts.append(section["controller"]["policy"])
        if name in peaks:
            parts.append(f"peak {scaled(peaks[name], 'W')}")
        if over.get(name):
            parts.append(f"over for {scaled(over[name], 's')}")
        if name in bound and is_held(section):
            parts.append(f"binds {percent(bound[name])} of the time")
        yield Line(name, ", ".join(parts))
    if len(sections) > _MOST_FEEDERS:
        yield Line("more", f"{len(sections) - _MOST_FEEDERS} more feeders in run.json")


def comes_and_goes(metrics: Mapping[str, Any]) -> bool:
    """Whether jobs are there for a part of the run only: then goodput tells of launches and ends, not of loss."""
    present = metrics.get("present_share")
    return present is not None and present < _STEADY


def is_enforced(power: Mapping[str, Any]) -> bool:
    """Whether the control holds the cap, if there is one, given the section ``power`` of a scenario as resolved."""
    return bool(power["controller"]["policy"] != "none")


def changes(manifest: Mapping[str, Any]) -> list[str]:
    """What was set on top of the scenario file, a line each: ``power.cap = 12 MW``."""
    found = manifest.get("overrides", ())  # a run of an earlier version has none
    return [
        f"{override['key']} = {_set_to(override['value'], override['unit'], override['key'])}" for override in found
    ]


def _set_to(value: Any, unit: str, key: str) -> str:
    if isinstance(value, int | float) and unit:
        return scaled(value, unit)
    if isinstance(value, list):
        return ", ".join(_set_to(item, unit, key) for item in value)
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        parts = ((name, inner, f"{key}.{name}") for name, inner in value.items())
        return ", ".join(f"{name} {_set_to(inner, _unit_of(path), path)}" for name, inner, path in parts)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unit_of(path: str) -> str:
    """SI unit of a key; empty for one that has none."""
    return _units().get(re.sub(r"\[\d+\]", "[]", path), "")


@cache
def _units() -> Mapping[str, str]:
    return {key.path: key.unit for key in keys()}


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
    if is_share(metric):
        return percent(value)
    return scaled(value, metric.unit)


def is_share(metric: Metric) -> bool:
    """Whether its values are shares, which people read in percent."""
    return metric.name.endswith(_SHARES) or "_share_by_" in metric.name


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
