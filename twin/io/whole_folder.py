"""A folder of results that is complete or absent: written under a temporary name beside its target, then renamed.

See ``twin.unfinished`` for the names, and for what becomes of those that a killed process leaves behind.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from twin.errors import RunDirectoryError
from twin.unfinished import beside, remove_leftovers

_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # some network file systems cannot sync a folder


class WholeFolder:
    """A folder on its way to its name.

    Args:
        target: the name it is to get.
        noun: what it holds, in a word: ``run``.
        is_ours: whether a folder holds such a thing, so that it may be replaced.
        force: replace one that is there.

    Attributes:
        path: where it is written.
    """

    def __init__(self, target: Path, noun: str, is_ours: Callable[[Path], bool], force: bool) -> None:
        self._target = target
        self._noun = noun
        self._is_ours = is_ours
        self._force = force
        self.path = beside(target, "tmp")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within, whatever cannot be written is a ``RunDirectoryError`` that names the target."""
        try:
            yield
        except OSError as error:
            raise RunDirectoryError(
                f"{self._target}: the {self._noun} cannot be written there: {error.strerror or error}; "
                "choose a folder that can be made, on a disk with room"
            ) from error

    def open(self) -> None:
        """Make the temporary folder."""
        with self.writing():
            self._target.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self._target.parent)
            self.path.mkdir()

    def check_free(self) -> None:
        """Refuse a name taken by anything but an empty folder, or one of ours that may be replaced."""
        try:
            self._target.stat()
        except FileNotFoundError:
            return
        if self._target.is_dir() and not any(self._target.iterdir()):
            return
        if not self._force:
            raise RunDirectoryError(
                f"{self._target}: exists already, and a {self._noun} overwrites nothing unasked; choose another "
                "folder, or replace it with --force (force=True)"
            )
        if not self._is_ours(self._target):
            raise RunDirectoryError(
                f"{self._target}: is not a {self._noun} directory, and --force replaces nothing else; choose another "
                "folder"
            )

    def commit(self) -> None:
        """Give the folder its name.

        Raises:
            RunDirectoryError: it cannot be written, or something else took the name meanwhile.
        """
        with self.writing():
            sync(self.path)
            self._rename_into_place()
            sync(self._target.parent)

    def discard(self) -> None:
        """Remove what has not been committed."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _rename_into_place(self) -> None:
        try:
            self.path.rename(self._target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            self.check_free()
            self._replace()

    def _replace(self) -> None:
        aside = beside(self._target, "old")
        try:
            self._target.rename(aside)
            self.path.rename(self._target)
        finally:
            if aside.exists() and self.path.exists():  # ended half-way: the old one comes back
                aside.rename(self._target)
            shutil.rmtree(aside, ignore_errors=True)


def whole_folder(folder: str | Path, noun: str, is_ours: Callable[[Path], bool], *, force: bool = False) -> WholeFolder:
    """A folder to be made, its name free or to be replaced; it is not there until ``open``.

    Raises:
        RunDirectoryError: the name is taken, or cannot be one.
    """
    if "\0" in os.fspath(folder):
        raise RunDirectoryError(f"{str(folder)!r}: a file name cannot hold a NUL; choose another folder")
    whole = WholeFolder(Path(folder), noun, is_ours, force)
    with whole.writing():
        whole = WholeFolder(Path(os.path.realpath(folder)), noun, is_ours, force)
        whole.check_free()
    return whole


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)
