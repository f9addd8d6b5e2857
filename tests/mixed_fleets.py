"""Random small fleets that mix whatever a scenario can say: policies, trees, shares, lanes, async, caps over time.

Every time and size is drawn from a continuum, so that two events meet only where the model says so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.fleets import Mapping, group, scenario
from twin.scenario import places_of

POLICIES = ("none", "anonymous", "delayed", "lagged", "sampled", "fixed_limit", "three_band")
TREES: tuple[Mapping, ...] = (
    {},
    {"row-1": "site", "row-2": "site"},
    {"hall": "site", "row-1": "hall", "row-2": "hall", "row-3": "site"},
)  # parents
CYCLES = 6


def mixed_fleet(rng: np.random.Generator, policies: tuple[str, ...] = POLICIES) -> Mapping:
    """Two to five jobs over six cycles of the slowest."""
    parents = TREES[int(rng.integers(len(TREES)))]
    counts = [(2,), (1, 1), (2, 1), (1, 1, 1), (2, 2), (1, 2, 1), (2, 2, 1)][int(rng.integers(7))]
    groups = [_group(rng, f"group-{i}", count, ["site", *parents]) for i, count in enumerate(counts)]
    stop: Mapping = {"cycles": CYCLES}
    if rng.random() < 0.2:
        stop["time"] = float(rng.uniform(20.0, 120.0))
    fleet = scenario(groups, stop, _store(rng), seed=int(rng.integers(1000)))
    if rng.random() < 0.3:
        fleet["epoch"] = "2026-01-05T23:59:20"
    return {**fleet, "power": _power(rng, groups, parents, policies, "epoch" in fleet)}


def _group(rng: np.random.Generator, name: str, count: int, feeders: list[str]) -> Mapping:
    compute_s = float(rng.uniform(6.0, 14.0))
    idle_w = float(rng.choice([0.0, rng.uniform(0.5, 3.0)]))
    power = {
        "compute": idle_w + float(rng.uniform(1.0, 8.0)),
        "idle": idle_w,
        "write": float(rng.uniform(0.0, 4.0)),
        "exponent": float(rng.choice([1.0, 2.5, rng.uniform(1.0, 4.0)])),
    }
    nodes = int(rng.integers(1, 7))
    launch = {"at": rng.uniform(0.0, 12.0, count).tolist()}
    own = group(name, compute_s, float(rng.uniform(0.5, 6.0)), launch, power, nodes=nodes)
    own |= {"count": count, "feeders": _placement(rng, nodes, count, feeders)}
    checkpoint = own["checkpoint"]
    if rng.random() < 0.4:
        checkpoint |= {
            "mode": "async",
            "snapshot": float(rng.choice([0.0, rng.uniform(0.2, 3.0)], p=[0.2, 0.8])),
            "interference": float(rng.choice([0.0, rng.uniform(0.02, 0.4)], p=[0.2, 0.8])),
            "in_flight": int(rng.integers(1, 4)),
        }
    if rng.random() < 0.25:
        own["work"] = compute_s * float(rng.uniform(0.5, 7.0))
    kind = rng.random()
    if kind < 0.3:
        law = str(rng.choice(["normal", "lognormal", "uniform"]))
        own["jitter"] = {"law": law, "sigma": compute_s * float(rng.choice([0.01, 0.2, 0.8]))}
    elif kind < 0.45:
        del own["compute"]
        checkpoint["trigger"] = {"every": compute_s, "offset": float(rng.uniform(0.0, compute_s))}
    return own


def _placement(rng: np.random.Generator, nodes: int, count: int, feeders: list[str]) -> object:
    first, *others = rng.permutation(feeders).tolist()
    kind = rng.random()
    if kind < 0.4 or not others:
        return first
    if kind < 0.6 and count > 1:
        return {"rotate": [first, others[0]]}
    if nodes == 1:
        return first
    if kind < 0.8:
        return [first, others[0]]
    here = int(rng.integers(1, nodes))
    return {first: here, others[0]: nodes - here}


def _store(rng: np.random.Generator) -> Mapping:
    share = str(rng.choice(["job", "node"]))
    store: Mapping = {"bandwidth": float(rng.uniform(0.5, 3.0)), "share": share}
    if rng.random() < 0.6:
        client = float(rng.uniform(0.3, 1.5)) * (0.3 if share == "node" else 1.0)
        store |= {"client_bandwidth": client, "degradation": float(rng.choice([0.0, 0.1, 0.5]))}
    if rng.random() < 0.4:
        store["lanes"] = int(rng.integers(1, 4))
    return store


def _power(
    rng: np.random.Generator, groups: list[Mapping], parents: Mapping, policies: tuple[str, ...], has_epoch: bool
) -> Mapping:
    fixed_w, pue = float(rng.choice([0.0, rng.uniform(0.5, 5.0)])), float(rng.choice([1.0, rng.uniform(1.1, 1.4)]))
    site: Mapping = {"fixed": fixed_w, "pue": pue}
    sections: dict[str, Mapping] = {"site": site} | {name: {"parent": parent} for name, parent in parents.items()}
    drawn = {name: str(rng.choice(policies)) for name in sections}
    paths = list(_paths(groups, parents))
    for path in paths:
        for name in [name for name in path if drawn[name] == "lagged"][1:]:
            drawn[name] = "delayed"  # at most one lagged controller may act on a job
    for name, section in sections.items():
        factor, beside_w = (pue, fixed_w) if name == "site" else (1.0, 0.0)
        idle_w, compute_w = (factor * (_sum_w(groups, parents, name, what) + beside_w) for what in ("idle", "compute"))
        span_w = max(compute_w - idle_w, 1.0)
        section["controller"] = _controller(rng, drawn[name], groups)
        if drawn[name] not in ("none", "anonymous", "fixed_limit") or rng.random() < 0.8:
            section["cap"] = _cap(rng, idle_w, span_w, has_epoch)
    return {**site, "feeders": {name: section for name, section in sections.items() if name != "site"}}


def _cap(rng: np.random.Generator, idle_w: float, span_w: float, has_epoch: bool) -> object:
    """Above the idle draw of all, so that a fleet that computes moves."""
    values_w = (idle_w + rng.uniform(0.1, 1.1, 3) * span_w).tolist()
    kind = rng.random()
    if kind < 0.6:
        return values_w[0]
    times_s = np.sort(rng.uniform(5.0, 70.0, 2)).tolist()
    if kind < 0.8 or not has_epoch:
        return [{"at": at_s, "value": value_w} for at_s, value_w in zip([0.0, *times_s], values_w, strict=True)]
    evening_s = 86360.0 + float(rng.uniform(1.0, 39.0))  # the run starts 40 s before midnight
    return {"daily": [{"at": t, "value": w} for t, w in zip([*times_s, evening_s], values_w, strict=True)]}


def _controller(rng: np.random.Generator, policy: str, groups: list[Mapping]) -> Mapping:
    time_s = float(rng.uniform(0.3, 12.0))
    if policy == "delayed":
        return {"policy": policy, "delay": time_s}
    if policy == "lagged":
        return {"policy": policy, "tau": time_s}
    if policy == "sampled":
        latency_s = float(rng.choice([0.0, rng.uniform(0.1, 9.0)]))
        return {"policy": policy, "period": time_s, "offset": float(rng.uniform(0.0, 5.0)), "latency": latency_s}
    if policy == "fixed_limit":
        low_w = max(own["power"]["idle"] for own in groups) + 0.5
        return {"policy": policy, "limit": low_w + float(rng.uniform(0.0, 6.0))}
    if policy == "three_band":
        bands = {"high": float(rng.uniform(0.93, 1.0)), "target": float(rng.uniform(0.8, 0.92))}
        bands |= {"low": float(rng.uniform(0.4, 0.78)), "floor": float(rng.uniform(0.1, 0.5))}
        own = {"period": time_s, "offset": float(rng.uniform(0.0, 5.0)), "settle": float(rng.uniform(0.1, 6.0))}
        return {"policy": policy, **own, **bands}
    return {"policy": policy}


def _sum_w(groups: list[Mapping], parents: Mapping, feeder: str, what: str) -> float:
    return sum(own["power"][what] * _nodes_below(own, index, parents, feeder) for own, index in _jobs(groups))


def _nodes_below(own: Mapping, index: int, parents: Mapping, feeder: str) -> int:
    return sum(nodes for name, nodes in _places(own, index) if feeder in _up(name, parents))


def _paths(groups: list[Mapping], parents: Mapping) -> Iterator[list[str]]:
    """The feeders that act on each job, from the top."""
    for own, index in _jobs(groups):
        touched = {above for name, _ in _places(own, index) for above in _up(name, parents)}
        yield [name for name in ["site", *parents] if name in touched]


def _places(own: Mapping, index: int) -> tuple[tuple[str, int], ...]:
    placement = own["feeders"]
    return places_of(tuple(placement) if isinstance(placement, list) else placement, own["nodes"], index)


def _up(name: str, parents: Mapping) -> Iterator[str]:
    yield name
    while name != "site":
        name = parents[name]
        yield name


def _jobs(groups: list[Mapping]) -> Iterator[tuple[Mapping, int]]:
    return ((own, index) for own in groups for index in range(own["count"]))
