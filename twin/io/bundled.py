"""The scenarios that travel with the program, and the launch logs they replay."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from twin import unfinished
from twin.errors import TwinError
from twin.units import nearest

DEFAULT = "mid-fleet"


@dataclass(frozen=True, slots=True)
class Starter:
    """A bundled scenario: its name, and the question it asks."""

    name: str
    question: str


def starters() -> list[Starter]:
    """Every bundled scenario, the default first."""
    names = sorted((path.stem for path in _scenarios().glob("*.yaml")), key=lambda name: (name != DEFAULT, name))
    return [Starter(name, _values(_text(name))["question"].strip()) for name in names]


def write(name: str, folder: Path) -> list[Path]:
    """Write the scenario ``NAME.yaml`` into the folder, and beside it the launch log that it replays.

    Returns:
        The files written, the scenario first. A launch log that is there already, the same, is not written again.
    Raises:
        TwinError: no scenario has the name, a file is in the way, or the folder cannot be written.
    """
    names = [starter.name for starter in starters()]
    if name not in names:
        near = nearest(name, names)
        meant = f"did you mean {near}? " if near else ""
        raise TwinError(f"{name!r}: no starter scenario has this name; {meant}`twin init --list` lists all")
    text = _text(name)
    contents = {folder / f"{name}.yaml": text}
    if replay := _values(text).get("replay"):
        log = _scenarios() / replay["file"]
        contents = {folder / f"{name}.yaml": text.replace(replay["file"], log.name)}
        if not _holds(folder / log.name, log.read_bytes()):
            contents[folder / log.name] = log.read_text(encoding="utf-8")
    for path in contents:
        if os.path.lexists(path):
            raise TwinError(
                f"{path}: exists already, and is never overwritten; move it away, or run `twin init {name}` in another "
                "folder"
            )
    for path in reversed(contents):  # the scenario last, so that it never lacks its log
        _write(path, contents[path])
    return list(contents)


def _scenarios() -> Path:
    """Inside the package where a wheel was installed, beside it in a checkout."""
    package = Path(__file__).parents[1]
    bundled = package / "bundled"
    return (bundled if bundled.is_dir() else package.parent) / "scenarios"


def _text(name: str) -> str:
    return (_scenarios() / f"{name}.yaml").read_text(encoding="utf-8")


def _values(text: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(text)
    return values


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _write(path: Path, text: str) -> None:
    """Write a file that appears complete or not at all."""
    temporary = unfinished.beside(path, "tmp")
    try:
        unfinished.remove_leftovers(path.parent)
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.rename(path)
    except OSError as error:
        raise TwinError(
            f"{path}: cannot be written: {error.strerror or error}; go to a folder that can be, on a disk with room"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
