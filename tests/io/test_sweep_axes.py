"""What ``--grid`` and ``--sample`` stand for."""

from __future__ import annotations

import re

import pytest

from twin.errors import TwinError
from twin.io.sweep_axes import axes, grid, sample
from twin.units import quantity


def values(text):
    (axis,) = axes([text])
    return list(axis.values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("power.cap=10MW..16MW:7", [k * 1e6 for k in range(10, 17)]),
        ("power.cap=10..16 MW:3", [10e6, 13e6, 16e6]),
        ("power.cap=9e3 kW..10MW:3", [9e6, 9.5e6, 10e6]),
        ("power.controller.delay=1 s..1 min:2", [1.0, 60.0]),
    ],
)
def test_a_range_has_so_many_values_its_ends_among_them_with_their_unit(text, expected):
    dimension = "power" if "cap" in text else "time"

    assert [quantity(value, dimension) for value in values(text)] == expected
    assert all(isinstance(value, str) for value in values(text))  # a key of another kind refuses the unit


def test_a_range_is_divided_exactly_and_rounded_once():
    assert values("x=0.1..0.3:3") == [0.1, 0.2, 0.3]
    assert values("x=0..1:11") == [0, *(k / 10 for k in range(1, 10)), 1]


def test_whole_numbers_stay_whole_numbers():
    assert values("jobs.llm.nodes=8..64:8") == [8, 16, 24, 32, 40, 48, 56, 64]
    assert all(type(value) is int for value in values("jobs.llm.nodes=8..64:8"))


def test_logarithmic_steps_have_one_ratio():
    found = [quantity(value, "time") for value in values("power.controller.delay=1 s..1000 s:4:log")]

    assert found == pytest.approx([1.0, 10.0, 100.0, 1000.0], rel=1e-12)
    assert (found[0], found[-1]) == (1.0, 1000.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jobs.llm.checkpoint.mode=blocking,async", ["blocking", "async"]),
        ("power.cap=12 MW, 13 MW", ["12 MW", "13 MW"]),
        (
            "power.controller=anonymous,{policy: delayed, delay: 2 s}",
            ["anonymous", {"policy": "delayed", "delay": "2 s"}],
        ),
        ("jobs.llm.launch.at=[0 s, 3 s],[0 s, 5 s]", [["0 s", "3 s"], ["0 s", "5 s"]]),
        ("seed=1", [1]),
    ],
)
def test_a_list_is_split_at_its_commas_but_not_within_brackets(text, expected):
    assert values(text) == expected


def test_a_grid_is_every_combination_the_last_axis_first():
    assert grid(axes(["a=1,2", "b=x,y"])) == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


@pytest.mark.parametrize("design", ["sobol:64", "latin:64", "sobol:50"])
def test_a_sample_fills_its_ranges_evenly_and_is_the_same_for_the_same_seed(design):
    found = axes(["power.cap=10MW..16MW", "x=1..3", "m=a,b"])
    points = sample(design, found, seed=7)
    caps = [quantity(cap, "power") for cap, _, _ in points]

    assert points == sample(design, found, seed=7) != sample(design, found, seed=8)
    assert all(10e6 <= cap <= 16e6 for cap in caps)
    for eighth in range(8):  # evenly: each eighth of the range gets its share, within two points
        low = 10e6 + eighth * 0.75e6
        assert abs(sum(low <= cap < low + 0.75e6 for cap in caps) - len(points) / 8) <= 2
    assert {mode for _, _, mode in points} == {"a", "b"}
    assert all(isinstance(x, float) for _, x, _ in points)


def test_a_sample_of_whole_numbers_takes_all_of_them_alike():
    from dataclasses import replace

    found = [replace(axis, is_whole=True) for axis in axes(["n=1..4"])]
    counts = [[n for (n,) in sample("sobol:64", found, 1)].count(value) for value in (1, 2, 3, 4)]

    assert counts == [16, 16, 16, 16]


def test_a_range_may_fall():
    from dataclasses import replace

    (axis,) = axes(["n=8..4"])
    drawn = {n for (n,) in sample("sobol:64", [replace(axis, is_whole=True)], 1)}

    assert values("x=3..1:3") == [3, 2, 1]
    assert drawn == {4, 5, 6, 7, 8}


FAULTS = {
    "no values": ("power.cap=", "must be KEY=VALUES"),
    "no equals sign": ("power.cap", "must be KEY=VALUES"),
    "no key": ("=1,2", "must be KEY=VALUES"),
    "units of two kinds": ("power.cap=10MW..16GB:7", "units of different kinds"),
    "an unknown unit": ("power.cap=10MW..16XW:7", "unknown unit 'XW'"),
    "words as ends": ("power.cap=low..high:7", "is no range of numbers"),
    "no number of values": ("power.cap=1MW..2MW:0", "at least one value"),
    "too many values": ("power.cap=1MW..2MW:999999999", "more than 100,000"),
    "logarithms of nothing": ("power.cap=0MW..2MW:5:log", "ends above 0"),
    "an end beyond all numbers": ("power.cap=1e400W..2MW:3", "no number can be"),
    "an end of a billion digits": ("power.cap=1e999999999W..2MW:3", "no number can be"),
    "an end that is all but nothing": ("power.cap=1e-999999999W..2MW:3", "no number can be"),
    "a value twice": ("seed=1,2,1", "has a value twice"),
    "brackets that do not close": ("seed=[1,2", "cannot be read"),
}


@pytest.mark.parametrize(("text", "words"), FAULTS.values(), ids=FAULTS)
def test_what_is_no_axis_is_refused_with_the_text_and_how_to_write_it(text, words):
    with pytest.raises(TwinError, match=re.escape(words)) as refused:
        axes([text])
    assert str(refused.value).startswith("--grid")
    assert "\n" not in str(refused.value)


def test_a_key_given_twice_is_refused():
    with pytest.raises(TwinError, match="given twice"):
        axes(["seed=1", "seed=2"])


def test_a_grid_of_a_range_without_a_number_says_how_to_sample_it():
    with pytest.raises(TwinError, match=r"--sample sobol:64"):
        grid(axes(["power.cap=1MW..2MW"]))


def test_a_grid_of_too_many_points_is_refused():
    with pytest.raises(TwinError, match=r"1,000,000 points"):
        grid(axes(["a=1..1000:1000", "b=1..1000:1000"]))


@pytest.mark.parametrize("text", ["sobol", "sobol:0", "sobol:-1", "sobol:x", "halton:8", "sobol:1e3"])
def test_what_is_no_sample_is_refused(text):
    with pytest.raises(TwinError, match=r"sobol:N or latin:N"):
        sample(text, axes(["x=1..2"]), 0)
