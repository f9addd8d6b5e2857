"""The chart of a metric over the axes of a sweep: lines, heat maps, or clouds of points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from twin.analysis.metrics import Metric
from twin.report.comparison_summary import interval_words
from twin.report.figures import BLUE, DASHES, OF_GROUPS, SYMBOLS, Figure, or_nan, packed, plain, stacked, title
from twin.report.panels import Panel, grid
from twin.report.run_summary import shown
from twin.report.scales import Scale, with_unit
from twin.report.sweep_points import Axis, Points

_MOST_LINES = 4  # values of an axis that are lines; more are a heat map
_MOST_PANELS = 12
_MOST_LABELLED = 80  # cells of a heat map with their number in it
_MOST_TICKS = 12
_MOST_TOLD = 2500  # cells of which the pointer reads more than the number
_MOST_MARKS, _MOST_WHISKERS = 2000, 300  # points of a sample
_PX, _PANEL_PX, _CELL_PX, _MOST_PX, _LEAST_PX = 320, 220, 34, 560, 300
_WIDE_RANGE = 30.0  # largest over smallest: a logarithmic axis
_DIGITS, _MORE_DIGITS, _CLOSE = 4, 6, 0.01  # of a cell; more where the spread is a small share
_COLOURS = "Viridis"  # even for the eye, also without red or green


def chart(points: Points, metric: Metric, scale: Scale) -> tuple[Figure, str]:
    """The chart of a metric that suits the axes, and how to read it."""
    axes = points.axes
    if points.is_sample or prod(len(axis.values) for axis in axes[2:]) > _MOST_PANELS:
        reads = "Each point of the sample, against each axis in turn; whiskers, where there are few, are intervals."
        if len(points.names) > _MOST_MARKS:
            reads += f" About {_MOST_MARKS:,} of them are drawn, every so many."
        return _cloud(points, metric, scale), reads
    every = list(range(len(points.names)))
    if len(axes) == 1:
        layout = stacked([_PX])
        layout["xaxis"] |= _x(axes[0])
        layout["yaxis"] |= title(with_unit(metric.label, scale))
        return {
            "data": [_line(points, metric, scale, axes[0], every, metric.label, 0)],
            "layout": layout | {"showlegend": False},
        }, ("Mean over the replicas at each value, with its interval.")
    across, along = axes[0], axes[1]
    shorter = min((along, across), key=lambda axis: len(axis.values))
    as_lines = along.is_words or across.is_words or len(shorter.values) <= _MOST_LINES
    if as_lines and len(shorter.values) <= len(OF_GROUPS):
        along = shorter
        across = axes[0] if along is axes[1] else axes[1]
        traces = _lines
        reads = f"Mean over the replicas, with its interval; a line for each value of {along.key}."
    else:
        traces = _heat
        reads = "Mean over the replicas in each cell; cells without a number are points that failed or know none."
    facets = list(product(*(axis.values for axis in axes[2:])))
    panels = []
    for values in facets:
        inside = [
            place
            for place in every
            if all(axis.of_point[place] == value for axis, value in zip(axes[2:], values, strict=True))
        ]
        name = ", ".join(f"{axis.key} {axis.written(value)}" for axis, value in zip(axes[2:], values, strict=True))
        panels.append(Panel(name, traces(points, metric, scale, across, along, inside)))
    if traces is _heat:
        means = np.array(points.means(metric.name)) / scale.size
        _common_colours(panels, scale, (float(np.nanmin(means)), float(np.nanmax(means))))
        x, y = _ticked(across), _ticked(along)
        height_px = min(_MOST_PX, max(_PANEL_PX, _CELL_PX * len(along.values)))
        labels = along.ticks()
    else:
        x, y = _x(across), title(with_unit(metric.label, scale))
        height_px, labels = (_PX if len(panels) == 1 else _PANEL_PX), []
    figure = grid(panels, height_px, x, y, least_px=_LEAST_PX, labels=labels)
    if traces is _heat:
        figure["layout"]["margin"]["r"] = 92  # the scale of colours
        figure["layout"]["meta"]["margins"][0] += 80
    return figure, reads + (" A panel for each value of the other axes." if len(panels) > 1 else "")


def _line(
    points: Points, metric: Metric, scale: Scale, across: Axis, inside: Sequence[int], name: str, number: int
) -> Figure:
    """Mean and interval over an axis, at the points given."""
    places = sorted(inside, key=lambda place: across.values.index(across.of_point[place]))
    found = [points.of(metric.name)[place] for place in places]
    middle, low, high = (
        np.array([or_nan(getattr(each, end)) for each in found]) / scale.size for end in ("mean", "low", "high")
    )
    colour = OF_GROUPS[number]
    return {
        "type": "scatter",
        "mode": "markers" if across.is_words else "lines+markers",
        "name": name,
        "x": _across(across, places),
        "y": packed(middle),
        "line": {"color": colour, "width": 1.8, "dash": DASHES[number % len(DASHES)]},
        "marker": {"color": colour, "size": 7, "symbol": SYMBOLS[number]},
        "error_y": _whiskers(middle, low, high, colour),
        "customdata": _told(points, metric, places),
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _lines(
    points: Points, metric: Metric, scale: Scale, across: Axis, along: Axis, inside: Sequence[int]
) -> list[Figure]:
    return [
        _line(
            points,
            metric,
            scale,
            across,
            [place for place in inside if along.of_point[place] == value],
            f"{plain([along.key])[0]} {tick}",
            number,
        )
        for number, (value, tick) in enumerate(zip(along.values, along.ticks(), strict=True))
    ]


def _heat(
    points: Points, metric: Metric, scale: Scale, across: Axis, along: Axis, inside: Sequence[int]
) -> list[Figure]:
    z = np.full((len(along.values), len(across.values)), np.nan)
    words = np.full(z.shape, "", dtype=object)
    means = points.means(metric.name)
    is_told = z.size <= _MOST_TOLD
    for place, told in zip(inside, _told(points, metric, inside) if is_told else [""] * len(inside), strict=True):
        cell = along.values.index(along.of_point[place]), across.values.index(across.of_point[place])
        z[cell] = means[place] / scale.size
        words[cell] = told
    heat: Figure = {
        "type": "heatmap",
        "name": metric.label,
        "z": packed(z),
        "x0": 0,
        "dx": 1,
        "y0": 0,
        "dy": 1,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "hovertemplate": "%{text}<extra></extra>" if is_told else f"%{{z:.5~g}} {scale.unit}<extra></extra>",
    } | ({"text": words.tolist()} if is_told else {})
    if z.size <= _MOST_LABELLED:
        heat |= {"texttemplate": f"%{{z:.{_digits(z)}~g}}", "textfont": {"size": 11}}
    return [heat]


def _digits(z: np.ndarray) -> int:
    """Digits that tell the cells apart."""
    spread, largest = float(np.nanmax(z) - np.nanmin(z)), float(np.nanmax(np.abs(z)))
    return _DIGITS if spread >= _CLOSE * largest else _MORE_DIGITS


def _common_colours(panels: Sequence[Panel], scale: Scale, bounds: tuple[float, float]) -> None:
    """One scale of colours for all panels, shown once."""
    for number, heat in enumerate(trace for panel in panels for trace in panel.data):
        heat |= {
            "zmin": bounds[0],
            "zmax": bounds[1],
            "colorscale": _COLOURS,
            "showscale": number == 0,
            "colorbar": {
                "title": {"text": scale.unit, "side": "top"},
                "thickness": 12,
                "outlinewidth": 0,
                "len": 1,
                "x": 1.01,
            },
        }


def _cloud(points: Points, metric: Metric, scale: Scale) -> Figure:
    """A panel for each axis: the metric of every point against it."""
    places = list(range(len(points.names)))[:: -(-len(points.names) // _MOST_MARKS)]
    found = [points.of(metric.name)[place] for place in places]
    middle, low, high = (
        np.array([or_nan(getattr(each, end)) for each in found]) / scale.size for end in ("mean", "low", "high")
    )
    whiskers = (
        {"error_y": _whiskers(middle, low, high, "rgba(59,130,246,0.35)")} if len(found) <= _MOST_WHISKERS else {}
    )
    panels = [
        Panel(
            axis.key,
            [
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": metric.label,
                    "x": _across(axis, places),
                    "y": packed(middle),
                    "marker": {"color": BLUE, "size": 6, "opacity": 0.7},
                    "customdata": packed(np.array(places, dtype=np.int32) + 1),
                    "hovertemplate": f"point %{{customdata}}: %{{y:.5~g}} {scale.unit}<extra></extra>",
                    **whiskers,
                }
            ],
            x=_x(axis),
        )
        for axis in points.axes
    ]
    return grid(panels, _PANEL_PX, {}, title(with_unit(metric.label, scale)), shared="y", least_px=_LEAST_PX)


def _whiskers(middle: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> Figure:
    return {
        "type": "data",
        "symmetric": False,
        "array": packed(high - middle),
        "arrayminus": packed(middle - low),
        "color": colour,
        "thickness": 1.3,
        "width": 3,
    }


def _told(points: Points, metric: Metric, places: Sequence[int]) -> list[str]:
    """What the pointer reads at each point."""
    found = points.of(metric.name)
    return [
        f"{plain([points.at(place)])[0]}<br>{metric.label}: {shown(metric, found[place].mean)} "
        f"{interval_words(metric, found[place].low, found[place].high)}"
        for place in places
    ]


def _across(axis: Axis, places: Sequence[int]) -> Figure:
    if axis.is_words:
        return packed(np.array([axis.values.index(axis.of_point[place]) for place in places], dtype=np.int32))
    return packed(np.array([axis.of_point[place] for place in places], dtype=np.float64) / axis.scale.size)


def _x(axis: Axis) -> Figure:
    """A horizontal axis of numbers, or of words in their order."""
    if axis.is_words:
        return _ticked(axis)
    found = title(with_unit(plain([axis.key])[0], axis.scale))
    lowest, highest = min(axis.values), max(axis.values)
    return found | ({"type": "log"} if 0.0 < lowest * _WIDE_RANGE < highest else {})


def _ticked(axis: Axis) -> Figure:
    """An axis on which every value has the same room."""
    every = -(-len(axis.values) // _MOST_TICKS)
    return title(plain([axis.key])[0]) | {
        "tickvals": list(range(len(axis.values)))[::every],
        "ticktext": axis.ticks()[::every],
        "range": [-0.5, len(axis.values) - 0.5],
        "showgrid": False,
    }
