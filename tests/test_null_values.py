"""A null for a key whose default follows from other keys is that default, in a file as after ``--set``."""

from __future__ import annotations

import pytest

import twin
from twin.scenario import resolved

CONTROLLERS = {
    "delayed": ["delay"],
    "lagged": ["tau"],
    "sampled": ["period", "offset", "latency"],
    "three_band": ["period", "offset", "settle", "high", "target", "low", "floor"],
}
CHECKPOINT = ["snapshot", "interference", "in_flight"]
NULLS = [
    *(("power.controller", policy, key) for policy, keys in CONTROLLERS.items() for key in keys),
    *(("jobs[0].checkpoint", "async", key) for key in CHECKPOINT),
    ("jobs[0].power", "", "write"),
]


def scenario(section: str, choice: str, **values: object) -> dict:
    checkpoint = {"mode": "async"} | values if choice == "async" else {}
    power = values if section == "jobs[0].power" else {}
    controller = {"policy": choice} | values if section == "power.controller" else {}
    return {
        "twin": 1,
        "name": "nulls",
        "stop": {"cycles": 3},
        "jobs": [{"name": "llm", "count": 2, "compute": "10 min", "checkpoint": checkpoint, "power": power}],
        "power": {"cap": "14 kW", "controller": controller},
    }


@pytest.mark.parametrize(("section", "choice", "key"), NULLS)
def test_a_null_is_the_default_and_is_told_as_one(section, choice, key):
    written, left_out = twin.load(scenario(section, choice, **{key: None})), twin.load(scenario(section, choice))

    assert resolved(written) == resolved(left_out)
    run = twin.simulate(written, tables=["jobs"])
    assert f"{section}.{key}" in [default["key"] for default in run.manifest["defaults"]]


def test_a_null_hides_no_broken_order_of_bands():
    with pytest.raises(twin.ScenarioError, match="breaks the order low < target < high"):
        twin.load(scenario("power.controller", "three_band", high=None, target=0.995))
