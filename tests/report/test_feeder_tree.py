"""`twin validate` draws the tree of feeders, and says of each what it is asked to hold."""

from __future__ import annotations

import subprocess
import sys

import pytest

import twin
from twin.report.feeder_tree import feeder_lines, feeder_rows, oversubscribed


def loaded(power, **changes):
    group = {"name": "a", "count": 3, "nodes": 10, "power": {"compute": "10 kW", "idle": "1 kW"}}
    return twin.load({"twin": 1, "name": "x", "stop": {"cycles": 1}, "jobs": [group | changes], "power": power})


TREE = {
    "cap": "1 MW",
    "fixed": "50 kW",
    "pue": 1.2,
    "feeders": {
        "row-1": {"cap": "150 kW", "controller": {"policy": "lagged"}},
        "rack": {"parent": "row-1"},
        "row-2": {"cap": [{"at": 0, "value": "1 MW"}, {"at": "1 h", "value": "90 kW"}]},
    },
}


def rows(scenario):
    return {row.feeder: row for row in feeder_rows(scenario)}


def test_the_tree_is_drawn_from_the_root_down():
    lines = feeder_lines(feeder_rows(loaded(TREE)))
    assert [line.label for line in lines] == ["site", "├── row-1", "│   └── rack", "└── row-2"]


def test_jobs_that_take_feeders_in_turn_hang_where_they_are_placed_and_on_all_above():
    found = rows(loaded(TREE, feeders={"rotate": ["rack", "row-2"]}))
    assert {name: (row.jobs, row.nodes) for name, row in found.items()} == {
        "site": (3, 30),
        "row-1": (2, 20),  # jobs 0 and 2
        "rack": (2, 20),
        "row-2": (1, 10),
    }


def test_a_job_on_two_feeders_is_one_job_on_each_and_one_above_them():
    found = rows(loaded(TREE, count=1, feeders={"rack": 4, "row-2": 6}))
    assert [(row.jobs, row.nodes) for row in found.values()] == [(1, 10), (1, 4), (1, 4), (1, 6)]


def test_the_demand_is_that_of_all_jobs_at_full_speed_and_the_site_adds_its_own():
    found = rows(loaded(TREE, feeders="rack"))
    assert found["rack"].demand_w == 30 * 10e3
    assert found["site"].demand_w == pytest.approx(1.2 * (30 * 10e3 + 50e3), rel=1e-15)  # one rounding each


def test_a_changing_cap_counts_with_its_lowest_value_and_a_demand_above_it_is_mentioned():
    lines = {line.label: line.value for line in feeder_lines(feeder_rows(loaded(TREE, feeders="row-2")))}
    assert "cap 90 kW at the lowest of 2 steps" in lines["└── row-2"]
    assert "300 kW at full speed, 3.33 x the cap" in lines["└── row-2"]
    assert "x the cap" not in lines["├── row-1"]


def test_a_scenario_with_neither_a_cap_nor_feeders_has_no_tree():
    assert feeder_rows(loaded({})) == []


def test_the_feeders_where_a_log_places_its_jobs_say_so():
    scenario = twin.scenario.Scenario.model_validate(
        {"twin": 1, "name": "x", "replay": {"file": "a.csv", "place": ["rack"]}, "power": TREE}
    )
    assert {name for name, row in rows(scenario).items() if row.has_log} == {"site", "row-1", "rack"}


@pytest.mark.parametrize(
    ("controller", "warning"),
    [
        ({"policy": "none"}, "power.feeders.row.cap is not enforced: power.feeders.row.controller.policy is none"),
        ({"policy": "fixed_limit", "limit": "8 kW"}, "at its limit of 8000 W all nodes together draw 0.24 MW"),
        ({"policy": "delayed"}, "power.feeders.row.cap is 0.02 MW, and all jobs below it together draw 0.03 MW at"),
    ],
)
def test_a_cap_that_its_controller_cannot_hold_is_warned_of(controller, warning):
    scenario = loaded({"feeders": {"row": {"cap": "20 kW", "controller": controller}}}, feeders="row")
    assert any(warning in text for text in scenario.warnings())


def test_a_demand_above_a_cap_that_a_controller_holds_is_no_warning():
    assert loaded({"feeders": {"row": {"cap": "100 kW"}}}, feeders="row").warnings() == []


@pytest.mark.parametrize(("power", "is_loaded"), [("{cap: 1 MW}", False), ("{feeders: {row: {cap: 1 MW}}}", True)])
def test_networkx_is_loaded_for_a_tree_only(power, is_loaded, tmp_path):
    (tmp_path / "x.yaml").write_text(f"twin: 1\nname: x\nstop: {{cycles: 1}}\njobs: [{{name: a}}]\npower: {power}\n")
    program = f"import sys; from twin.cli import main; main(['validate', {str(tmp_path / 'x.yaml')!r}]); "
    ended = subprocess.run(
        [sys.executable, "-c", program + "print('networkx' in sys.modules, 'numpy' in sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert ended.stdout.splitlines()[-1].split()[0] == str(is_loaded)


def test_a_feeder_whose_jobs_can_ask_for_more_than_its_lowest_cap_is_oversubscribed():
    found = oversubscribed(feeder_rows(loaded(TREE, feeders={"rotate": ["rack", "row-2"]})))

    assert found == [
        "row-1 is oversubscribed: at full speed its jobs draw 200 kW at once, 1.33 x its cap of 150 kW",
        "row-2 is oversubscribed: at full speed its jobs draw 100 kW at once, 1.11 x its lowest cap of 90 kW",
    ]


def test_only_the_first_of_many_oversubscribed_feeders_are_named():
    feeders = {f"row-{i}": {"cap": "90 kW"} for i in range(40)}
    found = oversubscribed(feeder_rows(loaded({"feeders": feeders}, count=40, feeders={"rotate": list(feeders)})))

    assert len(found) == 11
    assert found[-1] == "30 more feeders are oversubscribed"
