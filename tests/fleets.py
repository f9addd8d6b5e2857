"""Scenarios as mappings, for tests: store and power laws by name, equal and random fleets.

Sizes and bandwidths are small numbers (1 B at 1 B/s takes 1 s): the physics has no scale of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

Mapping = dict[str, Any]

# Reference law: a job draws 1 W at full speed and nothing else, so a cap counts full-speed jobs.
REFERENCE: Mapping = {"compute": 1.0, "idle": 0.0, "write": 0.0, "exponent": 1.0}
NODE: Mapping = {"compute": 7750.0, "idle": 1800.0, "write": 2712.5, "exponent": 2.5}

FLAT: Mapping = {"bandwidth": 1.0}
CLIENT_LIMITED: Mapping = {"bandwidth": 2.5, "client_bandwidth": 1.0}
DEGRADING: Mapping = {"bandwidth": 1.5, "client_bandwidth": 1.0, "degradation": 0.3}
STORES: dict[str, Mapping] = {
    "flat": FLAT,
    "client-limited": CLIENT_LIMITED,
    "degrading": DEGRADING,
}  # all F(1) = 1 B/s


def store_rates(store: Mapping, n: int) -> np.ndarray:
    """F(1) .. F(n) [B/s], worked out from the definition."""
    bandwidth, client = store["bandwidth"], store.get("client_bandwidth", np.inf)
    load = np.arange(1, n + 1) * client / bandwidth
    if np.isinf(client):
        return np.full(n, bandwidth)
    return np.minimum(load, 1.0) * bandwidth / (1.0 + store.get("degradation", 0.0) * np.maximum(load - 1.0, 0.0))


def speed(power: Mapping, cap_w: float | None, computing: int, writing: int) -> float:
    """Speed of one-node jobs of one power law behind an anonymous cap, worked out from the definition."""
    fixed_w = computing * power["idle"] + writing * power["write"]
    dynamic_w = computing * (power["compute"] - power["idle"])
    if cap_w is None or fixed_w + dynamic_w <= cap_w:
        return 1.0
    return 0.0 if fixed_w >= cap_w else float(((cap_w - fixed_w) / dynamic_w) ** (1.0 / power["exponent"]))


def scenario(
    groups: list[Mapping], stop: Mapping, store: Mapping = FLAT, cap: float | None = None, **more: Any
) -> Mapping:
    """A scenario of these groups."""
    power = {} if cap is None else {"power": {"cap": cap}}
    return {"twin": 1, "name": "test", "stop": stop, "jobs": groups, "storage": store, **power, **more}


def group(
    name: str, compute_s: float, size_b: float, launch: Mapping, power: Mapping = REFERENCE, **more: Any
) -> Mapping:
    """A group of blocking jobs that checkpoint after ``compute_s`` of full-speed work."""
    count = len(launch["at"]) if "at" in launch else 1
    own = {"name": name, "count": count, "compute": compute_s, "checkpoint": {"size": size_b}}
    return {**own, "launch": launch, "power": power, **more}


def equal_jobs(
    at_s: list[float],
    cycles: int,
    *,
    compute_s: float = 10.0,
    size_b: float = 1.0,
    store: Mapping = FLAT,
    power: Mapping = REFERENCE,
    cap: float | None = None,
) -> Mapping:
    """Identical one-node jobs launched at these times."""
    return scenario([group("job", compute_s, size_b, {"at": at_s}, power)], {"cycles": cycles}, store, cap)


def random_fleet(rng: np.random.Generator) -> Mapping:
    """One to six unequal jobs in up to three groups, of every kind, with no two times equal but by design."""
    groups = [_random_group(rng, f"group-{i}") for i in range(rng.integers(1, 4))]
    idle_w = sum(g["count"] * g["nodes"] * g["power"]["idle"] for g in groups)
    compute_w = sum(g["count"] * g["nodes"] * g["power"]["compute"] for g in groups)
    cap_w = None if rng.random() < 0.2 else idle_w + rng.uniform(0.05, 1.1) * (compute_w - idle_w)
    store: Mapping = {"bandwidth": rng.uniform(0.5, 3.0)}
    if rng.random() < 0.7:
        store |= {"client_bandwidth": rng.uniform(0.3, 1.5), "degradation": float(rng.choice([0.0, 0.1, 0.5]))}
    policy = "none" if rng.random() < 0.1 else "anonymous"
    stop: Mapping = {"cycles": 6}
    if rng.random() < 0.2:
        stop["time"] = rng.uniform(20.0, 120.0)
    fleet = scenario(groups, stop, store, seed=int(rng.integers(0, 1000)))
    power = {"controller": {"policy": policy}} | ({} if cap_w is None else {"cap": float(cap_w)})
    return {**fleet, "power": power}


def _random_group(rng: np.random.Generator, name: str) -> Mapping:
    compute_s = rng.uniform(3.0, 20.0)
    count = int(rng.integers(1, 3))
    idle_w = float(rng.choice([0.0, rng.uniform(0.5, 3.0)]))
    power = {
        "compute": idle_w + rng.uniform(1.0, 8.0),
        "idle": idle_w,
        "write": rng.uniform(0.0, 4.0),
        "exponent": float(rng.choice([1.0, 2.5, rng.uniform(1.0, 4.0)])),
    }
    launch: Mapping = {"at": rng.uniform(0.0, 15.0, count).tolist()}
    if rng.random() < 0.3:
        launch = {"together": rng.uniform(0.0, 5.0)}
    own = group(name, compute_s, rng.uniform(0.5, 6.0), launch, power, nodes=int(rng.integers(1, 5)))
    own["count"] = count
    if rng.random() < 0.3 and "at" in launch:
        # Jobs born together that stand still while any of them writes do equal work by construction: with a last
        # stretch their ends would tie but for rounding, and who is first decides who waits.
        own["work"] = compute_s * rng.uniform(0.5, 8.0)
    kind = rng.random()
    if kind < 0.3:
        own["jitter"] = {
            "law": str(rng.choice(["normal", "lognormal", "uniform"])),
            "sigma": compute_s * float(rng.choice([0.01, 0.3, 1.5])),
        }
    elif kind < 0.5:
        del own["compute"]
        own["checkpoint"]["trigger"] = {"every": compute_s, "offset": rng.uniform(0.0, compute_s)}
    return own


def fleets() -> st.SearchStrategy[Mapping]:
    """Random fleets for property tests; they shrink towards one job, no cap and round numbers."""
    return st.lists(_groups(), min_size=1, max_size=3, unique_by=lambda g: g["name"]).flatmap(_with_surroundings)


@st.composite
def _groups(draw: st.DrawFn) -> Mapping:
    compute_s = draw(st.floats(1.0, 20.0))
    count = draw(st.integers(1, 3))
    idle_w = draw(st.floats(0.0, 4.0))
    power = {
        "compute": idle_w + draw(st.floats(1.0, 8.0)),
        "idle": idle_w,
        "write": draw(st.floats(0.0, 12.0)),
        "exponent": draw(st.sampled_from([1.0, 2.5]) | st.floats(1.0, 4.0)),
    }
    launch = draw(
        st.fixed_dictionaries({"at": st.lists(st.floats(0.0, 20.0), min_size=count, max_size=count)})
        | st.fixed_dictionaries({"together": st.floats(0.0, 5.0)})
        | st.fixed_dictionaries({"every": st.floats(0.5, 5.0)})
        | st.fixed_dictionaries({"uniform": st.floats(1.0, 20.0)})
        | st.fixed_dictionaries({"poisson": st.floats(1.0, 20.0)})
    )
    own = group(draw(st.sampled_from("abc")), compute_s, draw(st.floats(0.5, 6.0)), launch, power)
    own |= {"count": count, "nodes": draw(st.integers(1, 4))}
    if draw(st.booleans()):
        own["work"] = compute_s * draw(st.floats(0.5, 8.0))
    kind = draw(st.sampled_from(["steady", "jittered", "on the clock"]))
    if kind == "jittered":
        law = draw(st.sampled_from(["normal", "lognormal", "uniform"]))
        own["jitter"] = {"law": law, "sigma": compute_s * draw(st.sampled_from([0.01, 0.3, 1.5]))}
    elif kind == "on the clock":
        del own["compute"]
        own["checkpoint"]["trigger"] = {"every": compute_s, "offset": compute_s * draw(st.floats(0.0, 0.99))}
    return own


@st.composite
def _with_surroundings(draw: st.DrawFn, groups: list[Mapping]) -> Mapping:
    """A store, a stop and a cap above the idle draw of all, so that the fleet moves whenever nobody writes."""
    store: Mapping = {"bandwidth": draw(st.floats(0.5, 3.0))}
    if draw(st.booleans()):
        store |= {"client_bandwidth": draw(st.floats(0.3, 3.0)), "degradation": draw(st.floats(0.0, 0.5))}
    stop = draw(st.sampled_from([{"cycles": 1}, {"cycles": 5}, {"time": 60.0}, {"cycles": 4, "time": 45.0}]))
    fleet = scenario(groups, stop, store, seed=draw(st.integers(0, 3)))
    if draw(st.booleans()):
        idle_w = sum(g["count"] * g["nodes"] * g["power"]["idle"] for g in groups)
        compute_w = sum(g["count"] * g["nodes"] * g["power"]["compute"] for g in groups)
        fleet["power"] = {"cap": idle_w + draw(st.floats(0.05, 1.0)) * (compute_w - idle_w)}
    return fleet
