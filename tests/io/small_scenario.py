"""A small scenario file, and the faults of one that is not quite it."""

from __future__ import annotations

from pathlib import Path

import pytest

from twin.errors import ScenarioError
from twin.io.scenario_files import from_mapping, read

BASE = """\
twin: 1
name: base
stop: {cycles: 3}
jobs:
  - name: llm
    count: 2
    nodes: 64
    launch: {at: [0 s, 3 s]}
  - name: vision.v2
    nodes: 8
    work: 5 d
power: {cap: 1 MW}
"""


def faults(source, overrides=()):
    load = read if isinstance(source, Path) else from_mapping
    with pytest.raises(ScenarioError) as caught:
        load(source, overrides)
    return caught.value.faults


def only_fault(source, overrides=()):
    (fault,) = faults(source, overrides)
    return fault
