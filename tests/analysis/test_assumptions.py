"""What a run assumed, and which promises bind it: each is given to the runs it is stated for, and to no other."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from twin.analysis.assumptions import assumptions, facts_of
from twin.analysis.promises import (
    FEEDERS,
    INTERFERENCE,
    LANES,
    MEMORY,
    NODE_SHARES,
    PROMISES,
    UNEQUAL_LIMITS,
    UNEQUAL_POWER,
    Facts,
)

from .hand_made import UNIT_POWER, clocked_group, fleet_of, group

RUN = {"peak_writers": 2, "jobs_done": 0, "cap_binding_share": 0.0, "offered_load": 0.5, "time_over_cap_s": 0.0}
STOP = {"cycles": 9}


def assumed(metrics=RUN, **keys):
    return assumptions(*fleet_of(stop=STOP, **keys), metrics)


def test_equal_blocking_jobs_without_a_binding_cap_break_nothing():
    found = assumed(jobs=[group(count=2)])

    claims = ("anonymous", "blocking", "identical", "memory_in_control")
    assert [found[claim] for claim in claims] == [True, True, True, False]
    assert found["broken_by"] == found["differences"] == []


def test_assumptions_are_ready_for_json():
    found = assumed(jobs=[group(count=2)])

    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_table_of_promises_is_complete():
    ids = (
        "pair spectrum order stagger unreachable in-step no-clustering separation forgets occupancy tail lifetime "
        "unequal memory lag shares async common-cause"
    )
    assert list(PROMISES) == ids.split()


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"nodes": 2}, "nodes"),
        ({"compute": 11.0}, "compute"),
        ({"work": 100.0}, "work"),
        ({"jitter": {"sigma": 1.0}}, "jitter"),
        ({"checkpoint": {"size": 9.0}}, "size"),
        ({"power": {**UNIT_POWER, "compute": 2.0}}, "power"),
    ],
)
def test_jobs_that_differ_are_not_identical_and_the_difference_is_named(change, difference):
    found = assumed(jobs=[group(), group(name="other", **change)])

    assert not found["identical"]
    assert found["differences"] == [difference]


def test_jitter_is_the_largest_relative_to_its_compute_work():
    jobs = [group(jitter={"sigma": 1.0}), group(name="longer", compute=40.0, jitter={"sigma": 2.0})]

    assert assumed(jobs=jobs)["jitter"] == 0.1  # of 1 s in 10 s and 2 s in 40 s


# Two jobs of 1 and 3 nodes of 1 W: full draw 4 W, at most 3 W while one of them does not compute.
UNEQUAL = [group(), group(name="big", nodes=3, launch={"at": [3.0]})]
BINDS = RUN | {"cap_binding_share": 0.5}


def test_unequal_power_behind_a_cap_that_binds_on_one_job_alone_breaks_anonymity():
    found = assumed(BINDS, jobs=UNEQUAL, power={"cap": 2.5})

    assert found["broken_by"] == [UNEQUAL_POWER]
    assert found["promises"]["unequal"]["applies"]
    assert not found["promises"]["pair"]["applies"]


@pytest.mark.parametrize(
    ("metrics", "power"),
    [
        (BINDS, {"cap": 3.0}),  # binds on both together only: then it does not matter who computes
        (RUN, {"cap": 2.5}),  # never bound in this run
        (BINDS, {}),
        (BINDS, {"cap": 2.5, "controller": {"policy": "none"}}),
    ],
)
def test_unequal_power_breaks_nothing_while_no_cap_tells_the_jobs_apart(metrics, power):
    found = assumed(metrics, jobs=UNEQUAL, power=power)

    assert found["anonymous"]
    assert found["promises"]["pair"]["applies"]  # equal cycles, whatever the power


def test_equal_power_behind_a_binding_cap_is_anonymous():
    assert assumed(BINDS, jobs=[group(count=2)], power={"cap": 0.5})["anonymous"]


@pytest.mark.parametrize(
    ("jobs", "cause"),
    [
        ([group(count=3)], {"in_step_launches": 3, "in_step_triggers": 0}),
        ([group(count=2, launch={"every": 5.0})], {"in_step_launches": 0, "in_step_triggers": 0}),
        ([clocked_group(count=3, launch={"every": 5.0})], {"in_step_launches": 0, "in_step_triggers": 3}),
    ],
)
def test_common_causes_are_launches_and_wall_clock_triggers_at_one_instant(jobs, cause):
    found = assumed(jobs=jobs)

    assert found["common_cause"] == cause
    assert found["promises"]["common-cause"]["applies"] == any(cause.values())


# Facts of an anonymous fleet of four equal jobs whose writes overlap; each promise below is stated for a change of it.
FOUR = Facts(
    jobs=4,
    differences=(),
    weights=(),
    blocking=True,
    jitter=0.0,
    wall_clock_jobs=0,
    in_step_launches=0,
    inseparable=0,
    in_step_triggers=0,
    launch_spread_s=30.0,
    stagger_margin_s=-2.0,
    compute_s=100.0,
    lone_write_s=10.0,
    store_contended=True,
    cap_binding_share=0.0,
    policies=(),
    slowed_by=(),
    caps_change=False,
    share="job",
    peak_writers=3,
    jobs_done=0,
    kept_phases=None,
)
PAIR = replace(FOUR, jobs=2, peak_writers=2)
STATED_FOR = {
    "pair": PAIR,
    "spectrum": replace(FOUR, launch_spread_s=9.0),
    "order": replace(FOUR, policies=("delayed",), weights=(MEMORY,)),  # with memory too
    "stagger": replace(FOUR, peak_writers=1),
    "unreachable": FOUR,
    "in-step": replace(FOUR, in_step_launches=4),
    "no-clustering": FOUR,
    "separation": FOUR,
    "forgets": replace(FOUR, differences=("compute", "size", "nodes")),
    "occupancy": replace(FOUR, differences=("compute", "size")),
    "tail": FOUR,
    "lifetime": replace(FOUR, jitter=0.01, stagger_margin_s=5.0),
    "unequal": replace(PAIR, policies=("anonymous",), weights=(UNEQUAL_POWER,), differences=("nodes",)),
    "memory": replace(FOUR, policies=("delayed",), weights=(MEMORY,)),
    "lag": replace(PAIR, policies=("lagged",), weights=(MEMORY,)),
    "shares": replace(PAIR, share="node", weights=(NODE_SHARES,), differences=("nodes",)),
    "async": replace(PAIR, blocking=False, weights=(INTERFERENCE,), policies=("anonymous",)),
    "common-cause": replace(FOUR, in_step_launches=2),
}
NOT_STATED_FOR = [
    ("pair", FOUR),
    ("pair", replace(PAIR, jitter=0.01)),
    ("pair", replace(PAIR, lone_write_s=100.0)),
    ("pair", replace(PAIR, differences=("size",))),
    ("pair", replace(PAIR, wall_clock_jobs=2)),
    ("pair", replace(PAIR, blocking=False)),
    ("pair", replace(PAIR, jobs_done=1)),
    ("spectrum", FOUR),
    ("spectrum", replace(FOUR, launch_spread_s=9.0, weights=(UNEQUAL_POWER,))),
    ("order", replace(FOUR, share="node", differences=("nodes",))),
    ("order", replace(FOUR, weights=(FEEDERS,))),
    ("order", replace(FOUR, weights=(LANES,))),
    ("in-step", replace(FOUR, in_step_launches=4, weights=(UNEQUAL_LIMITS,))),
    ("pair", replace(PAIR, weights=(MEMORY,))),
    ("pair", replace(PAIR, caps_change=True)),
    ("stagger", replace(FOUR, peak_writers=1, caps_change=True)),
    ("order", replace(FOUR, differences=("compute",))),
    ("order", replace(FOUR, jitter=0.01)),
    ("stagger", FOUR),
    ("stagger", replace(FOUR, peak_writers=None)),
    ("unreachable", replace(FOUR, peak_writers=1)),
    ("unreachable", replace(FOUR, peak_writers=None)),
    ("in-step", replace(FOUR, in_step_launches=3)),
    ("no-clustering", replace(FOUR, inseparable=2)),
    ("separation", PAIR),
    ("separation", replace(FOUR, store_contended=False)),
    ("forgets", replace(FOUR, jobs_done=None)),
    ("forgets", replace(FOUR, peak_writers=1)),
    ("occupancy", replace(FOUR, jobs_done=1)),
    ("occupancy", replace(FOUR, kept_phases="there is room for a stagger")),
    ("occupancy", replace(FOUR, weights=(MEMORY,), policies=("delayed",))),
    ("occupancy", replace(FOUR, caps_change=True)),
    ("unequal", replace(PAIR, policies=("delayed",), weights=(UNEQUAL_POWER, MEMORY))),
    ("memory", replace(FOUR, policies=("delayed",), weights=(MEMORY, LANES))),
    ("lag", replace(PAIR, policies=("lagged", "delayed"), weights=(MEMORY,))),
    ("async", replace(PAIR, blocking=False, weights=(INTERFERENCE, MEMORY))),
    ("tail", replace(PAIR, kept_phases="two equal jobs keep their gap")),
    ("occupancy", replace(FOUR, inseparable=4)),
    ("occupancy", replace(FOUR, weights=(UNEQUAL_POWER,))),
    ("tail", replace(FOUR, store_contended=False)),
    ("lifetime", replace(FOUR, stagger_margin_s=5.0)),
    ("lifetime", replace(FOUR, jitter=0.01)),
    ("unequal", PAIR),
    ("memory", FOUR),
    ("lag", PAIR),
    ("shares", PAIR),
    ("async", PAIR),
    ("common-cause", FOUR),
]


@pytest.mark.parametrize("name", PROMISES)
def test_a_promise_applies_to_what_it_is_stated_for_and_says_so(name):
    assert PROMISES[name].judged(STATED_FOR[name]) == {"applies": True, "why": PROMISES[name].claim}


@pytest.mark.parametrize(("name", "facts"), NOT_STATED_FOR, ids=[name for name, _ in NOT_STATED_FOR])
def test_a_promise_does_not_apply_elsewhere_and_says_why(name, facts):
    judged = PROMISES[name].judged(facts)

    assert not judged["applies"]
    assert judged["why"] != PROMISES[name].claim


@pytest.mark.parametrize("jitter", [{}, {"jitter": {"sigma": 0.1}}], ids=["steady", "jittered"])
def test_averages_of_two_equal_jobs_follow_the_product_form_once_jitter_moves_their_gap(jitter):
    found = assumed(jobs=[group(count=2, launch={"every": 5.0}, **jitter)])["promises"]

    assert found["occupancy"]["applies"] == bool(jitter)
    assert found["tail"]["applies"] == bool(jitter)


def test_every_failing_condition_is_named():
    why = PROMISES["pair"].judged(replace(FOUR, jitter=0.01))["why"]

    assert why == "stated for two jobs, the fleet has 4; jitter of 0.01 of the mean moves every gap"


@pytest.mark.parametrize(
    ("launches_s", "margin_s"),
    [
        ([0.0, 7.0], 3.0),  # lone rhythm of 14 s, writes of 4 s
        ([0.0, 5.0], 1.0),
        ([0.0, 12.0], -2.0),  # round the end of the period
        ([0.0, 14.0 * 3 + 7.0], 3.0),  # some periods later
    ],
)
def test_the_margin_of_a_stagger_is_the_smallest_gap_between_lone_write_windows(launches_s, margin_s):
    scenario, jobs = fleet_of(jobs=[group(count=2, launch={"at": launches_s})], stop=STOP)

    assert facts_of(scenario, jobs, RUN).stagger_margin_s == margin_s


def test_a_store_that_serves_everybody_at_the_client_s_rate_is_not_contended():
    jobs = [group(count=2)]
    wide = fleet_of(jobs=jobs, stop=STOP, storage={"bandwidth": 4.0, "client_bandwidth": 2.0})
    narrow = fleet_of(jobs=jobs, stop=STOP, storage={"bandwidth": 3.9, "client_bandwidth": 2.0})

    assert not facts_of(*wide, RUN).store_contended
    assert facts_of(*narrow, RUN).store_contended


# What breaks anonymity, and what could but does not. A job draws 1 W a node; two jobs of one node, but where said.
MEMORY_BINDS = {"cap": 1.5, "controller": {"policy": "delayed", "delay": 2.0}}
ROWS = {"feeders": {"row-1": {"cap": 0.5}, "row-2": {}}}
IN_ROWS = [group(count=2, feeders={"rotate": ["row-1", "row-2"]})]
ASYNC = {"size": 8.0, "mode": "async", "snapshot": 1.0, "interference": 0.2}
BREAKING = {
    "memory": ({"jobs": [group(count=2)], "power": MEMORY_BINDS}, [MEMORY]),
    "a cap that cannot bind": ({"jobs": [group(count=2)], "power": MEMORY_BINDS | {"cap": 2.0}}, []),
    "a row for one of them": ({"jobs": IN_ROWS, "power": ROWS}, [FEEDERS]),
    "a row for both": ({"jobs": [group(count=2, feeders="row-1")], "power": ROWS}, []),
    "a row without control": (
        {"jobs": IN_ROWS, "power": {"feeders": {"row-1": {"cap": 0.5, "controller": {"policy": "none"}}, "row-2": {}}}},
        [],
    ),
    "node shares": (
        {"jobs": [group(), group(name="big", nodes=2)], "storage": {"bandwidth": 2.0, "share": "node"}},
        [NODE_SHARES],
    ),
    "equal nodes": ({"jobs": [group(count=2, nodes=3)], "storage": {"bandwidth": 2.0, "share": "node"}}, []),
    "node shares of a store that suffices": (
        {
            "jobs": [group(), group(name="big", nodes=2)],
            "storage": {"bandwidth": 3.0, "client_bandwidth": 1.0, "share": "node"},
        },
        [],
    ),
    "interference": ({"jobs": [group(count=2, checkpoint=ASYNC)], "power": {"cap": 1.5}}, [INTERFERENCE]),
    "interference without a cap": ({"jobs": [group(count=2, checkpoint=ASYNC)]}, []),
    "no snapshot": ({"jobs": [group(count=2, checkpoint=ASYNC | {"snapshot": 0.0})], "power": {"cap": 1.5}}, []),
    "a lane too few": ({"jobs": [group(count=2)], "storage": {"bandwidth": 2.0, "lanes": 1}}, [LANES]),
    "lanes for all": ({"jobs": [group(count=2)], "storage": {"bandwidth": 2.0, "lanes": 2}}, []),
    "one limit for one profile": (
        {"jobs": [group(count=2)], "power": {"controller": {"policy": "fixed_limit", "limit": 0.5}}},
        [],
    ),
    "one limit for two profiles": (
        {
            "jobs": [group(), group(name="other", power={**UNIT_POWER, "compute": 2.0})],
            "power": {"controller": {"policy": "fixed_limit", "limit": 0.5}},
        },
        [UNEQUAL_LIMITS],
    ),
    "three bands": (
        {"jobs": [group(count=2)], "power": {"cap": 1.5, "controller": {"policy": "three_band"}}},
        [UNEQUAL_LIMITS, MEMORY],
    ),
    "a site whose fixed draw makes its cap bind": (
        {"jobs": UNEQUAL, "power": {"cap": 4.0, "fixed": 1.5}},
        [UNEQUAL_POWER],
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_anonymity_is_broken_by_what_can_act_and_by_nothing_else(name):
    keys, weights = BREAKING[name]

    assert assumed({}, **keys)["broken_by"] == weights  # of a run that was not recorded: whatever can, may


def test_memory_that_never_acted_broke_nothing():
    found = assumed(RUN, jobs=[group(count=2)], power=MEMORY_BINDS)

    assert found["anonymous"]
    assert found["memory_in_control"]


def test_lanes_that_nobody_waited_for_broke_nothing():
    assert assumed({"peak_waiting": 0}, **BREAKING["a lane too few"][0])["anonymous"]


def test_background_checkpoints_do_not_block():
    assert not assumed(jobs=[group(count=2, checkpoint=ASYNC)])["blocking"]


def test_instantaneous_control_is_called_idealised_where_it_acts():
    caps = [1.5, 5.0]
    found = [assumed({}, jobs=[group(count=2)], power={"cap": cap})["idealised_control"] for cap in caps]

    assert found == [True, False]
