"""The section about feeders: draw against cap of each, with the time above the cap shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from twin.recording import ROOT
from twin.report.charts import cap_traces, power_bounds
from twin.report.figures import BLUE, band_traces, time_axis
from twin.report.over_cap import OverCap, are_many, over_caps, shading_in_words
from twin.report.panels import Panel, cut, grid, titled
from twin.report.resource_sections import thinned
from twin.report.run_parts import RunParts
from twin.report.run_summary import cap_in_words, is_held
from twin.report.scales import scale_for
from twin.report.section import COUNT, Reading, Section
from twin.units import scaled

_MOST = 12
_MOST_NAMED = 40  # of those that are not drawn
_PANEL_PX = 150
_POINTS = 1600  # of the line of a feeder

SETUP = """\
events = pd.read_parquet("events.parquet")
def over_s(feeder):  # how long each excursion lasted
    times_s = lambda kind: events[(events.feeder == feeder) & (events.kind == kind)].time_s.to_numpy()
    return times_s("excursion_end") - times_s("cap_exceeded")
def peak_w(feeder):
    rows = power[power.feeder == feeder]
    return rows[rows.time_s.shift(-1, fill_value=end_s) > rows.time_s][["draw_w", "draw_end_w"]].max().max()"""


def feeders(parts: RunParts) -> Section | None:
    """The feeders with a cap or a control, the site first; None for a site without others below it."""
    if not parts.power.feeders or not parts.has("power", "events") or parts.end_s == 0.0:
        return None
    names = _watched(parts)
    if not names:
        return None
    shown = _chosen(names, parts.metrics.get("time_over_cap_by_feeder_s") or {})
    over = over_caps(parts.recording, shown, parts.end_s)
    lines = {name: parts.power_lines(["draw_w"], 0.0, parts.end_s, name, _POINTS)[0] for name in shown}
    time = scale_for(parts.end_s, "s")
    in_cells = are_many(over.values())
    panels = []
    for name, line in lines.items():
        if not len(line.points()[0]):
            continue  # nothing ever changed there: no row
        cap, limit = parts.caps_between(name, 0.0, parts.end_s)
        bounds_w = power_bounds([line.points(), *(each for each in (cap, limit) if each is not None)])
        watts = scale_for(bounds_w[1], "W")
        bounds = bounds_w[0] / watts.size, bounds_w[1] / watts.size
        data = [
            *over[name].traces(time, bounds, in_cells),
            *band_traces(line.points(), line.means(), time, watts, "draw", BLUE),
            *cap_traces(cap, limit, time, watts),
        ]
        panels.append(Panel(name, data, y=titled(f"power [{watts.unit}]", {"range": list(bounds)})))
    if not panels:
        return None
    return Section(
        "feeders",
        "Feeders against their caps",
        "What each feeder with a cap or a control draws; each has an axis of its own."
        + shading_in_words(over.values())
        + _left_out(names, shown),
        "Draw of all jobs below the feeder [W], steps that hold until the next row; the dashed line is its cap. An "
        f"excursion is a time above the cap by more than 1e-9 of it.{thinned(list(lines.values()), _POINTS // 4)}",
        SETUP,
        tuple(_readings(parts, shown, over)),
        grid(panels, _PANEL_PX, time_axis(time, 0.0, parts.end_s), {}, shared="x"),
        _table(parts, shown, over),
    )


def _watched(parts: RunParts) -> list[str]:
    sections = {ROOT: parts.manifest["scenario"]["power"], **parts.manifest["scenario"]["power"]["feeders"]}
    return [name for name, section in sections.items() if section.get("cap") is not None or is_held(section)]


def _chosen(names: Sequence[str], over_s: Mapping[str, float]) -> list[str]:
    """The site, then those longest above their caps, in the order of the file."""
    if len(names) <= _MOST:
        return list(names)
    by_time = sorted(names, key=lambda name: (name != ROOT, -(over_s.get(name) or 0.0)))[:_MOST]
    return [name for name in names if name in by_time]


def _left_out(names: Sequence[str], shown: Sequence[str]) -> str:
    others = [name for name in names if name not in shown]
    if not others:
        return ""
    more = f" and {len(others) - _MOST_NAMED:,} more" if len(others) > _MOST_NAMED else ""
    return f" Drawn are the {_MOST} longest above their caps; not {', '.join(map(cut, others[:_MOST_NAMED]))}{more}."


def _readings(parts: RunParts, shown: Sequence[str], over: Mapping[str, OverCap]) -> list[Reading]:
    found = []
    for name in shown:
        for label, value, unit, query in (
            ("peak", _of(parts, "peak_power_by_feeder_w", name), "W", "peak_w({!r})"),
            ("time over the cap", _of(parts, "time_over_cap_by_feeder_s", name), "s", "over_s({!r}).sum()"),
            ("excursions", over[name].count, COUNT, "len(over_s({!r}))"),
        ):
            if value is not None:
                found.append(Reading(f"{cut(name)}, {label}", value, unit, query.format(name), in_sight=False))
    return found


def _of(parts: RunParts, metric: str, feeder: str) -> Any:
    return (parts.metrics.get(metric) or {}).get(feeder)


def _table(parts: RunParts, shown: Sequence[str], over: Mapping[str, OverCap]) -> str:
    power = parts.manifest["scenario"]["power"]
    rows = []
    for name in shown:
        section = power if name == ROOT else power["feeders"][name]
        known = (_of(parts, "peak_power_by_feeder_w", name), "W"), (_of(parts, "time_over_cap_by_feeder_s", name), "s")
        peak, over_s = ("-" if value is None else scaled(value, unit) for value, unit in known)
        rows.append(
            f"<tr><th>{escape(cut(name))}</th><td>{escape(cap_in_words(section))}</td>"
            f"<td>{escape(section['controller']['policy'])}</td>"
            f'<td class="number">{peak}</td><td class="number">{over_s}</td>'
            f'<td class="number">{over[name].count:,}</td></tr>'
        )
    heads = "".join(f"<th>{head}</th>" for head in ("feeder", "cap", "control", "peak", "time over", "excursions"))
    return f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
