"""Checkpoints that drain in the background: blind, but for interference behind a cap, seen from the snapshot."""

import numpy as np
import pytest

from tests.fleets import Mapping, group, scenario
from tests.traces import columns, simulate

COMPUTE_S, DRAIN_S = 100.0, 10.0
PROMISE = 1e-9  # of a gap of 1 s: it shrinks to 0.57 s, and the times reach 1.7e3 s


def pair(snapshot_s: float, cap: float | None, interference: float, gap_s: float = 1.0) -> Mapping:
    fleet = scenario([group("pair", COMPUTE_S, DRAIN_S, {"at": [0.0, gap_s]})], {"cycles": 12}, cap=cap)
    fleet["jobs"][0]["checkpoint"] |= {"mode": "async", "snapshot": snapshot_s, "interference": interference}
    return fleet


def factors(fleet: Mapping) -> np.ndarray:
    """Growth of the gap of the two due times from cycle to cycle."""
    rows = columns(simulate(fleet, ("jobs", "checkpoints")), "checkpoints")
    due_s = [rows["due_s"][rows["job_id"] == job][:12] for job in (0, 1)]
    gaps_s = due_s[1] - due_s[0]
    assert len(gaps_s) == 12
    return gaps_s[1:] / gaps_s[:-1]


@pytest.mark.parametrize(("interference", "cap"), [(0.2, 1.5), (0.4, 1.5), (0.2, 1.2)])
def test_interference_behind_a_cap_draws_a_pair_together(interference, cap):
    factor = 1.0 - interference * (1.0 - cap / 2.0)  # 0.95 for the first

    np.testing.assert_allclose(factors(pair(2.0, cap, interference)), factor, rtol=PROMISE)


@pytest.mark.parametrize(
    ("snapshot_s", "cap", "interference"),
    [(0.0, 1.5, 0.2), (2.0, None, 0.2), (2.0, 1.5, 0.0)],
    ids=["no snapshot", "no cap", "no interference"],
)
def test_without_snapshot_cap_or_interference_a_pair_keeps_its_gap(snapshot_s, cap, interference):
    np.testing.assert_allclose(factors(pair(snapshot_s, cap, interference)), 1.0, rtol=PROMISE)


def test_a_gap_longer_than_the_snapshot_shrinks_by_the_same_seconds_each_cycle():
    snapshot_s, cap, interference = 2.0, 1.5, 0.2
    u = cap / 2.0
    rows = columns(simulate(pair(snapshot_s, cap, interference, gap_s=5.0), ("jobs", "checkpoints")), "checkpoints")
    first_s, second_s = (rows["due_s"][rows["job_id"] == job][:8] for job in (0, 1))

    # During the drain of the first the second is in its snapshot, so it runs at 1 instead of u and loses more by that.
    np.testing.assert_allclose(np.diff(second_s - first_s), -interference * snapshot_s * (1.0 - u) / u, rtol=PROMISE)


def test_a_job_computes_on_while_its_snapshot_drains():
    run = simulate(pair(2.0, None, 0.2))
    rows = columns(run, "checkpoints")
    done = ~np.isnan(rows["write_end_s"])

    np.testing.assert_allclose(rows["stall_s"][done], 2.0, rtol=1e-9)
    np.testing.assert_allclose(rows["write_start_s"][done] - rows["due_s"][done], 2.0, rtol=1e-9)
    alone = rows["job_id"] == 0
    # 100 s of work: (1 - 0.2) in each second of the drain, 1 in the others.
    drains_s = (rows["write_end_s"] - rows["write_start_s"])[alone][:10]
    stretches_s = (rows["due_s"] - rows["compute_start_s"])[alone][1:11]
    np.testing.assert_allclose(stretches_s, COMPUTE_S + 0.2 * drains_s, rtol=1e-9)
