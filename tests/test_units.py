"""Quantities with units become SI numbers, or a refusal that says what to write."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.units import DIMENSIONS, RefusedValue, bounded_quantity, nearest, quantity, whole_number


def test_a_bare_number_is_in_si_already():
    assert quantity(1800, "time") == 1800.0


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("30 min", "time", 1800.0),
        ("30min", "time", 1800.0),
        ("  2 d ", "time", 172_800.0),
        ("1e3 ms", "time", 1.0),
        (".5 h", "time", 1800.0),
        ("912 GB", "data size", 912e9),
        ("1 GiB", "data size", 2.0**30),
        ("40 GB/s", "data rate", 40e9),
        ("1.5 MW", "power", 1.5e6),
        ("12 %", "fraction", 0.12),
    ],
)
def test_a_unit_scales_the_number(text, dimension, value):
    assert quantity(text, dimension) == value


def test_a_gigabyte_is_not_a_gibibyte():
    assert quantity("1 GB", "data size") != quantity("1 GiB", "data size")


def test_the_value_is_rounded_once():
    assert quantity("33.3 ms", "time") == 0.0333  # 33.3 x 1e-3 in doubles gives 0.033299999999999996
    assert quantity("1.1 h", "time") == 3960.0  # 1.1 x 3600 in doubles gives 3960.0000000000005


@given(
    st.decimals(min_value=0, max_value=10**6, places=6),
    st.sampled_from([(d, unit) for d, kind in DIMENSIONS.items() for unit in kind.units]),
)
def test_every_value_is_the_double_nearest_to_the_exact_product(number, choice):
    dimension, unit = choice
    with localcontext(prec=100):
        exact = number * Decimal(DIMENSIONS[dimension].units[unit])
    assert quantity(f"{number:f} {unit}", dimension) == float(exact)


def test_minus_zero_is_zero():
    assert str(quantity("-0", "time")) == "0.0"


@pytest.mark.parametrize(
    "value",
    ["NO", "012", "1:30", "1_000", "0x10", "nan", ".inf", "", "min", "5 5", "-", "٣ s", "1" * 200, None, [], True],
)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(RefusedValue, match="must be a time"):
        quantity(value, "time")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400])
def test_a_number_no_double_holds_is_refused(value):
    with pytest.raises(RefusedValue, match="is no finite number"):
        quantity(value, "time")


@pytest.mark.parametrize("text", ["1e400 s", "1e99999999999999999999 s", "1e308 d"])
def test_text_of_a_number_no_double_holds_is_refused(text):
    with pytest.raises(RefusedValue, match="is too large for a number"):
        quantity(text, "time")


@pytest.mark.parametrize(
    ("text", "dimension", "meant"),
    [
        ("30 mins", "time", "30 min"),
        ("5 hours", "time", "5 h"),
        ("15 mw", "power", "15 MW"),
        ("40 GB", "data rate", "40 GB/s"),
        ("40 Gbps", "data rate", "40 GB/s"),
        ("1 mb", "data size", "1 MB"),
    ],
)
def test_a_wrong_unit_is_answered_with_the_unit_probably_meant(text, dimension, meant):
    with pytest.raises(RefusedValue, match=f"write {meant}"):
        quantity(text, dimension)


def test_a_unit_of_bits_is_refused_and_the_factor_named():
    with pytest.raises(RefusedValue, match="write 8 GB, or an eighth of it if you mean bits"):
        quantity("8 Gb", "data size")


def test_a_unit_of_another_dimension_is_named_as_such():
    with pytest.raises(RefusedValue, match="has the unit 'GB' of a data size, but must be a power"):
        quantity("12 GB", "power")


def test_bounds_are_said_in_si_units():
    with pytest.raises(RefusedValue, match="must be more than 0 s"):
        bounded_quantity("0 min", "time", above=0.0)
    with pytest.raises(RefusedValue, match="must be at least 0 W"):
        bounded_quantity("-1 kW", "power", at_least=0.0)
    with pytest.raises(RefusedValue, match="must be at most 60 s"):
        bounded_quantity("1 h", "time", at_most=60.0)


def test_a_bound_itself_is_within_unless_it_is_open():
    assert bounded_quantity("60 s", "time", at_least=60.0, at_most=60.0) == 60.0
    with pytest.raises(RefusedValue):
        bounded_quantity("60 s", "time", above=60.0)


def test_a_numpy_number_is_a_number():
    assert quantity(np.float64(2.5), "time") == 2.5
    assert whole_number(np.int64(3), at_least=1, at_most=5) == 3


@pytest.mark.parametrize("value", [True, 64.5, "64", None])
def test_a_count_is_a_whole_number_and_nothing_else(value):
    with pytest.raises(RefusedValue, match="must be a whole number"):
        whole_number(value, at_least=1, at_most=100)


def test_a_count_written_as_a_float_is_refused_with_the_count_to_write():
    with pytest.raises(RefusedValue, match=r"write 64$"):
        whole_number(64.0, at_least=1, at_most=100)


def test_a_count_stays_within_its_bounds():
    assert whole_number(1, at_least=1, at_most=100) == 1
    with pytest.raises(RefusedValue, match="raise it to 1 or more"):
        whole_number(0, at_least=1, at_most=100)
    with pytest.raises(RefusedValue, match="lower it to 100 or less"):
        whole_number(101, at_least=1, at_most=100)


def test_the_nearest_word_ignores_case_and_may_be_none():
    assert nearest("Computee", ["compute", "count"]) == "compute"
    assert nearest("zzz", ["compute", "count"]) is None
