"""A controller that acts on the target of a while ago moves gaps: apart, not at all, or together, by the lag."""

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.fleets import FLAT, REFERENCE, Mapping, equal_jobs, store_rates
from tests.traces import write_windows

COMPUTE_S = 100.0
PAIR_CAP = 1.5  # jobs at full speed
LINEAR: Mapping = {"bandwidth": 1e3, "client_bandwidth": 1.0}  # F(n) = n for every fleet here
STORES = {"flat": FLAT, "linear": LINEAR}
GAP_S = 1e-3
JITTER = 1e-6  # of the period: large enough that no gap shrinks to an exact tie
LAUNCHES = 60


def delayed(lag_s: float, at_s: list[float], cycles: int, write_s: float, store: Mapping, cap: float) -> Mapping:
    """Equal jobs of the reference law behind a cap that is enforced ``lag_s`` late."""
    fleet = equal_jobs(at_s, cycles, compute_s=COMPUTE_S, size_b=write_s, store=store, power=REFERENCE, cap=cap)
    fleet["power"]["controller"] = {"policy": "delayed", "delay": lag_s}
    return fleet


def factors(
    lag_s: float, n: int, write_s: float, store: Mapping, cap: float, gap_s: float = GAP_S, first: int = 2
) -> np.ndarray:
    """Growth of each interval between firings from cycle ``first`` (the third) on, shape (4, n - 1)."""
    at_s = np.cumsum([0.0] + [gap_s * (1.0 + 0.37 * (j % 3)) for j in range(1, n)]).tolist()
    intervals_s = np.diff(write_windows(delayed(lag_s, at_s, first + 5, write_s, store, cap)).start_s, axis=1)
    return (intervals_s[1:] / intervals_s[:-1])[first:]


def edges_s(window_s: float, speed: float) -> tuple[float, float, float]:
    """Ends of the bands x n/C, x 1 and x C/n of the lag, for a write window in step and a speed C/n.

    In step the target is 1 for the window W and C/n for the compute stretch; the lag shifts this against the stretch L.
    The first band ends at min(W, L), the second at max(W, L), the third at the period.
    """
    stretch_s = max(COMPUTE_S, window_s + (COMPUTE_S - window_s) / speed)  # L at a lag of W
    return min(window_s, COMPUTE_S), max(window_s, stretch_s), COMPUTE_S / speed + window_s


def test_the_bands_of_a_write_of_10_s_end_at_20_126_67_and_153_33_s():
    np.testing.assert_allclose(edges_s(20.0, PAIR_CAP / 2), [20.0, 20.0 + 80.0 / 0.75, 20.0 + 100.0 / 0.75])


@pytest.mark.parametrize("lag_s", [1.0, 10.0, 19.0])
def test_a_lag_shorter_than_the_window_drives_a_pair_apart_by_a_third_a_cycle(lag_s):
    np.testing.assert_allclose(factors(lag_s, 2, 10.0, FLAT, PAIR_CAP), 4 / 3, rtol=1e-6)


@pytest.mark.parametrize("lag_s", [21.0, 60.0, 125.0])
def test_a_lag_between_the_window_and_the_rest_of_the_period_leaves_the_gap_of_a_pair(lag_s):
    np.testing.assert_allclose(factors(lag_s, 2, 10.0, FLAT, PAIR_CAP), 1.0, rtol=1e-6)


@pytest.mark.parametrize("lag_s", [128.0, 140.0, 150.0])
def test_a_lag_of_nearly_a_period_draws_a_pair_together_by_a_quarter_a_cycle(lag_s):
    np.testing.assert_allclose(factors(lag_s, 2, 10.0, FLAT, PAIR_CAP), 3 / 4, rtol=1e-6)


@pytest.mark.parametrize("lag_s", [154.0, 160.0])
def test_a_lag_just_above_a_period_drives_a_pair_apart_again(lag_s):
    np.testing.assert_allclose(factors(lag_s, 2, 10.0, FLAT, PAIR_CAP), 4 / 3, rtol=1e-6)


@pytest.mark.parametrize("write_s", [10.0, 30.0, 50.0, 80.0])
def test_the_bands_follow_the_window_and_the_period_for_any_length_of_write(write_s):
    low_s, high_s, period_s = edges_s(2 * write_s, PAIR_CAP / 2)
    # 1 s from every edge the gap is small. The first cycle runs at full speed and is shorter than those that follow:
    # a lag just under their period reaches over it until they have grown.
    near_s = {4 / 3: [1.0, low_s - 1.0, period_s + 1.0], 3 / 4: [high_s + 1.0, period_s - 1.0]}
    if high_s > low_s:
        near_s[1.0] = [low_s + 1.0, high_s - 1.0]

    for factor, lags_s in near_s.items():
        for lag_s in lags_s:
            found = factors(lag_s, 2, write_s, FLAT, PAIR_CAP, first=8)
            np.testing.assert_allclose(found, factor, rtol=1e-6, err_msg=f"lag {lag_s} s")


@pytest.mark.parametrize("n", [3, 4, 8])
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(("band", "power"), [("repelling", 1.0), ("blind", 0.0), ("attracting", -1.0)])
def test_each_interval_of_a_fleet_grows_by_the_factor_of_the_lag_times_that_of_the_store(n, store, band, power):
    cap = 0.75 * n
    write_s = 10.0 / n if store == "flat" else 10.0
    low_s, high_s, period_s = edges_s(10.0, cap / n)
    lag_s = {"repelling": 0.5 * low_s, "blind": 0.5 * (low_s + high_s), "attracting": 0.5 * (high_s + period_s)}[band]
    rates, j = store_rates(STORES[store], n), np.arange(1, n)
    of_the_store = (n - j) * rates[j - 1] / (j * rates[n - j - 1])

    # Three cycles: the store alone makes the largest of eight grow seven-fold a cycle, and the windows must overlap.
    found = factors(lag_s, n, write_s, STORES[store], cap, gap_s=1e-5)[:1]

    # The first interval shrinks to 1e-5 / 7^3 s, at times of 3e2 s: doubles hold it to some 1e-6.
    np.testing.assert_allclose(found[0], of_the_store * (n / cap) ** power, rtol=1e-6)


def in_step(lag_s: float, n: int, write_s: float, store: Mapping, cap: float, period_s: float, cycles: int) -> int:
    """How many of 60 random launches end in step: all last firings within a thousandth of the period."""
    rng = np.random.default_rng(n)
    count = 0
    for seed in range(LAUNCHES):
        fleet = delayed(lag_s, rng.uniform(0.0, period_s, n).tolist(), cycles, write_s, store, cap) | {"seed": seed}
        fleet["jobs"][0]["jitter"] = {"law": "normal", "sigma": JITTER * period_s}
        phases_s = np.sort(np.mod(write_windows(fleet).start_s[-1], period_s))
        free_s = np.diff(np.append(phases_s, phases_s[0] + period_s)).max()
        count += period_s - free_s < 1e-3 * period_s
    return count


def test_a_pair_ends_in_step_from_twice_the_share_of_the_period_that_the_lag_leaves():
    lag_s, period_s = 140.0, 150.0  # mid-band; in step 120 s of the stretch run at 3/4, 10 s at full speed, 20 s write

    count = in_step(lag_s, 2, 10.0, FLAT, PAIR_CAP, period_s, 80)

    interval = binomtest(count, LAUNCHES).proportion_ci(0.95)
    assert interval.low <= 2 * (period_s - lag_s) / period_s <= interval.high
    assert count == pytest.approx(2 * (period_s - lag_s) / period_s * LAUNCHES, abs=4)  # 1.5 standard errors


@pytest.mark.parametrize(("write_s", "cycles"), [(10.0, 150), (50.0, 100)])
def test_nearly_every_launch_of_eight_jobs_ends_in_step_where_the_store_does_not_repel(write_s, cycles):
    _, high_s, longest_s = edges_s(write_s, 0.5)
    lag_s = 0.5 * (high_s + longest_s)
    period_s = write_s + COMPUTE_S + 0.5 * (lag_s - write_s)  # the lag less the window runs at half speed

    count = in_step(lag_s, 8, write_s, LINEAR, 4.0, period_s, cycles)

    assert count / LAUNCHES > 0.9
    # 55 or more of 60 exclude 0.8 at 99 %.
    assert binomtest(count, LAUNCHES).proportion_ci(0.95).low > 0.8


@pytest.mark.parametrize("n", [2, 16])
@pytest.mark.parametrize(
    "controller",
    [
        {"policy": "delayed", "delay": 3.3},
        {"policy": "delayed", "delay": 130.0},
        {"policy": "sampled", "period": 7.7, "offset": 0.4, "latency": 2.9},
        {"policy": "sampled", "period": 0.9, "latency": 0.0},
    ],
)
def test_jobs_launched_together_stay_exactly_together_under_a_controller_with_memory(n, controller):
    fleet = equal_jobs([0.1] * n, 300, compute_s=COMPUTE_S, size_b=10.0 / n, cap=0.7 * n)
    fleet["power"]["controller"] = controller

    start_s = write_windows(fleet).start_s

    assert len(start_s) == 300
    assert (start_s == start_s[:, :1]).all()  # exactly: one clock, equal marks


@pytest.mark.parametrize("n", [5, 16])
@pytest.mark.parametrize(
    "controller",
    [
        {"policy": "none"},
        {"policy": "anonymous"},
        {"policy": "delayed", "delay": 1.7},
        {"policy": "delayed", "delay": 11.0},
        {"policy": "lagged", "tau": 2.3},
        {"policy": "sampled", "period": 2.9, "offset": 0.3, "latency": 1.1},
        {"policy": "fixed_limit", "limit": 0.8},
    ],
    ids=lambda controller: "-".join(str(value) for value in controller.values()),
)
def test_the_firing_order_never_changes_under_a_common_speed(n, controller):
    launches_s = np.random.default_rng(n).uniform(0.0, 10.0, n)
    fleet = equal_jobs(launches_s.tolist(), 500, size_b=10.0 / n, cap=0.7 * n)
    fleet["power"]["controller"] = controller

    start_s = write_windows(fleet).start_s

    assert len(start_s) == 500
    # All are launched before the first fires again, so the order of launch is the order of firing, round after round.
    assert (np.diff(start_s[:, np.argsort(launches_s)].ravel()) >= 0.0).all()
