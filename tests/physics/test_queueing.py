"""A store fed by Poisson launches is the M/G/1 processor-sharing queue."""

import numpy as np
import pytest

from tests.fleets import REFERENCE, group, scenario
from tests.traces import columns, simulate

BANDWIDTH_B_S = 2.0
SIZE_B = np.array([1.0, 2.0, 6.0])
RATE_PER_S = np.array([0.3, 0.2, 0.1])  # launches of each group
RUN_S = 3000.0
FIRST_S, LAST_S = 400.0, 2000.0  # jobs launched from the filled store until long before any group runs out
REPLICAS = 40
LOAD = float(RATE_PER_S @ SIZE_B) / BANDWIDTH_B_S  # 0.65


@pytest.fixture(scope="module")
def sojourns_s() -> tuple[np.ndarray, np.ndarray]:
    """Mean sojourn in the store in each replica [s]: of all jobs, and of each group, shape (replicas, groups)."""
    # One stretch of 5 s before the only write: a random delay would do as well, Poisson arrivals stay Poisson.
    groups = [
        group(f"group-{i}", 5.0, size_b, {"poisson": 1.0 / rate}, REFERENCE, work=5.0) | {"count": round(RUN_S * rate)}
        for i, (size_b, rate) in enumerate(zip(SIZE_B, RATE_PER_S, strict=True))
    ]
    fleet = scenario(groups, {}, {"bandwidth": BANDWIDTH_B_S}, seed=3)
    all_jobs, each_group = [], []
    for replica in range(REPLICAS):
        read = columns(simulate(fleet, ("checkpoints",), replica), "checkpoints")
        kept = (read["compute_start_s"] >= FIRST_S) & (read["compute_start_s"] < LAST_S)
        spent_s, size_b = (read["write_end_s"] - read["write_start_s"])[kept], read["size_b"][kept]
        all_jobs.append(spent_s.mean())
        each_group.append([spent_s[size_b == size].mean() for size in SIZE_B])
    return np.array(all_jobs), np.array(each_group)


def test_the_mean_sojourn_is_the_mean_size_over_the_free_bandwidth(sojourns_s):
    mean_s = sojourns_s[0]
    mean_size_b = float(RATE_PER_S @ SIZE_B / RATE_PER_S.sum())

    standard_error_s = mean_s.std(ddof=1) / np.sqrt(REPLICAS)

    assert standard_error_s < 0.05 * mean_s.mean()
    assert abs(mean_s.mean() - mean_size_b / (BANDWIDTH_B_S * (1.0 - LOAD))) <= 3.0 * standard_error_s


def test_a_write_waits_in_proportion_to_its_size_whatever_the_others_write(sojourns_s):
    mean_s = sojourns_s[1]

    standard_error_s = mean_s.std(axis=0, ddof=1) / np.sqrt(REPLICAS)

    assert (standard_error_s < 0.05 * mean_s.mean(axis=0)).all()
    expected_s = SIZE_B / (BANDWIDTH_B_S * (1.0 - LOAD))
    assert (np.abs(mean_s.mean(axis=0) - expected_s) <= 3.0 * standard_error_s).all()
