"""The moments to enlarge, on a run worked out by hand."""

from __future__ import annotations

import numpy as np

from tests.analysis.hand_made import WORKED, WORKED_END_S, recording_of
from twin.analysis.worst_moment import Busiest, busiest, longest, writes_between


def test_the_busiest_stretch_is_the_longest_with_the_most_writers():
    for cuts in ((), (2, 3, 6)):
        assert busiest(recording_of(WORKED, cuts), WORKED_END_S) == Busiest(2, 12.0, 16.0)


def test_writers_that_no_time_passed_with_do_not_count():
    rows = [(0.0, 0, 0, 0, 0.0), (1.0, 1, 0, 0, 2.0), (5.0, 7, 0, 0, 2.0), (5.0, 0, 0, 0, 0.0)]
    assert busiest(recording_of({"storage": rows}), 9.0) == Busiest(1, 1.0, 5.0)


def test_nobody_writing_has_no_busiest_stretch():
    assert busiest(recording_of({"storage": [(0.0, 0, 0, 0, 0.0)]}), 9.0) is None


def test_the_longest_checkpoint_is_the_first_of_equals_and_has_ended():
    found = longest(recording_of(WORKED))
    assert found is not None
    assert (found.job_id, found.cycle, found.duration_s) == (0, 0, 6.0)


def test_no_ended_checkpoint_is_no_longest():
    assert longest(recording_of({"checkpoints": WORKED["checkpoints"][2:]})) is None


def test_writes_that_only_touch_the_stretch_are_outside_and_cut_ones_never_end():
    found = writes_between(recording_of(WORKED), 18.0, 27.0)
    assert found["job_id"].tolist() == [0]
    assert found["write_end_s"].tolist() == [np.inf]
