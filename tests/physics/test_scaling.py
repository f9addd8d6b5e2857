"""Neither the order of the job list nor the units of time, size and power change what happens."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from tests.fleets import Mapping, group, scenario
from tests.traces import columns, simulate
from twin.recording import Recording

POWERS: list[Mapping] = [
    {"compute": 7.5, "idle": 1.5, "write": 2.5, "exponent": 2.5},
    {"compute": 4.0, "idle": 0.7, "write": 3.1, "exponent": 1.0},
    {"compute": 9.0, "idle": 2.0, "write": 2.0, "exponent": 1.7},
]
CAP_W = 45.0  # of 76 W at full speed
POWER_COLUMNS = ("demand_w", "draw_w", "speed", "energy_j")


def mixed_fleet(time: float = 1.0, data: float = 1.0, watt: float = 1.0, cycles: int = 40) -> Mapping:
    """Every kind of group; ``time``, ``data`` and ``watt`` are the sizes of the units."""

    def power(law: Mapping) -> Mapping:
        return law | {phase: law[phase] * watt for phase in ("compute", "idle", "write")}

    def own(name: str, compute_s: float, size_b: float, launch: Mapping, law: int, **more: Any) -> Mapping:
        return group(name, compute_s * time, size_b * data, launch, power(POWERS[law]), **more)

    clock = own("clock", 1.0, 1.6, {"every": 1.3 * time}, 1, count=2) | {
        "checkpoint": {"size": 1.6 * data, "trigger": {"every": 9.0 * time, "offset": 2.5 * time}}
    }
    del clock["compute"]
    groups = [
        own("pair", 10.0, 1.0, {"together": 0.3 * time}, 0, count=2),
        own("normal", 8.0, 2.0, {"poisson": 3.0 * time}, 1, count=2, jitter={"law": "normal", "sigma": 6.0 * time}),
        own("lognormal", 12.0, 1.5, {"uniform": 9.0 * time}, 2, jitter={"law": "lognormal", "sigma": 2.0 * time}),
        own("finite", 7.0, 0.7, {"at": [1.1 * time, 4.2 * time]}, 2, nodes=2, work=93.0 * time),
        clock,
    ]
    store = {"bandwidth": 1.4 * data / time, "client_bandwidth": 1.0 * data / time, "degradation": 0.2}
    return scenario(groups, {"cycles": cycles}, store, CAP_W * watt, seed=5)


def times_by_name(recording: Recording) -> dict[str, list[list[float]]]:
    """Every row of the checkpoints of each job, under its name."""
    jobs, rows = columns(recording, "jobs"), columns(recording, "checkpoints")
    numbers = np.array([rows[name] for name in ("compute_start_s", "due_s", "write_start_s", "write_end_s")])
    return {
        name: numbers[:, rows["job_id"] == i].tolist() for i, name in zip(jobs["job_id"], jobs["name"], strict=True)
    }


def scaled(recording: Recording, time: float = 1.0, data: float = 1.0, watt: float = 1.0) -> dict[str, np.ndarray]:
    """Every number column of the run, in units this many times larger."""
    units = {"s": time, "B": data, "B/s": data / time, "W": watt, "J": watt * time}
    found = {}
    for table in ("jobs", "checkpoints", "power", "storage", "events"):
        read = recording.table(table)
        for field in read.schema:
            if str(field.type) == "double":
                factor = units.get(field.metadata[b"unit"].decode(), 1.0)
                found[f"{table}.{field.name}"] = read.column(field.name).to_pandas().to_numpy() / factor
            elif str(field.type) == "int32":
                found[f"{table}.{field.name}"] = read.column(field.name).to_pandas().to_numpy()
    return found


@pytest.mark.parametrize("order", list(permutations(range(5)))[7::16])
def test_a_permuted_job_list_gives_every_job_the_same_times_bit_for_bit(order):
    listed = mixed_fleet()
    permuted = listed | {"jobs": [listed["jobs"][i] for i in order]}

    there, back = simulate(listed), simulate(permuted)

    np.testing.assert_equal(times_by_name(back), times_by_name(there))
    for table in ("power", "storage"):
        np.testing.assert_equal(columns(back, table), columns(there, table))


@pytest.mark.parametrize(
    "units",
    [{"time": 4.0}, {"time": 4.0, "data": 4.0}, {"watt": 4.0}, {"time": 0.25, "data": 16.0, "watt": 0.5}],
    ids=["times by 4, bandwidths by a quarter", "times and sizes by 4", "watts by 4", "all three"],
)
def test_a_unit_that_is_a_power_of_two_changes_no_bit(units):
    np.testing.assert_equal(scaled(simulate(mixed_fleet(**units)), **units), scaled(simulate(mixed_fleet())))


@pytest.mark.parametrize(
    "units", [{"time": 3.0}, {"data": 3.0}, {"watt": 3.0}], ids=["times by 3", "bytes by 3", "watts by 3"]
)
def test_a_unit_of_three_changes_nothing_for_fifteen_cycles_but_the_last_digits(units):
    there = scaled(simulate(mixed_fleet(cycles=15)))
    back = scaled(simulate(mixed_fleet(**units, cycles=15)), **units)

    assert there.keys() == back.keys()
    for name, column in there.items():
        # A fleet of nine loses up to 0.2 digits a cycle: 1e-16 becomes 1e-13 or a little more.
        np.testing.assert_allclose(back[name], column, rtol=1e-9, err_msg=name)
