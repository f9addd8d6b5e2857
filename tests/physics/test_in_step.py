"""Jobs launched together stay exactly together, and the smallest push ends it."""

import numpy as np
import pytest

from tests.fleets import CLIENT_LIMITED, DEGRADING, FLAT, NODE, REFERENCE, equal_jobs
from tests.traces import write_windows

LINEAR_STORE = {"bandwidth": 1e3, "client_bandwidth": 1.0}  # F(n) = n for every fleet here
PUSH_S = 1e-6
FLEETS = {
    "slack": (FLAT, REFERENCE, None),
    "linear cap": (FLAT, REFERENCE, 0.7),
    "watt cap": (DEGRADING, NODE, 0.6),
    "cap alone": (LINEAR_STORE, REFERENCE, 0.6),
}


def start_s(at_s: list[float], cycles: int, store: dict, power: dict, cap_share: float | None) -> np.ndarray:
    cap_w = None if cap_share is None else cap_share * len(at_s) * power["compute"]
    return write_windows(equal_jobs(at_s, cycles, store=store, power=power, cap=cap_w)).start_s


@pytest.mark.parametrize("n", [3, 16, 64])
@pytest.mark.parametrize("fleet", ["slack", "linear cap", "watt cap"])
def test_jobs_launched_together_write_together_for_a_thousand_cycles(n, fleet):
    starts = start_s([0.1] * n, 1000, *FLEETS[fleet])

    assert len(starts) == 1000
    assert (starts == starts[:, :1]).all()  # exactly: one clock, equal marks


@pytest.mark.parametrize("n", [3, 4, 8])
@pytest.mark.parametrize("fleet", FLEETS)
def test_one_job_a_microsecond_ahead_of_the_others_drives_them_apart(n, fleet):
    starts = start_s([0.0] + [PUSH_S] * (n - 1), 200, *FLEETS[fleet])

    assert np.ptp(starts, axis=1).max() > 1e4 * PUSH_S


@pytest.mark.parametrize(
    ("n", "store", "cap_share"), [(2, FLAT, None), (2, CLIENT_LIMITED, 0.6), (3, LINEAR_STORE, None)]
)
def test_a_pair_and_a_fleet_that_shares_nothing_keep_the_push(n, store, cap_share):
    starts = start_s([0.0] + [PUSH_S] * (n - 1), 1000, store, REFERENCE, cap_share)

    spread_s = np.ptp(starts, axis=1)
    assert np.abs(spread_s - spread_s[0]).max() <= 1e-11  # five roundings at the last time, 2e4 s
