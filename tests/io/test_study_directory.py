"""The folder of a study: whole or absent, and refused in words where it is not what it was."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from twin.errors import RunDirectoryError
from twin.io.study_directory import file_name, finish, is_study, open_study, writer

TABLES = {"comparison": pa.table({"variant": ["a"]}), "replicas": pa.table({"value": [1.0]})}


def made(folder, **manifest):
    with writer(folder) as whole:
        finish(whole, {"kind": "comparison", "name": "x"} | manifest, TABLES)
    return folder


def test_a_study_is_read_as_it_was_written(tmp_path):
    study = open_study(made(tmp_path / "s", seed=3))

    assert study.manifest["seed"] == 3
    assert study.table.equals(TABLES["comparison"])
    assert study.replicas.equals(TABLES["replicas"])
    assert study.traces == {}


def test_whatever_ends_it_earlier_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), writer(tmp_path / "s"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused_and_a_study_is_replaced_only_when_forced(tmp_path):
    made(tmp_path / "s")
    with pytest.raises(RunDirectoryError, match="exists already"), writer(tmp_path / "s"):
        pass
    with writer(tmp_path / "s", force=True) as whole:
        finish(whole, {"kind": "comparison", "name": "new"}, TABLES)
    assert open_study(tmp_path / "s").manifest["name"] == "new"

    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    with pytest.raises(RunDirectoryError, match="not a study directory"), writer(other, force=True):
        pass
    assert (other / "mine.txt").read_text() == "mine"


def spoil(folder, **changes):
    path = folder / "study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_study_of_a_newer_format_says_so(tmp_path):
    folder = made(tmp_path / "s")
    spoil(folder, format=99)

    with pytest.raises(RunDirectoryError, match=r"format 99.*install a newer racktwin"):
        open_study(folder)


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        (lambda folder: spoil(folder, kind="poem"), "no kind of study 'poem'"),
        (lambda folder: (folder / "comparison.parquet").unlink(), "comparison.parquet: cannot be read"),
        (lambda folder: (folder / "replicas.parquet").write_bytes(b"PAR1 not"), "replicas.parquet: cannot be read"),
        (lambda folder: spoil(folder, traces={"a": "traces/a"}), "traces/a"),
        (lambda folder: (folder / "study.json").write_text("{"), "is not the folder of a study"),
        (lambda folder: (folder / "study.json").write_text("[1]"), "is not the folder of a study"),
    ],
)
def test_a_damaged_study_is_told_with_its_file(tmp_path, spoilt, words):
    folder = made(tmp_path / "s")
    spoilt(folder)

    with pytest.raises(RunDirectoryError) as refused:
        open_study(folder)
    assert words in str(refused.value)


def test_what_is_no_study_is_not_taken_for_one(tmp_path):
    assert not is_study(tmp_path)
    assert is_study(made(tmp_path / "s"))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("delayed, delay 2 s", "delayed-delay-2-s"),
        ("../..", "variant"),
        ("a/b\\c", "a-b-c"),
        ("日本", "日本"),
        ("x" * 200, "x" * 80),
    ],
)
def test_a_variant_gets_a_name_that_any_file_system_takes(name, file):
    assert file_name(name) == file
