"""Mean and spread of the jitter laws as stated, clipping included, against their own draws; streams by address."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from twin.chance import Purpose, mean_stretch_s, stream, stretches
from twin.scenario import LEAST, MAX_TIME_S

DRAWS = 200_000


def drawn(law: str, mean_s: float, sigma_s: float) -> np.ndarray:
    rng = stream(1, 0, law, 0, Purpose.JITTER)
    return np.fromiter(islice(stretches(law, mean_s, sigma_s, rng), DRAWS), float)


@pytest.mark.parametrize("law", ["normal", "lognormal", "uniform"])
@pytest.mark.parametrize("sigma_s", [0.1, 6.0, 30.0])
def test_the_mean_of_many_draws_is_the_mean_stated(law, sigma_s):
    draws = drawn(law, 10.0, sigma_s)

    standard_error_s = draws.std(ddof=1) / np.sqrt(DRAWS)
    assert draws.mean() == pytest.approx(mean_stretch_s(law, 10.0, sigma_s), abs=3.0 * standard_error_s)


# Kurtosis of each law where nothing is clipped; that of the lognormal law tends to 3 for a small sigma.
@pytest.mark.parametrize(("law", "kurtosis"), [("normal", 3.0), ("lognormal", 3.0), ("uniform", 1.8)])
@pytest.mark.parametrize("sigma_s", [0.001, 0.1])
def test_the_standard_deviation_of_many_draws_is_sigma(law, kurtosis, sigma_s):
    relative_error = np.sqrt((kurtosis - 1.0) / (4.0 * DRAWS))

    assert drawn(law, 10.0, sigma_s).std(ddof=1) == pytest.approx(sigma_s, rel=3.0 * relative_error)


def test_a_wide_lognormal_law_still_has_standard_deviation_sigma():
    # q^2 = log(1 + (5 / 10)^2) = log 1.25; kurtosis w^4 + 2 w^3 + 3 w^2 - 3 with w = exp(q^2) = 1.25 is 8.04
    relative_error = np.sqrt((8.04 - 1.0) / (4.0 * DRAWS))

    assert drawn("lognormal", 10.0, 5.0).std(ddof=1) == pytest.approx(5.0, rel=3.0 * relative_error)


@pytest.mark.parametrize(("law", "skewness"), [("normal", 0.0), ("lognormal", 0.05), ("uniform", 0.0)])
def test_each_law_leans_as_it_should(law, skewness):
    # A normal or a uniform law does not lean. The lognormal one does by (w + 2) sqrt(w - 1), w = 1.000278 here: 0.05.
    draws = drawn(law, 10.0, 10.0 / 60.0)
    z = (draws - draws.mean()) / draws.std()

    assert np.mean(z**3) == pytest.approx(skewness, abs=3.0 * np.sqrt(6.0 / DRAWS))  # of a normal law, the widest here


def test_a_uniform_law_ends_at_sigma_times_the_root_of_three_on_both_sides():
    draws = drawn("uniform", 10.0, 1.0)
    reach_s = np.sqrt(3.0)
    unseen_s = 2.0 * reach_s * 12.0 / DRAWS  # no draw in a strip so wide at an end: odds of exp(-12)

    assert 10.0 - reach_s <= draws.min() < 10.0 - reach_s + unseen_s
    assert 10.0 + reach_s - unseen_s < draws.max() <= 10.0 + reach_s


def test_a_stretch_below_nought_is_clipped_and_not_drawn_again():
    draws = drawn("normal", 10.0, 10.0)
    clipped = 0.158655  # of a normal law, what lies a standard deviation below the mean

    assert draws.min() == 0.0
    assert np.mean(draws == 0.0) == pytest.approx(clipped, abs=3.0 * np.sqrt(clipped * (1.0 - clipped) / DRAWS))


def test_the_first_draws_do_not_depend_on_how_many_are_taken():
    rng = stream(1, 0, "a", 0, Purpose.JITTER)
    one_by_one = 10.0 + 2.0 * np.array([rng.standard_normal() for _ in range(300)])
    taken = list(islice(stretches("normal", 10.0, 2.0, stream(1, 0, "a", 0, Purpose.JITTER)), 300))

    assert taken == one_by_one.tolist()


def test_streams_of_another_address_are_other_streams():
    addresses = [
        (1, 0, "a", 0, Purpose.JITTER),
        (0, 0, "a", 0, Purpose.JITTER),
        (1, 1, "a", 0, Purpose.JITTER),
        (1, 0, "b", 0, Purpose.JITTER),
        (1, 0, "a", 1, Purpose.JITTER),
        (1, 0, "a", 0, Purpose.LAUNCH),
        (1, 0, "a", 0, Purpose.LAUNCHES),
        (1, 0, "a", 0, Purpose.COPY),
    ]

    assert len({stream(*address).random() for address in addresses}) == len(addresses)


def test_without_jitter_the_mean_is_the_work_itself():
    assert mean_stretch_s(None, 10.0, 0.0) == 10.0


def test_a_uniform_law_that_reaches_below_nought_has_the_mean_of_its_positive_part():
    # from -20 s to 40 s: two thirds of the draws are positive, 20 s on average
    assert mean_stretch_s("uniform", 10.0, 30.0 / np.sqrt(3.0)) == pytest.approx(20.0 * 2.0 / 3.0, rel=1e-14)


@pytest.mark.parametrize("law", ["normal", "lognormal", "uniform"])
def test_the_widest_jitter_a_scenario_may_have_draws_finite_stretches(law):
    draws = drawn(law, LEAST, MAX_TIME_S)

    assert np.isfinite(draws).all()
    assert draws.min() >= 0.0
