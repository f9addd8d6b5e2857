"""Energy, peaks, steps and the cap, on step functions worked out by hand."""

from __future__ import annotations

import pytest

from twin.analysis.power import power_metrics

from .hand_made import WORKED, WORKED_END_S, power_rows, recording_of


def metrics_of(rows, end_s, cap_w=None, cuts=()):
    return power_metrics(recording_of({"power": rows}, cuts), cap_w, end_s)


def test_energy_is_the_integral_of_the_draw():
    # 1 W for 2 + 2 + 2 + 2 s and 2 W for 8 + 8 s
    assert metrics_of(WORKED["power"], WORKED_END_S, cuts=(3, 4))["energy_j"] == 40.0


def test_mean_power_weighs_each_draw_by_its_time():
    assert metrics_of(power_rows([0, 1], [9, 1]), end_s=4.0)["mean_power_w"] == (9 * 1 + 1 * 3) / 4


def test_load_factor_is_mean_over_peak():
    assert metrics_of(WORKED["power"], WORKED_END_S)["load_factor"] == 40.0 / 30.0 / 2.0


def test_a_draw_that_begins_at_the_end_is_neither_lowest_nor_highest():
    metrics = metrics_of(power_rows([0, 5, 10], [3, 4, 0]), end_s=10.0)

    assert (metrics["min_power_w"], metrics["peak_power_w"]) == (3.0, 4.0)


def test_p99_is_the_draw_that_99_percent_of_the_time_stays_at_or_below():
    short = metrics_of(power_rows([0, 990], [2, 5]), end_s=1000.0)
    long = metrics_of(power_rows([0, 989], [2, 5]), end_s=1000.0)

    assert (short["power_p99_w"], long["power_p99_w"]) == (2.0, 5.0)  # 5 W for 10 s, for 11 s


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (1, 2)])
def test_the_largest_step_is_between_neighbouring_rows_in_any_batch(cuts):
    assert metrics_of(power_rows([0, 5, 9], [2, 9, 8]), end_s=10.0, cuts=cuts)["largest_step_w"] == 7.0


def test_the_draw_at_the_start_is_no_step():
    assert metrics_of(power_rows([0], [5]), end_s=10.0)["largest_step_w"] == 0.0


def test_ramps_are_over_their_window():
    metrics = metrics_of(power_rows([0, 100, 105], [0, 6, 12]), end_s=200.0)

    assert [metrics[f"ramp_{w}s_w_s"] for w in (1, 10, 60)] == [6.0 / 1, 12.0 / 10, 12.0 / 60]


def test_the_cap_binds_while_a_job_that_computes_is_slowed():
    slowed = [("site", 0.0, 4.0, 4.0, 1.0, 0.0), ("site", 6.0, 4.0, 3.0, 0.75, 24.0)]

    assert metrics_of(slowed, end_s=8.0, cap_w=3.0)["cap_binding_share"] == 2.0 / 8.0


def test_a_speed_below_one_binds_nothing_while_nobody_computes():
    writers_at_cap = [("site", 0.0, 4.0, 4.0, 0.0, 0.0)]

    assert metrics_of(writers_at_cap, end_s=8.0, cap_w=4.0)["cap_binding_share"] == 0.0


def test_time_over_the_cap_counts_only_draws_above_it():
    assert metrics_of(power_rows([0, 5, 7], [3, 4, 2]), end_s=8.0, cap_w=3.0)["time_over_cap_s"] == 2.0


def test_a_draw_that_misses_the_cap_by_a_rounding_is_not_over_it():
    assert metrics_of(power_rows([0], [0.1 + 0.2]), end_s=8.0, cap_w=0.3)["time_over_cap_s"] == 0.0


def test_a_site_without_cap_is_never_over_it():
    assert metrics_of(WORKED["power"], WORKED_END_S)["time_over_cap_s"] == 0.0


def test_a_site_that_never_drew_has_no_load_factor():
    assert metrics_of(power_rows([0], [0]), end_s=8.0)["load_factor"] is None
