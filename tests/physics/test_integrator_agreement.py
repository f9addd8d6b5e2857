"""The twin against a second program that recomputes everything at every event."""

import numpy as np
import pytest

from tests.fleets import random_fleet
from tests.oracle import Cycle, Trajectory, integrate
from tests.traces import columns, simulate, steps
from twin import api
from twin.fleet import jobs_of
from twin.recording import Recording

AGREEMENT = 1e-9  # six cycles (eighteen of the fastest job) lose at most four of sixteen digits


def both(seed: int) -> tuple[Recording, Trajectory]:
    mapping = random_fleet(np.random.default_rng(seed))
    fleet = api.load(mapping)
    return simulate(mapping), integrate(fleet, jobs_of(fleet))


def column(cycles: list[Cycle], name: str) -> np.ndarray:
    return np.array([getattr(cycle, name) for cycle in cycles], dtype=float)  # None becomes NaN


@pytest.mark.parametrize("seed", range(200))
def test_an_independent_integrator_finds_the_same_run(seed):
    run, expected = both(seed)
    rows, jobs = columns(run, "checkpoints"), columns(run, "jobs")

    for course in expected.courses:
        mine = rows["job_id"] == course.job.job_id
        begun = [cycle for cycle in course.cycles if cycle.due_s is not None]
        order = np.argsort(rows["cycle"][mine])
        for ours, theirs in (
            ("compute_start_s", "compute_start_s"),
            ("due_s", "due_s"),
            ("write_start_s", "due_s"),
            ("write_end_s", "write_end_s"),
        ):
            np.testing.assert_allclose(
                rows[ours][mine][order], column(begun, theirs), rtol=AGREEMENT, err_msg=f"{course.job.name} {ours}"
            )
    np.testing.assert_allclose(jobs["work_s"], [course.work_s for course in expected.courses], rtol=AGREEMENT)
    assert jobs["state"].tolist() == [course.phase for course in expected.courses]
    draw, rate = steps(run, "power", "draw_w"), steps(run, "storage", "rate_b_s")
    end_s = np.array([draw.end_s])
    np.testing.assert_allclose(end_s, expected.end_s, rtol=AGREEMENT)
    np.testing.assert_allclose(draw.integral(end_s), expected.energy_j, rtol=AGREEMENT)
    np.testing.assert_allclose(rate.integral(end_s), expected.bytes_b, rtol=AGREEMENT)
