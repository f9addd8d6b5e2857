"""What ``import twin`` offers: load, simulate, run, save, open again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import twin

SMALL: dict[str, Any] = {
    "twin": 1,
    "name": "small",
    "question": "Do three jobs meet at the store?",
    "answer": "Two of them do.",
    "seed": 3,
    "stop": {"cycles": 4},
    "jobs": [
        {
            "name": "llm",
            "count": 3,
            "nodes": 64,
            "compute": "30 min",
            "jitter": {"sigma": "10 s"},
            "launch": {"at": [0, 5, 400]},
        }
    ],
    "power": {"cap": "1.5 MW"},
}
TABLES = ("jobs", "checkpoints", "power", "storage", "events")


def small(**changes: Any) -> twin.Scenario:
    return twin.load(SMALL | changes)


def same_tables(one: twin.Recording, other: twin.Recording) -> bool:
    return all(one.table(name).equals(other.table(name), check_metadata=True) for name in TABLES)


# --- import twin


def test_import_twin_alone_imports_nothing_heavy() -> None:
    code = (
        "import sys, twin; print(*sorted({'numpy', 'pyarrow', 'pydantic', 'simpy', 'twin.api'} & sys.modules.keys()))"
    )
    found = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True)

    assert found.stdout.strip() == ""


def test_every_public_name_is_there() -> None:
    assert all(hasattr(twin, name) for name in twin.__all__)


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = twin.simulat  # type: ignore[attr-defined]


# --- simulate


def test_a_recording_has_the_five_tables_for_arrow_and_for_pandas() -> None:
    recording = twin.simulate(small())

    for name in TABLES:
        assert isinstance(recording.table(name), pa.Table)
        assert list(recording.frame(name).columns) == recording.table(name).column_names


def test_the_manifest_says_all_that_is_known_of_the_run() -> None:
    manifest = twin.simulate(small()).manifest

    assert list(manifest) == [
        "format",
        "status",
        "name",
        "question",
        "answer",
        "seed",
        "replica",
        "lane",
        "versions",
        "scenario",
        "scenario_hash",
        "defaults",
        "overrides",
        "simulated_end_s",
        "stopped_by",
        "rows",
        "assumptions",
        "metrics",
        "estimate",
        "import_report",
        "warnings",
    ]


def test_the_manifest_counts_the_rows_of_each_table() -> None:
    recording = twin.simulate(small())

    assert recording.manifest["rows"] == {name: recording.table(name).num_rows for name in TABLES}


def test_the_manifest_is_json_as_it_stands() -> None:
    manifest = twin.simulate(small()).manifest

    assert json.loads(json.dumps(manifest, allow_nan=False)) == manifest


def test_the_scenario_in_the_manifest_gives_the_same_run_again() -> None:
    first = twin.simulate(small())
    again = twin.simulate(twin.load(first.manifest["scenario"]))

    assert again.manifest["scenario_hash"] == first.manifest["scenario_hash"]
    assert same_tables(again, first)


def test_a_default_is_listed_with_its_mark_and_a_given_value_is_not() -> None:
    defaults = {default["key"]: default for default in twin.simulate(small()).manifest["defaults"]}

    assert defaults["storage.bandwidth"] == {
        "key": "storage.bandwidth",
        "value": 100e9,
        "mark": "guess",
        "source": "per cluster",
    }
    assert "power.cap" not in defaults


def test_each_table_carries_the_scenario_hash_and_the_seed() -> None:
    recording = twin.simulate(small())

    metadata = recording.table("power").schema.metadata

    assert metadata[b"scenario_hash"].decode() == recording.manifest["scenario_hash"]
    assert metadata[b"seed"] == b"3"


def test_another_replica_meets_other_luck() -> None:
    first, second = twin.simulate(small()), twin.simulate(small(), replica=1)

    assert second.manifest["replica"] == 1
    assert not second.table("checkpoints").equals(first.table("checkpoints"))


def test_recording_fewer_tables_changes_none_of_them() -> None:
    few = twin.simulate(small(), tables=["power"])

    assert list(few.manifest["rows"]) == ["power"]
    assert few.table("power").equals(twin.simulate(small()).table("power"))


def test_a_metric_whose_table_was_not_recorded_is_null_and_the_others_are_not() -> None:
    metrics = twin.simulate(small(), tables=["power"]).manifest["metrics"]

    assert metrics["peak_power_w"] is not None
    assert metrics["goodput"] is None


def test_auto_runs_simpy() -> None:
    auto = twin.simulate(small(), engine="auto")

    assert auto.manifest["lane"] == "simpy"
    assert same_tables(auto, twin.simulate(small(), engine="simpy"))


@pytest.mark.parametrize(("engine", "reason"), [("compiled", "there is no compiled lane yet"), ("warp", "unknown")])
def test_an_engine_that_is_not_there_is_an_error_that_names_those_that_are(engine: str, reason: str) -> None:
    with pytest.raises(twin.TwinError, match=f"engine '{engine}': {reason}.*auto, simpy"):
        twin.simulate(small(), engine=engine)


@pytest.mark.parametrize("tables", ["chekpoints", ["power", "chekpoints"]])
def test_a_table_that_is_none_is_an_error_that_names_those_that_are(tables: Any) -> None:
    with pytest.raises(twin.TwinError, match=r"'chekpoints': is no table of a run.*checkpoints"):
        twin.simulate(small(), tables=tables)


# --- warnings


def test_more_nodes_than_the_fleet_has_are_one_warning_with_time_and_size() -> None:
    manifest = twin.simulate(small(fleet={"nodes": 150})).manifest  # 64 at 0 s, 128 at 5 s, 192 at 400 s

    (warning,) = [text for text in manifest["warnings"] if text.startswith("fleet.nodes: 150")]
    assert "first 192 at 400 s" in warning


def test_a_fleet_that_is_large_enough_warns_of_nothing() -> None:
    assert twin.simulate(small(fleet={"nodes": 192})).manifest["warnings"] == []


def test_a_draw_above_a_cap_that_nothing_enforces_is_a_warning_with_the_time_in_words() -> None:
    power = {"cap": "1 MW", "controller": {"policy": "none"}}  # 192 nodes that compute draw 1.49 MW
    manifest = twin.simulate(small(power=power)).manifest
    (warning,) = [text for text in manifest["warnings"] if "above" in text]
    minutes = manifest["metrics"]["time_over_cap_s"] / 60.0
    assert warning == f"the draw is above power.cap, 1 MW, for {minutes:.4g} min"


def test_a_draw_that_the_cap_holds_is_no_warning() -> None:
    assert twin.simulate(small(power={"cap": "1 MW"})).manifest["warnings"] == []


# --- run, save, open


def test_a_run_on_disk_is_the_run_in_memory(tmp_path: Path) -> None:
    kept, streamed = twin.simulate(small()), twin.run(small(), tmp_path / "run")

    assert streamed.manifest == kept.manifest
    assert same_tables(streamed, kept)


def test_a_saved_recording_is_byte_for_byte_the_run_directory(tmp_path: Path) -> None:
    twin.run(small(), tmp_path / "streamed")
    twin.simulate(small()).save(tmp_path / "saved")

    for name in ("run.json", *(f"{table}.parquet" for table in TABLES)):
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "streamed" / name).read_bytes()


def test_an_opened_run_can_be_saved_elsewhere(tmp_path: Path) -> None:
    twin.run(small(), tmp_path / "run")
    twin.open_run(tmp_path / "run").save(tmp_path / "copy")

    assert same_tables(twin.open_run(tmp_path / "copy"), twin.open_run(tmp_path / "run"))


@pytest.mark.parametrize("number", range(2 ** len(TABLES)))
def test_a_run_of_any_of_the_tables_can_be_opened_again(tmp_path: Path, number: int) -> None:
    tables = [name for place, name in enumerate(TABLES) if number >> place & 1]
    kept = twin.simulate(small(), tables=tables)
    kept.save(tmp_path / "run")

    assert twin.open_run(tmp_path / "run").manifest == kept.manifest


def test_a_run_refuses_a_name_that_is_taken_before_it_simulates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin.run(small(), tmp_path / "run")
    monkeypatch.setattr("twin.sim.simulate.simulate", lambda *_, **__: pytest.fail("it simulated"))

    with pytest.raises(twin.RunDirectoryError, match="exists already"):
        twin.run(small(), tmp_path / "run")


def test_force_replaces_a_run(tmp_path: Path) -> None:
    twin.run(small(), tmp_path / "run")
    twin.run(small(seed=4), tmp_path / "run", force=True)

    assert twin.open_run(tmp_path / "run").manifest["seed"] == 4


def test_a_run_that_fails_leaves_nothing(tmp_path: Path) -> None:
    idle_at_the_cap = {"compute": 1000, "idle": 600, "write": 0}  # two jobs idle above the cap: nobody moves again
    jobs = [{"name": "a", "count": 2, "power": idle_at_the_cap}]

    with pytest.raises(twin.StalledError):
        twin.run(small(jobs=jobs, power={"cap": 1000}), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_replay_on_disk_carries_its_import_report(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("job_id,submit_s,nodes,work_s,group\na,0,1,7200,g\nb,60,2,3600,g\n")
    (tmp_path / "replay.yaml").write_text("twin: 1\nname: replay\nreplay: {file: log.csv}\n")

    recording = twin.run(twin.load(tmp_path / "replay.yaml"), tmp_path / "run")

    assert recording.manifest["import_report"]["rows_kept"] == 2
    assert recording.table("jobs")["name"].to_pylist() == ["a", "b"]
