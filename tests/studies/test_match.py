"""The cap at which a variant runs a given risk, on risks whose cap is known."""

from __future__ import annotations

import pytest

from twin.studies.match import matched


def test_a_risk_that_rises_smoothly_is_met_within_two_percent_of_the_target():
    found = matched(lambda factor: 1000.0 * factor**8, 60.0)

    assert found.outcome == "met"
    assert found.risk == pytest.approx(60.0, rel=0.02)
    assert found.factor == pytest.approx(0.06 ** (1 / 8), rel=0.003)


def test_a_variant_below_the_target_gets_a_higher_cap():
    found = matched(lambda factor: max(0.0, factor - 2.0) * 100.0, 60.0)

    assert found.outcome == "met"
    assert found.factor == pytest.approx(2.6, rel=0.01)


def test_a_risk_that_jumps_over_the_target_keeps_the_highest_cap_below_it():
    found = matched(lambda factor: 0.0 if factor <= 1.0 else 5000.0, 60.0)

    assert (found.outcome, found.risk) == ("below", 0.0)
    assert found.factor == pytest.approx(1.0, rel=1e-4)


def test_a_risk_that_no_cap_brings_up_to_the_target_is_named_as_below_it():
    found = matched(lambda factor: min(factor, 3.0), 60.0)

    assert (found.outcome, found.risk) == ("below", 3.0)


def test_a_risk_above_the_target_at_every_cap_that_lets_the_jobs_run_is_named_as_unreachable():
    found = matched(lambda factor: None if factor < 0.6 else 100.0, 60.0)

    assert (found.outcome, found.risk) == ("unreachable", 100.0)
    assert 0.6 <= found.factor < 0.6 / 0.9


def test_no_risk_at_all_is_a_target_too():
    found = matched(lambda factor: max(0.0, factor - 0.7), 0.0)

    assert (found.outcome, found.risk) == ("met", 0.0)
    assert found.factor == pytest.approx(0.7, rel=1e-4) or found.factor <= 0.7


def test_each_factor_is_simulated_once():
    asked = []

    def risk(factor):
        asked.append(factor)
        return 1000.0 * factor**20

    matched(risk, 60.0)

    assert len(asked) == len(set(asked)) < 20
