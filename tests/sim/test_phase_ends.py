"""A run counts the ends of compute stretches and of writes, whatever else its jobs do at that time."""

import numpy as np
import pytest

from tests.mixed_fleets import mixed_fleet
from twin import api
from twin.fleet import jobs_of
from twin.recording import MemoryTable, schema
from twin.sim.simulate import simulate


class Checkpoints:
    """The sink of a run that records its checkpoints."""

    def __init__(self) -> None:
        self.rows = MemoryTable(schema("checkpoints", {}))

    def write(self, table, batch):
        self.rows.append(batch)


@pytest.mark.parametrize("seed", range(2000, 2030))
def test_phase_ends_are_the_checkpoints_due_and_those_written(seed):
    scenario, sink = api.load(mixed_fleet(np.random.default_rng(seed))), Checkpoints()

    outcome = simulate(scenario, jobs_of(scenario), sink, {}, tables=("checkpoints",))

    rows = sink.rows.table()
    assert outcome.phase_ends == len(rows) + rows["write_end_s"].drop_null().length()
