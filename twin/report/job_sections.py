"""Sections about the jobs: what each did when, the worst moment enlarged, and the picture of the phases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from twin.analysis.job_timeline import writing_shares
from twin.analysis.rhythm import LEAD, Rhythm, fires, order_parameter_between, places
from twin.analysis.worst_moment import busiest, longest, writes_between
from twin.report import charts
from twin.report.charts import Spans
from twin.report.figures import OF_SHARES, Figure
from twin.report.run_parts import PERIOD, RunParts, drawn, period_for
from twin.report.scales import clock
from twin.report.section import CLOCK, COUNT, RATIO, SHARE, Reading, Section

_ROWS_AT_MOST = 300
_CELLS = 600
_WINDOW_ROWS, _WINDOW_ROWS_AT_MOST = 40, 100
_MARKS_AT_MOST = 6000
_PLACES, _COLUMNS = 64, 400
_BY_CHANCE = 0.89  # R of n independent phases is about this / sqrt(n): the mean of a Rayleigh law, sqrt(pi) / 2
_NEARLY = 1 - 1e-9  # of a period: a job that fires once a period counts once, however the period was rounded
_MARGIN = 0.5  # of a burst, shown before and after it

_SCALE = """<p class="scale"><span>computing<span class="ramp">{}</span>writing</span><span>writing for {} % of the \
time of a cell</span><span><i class="nowhere"></i>not there</span></p>""".format(
    "".join(f'<i style="background:{colour}"></i>' for _, colour in OF_SHARES),
    ", ".join(f"{100.0 * share:g}" for share, _ in OF_SHARES),
)


def timeline(parts: RunParts) -> Section | None:
    """What each job did over the whole run; None without the tables, or if no job was launched."""
    if not parts.has("jobs", "checkpoints") or not parts.jobs.launched.any() or parts.end_s == 0.0:
        return None
    jobs = parts.jobs
    rows = _rows_drawn(parts)
    row_of_job = np.full(len(jobs.names), -1, dtype=np.int64)
    row_of_job[rows] = np.arange(len(rows))
    cells, cell_s, cell_query = parts.grid(_CELLS)
    shares = writing_shares(parts.recording, row_of_job, cells, cell_s)
    launched, left_out = int(jobs.launched.sum()), int(jobs.launched.sum()) - len(rows)
    stay_s = jobs.end_s - jobs.launch_s
    readings = [
        Reading("jobs drawn", len(rows), COUNT, "len(drawn)"),
        Reading("one cell", cell_s, "s", "cell_s"),
    ]
    if (shares > 0.0).any():
        readings.append(Reading("most of a cell spent writing", float(np.nanmax(shares)), SHARE, "shares.max()"))
    if left_out:
        share = 1.0 - float(stay_s[rows].sum() / np.nansum(stay_s))
        readings.insert(1, Reading("jobs not drawn", left_out, COUNT, "int(jobs.launch_s.count()) - len(drawn)"))
        query = "1 - stay_s[drawn].sum() / stay_s.sum()"
        readings.insert(2, Reading("their part of all job time", share, SHARE, query))
    if launched < len(jobs.names):
        query = "int(jobs.launch_s.isna().sum())"
        readings.append(Reading("jobs never launched", len(jobs.names) - launched, COUNT, query))
    period = "whole periods of the fleet" if "period_s" in cell_query else "stretches of the run"
    return Section(
        "timeline",
        "What each job did",
        "A row is a job, from its launch to its end. Blue is computing; a cell turns orange as more of its time goes "
        "into writing checkpoints. Empty is not there." + _left_out_sentence(left_out),
        f"Share of each cell that the job spent between first and last byte of a checkpoint [%]; cells are {period}. "
        "Rows by group, then by launch. The colour goes with the root of the share, so that a few percent show.",
        f"""{period_for(cell_query)}cell_s = {cell_query}
stay_s = jobs.end_s.fillna(end_s) - jobs.launch_s
drawn = stay_s.dropna().nlargest({_ROWS_AT_MOST}).index
writes = checkpoints[checkpoints.job_id.isin(drawn)].fillna({{"write_end_s": end_s}})
def share_writing(cell):  # of each job, in one cell
    inside_s = writes.write_end_s.clip(upper=(cell + 1) * cell_s) - writes.write_start_s.clip(lower=cell * cell_s)
    return (inside_s.clip(lower=0).groupby(writes.job_id).sum() / cell_s).clip(upper=1)
shares = pd.concat([share_writing(cell) for cell in range({cells})])""",
        tuple(readings),
        charts.timeline(shares, [jobs.names[job] for job in rows], cell_s),
        _SCALE,
    )


def worst_moments(parts: RunParts) -> Iterator[Section]:
    """The stretch with most writers enlarged, and the longest checkpoint where it is not within that."""
    if not parts.has("jobs", "checkpoints", "storage"):
        return
    moment, slowest = busiest(parts.recording, parts.end_s), longest(parts.recording)
    shown = None
    if moment is not None:
        shown = _window_around(parts, moment.start_s, moment.end_s)
        yield _window_section(
            parts,
            shown,
            "worst-moment",
            "The worst moment, enlarged",
            "The stretch with most writers, the longest of them: how many write, the power, and beneath them the "
            "jobs, those that write first on top.",
            """\
top = storage[storage.writers == storage[storage.hold_s > 0].writers.max()]
moment = top.loc[top.hold_s.idxmax()]
from_s, until_s = moment.time_s, moment.time_s + moment.hold_s""",
            (
                Reading("most writers at once", moment.writers, COUNT, "moment.writers"),
                Reading("began at", moment.start_s, CLOCK, "from_s"),
                Reading("lasted", moment.end_s - moment.start_s, "s", "until_s - from_s"),
            ),
        )
    if slowest is not None and (shown is None or not shown.start_s <= slowest.start_s <= slowest.end_s <= shown.end_s):
        yield _window_section(
            parts,
            _window_around(parts, slowest.start_s, slowest.end_s),
            "longest-checkpoint",
            "The longest checkpoint, enlarged",
            f"Checkpoint {slowest.cycle} of {parts.jobs.names[slowest.job_id]}, the slowest of the run, and what went "
            "on around it.",
            """\
slowest = checkpoints.loc[(checkpoints.write_end_s - checkpoints.write_start_s).idxmax()]
from_s, until_s = slowest.write_start_s, slowest.write_end_s""",
            (
                Reading("longest checkpoint", slowest.duration_s, "s", "until_s - from_s"),
                Reading("began at", slowest.start_s, CLOCK, "from_s"),
                Reading("number in its job", slowest.cycle, COUNT, "slowest.cycle", in_sight=False),
            ),
        )


def phase_picture(parts: RunParts) -> Section | None:
    """Fire times modulo the period; None if no job fired twice."""
    if not parts.has("jobs", "checkpoints") or parts.rhythm is None or parts.rhythm.period_s is None:
        return None
    rhythm, period_s = parts.rhythm, parts.rhythm.period_s
    (first, fired), (last, fired_last) = (
        order_parameter_between(parts.recording, *window_s, period_s)
        for window_s in (
            (rhythm.first_s, rhythm.first_s + _NEARLY * period_s),
            (rhythm.last_s - _NEARLY * period_s, rhythm.last_s),
        )
    )
    readings = (
        Reading("period", period_s, "s", "period_s"),
        Reading("fires", rhythm.fires, COUNT, "len(fire_s)"),
        Reading("R in the first period", first, RATIO, "r_of(first)"),
        Reading("by chance, about", _BY_CHANCE / fired**0.5, RATIO, f"{_BY_CHANCE} / len(first) ** 0.5"),
        Reading("R in the last period", last, RATIO, "r_of(last)"),
        Reading("by chance, about", _BY_CHANCE / fired_last**0.5, RATIO, f"{_BY_CHANCE} / len(last) ** 0.5"),
    )
    marked = rhythm.fires <= _MARKS_AT_MOST
    return Section(
        "phases",
        "Phases: drift, lock or storm",
        "A checkpoint fires when its first byte is written; this is when in the common period each one fires, cycle "
        "after cycle. Level lines: the gaps between the jobs stay. Slanting or wandering lines: they drift. "
        "Everything on one line: a storm. An even spread: none. R puts it in a number: 1 if all jobs of a period fire "
        "at once, near 0 if they are spread evenly."
        + ("" if marked else " Too many to mark one by one: the deeper the orange, the more fires in a cell."),
        "Place in the period [-]: time since the first fire of the run, in periods, whole periods taken off; it begins "
        f"at -{LEAD}, so that the first fire is not at an edge. The period is the mean time from one fire of a job to "
        "its next. R, the order parameter, is the length of the mean of exp(2 pi i place) over the fires of a period: "
        f"1 in step, near 0 spread evenly, and some {_BY_CHANCE} / sqrt(fires) by chance.",
        f"""{PERIOD}
fire_s = checkpoints.write_start_s.dropna()
place = ((fire_s - fire_s.min()) / period_s + {LEAD}) % 1 - {LEAD}
first = fire_s[fire_s <= fire_s.min() + {_NEARLY} * period_s]
last = fire_s[fire_s >= fire_s.max() - {_NEARLY} * period_s]
r_of = lambda some_s: abs(np.exp(2j * np.pi * some_s / period_s).mean())""",
        readings,
        fire_marks(parts, rhythm, period_s) if marked else fire_density(parts, rhythm, period_s),
    )


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of the run to enlarge; ``anchor_s`` is the first byte of the burst in it [s]."""

    start_s: float
    end_s: float
    anchor_s: float


def _rows_drawn(parts: RunParts) -> NDArray[np.int64]:
    """Ids of the jobs to draw, in order of the rows."""
    jobs = parts.jobs
    ids = np.flatnonzero(jobs.launched)
    stay_s = jobs.end_s - jobs.launch_s
    kept = ids[np.argsort(-stay_s[ids], kind="stable")[:_ROWS_AT_MOST]]
    group_rank = {group: rank for rank, group in enumerate(dict.fromkeys(jobs.groups))}
    return np.array(sorted(kept.tolist(), key=lambda job: (group_rank[jobs.groups[job]], jobs.launch_s[job], job)))


def _left_out_sentence(count: int) -> str:
    return f" The {_ROWS_AT_MOST:,} jobs that stayed longest are drawn; {count:,} are not." if count else ""


def _window_around(parts: RunParts, start_s: float, end_s: float) -> _Window:
    """The burst in a stretch, from the first byte of its writers to the last, and half that time either side."""
    burst = writes_between(parts.recording, start_s, end_s)
    first_s = min(start_s, float(burst["write_start_s"].min(initial=start_s)))
    last_s = min(parts.end_s, max(end_s, float(burst["write_end_s"].max(initial=end_s))))
    margin_s = _MARGIN * (last_s - first_s)
    return _Window(max(0.0, first_s - margin_s), min(parts.end_s, last_s + margin_s), first_s)


def _window_section(
    parts: RunParts, shown: _Window, key: str, title: str, reads: str, setup: str, readings: tuple[Reading, ...]
) -> Section:
    jobs = parts.jobs
    writes = writes_between(parts.recording, shown.start_s, shown.end_s)
    there = jobs.launched & (jobs.launch_s < shown.end_s) & (jobs.end_s > shown.start_s)
    by_first_byte = np.argsort(writes["write_start_s"], kind="stable")
    rows = _window_rows(parts, there, writes["job_id"].astype(np.int64)[by_first_byte])
    row_of_job = {job: row for row, job in enumerate(rows)}
    kept = np.array([job in row_of_job for job in writes["job_id"].tolist()], dtype=bool)
    ids = np.array(rows, dtype=np.int64)
    lines = dict(zip(("writers",), drawn(parts.storage_lines(["writers"], shown.start_s, shown.end_s)), strict=True))
    if parts.has("power"):
        columns = ["draw_w", "demand_w"]
        lines |= zip(columns, drawn(parts.power_lines(columns, shown.start_s, shown.end_s)), strict=True)
    left_out = int(there.sum()) - len(rows)
    more = f" Only jobs that write in it are drawn, at most {_WINDOW_ROWS_AT_MOST}." if left_out else ""
    figure = charts.window(
        [jobs.names[job] for job in rows],
        _clipped(np.arange(len(rows)), jobs.launch_s[ids], jobs.end_s[ids], shown),
        _clipped(
            np.array([row_of_job[job] for job in writes["job_id"][kept].tolist()], dtype=np.int64),
            writes["write_start_s"][kept],
            writes["write_end_s"][kept],
            shown,
        ),
        lines,
        (shown.start_s, shown.end_s),
        (shown.anchor_s, clock(shown.anchor_s)),
        parts.cap_between(shown.start_s, shown.end_s),
    )
    present = Reading("jobs present", int(there.sum()), COUNT, "len(present)")
    return Section(
        key,
        title,
        reads + more,
        "Time after the first byte of the burst. The window reaches from the first to the last byte of the checkpoints "
        "that were being written in the stretch, and half that time either side.",
        f"""{setup}
ends_s = checkpoints.write_end_s.fillna(np.inf)
burst = checkpoints[(checkpoints.write_start_s < until_s) & (ends_s > from_s)]
first_s, last_s = burst.write_start_s.min(), burst.write_end_s.fillna(end_s).max()
margin_s = {_MARGIN} * (last_s - first_s)
window_s = max(0, first_s - margin_s), min(end_s, last_s + margin_s)
present = jobs[(jobs.launch_s < window_s[1]) & (jobs.end_s.fillna(end_s) > window_s[0])]""",
        (*readings, present),
        figure,
    )


def _window_rows(parts: RunParts, there: NDArray[np.bool_], writing: NDArray[np.int64]) -> list[int]:
    """Ids of the jobs to draw: those that write, by their first byte, then the rest if all that are there are few."""
    rows = writing.tolist()
    if int(there.sum()) <= _WINDOW_ROWS:
        rows += [job for job in np.argsort(parts.jobs.launch_s, kind="stable").tolist() if there[job]]
    return list(dict.fromkeys(rows))[:_WINDOW_ROWS_AT_MOST]


def _clipped(rows: NDArray[np.int64], start_s: np.ndarray, end_s: np.ndarray, shown: _Window) -> Spans:
    return Spans(rows, np.maximum(start_s, shown.start_s), np.minimum(end_s, shown.end_s))


def fire_marks(parts: RunParts, rhythm: Rhythm, period_s: float) -> Figure:
    """Every fire, coloured by group, or by job if there is one group."""
    found = list(fires(parts.recording))
    job, fire_s = (np.concatenate([part[side] for part in found]) for side in (0, 1))
    by_launch = np.empty(len(parts.jobs.names), dtype=np.int64)
    by_launch[np.argsort(parts.jobs.launch_s, kind="stable")] = np.arange(len(by_launch))
    group_of_job = np.array(parts.jobs.groups, dtype=object)
    members = {group: group_of_job[job] == group for group in dict.fromkeys(parts.jobs.groups)}
    seen = {group: mine for group, mine in members.items() if mine.any()}
    return charts.fire_marks(fire_s, places(fire_s, rhythm.first_s, period_s), by_launch[job], seen, parts.end_s)


def fire_density(parts: RunParts, rhythm: Rhythm, period_s: float) -> Figure:
    """How many fires fell into each cell."""
    cell_s, counts = fire_counts(parts, rhythm, period_s, parts.end_s / _COLUMNS, _PLACES)
    return charts.fire_density(counts, cell_s, parts.end_s)


def fire_counts(
    parts: RunParts, rhythm: Rhythm, period_s: float, least_s: float, in_period: int
) -> tuple[float, NDArray[np.int64]]:
    """Width of the cells, whole periods and at least so long [s]; fires in each, shape (in_period, cells)."""
    cell_s = ceil(least_s / period_s) * period_s
    columns = ceil(parts.end_s / cell_s)
    counts = np.zeros(in_period * columns, dtype=np.int64)
    for _, fire_s in fires(parts.recording):
        place = ((places(fire_s, rhythm.first_s, period_s) + LEAD) * in_period).astype(np.int64)
        column = np.minimum((fire_s / cell_s).astype(np.int64), columns - 1)
        counts += np.bincount(np.minimum(place, in_period - 1) * columns + column, minlength=len(counts))
    return cell_s, counts.reshape(in_period, columns)
