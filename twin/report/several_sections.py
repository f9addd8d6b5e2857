"""Sections in which several runs stand side by side, on common axes: phases, power, writers, checkpoint times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from twin.analysis.rhythm import LEAD, fires, order_parameter_between, places
from twin.recording import ROOT
from twin.report import charts
from twin.report.charts import cap_traces, power_bounds
from twin.report.figures import BLUE, OF_COUNTS, OF_GROUPS, Figure, band_traces, or_nan, packed, time_axis
from twin.report.job_sections import fire_counts
from twin.report.over_cap import OverCap, are_many, over_caps, shading_in_words
from twin.report.panels import Panel, cut, grid, shortened, titled
from twin.report.resource_sections import thinned
from twin.report.run_parts import RunParts
from twin.report.scales import Scale, scale_for
from twin.report.section import COUNT, RATIO, SHARE, Reading, Section

_FEW, _SOME = 4, 12  # runs: panels are large, middling, and small beyond
_PANEL_PX, _LEAST_PX = (230, 165, 120), (400, 290, 215)
_MARKS, _LEAST_MARKS, _MOST_MARKS = 9000, 300, 3000  # fires marked one by one: of all panels, and of one
_POINTS, _LEAST_POINTS, _MOST_POINTS = 24_000, 400, 1600  # of the lines of power, likewise
_PLACES, _CELLS = 32, 100
_NEARLY = 1 - 1e-9  # of a period: a job that fires once a period counts once, however the period was rounded
_FEEDERS = 3  # that get panels of their own, beside the site


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a page.

    Args:
        parts: by name.
        shown: the names as charts show them, by name.
    """

    parts: Mapping[str, RunParts]
    shown: Mapping[str, str]

    @classmethod
    def of(cls, parts: Mapping[str, RunParts]) -> Runs:
        """The runs with names fit for charts."""
        return cls(parts, dict(zip(parts, shortened(list(parts)), strict=True)))

    @property
    def end_s(self) -> float:
        """End of the longest."""
        return max(parts.end_s for parts in self.parts.values())

    @property
    def panel_px(self) -> tuple[int, int]:
        """Height of a panel, and its width at least."""
        place = (len(self.parts) > _FEW) + (len(self.parts) > _SOME)
        return _PANEL_PX[place], _LEAST_PX[place]

    def grid(self, panels: Sequence[Panel], time: Scale, y: Figure) -> Figure:
        """Panels over the time of the longest run."""
        panel_px, least_px = self.panel_px
        return grid(panels, panel_px, time_axis(time, 0.0, self.end_s), y, least_px=least_px)

    def with_tables(self, *tables: str) -> dict[str, RunParts]:
        """Those of which these tables were recorded, and that went on for any time."""
        return {name: parts for name, parts in self.parts.items() if parts.has(*tables) and parts.end_s > 0.0}


def sections(runs: Runs) -> Iterator[Section]:
    """The sections that the runs have, in the order of reading."""
    yield from _known(phases(runs), power(runs, ROOT))
    for number, name in enumerate(_feeders(runs), 1):
        yield from _known(power(runs, name, f"feeder-{number}"))
    yield from _known(tails(runs), durations(runs))


def _known(*found: Section | None) -> Iterator[Section]:
    return (section for section in found if section is not None)


def phases(runs: Runs) -> Section | None:
    """Fire times modulo the period of each run; None if no job of any fired twice."""
    time = scale_for(runs.end_s, "s")
    panels: list[Panel] = []
    readings: list[Reading] = []
    most = min(_MOST_MARKS, max(_LEAST_MARKS, _MARKS // len(runs.parts)))
    for name, parts in runs.with_tables("jobs", "checkpoints").items():
        if parts.rhythm is None or parts.rhythm.period_s is None:
            continue
        panels.append(Panel(runs.shown[name], [_phase_trace(parts, runs.end_s, time, most)]))
        readings += _phase_readings(name, parts, len(runs.parts))
    if not panels:
        return None
    heats = [trace for panel in panels for trace in panel.data if trace["type"] == "heatmap"]
    for trace in heats:  # one scale for all
        trace["zmax"] = max(each["zmax"] for each in heats)
    missing = len(runs.parts) - len(panels)
    return Section(
        "phases",
        "Phases: drift, lock or storm",
        "When in its period each checkpoint fires, run by run on common axes. Level lines: the gaps between the jobs "
        "stay. Slanting or wandering: they drift. Everything on one line: a storm."
        + (f" In {missing} of the runs no job fired twice." if missing else "")
        + (" The deeper the orange, the more fires in a cell." if heats else ""),
        "Place in the period [-]: time since the first fire of the run, in periods of that run, whole periods taken "
        f"off; it begins at -{LEAD}. The period is the mean time from one fire of a job to its next. Up to {most:,} "
        f"fires of a run are marked one by one; more are counted in {_PLACES} places of cells of whole periods, a "
        f"{_CELLS}th of the longest run or a little more, and drawn as fires in a period. R, the order parameter, is "
        "1 if all fires of a period are in step, near 0 if they are spread evenly.",
        f"""\
@cache
def fires_s(name):
    return table(name, "checkpoints").dropna(subset=["write_start_s"])
@cache
def period_s(name):
    fires = fires_s(name).groupby("job_id").write_start_s
    return (fires.max() - fires.min()).sum() / (fires.count() - 1).clip(lower=0).sum()
def r_of(name, side):  # in the first or the last period of a run
    some_s = fires_s(name).write_start_s
    first, last = some_s.min() + {_NEARLY} * period_s(name), some_s.max() - {_NEARLY} * period_s(name)
    some_s = some_s[some_s <= first] if side == "first" else some_s[some_s >= last]
    return abs(np.exp(2j * np.pi * some_s / period_s(name)).mean())""",
        tuple(readings),
        runs.grid(panels, time, titled("place in period", {"range": [-LEAD, 1.0 - LEAD], "dtick": 0.5, "tick0": 0.0})),
    )


def _phase_trace(parts: RunParts, end_s: float, time: Scale, most: int) -> Figure:
    rhythm = parts.rhythm
    assert rhythm is not None
    assert rhythm.period_s is not None
    if rhythm.fires > most:
        cell_s, counts = fire_counts(parts, rhythm, rhythm.period_s, end_s / _CELLS, _PLACES)
        heat: Figure = charts.fire_density(counts, cell_s, end_s)["data"][0]
        in_period = counts / (cell_s / rhythm.period_s)
        return heat | {
            "name": "fires",
            "z": packed(np.where(counts > 0, in_period, np.nan).astype(np.float32)),
            "zmax": float(in_period.max()),
            "colorscale": OF_COUNTS,
            "hovertemplate": f"%{{x:.5~g}} {time.unit}<br>%{{y:.3~f}} of the period<br>%{{z:.3~g}} fires in a period"
            "<extra></extra>",
        }
    found = list(fires(parts.recording))
    job, fire_s = (np.concatenate([part[side] for part in found]) for side in (0, 1))
    by_launch = np.empty(len(parts.jobs.names), dtype=np.int64)
    by_launch[np.argsort(parts.jobs.launch_s, kind="stable")] = np.arange(len(by_launch))
    every = {"fires": np.ones(len(job), dtype=bool)}
    place = places(fire_s, rhythm.first_s, rhythm.period_s)
    marks: Figure = charts.fire_marks(fire_s, place, by_launch[job], every, end_s)["data"][0]
    marks["marker"]["size"] = float(np.clip(100.0 / len(job) ** 0.5, 2.0, 5.0))
    return marks


def _phase_readings(name: str, parts: RunParts, runs: int) -> Iterator[Reading]:
    rhythm = parts.rhythm
    assert rhythm is not None
    period_s = rhythm.period_s
    assert period_s is not None
    edge_s = _NEARLY * period_s
    first, _ = order_parameter_between(parts.recording, rhythm.first_s, rhythm.first_s + edge_s, period_s)
    last, _ = order_parameter_between(parts.recording, rhythm.last_s - edge_s, rhythm.last_s, period_s)
    seen = runs <= _FEW
    yield Reading(f"{cut(name)}, period", period_s, "s", f"period_s({name!r})", seen)
    yield Reading(f"{cut(name)}, R in the first period", first, RATIO, f'r_of({name!r}, "first")', False)
    yield Reading(f"{cut(name)}, R in the last period", last, RATIO, f'r_of({name!r}, "last")', seen)


def power(runs: Runs, feeder: str, key: str = "power") -> Section | None:
    """Draw of a feeder against its cap, run by run; None if no run has the feeder and its table."""
    having = {
        name: parts
        for name, parts in runs.with_tables("power").items()
        if feeder == ROOT or feeder in parts.power.feeders
    }
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _POINTS // len(runs.parts) // 4 * 4))
    lines = {name: parts.power_lines(["draw_w"], 0.0, parts.end_s, feeder, most)[0] for name, parts in having.items()}
    lines = {name: line for name, line in lines.items() if len(line.points()[0])}
    if not lines:
        return None
    over = {name: over_caps(having[name].recording, [feeder], having[name].end_s)[feeder] for name in lines}
    caps = {name: having[name].caps_between(feeder, 0.0, having[name].end_s) for name in lines}
    all_lines = [line.points() for line in lines.values()]
    all_lines += [line for of_run in caps.values() for line in of_run if line is not None]
    bounds_w = power_bounds(all_lines)
    time, watts = scale_for(runs.end_s, "s"), scale_for(bounds_w[1], "W")
    bounds = bounds_w[0] / watts.size, bounds_w[1] / watts.size
    in_cells = are_many(over.values())
    panels = [
        Panel(
            runs.shown[name],
            [
                *over[name].traces(time, bounds, in_cells),
                *band_traces(line.points(), line.means(), time, watts, "draw", BLUE),
                *cap_traces(*caps[name], time, watts),
            ],
        )
        for name, line in lines.items()
    ]
    what = "the site" if feeder == ROOT else f"feeder {cut(feeder)}"
    return Section(
        key,
        "Power against the cap" if feeder == ROOT else f"Power of feeder {cut(feeder)}",
        f"What {what} draws, run by run on common axes; the dashed line is the cap."
        + (
            " Pale is all that happened, strong the mean."
            if any(line.means() is not None for line in lines.values())
            else ""
        )
        + shading_in_words(over.values()),
        f"Draw of {what} [W], steps that hold until the next row.{thinned(list(lines.values()), most // 4)} An "
        "excursion is a time above the cap, or above power.limit where that is set, by more than 1e-9 of it.",
        """\
@cache
def rows(name, feeder):
    found = table(name, "power")
    found = found[found.feeder == feeder].copy()
    found["hold_s"] = found.time_s.shift(-1, fill_value=runs[name]["simulated_end_s"]) - found.time_s
    return found
def peak_w(name, feeder):
    found = rows(name, feeder)
    return found[found.hold_s > 0][["draw_w", "draw_end_w"]].max().max()
def over_s(name, feeder):  # how long each excursion lasted
    events = table(name, "events")
    times_s = lambda kind: events[(events.feeder == feeder) & (events.kind == kind)].time_s.to_numpy()
    return times_s("excursion_end") - times_s("cap_exceeded")""",
        tuple(reading for name in lines for reading in _power_readings(name, having[name], feeder, over[name])),
        runs.grid(panels, time, titled(f"power [{watts.unit}]", {"range": list(bounds)})),
    )


def _power_readings(name: str, parts: RunParts, feeder: str, over: OverCap) -> Iterator[Reading]:
    if feeder == ROOT:
        peak_w, over_s = parts.metrics.get("peak_power_w"), parts.metrics.get("time_over_cap_s")
    else:
        peak_w, over_s = (
            (parts.metrics.get(metric) or {}).get(feeder)
            for metric in ("peak_power_by_feeder_w", "time_over_cap_by_feeder_s")
        )
    if peak_w is not None:
        yield Reading(f"{cut(name)}, peak", peak_w, "W", f"peak_w({name!r}, {feeder!r})", False)
    if over_s is not None and parts.has("events"):
        yield Reading(f"{cut(name)}, time over the cap", over_s, "s", f"over_s({name!r}, {feeder!r}).sum()", False)
        yield Reading(f"{cut(name)}, excursions", over.count, COUNT, f"len(over_s({name!r}, {feeder!r}))", False)


def _feeders(runs: Runs) -> list[str]:
    """The feeders below the site that were longest above their caps in any run, those that ever were."""
    longest: dict[str, float] = {}
    for parts in runs.parts.values():
        for name, over_s in (parts.metrics.get("time_over_cap_by_feeder_s") or {}).items():
            longest[name] = max(longest.get(name, 0.0), over_s or 0.0)
    found = sorted(
        (name for name, over_s in longest.items() if over_s > 0.0 and name != ROOT), key=lambda name: -longest[name]
    )
    return found[:_FEEDERS]


def tails(runs: Runs) -> Section | None:
    """Time with at least k writers, of all runs in one chart; None if nobody wrote in any."""
    curves = {
        name: np.array(shares)
        for name, parts in runs.parts.items()
        if (shares := parts.metrics.get("writers_share_at_least"))
    }
    if not curves:
        return None
    # Those that reach furthest stand out, those named first among equals.
    in_front = sorted(curves, key=lambda name: (-len(curves[name]), -curves[name][-1]))[: len(OF_GROUPS)]
    in_front = [name for name in curves if name in in_front]
    behind = len(curves) - len(in_front)
    readings = [
        Reading(
            f"{cut(name)}, at least {k}",
            float(shares[k - 1]),
            SHARE,
            f'runs[{name!r}]["metrics"]["writers_share_at_least"][{k} - 1]',
            False,
        )
        for name, shares in curves.items()
        for k in sorted({1, len(shares)})
    ]
    return Section(
        "writers",
        "Writers at once",
        "How often many jobs write together, run by run: the further right a curve goes, the larger its storms."
        + (f" Coloured are the {len(in_front)} that reach furthest; {behind} more are grey." if behind else ""),
        "Share of the run [%] with at least k jobs writing. Triangles at the lower edge stand for shares below it.",
        "shares = {name: run['metrics']['writers_share_at_least'] for name, run in runs.items()}",
        tuple(readings),
        charts.tails(
            {runs.shown[name]: shares for name, shares in curves.items()}, [runs.shown[name] for name in in_front]
        ),
    )


_QUANTILES = {
    "P50": ("checkpoint_duration_p50_s", "quantile(0.5)"),
    "P99": ("checkpoint_duration_p99_s", "quantile(0.99)"),
    "longest": ("checkpoint_duration_max_s", "max()"),
}


def durations(runs: Runs) -> Section | None:
    """Quantiles of the checkpoint times, a row for each run; None if none ended in any."""
    known = {name: parts for name, parts in runs.parts.items() if parts.metrics.get("checkpoint_duration_p50_s")}
    if not known:
        return None
    readings = [
        Reading(f"{cut(name)}, {label}", parts.metrics[metric], "s", f"durations_s({name!r}).{query}", False)
        for name, parts in known.items()
        if parts.has("checkpoints")
        for label, (metric, query) in _QUANTILES.items()
    ]
    return Section(
        "checkpoint-times",
        "Checkpoint times",
        "How long checkpoints take from first byte to last: the median, the 99th percentile and the longest.",
        "Time from first byte to last [s] of the checkpoints ended within the run; quantiles linear between order "
        "statistics.",
        """\
def durations_s(name):
    checkpoints = table(name, "checkpoints")
    return checkpoints.write_end_s - checkpoints.write_start_s""",
        tuple(readings),
        charts.quantiles(
            [runs.shown[name] for name in known],
            {
                label: np.array([or_nan(parts.metrics[metric]) for parts in known.values()])
                for label, (metric, _) in _QUANTILES.items()
            },
        ),
    )
