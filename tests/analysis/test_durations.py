"""Checkpoints counted by duration."""

from __future__ import annotations

import pytest

from tests.analysis.hand_made import WORKED, recording_of
from twin.analysis.durations import duration_histogram


def took(*durations_s):
    rows = [(0, i, 0.0, 0.0, 0.0, d, d, 8.0, "done") for i, d in enumerate(durations_s)]
    return recording_of({"checkpoints": rows})


def test_every_ended_checkpoint_is_counted_once():
    assert duration_histogram(recording_of(WORKED)).counts.sum() == 2
    assert duration_histogram(took(1.0, 2.0, 3.0, 3.0), classes=2).counts.tolist() == [1, 3]


def test_classes_reach_from_the_shortest_to_the_longest():
    edges = duration_histogram(took(1.0, 3.0), classes=4).edges
    assert (edges[0], edges[-1]) == (1.0, pytest.approx(3.0))


def test_classes_begin_where_asked_unless_a_shorter_one_is_there():
    assert duration_histogram(took(2.0, 3.0), from_s=1.0).edges[0] == 1.0
    assert duration_histogram(took(0.5, 3.0), from_s=1.0).edges[0] == 0.5


def test_durations_that_differ_by_rounding_are_one_class_in_the_middle():
    found = duration_histogram(took(100.0, 100.0 + 1e-12), classes=5)
    assert found.counts.tolist() == [0, 0, 2, 0, 0]


def test_no_ended_checkpoint_is_no_histogram():
    assert duration_histogram(recording_of({"checkpoints": WORKED["checkpoints"][2:]})) is None
