"""How long the checkpoints of each job take in unequal fleets: simulation against the product form."""

import numpy as np
import pytest

from tests.fleets import store_rates
from tests.unequal_fleets import FLEETS, measured_durations_s
from twin.laws.occupancy import mean_checkpoint_s

REPLICAS = 32


@pytest.mark.parametrize(
    "name",
    [
        "client-limited store, no cap, jitter",
        "flat store, linear cap, jitter",
        "degrading store, watt cap, jitter",
    ],
)
def test_the_mean_duration_of_each_jobs_checkpoints_follows_from_the_product_form(name):
    fleet = FLEETS[name]
    rates_b_s = store_rates(fleet.store, fleet.jobs)
    expected_s = mean_checkpoint_s(fleet.size_b, fleet.compute_s, rates_b_s, fleet.speeds())

    mean_s = np.array([measured_durations_s(fleet, replica) for replica in range(REPLICAS)])

    # Runs of other launches and other luck are independent: standard error from their spread.
    standard_error_s = mean_s.std(axis=0, ddof=1) / np.sqrt(REPLICAS)
    assert (standard_error_s < 0.01 * expected_s).all()
    assert (np.abs(mean_s.mean(axis=0) - expected_s) <= 3.0 * standard_error_s).all()
