"""Jobs under one common speed and one anonymous store never overtake each other."""

import numpy as np
import pytest

from tests.fleets import NODE, REFERENCE, STORES, equal_jobs
from tests.traces import write_windows

CYCLES = 500
COMPUTE_S = 10.0


@pytest.mark.parametrize("n", [8, 32])
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(("power", "cap_share"), [(REFERENCE, None), (REFERENCE, 0.7), (NODE, 0.6)])
def test_the_firing_order_of_random_launches_never_changes(n, store, power, cap_share):
    launches = np.random.default_rng(n).uniform(0.0, COMPUTE_S, n)
    cap_w = None if cap_share is None else cap_share * n * power["compute"]
    fleet = equal_jobs(launches.tolist(), CYCLES, size_b=COMPUTE_S / n, store=STORES[store], power=power, cap=cap_w)

    start_s = write_windows(fleet).start_s

    assert len(start_s) == CYCLES
    # All are launched before the first fires again, so the order of launch is the order of firing, round after round.
    rounds_s = start_s[:, np.argsort(launches)].ravel()
    assert (np.diff(rounds_s) >= 0.0).all()
