"""Shading of excursions: each one while they are few, else shares of equal cells; in memory that does not grow."""

from __future__ import annotations

import numpy as np
import pytest

import twin
from tests.report.html_page import unpacked
from tests.report.studies import tree_of
from twin.report import over_cap
from twin.report.over_cap import COLUMNS, OverCap, over_caps, shading_in_words
from twin.report.scales import Scale

SECONDS = Scale("s", 1.0)


def test_no_excursion_is_no_shading():
    assert OverCap(100.0).traces(SECONDS, (0.0, 1.0)) == []
    assert shading_in_words([OverCap(100.0)]) == ""


def test_a_few_are_rectangles_one_by_one():
    over = OverCap(100.0)
    over.add(np.array([10.0, 40.0]), np.array([15.0, 41.0]))
    (trace,) = over.traces(SECONDS, (1.0, 3.0))
    x, y = (unpacked(trace[axis]).reshape(2, 6) for axis in "xy")
    assert x[:, :5].tolist() == [[10.0, 10.0, 15.0, 15.0, 10.0], [40.0, 40.0, 41.0, 41.0, 40.0]]
    assert y[0, :5].tolist() == [1.0, 3.0, 3.0, 1.0, 1.0]
    assert np.isnan(x[:, 5]).all()


def test_many_are_shares_of_cells_whose_sum_is_the_time_above():
    end_s = 4000.0  # cells of 10 s
    begin_s = np.arange(0.0, end_s, 5.0)
    over = OverCap(end_s)
    for part in np.array_split(begin_s, 7):  # however it is cut
        over.add(part, part + 1.0)
    (trace,) = over.traces(SECONDS, (0.0, 1.0))
    shares = unpacked(trace["z"])[0].astype(np.float64) ** 2  # the colour goes with the root
    assert len(shares) == COLUMNS
    assert shares == pytest.approx(0.2, rel=1e-6)  # two seconds of ten; the root is kept in single precision
    assert over.count == len(begin_s)


def test_an_excursion_over_several_cells_fills_them():
    over = OverCap(400.0)
    over.add(np.array([10.5]), np.array([12.25]))
    over.count = 10_000  # as if there were many more
    (trace,) = over.traces(SECONDS, (0.0, 1.0))
    shares = unpacked(trace["z"])[0].astype(np.float64) ** 2
    assert shares[10:13] == pytest.approx([0.5, 1.0, 0.25], rel=1e-6)
    assert np.isnan(shares[13:]).all()


def test_memory_does_not_grow_with_their_number():
    over = OverCap(1e6)
    for number in range(200):
        begin_s = 5000.0 * number + np.arange(0.0, 5000.0, 5.0)
        over.add(begin_s, begin_s + 1.0)
    assert over.count == 200_000
    assert len(over._spans) < 1000
    assert sum(len(str(trace)) for trace in over.traces(SECONDS, (0.0, 1.0))) < 10_000


def test_they_are_read_feeder_by_feeder_from_the_events(tmp_path):
    recording = twin.open_run(tree_of(tmp_path / "run", stop={"cycles": 10}))
    found = over_caps(recording, ["site", "row-1", "row-2"], recording.manifest["simulated_end_s"])
    told = recording.manifest["metrics"]["excursions_by_feeder"]
    assert {name: over.count for name, over in found.items()} == told
    assert told["row-1"] > 0


def test_the_words_say_that_they_are_too_many(monkeypatch):
    monkeypatch.setattr(over_cap, "_MOST", 1)
    over = OverCap(100.0)
    over.add(np.array([10.0, 40.0]), np.array([15.0, 41.0]))
    assert "too many excursions to draw one by one" in shading_in_words([over])


def test_a_few_beside_many_are_shares_of_cells_too():
    over = OverCap(400.0)
    over.add(np.array([10.0]), np.array([10.5]))
    (trace,) = over.traces(SECONDS, (0.0, 1.0), in_cells=True)
    assert unpacked(trace["z"])[0][10] ** 2 == pytest.approx(0.5, rel=1e-6)
