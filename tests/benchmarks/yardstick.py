"""The reference fleet in plain SimPy with virtual time: what anybody would write who knows the trick, and no more.

N jobs compute 100 s of full-speed work at speed min(1, 0.9 N / n), n computing, then write at rate 1 / n, n writing.
Each job is a process; each of the two servers keeps a heap of virtual departure times, and sets a new timeout whenever
its next departure changes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from heapq import heappop, heappush

import numpy as np
import simpy

COMPUTE_S = 100.0
CAP_SHARE = 0.9
OFFERED_LOAD = 0.7
WARM_UP_S = COMPUTE_S


def write_s(jobs: int) -> float:
    """Lone write time [s] at which the jobs offer the store a load of 0.7: N d / (100 + d) = 0.7."""
    return OFFERED_LOAD * COMPUTE_S / (jobs - OFFERED_LOAD)


def launches_s(jobs: int) -> list[float]:
    """Random launches within one period [s]."""
    return (np.random.default_rng(1).random(jobs) * COMPUTE_S).tolist()


def horizon_s(jobs: int, events: int) -> float:
    """Simulated time [s] in which about so many write starts and write ends happen."""
    return WARM_UP_S + events * (COMPUTE_S / CAP_SHARE) / (2 * jobs)


class SharedServer:
    """Serves all present customers at one common rate, which depends on how many they are."""

    def __init__(self, env: simpy.Environment, rate: Callable[[int], float]) -> None:
        self._env = env
        self._rate_of = rate
        self._served = 0.0  # virtual time: work each customer present has had
        self._since_s = 0.0
        self._rate = 0.0
        self._departures: list[tuple[float, int, simpy.Event]] = []
        self._arrivals = 0
        self._timer: simpy.Event | None = None

    def serve(self, work: float) -> simpy.Event:
        """An event that happens when the work is done."""
        now_s = self._env.now
        self._served += (now_s - self._since_s) * self._rate
        self._arrivals += 1
        done = self._env.event()
        heappush(self._departures, (self._served + work, self._arrivals, done))
        self._plan(now_s)
        return done

    def _depart(self, timer: simpy.Event) -> None:
        if timer is self._timer:
            self._served, _, done = heappop(self._departures)
            done.succeed()
            self._plan(self._env.now)

    def _plan(self, now_s: float) -> None:
        self._since_s = now_s
        departures = self._departures
        if departures:
            self._rate = rate = self._rate_of(len(departures))
            left_s = (departures[0][0] - self._served) / rate
            self._timer = timer = self._env.timeout(left_s if left_s > 0.0 else 0.0)
            timer.callbacks.append(self._depart)  # the timer before rings in vain
        else:
            self._rate = 0.0


def run(jobs: int, until_s: float) -> int:
    """Write starts plus write ends until then."""
    env = simpy.Environment()
    cap = CAP_SHARE * jobs
    computing = SharedServer(env, lambda n: min(1.0, cap / n))
    writing = SharedServer(env, lambda n: 1.0 / n)
    work = write_s(jobs)
    events = 0

    def job(launch_s: float) -> Generator[simpy.Event, None, None]:
        nonlocal events
        yield env.timeout(launch_s)
        while True:
            yield computing.serve(COMPUTE_S)
            events += 1
            yield writing.serve(work)
            events += 1

    for launch_s in launches_s(jobs):
        env.process(job(launch_s))
    env.run(until_s)
    return events
