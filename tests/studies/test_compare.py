"""Tables of a comparison, from numbers made by hand."""

from __future__ import annotations

import pytest

from twin.studies.compare import comparison_table, replicas_table


def rows_of(metrics, baseline="a"):
    rows = comparison_table(metrics, baseline).to_pylist()
    return {(row["variant"], row["metric"], row["item"]): row for row in rows}


def test_the_baseline_comes_first_and_differs_from_nothing():
    table = comparison_table({"b": [{"goodput": 0.5}], "a": [{"goodput": 0.25}]}, "a")

    assert table["variant"].to_pylist() == ["a", "b"]
    assert table["difference"].to_pylist() == [None, 0.25]


def test_identical_variants_tie_at_exactly_nothing():
    luck = [{"goodput": 0.1 * k, "energy_j": 1e9 / (k + 3)} for k in range(20)]
    found = rows_of({"a": luck, "b": luck})

    for metric in ("goodput", "energy_j"):
        row = found["b", metric, ""]
        assert (row["verdict"], row["difference"], row["difference_low"], row["difference_high"]) == ("tie", 0, 0, 0)


def test_numbers_of_feeders_and_groups_have_rows_of_their_own():
    found = rows_of(
        {"a": [{"energy_by_feeder_j": {"site": 2.0, "row-1": 1.0}}], "b": [{"energy_by_feeder_j": {"site": 3.0}}]}
    )

    assert found["b", "energy_by_feeder_j", "site"]["difference"] == 1.0
    assert found["b", "energy_by_feeder_j", "row-1"]["n"] == 0
    assert found["b", "energy_by_feeder_j", "row-1"]["verdict"] == "unknown"


def test_more_writers_than_a_replica_ever_had_wrote_for_none_of_its_time():
    found = rows_of({"a": [{"writers_share_at_least": [0.4]}] * 2, "b": [{"writers_share_at_least": [0.4, 0.1]}] * 2})

    assert found["a", "writers_share_at_least", "2"]["mean"] == 0.0
    assert found["b", "writers_share_at_least", "2"]["difference"] == pytest.approx(0.1)


def test_a_number_that_no_replica_knows_has_no_row():
    assert rows_of({"a": [{"makespan_s": None}], "b": [{"makespan_s": None}]}) == {}


def test_the_values_behind_the_table_are_kept_replica_by_replica():
    table = replicas_table({"a": [{"goodput": 0.1}, {"goodput": None}], "b": [{"goodput": 0.3}, {"goodput": 0.4}]})

    assert table.to_pylist() == [
        {"variant": "a", "replica": 0, "metric": "goodput", "item": "", "value": 0.1},
        {"variant": "a", "replica": 1, "metric": "goodput", "item": "", "value": None},
        {"variant": "b", "replica": 0, "metric": "goodput", "item": "", "value": 0.3},
        {"variant": "b", "replica": 1, "metric": "goodput", "item": "", "value": 0.4},
    ]
