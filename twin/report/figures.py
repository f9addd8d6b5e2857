"""What all charts share: packing of numbers, colours, layout, axes and the traces of step functions.

Colours stand out on white and on near black alike. Texts, grid and hover boxes get theirs from the style sheet of the
page, so that a change of theme, or from screen to paper, draws nothing anew.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.analysis.blocks import Floats
from twin.report.scales import Scale

Figure = dict[str, Any]
Line = tuple[Floats, Floats]  # times [s] and levels of a step function

BLUE, ORANGE, GREEN, RED, GREY = "#3b82f6", "#ea6a12", "#0d9a83", "#dc2f3c", "#8592a6"
OF_GROUPS = (BLUE, ORANGE, GREEN, "#a855f7", "#ca8a04", "#db2777", "#65a30d", GREY)
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star", "hexagon")  # colour is never alone
DASHES = ("solid", "dash", "dashdot", "dot")
OF_JOBS = [[0.0, BLUE], [0.25, GREEN], [0.5, "#ca8a04"], [0.75, ORANGE], [1.0, "#c026d3"]]
COMPUTING = "rgba(59,130,246,0.3)"
# Share of a cell spent writing, from all computing to all writing. The colour goes with the root of the share: a few
# percent show, and what mostly computes still looks like it.
OF_SHARES: list[tuple[float, str]] = [
    (0.0, COMPUTING),
    (0.01, "rgba(72,124,230,0.35)"),
    (0.04, "rgba(130,90,185,0.55)"),
    (0.1, "rgba(178,92,120,0.65)"),
    (0.25, "rgba(212,92,62,0.75)"),
    (0.5, "rgba(225,92,25,0.85)"),
    (1.0, "rgba(234,88,12,1)"),
]
OF_COUNTS = [[0.0, "rgba(234,106,18,0.25)"], [1.0, "rgba(234,88,12,1)"]]

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
_INK = "#75808f"
_GRID = "rgba(128,140,158,0.28)"
_LEFT_PX, _TOP_PX, _BOTTOM_PX, _GAP_PX = 62, 34, 46, 22  # fixed: plotly's own margins cost it several redraws
_LABEL_PX = 6.0  # width of a character beside a row
LABEL_CHARACTERS = 16


def packed(values: NDArray[Any]) -> dict[str, str]:
    """Numbers as plotly reads them from base64: exact, and a third of the size of text."""
    array = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    shape = {"shape": ", ".join(map(str, array.shape))} if array.ndim > 1 else {}
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    return {"dtype": kind, "bdata": b64encode(array.tobytes()).decode("ascii"), **shape}


def stacked(
    panels_px: Sequence[int], bottom_px: int = _BOTTOM_PX, left_px: int = _LEFT_PX, top_px: int = _TOP_PX
) -> dict[str, Any]:
    """The layout of panels one above the other, the first on top, that share one horizontal axis.

    Args:
        panels_px: height of each panel; its vertical axis is ``yaxis``, ``yaxis2``, ... in turn.
    """
    inner_px = sum(panels_px) + _GAP_PX * (len(panels_px) - 1)
    layout: dict[str, Any] = {
        "height": inner_px + top_px + bottom_px,
        "margin": {"l": left_px, "r": 12, "t": top_px, "b": bottom_px},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _FONT, "size": 12, "color": _INK},
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"},
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)"},
        "barmode": "overlay",
        "bargap": 0.25,
        "xaxis": _axis() | {"anchor": f"y{len(panels_px)}" if len(panels_px) > 1 else "y"},
    }
    edge_px = inner_px
    for number, panel_px in enumerate(panels_px, 1):
        domain = [max(0.0, (edge_px - panel_px) / inner_px), edge_px / inner_px]
        layout[f"yaxis{number if number > 1 else ''}"] = _axis() | {"domain": domain, "anchor": "x"}
        edge_px -= panel_px + _GAP_PX
    return layout


def title(text: str) -> dict[str, Any]:
    """The title of an axis."""
    return {"title": {"text": text, "standoff": 8}}


def time_axis(time: Scale, start_s: float, end_s: float, after: str = "") -> dict[str, Any]:
    """A horizontal axis over the times given; ``after`` says from when they count."""
    start, end = start_s / time.size, end_s / time.size
    return title(f"time{after} [{time.unit}]") | {"range": [start, end]}


def step_trace(steps: Line, time: Scale, scale: Scale, name: str, colour: str, **keys: Any) -> Figure:
    """A step function; ``keys`` add to the trace, as in ``yaxis="y2"``."""
    style = {"color": colour, "width": 1.4, "shape": "hv"} | keys.pop("line", {})
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": packed(time.of(steps[0])),
        "y": packed(scale.of(steps[1])),
        "line": style,
        "hovertemplate": f"%{{x:.6~g}} {time.unit}<br>%{{y:.5~g}} {scale.unit}<extra>{name}</extra>",
        **keys,
    }


def band_traces(
    steps: Line, means: Line | None, time: Scale, scale: Scale, name: str, colour: str, **keys: Any
) -> list[Figure]:
    """A step function; a dense one as a pale band, with a strong line for its mean."""
    if means is None:
        return [step_trace(steps, time, scale, name, colour, **keys)]
    return [
        step_trace(steps, time, scale, name, colour, opacity=0.4, line={"width": 1.0}, legendgroup=name, **keys)
        | {"showlegend": False},
        step_trace(means, time, scale, f"mean {name}", colour, line={"width": 2.0}, legendgroup=name, **keys)
        | {"name": name},
    ]


def level_trace(level: float, end: float, name: str, start: float = 0.0, **keys: Any) -> Figure:
    """A dashed line at one level, in the units of the axes."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [start, end],
        "y": [level, level],
        "line": {"color": RED, "width": 1.6, "dash": "dash"},
        "hovertemplate": f"%{{y:.5~g}}<extra>{name}</extra>",
        **keys,
    }


def job_axis(names: Sequence[str]) -> dict[str, Any]:
    """A vertical axis of jobs, the first on top; long names are shortened, and all are plain text."""
    shown = plain([name if len(name) <= LABEL_CHARACTERS else f"{name[: LABEL_CHARACTERS - 1]}…" for name in names])
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": plain(names),
        "tickvals": plain(names),
        "ticktext": shown,
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
        "tickfont": {"size": 10},
        "title": None,
    }


def labels_px(names: Sequence[str]) -> int:
    """Room to the left that the labels of ``job_axis`` need, and any other axis."""
    longest = min(LABEL_CHARACTERS, max((len(name) for name in names), default=0))
    return max(_LEFT_PX, ceil(_LABEL_PX * longest) + 14)


def or_nan(value: float | None) -> float:
    """The value, or NaN for one that is not known: a gap in a chart."""
    return float("nan") if value is None else float(value)


def plain(names: Sequence[str]) -> list[str]:
    """Names as text of a chart, where ``<`` would begin a tag."""
    return [escape(name, quote=False) for name in names]  # plotly knows no &quot;


def _axis() -> dict[str, Any]:
    return {
        "gridcolor": _GRID,
        "linecolor": _GRID,
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": _GRID,
    }
