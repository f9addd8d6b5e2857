"""Recording <-> run directory: one Parquet file per table and ``run.json``; the folder is complete or absent.

A run is written into a temporary folder beside its target and renamed into place. Temporary names carry the machine and
the process, so that the leftovers of a killed run are told from the folders of a run under way.
"""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from twin.errors import RunDirectoryError
from twin.recording import FORMAT_VERSION, TABLES, Recording, Source, schema

MANIFEST = "run.json"
_ROWS_PER_READ = 32_768
_LEFTOVER = re.compile(r"\..*\.twin-([0-9a-f]{8})-(\d{1,9})-[0-9a-f]{8}\.(?:tmp|old)", re.DOTALL)
_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # some network file systems cannot sync a folder


class ParquetTable:
    """A finished table on disk, read in batches or at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """The rows in order, a part of a row group at a time."""
        with _reading(self._path), _parquet(self._path) as file:
            # Group by group: over all groups at once pyarrow reads ahead, the further the longer the file.
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(_ROWS_PER_READ, row_groups=[group], columns=columns, use_threads=False):
                    yield batch.select(columns)

    def table(self) -> pa.Table:
        """All rows at once."""
        with _reading(self._path), _parquet(self._path) as file:
            if file.num_row_groups == 0:  # pyarrow 18 cannot read dictionaries from none
                return file.schema_arrow.empty_table()
            return file.read().unify_dictionaries()


class RunWriter:
    """The sink of one run; made by ``writer``."""

    def __init__(self, target: Path, provenance: Mapping[str, str], tables: Sequence[str], force: bool) -> None:
        self._target = target
        self._force = force
        self._provenance = provenance
        self._tables = tables
        self._temporary = _sibling(target, "tmp")
        self._files: dict[str, pq.ParquetWriter] = {}

    def open(self) -> None:
        """Make the temporary folder and the files in it: all that ``discard`` removes."""
        with _writing(self._target):
            self._target.parent.mkdir(parents=True, exist_ok=True)
            _remove_leftovers(self._target.parent)
            self._temporary.mkdir()
            for table in self._tables:
                self._files[table] = _parquet_writer(self._path(table), schema(table, self._provenance))

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Append rows to a table, as one row group."""
        with _writing(self._target):
            self._files[table].write_batch(batch)

    def finish(self) -> dict[str, Source]:
        """End all tables; they can be read from now until ``commit``."""
        with _writing(self._target):
            for table, file in self._files.items():
                file.close()
                _sync(self._path(table))
        return {table: ParquetTable(self._path(table)) for table in self._files}

    def commit(self, manifest: Mapping[str, Any]) -> None:
        """Write ``run.json`` and give the folder its name.

        Raises:
            RunDirectoryError: the folder cannot be written, or something else took the name meanwhile.
        """
        self.finish()
        with _writing(self._target):
            path = self._temporary / MANIFEST
            path.write_text(manifest_text(manifest), encoding="utf-8")
            _sync(path)
            _sync(self._temporary)
            self._rename_into_place()
            _sync(self._target.parent)

    def discard(self) -> None:
        """Remove what has not been committed."""
        for file in self._files.values():
            with suppress(Exception):  # a file that could not be written cannot be ended either
                file.close()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _rename_into_place(self) -> None:
        try:
            self._temporary.rename(self._target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            _check_free(self._target, self._force)
            self._replace()

    def _replace(self) -> None:
        aside = _sibling(self._target, "old")
        try:
            self._target.rename(aside)
            self._temporary.rename(self._target)
        finally:
            if aside.exists() and self._temporary.exists():  # ended half-way: the old run comes back
                aside.rename(self._target)
            shutil.rmtree(aside, ignore_errors=True)

    def _path(self, table: str) -> Path:
        return self._temporary / f"{table}.parquet"


@contextmanager
def writer(
    folder: str | Path, provenance: Mapping[str, str], *, tables: Sequence[str] = tuple(TABLES), force: bool = False
) -> Iterator[RunWriter]:
    """A sink for one run; its ``commit`` makes the folder appear, and whatever ends the block earlier leaves nothing.

    Args:
        folder: where the run will be; parents are made. An empty folder may be there.
        provenance: what the metadata of each file says about the run (``twin.io.run_directory.provenance``).
        tables: names of the tables that will be written; a table without rows is a file too.
        force: replace a run directory that is there.
    Raises:
        RunDirectoryError: the name is taken, or the folder cannot be written.
    """
    if "\0" in os.fspath(folder):
        raise RunDirectoryError(f"{str(folder)!r}: a file name cannot hold a NUL; choose another folder")
    with _writing(Path(folder)):
        target = Path(os.path.realpath(folder))
        _check_free(target, force)
    run = RunWriter(target, provenance, tables, force)
    try:
        run.open()  # within, so that an interrupt at any point of it leaves nothing
        yield run
    finally:
        run.discard()


def save(recording: Recording, folder: str | Path, *, force: bool = False) -> None:
    """Write a recording as a run directory.

    Raises:
        RunDirectoryError: the name is taken (see ``writer``), or the folder cannot be written.
    """
    tables = list(recording.sources)
    with writer(folder, provenance(recording.manifest), tables=tables, force=force) as run:
        for table in tables:
            for batch in recording.batches(table, [column.name for column in TABLES[table]]):
                run.write(table, batch)
        run.commit(recording.manifest)


def open_run(folder: str | Path) -> Recording:
    """The recording of a run directory; its tables stay on disk until they are asked for.

    Raises:
        RunDirectoryError: not a run directory, one of a newer format, or a damaged one.
    """
    folder = Path(folder)
    manifest = _manifest(folder)
    if manifest["format"] > FORMAT_VERSION:
        raise RunDirectoryError(
            f"{folder}: is a run of format {manifest['format']}; this version reads formats up to {FORMAT_VERSION}; "
            "install a newer racktwin"
        )
    rows = manifest.get("rows")
    if not isinstance(rows, dict) or not rows.keys() <= TABLES.keys():
        raise RunDirectoryError(_damaged(folder / MANIFEST, "`rows` must name the tables of the run and their lengths"))
    return Recording(
        manifest, {table: _checked_table(folder / f"{table}.parquet", table, rows[table]) for table in rows}
    )


def provenance(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What the metadata of each table says about its run: hash of the scenario, seed, replica, version of racktwin."""
    return {
        "scenario_hash": str(manifest["scenario_hash"]),
        "seed": str(manifest["seed"]),
        "replica": str(manifest["replica"]),
        "racktwin": str(manifest["versions"]["racktwin"]),
    }


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """The manifest as ``run.json`` holds it; a number that is not finite becomes null."""
    return json.dumps(_finite(manifest), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run directory of any format version."""
    path = folder / MANIFEST
    with _reading(path):
        if not folder.is_dir():
            problem = "is not a folder" if folder.exists() else "does not exist"
            raise RunDirectoryError(
                f"{folder}: {problem}; a run directory is what `twin run --out` wrote; check the path"
            )
        if not path.is_file():
            raise RunDirectoryError(
                f"{folder}: has no {MANIFEST}, so it is not a run directory; give a folder that `twin run --out` wrote"
            )
        text = path.read_text(encoding="utf-8")
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RunDirectoryError(_damaged(path, f"not JSON: {error}")) from None
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int or "scenario_hash" not in manifest:
        raise RunDirectoryError(
            f"{path}: does not hold the manifest of a run (`format` and `scenario_hash`); "
            "give a folder that `twin run --out` wrote"
        )
    return manifest


def _checked_table(path: Path, table: str, rows: object) -> ParquetTable:
    """The table, its file found, its columns and its length as promised; reads the foot of the file only."""
    if not path.is_file():
        raise RunDirectoryError(_damaged(path, f"missing, but {MANIFEST} lists {rows} rows of it"))
    with _reading(path), _parquet(path) as file:
        columns = file.schema_arrow
        length = file.metadata.num_rows
    if not columns.equals(schema(table, {})):
        raise RunDirectoryError(_damaged(path, f"its columns are not those of the table {table}"))
    if length != rows:
        raise RunDirectoryError(_damaged(path, f"it holds {length} rows, {MANIFEST} says {rows}"))
    return ParquetTable(path)


def _damaged(path: Path, reason: str) -> str:
    return f"{path}: {reason}; the run directory is damaged; run the scenario again"


def _parquet(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path, page_checksum_verification=True)


def _parquet_writer(path: Path, arrow_schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        path,
        arrow_schema,
        compression="zstd",
        use_dictionary=[field.name for field in arrow_schema if pa.types.is_dictionary(field.type)],
        use_byte_stream_split=[field.name for field in arrow_schema if pa.types.is_floating(field.type)],
        write_page_checksum=True,
    )


def _check_free(target: Path, force: bool) -> None:
    """Refuse a name that is taken by anything but an empty folder, or a run directory that may be replaced."""
    try:
        target.stat()
    except FileNotFoundError:
        return
    if target.is_dir() and not any(target.iterdir()):
        return
    if not force:
        raise RunDirectoryError(
            f"{target}: exists already, and a run overwrites nothing unasked; choose another folder, or replace it "
            "with --force (force=True)"
        )
    try:
        _manifest(target)
    except RunDirectoryError:
        raise RunDirectoryError(
            f"{target}: is not a run directory, and --force replaces nothing else; choose another folder"
        ) from None


def _sibling(target: Path, suffix: str) -> Path:
    """A new name beside the target, on the same file system; a long name is cut so that it stays legal."""
    return target.with_name(f".{target.name[:40]}.twin-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.{suffix}")


def _machine() -> str:
    return blake2b(platform.node().encode(), digest_size=4).hexdigest()


def _remove_leftovers(parent: Path) -> None:
    """Remove temporary folders of runs that were killed; those of other machines may be at work, and stay."""
    for path in parent.iterdir():
        match = _LEFTOVER.fullmatch(path.name)
        if match and match[1] == _machine() and not _is_running(int(match[2])):
            shutil.rmtree(path, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def _sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunDirectoryError(
            f"{target}: the run cannot be written there: {error.strerror or error}; "
            "choose a folder that can be made, on a disk with room"
        ) from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunDirectoryError(_damaged(path, f"cannot be read: {reason}")) from error
