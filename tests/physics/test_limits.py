"""What must make no difference makes none: short memories, slack caps, a tree that adds nothing, order in the file."""

import numpy as np
import pytest

from tests.fleets import DEGRADING, NODE, Mapping, equal_jobs
from tests.traces import columns, simulate, write_windows

AT_S = [0.0, 0.7, 1.9, 4.2]
POLICIES: dict[str, Mapping] = {
    "none": {"policy": "none"},
    "anonymous": {"policy": "anonymous"},
    "delayed": {"policy": "delayed", "delay": 0.7},
    "lagged": {"policy": "lagged", "tau": 1.3},
    "sampled": {"policy": "sampled", "period": 0.9, "latency": 0.4},
    "three_band": {"policy": "three_band", "period": 0.9, "settle": 0.4},
}


def fleet(cap_w: float | None, controller: Mapping | None, cycles: int = 15, feeders: Mapping | None = None) -> Mapping:
    """Four jobs of default nodes, on ``row`` if there are feeders."""
    jobs = equal_jobs(AT_S, cycles, store=DEGRADING, power=NODE)
    power = {} if cap_w is None else {"cap": cap_w}
    if feeders is not None:
        jobs["jobs"][0]["feeders"] = "row"
        power["feeders"] = feeders
    return jobs | {"power": power | ({} if controller is None else {"controller": controller})}


def times(mapping: Mapping) -> str:
    """Every checkpoint and job as text, to the last bit."""
    run = simulate(mapping)
    return repr([run.table(name).to_pydict() for name in ("checkpoints", "jobs")])


BINDING_W = 0.7 * 4 * NODE["compute"]


@pytest.mark.parametrize(
    "vanishing",
    [
        lambda x: {"policy": "delayed", "delay": x},
        lambda x: {"policy": "lagged", "tau": x},
        lambda x: {"policy": "sampled", "period": x, "latency": 0.0},
    ],
    ids=["delayed", "lagged", "sampled"],
)
def test_a_vanishing_memory_approaches_instantaneous_control(vanishing):
    ideal_s = write_windows(fleet(BINDING_W, None, cycles=4)).start_s

    errors_s = [
        np.abs(write_windows(fleet(BINDING_W, vanishing(x), cycles=4)).start_s - ideal_s).max() for x in (1e-2, 1e-4)
    ]

    # Each of some 30 changes of speed comes late by the memory at most, and the gaps that it moves grow a little.
    assert 0.0 < errors_s[0] < 30 * 1e-2
    assert 0.0 < errors_s[1] < 30 * 1e-4


@pytest.mark.parametrize("policy", POLICIES)
def test_a_controller_that_never_binds_changes_nothing(policy):
    assert times(fleet(5 * NODE["compute"], POLICIES[policy])) == times(fleet(None, None))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_feeder_that_never_binds_changes_nothing(policy):
    slack = {"row": {"cap": 5 * NODE["compute"], "controller": POLICIES[policy]}}

    assert times(fleet(BINDING_W, None, feeders=slack)) == times(fleet(BINDING_W, None))


@pytest.mark.parametrize("policy", POLICIES)
def test_one_feeder_below_a_site_without_a_cap_is_the_site_alone(policy):
    below = {"row": {"cap": BINDING_W, "controller": POLICIES[policy]}}

    assert times(fleet(None, None, feeders=below)) == times(fleet(BINDING_W, POLICIES[policy]))


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy != "three_band"])
def test_nested_caps_of_which_only_that_of_the_root_binds_are_the_root_alone(policy):
    rows = {"row": {"cap": 4.5 * NODE["compute"]}, "row-b": {"parent": "row", "cap": 4.1 * NODE["compute"]}}
    nested = fleet(BINDING_W, POLICIES[policy], feeders=rows)
    nested["jobs"][0]["feeders"] = {"rotate": ["row", "row-b"]}

    found, alone = write_windows(nested), write_windows(fleet(BINDING_W, POLICIES[policy]))

    np.testing.assert_allclose(found.start_s, alone.start_s, rtol=1e-9)  # two clocks round apart, 15 cycles amplify it
    np.testing.assert_allclose(found.end_s, alone.end_s, rtol=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_controller_keeps_a_finished_run_alive(policy):
    ended = fleet(BINDING_W, POLICIES[policy])
    del ended["stop"]
    ended["jobs"][0]["work"] = 35.0

    run = simulate(ended)

    assert run.manifest["stopped_by"] == "done"
    assert run.manifest["simulated_end_s"] == columns(run, "jobs")["end_s"].max()
