"""Speed, work and energy of a lagged speed against quadrature, however short the segment."""

import numpy as np
import pytest
from scipy.integrate import quad

from twin.laws.lag import lagged_crossing_s, lagged_due_s, lagged_power_integral_s, lagged_speed, lagged_work_s

TAU_S = 5.0
SPEEDS = [(1.0, 0.7), (0.7, 1.0), (0.3, 0.3), (1.0, 0.0), (0.0, 1.0), (0.0, 0.4)]
SPANS = [1e-8, 1e-4, 0.1, 0.5, 1.0, 7.0, 60.0]  # of tau


def at(speed: float, target: float, x: float) -> float:
    """The solution of ds/dx = target - s, as a sum of what is not negative."""
    return speed * np.exp(-x) + target * -np.expm1(-x)


def integral(speed: float, target: float, span: float, exponent: float = 1.0) -> float:
    """By quadrature on pieces; x = y^2 on the first, where a speed that rises from 0 has no derivatives."""
    first = min(span, 1.0)
    total = quad(lambda y: 2.0 * y * at(speed, target, y * y) ** exponent, 0.0, np.sqrt(first), epsabs=0, epsrel=2e-14)[
        0
    ]
    for start in np.arange(1.0, span):
        total += quad(
            lambda x: at(speed, target, x) ** exponent, start, min(start + 1.0, span), epsabs=0, epsrel=2e-14
        )[0]
    return TAU_S * total


@pytest.mark.parametrize(("speed", "target"), SPEEDS)
@pytest.mark.parametrize("span", SPANS)
def test_the_speed_is_the_solution_of_its_equation(speed, target, span):
    found = lagged_speed(speed, target, TAU_S, span * TAU_S)

    # On its way to 0 a speed below the last digit of full speed is 0.
    np.testing.assert_allclose(found, at(speed, target, span), rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize(("speed", "target"), SPEEDS)
@pytest.mark.parametrize("span", SPANS)
def test_the_work_is_the_integral_of_the_speed(speed, target, span):
    found = lagged_work_s(speed, target, TAU_S, span * TAU_S)

    np.testing.assert_allclose(found, integral(speed, target, span), rtol=1e-12)


@pytest.mark.parametrize(("speed", "target"), SPEEDS)
@pytest.mark.parametrize("span", SPANS)
def test_the_energy_is_the_integral_of_a_power_of_the_speed(speed, target, span):
    found = lagged_power_integral_s(speed, target, TAU_S, span * TAU_S, 2.5)

    np.testing.assert_allclose(found, integral(speed, target, span, 2.5), rtol=1e-12)


@pytest.mark.parametrize(("speed", "target"), [pair for pair in SPEEDS if pair[1] > 0.0])
@pytest.mark.parametrize("span", SPANS)
def test_a_piece_of_work_is_done_when_the_integral_reaches_it(speed, target, span):
    work_s = lagged_work_s(speed, target, TAU_S, span * TAU_S)

    due_s = lagged_due_s(speed, target, TAU_S, work_s)

    np.testing.assert_allclose(due_s, span * TAU_S, rtol=1e-14)  # a root to the last digits, the rest is rounding


def test_a_speed_that_falls_to_zero_never_does_more_than_its_momentum():
    assert lagged_due_s(0.8, 0.0, TAU_S, 0.8 * TAU_S) == np.inf
    assert lagged_due_s(0.8, 0.0, TAU_S, 0.79 * TAU_S) < np.inf


def test_the_speed_passes_a_level_between_it_and_its_target_and_no_other():
    np.testing.assert_allclose(lagged_speed(1.0, 0.2, TAU_S, lagged_crossing_s(1.0, 0.2, TAU_S, 0.5)), 0.5, rtol=1e-14)
    assert lagged_crossing_s(1.0, 0.2, TAU_S, 0.1) == lagged_crossing_s(1.0, 0.2, TAU_S, 1.1) == np.inf
