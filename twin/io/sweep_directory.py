"""The folder of a sweep: a result per point and replica, kept as soon as it is there, and one table of them all.

``sweep.json`` says what is swept. ``results/point=ID/replica=K/metrics.parquet`` holds one row, ``failures`` beside it
the errors, both complete or absent. ``sweep.parquet`` is made of them once the sweep is through.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from twin.errors import RunDirectoryError
from twin.io.manifest import manifest_text
from twin.unfinished import beside, remove_leftovers

SWEEP = "sweep.json"
SWEEP_FORMAT = 1
TABLE = "sweep.parquet"
TRACES = "traces"
_RESULTS, _FAILURES = "results", "failures"
_SMALL = {"compression": "none", "use_dictionary": False, "write_statistics": False, "store_schema": False}  # one row
_METRICS, _ERROR = "metrics.parquet", "error.json"

Key = tuple[str, int]  # point and replica


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that has been through.

    Args:
        manifest: the content of ``sweep.json``.
        table: a row per point and replica.
    """

    manifest: dict[str, Any]
    table: pa.Table


class SweepFolder:
    """The folder of a sweep under way.

    Args:
        folder: where it is, or will be.
        base: hash of the scenario that is swept, by which another one's folder is told.
    """

    def __init__(self, folder: Path, base: str) -> None:
        self.folder = folder
        self._base = base
        self.kept = 0  # results written by this process

    def open(self) -> None:
        """Make the folder, or see that it is one of the same scenario.

        Raises:
            RunDirectoryError: it holds something else, or cannot be written.
        """
        if "\0" in os.fspath(self.folder):
            raise RunDirectoryError(f"{str(self.folder)!r}: a file name cannot hold a NUL; choose another folder")
        with self._writing():
            if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
                self._check_ours()
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.folder)

    def results(self) -> set[Key]:
        """The points and replicas whose result is there."""
        return set(self._keys(_RESULTS, _METRICS))

    def failures(self) -> dict[Key, str]:
        """Why runs failed, by point and replica."""
        found = {}
        for key in self._keys(_FAILURES, _ERROR):
            with suppress(
                OSError, ValueError, KeyError, TypeError
            ):  # one that cannot be read is no failure: it runs again
                found[key] = str(json.loads(self._place(_FAILURES, key, _ERROR).read_bytes())["error"])
        return found

    def result(self, key: Key) -> dict[str, Any]:
        """A result, as the row that was kept.

        Raises:
            RunDirectoryError: a file that is not what it was.
        """
        path = self._place(_RESULTS, key, _METRICS)
        try:
            with pa.OSFile(os.fsencode(path)) as file, pq.ParquetFile(file, page_checksum_verification=True) as parquet:
                (row,) = parquet.read(use_threads=False).to_pylist()
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = getattr(error, "strerror", None) or str(error).split("\n")[0]
            raise RunDirectoryError(
                f"{path}: cannot be read: {reason}; the result is damaged; delete the file, and run the same command "
                "again"
            ) from None
        return dict(row)

    def keep(self, key: Key, row: Mapping[str, Any], schema: pa.Schema) -> None:
        """Keep a result: it is there, whole, when this returns."""
        # As one struct, since each column made alone would cost as much as all.
        batch = pa.RecordBatch.from_struct_array(pa.array([row], pa.struct(list(schema))))
        path = self._place(_RESULTS, key, _METRICS)
        with self._writing():
            try:
                path.parent.mkdir(parents=True)
            except FileExistsError:
                remove_leftovers(path.parent)
            temporary = beside(path, "tmp")
            try:
                with (
                    pa.OSFile(os.fsencode(temporary), "wb") as file,
                    pq.ParquetWriter(file, schema, write_page_checksum=True, **_SMALL) as parquet,
                ):
                    parquet.write_batch(batch)
                _give(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)
            self._place(_FAILURES, key, _ERROR).unlink(missing_ok=True)
        self.kept += 1

    def fail(self, key: Key, error: str) -> None:
        """Keep the error of a run."""
        self._write_text(self._place(_FAILURES, key, _ERROR), manifest_text({"error": error}))

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Say what is swept."""
        identity = {"format": SWEEP_FORMAT, "kind": "sweep", "base": self._base}
        self._write_text(self.folder / SWEEP, manifest_text(identity | dict(manifest)))

    def write_table(self, table: pa.Table) -> None:
        """Put the table of all results in place of the last one."""
        path = self.folder / TABLE
        with self._writing():
            temporary = beside(path, "tmp")
            try:
                with pa.OSFile(os.fsencode(temporary), "wb") as file:
                    pq.write_table(table, file, compression="zstd")
                _give(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

    def _keys(self, kind: str, name: str) -> Iterator[Key]:
        for path in (self.folder / kind).glob(f"point=*/replica=*/{name}"):
            replica = path.parent.name.removeprefix("replica=")
            if replica.isdigit():
                yield path.parent.parent.name.removeprefix("point="), int(replica)

    def _place(self, kind: str, key: Key, name: str) -> Path:
        return self.folder / kind / f"point={key[0]}" / f"replica={key[1]}" / name

    def _write_text(self, path: Path, text: str) -> None:
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = beside(path, "tmp")
            try:
                temporary.write_text(text, encoding="utf-8")
                _give(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

    def _check_ours(self) -> None:
        found = _manifest(self.folder)
        if found["base"] != self._base:
            raise RunDirectoryError(
                f"{self.folder}: holds the sweep of another scenario, {found.get('name')!r} as it was then; choose "
                "another folder with --out, or go on with the scenario and --set of that sweep"
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunDirectoryError(
                f"{self.folder}: cannot be written: {error.strerror or error}; what is done is kept; make room, or see "
                "to the permissions, and run the same command again"
            ) from error


def is_sweep(folder: Path) -> bool:
    """Whether the folder holds a sweep of any format, through or not."""
    try:
        found = json.loads((folder / SWEEP).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("format"), int) and found.get("kind") == "sweep"


def read_sweep(folder: str | Path) -> Sweep:
    """The sweep of a folder.

    Raises:
        RunDirectoryError: not a sweep, one of a newer format, one that has not been through, or a damaged one.
    """
    folder = Path(folder)
    manifest = _manifest(folder)
    path = folder / TABLE
    if not path.exists():
        raise RunDirectoryError(f"{folder}: the sweep has not been through; run the same twin sweep again to end it")
    try:
        with pa.OSFile(os.fsencode(path)) as file:
            table = pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n")[0]
        raise RunDirectoryError(
            f"{path}: cannot be read: {reason}; delete the file, and run the same twin sweep again"
        ) from None
    keys = [axis["key"] for axis in manifest["axes"]]
    if table.column_names[: len(keys)] != keys:  # of the sweep before, whose axes were others
        raise RunDirectoryError(f"{folder}: the sweep has not been through; run the same twin sweep again to end it")
    return Sweep(manifest, table)


def _manifest(folder: Path) -> dict[str, Any]:
    if not is_sweep(folder):
        raise RunDirectoryError(
            f"{folder}: is not the folder of a sweep; give one that `twin sweep` wrote, or a new one"
        )
    found: dict[str, Any] = json.loads((folder / SWEEP).read_bytes())
    if found["format"] != SWEEP_FORMAT or not isinstance(found.get("base"), str):
        raise RunDirectoryError(
            f"{folder}: is a sweep of format {found['format']}; this version reads format {SWEEP_FORMAT}; install a "
            "newer racktwin, or choose another folder"
        )
    return found


def _give(temporary: Path, path: Path) -> None:
    """Give a written file its name, once it is on the disk."""
    descriptor = os.open(temporary, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(path)
