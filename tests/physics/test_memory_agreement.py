"""The twin against a second program that recomputes everything at every event, with every feature on."""

import numpy as np
import pytest

from tests.mixed_fleets import mixed_fleet
from tests.oracle import Cycle, integrate
from tests.traces import columns, simulate, steps
from twin import api
from twin.fleet import jobs_of

AGREEMENT = 1e-9  # six cycles of the slowest job: what they amplify stays below


def column(cycles: list[Cycle], name: str) -> np.ndarray:
    return np.array([getattr(cycle, name) for cycle in cycles], dtype=float)  # None becomes NaN


@pytest.mark.parametrize("seed", range(300))
def test_an_independent_integrator_finds_the_same_run_of_a_mixed_fleet(seed):
    mapping = mixed_fleet(np.random.default_rng(seed))
    fleet = api.load(mapping)
    run, expected = simulate(mapping), integrate(fleet, jobs_of(fleet))
    rows, jobs = columns(run, "checkpoints"), columns(run, "jobs")

    for course in expected.courses:
        mine = rows["job_id"] == course.job.job_id
        begun = [cycle for cycle in course.cycles if cycle.due_s is not None]
        order = np.argsort(rows["cycle"][mine])
        for name in ("compute_start_s", "due_s", "write_start_s", "write_end_s"):
            found = rows[name][mine][order]
            np.testing.assert_allclose(found, column(begun, name), rtol=AGREEMENT, err_msg=f"{course.job.name} {name}")
        # A stall is the difference of two times, and no more exact than they are.
        np.testing.assert_allclose(
            rows["stall_s"][mine][order], column(begun, "stall_s"), rtol=0.0, atol=AGREEMENT * expected.end_s
        )
    assert jobs["state"].tolist() == [course.state for course in expected.courses]
    lost_s = [course.interference_s for course in expected.courses]
    np.testing.assert_allclose(jobs["interference_s"], lost_s, rtol=AGREEMENT, atol=AGREEMENT)
    rate = steps(run, "storage", "rate_b_s")
    np.testing.assert_allclose(rate.end_s, expected.end_s, rtol=AGREEMENT)
    np.testing.assert_allclose(rate.integral(np.array([rate.end_s])), expected.bytes_b, rtol=AGREEMENT)
    power = columns(run, "power")
    energies_j = {rate.end_s: expected.energies_j}
    for feeder in expected.energies_j:
        last = np.flatnonzero(power["feeder"] == feeder)[-1]
        time_s, found_j = power["time_s"][last], power["energy_j"][last]
        if np.isnan(power["draw_end_w"][last]):
            found_j += power["draw_w"][last] * (rate.end_s - time_s)
            time_s = rate.end_s
        if time_s not in energies_j:
            energies_j[time_s] = integrate(fleet, jobs_of(fleet), time_s).energies_j
        np.testing.assert_allclose(found_j, energies_j[time_s][feeder], rtol=AGREEMENT, err_msg=f"energy of {feeder}")
    np.testing.assert_allclose(jobs["work_s"], [course.work_s for course in expected.courses], rtol=AGREEMENT)
