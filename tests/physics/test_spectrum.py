"""Near the in-step state every gap is multiplied by a known factor in each cycle."""

import numpy as np
import pytest

from tests.fleets import NODE, REFERENCE, STORES, equal_jobs, speed, store_rates
from tests.traces import write_windows

CYCLES = 3
# Cap as a share of what the whole fleet draws at full speed.
CAPS = {
    "no cap": (REFERENCE, None),
    "linear cap": (REFERENCE, 0.6),
    "tight linear cap": (REFERENCE, 0.3),
    "watt cap": (NODE, 0.45),
}


def factors(n: int, store: dict[str, float], power: dict[str, float], cap_w: float | None) -> np.ndarray:
    """Growth of interval j = 1 .. n - 1: (n - j) F(j) u(j) / (j F(n - j) u(n - j))."""
    rates = store_rates(store, n)
    speeds = [speed(power, cap_w, m, n - m) for m in range(1, n + 1)]
    return np.array(
        [(n - j) * rates[j - 1] * speeds[j - 1] / (j * rates[n - j - 1] * speeds[n - j - 1]) for j in range(1, n)]
    )


def measured(n: int, store: dict[str, float], power: dict[str, float], cap_w: float | None) -> np.ndarray:
    """Ratio of each interval to itself one cycle before, shape (CYCLES - 1, n - 1)."""
    at_s = np.cumsum([0.0] + [1e-4 * (1.0 + 0.37 * (j % 3)) for j in range(1, n)])
    fleet = equal_jobs(at_s.tolist(), CYCLES, store=store, power=power, cap=cap_w)
    writes = write_windows(fleet)
    assert (writes.start_s.max(axis=1) < writes.end_s.min(axis=1)).all(), "the windows no longer all overlap"
    intervals_s = np.diff(writes.start_s, axis=1)
    return intervals_s[1:] / intervals_s[:-1]


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("cap", CAPS)
def test_each_interval_between_firings_grows_by_its_factor(n, store, cap):
    power, share = CAPS[cap]
    cap_w = None if share is None else share * n * power["compute"]

    ratios = measured(n, STORES[store], power, cap_w)

    # Intervals stay above 1e-7 s at times below 1e2 s, so doubles hold each to 1e-7 or better.
    np.testing.assert_allclose(ratios, np.tile(factors(n, STORES[store], power, cap_w), (CYCLES - 1, 1)), rtol=1e-6)


@pytest.mark.parametrize("n", range(2, 9))
def test_what_some_intervals_gain_the_others_lose(n):
    ratios = measured(n, STORES["degrading"], NODE, 0.45 * n * NODE["compute"])

    np.testing.assert_allclose(ratios.prod(axis=1), 1.0, rtol=1e-6)
