"""Sections about what the jobs share: the store, its writers, their checkpoints, the power, and where the time went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from twin.analysis.blocks import Floats
from twin.analysis.durations import duration_histogram
from twin.analysis.meter import readings as meter_readings
from twin.laws.throughput import store_rate_b_s
from twin.recording import ROOT
from twin.report import charts
from twin.report.downsampling import MEAN_BINS, MOST_POINTS, ThinnedLine
from twin.report.over_cap import over_caps, shading_in_words
from twin.report.run_parts import RunParts, period_for
from twin.report.run_summary import comes_and_goes
from twin.report.section import COUNT, RATIO, SHARE, Reading, Section, of_metrics
from twin.units import scaled

_NO_SHARE = 1e-12  # of the time: rounding
_FEW = 4  # numbers of writers told one by one
_IN_SIGHT = 3
_BINS = MOST_POINTS // 4
_CAP = 'run["scenario"]["power"]["cap"]'

_DURATIONS = "duration_s = checkpoints.write_end_s - checkpoints.write_start_s"
_ONE_SLOT = "independent = independent_tail(write_shares, storage.writers.max())"
_SLOTS = """\
checkpoint_of = {group["name"]: group["checkpoint"] for group in run["scenario"]["jobs"]}
drains_of = {name: spec["in_flight"] if spec["mode"] == "async" else 1 for name, spec in checkpoint_of.items()}
slots = jobs.group.astype(str).map(drains_of).fillna(1).astype(int).to_numpy()
independent = independent_tail(np.repeat(write_shares / slots, slots), storage.writers.max())"""
_LONE_RATE = """\
from twin.laws.throughput import store_rate_b_s
store = run["scenario"]["storage"]
law = store["bandwidth"], store.get("client_bandwidth") or 0.0, store["degradation"]
weights = jobs.nodes if store["share"] == "node" else jobs.nodes * 0 + 1
lone_b_s = weights.map(lambda weight: store_rate_b_s(weight, *law))  # of each job"""
_STOPS = "lone_s = (checkpoints.size_b / lone_b_s[checkpoints.job_id].to_numpy()).groupby(checkpoints.job_id).sum()"
_STOPS_AND_SNAPSHOTS = f"""\
{_STOPS}
checkpoint_of = {{group["name"]: group["checkpoint"] for group in run["scenario"]["jobs"]}}
snapshot_of = {{name: spec["snapshot"] for name, spec in checkpoint_of.items() if spec["mode"] == "async"}}
snapshot_s = jobs.group.astype(str).map(snapshot_of)
lone_s = lone_s.where(snapshot_s.isna(), jobs.cycles * snapshot_s + lone_s / jobs.cycles)"""


def store(parts: RunParts) -> Section | None:
    """Writers and rate of the store; None without its table."""
    if not parts.has("storage") or parts.end_s == 0.0:
        return None
    lines = parts.storage_lines(["writers", "rate_b_s"], 0.0, parts.end_s)
    writers, rate_b_s = lines
    bins = list(_bins(parts, lines))
    delivered = "(storage.rate_b_s * storage.hold_s).sum()"
    readings = of_metrics(
        parts.metrics,
        ("peak_writers", "most writers at once", COUNT, "storage[storage.hold_s > 0].writers.max()"),
        ("bytes_delivered_b", "bytes written", "B", delivered),
        ("store_utilisation", "utilisation", SHARE, f'{delivered} / (run["scenario"]["storage"]["bandwidth"] * end_s)'),
    )
    return Section(
        "store",
        "Store",
        f"How many jobs write at once, and the total rate they get.{band(lines)}",
        "Writers [-] and total rate of the store [B/s], steps that hold until the next row; the dashed line is the "
        f"store's bandwidth.{thinned(lines)}",
        f'{_period(bins)}writers, rate = storage[["time_s", "writers"]], storage[["time_s", "rate_b_s"]]',
        (*readings, *bins),
        charts.store(writers, rate_b_s, parts.manifest["scenario"]["storage"]["bandwidth"], parts.end_s),
    )


def tail(parts: RunParts) -> Section | None:
    """Time with at least k writers beside independent phases and the product form; None if nobody wrote."""
    measured = parts.metrics.get("writers_share_at_least")
    if not parts.has("jobs", "checkpoints", "storage") or not measured:
        return None
    curves = {
        "measured": (np.array(measured), "storage.hold_s[storage.writers >= {k}].sum() / end_s"),
        "independent phases": (
            np.array(parts.metrics["writers_share_at_least_independent"]),
            "independent[{k} - 1]",
        ),
    }
    estimate = parts.manifest.get("estimate")  # a run of an earlier version has none
    if estimate and estimate["product_form"]:
        shares = estimate["product_form"]["metrics"]["writers_share_at_least"]
        curves["product form"] = (_to_length(shares, len(measured)), "theory.get({k}, 0.0)")
    peak = len(measured)
    readings = [
        Reading(f"at least {k}, {name}", float(shares[k - 1]), SHARE, query.format(k=k), _is_seen(name, k, peak))
        for k in range(1, peak + 1)
        if k <= _FEW or k == peak or k & (k - 1) == 0
        for name, (shares, query) in curves.items()
    ]
    return Section(
        "writers",
        "Writers at once, against chance",
        "How often many write together. Far above independent phases: they queue, or start together. On the product "
        f"form: queueing alone explains it, nothing pulls the jobs into step.{_together_sentence(parts)}",
        "Share of the run [%] with at least k jobs writing. Independent phases: the same if each job wrote for its "
        "measured share of the run, independently of all others (Poisson binomial). Triangles at the lower edge stand "
        f"for shares below it. {_theory_sentence(estimate)}",
        f"""\
from twin.analysis.concurrency import independent_tail
write_s = checkpoints.write_end_s.fillna(end_s) - checkpoints.write_start_s.fillna(end_s)
write_shares = write_s.groupby(checkpoints.job_id).sum().reindex(jobs.job_id, fill_value=0.0) / end_s
{_SLOTS if parts.has_drains else _ONE_SLOT}
form = (run.get("estimate") or {{}}).get("product_form") or {{"metrics": {{"writers_share_at_least": []}}}}
theory = dict(enumerate(form["metrics"]["writers_share_at_least"], 1))""",
        tuple(readings),
        charts.tail({name: shares for name, (shares, _) in curves.items()}),
    )


def durations(parts: RunParts) -> Section | None:
    """How long checkpoints took; None if none ended."""
    lone_s = _lone_write_s(parts) if parts.has("checkpoints", "jobs") else None
    histogram = duration_histogram(parts.recording, lone_s) if parts.has("checkpoints") else None
    if histogram is None:
        return None
    readings = [
        *of_metrics(
            parts.metrics,
            ("checkpoints_written", "checkpoints written", COUNT, "duration_s.count()"),
            ("checkpoint_duration_p50_s", "P50", "s", "duration_s.quantile(0.5)"),
            ("checkpoint_duration_p99_s", "P99", "s", "duration_s.quantile(0.99)"),
            ("checkpoint_duration_max_s", "longest", "s", "duration_s.max()"),
        )
    ]
    marks = {f"{reading.label} {reading.shown()}": reading.value for reading in readings if reading.unit == "s"}
    if lone_s is not None:
        lone = Reading("alone on the store", lone_s, "s", "checkpoints.size_b.max() / lone_b_s.max()")
        readings.append(lone)
        marks = {f"alone {lone.shown()}": lone_s, **marks}
    return Section(
        "checkpoint-times",
        "Checkpoint times",
        "How long checkpoints take from first byte to last. What lies right of the time alone is contention."
        if lone_s is not None
        else "How long checkpoints take from first byte to last. Sizes differ, so times do even without contention.",
        f"Number of checkpoints that ended within the run by time from first byte to last [s], in "
        f"{len(histogram.counts)} classes; the count is on a logarithmic axis, so that a single one shows.",
        _DURATIONS if lone_s is None else f"{_DURATIONS}\n{_LONE_RATE}",
        tuple(readings),
        charts.durations(histogram, marks),
    )


def power(parts: RunParts, meter_s: float | None = None) -> Section | None:
    """Draw, demand and speed of the site against its cap, and what a meter would show; None without its table.

    Args:
        meter_s: interval over which the meter takes the mean [s]; None for no meter.
    """
    if not parts.has("power") or parts.end_s == 0.0:
        return None
    columns = ["draw_w", "demand_w", "speed"] if parts.is_capped else ["draw_w"]
    lines = parts.power_lines(columns, 0.0, parts.end_s)
    if not len(lines[0].points()[0]):
        return None
    bins = list(_bins(parts, lines))
    last_w = "site.draw_end_w.fillna(site.draw_w)"
    energy = f"(site.energy_j + (site.draw_w + {last_w}) / 2 * site.hold_s).iloc[-1]"
    readings = list(
        of_metrics(
            parts.metrics,
            ("mean_power_w", "mean draw", "W", f"{energy} / end_s"),
            ("peak_power_w", "peak draw", "W", "site[site.hold_s > 0][['draw_w', 'draw_end_w']].max().max()"),
            ("energy_j", "energy", "J", energy),
        )
    )
    if parts.is_capped and parts.power.controller.policy != "fixed_limit":
        slowed = "site[['draw_w', 'draw_end_w']].min(axis=1) < site.demand_w * (1 - 1e-9)"
        less = "" if parts.power.controller.policy == "three_band" else "(site[['speed', 'target']].min(axis=1) < 1) & "
        binds = f"site.hold_s[{less}({slowed})].sum() / end_s"
        readings += of_metrics(parts.metrics, ("cap_binding_share", "time the cap binds", SHARE, binds))
    if parts.cap is not None:
        label = "cap" if parts.is_capped else "cap not enforced"
        if len(parts.cap[1]) == 1:
            readings.insert(0, Reading(label, float(parts.cap[1][0]), "W", _CAP))
        if parts.has("events"):
            spent = 'spans_s("excursion_end") - spans_s("cap_exceeded")'
            readings += of_metrics(parts.metrics, ("time_over_cap_s", "time over the cap", "s", f"({spent}).sum()"))
    over = over_caps(parts.recording, [ROOT], parts.end_s)[ROOT]
    metered = None if meter_s is None else _metered(parts, meter_s)
    if metered is not None:
        readings.append(Reading(f"{charts.METER}, at most", float(metered.points()[1].max()), "W", "metered_w.max()"))
    return Section(
        "power",
        "Power against the cap" if parts.cap is not None else "Power, with no cap",
        f"{_power_in_words(parts)}{band(lines)}{shading_in_words([over])}{_meter_in_words(meter_s)}",
        f"{_power_defined(parts)}{thinned(lines)}",
        f"{_period(bins)}{_events(parts)}{_meter_setup(meter_s)}drawn = site[{['time_s', *columns]}]",
        (*readings, *bins),
        charts.power(
            lines[0],
            parts.caps_between(ROOT, 0.0, parts.end_s),
            charts.Throttled(*lines[1:]) if parts.is_capped else None,
            parts.end_s,
            over,
            None if metered is None else metered.points(),
        ),
    )


def _metered(parts: RunParts, meter_s: float) -> ThinnedLine:
    """What the meter of the site shows, thinned."""
    line = ThinnedLine(0.0, parts.end_s)
    for part in meter_readings(parts.recording, ROOT, meter_s):
        line.add(part.start_s, part.mean_w)
    return line


def _meter_in_words(meter_s: float | None) -> str:
    if meter_s is None:
        return ""
    return f" Orange is what a meter shows that takes the mean over every {scaled(meter_s, 's')}."


def _meter_setup(meter_s: float | None) -> str:
    if meter_s is None:
        return ""
    return f"""\
import twin
from twin.analysis.meter import meter_line
metered_w = meter_line(twin.open_run("."), "site", {meter_s!r}, 0.0, end_s)[1]
"""


def overhead_split(parts: RunParts) -> Section | None:
    """Where the time of the jobs went; None if not known."""
    if parts.metrics.get("compute_share") is None or not parts.has("jobs", "checkpoints"):
        return None
    work = "jobs.work_s.sum() / there_s"
    readings = tuple(
        of_metrics(
            parts.metrics,
            ("compute_share", "computing, as full-speed work", SHARE, work),
            ("throttled_share", "lost to the throttle", SHARE, 'run["metrics"]["throttled_share"]'),
            ("stall_share", "stalled in checkpoints", SHARE, 'run["metrics"]["stall_share"]'),
            *(
                (name, label, SHARE, query)
                for name, label, query in (
                    ("interference_share", "lost to drains", "jobs.interference_s.sum() / there_s"),
                    ("wait_share", "waiting for the store", 'run["metrics"]["wait_share"]'),
                )
                if parts.metrics.get(name)
            ),
        )
    )
    of_jobs = tuple(
        of_metrics(
            parts.metrics,
            ("job_stretch_mean", "job stretch, mean", RATIO, "job_stretch.mean()"),
            ("job_stretch_p95", "job stretch, P95", RATIO, "job_stretch.quantile(0.95)"),
        )
    )
    return Section(
        "overhead",
        "Where the time went",
        "All job time between launch and end, split into work done and what it was lost to."
        + (" Jobs that are done took so many times their nominal duration (job stretch)." if of_jobs else ""),
        "Shares of the sum over jobs of the time from launch to the end of the job or of the run [%]; they sum to "
        "100 %. The throttle's part is time computing less the full-speed work done in it. Job stretch is launch to "
        "end of a job / its full-speed work and the lone writes of its checkpoints, of the jobs done [-].",
        f"""\
{_LONE_RATE}
there_s = (jobs.end_s.fillna(end_s) - jobs.launch_s).sum()
stall_s = checkpoints.stall_s.fillna(end_s - checkpoints.due_s).sum()
{_STOPS_AND_SNAPSHOTS if parts.has_drains else _STOPS}
job_stretch = (jobs.end_s - jobs.launch_s) / (jobs.work_s + lone_s)""",
        (*(reading._replace(in_sight=False) for reading in readings), *of_jobs),
        html=_split_bar(readings),
    )


def _events(parts: RunParts) -> str:
    """The set-up of the queries that need excursions."""
    if parts.cap is None or not parts.has("events"):
        return ""
    return """\
events = pd.read_parquet("events.parquet")
spans_s = lambda kind: events[(events.feeder == "site") & (events.kind == kind)].time_s.reset_index(drop=True)
"""


def _power_in_words(parts: RunParts) -> str:
    if parts.is_capped:
        in_watts = parts.power.controller.policy in ("fixed_limit", "three_band")
        return (
            "What the site draws, and what it would draw at full speed; where the grey stands above the blue, jobs are "
            "slowed down. "
            + (
                "The controller limits the watts of nodes; a common speed, beneath, it does not command."
                if in_watts
                else "Beneath, the speed that the controller commands."
            )
        )
    if parts.cap is not None:
        return "What the site draws. The cap is not enforced: every job computes at full speed."
    return "What the site draws. With no cap every job computes at full speed."


def _power_defined(parts: RunParts) -> str:
    if parts.is_capped:
        return (
            "Draw and demand of the whole site [W], and commanded speed [-], steps that hold until the next row; the "
            "dashed line is the cap. Under lagged control the curves between two rows are drawn in short steps."
        )
    cap = "" if parts.cap is None else "; the dashed line is the cap"
    return f"Draw of the whole site [W], steps that hold until the next row{cap}."


def _theory_sentence(estimate: Mapping[str, Any] | None) -> str:
    if not estimate:
        return "The run has no product form."
    verdict = estimate["verdict"]
    if estimate["product_form"] is None and verdict == "busiest windows":
        verdict = "not drawn"
    return f"Product form ({verdict}): {estimate['because']}."


def _together_sentence(parts: RunParts) -> str:
    if not comes_and_goes(parts.metrics):
        return ""
    return " Independent phases take the jobs as there at the same time; here they come and go."


def _to_length(shares: Sequence[float], length: int) -> Floats:
    """The first shares, filled with zeros."""
    return np.array([*shares[:length], *[0.0] * (length - len(shares))])


def _split_bar(readings: tuple[Reading, ...]) -> str:
    """One bar in parts; a part too thin to see still gets a line."""
    parts = "".join(
        f'<span class="part part-{number}" style="flex-grow:{max(0.0, reading.value):.6f}" '
        f'title="{reading.label}: {reading.shown()}"></span>'
        for number, reading in enumerate(readings)
        if reading.value > _NO_SHARE
    )
    keys = "".join(
        f'<li><span class="key part-{number}"></span>{reading.label} <b>{reading.shown()}</b></li>'
        for number, reading in enumerate(readings)
    )
    return f'<div class="split">{parts}</div><ul class="keys">{keys}</ul>'


def thinned(lines: list[ThinnedLine], bins: int = _BINS) -> str:
    """How the lines were thinned."""
    drawn = " Every row is drawn."
    if any(line.is_thinned for line in lines):
        drawn = (
            f" Drawn are the first, lowest, highest and last row of each of {bins:,} equal bins of time: every spike "
            "shows, however short; between them a zoomed view shows no more than that."
        )
    if any(line.means() is not None for line in lines):
        drawn += " Strong lines are time averages, over whole periods where a bin would hold a few."
    return drawn


def band(lines: list[ThinnedLine]) -> str:
    """How to read a line too dense to follow."""
    return " Pale is all that happened, strong the mean." if any(line.means() is not None for line in lines) else ""


def _bins(parts: RunParts, lines: list[ThinnedLine]) -> Iterator[Reading]:
    """Widths of the bins by which lines were thinned and averaged."""
    if any(line.is_thinned for line in lines):
        yield Reading("one bin of the extremes", parts.end_s / _BINS, "s", f"end_s / {_BINS}", in_sight=False)
    if any(line.means() is not None for line in lines):
        _, bin_s, query = parts.grid(MEAN_BINS)
        yield Reading("one bin of the means", bin_s, "s", query, in_sight=False)


def _period(bins: list[Reading]) -> str:
    return period_for(" ".join(reading.query for reading in bins))


def _is_seen(name: str, k: int, peak: int) -> bool:
    return name == "measured" and (k <= _IN_SIGHT or k == peak)


def _lone_write_s(parts: RunParts) -> float | None:
    """Time of a checkpoint alone on the store [s]; None if the sizes, or the weights of the jobs, differ."""
    sizes: set[float] = set()
    for batch in parts.recording.batches("checkpoints", ["size_b"]):
        sizes.update(np.unique(batch["size_b"].to_numpy()).tolist())
        if len(sizes) > 1:
            return None
    store: dict[str, Any] = parts.manifest["scenario"]["storage"]
    weights = {1}
    if store["share"] == "node":
        weights = {
            nodes for batch in parts.recording.batches("jobs", ["nodes"]) for nodes in batch["nodes"].to_pylist()
        }
    if not sizes or len(weights) > 1:
        return None
    client_b_s = store.get("client_bandwidth") or 0.0
    return sizes.pop() / store_rate_b_s(weights.pop(), store["bandwidth"], client_b_s, store["degradation"])
