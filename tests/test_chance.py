"""The mean of the jitter laws, clipping included, against their own draws."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from twin.chance import Purpose, mean_stretch_s, stream, stretches

DRAWS = 200_000


@pytest.mark.parametrize("law", ["normal", "lognormal", "uniform"])
@pytest.mark.parametrize("sigma_s", [0.1, 6.0, 30.0])
def test_the_mean_of_many_draws_is_the_mean_stated(law, sigma_s):
    draws = np.fromiter(islice(stretches(law, 10.0, sigma_s, stream(1, 0, law, 0, Purpose.JITTER)), DRAWS), float)

    standard_error_s = draws.std(ddof=1) / np.sqrt(DRAWS)
    assert draws.mean() == pytest.approx(mean_stretch_s(law, 10.0, sigma_s), abs=3.0 * standard_error_s)


def test_without_jitter_the_mean_is_the_work_itself():
    assert mean_stretch_s(None, 10.0, 0.0) == 10.0


def test_a_uniform_law_that_reaches_below_nought_has_the_mean_of_its_positive_part():
    # from -20 s to 40 s: two thirds of the draws are positive, 20 s on average
    assert mean_stretch_s("uniform", 10.0, 30.0 / np.sqrt(3.0)) == pytest.approx(20.0 * 2.0 / 3.0, rel=1e-14)
