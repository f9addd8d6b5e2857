"""Jobs of unequal nodes on a store that shares by node: the map of the gap of a pair, without any cap."""

import numpy as np
import pytest

from tests.fleets import group, scenario
from tests.traces import write_windows

WRITE_S = 10.0  # alone, both
CYCLES = 12
PROMISE = 1e-9


def gaps_s(first_nodes: int, second_nodes: int, gap_s: float, share: str = "node") -> np.ndarray:
    """Fire time of the second job less that of the first, cycle by cycle; the first is launched first."""
    jobs = [
        group("first", 100.0, WRITE_S, {"at": [0.0]}, nodes=first_nodes),
        group("second", 100.0, WRITE_S, {"at": [gap_s]}, nodes=second_nodes),
    ]
    start_s = write_windows(scenario(jobs, {"cycles": CYCLES}, {"bandwidth": 1.0, "share": share})).start_s
    return start_s[:, 1] - start_s[:, 0]


def next_gap_s(gap_s: float, first_nodes: int, second_nodes: int) -> float:
    """The map: x = d - r (d - g), or x / r if x < 0; r is the weight of the later over that of the first."""
    if gap_s < 0.0:
        return -next_gap_s(-gap_s, second_nodes, first_nodes)
    ratio = second_nodes / first_nodes
    after_s = WRITE_S - ratio * (WRITE_S - gap_s)
    return after_s if after_s >= 0.0 else after_s / ratio


@pytest.mark.parametrize(("first", "second"), [(2, 1), (5, 3)])
@pytest.mark.parametrize("gap_s", [0.1, 5.0, 9.0])
def test_the_larger_job_first_ends_first_and_the_gap_opens(first, second, gap_s):
    found_s = gaps_s(first, second, gap_s)

    assert (np.diff(found_s) > 0.0).all()
    np.testing.assert_allclose(found_s[1], WRITE_S - second / first * (WRITE_S - gap_s), rtol=PROMISE)


@pytest.mark.parametrize(("first", "second", "gap_s"), [(1, 2, 9.0), (1, 2, 6.0), (3, 5, 4.5)])
def test_the_larger_job_second_closes_the_gap_while_it_does_not_end_first(first, second, gap_s):
    expected_s = WRITE_S - second / first * (WRITE_S - gap_s)
    assert expected_s > 0.0

    np.testing.assert_allclose(gaps_s(first, second, gap_s)[1], expected_s, rtol=PROMISE)


@pytest.mark.parametrize(("first", "second", "gap_s"), [(1, 2, 4.0), (1, 3, 5.0), (3, 5, 1.0)])
def test_the_larger_job_second_overtakes_from_a_small_gap(first, second, gap_s):
    ratio = second / first
    expected_s = (WRITE_S - ratio * (WRITE_S - gap_s)) / ratio
    assert expected_s < 0.0

    np.testing.assert_allclose(gaps_s(first, second, gap_s)[1], expected_s, rtol=PROMISE)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1), (3, 5), (1, 8)])
@pytest.mark.parametrize("gap_s", [0.3, 4.0, 9.0])
def test_both_branches_hold_cycle_after_cycle_until_the_writes_are_disjoint(first, second, gap_s):
    found_s = gaps_s(first, second, gap_s)

    expected_s = [next_gap_s(gap_s, first, second) for gap_s in found_s[:-1]]
    # Absolute, of the write: a gap near 0 is a difference of clock readings of up to 1.4e3 s.
    np.testing.assert_allclose(found_s[1:], expected_s, rtol=0.0, atol=PROMISE * WRITE_S)
    assert abs(found_s[-1]) > 0.9 * WRITE_S


@pytest.mark.parametrize(("nodes", "share"), [((3, 3), "node"), ((1, 4), "job")])
def test_equal_weights_keep_the_gap(nodes, share):
    np.testing.assert_allclose(gaps_s(*nodes, 3.7, share), 3.7, rtol=PROMISE)
