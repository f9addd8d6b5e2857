"""A store fed by Poisson launches is the M/G/1 processor-sharing queue."""

import numpy as np

from tests.fleets import REFERENCE, Mapping, group, scenario
from tests.traces import columns, simulate

BANDWIDTH_B_S = 2.0
SIZE_B = np.array([1.0, 2.0, 6.0])
RATE_PER_S = np.array([0.3, 0.2, 0.1])  # launches of each group
LOAD = float(RATE_PER_S @ SIZE_B) / BANDWIDTH_B_S  # 0.65
RUN_S = 2800.0
FIRST_S, LAST_S = 400.0, 2000.0  # jobs launched once the store has filled, and long before any group runs out
REPLICAS = 24


def poisson_fleet() -> Mapping:
    """Jobs that write once: 5 s of work before it, since a delay leaves Poisson arrivals Poisson."""
    groups = []
    for i, (size_b, rate) in enumerate(zip(SIZE_B.tolist(), RATE_PER_S.tolist(), strict=True)):
        own = group(f"group-{i}", 5.0, size_b, {"poisson": 1.0 / rate}, REFERENCE, work=5.0)
        groups.append(own | {"count": round(RUN_S * rate)})
    return scenario(groups, {}, {"bandwidth": BANDWIDTH_B_S}, seed=3)


def mean_sojourns_s(replica: int) -> list[float]:
    """Mean time in the store of all jobs and of the jobs of each size [s]."""
    rows = columns(simulate(poisson_fleet(), ("checkpoints",), replica), "checkpoints")
    kept = (rows["compute_start_s"] >= FIRST_S) & (rows["compute_start_s"] < LAST_S)
    spent_s, size_b = (rows["write_end_s"] - rows["write_start_s"])[kept], rows["size_b"][kept]
    return [spent_s.mean(), *(spent_s[size_b == size].mean() for size in SIZE_B)]


def test_the_mean_sojourn_of_all_and_of_each_size_is_mean_size_over_free_bandwidth():
    mean_size_b = RATE_PER_S @ SIZE_B / RATE_PER_S.sum()
    expected_s = np.array([mean_size_b, *SIZE_B]) / (BANDWIDTH_B_S * (1.0 - LOAD))

    measured_s = np.array([mean_sojourns_s(replica) for replica in range(REPLICAS)])

    standard_error_s = measured_s.std(axis=0, ddof=1) / np.sqrt(REPLICAS)  # replicas are independent
    assert (standard_error_s < 0.04 * expected_s).all()
    assert (np.abs(measured_s.mean(axis=0) - expected_s) <= 3.0 * standard_error_s).all()
