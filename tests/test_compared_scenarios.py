"""Each bundled scenario that is to be compared meets the answer it announces, on a few replicas of its study."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.planning_cases import rows
from twin import planning

SCENARIOS = Path(__file__).parents[1] / "scenarios"
REPLICAS = {"throttle-policies": 2, "checkpoint-modes": 4, "launch-policies": 4, "replay-what-if": 1}


@cache
def compared(name: str, *overrides: str):
    """Rows of the comparison by variant, metric and item."""
    with TemporaryDirectory() as folder:
        study = planning.compare(
            SCENARIOS / f"{name}.yaml",
            Path(folder, "study"),
            overrides=overrides,
            replicas=REPLICAS[name],
            only=True,
            traces=False,
            processes=0,
        )
        return rows(study)


def mean(name: str, variant: str, metric: str, *overrides: str) -> float:
    return compared(name, *overrides)[variant, metric, ""]["mean"]


def points(name: str, variant: str, metric: str, *overrides: str) -> float:
    """Difference to the baseline in percentage points."""
    return 100.0 * compared(name, *overrides)[variant, metric, ""]["difference"]


def test_common_speed_policies_get_the_work_of_the_idealised_one_and_pay_in_time_over_the_cap():
    late = {"delayed": (3.8, 0.1), "delayed-20s": (32.1, 0.8), "lagged": (105, 5), "sampled": (6.5, 0.1)}
    for variant, (hours, tolerance) in late.items():
        assert points("throttle-policies", variant, "goodput") == pytest.approx(0.0, abs=0.06)
        over_h = mean("throttle-policies", variant, "time_over_cap_s") / 3600
        assert over_h == pytest.approx(hours, abs=tolerance)


def test_a_fixed_limit_is_never_over_the_cap_and_three_bands_seldom_and_both_pay_in_work():
    assert mean("throttle-policies", "fixed-limit", "time_over_cap_s") == 0.0
    assert points("throttle-policies", "fixed-limit", "goodput") == pytest.approx(-0.40, abs=0.05)
    assert mean("throttle-policies", "three-band", "time_over_cap_s") / 60 == pytest.approx(28, abs=4)
    assert points("throttle-policies", "three-band", "goodput") == pytest.approx(-2.65, abs=0.2)
    assert points("throttle-policies", "none", "goodput") == pytest.approx(7.66, abs=0.06)


def test_checkpoints_in_the_background_gain_less_than_they_save_since_the_cap_takes_of_it():
    name = "checkpoint-modes"

    assert 100 * mean(name, "blocking", "stall_share") == pytest.approx(1.39, abs=0.05)
    assert 100 * mean(name, "async", "stall_share") == pytest.approx(0.10, abs=0.005)
    assert points(name, "async", "goodput") == pytest.approx(0.77, abs=0.03)
    assert points(name, "async", "throttled_share") == pytest.approx(0.48, abs=0.02)
    assert points(name, "async", "interference_share") == pytest.approx(0.04, abs=0.005)
    assert points(name, "async-slow-snapshot", "goodput") == pytest.approx(0.51, abs=0.03)
    assert points(name, "blocking-one-lane", "goodput") == pytest.approx(0.10, abs=0.03)
    assert compared(name)["async-two-in-flight", "goodput", ""]["mean"] == mean(name, "async", "goodput")


def test_a_launch_together_costs_on_the_first_day_and_is_forgotten_in_a_month():
    name, day = "launch-policies", "stop={time: 1 d}"

    assert mean(name, "together", "peak_writers", day) == 16
    assert mean(name, "together", "checkpoint_duration_p99_s", day) == pytest.approx(360, abs=6)
    assert points(name, "uniform", "goodput", day) == pytest.approx(1.7, abs=0.3)
    assert points(name, "staggered", "goodput", day) == pytest.approx(1.8, abs=0.3)
    assert points(name, "uniform", "goodput") == pytest.approx(0.04, abs=0.06)
    assert points(name, "staggered", "goodput") == pytest.approx(0.13, abs=0.06)
    assert points(name, "jittered", "goodput") == pytest.approx(points(name, "uniform", "goodput"), abs=0.08)


def test_the_site_suffers_from_a_low_cap_and_a_real_controller_changes_no_part_of_that():
    name = "replay-what-if"
    for cap, stretch, share, over_min in (
        ("2.0MW", 1.004, 0.980, 13),
        ("1.6MW", 1.019, 0.960, 28),
        ("1.4MW", 1.044, 0.937, 43),
    ):
        assert mean(name, f"idealised-{cap}", "job_stretch_mean") == pytest.approx(stretch, abs=0.0006)
        assert mean(name, f"idealised-{cap}", "compute_share") == pytest.approx(share, abs=0.0006)
        late = mean(name, f"delayed-{cap}", "compute_share") - mean(name, f"idealised-{cap}", "compute_share")
        assert abs(late) < 3e-5
        assert mean(name, f"delayed-{cap}", "time_over_cap_s") / 60 == pytest.approx(over_min, abs=1)
        assert mean(name, f"delayed-{cap}", "peak_power_w") - 1e6 * float(cap[:-2]) < 0.51e6
