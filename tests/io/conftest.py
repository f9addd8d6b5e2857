"""The small scenario as a file of each test's own."""

from __future__ import annotations

import pytest

from tests.io.small_scenario import BASE


@pytest.fixture
def base(tmp_path):
    file = tmp_path / "base.yaml"
    file.write_text(BASE)
    return file
