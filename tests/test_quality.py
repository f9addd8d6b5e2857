"""The code reads as agreed: format, lint, types and the direction of imports, checked by tools on the whole tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(["-m", "ruff", "format", "--check", "."], id="format"),
        pytest.param(["-m", "ruff", "check", "."], id="lint"),
        pytest.param(["-m", "mypy"], id="types"),
        pytest.param(["-c", LAYERS], id="imports_point_down"),
    ],
)
def test_the_tree_passes(check: list[str]) -> None:
    found = subprocess.run([sys.executable, *check], cwd=ROOT, capture_output=True, check=False, text=True)

    assert found.returncode == 0, found.stdout + found.stderr
