"""Where a page goes: complete under its name or not at all, and never over a file that is no report."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from twin import unfinished
from twin.errors import TwinError
from twin.report.document import GENERATOR

_HEAD_BYTES = 1024  # the mark of our pages stands within


def beside(folder: str | Path) -> Path:
    """The page of a run directory, unless another name is asked for: ``runs/x.html`` for ``runs/x``."""
    run = Path(folder)
    if run.name in ("", ".."):
        run = Path(os.path.realpath(run))
    return run.with_name(f"{run.name}.html")


def check_free(path: Path, force: bool) -> None:
    """Make sure that a page may be written to ``path``: nothing is there, or an earlier report, or ``force`` is given.

    Raises:
        TwinError: a folder or another file has the name.
    """
    if "\0" in os.fspath(path):
        raise TwinError(f"{str(path)!r}: a file name cannot hold a NUL; choose another")
    if path.is_dir():
        raise TwinError(f"{path}: is a folder, and a page is one file; give a file, as in {path / 'page.html'}")
    if not path.exists() or (path.is_file() and (force or _is_report(path))):
        return
    if not path.is_file():
        raise TwinError(f"{path}: is no regular file; give another name for the page")
    raise TwinError(f"{path}: exists, and is no racktwin report; give another name, or replace it with --force")


def write(path: Path, html: str, force: bool = False) -> None:
    """Write a page; whatever ends it earlier leaves what was there before.

    Raises:
        TwinError: the name is taken (see ``check_free``), or the file cannot be written.
    """
    check_free(path, force)
    target = Path(os.path.realpath(path))
    temporary = unfinished.beside(target, "tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.remove_leftovers(target.parent)
        with temporary.open("w", encoding="utf-8") as file:
            file.write(html)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise TwinError(
            f"{path}: the page cannot be written there: {error.strerror or error}; "
            "choose a folder that can be written, on a disk with room"
        ) from error
    finally:
        with suppress(OSError):  # it is no more, or never was
            temporary.unlink()


def _is_report(path: Path) -> bool:
    with path.open("rb") as file:
        return f'<meta name="generator" content="{GENERATOR}'.encode() in file.read(_HEAD_BYTES)
