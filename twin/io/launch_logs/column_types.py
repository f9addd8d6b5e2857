"""Types of the columns of a Parquet log: which of them can be read as what, and their values as numbers or texts."""

from __future__ import annotations

from base64 import b64decode
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import types

Kind = Literal["name", "count", "seconds", "date-time"]
"""What a column of a launch log holds."""

_HOLDS: dict[Kind, tuple[str, str]] = {
    "name": ("names: text or numbers", "write it as text"),
    "count": ("whole numbers: integers, decimals, floats, or text of such", "write it as int64"),
    "seconds": (
        "seconds: numbers, durations, or text of numbers",
        "write it as a number of seconds, counted from any one moment",
    ),
    "date-time": ("date-times without zone, or text of such", "write it as timestamp without a time zone"),
}
_LONGEST = 250  # characters of a text that are kept, more than a name may have
_CUT = " ..."


def parquet_columns(file: pq.ParquetFile) -> list[tuple[str, Any]]:
    """Name and Arrow type of each column, as written by Arrow if that is known, else as stored."""
    stored = file.schema_arrow
    written = (file.metadata.metadata or {}).get(b"ARROW:schema")
    if written is None:
        return [(field.name, field.type) for field in stored]
    meant = pa.ipc.read_schema(pa.py_buffer(b64decode(written)))
    types_meant = {field.name: field.type for field in meant}
    return [
        (field.name, types_meant[field.name] if _lost(types_meant.get(field.name)) else field.type) for field in stored
    ]


def _lost(meant: Any) -> bool:
    """Whether Parquet hands out the bare numbers of such a column, without their unit."""
    return meant is not None and types.is_dictionary(meant) and types.is_duration(meant.value_type)


def misfit(kind: Kind, column_type: Any) -> tuple[str, str] | None:
    """Rule and remedy, if a column of this Arrow type cannot be read as this kind; None if it can."""
    if _lost(column_type):
        return "is stored without its unit", "write it as plain durations"
    if is_text(column_type) or _fits(kind, _value_type(column_type)):
        return None
    holds, remedy = _HOLDS[kind]
    return f"must hold {holds}", remedy


def _fits(kind: Kind, value_type: Any) -> bool:
    if kind == "date-time":
        return bool(types.is_date(value_type) or (types.is_timestamp(value_type) and value_type.tz is None))
    return _is_number(value_type) or (kind == "seconds" and types.is_duration(value_type))


def plain(column: Any) -> Any:
    """The same values as strings without nulls, numbers, durations or timestamps.

    A text that is far too long for a name or a number keeps its beginning, with a mark that makes it neither.

    Args:
        column: an Arrow array of a type that fits some kind.
    Raises:
        pyarrow.ArrowInvalid: the array is damaged, or its text is not UTF-8.
    """
    column.validate(full=True)
    if types.is_dictionary(column.type):
        values = column.dictionary
        if is_text(values.type):  # before each row gets its own copy
            column = pa.DictionaryArray.from_arrays(column.indices, _shortened(values))
        column = column.dictionary_decode()
    if is_text(column.type):
        return pc.fill_null(_shortened(column), "")
    if types.is_float16(column.type):  # Arrow casts it to hardly anything
        return pa.array(column.to_numpy(zero_copy_only=False).astype(np.float32), from_pandas=True)
    if types.is_date(column.type):
        return column.cast(pa.timestamp("s"))
    return column


def floats(column: Any) -> np.ndarray:
    """The values of a plain column that holds no text: numbers, or seconds of durations or since 1970; nan for null."""
    if types.is_duration(column.type) or types.is_timestamp(column.type):
        per_second = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit]
        return floats(column.cast(pa.int64())) / per_second
    if types.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def text(column: Any, row: int) -> str:
    """One value of a plain column, as people write it; empty for null."""
    value = column[row]
    if not value.is_valid:
        return ""
    if types.is_duration(column.type):
        return f"{floats(column[row : row + 1])[0]:g} s"
    return str(value.cast(pa.string()).as_py())


def is_text(column_type: Any) -> bool:
    """Whether a column of this Arrow type holds text, or nulls alone, which are read as empty texts."""
    value_type = _value_type(column_type)
    return bool(
        types.is_string(value_type)
        or types.is_large_string(value_type)
        or types.is_string_view(value_type)
        or types.is_null(value_type)
    )


def _value_type(column_type: Any) -> Any:
    return column_type.value_type if types.is_dictionary(column_type) else column_type


def _shortened(texts: Any) -> Any:
    texts = texts.cast(pa.string())
    is_long = pc.greater(pc.utf8_length(texts), _LONGEST)
    if not pc.any(is_long).as_py():
        return texts
    beginnings = pc.utf8_slice_codeunits(texts, 0, _LONGEST)
    return pc.if_else(is_long, pc.binary_join_element_wise(beginnings, _CUT, ""), texts)


def _is_number(value_type: Any) -> bool:
    return bool(types.is_integer(value_type) or types.is_floating(value_type) or types.is_decimal(value_type))
