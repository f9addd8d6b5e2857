"""Two identical jobs that share a store, a cap or both: nothing anonymous moves their gap."""

import numpy as np
import pytest

from tests.fleets import NODE, REFERENCE, STORES, equal_jobs
from tests.traces import write_windows

CYCLES = 10_000
COMPUTE_S = 10.0  # full-speed work; a lone write takes 1 s
LAWS = {"reference": REFERENCE, "node": NODE}
GAPS_S = {"a millionth of the period": 11e-6, "half a write": 0.5, "a write": 0.9999, "past every window": 4.0}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("cap_jobs", [None, 1.5, 0.8])
@pytest.mark.parametrize("gap", GAPS_S)
def test_the_gap_of_two_identical_jobs_never_changes(store, law, cap_jobs, gap):
    power = LAWS[law]
    cap_w = None if cap_jobs is None else cap_jobs * power["compute"]
    pair = equal_jobs([0.0, GAPS_S[gap]], CYCLES, compute_s=COMPUTE_S, store=STORES[store], power=power, cap=cap_w)

    start_s = write_windows(pair).start_s

    assert len(start_s) == CYCLES
    gaps_s = start_s[:, 1] - start_s[:, 0]
    period_s = (start_s[-1, 0] - start_s[0, 0]) / (CYCLES - 1)
    assert gaps_s[0] > 0.5 * GAPS_S[gap]
    # The clock reads 1e4 periods at the end, so its last digit is 1e-12 of a period.
    assert np.abs(gaps_s - gaps_s[0]).max() <= 1e-9 * period_s
