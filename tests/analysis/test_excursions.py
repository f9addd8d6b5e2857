"""Excursions over the caps, from incidents made by hand and from a run worked out by hand."""

from __future__ import annotations

import pytest

import twin
from tests.fleets import equal_jobs
from twin.analysis.cap_line import cap_line
from twin.analysis.excursions import excursions, limit_events
from twin.scenario import CapStep, DailyCap, Power

from .hand_made import recording_of


def event(time_s, kind, value, feeder="site"):
    return (time_s, kind, None, feeder, value, "")


def excursion(feeder, begin_s, end_s, peak_w, energy_j):
    rows = ((begin_s, "cap_exceeded", 0.0), (end_s, "excursion_peak", peak_w), (end_s, "excursion_end", energy_j))
    return [event(*row, feeder) for row in rows]


TWO = [*excursion("site", 5.0, 7.0, 12.0, 3.0), event(8.0, "limits_cut", 1.0), *excursion("site", 9.0, 14.0, 11.0, 4.0)]


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (3, 5), (1, 2, 3, 4, 5, 6)])
def test_excursions_are_paired_however_the_table_is_cut(cuts):
    site = excursions(recording_of({"events": TWO}, cuts), {"site": 10.0}, 0.0, 20.0)["site"]

    assert (site.count, site.time_s, site.energy_j, site.longest_s) == (2, 7.0, 7.0, 5.0)
    assert site.overshoot == pytest.approx(0.2, rel=1e-14)


def test_feeders_are_told_apart_and_one_that_was_never_over_counts_nothing():
    rows = [*excursion("row-1", 1.0, 2.0, 6.0, 1.0), *excursion("site", 5.0, 7.0, 12.0, 3.0)]
    found = excursions(recording_of({"events": rows}), {"site": 10.0, "row-1": 5.0, "row-2": 5.0, "row-3": None}, 0, 20)

    assert {name: each.count for name, each in found.items()} == {"site": 1, "row-1": 1, "row-2": 0}


def test_overshoot_is_over_the_lowest_cap_in_force_during_the_excursion():
    caps = (CapStep.model_validate({"at": 0, "value": 10}), CapStep.model_validate({"at": 6, "value": 8}))
    site = excursions(recording_of({"events": TWO[:3]}), {"site": caps}, 0.0, 20.0)["site"]

    assert site.overshoot == pytest.approx(0.5, rel=1e-14)  # 12 W over the 8 W from 6 s on


def test_limits_cut_and_released_are_counted():
    rows = [event(1.0, "limits_cut", 3.0), event(2.0, "cap_exceeded", 3.0), event(3.0, "limits_released", 2.0)]

    assert limit_events(recording_of({"events": rows}, (1,))) == 2


def test_a_daily_cap_goes_by_the_time_of_day_at_which_the_run_starts():
    cap = Power.model_validate({"cap": {"daily": [{"at": 3600, "value": 5}, {"at": 7200, "value": 9}]}}).cap
    assert isinstance(cap, DailyCap)

    times_s, caps_w = cap_line(cap, start_s=5400.0, end_s=86400.0)

    assert times_s.tolist() == [0.0, 1800.0, 86400.0 + 3600.0 - 5400.0]
    assert caps_w.tolist() == [5.0, 9.0, 5.0]


def test_a_delayed_controller_leaves_the_draw_over_the_cap_for_its_delay_after_each_restart():
    # Two jobs of 10 s work and 1 s writes, 5 s apart, behind a cap of one: worked out for the launch alone. Both
    # compute from 5 s on, at 2 W over the cap of 1 W, until the command of 5 s arrives 2 s later.
    delayed = {"cap": 1.0, "controller": {"policy": "delayed", "delay": 2.0}}
    mapping = {**equal_jobs([0.0, 5.0], 1), "stop": {"time": 8.0}, "power": delayed}
    metrics = twin.simulate(twin.load(mapping)).manifest["metrics"]

    assert (metrics["excursions"], metrics["time_over_cap_s"], metrics["energy_over_cap_j"]) == (1, 2.0, 2.0)
    assert (metrics["longest_excursion_s"], metrics["highest_overshoot_share"]) == (2.0, 1.0)
    assert metrics["control_actions_per_hour"] == 3600.0 / 8.0
    assert metrics["throttled_job_s"] == pytest.approx(1.0, rel=1e-14)  # two jobs at half speed from 7 s to 8 s
