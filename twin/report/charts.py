"""Arrays -> one chart each, as plotly figures: plain mappings of data and layout, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    GREEN,
    GREY,
    OF_COUNTS,
    OF_GROUPS,
    OF_JOBS,
    OF_SHARES,
    ORANGE,
    RED,
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
from twin.report.scales import Scale, scale_for

_PHASES_PX, _STORE_PX, _TAIL_PX, _DURATIONS_PX, _POWER_PX, _SPEED_PX = 320, 170, 300, 280, 240, 110
_WINDOW_WRITERS_PX, _WINDOW_POWER_PX = 90, 130
_TOP_AXIS_PX = 58  # room for the buttons above an axis on top
_TAIL_LEFT_PX = 84  # "0.00001" beside the title of the axis
_ROW_PX, _NARROW_ROW_PX, _WIDE_ROWS = 18, 12, 40
_LOWEST_POWER = -5  # of ten, in percent of time: where a logarithmic axis ends, at a second of four months
_LOWEST_SHARE = 10.0 ** (_LOWEST_POWER - 2)
_FEWEST_ROWS = 3
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
    data = []
    for (name, shares), style in zip(curves.items(), styles, strict=False):
        is_seen = shares >= _LOWEST_SHARE
        drawn = np.maximum(shares, _LOWEST_SHARE)
        style["marker"]["symbol"] = np.where(is_seen, style["marker"]["symbol"], "triangle-down-open").tolist()
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": packed(np.arange(1, len(shares) + 1, dtype=np.int32)),
                "y": packed(100.0 * drawn),
                "customdata": packed(100.0 * shares),
                "hovertemplate": f"at least %{{x}} writers: %{{customdata:.4~g}} %<extra>{name}</extra>",
                **style,
            }
        )
    lowest = max(_LOWEST_SHARE, min(float(shares.min(initial=1.0)) for shares in curves.values()))
    most = max(len(shares) for shares in curves.values())
    layout = stacked([_TAIL_PX], left_px=_TAIL_LEFT_PX)
    layout["xaxis"] |= title("at least k writers") | {"tickformat": "d", "range": [0.5, most + 0.5]}
    layout["xaxis"] |= {"dtick": 1} if most <= _MOST_WHOLE_TICKS else {}
    powers = range(max(_LOWEST_POWER, floor(log10(100.0 * lowest))), 3)
    layout["yaxis"] |= title("share of time [%]") | {"type": "log", "range": [log10(100.0 * lowest) - 0.3, 2.15]}
    layout["yaxis"] |= {"tickvals": [10.0**power for power in powers], "ticktext": [_decade(each) for each in powers]}
    return {"data": data, "layout": layout}


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


def power(draw_w: ThinnedLine, cap: Line | None, throttled: Throttled | None, end_s: float) -> Figure:
    """Draw and cap of the site over the run; where a cap is enforced, demand, and the speed commanded beneath."""
    lines = [draw_w] if throttled is None else [draw_w, throttled.demand_w]
    highest_w = max(float(line.points()[1].max()) for line in lines)
    time, watts = scale_for(end_s, "s"), scale_for(max(highest_w, _highest(cap)), "W")
    layout = stacked([_POWER_PX] if throttled is None else [_POWER_PX, _SPEED_PX])
    layout["xaxis"] |= time_axis(time, 0.0, end_s)
    layout["yaxis"] |= title(f"power [{watts.unit}]")
    data = []
    if throttled is not None:
        demand_w = throttled.demand_w
        data += band_traces(demand_w.points(), demand_w.means(), time, watts, "demand at full speed", GREY)
    data += band_traces(draw_w.points(), draw_w.means(), time, watts, "draw", BLUE)
    if cap is not None:
        data.append(_cap_trace(cap, time, watts))
    if throttled is not None:
        speed = throttled.speed
        layout["yaxis2"] |= title("speed") | {"range": [0.0, 1.05]}
        data += band_traces(speed.points(), speed.means(), time, _COUNT, "speed", GREEN, yaxis="y2")
    return {"data": data, "layout": layout}


def _highest(cap: Line | None) -> float:
    return 0.0 if cap is None else float(cap[1].max())


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
