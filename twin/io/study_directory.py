"""A study <-> its folder: ``study.json``, a Parquet file per table, and runs to look at under ``traces``.

The folder is complete or absent, like that of a run; see ``twin.io.whole_folder``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from twin.errors import RunDirectoryError
from twin.io import run_directory
from twin.io.manifest import manifest_text
from twin.io.whole_folder import WholeFolder, sync, whole_folder
from twin.recording import Recording

STUDY = "study.json"
STUDY_FORMAT = 1
TRACES = "traces"
_TABLES = {"comparison": ("comparison", "replicas"), "sensitivity": ("sensitivity",)}  # by kind


@dataclass(frozen=True, slots=True)
class Study:
    """A finished study.

    Args:
        manifest: the content of ``study.json``; its ``kind`` says what kind of study.
        tables: by name.
        traces: a run of each variant, by its name; may be empty.
    """

    manifest: dict[str, Any]
    tables: dict[str, pa.Table]
    traces: Mapping[str, Recording]

    @property
    def table(self) -> pa.Table:
        """The table of results, named like the kind of study."""
        return self.tables[self.manifest["kind"]]

    @property
    def replicas(self) -> pa.Table:
        """The values of each replica."""
        return self.tables["replicas"]


def file_name(name: str) -> str:
    """The name with nothing in it that a folder cannot have."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "variant"


@contextmanager
def writer(folder: str | Path, *, force: bool = False) -> Iterator[WholeFolder]:
    """The folder of a study under way; whatever ends the block before ``finish`` leaves nothing.

    Args:
        force: replace a study that is there.
    Raises:
        RunDirectoryError: the name is taken, or the folder cannot be written.
    """
    whole = whole_folder(folder, "study", is_study, force=force)
    try:
        whole.open()
        yield whole
    finally:
        whole.discard()


def finish(whole: WholeFolder, manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
    """Write the study beside its traces, and give the folder its name."""
    with whole.writing():
        for name, table in tables.items():
            path = whole.path / f"{name}.parquet"
            with pa.OSFile(os.fsencode(path), "wb") as file:
                pq.write_table(table, file, compression="zstd")
            sync(path)
        path = whole.path / STUDY
        path.write_text(manifest_text({"format": STUDY_FORMAT} | dict(manifest)), encoding="utf-8")
        sync(path)
    whole.commit()


def is_study(folder: Path) -> bool:
    """Whether the folder holds a study of any format, damaged or not."""
    try:
        found = json.loads((folder / STUDY).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("format"), int) and "kind" in found


def open_study(folder: str | Path) -> Study:
    """The study of a folder; the tables of its traces stay on disk until they are asked for.

    Raises:
        RunDirectoryError: not a study, one of a newer format, or a damaged one.
    """
    folder = Path(folder)
    if not is_study(folder):
        raise RunDirectoryError(
            f"{folder}: is not the folder of a study; give one that `twin compare` or `twin sensitivity` wrote"
        )
    manifest: dict[str, Any] = json.loads((folder / STUDY).read_bytes())
    if manifest["format"] != STUDY_FORMAT:
        newer = "install a newer racktwin" if manifest["format"] > STUDY_FORMAT else "make the study again"
        raise RunDirectoryError(
            f"{folder}: is a study of format {manifest['format']}; this version reads format {STUDY_FORMAT}; {newer}"
        )
    if manifest["kind"] not in _TABLES:
        raise RunDirectoryError(_damaged(folder / STUDY, f"there is no kind of study {manifest['kind']!r}"))
    tables = {name: _read(folder / f"{name}.parquet") for name in _TABLES[manifest["kind"]]}
    traces = manifest.get("traces", {})
    return Study(manifest, tables, {name: run_directory.open_run(folder / place) for name, place in traces.items()})


def _read(path: Path) -> pa.Table:
    try:
        with pa.OSFile(os.fsencode(path)) as file:
            return pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        raise RunDirectoryError(
            _damaged(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")
        ) from None


def _damaged(path: Path, reason: str) -> str:
    return f"{path}: {reason}; the study is damaged; make it again"
