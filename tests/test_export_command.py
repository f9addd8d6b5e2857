"""``twin export``: a timeline and the log of a meter, complete or absent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pandas as pd
import pyarrow.parquet as pq
import pytest

import twin
from tests.planning_cases import scenario


@pytest.fixture
def folder(tmp_path):
    """A run directory."""
    twin.run(twin.load(scenario(epoch="2026-01-05T08:00")), tmp_path / "run")
    return tmp_path / "run"


def test_the_log_of_a_meter_integrates_to_the_energy_in_parquet_and_in_csv(folder, run):
    code, out, err = run("export", str(folder), "--meter", "1 min")
    stem = folder.with_name("run-meter-1min")
    energy_j = twin.open_run(folder).manifest["metrics"]["energy_j"]

    assert (code, out) == (0, "")
    assert "readings" in err
    for readings in (pd.read_parquet(f"{stem}.parquet"), pd.read_csv(f"{stem}.csv")):
        assert (readings.mean_w * readings.width_s).sum() == pytest.approx(energy_j, rel=1e-12)
        assert readings.time_s.tolist() == [60.0 * k for k in range(len(readings))]
    assert pd.read_csv(f"{stem}.csv").time.iloc[1] == "2026-01-05T08:01:00"
    schema = pq.read_schema(f"{stem}.parquet")
    assert schema.field("mean_w").metadata[b"unit"] == b"W"
    assert schema.metadata[b"seed"] == b"5"


def test_a_timeline_says_how_many_slices_it_holds_and_where_to_open_it(folder, run, tmp_path):
    code, out, err = run("export", str(folder), "--perfetto", str(tmp_path / "t.pftrace"))

    assert (code, out) == (0, "")
    assert "compute 52, write 48; open it in ui.perfetto.dev" in err
    assert (tmp_path / "t.pftrace").stat().st_size > 1000


FAULTS = {
    "nothing asked for": ([], "nothing to write"),
    "out without a meter": (["--out", "x", "--perfetto", "y"], "give --meter TIME too"),
    "no time at all": (["--meter", "0 s"], "must be more than 0 s"),
    "a wrong unit": (["--meter", "1 W"], "has the unit 'W'"),
    "a word": (["--meter", "soon"], "must be a time"),
    "readings without end": (["--meter", "1 ns"], "raise it"),
    "a folder": (["--perfetto", "."], "is a folder"),
}


@pytest.mark.parametrize(("options", "words"), FAULTS.values(), ids=FAULTS)
def test_bad_input_ends_with_one_message_and_writes_nothing(folder, run, monkeypatch, options, words):
    monkeypatch.chdir(folder.parent)
    code, out, err = run("export", str(folder), *options)

    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


@pytest.mark.parametrize("option", ["--perfetto", "--meter"])
def test_what_is_no_run_is_refused(tmp_path, run, option):
    code, _, err = run("export", str(tmp_path), option, "1 s")

    assert code == 2
    assert "run.json" in err


def test_a_run_without_power_has_no_meter(tmp_path, run):
    twin.run(twin.load(scenario()), tmp_path / "run", tables=["jobs", "checkpoints"])
    code, _, err = run("export", str(tmp_path / "run"), "--meter", "1s")

    assert (code, "power: is not in this recording" in err) == (2, True)


def test_files_that_are_there_are_replaced_only_when_forced(folder, run, tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("mine")
    code, _, err = run("export", str(folder), "--perfetto", str(file))
    assert (code, "exists already" in err, file.read_text()) == (2, True, "mine")

    (tmp_path / "log.csv").write_text("mine")
    code, _, err = run("export", str(folder), "--meter", "1 min", "--out", str(tmp_path / "log"))
    assert (code, (tmp_path / "log.csv").read_text()) == (2, "mine")
    assert not (tmp_path / "log.parquet").exists()

    assert run("export", str(folder), "--perfetto", str(file), "--force")[0] == 0
    assert file.read_bytes() != b"mine"


@pytest.mark.parametrize("place", ["/proc/none/x", "/dev/full"])
def test_a_place_that_takes_nothing_is_named(folder, run, place):
    code, _, err = run("export", str(folder), "--perfetto", place)

    assert code == 2
    assert place in err
    assert "Traceback" not in err


def test_a_killed_export_leaves_nothing_under_the_final_name(tmp_path):
    twin.run(twin.load(scenario(stop={"time": "60 d"})), tmp_path / "run")
    command = [sys.executable, "-m", "twin", "export", str(tmp_path / "run"), "--meter", "100 ms", "--out"]
    for wait_s in (0.5, 0.8, 1.1):
        process = subprocess.Popen([*command, str(tmp_path / f"log-{wait_s}")], stderr=subprocess.DEVNULL)
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (tmp_path / f"log-{wait_s}.csv").exists()
        assert not (tmp_path / f"log-{wait_s}.parquet").exists()
