"""What each job did, on a grid: shares worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.hand_made import WORKED, recording_of
from twin.analysis.job_timeline import writing_shares


def shares_of(tables, rows, cells=3, cell_s=10.0, cuts=()):
    return writing_shares(recording_of(tables, cuts), np.array(rows), cells, cell_s)


def test_shares_are_the_parts_of_cells_between_first_and_last_byte():
    found = shares_of(WORKED, [0, 1])
    assert found == pytest.approx(np.array([[0.0, 0.6, 0.4], [0.0, 0.6, 0.2]]), abs=1e-12)  # sums of a few doubles


def test_rows_are_in_the_order_asked_for_and_jobs_left_out_stay_out():
    assert shares_of(WORKED, [-1, 0])[0] == pytest.approx([0.0, 0.6, 0.2], abs=1e-12)


def test_a_job_is_nowhere_before_its_launch_and_after_its_end():
    job = (0, "llm-0", "llm", 1, 0.0, 12.0, 19.0, 1, 5.0, 0.0, "done")
    checkpoint = (0, 0, 12.0, 17.0, 17.0, 19.0, 2.0, 8.0, "done")
    found = shares_of({"jobs": [job], "checkpoints": [checkpoint]}, [0])
    assert np.isnan(found).tolist() == [[True, False, True]]
    assert found[0, 1] == pytest.approx(0.2)


def test_a_job_never_launched_is_nowhere():
    job = (0, "llm-0", "llm", 1, 90.0, None, None, 0, 0.0, 0.0, "pending")
    assert np.isnan(shares_of({"jobs": [job], "checkpoints": []}, [0])).all()


def test_cutting_the_tables_changes_nothing():
    assert shares_of(WORKED, [0, 1], cuts=(1, 3)).tolist() == shares_of(WORKED, [0, 1]).tolist()


def test_a_short_write_in_a_long_run_keeps_its_share():
    job = (0, "llm-0", "llm", 1, 0.0, 0.0, None, 1, 5.0, 0.0, "computing")
    checkpoint = (0, 0, 0.0, 500.0, 500.0, 500.001, 0.001, 8.0, "done")
    found = shares_of({"jobs": [job], "checkpoints": [checkpoint]}, [0], cells=1000, cell_s=1.0)
    assert found[0, 500] == pytest.approx(0.001, rel=1e-9)  # 1e-13 of rounding at t = 500
    assert np.count_nonzero(found > 1e-9) == 1
