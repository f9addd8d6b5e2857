"""Energy, peaks, steps and the cap, on step functions worked out by hand."""

from __future__ import annotations

import pytest

from twin.analysis.power import power_metrics
from twin.scenario import Power

from .hand_made import WORKED, WORKED_END_S, moving_rows, power_rows, recording_of


def metrics_of(rows, end_s, power=None, cuts=(), limit_events=0):
    section = Power.model_validate(power or {})
    return power_metrics(recording_of({"power": rows}, cuts), section, limit_events, end_s)


def row(feeder, time_s, demand_w, draw_w, speed, target=None, energy_j=0.0, draw_end_w=None):
    return (feeder, time_s, demand_w, draw_w, speed, target, None if target is None else 5.0, draw_end_w, energy_j)


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
    slowed = [row("site", 0.0, 4.0, 4.0, 1.0), row("site", 6.0, 4.0, 3.0, 0.75)]

    assert metrics_of(slowed, end_s=8.0)["cap_binding_share"] == 2.0 / 8.0


def test_a_speed_below_one_binds_nothing_while_nobody_computes():
    assert metrics_of([row("site", 0.0, 4.0, 4.0, 0.0)], end_s=8.0)["cap_binding_share"] == 0.0


def test_a_site_that_never_drew_has_no_load_factor():
    assert metrics_of(power_rows([0], [0]), end_s=8.0)["load_factor"] is None


# Under lagged control a draw moves between its rows: here from 2 W down to 1 W in 10 s, then a step up to 4 W for 10 s.
FALLING = moving_rows([0, 10], [2, 4], [1, None])


def test_energy_is_the_column_s_where_draws_move():
    rows = [row("site", 0.0, 3, 3, 1.0, 0.5, 0.0, 1.0), row("site", 10.0, 3, 1, 0.5, energy_j=17.5)]

    assert metrics_of(rows, end_s=14.0)["energy_j"] == 17.5 + 4.0  # not the 20 J of a straight line


def test_peak_and_lowest_power_are_found_at_either_end_of_a_row():
    rising = metrics_of(moving_rows([0, 10], [1, 2], [5, None]), end_s=20.0)

    assert (rising["peak_power_w"], metrics_of(FALLING, end_s=20.0)["min_power_w"]) == (5.0, 1.0)


@pytest.mark.parametrize("cuts", [(), (1,)])
def test_a_step_is_from_the_end_of_a_row_to_the_start_of_the_next(cuts):
    assert metrics_of(FALLING, end_s=20.0, cuts=cuts)["largest_step_w"] == 3.0


@pytest.mark.parametrize("cuts", [(), (1,)])
def test_ramps_see_the_draw_move(cuts):
    metrics = metrics_of(FALLING, end_s=20.0, cuts=cuts)

    # Just before 10 s the draw has fallen to 1 W, and a second later it is 4 W; in 10 s it goes from 1 W to 4 W too.
    assert [metrics[f"ramp_{w}s_w_s"] for w in (1, 10, 60)] == pytest.approx([3.0, 0.3, 0.0], rel=1e-14)


def test_a_slow_slide_is_a_ramp_without_any_step():
    assert metrics_of(moving_rows([0], [5], [3]), end_s=20.0)["ramp_10s_w_s"] == pytest.approx(0.1, rel=1e-14)


def test_p99_of_a_draw_that_slides_evenly_is_a_hundredth_below_its_top():
    # within half of a 64th of the slide, the width of the parts it is cut into
    assert metrics_of(moving_rows([0], [100], [0]), end_s=50.0)["power_p99_w"] == pytest.approx(99.0, abs=100 / 128)


def test_a_lagged_cap_binds_from_the_moment_its_target_is_below_full_speed():
    rows = [row("site", 0.0, 4, 4, 1.0), row("site", 6.0, 4, 4, 1.0, 0.75, draw_end_w=3.5)]

    assert metrics_of(rows, end_s=8.0)["cap_binding_share"] == 2.0 / 8.0


def test_control_acts_when_the_speed_commanded_changes_or_the_target_of_a_lagged_one():
    stepped = [row("site", t, 4, 3, s) for t, s in ((0.0, 1.0), (1.0, 0.5), (2.0, 0.5), (3.0, 1.0))]
    lagged = [row("site", 0.0, 4, 4, 1.0, 0.5), row("site", 3.0, 4, 3, 0.7, 0.5), row("site", 50.0, 4, 2, 0.5)]

    assert metrics_of(stepped, end_s=1800.0)["control_actions_per_hour"] == 2 * 2.0
    assert metrics_of(lagged, end_s=1800.0)["control_actions_per_hour"] == 0.0  # one target all the time
    assert metrics_of(stepped, end_s=1800.0, limit_events=3)["control_actions_per_hour"] == 2 * 5.0


TREE = {"feeders": {"row-1": {"cap": 3.0}, "row-2": {}}}
OF_TREE = [
    row("row-1", 0.0, 4, 3, 0.75),
    row("row-2", 0.0, 1, 1, 1.0),
    row("site", 0.0, 5, 4, 1.0),
    row("row-2", 5.0, 2, 2, 1.0, energy_j=5.0),
    row("site", 5.0, 6, 5, 1.0, energy_j=20.0),
]


@pytest.mark.parametrize("cuts", [(), (1,), (2, 3, 4)])
def test_each_feeder_has_its_own_energy_peak_and_share_of_binding(cuts):
    metrics = metrics_of(OF_TREE, end_s=10.0, power=TREE, cuts=cuts)

    assert metrics["energy_by_feeder_j"] == {"site": 45.0, "row-1": 30.0, "row-2": 15.0}
    assert metrics["peak_power_by_feeder_w"] == {"site": 5.0, "row-1": 3.0, "row-2": 2.0}
    assert metrics["cap_binding_share_by_feeder"] == {"site": 0.0, "row-1": 1.0, "row-2": 0.0}


def test_a_site_without_feeders_below_has_no_table_of_them():
    assert not [name for name in metrics_of(power_rows([0], [5]), end_s=10.0) if "by_feeder" in name]
