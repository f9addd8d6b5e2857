"""What a limit of its own is counted against the draw: it commands nothing, and counts what the cap would."""

from __future__ import annotations

import pytest

import twin


def scenario(controller, **power):
    return twin.load(
        {
            "twin": 1,
            "name": "limit",
            "seed": 3,
            "stop": {"cycles": 40},
            "jobs": [
                {
                    "name": "llm",
                    "count": 5,
                    "nodes": 4,
                    "compute": 600,
                    "jitter": {"law": "normal", "sigma": 6},
                    "checkpoint": {"size": "2 TB"},
                    "launch": {"uniform": 600},
                }
            ],
            "power": {"controller": controller, **power},
        }
    )


FULL_W = 20 * 7750.0
CONTROLLERS = [
    {"policy": "none"},
    {"policy": "delayed", "delay": 2},
    {"policy": "sampled"},
    {"policy": "lagged"},
    {"policy": "three_band"},
]


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda controller: controller["policy"])
def test_a_limit_equal_to_the_cap_changes_no_bit(controller):
    cap_w = 0.9 * FULL_W

    plain = twin.simulate(scenario(controller, cap=cap_w))
    limited = twin.simulate(scenario(controller, cap=cap_w, limit=cap_w))

    assert limited.manifest["metrics"] == plain.manifest["metrics"]
    assert all(limited.table(name).equals(plain.table(name)) for name in plain.sources)


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda controller: controller["policy"])
def test_a_limit_commands_nothing(controller):
    cap_w = 0.9 * FULL_W

    plain = twin.simulate(scenario(controller, cap=cap_w))
    limited = twin.simulate(
        scenario(controller, cap=cap_w, limit=[{"at": 0, "value": 1e5}, {"at": 7000, "value": 9e4}])
    )

    assert all(limited.table(name).equals(plain.table(name)) for name in ("jobs", "checkpoints", "power", "storage"))
    assert limited.manifest["metrics"]["time_over_cap_s"] > plain.manifest["metrics"]["time_over_cap_s"]


def test_time_and_energy_over_a_limit_are_those_of_the_power_table():
    limit_w = 0.93 * FULL_W
    found = twin.simulate(scenario({"policy": "delayed", "delay": 20}, cap=0.85 * FULL_W, limit=limit_w))

    power = found.frame("power")
    end_s = found.manifest["simulated_end_s"]
    hold_s = power.time_s.shift(-1, fill_value=end_s) - power.time_s
    over_w = (power.draw_w - limit_w).where(power.draw_w > limit_w * (1 + 1e-9), 0.0)
    metrics = found.manifest["metrics"]

    assert metrics["excursions"] > 10
    assert metrics["time_over_cap_s"] == pytest.approx(hold_s[over_w > 0].sum(), rel=1e-9)
    assert metrics["energy_over_cap_j"] == pytest.approx((over_w * hold_s).sum(), rel=1e-9)


def test_a_limit_without_a_cap_counts_what_an_uncontrolled_fleet_draws_above_it():
    limited = twin.simulate(scenario({"policy": "anonymous"}, limit=0.9 * FULL_W)).manifest["metrics"]
    unenforced = twin.simulate(scenario({"policy": "none"}, cap=0.9 * FULL_W)).manifest["metrics"]

    assert limited["time_over_cap_s"] == unenforced["time_over_cap_s"] > 0


def test_a_limit_that_changes_by_the_hour_is_counted_hour_by_hour():
    by_hour = {"daily": [{"at": 0, "value": 1e-3}, {"at": 3600, "value": 2 * FULL_W}]}
    found = twin.simulate(scenario({"policy": "none"}, limit=by_hour))
    metrics, first_launch_s = found.manifest["metrics"], found.frame("jobs").launch_s.min()

    assert metrics["time_over_cap_s"] == pytest.approx(3600.0 - first_launch_s, rel=1e-12)
    assert metrics["excursions"] == 1


def test_steps_of_a_limit_out_of_order_are_refused_at_their_key():
    steps = [{"at": 5, "value": 1e5}, {"at": 1, "value": 1e5}]
    with pytest.raises(twin.ScenarioError, match=r"power\.limit"):
        scenario({"policy": "none"}, limit=steps)
