"""Arrays -> one chart each, as plotly figures: plain mappings of data and layout, ready for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats
from twin.analysis.durations import Histogram
from twin.analysis.rhythm import LEAD
from twin.report.downsampling import ThinnedLine
from twin.report.figures import (
    BLUE,
    COMPUTING,
    DASHES,
    GREEN,
    GREY,
    LABEL_CHARACTERS,
    OF_COUNTS,
    OF_GROUPS,
    OF_JOBS,
    OF_SHARES,
    ORANGE,
    RED,
    SYMBOLS,
    Figure,
    Line,
    band_traces,
    job_axis,
    labels_px,
    level_trace,
    packed,
    plain,
    stacked,
    step_trace,
    time_axis,
    title,
)
from twin.report.over_cap import OverCap
from twin.report.panels import cut, rows_axis
from twin.report.scales import Scale, scale_for

_PHASES_PX, _STORE_PX, _TAIL_PX, _DURATIONS_PX, _POWER_PX, _SPEED_PX = 320, 170, 300, 280, 240, 110
_WINDOW_WRITERS_PX, _WINDOW_POWER_PX = 90, 130
_TOP_AXIS_PX = 58  # room for the buttons above an axis on top
_TAIL_LEFT_PX = 84  # "0.00001" beside the title of the axis
_ROW_PX, _NARROW_ROW_PX, _WIDE_ROWS = 18, 12, 40
_LOWEST_POWER = -5  # of ten, in percent of time: where a logarithmic axis ends, at a second of four months
_LOWEST_SHARE = 10.0 ** (_LOWEST_POWER - 2)
_FEWEST_ROWS = 3
_WIDE_RANGE = 30.0  # largest over smallest: a logarithmic axis
METER = "what the meter shows"
_COUNT_TICKS = 5
_MOST_WHOLE_TICKS = 8
_COUNT = Scale("", 1.0)


@dataclass(frozen=True, slots=True)
class Throttled:
    """What a cap that is enforced does: demand at full speed [W] and commanded speed [-]."""

    demand_w: ThinnedLine
    speed: ThinnedLine


@dataclass(frozen=True, slots=True)
class Spans:
    """Stretches of time of jobs: row of each among the names drawn, start and end [s], shape (n,) each."""

    row: NDArray[np.integer]
    start_s: Floats
    end_s: Floats


def timeline(shares: Floats, names: Sequence[str], cell_s: float) -> Figure:
    """What each job did over the whole run: a row a job, a cell for each stretch of time.

    Args:
        shares: share of a cell spent writing [-], NaN for a job that is not there, shape (jobs, cells).
    """
    rows, cells = shares.shape
    time = scale_for(cells * cell_s, "s")
    layout = stacked([rows * _row_px(rows)], bottom_px=10, left_px=labels_px(names), top_px=_TOP_AXIS_PX)
    layout["xaxis"] |= time_axis(time, 0.0, cells * cell_s) | {"side": "top", "title": None}
    layout["xaxis"] |= {"ticksuffix": f" {time.unit}"}
    layout["yaxis"] |= job_axis(names)
    heat = {
        "type": "heatmap",
        "z": packed((100.0 * shares).astype(np.float32)),
        "x0": 0.5 * cell_s / time.size,
        "dx": cell_s / time.size,
        "y": plain(names),
        "zmin": 0.0,
        "zmax": 100.0,
        "colorscale": OF_SHARES,
        "showscale": False,
        "hoverongaps": False,
        "ygap": 2 if rows <= _WIDE_ROWS else 1,
        "hovertemplate": f"%{{x:.5~g}} {time.unit}: %{{z:.3~g}} % writing<extra>%{{y}}</extra>",
    }
    return {"data": [heat], "layout": layout}


def window(
    names: Sequence[str],
    computing: Spans,
    writing: Spans,
    lines: Mapping[str, Line],
    bounds_s: tuple[float, float],
    anchor: tuple[float, str],
    cap: Line | None,
) -> Figure:
    """A short window enlarged: the writers and the power, and beneath them the phases of the jobs.

    Args:
        lines: ``writers``, ``draw_w`` and ``demand_w``; the panels of those left out are left out.
        bounds_s: start and end of the window [s].
        anchor: the time that is 0 on the axis [s], and how it reads.
    """
    start_s, end_s = (bound_s - anchor[0] for bound_s in bounds_s)
    time = scale_for(end_s - start_s, "s")
    panels: list[int] = []
    data = []
    shifted = {name: (times_s - anchor[0], levels) for name, (times_s, levels) in lines.items()}
    axes = []
    if "writers" in shifted:
        panels.append(_WINDOW_WRITERS_PX)
        panel = _axis_of(len(panels))
        data.append(step_trace(shifted["writers"], time, _COUNT, "writers", ORANGE, yaxis=panel, showlegend=False))
        axes.append(_count_axis("writers", float(shifted["writers"][1].max())))
    if "draw_w" in shifted:
        panels.append(_WINDOW_POWER_PX)
        panel = _axis_of(len(panels))
        power = scale_for(max(float(shifted["demand_w"][1].max()), _highest(cap)), "W")
        if cap is not None:
            data.append(step_trace(shifted["demand_w"], time, power, "demand at full speed", GREY, yaxis=panel))
        data.append(step_trace(shifted["draw_w"], time, power, "draw", BLUE, yaxis=panel))
        if cap is not None:
            data.append(_cap_trace((cap[0] - anchor[0], cap[1]), time, power, yaxis=panel))
        axes.append(title(f"power [{power.unit}]"))
    panels.append(max(_FEWEST_ROWS, len(names)) * _row_px(len(names)))
    panel = _axis_of(len(panels))
    data += [
        _bars("computing", computing, names, anchor[0], time, COMPUTING) | {"yaxis": panel},
        _bars("writing", writing, names, anchor[0], time, ORANGE) | {"yaxis": panel},
    ]
    layout = stacked(panels, left_px=labels_px(names))
    layout["xaxis"] |= time_axis(time, start_s, end_s, f" after {anchor[1]}")
    for number, axis in enumerate([*axes, job_axis(names)], 1):
        layout[_axis_of(number).replace("y", "yaxis")] |= axis
    return {"data": data, "layout": layout}


def fire_marks(
    time_s: Floats, place: Floats, job: NDArray[np.integer], groups: Mapping[str, NDArray[np.bool_]], end_s: float
) -> Figure:
    """The place in the period of each fire, against its time: a mark each, coloured by job, or by group if several.

    Args:
        job: number of the job in the order of first launch, which gives its colour.
        groups: name of each group and the marks that belong to it.
    """
    time = scale_for(end_s, "s")
    size = float(np.clip(160.0 / len(time_s) ** 0.5, 2.5, 6.0))
    data = []
    for number, (name, mine) in enumerate(groups.items()):
        one_group = len(groups) == 1
        marker = {"color": packed(job[mine].astype(np.int32)), "colorscale": OF_JOBS, "showscale": False}
        if not one_group:
            marker = {"color": OF_GROUPS[min(number, len(OF_GROUPS) - 1)]}
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain([name])[0],
                "x": packed(time.of(time_s[mine])),
                "y": packed(place[mine]),
                "marker": marker | {"size": size, "opacity": 0.85},
                "showlegend": not one_group,
                "hovertemplate": f"%{{x:.6~g}} {time.unit}: %{{y:.4~f}} period<extra>%{{fullData.name}}</extra>",
            }
        )
    return {"data": data, "layout": _phase_layout(time, end_s)}


def fire_density(counts: NDArray[np.integer], cell_s: float, end_s: float) -> Figure:
    """The same for more fires than can be marked: how many fell into each cell of time and place.

    Args:
        counts: shape (places, cells), places from -LEAD to 1 - LEAD of the period.
    """
    time = scale_for(end_s, "s")
    places = counts.shape[0]
    heat = {
        "type": "heatmap",
        "z": packed(np.where(counts > 0, counts, np.nan).astype(np.float32)),
        "x0": 0.5 * cell_s / time.size,
        "dx": cell_s / time.size,
        "y0": -LEAD + 0.5 / places,
        "dy": 1.0 / places,
        "colorscale": OF_COUNTS,
        "zmin": 0,
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": f"%{{x:.5~g}} {time.unit}<br>%{{y:.3~f}} of the period<br>%{{z}} fires<extra></extra>",
    }
    return {"data": [heat], "layout": _phase_layout(time, end_s)}


def store(writers: ThinnedLine, rate_b_s: ThinnedLine, bandwidth_b_s: float, end_s: float) -> Figure:
    """Writers, and the total rate of the store beneath, over the run."""
    time, rate = scale_for(end_s, "s"), scale_for(bandwidth_b_s, "B/s")
    layout = stacked([_STORE_PX, _STORE_PX])
    layout["xaxis"] |= time_axis(time, 0.0, end_s)
    layout["yaxis"] |= _count_axis("writers", float(writers.points()[1].max(initial=0.0)))
    layout["yaxis2"] |= title(f"rate [{rate.unit}]") | {"rangemode": "tozero"}
    data = [
        *band_traces(writers.points(), writers.means(), time, _COUNT, "writers", ORANGE),
        *band_traces(rate_b_s.points(), rate_b_s.means(), time, rate, "store rate", BLUE, yaxis="y2"),
        level_trace(bandwidth_b_s / rate.size, end_s / time.size, "bandwidth", yaxis="y2"),
    ]
    return {"data": data, "layout": layout}


def tail(curves: Mapping[str, Floats]) -> Figure:
    """Share of time with at least k writers, k = 1, 2, ..., a curve for each entry, the measured one first."""
    styles: tuple[Figure, ...] = (
        {"marker": {"color": ORANGE, "size": 8, "symbol": "circle"}, "line": {"color": ORANGE, "width": 2.2}},
        {
            "marker": {"color": GREY, "size": 6, "symbol": "circle"},
            "line": {"color": GREY, "width": 1.6, "dash": "dot"},
        },
        {"marker": {"color": GREEN, "size": 9, "symbol": "diamond-open"}, "line": {"color": GREEN, "width": 1.2}},
    )
    data = [_tail_curve(name, shares, style) for (name, shares), style in zip(curves.items(), styles, strict=False)]
    return {"data": data, "layout": _tail_layout(curves.values())}


def tails(curves: Mapping[str, Floats], in_front: Sequence[str]) -> Figure:
    """The same of several runs, by the names shown; those in front are coloured, in the legend and on top.

    Args:
        in_front: at most as many as there are colours.
    """
    data = [
        _tail_curve(
            name,
            shares,
            {"marker": {"color": GREY, "size": 4, "symbol": "circle"}, "line": {"color": GREY, "width": 1.0}},
        )
        | {"showlegend": False, "opacity": 0.5}
        for name, shares in curves.items()
        if name not in in_front
    ]
    for number, name in enumerate(in_front):
        colour = OF_GROUPS[number]
        marker = {"color": colour, "size": 7, "symbol": SYMBOLS[number]}
        line = {"color": colour, "width": 1.8, "dash": DASHES[number % len(DASHES)]}
        data.append(_tail_curve(name, curves[name], {"marker": marker, "line": line}))
    layout = _tail_layout(curves.values())
    layout["showlegend"] = True
    return {"data": data, "layout": layout}


def quantiles(rows: Sequence[str], marks_s: Mapping[str, Floats]) -> Figure:
    """Durations of checkpoints, a row for each run: a mark for each quantile, by its name.

    Args:
        rows: names shown, from the top.
        marks_s: shape (rows,) each, NaN where not known.
    """
    time = scale_for(max(float(np.nanmax(values)) for values in marks_s.values()), "s")
    layout = stacked([max(_FEWEST_ROWS, len(rows)) * _row_px(len(rows)) + 20], left_px=labels_px(rows))
    known = np.array([*marks_s.values()]) / time.size
    layout["xaxis"] |= title(f"time from first byte to last [{time.unit}]")
    lowest, highest = float(np.nanmin(known)), float(np.nanmax(known))
    if lowest > 0.0 and highest / lowest > _WIDE_RANGE:
        layout["xaxis"] |= {"type": "log", "dtick": 1}
    layout["yaxis"] |= rows_axis([cut(name, LABEL_CHARACTERS) for name in rows])
    layout["hovermode"] = "closest"
    place = np.arange(len(rows), dtype=np.int32)
    whisker = np.column_stack([known.min(axis=0), known.max(axis=0), np.full(len(rows), np.nan)])
    data: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "range",
            "x": packed(whisker.ravel()),
            "y": packed(np.repeat(place, 3)),
            "line": {"color": GREY, "width": 1.2},
            "opacity": 0.6,
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]
    # The last one is a stroke, so that it hides no other at the same place.
    symbols = [*SYMBOLS[: len(marks_s) - 1], "line-ns-open"]
    for number, ((name, values), symbol) in enumerate(zip(marks_s.items(), symbols, strict=True)):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": packed(time.of(values)),
                "y": packed(place),
                "text": plain(rows),
                "marker": {"color": OF_GROUPS[number], "size": 9 + number, "symbol": symbol}
                | ({"line": {"width": 2}} if symbol.endswith("open") else {}),
                "hovertemplate": f"%{{text}}: %{{x:.5~g}} {time.unit}<extra>{name}</extra>",
            }
        )
    return {"data": data, "layout": layout}


def _tail_curve(name: str, shares: Floats, style: Figure) -> Figure:
    is_seen = shares >= _LOWEST_SHARE
    style["marker"]["symbol"] = np.where(is_seen, style["marker"]["symbol"], "triangle-down-open").tolist()
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain([name])[0],
        "x": packed(np.arange(1, len(shares) + 1, dtype=np.int32)),
        "y": packed(100.0 * np.maximum(shares, _LOWEST_SHARE)),
        "customdata": packed(100.0 * shares),
        "hovertemplate": "at least %{x} writers: %{customdata:.4~g} %<extra>%{fullData.name}</extra>",
        **style,
    }


def _tail_layout(curves: Iterable[Floats]) -> Figure:
    known = list(curves)
    lowest = max(_LOWEST_SHARE, min(float(shares.min(initial=1.0)) for shares in known))
    most = max(len(shares) for shares in known)
    layout = stacked([_TAIL_PX], left_px=_TAIL_LEFT_PX)
    layout["xaxis"] |= title("at least k writers") | {"tickformat": "d", "range": [0.5, most + 0.5]}
    layout["xaxis"] |= {"dtick": 1} if most <= _MOST_WHOLE_TICKS else {}
    powers = range(max(_LOWEST_POWER, floor(log10(100.0 * lowest))), 3)
    layout["yaxis"] |= title("share of time [%]") | {"type": "log", "range": [log10(100.0 * lowest) - 0.3, 2.15]}
    layout["yaxis"] |= {"tickvals": [10.0**power for power in powers], "ticktext": [_decade(each) for each in powers]}
    return layout


def durations(histogram: Histogram, marks_s: Mapping[str, float]) -> Figure:
    """Number of checkpoints by duration, with upright lines at ``marks_s`` by name."""
    time = scale_for(float(histogram.edges[-1]), "s")
    edges = time.of(histogram.edges)
    bars = {
        "type": "bar",
        "name": "checkpoints",
        "x": packed(0.5 * (edges[1:] + edges[:-1])),
        "y": packed(histogram.counts.astype(np.int32)),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": ORANGE, "opacity": 0.75},
        "customdata": packed(np.column_stack([edges[:-1], edges[1:]])),
        "hovertemplate": f"%{{customdata[0]:.4~g}} to %{{customdata[1]:.4~g}} {time.unit}: %{{y}}<extra></extra>",
        "showlegend": False,
    }
    top = max(1.0, float(histogram.counts.max()))
    colours = (GREEN, BLUE, "#a855f7", RED)
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": [mark_s / time.size] * 2,
            "y": [0.5, 1.6 * top],
            "line": {"color": colour, "width": 2, "dash": dash},
            "hovertemplate": f"%{{x:.5~g}} {time.unit}<extra>{name}</extra>",
        }
        for (name, mark_s), colour, dash in zip(
            marks_s.items(), colours, ("solid", "dash", "dashdot", "dot"), strict=False
        )
    ]
    layout = stacked([_DURATIONS_PX])
    margin = 0.02 * float(edges[-1] - edges[0])
    layout["xaxis"] |= title(f"time from first byte to last [{time.unit}]")
    layout["xaxis"] |= {"range": [max(0.0, float(edges[0]) - margin), float(edges[-1]) + margin]}
    layout["yaxis"] |= title("checkpoints") | {"type": "log", "range": [log10(0.5), log10(2.0 * top)], "dtick": 1}
    return {"data": [bars, *lines], "layout": layout}


def power(
    draw_w: ThinnedLine,
    caps: tuple[Line | None, Line | None],
    throttled: Throttled | None,
    end_s: float,
    over: OverCap,
    meter_w: Line | None = None,
) -> Figure:
    """Draw and cap of the site over the run; where a cap is enforced, demand, and the speed commanded beneath.

    Args:
        caps: the cap, and what excursions are counted against if that is not the cap.
        over: when the draw was above it.
        meter_w: what a meter would have read.
    """
    lines = [draw_w.points(), *([] if throttled is None else [throttled.demand_w.points()])]
    bounds_w = power_bounds([*lines, *(line for line in caps if line is not None)])
    time, watts = scale_for(end_s, "s"), scale_for(bounds_w[1], "W")
    layout = stacked([_POWER_PX] if throttled is None else [_POWER_PX, _SPEED_PX])
    layout["xaxis"] |= time_axis(time, 0.0, end_s)
    bounds = bounds_w[0] / watts.size, bounds_w[1] / watts.size
    layout["yaxis"] |= title(f"power [{watts.unit}]") | {"range": list(bounds)}
    data = over.traces(time, bounds)
    if throttled is not None:
        demand_w = throttled.demand_w
        data += band_traces(demand_w.points(), demand_w.means(), time, watts, "demand at full speed", GREY)
    data += band_traces(draw_w.points(), draw_w.means(), time, watts, "draw", BLUE)
    if meter_w is not None:
        data.append(step_trace(meter_w, time, watts, METER, ORANGE, line={"width": 1.6}))
    data += cap_traces(*caps, time, watts)
    if throttled is not None:
        speed = throttled.speed
        layout["yaxis2"] |= title("speed") | {"range": [0.0, 1.05]}
        data += band_traces(speed.points(), speed.means(), time, _COUNT, "speed", GREEN, yaxis="y2")
    return {"data": data, "layout": layout}


def _highest(cap: Line | None) -> float:
    return 0.0 if cap is None else float(cap[1].max())


def power_bounds(lines: Sequence[Line]) -> tuple[float, float]:
    """The power between which lines are drawn [W], with a margin."""
    lowest_w, highest_w = (pick(pick(line[1]) for line in lines) for pick in (min, max))
    margin_w = 0.05 * (highest_w - lowest_w) or 0.05 * highest_w or 1.0
    return float(lowest_w - margin_w), float(highest_w + margin_w)


def cap_traces(cap: Line | None, limit: Line | None, time: Scale, watts: Scale) -> list[Figure]:
    """The cap of a feeder, and what excursions are counted against, where there is such."""
    dotted = {"line": {"width": 1.6, "dash": "dot"}}
    return [
        *([] if cap is None else [_cap_trace(cap, time, watts)]),
        *([] if limit is None else [step_trace(limit, time, watts, "limit of excursions", RED, **dotted)]),
    ]


def _cap_trace(cap: Line, time: Scale, watts: Scale, **keys: Any) -> Figure:
    """The cap, a dashed line with a step where it changes."""
    return step_trace(cap, time, watts, "cap", RED, line={"width": 1.6, "dash": "dash"}, **keys)


def _count_axis(name: str, largest: float) -> Figure:
    return title(name) | {"rangemode": "tozero", "tickformat": "d", "dtick": max(1, ceil(largest / _COUNT_TICKS))}


def _axis_of(panel: int) -> str:
    """The vertical axis of a panel, counted from 1, as a trace names it."""
    return f"y{panel}" if panel > 1 else "y"


def _decade(power: int) -> str:
    """A power of ten in plain digits; at the end of the axis stand all shares below."""
    return f"{'≤ ' if power == _LOWEST_POWER else ''}{10.0**power:.{max(0, -power)}f}"


def _bars(name: str, spans: Spans, names: Sequence[str], zero_s: float, time: Scale, colour: str) -> Figure:
    rows = plain(names)
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [rows[row] for row in spans.row.tolist()],
        "base": packed(time.of(spans.start_s - zero_s)),
        "x": packed(time.of(spans.end_s - spans.start_s)),
        "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": f"%{{base:.5~g}} {time.unit}, for %{{value:.5~g}} {time.unit}<extra>%{{y}} {name}</extra>",
    }


def _phase_layout(time: Scale, end_s: float) -> Figure:
    layout = stacked([_PHASES_PX])
    layout["xaxis"] |= time_axis(time, 0.0, end_s)
    layout["legend"] |= {"itemsizing": "constant"}
    layout["yaxis"] |= title("place in the period") | {"range": [-LEAD, 1.0 - LEAD], "dtick": 0.25}
    return layout


def _row_px(rows: int) -> int:
    return _ROW_PX if rows <= _WIDE_ROWS else _NARROW_ROW_PX
