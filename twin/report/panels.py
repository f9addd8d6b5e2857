"""Small multiples: panels of one kind with common axes, in as many columns as the page is wide.

How many columns there are, the script of the page decides when it draws, and again on paper and on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Literal
from unicodedata import category

from twin.report.figures import Figure, labels_px, plain, stacked, title

Shared = Literal["both", "x", "y"]

_WIDE_COLUMNS = 3  # of the page on a desk, by which its height is guessed before it is drawn
_TITLE_CHARACTERS = 34
_TOP_PX, _LEGEND_PX, _BOTTOM_PX = 28, 30, 46  # title of the first row; legend; ticks and title of the axis
_ENTRY_PX, _LETTER_PX = 48, 6.6  # of an entry of the legend: its mark, and each letter
_GAP_PX, _TITLE_PX = 20, 24  # between columns; between rows, where the title of a panel stands
_AXIS_TITLE_PX = 20
_TICKS_X_PX, _TICKS_Y_PX = 40, 52  # beyond that where each panel has an axis of its own


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the panels.

    Args:
        name: above it, as text of the user; shortened.
        data: its traces, of one name each in all panels.
        x, y: what its axes have beyond those of all.
    """

    name: str
    data: Sequence[Figure]
    x: Figure = field(default_factory=dict)
    y: Figure = field(default_factory=dict)


def grid(
    panels: Sequence[Panel],
    panel_px: int,
    x: Figure,
    y: Figure,
    shared: Shared = "both",
    least_px: int = 230,
    labels: Sequence[str] = (),
) -> Figure:
    """The panels row by row; a click in the legend hides a trace in all of them, and a zoom is one of all.

    Args:
        panel_px, least_px: height of a panel, and its width at least.
        x, y: what the axes of all panels have.
        shared: axes that are common to all.
        labels: of the rows that all panels have, for which there is room to the left; none for numbers.
    """
    left_px = labels_px(labels) + _AXIS_TITLE_PX * bool(labels and y.get("title"))
    base = stacked([panel_px], left_px=left_px)
    gaps_px = (
        _GAP_PX + _TICKS_Y_PX * (shared == "x") + _GAP_PX * (shared == "y"),
        _TITLE_PX + _TICKS_X_PX * (shared == "y"),
    )
    legend = dict.fromkeys(trace["name"] for panel in panels for trace in panel.data if trace.get("showlegend", True))
    top_px = _TOP_PX + _LEGEND_PX * (len(legend) > 1)
    widest_px = _ENTRY_PX + _LETTER_PX * max((len(name) for name in legend), default=0)
    columns = min(len(panels), _WIDE_COLUMNS)
    rows = ceil(len(panels) / columns)
    layout = {key: value for key, value in base.items() if key not in ("xaxis", "yaxis")} | {
        "height": rows * panel_px + (rows - 1) * gaps_px[1] + top_px + _BOTTOM_PX,
        "margin": {"l": left_px, "r": 12, "t": top_px, "b": _BOTTOM_PX},
        "legend": base["legend"] | {"xref": "container", "yref": "container", "x": 0.01, "y": 1.0, "yanchor": "top"},
        "annotations": [],
        "meta": {
            "panels": len(panels),
            "panel": panel_px,
            "least": least_px,
            "gaps": list(gaps_px),
            "margins": [left_px + 12, _TOP_PX, _BOTTOM_PX],
            "legend": [len(legend) if len(legend) > 1 else 0, widest_px],
            "shared": shared,
        },
    }
    data = []
    named: set[str] = set()
    for number, panel in enumerate(panels):
        suffix = str(number + 1) if number else ""
        for axis, every, own in (("x", x, panel.x), ("y", y, panel.y)):
            follows = {"matches": axis} if number and shared in ("both", axis) else {}
            anchor = {"anchor": f"{'y' if axis == 'x' else 'x'}{suffix}"}
            layout[f"{axis}axis{suffix}"] = base[f"{axis}axis"] | every | own | anchor | follows
        for trace in panel.data:
            is_first = trace["name"] not in named and trace.get("showlegend", True)
            if is_first:
                named.add(trace["name"])
            data.append(
                trace
                | {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "legendgroup": trace["name"], "showlegend": is_first}
            )
        layout["annotations"].append(_heading(panel.name, suffix))
    return {"data": data, "layout": layout | {"showlegend": len(legend) > 1}}


def rows_axis(labels: Sequence[str]) -> Figure:
    """A vertical axis of rows by number, the first on top."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": plain(labels),
        "range": [len(labels) - 0.5, -0.5],
        "showgrid": False,
        "tickfont": {"size": 10},
    }


def shortened(names: Sequence[str], characters: int = _TITLE_CHARACTERS) -> list[str]:
    """The names, long ones cut in the middle, and still different."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        short = cut(name, characters)
        found.append(short if short not in found else f"{cut(name, characters - 4)} ({number})")
    return found


def cut(name: str, characters: int = _TITLE_CHARACTERS) -> str:
    """A name that is no longer than so many characters: its beginning and its end, on one line, written one way."""
    name = "".join(letter for letter in name if category(letter) not in ("Cc", "Cf"))  # such as: from right to left
    if len(name) <= characters:
        return name
    tail = characters // 3
    return f"{name[: characters - tail - 1]}…{name[-tail:]}"


def titled(text: str, axis: Figure) -> Figure:
    """An axis with a title."""
    return title(text) | axis


def _heading(name: str, suffix: str) -> Figure:
    return {
        "text": plain([cut(name)])[0],
        "hovertext": plain([name])[0],
        "xref": f"x{suffix} domain",
        "yref": f"y{suffix} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11.5},
    }
