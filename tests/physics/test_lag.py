"""Lagged control: a pair is always driven apart, and what a run records of a moving draw is its integral."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from tests.fleets import NODE, REFERENCE, Mapping, equal_jobs
from tests.traces import columns, phases, simulate, windows
from twin.recording import Recording

WRITE_S = 10.0
CYCLES = 12


def fleet(at_s: list[float], cap_w: float, tau_s: float, power: Mapping = REFERENCE) -> Mapping:
    jobs = equal_jobs(at_s, CYCLES, compute_s=100.0, size_b=WRITE_S, power=power)
    return jobs | {"power": {"cap": cap_w, "controller": {"policy": "lagged", "tau": tau_s}}}


def speeds(run: Recording) -> tuple[np.ndarray, list[float], list[float], list[float]]:
    """When each row of the site begins [s], and speed, target and time constant [s] from then on."""
    rows = columns(run, "power")
    stays = np.isnan(rows["target"])
    target = np.where(stays, rows["speed"], rows["target"])
    return rows["time_s"], list(rows["speed"]), list(target), list(np.where(stays, 1.0, rows["tau_s"]))


def integral(run: Recording, start_s: float, end_s: float, exponent: float = 1.0) -> float:
    """Integral of a power of the speed, by quadrature of its exponentials between two times."""
    time_s, speed, target, tau_s = speeds(run)
    edges_s = [start_s, *time_s[(time_s > start_s) & (time_s < end_s)], end_s]
    total = 0.0
    for since_s, until_s in pairwise(edges_s):
        row = int(np.searchsorted(time_s, since_s, side="right")) - 1

        def power(t_s: float, row: int = row) -> float:
            gone = np.exp((time_s[row] - t_s) / tau_s[row])
            return float((target[row] + (speed[row] - target[row]) * gone) ** exponent)

        total += quad(power, since_s, until_s, epsabs=0.0, epsrel=1e-13)[0]
    return total


@pytest.mark.parametrize("tau_s", [0.5, 5.0, 20.0, 60.0, 200.0])
@pytest.mark.parametrize("cap_w", [1.2, 1.5, 1.9])
def test_the_gap_of_a_pair_grows_by_its_speed_at_restart_over_its_speed_at_fire(tau_s, cap_w):
    run = simulate(fleet([0.0, 0.01], cap_w, tau_s))
    found = windows(run)
    gaps_s = np.diff(found.start_s)[:, 0]

    for cycle in range(CYCLES - 1):
        if gaps_s[cycle + 1] >= WRITE_S:
            break
        restart = integral(run, *found.end_s[cycle]) / float(np.diff(found.end_s[cycle])[0])
        fire = integral(run, *found.start_s[cycle + 1]) / gaps_s[cycle + 1]
        assert gaps_s[cycle + 1] / gaps_s[cycle] == pytest.approx(restart / fire, rel=1e-9)
        assert gaps_s[cycle + 1] >= gaps_s[cycle] * (1.0 - 1e-10)
    assert cycle >= 2
    assert gaps_s[cycle] > gaps_s[0] * 1.001


@pytest.mark.parametrize("exponent", [1.0, 2.5])
def test_the_recorded_energy_of_a_moving_draw_is_its_integral(exponent):
    node = NODE | {"exponent": exponent}
    run = simulate(fleet([0.0, 3.0, 9.0], 0.7 * 3 * NODE["compute"], 4.0, power=node))
    rows = columns(run, "power")
    computing, writing = phases(run)

    def present(intervals, time_s):
        return int(((intervals.start_s <= time_s) & (time_s < intervals.end_s)).sum())

    energy_j = 0.0
    for row, (since_s, until_s) in enumerate(pairwise(rows["time_s"])):
        active, idle_s = present(computing, since_s), until_s - since_s
        energy_j += active * (node["compute"] - node["idle"]) * integral(run, since_s, until_s, exponent)
        energy_j += (active * node["idle"] + present(writing, since_s) * node["write"]) * idle_s
        assert rows["energy_j"][row + 1] == pytest.approx(energy_j, rel=1e-9)
    assert np.isfinite(rows["target"]).sum() > 20
