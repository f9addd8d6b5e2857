"""A tree of feeders may be as deep as anybody could mean, under any controller; a deeper one is refused."""

from __future__ import annotations

import pytest

import twin
from twin.errors import ScenarioError

DEEPEST = 1000


def chain(depth: int, controller: dict) -> dict:
    """One job at the end of a chain of feeders; the first below the site has a cap that binds."""
    feeders = {f"f{i}": {"parent": f"f{i - 1}" if i else "site"} for i in range(depth)}
    feeders["f0"] |= {"cap": 1.5, "controller": controller}
    power = {"compute": 2.0, "idle": 1.0, "write": 1.0, "exponent": 1.0}
    job = {"name": "a", "compute": 10.0, "checkpoint": {"size": 1.0}, "power": power, "feeders": f"f{depth - 1}"}
    return {
        "twin": 1,
        "name": "chain",
        "stop": {"cycles": 1},
        "jobs": [job],
        "storage": {"bandwidth": 1.0},
        "power": {"feeders": feeders},
    }


@pytest.mark.parametrize(
    "controller", [{"policy": "anonymous"}, {"policy": "lagged", "tau": 3.0}], ids=lambda c: c["policy"]
)
def test_a_chain_of_a_thousand_feeders_runs_as_a_chain_of_one(controller):
    runs = [twin.simulate(twin.load(chain(depth, controller))) for depth in (1, DEEPEST)]

    one, many = (run.table("checkpoints").to_pydict() for run in runs)
    assert many == one
    energies = runs[1].manifest["metrics"]["energy_by_feeder_j"]
    assert len(set(energies.values())) == 1
    assert energies["site"] == runs[0].manifest["metrics"]["energy_j"]


def test_a_deeper_chain_is_one_fault_at_its_end():
    with pytest.raises(ScenarioError) as refused:
        twin.load(chain(DEEPEST + 1, {"policy": "anonymous"}))

    (fault,) = refused.value.faults
    assert fault.key == f"power.feeders.f{DEEPEST}.parent"
    assert fault.rule == "puts it 1,001 levels below site; 1000 are allowed"


def test_a_long_ring_is_told_by_its_first_feeders():
    scenario = chain(40, {"policy": "anonymous"})
    scenario["power"]["feeders"]["f0"]["parent"] = "f39"

    with pytest.raises(ScenarioError) as refused:
        twin.load(scenario)

    (fault,) = refused.value.faults
    assert fault.rule.startswith("closes a ring: f0 -> f39 -> f38")
    assert fault.rule.endswith("-> 30 more -> f0")
