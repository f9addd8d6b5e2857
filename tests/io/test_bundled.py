"""Starter scenarios travel with the program, run where they are written, and overwrite nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from twin import api
from twin.errors import TwinError
from twin.io import bundled

ROOT = Path(__file__).parents[2]
NAMES = [starter.name for starter in bundled.starters()]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_scenario_of_the_checkout_is_a_starter_and_the_default_comes_first():
    assert sorted(NAMES) == sorted(path.stem for path in (ROOT / "scenarios").iterdir())
    assert NAMES[0] == bundled.DEFAULT


@pytest.mark.parametrize("name", NAMES)
def test_a_starter_is_valid_where_it_is_written_and_asks_the_question_listed(name, tmp_path):
    scenario = api.load(bundled.write(name, tmp_path)[0])

    assert scenario.question == next(starter.question for starter in bundled.starters() if starter.name == name)


def test_a_replay_brings_its_launch_log_and_reads_it_from_beside_it(tmp_path):
    written = bundled.write("replay", tmp_path)

    assert [path.name for path in written] == ["replay.yaml", "launches.csv"]
    assert files(tmp_path) == ["launches.csv", "replay.yaml"]
    assert api.load(written[0]).replay.file == "launches.csv"
    assert written[1].read_bytes() == (ROOT / "data/launches.csv").read_bytes()


def test_a_starter_without_a_log_is_one_file(tmp_path):
    bundled.write("in-step", tmp_path)

    assert files(tmp_path) == ["in-step.yaml"]


@pytest.mark.parametrize("taken", ["replay.yaml", "launches.csv"])
def test_a_file_in_the_way_is_kept_and_nothing_else_is_written(taken, tmp_path):
    (tmp_path / taken).write_text("mine")

    with pytest.raises(TwinError, match=f"{taken}: exists already"):
        bundled.write("replay", tmp_path)
    assert files(tmp_path) == [taken]
    assert (tmp_path / taken).read_text() == "mine"


def test_a_link_that_leads_nowhere_is_in_the_way_too(tmp_path):
    (tmp_path / "in-step.yaml").symlink_to("elsewhere.yaml")

    with pytest.raises(TwinError, match="exists already"):
        bundled.write("in-step", tmp_path)
    assert files(tmp_path) == ["in-step.yaml"]


def test_the_same_launch_log_from_before_serves_again(tmp_path):
    scenario, log = bundled.write("replay", tmp_path)
    scenario.unlink()

    assert bundled.write("replay", tmp_path) == [scenario]
    assert log.is_file()


def test_an_unknown_name_is_told_the_nearest(tmp_path):
    with pytest.raises(TwinError, match=r"'replya': no starter .* did you mean replay\?"):
        bundled.write("replya", tmp_path)


def test_a_folder_that_is_not_there_is_an_error_with_a_remedy(tmp_path):
    with pytest.raises(TwinError, match=r"in-step.yaml: cannot be written: No such file or directory; go to"):
        bundled.write("in-step", tmp_path / "nowhere")


def test_a_write_that_fails_half_way_leaves_no_file(tmp_path, monkeypatch):
    def fill(path: Path, _target: Path) -> Path:
        assert path.read_text()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", fill)
    with pytest.raises(TwinError, match="No space left on device"):
        bundled.write("in-step", tmp_path)
    assert files(tmp_path) == []


@pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling, which builds the wheel, is not installed")
def test_the_wheel_holds_every_scenario_and_the_launch_log(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.iterdir()
    with ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith("twin/bundled/")}

    assert inside == {"twin/bundled/data/launches.csv", *(f"twin/bundled/scenarios/{name}.yaml" for name in NAMES)}
