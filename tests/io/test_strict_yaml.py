"""A scalar means what it looks like, a key is text, and every value knows its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.io.strict_yaml import MAX_BYTES, MAX_DEPTH, read_bytes, read_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("NO", "NO"),
        ("yes", "yes"),
        ("True", "True"),
        ("012", "012"),
        ("1:30", "1:30"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("2023-07-01", "2023-07-01"),
        ("30 min", "30 min"),
        ("'3'", "3"),
        ('"true"', "true"),
        ("''", ""),
    ],
)
def test_a_scalar_means_what_it_looks_like(text, value):
    found = read_text(f"a: {text}").value["a"]
    assert found == value
    assert type(found) is type(value)


def test_a_key_is_text_as_written():
    assert read_text("{1: a, null: b, true: c, 1.0: d}").value == {"1": "a", "null": "b", "true": "c", "1.0": "d"}


def test_a_byte_order_mark_is_skipped():
    assert read_bytes(b"\xef\xbb\xbfa: 1").value == {"a": 1}


def test_one_document_may_be_marked_as_such():
    document = read_text("---\na: 1\n...\n")
    assert document.value == {"a": 1}
    assert document.faults == []


def test_line_and_column_count_characters_from_one():
    written = read_text("é: {ü: 1, b: [x, yy]}").written
    assert written["ü"[:0]].value_at == (1, 1)
    assert written["é.b"].key_at == (1, 11)
    assert written["é.b[1]"].value_at == (1, 18)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_nesting_ends_at_the_most_levels(depth):
    document = read_text("[" * depth + "]" * depth)
    assert document.is_whole == (depth <= MAX_DEPTH)


@pytest.mark.parametrize("size", [MAX_BYTES, MAX_BYTES + 1])
def test_a_file_has_at_most_a_mebibyte(size):
    assert read_bytes(b"a: 1 #" + b"x" * (size - 6)).is_whole == (size <= MAX_BYTES)


@given(st.text())
def test_any_text_is_read_or_has_faults(text):
    document = read_text(text)
    assert document.is_whole or document.faults
