"""One scenario and one seed are one run, in any process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.physics.test_scaling import mixed_fleet
from tests.traces import simulate
from twin.recording import TABLES, Recording

PROGRAM = """
import json, sys
from tests.physics.test_repeatability import digits
from tests.traces import simulate
print(json.dumps([digits(simulate(mapping)) for mapping in json.load(sys.stdin)]))
"""


def digits(run: Recording) -> dict[str, str]:
    """Every value of every table as text; a float's text is its value, to the last bit."""
    return {name: repr(run.table(name).to_pydict()) for name in TABLES}


def in_another_process(mappings: list[dict], hash_seed: str) -> list[dict[str, str]]:
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(mappings),
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def mappings() -> list[dict]:
    """One fleet of every kind of group, with seed 0 and with seed 7."""
    return [mixed_fleet() | {"seed": seed} for seed in (0, 7)]


def test_processes_with_different_string_hashes_write_the_same_tables(mappings):
    assert in_another_process(mappings, "1") == in_another_process(mappings, "2")


def test_seed_zero_is_a_seed_like_any_other(mappings):
    zero, seven = (digits(simulate(mapping)) for mapping in mappings)

    assert digits(simulate(mappings[0])) == zero
    assert zero["checkpoints"] != seven["checkpoints"]


def test_another_replica_meets_other_luck_and_the_same_replica_the_same(mappings):
    first, again, second = (digits(simulate(mappings[0], replica=replica)) for replica in (1, 1, 2))

    assert first == again
    assert first["checkpoints"] != second["checkpoints"]
