"""The timeline parses back with the package's own reader, and says what the tables say."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

import twin
from twin.errors import TwinError
from twin.io.timeline_export import export_timeline

NS = 1e-9


def document(power=None, checkpoint=None, **changes):
    return {
        "twin": 1,
        "name": "timeline",
        "seed": 2,
        "stop": {"time": "2 h"},
        "jobs": [
            {
                "name": "llm",
                "count": 4,
                "nodes": 8,
                "compute": "10 min",
                "jitter": {"law": "normal", "sigma": "6 s"},
                "checkpoint": {"size": "900 GB", **(checkpoint or {})},
                "launch": {"uniform": "10 min"},
            },
            {
                "name": '<odd> & "names" 日本',
                "compute": "17 min",
                "checkpoint": {"size": "50 GB"},
                "launch": {"at": ["3 min"]},
            },
        ],
        "storage": {"bandwidth": "20 GB/s"},
        "power": {"cap": "210 kW", **(power or {})},
    } | changes


IN_BACKGROUND = {"mode": "async", "snapshot": "5 s", "in_flight": 2}
RUNS = {
    "blocking": document(),
    "one lane": document(storage={"bandwidth": "20 GB/s", "lanes": 1}),
    "async": document(checkpoint=IN_BACKGROUND),
    "async, one lane": document(checkpoint=IN_BACKGROUND, storage={"bandwidth": "4 GB/s", "lanes": 1}),
    "async, backpressure": document(checkpoint=IN_BACKGROUND | {"in_flight": 1}, storage={"bandwidth": "4 GB/s"}),
    "lagged": document(power={"controller": {"policy": "lagged", "tau": "20 s"}}),
    "delayed": document(power={"controller": {"policy": "delayed", "delay": "9 s"}}),
    "no cap": document(power={"cap": None}),
    "cut at once": document(stop={"time": "4 min"}),
}


def exported(run, folder):
    file = folder / "trace.pftrace"
    export_timeline(run, file, force=True)
    return parsed(file.read_bytes())


def parsed(data):
    """Tracks by id, slices by the path of their track, values of counters by the same."""
    tracks, slices, values, opened = {}, defaultdict(list), defaultdict(list), {}
    trace = Trace.FromString(data)
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            found = packet.track_descriptor
            tracks[found.uuid] = f"{tracks[found.parent_uuid]}/{found.name}" if found.parent_uuid else found.name
            continue
        event = packet.track_event
        name = tracks[event.track_uuid]
        if event.type == TrackEvent.Type.TYPE_SLICE_BEGIN:
            assert name not in opened  # slices of a track never overlap
            opened[name] = event.name, packet.timestamp
        elif event.type == TrackEvent.Type.TYPE_SLICE_END:
            title, begun = opened.pop(name)
            slices[name].append((title, begun * NS, packet.timestamp * NS))
        elif event.type == TrackEvent.Type.TYPE_COUNTER:
            values[name].append((packet.timestamp * NS, event.double_counter_value))
    assert opened == {}
    return SimpleNamespace(tracks=set(tracks.values()), slices=slices, values=values)


def lasting(found, title, job=""):
    return [
        end_s - start_s
        for name, slices in found.slices.items()
        if f"/{job}" in name
        for own, start_s, end_s in slices
        if own == title
    ]


@pytest.mark.parametrize("fleet", RUNS.values(), ids=RUNS)
def test_counts_and_durations_of_the_phases_equal_the_tables(fleet, tmp_path):
    run = twin.simulate(twin.load(fleet))
    found, end_s = exported(run, tmp_path), run.manifest["simulated_end_s"]
    jobs, checkpoints = run.frame("jobs"), run.frame("checkpoints")
    computing = jobs[jobs.state == "computing"]

    assert len(lasting(found, "compute")) == len(checkpoints) + len(computing)
    written = checkpoints[checkpoints.write_start_s.notna()]
    write_s = written.write_end_s.fillna(end_s) - written.write_start_s
    assert sorted([*lasting(found, "write"), *lasting(found, "drain")]) == pytest.approx(sorted(write_s), abs=2 * NS)
    in_background = np.array(["snapshot" in spec for spec in _specs(run)])[checkpoints.job_id]
    stall_s = checkpoints.stall_s.fillna(end_s - checkpoints.due_s)
    blocking = ["wait", "write", "snapshot"]
    told_s = sum(sum(lasting(found, title)) for title in blocking)
    assert told_s == pytest.approx(stall_s.sum(), abs=1e-6)
    was_taken = (checkpoints.state != "waiting") | checkpoints.stall_s.notna()  # else it waits for room in flight
    assert len(lasting(found, "snapshot")) == (in_background & was_taken).sum()


def _specs(run):
    groups = {group["name"]: group["checkpoint"] for group in run.manifest["scenario"]["jobs"]}
    return [groups[name] for name in run.frame("jobs").group]


@pytest.mark.parametrize("fleet", [RUNS["blocking"], RUNS["async"]], ids=["blocking", "async"])
def test_each_job_has_its_track_and_its_time_is_told_without_gaps(fleet, tmp_path):
    run = twin.simulate(twin.load(fleet))
    found, end_s = exported(run, tmp_path), run.manifest["simulated_end_s"]

    for job in run.frame("jobs").itertuples():
        slices = found.slices[f"jobs/{job.group}/{job.name}"]
        assert slices[0][1] == pytest.approx(job.launch_s, abs=NS)
        assert slices[-1][2] == pytest.approx(end_s, abs=NS)
        for (_, _, before_s), (_, after_s, _) in pairwise(slices):
            assert after_s == pytest.approx(before_s, abs=2 * NS)


def test_drains_that_overlap_have_tracks_of_their_own(tmp_path):
    fleet = document(checkpoint=IN_BACKGROUND, storage={"bandwidth": "2 GB/s"})
    found = exported(twin.simulate(twin.load(fleet)), tmp_path)

    assert "jobs/llm/llm-0/drain 2" in found.tracks or any(name.endswith("/drain 2") for name in found.tracks)
    assert not any(name.endswith("/drain 3") for name in found.tracks)


def test_counters_are_the_steps_of_the_tables(tmp_path):
    run = twin.simulate(twin.load(RUNS["delayed"]))
    found = exported(run, tmp_path)
    storage, power = run.frame("storage"), run.frame("power")

    assert_steps(found.values["store/writers"], storage.time_s, storage.writers)
    assert_steps(found.values["store/B/s"] or found.values["store/rate_b_s"], storage.time_s, storage.rate_b_s)
    for counter, column in (("draw", "draw_w"), ("demand", "demand_w"), ("speed", "speed")):
        assert_steps(found.values[f"power, site/{counter}"], power.time_s, power[column])
    assert found.values["power, site/cap"] == [(0.0, 210e3)]


def assert_steps(values, times_s, levels):
    """The counter shows each level that lasts, from its time on."""
    steps = dict(zip(times_s, levels, strict=True))
    at_s, shown = np.array([time_s for time_s, _ in values]), [value for _, value in values]
    for time_s, level in steps.items():
        assert shown[np.searchsorted(at_s, time_s + 2 * NS, side="right") - 1] == pytest.approx(level, rel=1e-12)


def test_a_draw_that_moves_is_shown_along_its_way(tmp_path):
    run = twin.simulate(twin.load(RUNS["lagged"]))
    found, power = exported(run, tmp_path), run.frame("power")
    moving = power.draw_end_w.notna().sum()

    assert moving > 10
    assert len(found.values["power, site/draw"]) > 5 * moving


def test_excursions_are_slices_as_long_as_the_events_tell(tmp_path):
    run = twin.simulate(twin.load(RUNS["delayed"]))
    found, metrics = exported(run, tmp_path), run.manifest["metrics"]
    over_s = [end_s - start_s for _, start_s, end_s in found.slices["incidents"]]

    assert len(over_s) == metrics["excursions"] > 0
    assert sum(over_s) == pytest.approx(metrics["time_over_cap_s"], abs=1e-6)


def test_names_stay_as_they_are(tmp_path):
    found = exported(twin.simulate(twin.load(RUNS["blocking"])), tmp_path)

    assert any('<odd> & "names" 日本' in name for name in found.tracks)


def test_a_run_too_long_for_nanoseconds_is_refused(tmp_path):
    run = twin.simulate(twin.load(RUNS["cut at once"]))
    run.manifest["simulated_end_s"] = 1e11

    with pytest.raises(TwinError, match="nanoseconds"):
        export_timeline(run, tmp_path / "t.pftrace")
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_its_checkpoints_has_no_timeline(tmp_path):
    run = twin.simulate(twin.load(RUNS["cut at once"]), tables=["jobs"])

    with pytest.raises(TwinError, match="checkpoints: is not in this recording"):
        export_timeline(run, tmp_path / "t.pftrace")
