"""Forgetting the feeder's answers, as a long replay does, changes no row."""

from __future__ import annotations

import pytest

from tests.fleets import DEGRADING, group, scenario
from twin import api
from twin.recording import TABLES
from twin.sim import feeder

POWERS = [
    {"compute": 5.0, "idle": 1.0, "write": 2.0, "exponent": 1.0},
    {"compute": 6.0, "idle": 0.5, "write": 3.0, "exponent": 2.5},
    {"compute": 3.0, "idle": 0.7, "write": 0.3, "exponent": 2.5},
]


def unequal_fleet():
    """Six jobs of three profiles behind a cap that binds at times: dozens of sets of loads, met again and again."""
    groups = [
        group(f"group-{i}", 5.0 + i, 1.0 + i, {"at": [0.3 * i, 4.0 + i]}, power, nodes=1 + i)
        for i, power in enumerate(POWERS)
    ]
    return scenario(groups, {"cycles": 40}, DEGRADING, cap=38.0)


@pytest.fixture
def kept(monkeypatch):
    """Sets how many answers are remembered; the list returned counts those that are at each one worked out."""

    def remember(most):
        sizes = []
        work_out = feeder.Feeder._work_out

        def counted(site, key):
            answer = work_out(site, key)
            sizes.append(len(site._answers))
            return answer

        monkeypatch.setattr(feeder, "REMEMBERED", most)
        monkeypatch.setattr(feeder.Feeder, "_work_out", counted)
        return sizes

    return remember


def test_what_is_remembered_is_bounded_in_numbers_kept_too(kept, monkeypatch):
    sizes = kept(100_000)
    monkeypatch.setattr(feeder, "REMEMBERED_COUNTS", 60)
    api.simulate(api.load(unequal_fleet()))

    assert max(sizes) == 1 + 60 // 6  # numbers of a state: two of each of three profiles


@pytest.mark.parametrize("most", [2, 3, 10])
def test_a_fabric_that_remembers_few_answers_writes_the_very_same_tables(kept, most):
    plain = api.simulate(api.load(unequal_fleet()))
    sizes = kept(most)
    forgetful = api.simulate(api.load(unequal_fleet()))

    assert max(sizes) == most
    assert len(sizes) > 4 * most  # it forgot, and more than once
    assert {0.0 < speed < 1.0 for speed in plain.table("power")["speed"].to_pylist()} == {True, False}
    for name in TABLES:
        assert forgetful.table(name).equals(plain.table(name), check_metadata=True), name
    assert forgetful.manifest == plain.manifest


def test_a_fabric_that_remembers_all_works_out_each_answer_once(kept):
    sizes = kept(100_000)
    api.simulate(api.load(unequal_fleet()))

    assert len(sizes) - max(sizes) <= 2  # it starts over with a slot, while the three groups are connected
