"""Recording <-> run directory: one Parquet file per table and ``run.json``; the folder is complete or absent.

A run is written into a temporary folder beside its target and renamed into place; see ``twin.io.whole_folder``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from twin.errors import RunDirectoryError
from twin.io.manifest import MANIFEST, damaged, is_run, manifest_text, provenance, read_manifest
from twin.io.whole_folder import WholeFolder, sync, whole_folder
from twin.recording import TABLES, Recording, Source, schema

_ROWS_PER_READ = 32_768


class ParquetTable:
    """A finished table on disk, read in batches or at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """The rows in order, a part of a row group at a time."""
        with _parquet(self._path) as file:
            # Group by group: over all groups at once pyarrow reads ahead, the further the longer the file.
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(_ROWS_PER_READ, row_groups=[group], columns=columns, use_threads=False):
                    yield batch.select(columns)

    def table(self) -> pa.Table:
        """All rows at once."""
        with _parquet(self._path) as file:
            if file.num_row_groups == 0:  # pyarrow 18 cannot read dictionaries from none
                return file.schema_arrow.empty_table()
            return file.read().unify_dictionaries()


class _TableFile:
    """A table on its way to the disk."""

    def __init__(self, path: Path, arrow_schema: pa.Schema) -> None:
        self._file = pa.OSFile(os.fsencode(path), "wb")
        self._parquet = pq.ParquetWriter(
            self._file,
            arrow_schema,
            compression="zstd",
            use_dictionary=[field.name for field in arrow_schema if pa.types.is_dictionary(field.type)],
            use_byte_stream_split=[field.name for field in arrow_schema if pa.types.is_floating(field.type)],
            write_page_checksum=True,
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self._parquet.write_batch(batch)

    def close(self) -> None:
        try:
            self._parquet.close()
        finally:
            self._file.close()


class RunWriter:
    """The sink of one run; made by ``writer``."""

    def __init__(self, folder: WholeFolder, provenance: Mapping[str, str], tables: Sequence[str]) -> None:
        self._folder = folder
        self._provenance = provenance
        self._tables = tables
        self._files: dict[str, _TableFile] = {}

    def open(self) -> None:
        """Make the temporary folder and the files in it: all that ``discard`` removes."""
        self._folder.open()
        with self._folder.writing():
            for table in self._tables:
                self._files[table] = _TableFile(self._path(table), schema(table, self._provenance))

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Append rows to a table, as one row group."""
        with self._folder.writing():
            self._files[table].write(batch)

    def finish(self) -> dict[str, Source]:
        """End all tables; they can be read from now until ``commit``."""
        with self._folder.writing():
            for table, file in self._files.items():
                file.close()
                sync(self._path(table))
        return {table: ParquetTable(self._path(table)) for table in self._files}

    def commit(self, manifest: Mapping[str, Any]) -> None:
        """Write ``run.json`` and give the folder its name.

        Raises:
            RunDirectoryError: the folder cannot be written, or something else took the name meanwhile.
        """
        self.finish()
        with self._folder.writing():
            path = self._folder.path / MANIFEST
            path.write_text(manifest_text(manifest), encoding="utf-8")
            sync(path)
        self._folder.commit()

    def discard(self) -> None:
        """Remove what has not been committed."""
        for file in self._files.values():
            with suppress(Exception):  # a file that could not be written cannot be ended either
                file.close()
        self._folder.discard()

    def _path(self, table: str) -> Path:
        return self._folder.path / f"{table}.parquet"


@contextmanager
def writer(
    folder: str | Path, provenance: Mapping[str, str], *, tables: Sequence[str] = tuple(TABLES), force: bool = False
) -> Iterator[RunWriter]:
    """A sink for one run; its ``commit`` makes the folder appear, and whatever ends the block earlier leaves nothing.

    Args:
        folder: where the run will be; parents are made. An empty folder may be there.
        provenance: what the metadata of each file says about the run (``twin.io.manifest.provenance``).
        tables: names of the tables that will be written; a table without rows is a file too.
        force: replace a run directory that is there.
    Raises:
        RunDirectoryError: the name is taken, or the folder cannot be written.
    """
    run = RunWriter(whole_folder(folder, "run", is_run, force=force), provenance, tables)
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
    manifest = read_manifest(folder)
    return Recording(manifest, {table: _checked_table(folder, table, manifest) for table in manifest["rows"]})


def _checked_table(folder: Path, table: str, manifest: Mapping[str, Any]) -> ParquetTable:
    """The table, its file there, of this run, with its columns and its length; reads the foot of the file only."""
    path, rows = folder / f"{table}.parquet", manifest["rows"][table]
    if not path.is_file():
        raise RunDirectoryError(damaged(path, f"missing, but {MANIFEST} lists {rows} rows of it"))
    with _parquet(path) as file:
        found = file.schema_arrow
        length = file.metadata.num_rows
    promised = schema(table, provenance(manifest))
    if not found.equals(promised):
        raise RunDirectoryError(damaged(path, f"its columns are not those of the table {table}"))
    for key, value in promised.metadata.items():
        if (told := (found.metadata or {}).get(key)) != value:
            name, other = key.decode(), "nothing" if told is None else told.decode(errors="replace")
            reason = f"belongs to another run: its {name} is {other}, by {MANIFEST} it is {value.decode()}"
            raise RunDirectoryError(damaged(path, reason))
    if length != rows:
        raise RunDirectoryError(damaged(path, f"it holds {length} rows, {MANIFEST} says {rows}"))
    return ParquetTable(path)


@contextmanager
def _parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """A table file, open for reading; whatever is wrong with it is damage."""
    # Named by bytes, since pyarrow takes no text for a name that is not UTF-8.
    with (
        _reading(path),
        pa.OSFile(os.fsencode(path)) as file,
        pq.ParquetFile(file, page_checksum_verification=True) as parquet,
    ):
        yield parquet


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunDirectoryError(damaged(path, f"cannot be read: {reason}")) from error
