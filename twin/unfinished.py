"""Names of what is not finished yet: beside their target, and told from leftovers by the process at work on them.

A run and a page are written under such a name and renamed into place, so that each is complete or absent. A process
that is killed leaves its own behind; the next one that writes into the folder removes them.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

_NAME = re.compile(r"\..*\.twin-([0-9a-f]{8})-(\d{1,9})-[0-9a-f]{8}\.(?:tmp|old)", re.DOTALL)
_KEPT = 40  # characters of the target's name, so that a long one gives a legal name too


def beside(target: Path, suffix: str) -> Path:
    """A new name beside the target, on the same file system.

    Args:
        suffix: ``tmp`` for what is being written, ``old`` for what is being replaced.
    """
    name = f".{target.name[:_KEPT]}.twin-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.{suffix}"
    return target.with_name(name)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left in a folder; what belongs to other machines may be at work, and stays."""
    with suppress(OSError):  # a folder that may be written but not listed: its leftovers trip nobody
        for path in list(folder.iterdir()):
            match = _NAME.fullmatch(path.name)
            if match and match[1] == _machine() and not _is_running(int(match[2])):
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):  # somebody else was faster
            path.unlink()


@cache
def _machine() -> str:
    return blake2b(os.fsencode(platform.node()), digest_size=4).hexdigest()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True
