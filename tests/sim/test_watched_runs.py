"""A watched or limited run is the same run; at its limit, or where time stands still, it ends with a clear error."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.fleets import equal_jobs, group, scenario
from twin import api
from twin.errors import StalledError, TwinError
from twin.sim.timeline import Instant

LONG = equal_jobs([0.0, 3.0, 7.0], 8000)  # some 48,000 events: several calls of the watch


def run(mapping, **limits):
    return api.simulate(api.load(mapping), **limits)


def watched(mapping):
    calls = []
    recording = run(mapping, watch=lambda *call: calls.append(call))
    return recording, calls


def test_a_watched_and_limited_run_is_bit_for_bit_the_plain_one():
    plain = run(LONG)
    other = run(LONG, max_events=10**9, watch=lambda *_: None)

    assert plain.manifest == other.manifest
    for name in plain.sources:
        assert plain.table(name).equals(other.table(name)), name


def test_the_watch_hears_of_time_events_and_share_that_only_grow():
    recording, calls = watched(LONG)

    assert len(calls) >= 3
    for before, after in pairwise(calls):
        assert all(earlier < later for earlier, later in zip(before, after, strict=True))
    assert calls[-1][0] <= recording.manifest["simulated_end_s"]
    assert calls[-1][2] <= 1.0


@pytest.mark.parametrize(
    ("stop", "work"),
    [({"cycles": 4000}, {}), ({"time": 50_000.0}, {}), ({}, {"work": 40_000.0}), ({"time": 1e9}, {"work": 40_000.0})],
    ids=["cycles", "time", "work", "work before time"],
)
def test_the_share_done_is_that_of_the_limit_that_ends_the_run(stop, work):
    recording, calls = watched(scenario([group("a", 10.0, 1.0, {"at": [0.0, 3.0, 7.0]}, **work)], stop))

    end_s = recording.manifest["simulated_end_s"]
    for time_s, _, share in calls:
        assert share == pytest.approx(time_s / end_s, abs=0.002)  # a cycle or two of 4,000, and the last launch


def events_needed(mapping):
    """The least limit under which the run ends, between 1 and 1,000."""
    for limit in range(1, 1000):
        try:
            run(mapping, max_events=limit)
        except TwinError:
            continue
        return limit
    raise AssertionError


def test_a_limit_of_just_the_events_needed_is_enough_and_one_less_is_not():
    short = equal_jobs([0.0, 3.0], 3)
    needed = events_needed(short)

    assert 12 <= needed <= 36  # 12 phase ends of one to three events
    assert run(short, max_events=needed).manifest == run(short).manifest
    with pytest.raises(TwinError, match=f"given up after {needed - 1} events"):
        run(short, max_events=needed - 1)


def test_a_run_at_its_limit_says_how_far_it_came_and_what_to_change():
    with pytest.raises(TwinError, match=r"at \d+\.?\d* s of simulated time with .* % of it done; .*--max-events.*stop"):
        run(LONG, max_events=20_000)


TINY = group("tiny", 1e-9, 1e-9, {"at": [1e9]})  # a clock at 1e9 s cannot tell less than 1.2e-7 s


def test_a_job_too_fast_for_the_clock_is_named_and_others_are_not():
    calm = group("calm", 100.0, 1.0, {"at": [1e9]})

    with pytest.raises(StalledError, match=r"stands still at 1e\+09 s: tiny-0 computes .*lengthen `compute`"):
        run(scenario([calm, TINY], {"time": 2e9}))


def test_of_many_jobs_too_fast_for_the_clock_five_are_named():
    many = group("many", 1e-9, 1e-9, {"at": [1e9] * 9})

    with pytest.raises(StalledError, match=r"many-0, many-1, many-2, many-3, many-4, \.\.\. "):
        run(scenario([many], {"time": 2e9}))


def test_many_phase_ends_that_one_instant_holds_are_no_standstill(monkeypatch):
    monkeypatch.setattr(Instant, "ROUNDS", 3)
    at_s = 1e9  # where a clock cannot tell less than 1.2e-7 s, and all these stretches end together
    crowd = [group(f"job-{i}", 1e-9 * (1 + i), 100.0, {"at": [at_s]}) for i in range(20)]

    rows = run(scenario(crowd, {"cycles": 1})).frame("checkpoints")

    assert rows["write_start_s"][rows["cycle"] == 0].tolist() == [at_s] * 20


@pytest.mark.parametrize("launch_s", [0.0, 1e9, 1e12])
def test_the_fastest_wall_clock_trigger_ticks_wherever_a_run_may_start(launch_s):
    ticking = group("tick", 1.0, 1e-9, {"at": [launch_s]})
    ticking["checkpoint"]["trigger"] = {"every": 1e-3}
    del ticking["compute"]

    starts_s = run(scenario([ticking], {"cycles": 5})).frame("checkpoints")["write_start_s"]

    assert (starts_s > launch_s).all()
    assert starts_s.is_monotonic_increasing
    assert starts_s.iloc[-1] - launch_s < 5 * 1e-3 + 2e-4  # five ticks and an ulp of 1e12 s
