"""A run in words: costs first, then moments, then dynamics; nothing is claimed that was not recorded."""

from __future__ import annotations

from copy import deepcopy

import pytest

import twin
from tests.report.fleets import FLEET
from twin.report.run_summary import summary
from twin.report.verdicts import verdicts

MANIFEST = twin.simulate(twin.load(FLEET)).manifest


def said(metrics=None, power=None, **assumptions):
    manifest = deepcopy(dict(MANIFEST))
    manifest["metrics"] |= metrics or {}
    manifest["assumptions"] |= assumptions
    if power is not None:
        manifest["scenario"]["power"] = power
    return verdicts(manifest)


def test_the_time_lost_comes_first_and_the_longest_checkpoint_second():
    lines = said({"compute_share": 0.9, "stall_share": 0.04, "throttled_share": 0.06})

    assert lines[0] == "10 % of the job time is lost: 4 % stalled in checkpoints, 6 % to the throttle"
    assert lines[1].startswith("the longest checkpoint takes")
    assert lines[1].endswith("; alone it would take 10 s")


def test_of_checkpoints_of_unequal_sizes_no_lone_time_is_told_since_only_their_mean_is_known():
    assert "alone" in said()[1]
    assert said(differences=["nodes", "size"])[1].startswith("the longest checkpoint takes")
    assert "alone" not in said(differences=["nodes", "size"])[1]


def test_jobs_that_are_done_are_told_by_their_delay():
    delay = {"jobs_done": 7, "job_stretch_mean": 1.05, "job_stretch_p95": 1.2}

    assert any("7 jobs are done; they took 1.05 times" in line for line in said(delay))
    assert not any("jobs are done" in line for line in said())


def test_the_weight_that_broke_anonymity_is_named():
    assert "not anonymous: unequal power" in said(anonymous=False, broken_by=["unequal power"])


def test_jobs_launched_at_one_instant_are_a_common_cause():
    causes = {"in_step_launches": 4, "in_step_triggers": 3}

    assert [line for line in said(common_cause=causes) if line.startswith("common cause")] == [
        "common cause: 4 jobs were launched at one instant",
        "common cause: 3 jobs checkpoint by one wall clock",
    ]


@pytest.mark.parametrize(("load", "words"), [(1.2, "must overlap"), (0.8, "asked for 80 % of what it can serve")])
def test_overlap_is_said_to_be_forced_by_a_load_above_1(load, words):
    assert any(words in line for line in said({"offered_load": load}))


def test_the_time_the_cap_binds_and_is_exceeded_is_told():
    lines = said({"cap_binding_share": 0.25, "time_over_cap_s": 12.0})

    assert "the cap binds 25 % of the time" in lines
    assert "the draw is above the cap for 12 s" in lines


def test_without_a_cap_there_is_no_cap_and_without_control_it_is_not_enforced():
    assert "no cap" in said(power={"controller": {"policy": "anonymous"}})
    assert "cap not enforced (2 kW)" in said(power={"cap": 2000.0, "controller": {"policy": "none"}})


def test_the_peak_is_set_against_independent_phases_and_a_share_no_run_could_show_is_put_in_words():
    tails = {"writers_share_at_least": [0.4, 0.02], "writers_share_at_least_independent": [0.3, 1e-14]}

    assert "at the peak 2 jobs write at once, 2 % of the time; with independent phases practically never" in said(tails)


def test_of_jobs_that_come_and_go_it_is_said_what_independent_phases_assume():
    assert said({"present_share": 0.1})[-1].startswith("jobs come and go")
    assert not said({"present_share": 0.99})[-1].startswith("jobs come and go")


def test_a_run_without_tables_claims_nothing_of_them():
    nothing = dict.fromkeys(MANIFEST["metrics"])

    assert said(nothing) == ["anonymous: no resource knows who uses it, so nothing pulls the jobs into step"]


def lines_of(**changes):
    sections = summary(twin.simulate(twin.load(FLEET | changes)).manifest)
    return {line.label: line.value for lines in sections.values() for line in lines}


def test_on_screen_a_run_without_a_cap_has_no_rows_of_one():
    assert lines_of(power={})["cap"] == "no cap"
    assert not {"time the cap binds", "time over the cap"} & lines_of(power={}).keys()
    assert {"time the cap binds", "time over the cap"} <= lines_of().keys()


def test_on_screen_a_cap_not_enforced_still_has_the_time_over_it():
    lines = lines_of(power={"cap": "3.2 kW", "controller": {"policy": "none"}})

    assert lines["cap"] == "cap not enforced (3.2 kW)"
    assert "time over the cap" in lines
    assert "time the cap binds" not in lines
