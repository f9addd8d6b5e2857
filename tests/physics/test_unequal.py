"""Two jobs of unequal power behind a cap that binds on a lone one: the speed of who is alone tells who it is."""

import numpy as np
import pytest

from tests.fleets import Mapping, group, scenario
from tests.traces import write_windows

CYCLES = 12
GAP_S = 0.1


def law(compute_w: float) -> Mapping:
    return {"compute": compute_w, "idle": 0.0, "write": 0.0, "exponent": 1.0}


def factors(first_w: float, second_w: float, cap_w: float) -> np.ndarray:
    """Growth of the gap from cycle to cycle; job 1 fires first."""
    jobs = [
        group("first", 100.0, 10.0, {"at": [0.0]}, law(first_w)),
        group("second", 100.0, 10.0, {"at": [GAP_S]}, law(second_w)),
    ]
    start_s = write_windows(scenario(jobs, {"cycles": CYCLES}, cap=cap_w)).start_s
    gaps_s = start_s[:, 1] - start_s[:, 0]
    return gaps_s[1:] / gaps_s[:-1]


# A gap keeps above 0.1 s x 0.75^11 = 4e-3 s at times up to 4e3 s, of which doubles hold 5e-13 s: 1e-10 of it.
PROMISE = 1e-9


def test_the_hungry_job_first_closes_the_gap_by_the_ratio_of_the_lone_speeds():
    np.testing.assert_allclose(factors(2.0, 1.5, 1.0), (1.0 / 2.0) / (1.0 / 1.5), rtol=PROMISE)


def test_the_frugal_job_first_opens_it_by_the_inverse():
    np.testing.assert_allclose(factors(1.5, 2.0, 1.0), (1.0 / 1.5) / (1.0 / 2.0), rtol=PROMISE)


def test_a_cap_that_binds_on_one_of_them_alone_counts_the_other_at_full_speed():
    np.testing.assert_allclose(factors(2.0, 1.5, 1.8), 1.8 / 2.0, rtol=PROMISE)


@pytest.mark.parametrize(("first_w", "second_w"), [(2.0, 1.5), (1.5, 2.0)])
def test_a_cap_that_binds_on_the_pair_only_leaves_the_gap(first_w, second_w):
    np.testing.assert_allclose(factors(first_w, second_w, 2.5), 1.0, rtol=PROMISE)


def test_equal_jobs_behind_a_cap_that_binds_on_each_alone_keep_the_gap():
    np.testing.assert_allclose(factors(2.0, 2.0, 1.0), 1.0, rtol=PROMISE)
