"""How long k jobs write at once in unequal fleets: simulation against the product form."""

import numpy as np
import pytest

from tests.fleets import CLIENT_LIMITED, DEGRADING, FLAT, NODE, REFERENCE, Mapping, group, scenario, speed, store_rates
from tests.traces import columns, simulate, steps
from twin.laws.occupancy import mean_checkpoint_s, time_shares

REPLICAS = 32
RUN_S, WARM_UP_S = 5000.0, 1500.0  # some 400 and 120 cycles: without jitter the launches are forgotten slowly
COMPUTE_S = (7.0, 9.1, 11.3, 13.7, 8.3)
SIZE_B = (1.0, 2.2, 0.6, 1.7, 1.3)
FLEETS: dict[str, tuple[Mapping, Mapping, float | None, Mapping]] = {
    "flat store, no cap": (FLAT, REFERENCE, None, {}),
    "client-limited store, no cap, jitter": (CLIENT_LIMITED, REFERENCE, None, {"law": "normal", "sigma": 2.0}),
    "degrading store, linear cap": (DEGRADING, REFERENCE, 3.1, {}),
    "flat store, linear cap, jitter": (FLAT, REFERENCE, 2.2, {"law": "lognormal", "sigma": 6.0}),
    "client-limited store, watt cap": (CLIENT_LIMITED, NODE, 3.0 * 7750.0, {}),
    "degrading store, watt cap, jitter": (DEGRADING, NODE, 2.6 * 7750.0, {"law": "uniform", "sigma": 1.0}),
}


def fleet(store: Mapping, power: Mapping, cap_w: float | None, jitter: Mapping) -> Mapping:
    more = {"jitter": jitter} if jitter else {}
    groups = [
        group(f"job-{i}", compute_s, size_b, {"uniform": 10.0}, power, **more)
        for i, (compute_s, size_b) in enumerate(zip(COMPUTE_S, SIZE_B, strict=True))
    ]
    return scenario(groups, {"time": RUN_S}, store, cap_w)


def measured_shares(mapping: Mapping, replica: int) -> np.ndarray:
    """Share of time after the warm-up with k = 0 .. n writers, an integral."""
    writers = steps(simulate(mapping, ("storage",), replica), "storage", "writers")
    edges_s = np.append(writers.time_s, RUN_S)
    spent_s = np.diff(np.maximum(edges_s, WARM_UP_S))
    return np.bincount(writers.value.astype(int), spent_s, len(COMPUTE_S) + 1) / (RUN_S - WARM_UP_S)


def measured_durations_s(mapping: Mapping, replica: int) -> np.ndarray:
    """Mean time from first to last byte of each job's writes begun after the warm-up and well before the end [s]."""
    rows = columns(simulate(mapping, ("checkpoints",), replica), "checkpoints")
    kept = (rows["write_start_s"] >= WARM_UP_S) & (rows["write_start_s"] < RUN_S - 100.0)
    job, spent_s = rows["job_id"][kept], (rows["write_end_s"] - rows["write_start_s"])[kept]
    return np.bincount(job, spent_s) / np.bincount(job)


@pytest.mark.parametrize("name", FLEETS)
def test_the_time_share_with_k_writers_is_the_product_form(name):
    store, power, cap_w, _ = FLEETS[name]
    n = len(COMPUTE_S)
    speeds = [speed(power, cap_w, m, n - m) for m in range(1, n + 1)]
    expected = time_shares(np.divide(SIZE_B, COMPUTE_S), store_rates(store, n), speeds)

    shares = np.array([measured_shares(fleet(*FLEETS[name]), replica) for replica in range(REPLICAS)])

    # Runs of other launches and other luck are independent: standard error from their spread.
    standard_error = shares.std(axis=0, ddof=1) / np.sqrt(REPLICAS)
    assert (standard_error < 0.004).all(), "too short to tell the product form from independent phases"
    assert (np.abs(shares.mean(axis=0) - expected) <= 3.0 * standard_error).all()


@pytest.mark.parametrize("name", [*FLEETS][1::2])  # with jitter
def test_the_mean_duration_of_each_jobs_checkpoints_follows_from_the_product_form(name):
    store, power, cap_w, _ = FLEETS[name]
    n = len(COMPUTE_S)
    speeds = [speed(power, cap_w, m, n - m) for m in range(1, n + 1)]
    expected_s = mean_checkpoint_s(SIZE_B, COMPUTE_S, store_rates(store, n), speeds)

    mean_s = np.array([measured_durations_s(fleet(*FLEETS[name]), replica) for replica in range(REPLICAS)])

    standard_error_s = mean_s.std(axis=0, ddof=1) / np.sqrt(REPLICAS)
    assert (standard_error_s < 0.01 * expected_s).all()
    assert (np.abs(mean_s.mean(axis=0) - expected_s) <= 3.0 * standard_error_s).all()
