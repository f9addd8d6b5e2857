"""Twelve fleets of unequal jobs, and what simulations of them measure once the launches are forgotten."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.fleets import CLIENT_LIMITED, DEGRADING, FLAT, NODE, REFERENCE, STORES, Mapping, group, scenario, speed
from tests.traces import columns, simulate, steps

RUN_S, WARM_UP_S = 5000.0, 1500.0  # some 400 and 120 cycles: without jitter the launches are forgotten slowly


@dataclass(frozen=True)
class Fleet:
    """Endless jobs launched at random; compute work [s] and size [B] of each, and what they share."""

    store: Mapping
    power: Mapping = field(default_factory=lambda: REFERENCE)
    cap_w: float | None = None
    jitter: Mapping = field(default_factory=dict)
    compute_s: tuple[float, ...] = (7.0, 9.1, 11.3, 13.7, 8.3)
    size_b: tuple[float, ...] = (1.0, 2.2, 0.6, 1.7, 1.3)

    @property
    def jobs(self) -> int:
        return len(self.compute_s)

    def mapping(self) -> Mapping:
        """The scenario, one group a job."""
        more = {"jitter": self.jitter} if self.jitter else {}
        groups = [
            group(f"job-{i}", compute_s, size_b, {"uniform": 10.0}, self.power, **more)
            for i, (compute_s, size_b) in enumerate(zip(self.compute_s, self.size_b, strict=True))
        ]
        return scenario(groups, {"time": RUN_S}, self.store, self.cap_w)

    def speeds(self) -> list[float]:
        """u(1) .. u(n), worked out from the definition."""
        return [speed(self.power, self.cap_w, m, self.jobs - m) for m in range(1, self.jobs + 1)]


NORMAL, LOGNORMAL, UNIFORM = (
    {"law": law, "sigma": s} for law, s in (("normal", 2.0), ("lognormal", 6.0), ("uniform", 1.0))
)
NODE_W = NODE["compute"]
EIGHT = {
    "compute_s": (13.1, 17.9, 11.7, 19.3, 14.9, 12.3, 16.7, 18.1),
    "size_b": (1.1, 0.7, 2.3, 1.9, 0.5, 1.3, 1.6, 0.9),
}
THREE = {"compute_s": (5.0, 6.1, 7.3), "size_b": (2.0, 3.1, 1.2)}

FLEETS: dict[str, Fleet] = {
    "flat store, slack cap": Fleet(FLAT, cap_w=5.0),
    "flat store, linear cap, jitter": Fleet(FLAT, REFERENCE, 2.2, LOGNORMAL),
    "flat store, watt cap": Fleet(FLAT, NODE, 3.0 * NODE_W),
    "flat store, linear cap, three jobs, jitter": Fleet(FLAT, REFERENCE, 1.4, NORMAL, **THREE),
    "client-limited store, no cap, jitter": Fleet(CLIENT_LIMITED, jitter=NORMAL),
    "client-limited store, linear cap, jitter": Fleet(CLIENT_LIMITED, REFERENCE, 2.8, UNIFORM),
    "client-limited store, watt cap": Fleet(CLIENT_LIMITED, NODE, 3.0 * NODE_W),
    "client-limited store, watt cap, eight jobs, jitter": Fleet(CLIENT_LIMITED, NODE, 4.2 * NODE_W, NORMAL, **EIGHT),
    "degrading store, no cap, jitter": Fleet(DEGRADING, jitter=UNIFORM),
    "degrading store, linear cap": Fleet(DEGRADING, REFERENCE, 3.1),
    "degrading store, watt cap, jitter": Fleet(DEGRADING, NODE, 2.6 * NODE_W, UNIFORM),
    "degrading store, slack cap, eight jobs, jitter": Fleet(DEGRADING, NODE, 8.0 * NODE_W, LOGNORMAL, **EIGHT),
}
assert {id(fleet.store) for fleet in FLEETS.values()} == {id(store) for store in STORES.values()}


def measured_shares(fleet: Fleet, replica: int) -> np.ndarray:
    """Share of time after the warm-up with k = 0 .. n writers, an integral."""
    writers = steps(simulate(fleet.mapping(), ("storage",), replica), "storage", "writers")
    edges_s = np.append(writers.time_s, RUN_S)
    spent_s = np.diff(np.maximum(edges_s, WARM_UP_S))
    return np.bincount(writers.value.astype(int), spent_s, fleet.jobs + 1) / (RUN_S - WARM_UP_S)


def measured_durations_s(fleet: Fleet, replica: int) -> np.ndarray:
    """Mean time from first to last byte of each job's writes begun after the warm-up and well before the end [s]."""
    rows = columns(simulate(fleet.mapping(), ("checkpoints",), replica), "checkpoints")
    kept = (rows["write_start_s"] >= WARM_UP_S) & (rows["write_start_s"] < RUN_S - 100.0)
    job, spent_s = rows["job_id"][kept], (rows["write_end_s"] - rows["write_start_s"])[kept]
    return np.bincount(job, spent_s) / np.bincount(job)
