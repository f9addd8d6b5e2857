"""A Parquet launch log gives the same jobs whatever types can hold them; a type that cannot is refused by name."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.small_logs import Read, dropped
from twin.errors import LaunchLogError
from twin.io.launch_logs import read_schedule
from twin.scenario import Replay

SCHEDULE = {"job_id": ["a", "b"], "submit_s": [0.0, 10.0], "nodes": [1, 2], "work_s": [60.0, 120.0]}
PHILLY = {"timestamp": ["2017-10-09 07:00:00"] * 2, "duration": [1.0, 2.0], "num_gpus": [1, 2], "cluster": ["a", "b"]}


def read(folder: Path, form: str = "schedule", **columns: Any) -> Read:
    table = pa.table((PHILLY if form == "philly-csv" else SCHEDULE) | columns)
    pq.write_table(table, folder / "log.parquet")
    return read_schedule(Replay.model_validate({"file": "log.parquet", "format": form}), folder)


def refusal(folder: Path, form: str = "schedule", **columns: Any) -> str:
    with pytest.raises(LaunchLogError) as refused:
        read(folder, form, **columns)
    return str(refused.value)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_duration_is_as_many_seconds_in_every_unit(tmp_path: Path, unit: str) -> None:
    # once read as a million times as long: a duration cast to text is its bare number of microseconds
    work = pa.array([timedelta(minutes=1), timedelta(minutes=2)], pa.duration(unit))
    submit = pa.array([timedelta(0), timedelta(days=1)], pa.duration(unit))
    schedule, _ = read(tmp_path, work_s=work, submit_s=submit)

    assert schedule.work_s.tolist() == [60.0, 120.0]
    assert schedule.submit_s.tolist() == [0.0, 86400.0]


@pytest.mark.parametrize(
    "work",
    [
        pa.array([60, 120], pa.uint8()),
        pa.array(np.array([60, 120], np.float16)),
        pa.array([60, 120], pa.float32()),
        pa.array([Decimal("60.00"), Decimal("120.00")]),
        pa.array(["60", "1.2e2"]),
        pa.array(["60", "120"], pa.large_string()),
        pa.array(["60", "120"]).dictionary_encode(),
        pa.array([60.0, 120.0]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_numbers_are_read_from_every_type_that_holds_them(tmp_path: Path, work: Any) -> None:
    schedule, _ = read(tmp_path, work_s=work)

    assert schedule.work_s.tolist() == [60.0, 120.0]


@pytest.mark.parametrize(
    "nodes", [[1, None], pa.array([np.float16(1), None], pa.float16()), [Decimal(1), None], ["1", None]]
)
def test_a_missing_value_drops_its_row_alone(tmp_path: Path, nodes: Any) -> None:
    schedule, report = read(tmp_path, nodes=nodes)

    assert schedule.names == ["a"]
    assert dropped(report) == {"nodes is not a finite number": (1, 2, "")}


def test_a_column_of_nulls_alone_drops_every_row_as_empty(tmp_path: Path) -> None:
    assert "2: work_s is not a finite number" in refusal(tmp_path, work_s=pa.nulls(2))


@pytest.mark.parametrize("ids", [[7, 8], [Decimal(7), Decimal(8)], pa.array(["7", "8"]).dictionary_encode()])
def test_job_ids_may_be_numbers(tmp_path: Path, ids: Any) -> None:
    assert read(tmp_path, job_id=ids)[0].names == ["7", "8"]


ODD = {
    "timestamp": [datetime(2024, 5, 1), datetime(2024, 5, 2)],  # noqa: DTZ001 a log has no zone
    "date": [date(2024, 5, 1), date(2024, 5, 2)],
    "time": [time(1), time(2)],
    "binary": [b"1", b"2"],
    "list": [[1], [2]],
    "struct": [{"x": 1}, {"x": 2}],
    "bool": [True, False],
}


@pytest.mark.parametrize("column", ["job_id", "submit_s", "nodes", "work_s"])
@pytest.mark.parametrize("odd", ODD)
def test_a_type_that_holds_no_such_values_is_refused_with_column_type_rule_and_remedy(
    tmp_path: Path, odd: str, column: str
) -> None:
    message = refusal(tmp_path, **{column: ODD[odd]})

    assert message.startswith(f"log.parquet: replay.file: 'column {column} of type {odd}")
    assert "' must hold " in message
    assert "; write it as " in message


def test_a_duration_is_no_number_of_nodes(tmp_path: Path) -> None:
    assert "'column nodes of type duration[us]' must hold whole numbers" in refusal(
        tmp_path, nodes=[timedelta(1), timedelta(2)]
    )


def test_durations_in_categories_whose_unit_parquet_loses_are_refused(tmp_path: Path) -> None:
    work = pa.array([timedelta(seconds=60), timedelta(seconds=120)]).dictionary_encode()
    message = refusal(tmp_path, work_s=work)

    assert "'column work_s of type dictionary<values=duration[us]" in message
    assert message.endswith("write it as plain durations")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_timestamp_without_zone_is_the_date_time_it_shows(tmp_path: Path, unit: str) -> None:
    times = pa.array(["2017-10-09 07:00:00", "2017-10-09 07:01:00"]).cast(pa.timestamp(unit))
    schedule, report = read(tmp_path, "philly-csv", timestamp=times)

    assert schedule.submit_s.tolist() == [0.0, 60.0]
    assert report.wall_times == ("2017-10-09T07:00:00", "2017-10-09T07:01:00")


def test_a_timestamp_with_zone_is_refused(tmp_path: Path) -> None:
    times = pa.array([0, 1], pa.timestamp("us", "UTC"))

    assert "type timestamp[us, tz=UTC]' must hold date-times without zone" in refusal(
        tmp_path, "philly-csv", timestamp=times
    )


def test_a_timestamp_that_no_calendar_holds_is_dropped_not_wrapped_around(tmp_path: Path) -> None:
    _, report = read(tmp_path, "philly-csv", timestamp=pa.array([2**62, 5], pa.timestamp("ms")))

    assert report.rows_kept == 1
    assert next(iter(dropped(report))) == "timestamp is no date-time without zone from 1970 on"


def test_columns_that_are_not_read_may_have_any_type_and_share_a_name(tmp_path: Path) -> None:
    odd = [pa.array(values) for values in ODD.values()]
    good = [pa.array(values) for values in SCHEDULE.values()]
    pq.write_table(pa.table(good + odd, names=[*SCHEDULE, *["odd"] * len(odd)]), tmp_path / "log.parquet")
    schedule, _ = read_schedule(Replay(file="log.parquet"), tmp_path)

    assert schedule.names == ["a", "b"]


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table(SCHEDULE | {"job_id": ["café", "b"]}), tmp_path / "log.parquet")
    content = (tmp_path / "log.parquet").read_bytes().replace("café".encode(), b"caf\xe9 ")
    (tmp_path / "log.parquet").write_bytes(content)

    with pytest.raises(LaunchLogError, match=r"^log\.parquet: replay\.file: cannot be read as Parquet: .*UTF8"):
        read_schedule(Replay(file="log.parquet"), tmp_path)


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(tmp_path: Path, seed: int) -> None:
    chance = np.random.default_rng(seed)
    pq.write_table(pa.table({name: values * 50 for name, values in SCHEDULE.items()}), tmp_path / "log.parquet")
    content = np.frombuffer((tmp_path / "log.parquet").read_bytes(), np.uint8).copy()
    content[chance.integers(4, len(content), 3)] = chance.integers(0, 256, 3)
    (tmp_path / "log.parquet").write_bytes(content.tobytes())
    try:
        schedule, report = read_schedule(Replay(file="log.parquet"), tmp_path)
    except LaunchLogError as error:
        assert str(error).isprintable()  # noqa: PT017 most are refused, not all
        return
    assert report.rows_read == report.rows_kept + sum(reason.rows for reason in report.dropped)
    assert all(name.isprintable() for name in schedule.names)
