"""A run -> a timeline for ui.perfetto.dev: jobs as tracks, phases as slices, counters for the store and the power.

Written packet by packet, in memory that does not grow with the run. Times are rounded to the nanosecond, each edge by
itself, so that a slice lasts what the tables say to a nanosecond.
Source: the Perfetto trace format, by the package ``perfetto``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from twin.analysis.blocks import Block, blocks, of_feeder
from twin.analysis.cap_line import cap_line
from twin.analysis.moving_rows import Way, one_exponent
from twin.errors import TwinError
from twin.io.whole_file import check_free, whole_file
from twin.recording import ROOT, Recording
from twin.scenario import Power, sections, time_of_day_s

_NS = 1_000_000_000
_MOST_NS = 2**63 - 1
_SEQUENCE = 1
_CURVE_PIECES = 8  # of a row in which the draw moves
_NEEDED = ("jobs", "checkpoints")
_POWER_COLUMNS = ["time_s", "demand_w", "draw_w", "speed", "draw_end_w", "target", "tau_s", "energy_j"]


def export_timeline(recording: Recording, file: Path, *, force: bool = False) -> Counter[str]:
    """Write the timeline of a run: how many slices of each name it holds.

    Args:
        recording: with the tables jobs and checkpoints; counters of the store and the power, and incidents, if theirs
            are there too.
        force: replace a file that is there.
    Raises:
        TwinError: a table that is missing, a run too long for nanoseconds, or a file that cannot be written.
    """
    if missing := [table for table in _NEEDED if table not in recording.sources]:
        raise TwinError(f"{missing[0]}: is not in this recording, so it has no timeline; record the table {missing[0]}")
    end_s = recording.manifest["simulated_end_s"]
    if end_s * _NS > _MOST_NS:
        raise TwinError(
            f"--perfetto: the run ends at {end_s:g} s, and a timeline counts nanoseconds up to {_MOST_NS / _NS:g} s; "
            "shorten the run with stop.time"
        )
    check_free(file, force)
    with whole_file(file, force) as place, place.open("wb") as stream:
        timeline = _Timeline(stream)
        _write_jobs(timeline, recording, end_s)
        if "storage" in recording.sources:
            _write_store(timeline, recording)
        power = Power.model_validate(recording.manifest["scenario"]["power"])
        if "power" in recording.sources:
            _write_power(timeline, recording, power, end_s)
        if "events" in recording.sources:
            _write_events(timeline, recording, power, end_s)
    return timeline.slices


class _Timeline:
    """Packets on their way to a file.

    Attributes:
        slices: written so far, by name.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._builder = StreamingTraceProtoBuilder(stream)
        self._ids = count(1)
        self.slices: Counter[str] = Counter()

    def track(self, name: str, parent: int = 0, unit: str | None = None) -> int:
        """A new track, below another if one is given; of a counter if it has a unit."""
        packet = self._builder.create_packet()
        track = packet.track_descriptor
        track.uuid = next(self._ids)
        track.name = name
        if parent:
            track.parent_uuid = parent
        track.child_ordering = TrackDescriptor.ChildTracksOrdering.EXPLICIT
        track.sibling_order_rank = track.uuid
        if unit is not None:
            track.counter.unit_name = unit
        self._builder.write_packet(packet)
        return int(track.uuid)

    def slice(self, track: int, name: str, start_s: float, end_s: float, **notes: float | str) -> None:
        """Something that lasts."""
        packet = self._event(track, TrackEvent.Type.TYPE_SLICE_BEGIN, start_s)
        packet.track_event.name = name
        for key, value in notes.items():
            note = packet.track_event.debug_annotations.add()
            note.name = key
            if isinstance(value, str):
                note.string_value = value
            elif isinstance(value, int):
                note.int_value = value
            else:
                note.double_value = value
        self._builder.write_packet(packet)
        self._builder.write_packet(self._event(track, TrackEvent.Type.TYPE_SLICE_END, end_s))
        self.slices[name] += 1

    def instant(self, track: int, name: str, time_s: float, **notes: str) -> None:
        """Something that happens."""
        packet = self._event(track, TrackEvent.Type.TYPE_INSTANT, time_s)
        packet.track_event.name = name
        for key, value in notes.items():
            note = packet.track_event.debug_annotations.add()
            note.name, note.string_value = key, value
        self._builder.write_packet(packet)

    def value(self, track: int, time_s: float, value: float) -> None:
        """What a counter shows from then on."""
        packet = self._event(track, TrackEvent.Type.TYPE_COUNTER, time_s)
        packet.track_event.double_counter_value = value
        self._builder.write_packet(packet)

    def _event(self, track: int, kind: int, time_s: float) -> TracePacket:
        packet = self._builder.create_packet()
        packet.timestamp = round(time_s * _NS)
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.track_event.type = kind
        packet.track_event.track_uuid = track
        return packet


class _Job:
    """The tracks of one job: its phases, and its drains in the background, which may overlap.

    Args:
        snapshot_s: of a checkpoint in the background; None of one that blocks.
    """

    def __init__(self, timeline: _Timeline, name: str, group: int, snapshot_s: float | None) -> None:
        self._timeline = timeline
        self._track = timeline.track(name, group)
        self._snapshot_s = snapshot_s
        self._drains: list[int] = []
        self._busy: list[tuple[float, int]] = []  # until when, which of the drain tracks
        self.free_s: float | None = None  # since when it computes again; None while it does not

    def checkpoint(self, row: Mapping[str, Any], end_s: float) -> None:
        """The compute stretch before a checkpoint, and the checkpoint."""
        due_s, cycle = row["due_s"], row["cycle"]
        size_b = row["size_b"]
        self._timeline.slice(self._track, "compute", row["compute_start_s"], due_s, cycle=cycle)
        stalled_s = end_s if row["stall_s"] is None else min(due_s + row["stall_s"], end_s)
        self.free_s = None if row["stall_s"] is None else stalled_s
        write_s = end_s if row["write_start_s"] is None else row["write_start_s"]
        written_s = end_s if row["write_end_s"] is None else row["write_end_s"]
        if self._snapshot_s is None:
            self._some("wait", due_s, write_s, cycle)
            if row["write_start_s"] is not None:
                self._timeline.slice(self._track, "write", write_s, written_s, cycle=cycle, size_b=size_b)
                self.free_s = None if row["write_end_s"] is None else written_s
            return
        is_waiting = row["state"] == "waiting" and row["stall_s"] is None
        begun_s = end_s if is_waiting else max(due_s, stalled_s - self._snapshot_s)
        if row["state"] == "snapshot":
            begun_s = due_s  # it was cut by the end of the run, and what it waited before cannot be told from it
        self._some("wait", due_s, begun_s, cycle)
        if not is_waiting:
            self._timeline.slice(self._track, "snapshot", begun_s, stalled_s, cycle=cycle)
        if row["stall_s"] is None:
            return
        track = self._drain_track(stalled_s, written_s)
        if write_s > stalled_s:
            self._timeline.slice(track, "wait for a lane", stalled_s, write_s, cycle=cycle)
        if row["write_start_s"] is not None:
            self._timeline.slice(track, "drain", write_s, written_s, cycle=cycle, size_b=size_b)

    def close(self, launch_s: float | None, state: str, end_s: float) -> None:
        """The stretch that the end of the run cut."""
        if state == "computing" and launch_s is not None:
            start_s = launch_s if self.free_s is None else self.free_s
            self._timeline.slice(self._track, "compute", start_s, end_s, cut="by the end of the run")

    def _some(self, name: str, start_s: float, end_s: float, cycle: int) -> None:
        if end_s > start_s:
            self._timeline.slice(self._track, name, start_s, end_s, cycle=cycle)

    def _drain_track(self, start_s: float, end_s: float) -> int:
        """A track on which nothing else drains then."""
        if self._busy and self._busy[0][0] <= start_s:
            _, place = heappop(self._busy)
        else:
            place = len(self._drains)
            self._drains.append(self._timeline.track(f"drain {place + 1}" if place else "drain", self._track))
        heappush(self._busy, (end_s, place))
        return self._drains[place]


class _JobRow(NamedTuple):
    name: str
    group: str
    launch_s: float | None
    state: str


def _write_jobs(timeline: _Timeline, recording: Recording, end_s: float) -> None:
    rows = [_JobRow(*row) for row in _rows(recording, "jobs", ["name", "group", "launch_s", "state"])]
    snapshots = _snapshots(recording.manifest["scenario"])
    root = timeline.track("jobs")
    groups = {group: timeline.track(group, root) for group in dict.fromkeys(row.group for row in rows)}
    jobs = [_Job(timeline, row.name, groups[row.group], snapshots.get(row.group)) for row in rows]
    names = [
        *("job_id", "cycle", "compute_start_s", "due_s", "write_start_s", "write_end_s", "stall_s", "size_b", "state"),
    ]
    for values in _rows(recording, "checkpoints", names):
        row = dict(zip(names, values, strict=True))
        jobs[row["job_id"]].checkpoint(row, end_s)
    for job, about in zip(jobs, rows, strict=True):
        job.close(about.launch_s, about.state, end_s)


def _snapshots(scenario: Mapping[str, Any]) -> dict[str, float]:
    """Snapshot time of each group whose checkpoints drain in the background [s]."""
    found = {group["name"]: group["checkpoint"] for group in scenario.get("jobs", ())}
    return {name: spec["snapshot"] for name, spec in found.items() if spec["mode"] == "async"}


def _write_store(timeline: _Timeline, recording: Recording) -> None:
    root = timeline.track("store")
    columns = {"writers": "writers", "waiting": "waiting", "rate_b_s": "B/s"}
    tracks = [timeline.track(name, root, unit) for name, unit in columns.items()]
    last: list[float | None] = [None] * len(tracks)
    for time_s, *values in _rows(recording, "storage", ["time_s", *columns]):
        for place, value in enumerate(values):
            if value != last[place]:
                timeline.value(tracks[place], time_s, float(value))
                last[place] = value


def _write_power(timeline: _Timeline, recording: Recording, power: Power, end_s: float) -> None:
    exponent = one_exponent(recording)
    start_s = time_of_day_s(recording.manifest["scenario"].get("epoch"))
    for name, (_, section) in sections(power).items():
        root = timeline.track(f"power, {name}")
        draw, demand, speed = (
            timeline.track(label, root, unit) for label, unit in (("draw", "W"), ("demand", "W"), ("speed", "of full"))
        )
        if section.cap is not None:
            cap = timeline.track("cap", root, "W")
            for time_s, cap_w in zip(*(each.tolist() for each in cap_line(section.cap, start_s, end_s)), strict=True):
                timeline.value(cap, time_s, cap_w)
        batches = of_feeder(recording.batches("power", ["feeder", *_POWER_COLUMNS]), name)
        last = [-1.0, -1.0, -1.0]
        for time_s, levels in _levels(blocks(batches, _POWER_COLUMNS), exponent, end_s):
            for place, track in enumerate((demand, draw, speed)):
                if levels[place] != last[place]:
                    timeline.value(track, time_s, levels[place])
            last = levels


def _levels(
    rows: Iterator[dict[str, Any]], exponent: float | None, end_s: float
) -> Iterator[tuple[float, list[float]]]:
    """Demand, draw and speed from each time on; where the draw moves, in short steps along its way."""
    held: Block | None = None
    for block in rows:
        joined = block if held is None else {name: np.append(held[name], block[name]) for name in block}
        held = {name: values[-1:] for name, values in joined.items()}
        for row in range(len(joined["time_s"]) - 1):
            yield from _of_row(
                joined, row, float(joined["time_s"][row + 1]), float(joined["energy_j"][row + 1]), exponent
            )
    if held is not None:
        yield from _of_row(held, 0, end_s, float("nan"), exponent)


def _of_row(
    rows: Block, row: int, until_s: float, until_j: float, exponent: float | None
) -> Iterator[tuple[float, list[float]]]:
    time_s, demand_w, draw_w, speed = (float(rows[name][row]) for name in ("time_s", "demand_w", "draw_w", "speed"))
    yield time_s, [demand_w, draw_w, speed]
    if np.isnan(rows["draw_end_w"][row]) or until_s <= time_s:
        return
    way = Way.of(rows, row, until_s, until_j, exponent)
    after_s = (until_s - time_s) * np.arange(1, _CURVE_PIECES) / _CURVE_PIECES
    target, tau_s = float(rows["target"][row]), float(rows["tau_s"][row])
    for later_s, later_w in zip(after_s.tolist(), way.draw_w(after_s).tolist(), strict=True):
        moved = speed if np.isnan(tau_s) else target + (speed - target) * float(np.exp(-later_s / tau_s))
        yield time_s + later_s, [demand_w, later_w, moved]


def _write_events(timeline: _Timeline, recording: Recording, power: Power, end_s: float) -> None:
    root = timeline.track("incidents")
    tracks = {ROOT: root} | {name: timeline.track(name, root) for name in power.feeders}
    begun: dict[str, float] = {}
    for time_s, kind, feeder, value, detail in _rows(
        recording, "events", ["time_s", "kind", "feeder", "value", "detail"]
    ):
        track = tracks.get(feeder or ROOT, root)
        if kind == "cap_exceeded":
            begun[feeder] = time_s
        elif kind == "excursion_end":
            timeline.slice(track, "over the cap", begun.pop(feeder, time_s), time_s, energy_j=float(value or 0.0))
        elif kind != "excursion_peak":
            timeline.instant(track, kind, time_s, value="" if value is None else f"{value:g}", detail=detail)
    for feeder, time_s in begun.items():
        timeline.slice(tracks.get(feeder, root), "over the cap", time_s, end_s)


def _rows(recording: Recording, table: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    for batch in recording.batches(table, columns):
        arrays = [batch[name] for name in columns]
        plain = [array.cast(pa.string()) if pa.types.is_dictionary(array.type) else array for array in arrays]
        yield from zip(*(array.to_pylist() for array in plain), strict=True)
