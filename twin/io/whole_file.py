"""A file of results that is complete or absent: written under a temporary name beside its target, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from twin.errors import TwinError
from twin.unfinished import beside, remove_leftovers


def check_free(path: Path, force: bool) -> None:
    """Refuse a name that is taken, but for a file that may be replaced.

    Raises:
        TwinError: a folder has the name, or a file without ``force``.
    """
    if "\0" in os.fspath(path):
        raise TwinError(f"{str(path)!r}: a file name cannot hold a NUL; choose another")
    if path.is_dir():
        raise TwinError(f"{path}: is a folder; give the name of a file, as in {path / 'export'}")
    if path.exists() and not (force and path.is_file()):
        raise TwinError(f"{path}: exists already; give another name, or replace it with --force")


@contextmanager
def whole_file(path: Path, force: bool) -> Iterator[Path]:
    """Where to write the file; it gets its name when the block ends well, and else leaves nothing.

    Raises:
        TwinError: the name is taken, or the file cannot be written.
    """
    check_free(path, force)
    target = Path(os.path.realpath(path))
    temporary = beside(target, "tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        yield temporary
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(target)
    except OSError as error:
        raise TwinError(
            f"{path}: cannot be written: {error.strerror or error}; choose a folder that can be written, on a disk "
            "with room"
        ) from error
    finally:
        with suppress(OSError):  # it is no more, or never was
            temporary.unlink()
