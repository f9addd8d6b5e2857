"""A sweep -> one self-contained page: each metric over the axes, as lines, heat maps or clouds of points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from twin.analysis.intervals import METHOD
from twin.analysis.metrics import METRICS, Metric
from twin.report.comparison_summary import interval_words
from twin.report.document import document, in_words_html, opening, preamble_html, section_html, text_html
from twin.report.panels import cut
from twin.report.run_summary import is_share, shown
from twin.report.scales import scale_of
from twin.report.section import COUNT, SHARE, Reading, Section
from twin.report.sweep_charts import chart
from twin.report.sweep_points import Points, Sweep

METRICS_SHOWN = ("goodput", "time_over_cap_s", "energy_over_cap_j", "peak_power_w", "checkpoint_duration_p99_s")
_MOST_ROWS = 200  # of the table of points

_SETUP = """\
def values(point, metric):  # of the replicas
    return sweep[sweep.point == point].sort_values("replica")[metric].dropna()
def mean(point, metric):
    return values(point, metric).mean()"""

_PREAMBLE = """\
import pandas as pd

sweep = pd.read_parquet("sweep.parquet")"""


def sweep_page(sweep: Sweep, metrics: Sequence[str] = METRICS_SHOWN) -> str:
    """The report of a sweep as one HTML document.

    Args:
        metrics: names of those to chart, the first one first; those that no point knows are left out.
    """
    manifest, points = sweep.manifest, Points(sweep)
    known = [METRICS[name] for name in metrics if name in METRICS and points.knows(name)]
    found = [_section(points, metric) for metric in known]
    places = [
        ("verdicts", "In words"),
        *((section.key, section.title) for section in found),
        ("points", "Points"),
        ("queries", "Queries"),
    ]
    main = f"""{in_words_html(_in_words(points, known))}
{"".join(section_html(section) for section in found)}
{text_html("points", "The points", _table(points, known))}
{preamble_html("In the folder of the sweep", _PREAMBLE)}"""
    replicas, seed = manifest["replicas"], manifest["seed"]
    axes = ", ".join(f"{axis.key} ({len(axis.values)} values)" for axis in points.axes)
    about = f"{len(points.names):,} points over {axes}; replicas: {replicas}, seed {seed}" + (
        f"; {manifest.get('method') or METHOD}" if replicas > 1 else ""
    )
    version = (manifest.get("versions") or {}).get("racktwin", "")
    answer = manifest.get("answer")
    lines = f'<p class="answer"><b>Answer expected.</b> {escape(answer)}</p>' if answer else ""
    return document(
        manifest["name"],
        version,
        opening(manifest["name"], manifest.get("question"), lines, about),
        places,
        main,
        f"seed {seed}, replicas {replicas}.",
        found,
    )


def _in_words(points: Points, metrics: Sequence[Metric]) -> Iterator[str]:
    if not metrics:
        yield "no point knows any of the numbers asked for"
    planned = points.manifest.get("points") or ()
    if len(planned) > len(points.names):
        faults = next((point["fault"] for point in planned if point.get("fault")), "")
        because = f"; the first one cannot be: {cut(faults, 200)}" if faults else ""
        yield f"{len(planned) - len(points.names):,} of {len(planned):,} points have no result{because}"
    for metric in metrics:
        means = np.array(points.means(metric.name))
        low, high = int(np.nanargmin(means)), int(np.nanargmax(means))
        if means[low] == means[high]:
            yield f"{metric.label}: {shown(metric, float(means[low]))} at every point"
        else:
            yield (
                f"{metric.label}: from {shown(metric, float(means[low]))} ({points.at(low)}) to "
                f"{shown(metric, float(means[high]))} ({points.at(high)})"
            )


def _section(points: Points, metric: Metric) -> Section:
    means = np.array(points.means(metric.name))
    scale = scale_of(metric, float(np.nanmax(np.abs(means))))
    figure, reads = chart(points, metric, scale)
    low, high = int(np.nanargmin(means)), int(np.nanargmax(means))
    unknown = int(np.isnan(means).sum())
    readings = [
        Reading(
            f"{end}, {points.at(place)}",
            float(means[place]),
            _unit(metric),
            f"mean({points.names[place]!r}, {metric.name!r})",
        )
        for end, place in (("lowest", low), ("highest", high))
    ]
    if unknown:
        query = f"int(sweep.groupby('point')[{metric.name!r}].count().eq(0).sum())"
        readings.append(Reading("points that do not know it", unknown, COUNT, query))
    return Section(
        metric.name.replace("_", "-"),
        metric.label[:1].upper() + metric.label[1:],
        reads,
        f"{metric.definition} Mean over the replicas of each point; intervals by Student's t.",
        _SETUP,
        tuple(readings),
        figure,
    )


def _unit(metric: Metric) -> str:
    return SHARE if is_share(metric) else metric.unit


def _table(points: Points, metrics: Sequence[Metric]) -> str:
    """The points with their means and intervals, the first ones of many."""
    heads = "".join(
        f'<th title="{escape(text)}">{escape(head)}</th>'
        for head, text in [
            *((axis.key, axis.key) for axis in points.axes),
            *((metric.label, metric.definition) for metric in metrics),
            ("query of a cell", ""),
        ]
    )
    count = len(points.names)
    rows = "".join(_table_row(points, metrics, place) for place in range(min(count, _MOST_ROWS)))
    more = (
        f"The first {_MOST_ROWS} of {count:,} points are shown; the rest are in sweep.parquet. "
        if count > _MOST_ROWS
        else ""
    )
    names = ", ".join(metric.name for metric in metrics)
    setup = f'<summary>Set-up of the queries</summary><pre class="setup">{escape(_SETUP)}</pre>'
    return (
        f"<p>{more}Mean over the replicas, and beneath it the interval. The metric of a query is, column by column: "
        f'{escape(names)}.</p><div class="wide"><table class="points"><thead><tr><th>point</th>{heads}</tr></thead>'
        f'<tbody>{rows}</tbody></table></div><details class="note">{setup}</details>'
    )


def _table_row(points: Points, metrics: Sequence[Metric], place: int) -> str:
    cells = "".join(
        f'<td class="number">{escape(cut(axis.written(axis.of_point[place]), 40))}</td>' for axis in points.axes
    )
    for metric in metrics:
        found = points.of(metric.name)[place]
        small = interval_words(metric, found.low, found.high)
        value = "" if found.mean is None else f' data-metric="{metric.name}" data-value="{found.mean!r}"'
        cells += f'<td class="number"{value}>{escape(shown(metric, found.mean))}<small>{escape(small)}</small></td>'
    query = escape(f"mean({points.names[place]!r}, metric)")
    return f'<tr data-query="{query}"><th>{place + 1}</th>{cells}<td class="soft"><code>{query}</code></td></tr>'
