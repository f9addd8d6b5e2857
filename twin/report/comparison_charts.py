"""The answer of a comparison as charts: paired differences, and goodput against what it is bought with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from twin.analysis.intervals import CONFIDENCE
from twin.analysis.metrics import METRICS, Metric
from twin.report.comparison_numbers import RISK, SETUP, Numbers, difference_cell, mean_cell, number_table
from twin.report.comparison_summary import difference_words, interval_words, verdict_words
from twin.report.figures import BLUE, GREY, OF_GROUPS, ORANGE, SYMBOLS, Figure, or_nan, packed, plain, title
from twin.report.panels import Panel, cut, grid, rows_axis, shortened
from twin.report.scales import Scale, scale_of, scale_of_difference, with_unit
from twin.report.section import Section

_ROW_PX, _NARROW_ROW_PX, _FEW_ROWS, _FEWEST_PX = 30, 17, 12, 90
_SCATTER_PX = 320
_LABEL_SHARE, _MARK_SHARE = 0.12, 0.06  # of an axis: room beside the last point for its number, and for itself


def differences(numbers: Numbers) -> Section | None:
    """The answer: for each headline metric the paired difference of each variant; None without another variant."""
    names = numbers.others
    metrics = [METRICS[name] for name in numbers.headline]
    if not names or not metrics:
        return None
    labels = numbers.labels(names)
    panels = [_difference_panel(numbers, metric, names) for metric in metrics]
    row_px = _ROW_PX if len(names) <= _FEW_ROWS else _NARROW_ROW_PX
    per_cent = f"{100 * CONFIDENCE:.0f} %"
    return Section(
        "differences",
        "Differences to the baseline",
        f"Each variant less the baseline, {cut(numbers.baseline)}, with its {per_cent} interval; the upright line is "
        "no difference. Full dots: the interval leaves out 0. Pale rings: it holds 0, and more replicas are "
        "needed. Diamonds: a tie, every replica came out the same.",
        "Mean over the replicas of the difference within each, where both variants met the same luck; of shares in "
        "percentage points. Intervals by Student's t. How many replicas would tell is estimated from their scatter.",
        SETUP,
        (),
        grid(
            panels,
            max(_FEWEST_PX, row_px * len(names)),
            {"zeroline": True, "zerolinewidth": 1.6, "zerolinecolor": GREY},
            rows_axis(labels) | {"range": [len(labels) - 0.5, -0.8]},  # room for words above the first dot
            shared="y",
            least_px=210,
            labels=labels,
        ),
        below=number_table(numbers, [(metric.name, "") for metric in metrics], difference_cell, "differences", names),
    )


def _difference_panel(numbers: Numbers, metric: Metric, names: Sequence[str]) -> Panel:
    rows = [numbers.row(name, metric.name) for name in names]
    largest = max(
        (
            abs(row[column])
            for row in rows
            for column in ("difference", "difference_low", "difference_high")
            if row.get(column) is not None
        ),
        default=0.0,
    )
    scale = scale_of_difference(metric, largest)
    kinds = (
        ("clear difference", ("higher", "lower"), {"color": BLUE, "size": 8, "symbol": "circle"}, 1.0),
        ("open", ("open", "unknown"), {"color": GREY, "size": 8, "symbol": "circle-open"}, 0.75),
        ("tie", ("tie",), {"color": ORANGE, "size": 9, "symbol": "diamond-open"}, 1.0),
    )
    data = [
        _dots(
            [
                (place, name, row)
                for place, (name, row) in enumerate(zip(names, rows, strict=True))
                if _is(row, verdicts)
            ],
            kind,
            metric,
            scale,
            {"marker": marker, "opacity": opacity},
            len(names) <= _FEW_ROWS,
        )
        for kind, verdicts, marker, opacity in kinds
        if any(_is(row, verdicts) for row in rows)
    ]
    x = title(with_unit("difference", scale))
    if largest == 0.0:
        x |= {"range": [-1.0, 1.0]}
    return Panel(metric.label, data, x=x)


def _is(row: Mapping[str, Any], verdicts: Sequence[str]) -> bool:
    return row.get("difference") is not None and row["verdict"] in verdicts


def _dots(
    found: Sequence[tuple[int, str, Mapping[str, Any]]],
    kind: str,
    metric: Metric,
    scale: Scale,
    style: Figure,
    has_room: bool,
) -> Figure:
    """Dots with whiskers, one a variant; what there is to say of them beside them where there is room."""
    middle, low, high = (
        np.array([or_nan(row[column]) for _, _, row in found]) / scale.size
        for column in ("difference", "difference_low", "difference_high")
    )
    words = [_beside(row) for _, _, row in found]
    return {
        "type": "scatter",
        "mode": "markers+text" if has_room and any(words) else "markers",
        "name": kind,
        "x": packed(middle),
        "y": packed(np.array([place for place, _, _ in found], dtype=np.int32)),
        "text": words,
        "textposition": [_place_of_words(row) for _, _, row in found],
        "textfont": {"size": 9.5},
        "customdata": [
            f"{plain([cut(name, 60)])[0]}<br>{_in_words(metric, row)}<br>{verdict_words(row)}" for _, name, row in found
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": packed(high - middle),
            "arrayminus": packed(middle - low),
            "color": style["marker"]["color"],
            "thickness": 1.6,
            "width": 3,
        },
        "cliponaxis": False,
        **style,
    }


def _in_words(metric: Metric, row: Mapping[str, Any]) -> str:
    interval = interval_words(metric, row["difference_low"], row["difference_high"], of_difference=True)
    return f"{difference_words(metric, row['difference'])} {interval}"


def _place_of_words(row: Mapping[str, Any]) -> str:
    """Beside a dot, and off the line of no difference."""
    if row["verdict"] == "tie":
        return "middle right"
    return "top left" if row["difference"] < 0.0 else "top right"


def _beside(row: Mapping[str, Any]) -> str:
    if row["verdict"] == "tie":
        return "tie"
    if row["verdict"] == "open" and row["replicas_needed"]:
        return f"about {row['replicas_needed']:,} replicas"
    return ""


def price(numbers: Numbers) -> Section | None:
    """Goodput against what it is bought with: time and energy over the cap; None if these are not known."""
    bought = [METRICS[name] for name in RISK if (name, "") in numbers.keys]
    if ("goodput", "") not in numbers.keys or not bought:
        return None
    goodput = METRICS["goodput"]
    y_scale = scale_of(goodput, 1.0)
    panels = []
    for metric in bought:
        largest = max(
            numbers.row(name, metric.name).get("high") or numbers.mean(name, metric.name) or 0.0
            for name in numbers.variants
        )
        scale = scale_of(metric, largest)
        data = [
            _points(numbers, names, kind, (metric, scale), (goodput, y_scale), marker)
            for kind, names, marker in _marks(numbers)
        ]
        most = largest / scale.size or 1.0
        room = {"range": [-0.04 * most, (1.0 + (_LABEL_SHARE if numbers.are_many else _MARK_SHARE)) * most]}
        panels.append(Panel(metric.label, data, x=title(with_unit(metric.label, scale)) | room))
    numbered = " Numbers are those of the table of variants." if numbers.are_many else ""
    return Section(
        "price",
        "Goodput, and what it is bought with",
        "Up is more work done, right is more time or energy above the cap: the best variants are at the upper left, "
        f"and one that is right of another and no higher is worse in both.{numbered}",
        "Means over the replicas with their intervals by Student's t. Goodput [%]: full-speed work that survived / "
        "(jobs x horizon). Time [s] and energy [J] of the excursions of the site above its cap, or above power.limit.",
        SETUP,
        (),
        grid(panels, _SCATTER_PX, {}, title(with_unit("goodput", y_scale)), shared="y", least_px=300),
        below=number_table(
            numbers,
            [("goodput", ""), *((metric.name, "") for metric in bought)],
            mean_cell,
            "numbers",
            numbers.variants,
        ),
    )


def _marks(numbers: Numbers) -> Iterator[tuple[str, Sequence[str], Figure]]:
    """Name in the legend, variants and marker of each kind of dot: a kind for each variant, or one for many."""
    yield "baseline", [numbers.baseline], {"color": ORANGE, "size": 14, "symbol": "star"}
    if numbers.are_many:
        yield "variants", numbers.others, {"color": BLUE, "size": 8, "symbol": "circle"}
        return
    colours = [colour for colour in OF_GROUPS if colour != ORANGE]
    labels = plain(shortened(numbers.others))
    for name, label, colour, symbol in zip(numbers.others, labels, colours, SYMBOLS, strict=False):
        yield label, [name], {"color": colour, "size": 9, "symbol": symbol}


def _points(
    numbers: Numbers,
    names: Sequence[str],
    kind: str,
    across: tuple[Metric, Scale],
    up: tuple[Metric, Scale],
    marker: Figure,
) -> Figure:
    known = [name for name in names if None not in (numbers.mean(name, across[0].name), numbers.mean(name, up[0].name))]
    trace: Figure = {
        "type": "scatter",
        "mode": "markers+text" if numbers.are_many else "markers",
        "name": kind,
        "text": [str(numbers.variants.index(name) + 1) for name in known],
        "textposition": "top right" if kind == "baseline" else "bottom right",  # one that ties lies on the baseline
        "textfont": {"size": 10},
        "marker": marker,
        "customdata": [
            f"{plain([cut(name, 60)])[0]}<br>"
            + "<br>".join(f"{metric.label}: {numbers.mean_in_words(name, metric)}" for metric, _ in (up, across))
            for name in known
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "cliponaxis": False,
    }
    for axis, (metric, scale) in (("x", across), ("y", up)):
        middle, low, high = (
            np.array([or_nan(numbers.row(name, metric.name)[column]) for name in known]) / scale.size
            for column in ("mean", "low", "high")
        )
        trace[axis] = packed(middle)
        trace[f"error_{axis}"] = {
            "type": "data",
            "symmetric": False,
            "array": packed(high - middle),
            "arrayminus": packed(middle - low),
            "color": GREY,
            "thickness": 1.2,
            "width": 0,
        }
    return trace
