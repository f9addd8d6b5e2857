"""The summary of a whole run, worked out by hand; the same from any cut of its tables and from the simulator."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.analysis.metrics import METRICS
from twin.analysis.summary import summarise
from twin.recording import TABLES, MemoryTable, Recording, schema
from twin.sim.simulate import simulate

from .hand_made import WORKED, WORKED_END_S, fleet_of, group, recording_of, repeatable, worked_fleet

WORKED_METRICS = {
    "horizon_s": 30.0,
    "jobs": 2,
    "jobs_done": 0,
    "makespan_s": None,
    "peak_nodes": 2,
    "offered_load": 2 * 4.0 / 14.0,
    "checkpoints_written": 2,
    "checkpoint_duration_mean_s": 6.0,
    "checkpoint_duration_mean_by_group_s": {"llm": 6.0},
    "checkpoint_duration_p50_s": 6.0,
    "checkpoint_duration_p99_s": 6.0,
    "checkpoint_duration_max_s": 6.0,
    "lone_checkpoint_by_group_s": {"llm": 4.0},
    "checkpoint_stall_p50_s": 6.0,
    "checkpoint_stall_p99_s": 6.0,
    "checkpoint_stall_max_s": 6.0,
    "stretch_p50": 16.0 / 14.0,
    "stretch_p95": 16.0 / 14.0,
    "stretch_p99": 16.0 / 14.0,
    "stretch_max": 16.0 / 14.0,
    "goodput": 40.0 / 60.0,
    "present_share": 58.0 / 60.0,
    "mean_work_s": 20.0,
    "job_stretch_mean": None,  # no job is done
    "job_stretch_p95": None,
    "compute_share": 40.0 / 58.0,  # present 30 s and 28 s
    "throttled_share": 0.0,
    "stall_share": 18.0 / 58.0,
    "interference_share": 0.0,
    "wait_share": 0.0,
    "throttled_job_s": 0.0,
    "peak_waiting": 0,
    "waiting_share": 0.0,
    "control_actions_per_hour": 0.0,
    "bytes_delivered_b": 24.0,
    "store_utilisation": 0.4,
    "peak_writers": 2,
    "writers_share_at_least": [0.4, 0.2],
    "writers_share_at_least_independent": [23.0 / 45.0, 4.0 / 45.0],  # the jobs write for 10 / 30 and 8 / 30
    "energy_j": 40.0,
    "mean_power_w": 40.0 / 30.0,
    "peak_power_w": 2.0,
    "power_p99_w": 2.0,
    "min_power_w": 0.0,
    "load_factor": 40.0 / 60.0,
    "largest_step_w": 1.0,
    "ramp_1s_w_s": 1.0,
    "ramp_10s_w_s": 0.2,  # from 2 W at 2 to 10 s down to 0 W at 12 to 16 s
    "ramp_60s_w_s": 0.0,
    "cap_binding_share": 0.0,
    "time_over_cap_s": None,  # there is no cap
    "energy_over_cap_j": None,
    "excursions": None,
    "longest_excursion_s": None,
    "highest_overshoot_share": None,
    "energy_by_feeder_j": None,  # there is the site alone
    "peak_power_by_feeder_w": None,
    "cap_binding_share_by_feeder": None,
    "time_over_cap_by_feeder_s": None,
    "energy_over_cap_by_feeder_j": None,
    "excursions_by_feeder": None,
    "longest_excursion_by_feeder_s": None,
    "highest_overshoot_share_by_feeder": None,
    "failures_expected": None,
    "lost_work_expected_s": None,
    "lost_work_expected_share": None,
    "ettr_expected": None,
    "ettr_expected_by_group": None,
    "young_interval_s": None,
    "young_interval_by_group_s": None,
    "daly_interval_s": None,
    "daly_interval_by_group_s": None,
}


def check(found):
    for name, expected in WORKED_METRICS.items():
        # a dozen roundings of numbers near 1
        assert found[name] == (expected if expected is None else pytest.approx(expected, rel=1e-14, abs=1e-15)), name


def test_every_metric_of_a_worked_run_is_as_on_paper():
    scenario, jobs = worked_fleet()

    assert WORKED_METRICS.keys() == METRICS.keys()
    check(summarise(scenario, jobs, recording_of(WORKED), WORKED_END_S))


def test_the_simulator_records_the_worked_run():
    scenario, jobs = worked_fleet()
    tables = {name: MemoryTable(schema(name, {})) for name in TABLES}

    class Memory:
        def write(self, table: str, batch: pa.RecordBatch) -> None:
            tables[table].append(batch)

    outcome = simulate(scenario, jobs, Memory(), {})

    check(summarise(scenario, jobs, Recording({}, tables), outcome.end_s))


@repeatable
@given(st.sets(st.integers(1, 8)))
def test_the_summary_has_the_same_bits_however_the_tables_are_cut(cuts):
    scenario, jobs = worked_fleet()

    whole = summarise(scenario, jobs, recording_of(WORKED), WORKED_END_S)
    assert summarise(scenario, jobs, recording_of(WORKED, sorted(cuts)), WORKED_END_S) == whole


@pytest.mark.parametrize(
    ("table", "lost"),
    [
        ("jobs", "goodput"),
        ("checkpoints", "checkpoint_duration_p50_s"),
        ("checkpoints", "stall_share"),
        ("checkpoints", "writers_share_at_least_independent"),
        ("power", "energy_j"),
        ("storage", "store_utilisation"),
    ],
)
def test_a_metric_of_a_table_not_recorded_is_none(table, lost):
    scenario, jobs = worked_fleet()
    rest = {name: rows for name, rows in WORKED.items() if name != table}
    found = summarise(scenario, jobs, recording_of(rest), WORKED_END_S)

    assert found[lost] is None
    assert list(found) == list(METRICS)


def test_a_run_that_ends_as_it_begins_has_no_averages():
    scenario, jobs = worked_fleet()
    found = summarise(scenario, jobs, recording_of({name: [] for name in WORKED}), 0.0)

    assert found["mean_power_w"] is None
    assert found["offered_load"] is None


class Endless:
    """Storage and power tables of any length that take no room: one batch again and again, later each time."""

    def __init__(self, table: str, batches: int, rows: int = 1 << 15) -> None:
        self._kind, self._batches, self._rows = schema(table, {}), batches, rows

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        feeder = pa.DictionaryArray.from_arrays(np.zeros(self._rows, dtype=np.int32), ["site"])
        for number in range(self._batches):
            index = np.arange(number * self._rows, (number + 1) * self._rows)
            level = (index * 7919 % 101).astype(float)
            yield pa.RecordBatch.from_arrays(
                [
                    feeder
                    if name == "feeder"
                    else pa.array(
                        index.astype(float) if name == "time_s" else level, self._kind.field(name).type, safe=False
                    )
                    for name in columns
                ],
                names=columns,
            )


def memory_of_summary(batches: int) -> int:
    scenario, jobs = fleet_of(jobs=[group()], stop={"cycles": 1})
    recording = Recording({}, {name: Endless(name, batches) for name in ("power", "storage")})
    tracemalloc.start()
    summarise(scenario, jobs, recording, float(batches << 15))
    _, peak_b = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak_b


def test_memory_does_not_grow_with_the_length_of_the_run():
    # 12 batches more are 400,000 rows a table, 3 MB a column: not one column may be kept.
    assert memory_of_summary(24) < memory_of_summary(12) + 1_000_000
