"""What happened in a run that its user should look at."""

from __future__ import annotations

from twin.analysis.incidents import incidents

from .hand_made import group, recording_of, scenario_of

EXCEEDED = [(5.0, "fleet_exceeded", None, None, 3.0, ""), (7.0, "fleet_exceeded", None, None, 4.0, "")]
OTHER = [(1.0, "trigger_skipped", 0, None, 2.0, "")]


def warned(rows, **keys):
    return incidents(
        scenario_of(jobs=[group(count=4)], stop={"time": 30.0}, **keys), recording_of({"events": rows}, cuts=(1, 2))
    )


def test_too_small_a_fleet_is_one_warning_with_the_number_of_times_and_the_first_of_them():
    (warning,) = warned([*OTHER, *EXCEEDED], fleet={"nodes": 2})

    assert warning.startswith("fleet.nodes: 2: the jobs need more nodes at once, 2 times, first 3 at 5 s;")


def test_other_events_warn_of_nothing():
    assert warned(OTHER, fleet={"nodes": 2}) == []


def test_a_run_without_the_table_of_events_warns_of_nothing():
    scenario = scenario_of(jobs=[group(count=4)], stop={"time": 30.0}, fleet={"nodes": 2})

    assert incidents(scenario, recording_of({})) == []
