"""A wrong argument of the Python interface is a ``TwinError`` of one line: what was wrong, the rule, the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import twin

SMALL: dict[str, Any] = {
    "twin": 1,
    "name": "small",
    "stop": {"cycles": 1},
    "jobs": [{"name": "llm", "compute": 10, "checkpoint": {"size": 1e9}}],
}


@pytest.fixture
def small() -> twin.Scenario:
    return twin.load(SMALL)


def refused(message: str) -> Any:
    return pytest.raises(twin.TwinError, match=rf"^{message}.*; .*$")


@pytest.mark.parametrize("scenario", ["x.yaml", Path("x.yaml"), None, 42, SMALL])
def test_what_is_no_scenario_is_not_run(scenario: Any, tmp_path: Path) -> None:
    with refused("scenario: .*: must be a twin.Scenario"):
        twin.simulate(scenario)
    with refused("scenario: .*: must be a twin.Scenario"):
        twin.run(scenario, tmp_path / "run")
    with refused("scenario: .*: must be a twin.Scenario"):
        twin.estimate(scenario)


@pytest.mark.parametrize("source", [None, 42, b"x.yaml", ["x.yaml"]])
def test_what_is_neither_a_path_nor_a_mapping_is_not_loaded(source: Any) -> None:
    with refused("source: .*: must be a path"):
        twin.load(source)


@pytest.mark.parametrize("overrides", ["power.cap=1", None, 42, [1], {"seed": 1}.items()])
def test_overrides_are_a_list_of_texts(overrides: Any) -> None:
    with refused("overrides: .*: must be a list of texts"):
        twin.load(SMALL, overrides)


@pytest.mark.parametrize("replica", [-1, "1", True, 1.0, None, 2**70])
def test_a_replica_is_a_whole_number_from_0(small: twin.Scenario, replica: Any) -> None:
    with refused("replica: .*: must be a whole number from 0 to 9223372036854775807"):
        twin.simulate(small, replica=replica)
    with refused("replica: .*: must be a whole number"):
        twin.estimate(small, replica=replica)


def test_the_largest_replica_runs_and_is_read_back(small: twin.Scenario, tmp_path: Path) -> None:
    twin.run(small, tmp_path / "run", replica=2**63 - 1)

    assert twin.open_run(tmp_path / "run").manifest["replica"] == 2**63 - 1


@pytest.mark.parametrize("engine", [None, 42, ["simpy"], ""])
def test_an_engine_is_one_of_those_there_are(small: twin.Scenario, engine: Any) -> None:
    with refused("engine .*: unknown"):
        twin.simulate(small, engine=engine)


@pytest.mark.parametrize("tables", ["nope", ["jobs", "nope"], [1], [["jobs"]]])
def test_a_table_is_one_of_those_there_are(small: twin.Scenario, tables: Any) -> None:
    with refused("tables: .*: is no table of a run"):
        twin.simulate(small, tables=tables)


@pytest.mark.parametrize("tables", [42, iter(["jobs"])])
def test_tables_are_a_list(small: twin.Scenario, tables: Any) -> None:
    with refused("tables: .*: must be a list of texts"):
        twin.simulate(small, tables=tables)


@pytest.mark.parametrize("limit", [0, -1, "x", True, 1.5])
def test_a_limit_of_events_is_a_whole_number_from_1(small: twin.Scenario, limit: Any) -> None:
    with refused("max_events: .*: must be a whole number from 1 on"):
        twin.simulate(small, max_events=limit)


@pytest.mark.parametrize("folder", [None, 42, b"run"])
def test_a_folder_is_a_path(small: twin.Scenario, folder: Any) -> None:
    with refused("out: .*: must be a path"):
        twin.run(small, folder)
    with refused("folder: .*: must be a path"):
        twin.open_run(folder)
    with refused("folder: .*: must be a path"):
        twin.simulate(small).save(folder)


def test_a_wrong_argument_is_shown_on_one_line_however_long_it_is(small: twin.Scenario) -> None:
    with pytest.raises(twin.TwinError) as caught:
        twin.simulate(small, engine="x\n" * 10_000)

    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nope", ["jobs"], None])
def test_a_table_read_is_one_that_was_recorded(small: twin.Scenario, name: Any) -> None:
    with refused("table .*: is not in this recording"):
        twin.simulate(small).table(name)


def test_a_column_read_is_one_of_its_table(small: twin.Scenario) -> None:
    with refused("table 'jobs': has no column 'zzz'; it has job_id, "):
        twin.simulate(small).batches("jobs", ["job_id", "zzz"])
