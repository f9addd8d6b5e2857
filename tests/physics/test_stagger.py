"""Windows that never overlap never will, and windows that do always will."""

import numpy as np
import pytest

from tests.fleets import CLIENT_LIMITED, DEGRADING, FLAT, NODE, REFERENCE, equal_jobs, speed
from tests.traces import Windows, write_windows

COMPUTE_S = 10.0
WRITE_S = 1.0  # alone


def even_launches_s(n: int, power: dict[str, float], cap_w: float | None) -> list[float]:
    """Launches that space the jobs evenly on the compute clock (the integral of the speed of computing jobs).

    In one period the clock gains n x: each job computes T of it, and u(n - 1) d passes while it writes. Before the
    first write m launched jobs run at the speed of m jobs and no writer, so the next launch is x over that speed later.
    """
    spacing_s = (COMPUTE_S + WRITE_S * speed(power, cap_w, n - 1, 1)) / n
    waits_s = [spacing_s / speed(power, cap_w, launched, 0) for launched in range(1, n)]
    return np.cumsum([0.0, *waits_s]).tolist()


def overlaps(writes: Windows) -> np.ndarray:
    """Whether a window reaches into the next one, for each firing in order of time but the last of each job."""
    order = np.argsort(writes.start_s[0])
    start_s, end_s = writes.start_s[:, order].ravel(), writes.end_s[:, order].ravel()
    return (start_s[1:] < end_s[:-1])[: len(start_s) - len(order)]


@pytest.mark.parametrize("n", [2, 4, 7])
@pytest.mark.parametrize("store", [FLAT, DEGRADING], ids=["flat", "degrading"])
@pytest.mark.parametrize(
    ("power", "cap_share"), [(REFERENCE, None), (REFERENCE, 0.6), (NODE, 0.6)], ids=["slack", "linear", "watt"]
)
def test_an_even_stagger_never_overlaps_in_ten_thousand_cycles(n, store, power, cap_share):
    cap_w = None if cap_share is None else cap_share * n * power["compute"]
    launches_s = even_launches_s(n, power, cap_w)

    writes = write_windows(equal_jobs(launches_s, 10_000, size_b=WRITE_S, store=store, power=power, cap=cap_w))

    assert len(writes.start_s) == 10_000
    assert not overlaps(writes).any()


@pytest.mark.parametrize(("power", "cap_share"), [(REFERENCE, 0.6), (NODE, 0.6)], ids=["linear", "watt"])
def test_even_on_the_compute_clock_is_even_in_time_once_all_are_launched(power, cap_share):
    n = 4
    cap_w = cap_share * n * power["compute"]
    launches_s = even_launches_s(n, power, cap_w)

    start_s = write_windows(equal_jobs(launches_s, 100, size_b=WRITE_S, power=power, cap=cap_w)).start_s

    gaps_s = np.diff(start_s.ravel())
    np.testing.assert_allclose(gaps_s, gaps_s.mean(), rtol=1e-9)  # some 1e3 roundings of times below 1e4 s


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize(
    ("store", "power", "cap_share"),
    [(FLAT, REFERENCE, None), (CLIENT_LIMITED | {"bandwidth": 1.5}, NODE, 0.6)],
    ids=["slack", "watt cap"],
)
def test_a_fleet_that_overlaps_never_becomes_disjoint(block, store, power, cap_share):
    n, cycles = 3, 1000
    cap_w = None if cap_share is None else cap_share * n * power["compute"]
    rng = np.random.default_rng(block)
    overlapping = 0
    for _ in range(25):
        launches_s = rng.uniform(0.0, COMPUTE_S, n).tolist()
        fleet = equal_jobs(launches_s, cycles, size_b=WRITE_S, store=store, power=power, cap=cap_w)
        reaches_in = overlaps(write_windows(fleet))
        if reaches_in[:n].any():
            overlapping += 1
            assert reaches_in.reshape(-1, n).any(axis=1).all(), launches_s
    assert overlapping >= 5  # three windows of 1 s in 13 s overlap in some half of all launches
