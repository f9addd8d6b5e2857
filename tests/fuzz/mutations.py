"""Ways to spoil a text: its bytes, its structure, its values; each draws from the generator it is given."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

EXTREMES: tuple[Any, ...] = (
    *(0, 1, -1, 2**31, 2**63, 2**64, 10**30, 10**400, 0.0, -0.0, 1e-300, 1e-9, 1e300, 1e308, 5e-324, 0.1, 64.5),
    *(float("nan"), float("inf"), float("-inf"), True, False, None, "", " ", "~", "null", "NaN", ".inf", "1e999"),
    *("0 s", "1 ns", "-1 s", "1e-300 s", "1e12 s", "30 mn", "30 min", "3 d", "1:30", "012", "0x10", "1_000", "1,5"),
    *("912 GB", "1 B", "1e21 B", "9 Gb", "40 GB/s", "1 B/s", "1e-300 B/s", "1.5 MW", "1 W", "1e12 W", "12 %", "300 %"),
    *("none", "anonymous", "work", "normal", "lognormal", "uniform", "schedule", "kalos", "philly-csv", "h100", "a100"),
    *([], {}, [[]], [{}], {"": {}}, {"every": "1 ms"}, [0, 1]),
    *(["0 d", "3 d"], ["2023-01-01", "2024-01-01"], "x" * 5000),
    *("\x00", "\u202e", "\ud800", "é", "a\nb", "*a", "&a 1", "!!python/object:os.system x", "<<", "---"),
)  # fmt: skip
_NUMBER = re.compile(r"[0-9.]+(e[+-]?[0-9]+)?")
_NEEDS_QUOTES = re.compile(r"[^\w .%/+-]")


def spoiled_bytes(rng: Random, content: bytes) -> bytes:
    """Some bytes flipped, cut, doubled, moved, or put in."""
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice((1, 1, 2, 8, 64, 1000)))
        piece = content[start:end]
        match rng.randrange(7):
            case 0:
                piece = bytes(byte ^ (1 << rng.randrange(8)) for byte in piece)
            case 1:
                piece = b""
            case 2:
                piece *= rng.choice((2, 2, 3, 50))
            case 3:
                piece = rng.randbytes(len(piece))
            case 4:
                piece = rng.choice((b"\x00", b"\xff", b"\t", b"\r", b'"', b"'", b"{", b"]", b": ", b"- ", b"\n", b"#"))
            case 5:
                content = content[:start] if rng.random() < 0.5 else content[start:]
                continue
            case _:
                place = rng.randrange(len(content) + 1)
                content = content[:place] + piece + content[place:]
                continue
        content = content[:start] + piece + content[end:]
    return content


def spoiled_lines(rng: Random, text: str) -> str:
    """Some lines moved, doubled, removed, joined, or indented otherwise."""
    lines = text.splitlines()
    for _ in range(rng.choice((1, 2, 5))):
        at = rng.randrange(len(lines))
        match rng.randrange(5):
            case 0:
                lines.insert(rng.randrange(len(lines)), lines[at])
            case 1:
                lines.insert(rng.randrange(len(lines)), lines.pop(at))
            case 2:
                lines[at] = lines[at].strip() if rng.random() < 0.5 else "  " + lines[at]
            case 3:
                lines[at] = lines[at] + rng.choice(("", " ", ",", ":")) + lines[(at + 1) % len(lines)]
            case _ if len(lines) > 1:
                del lines[at]
    return "\n".join(lines) + "\n"


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all items in a nest of dicts and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in ((*path, key), *places(item, (*path, key)))]


def spoil_structure(rng: Random, values: dict[str, Any]) -> None:
    """Some keys moved, doubled, nested, renamed or removed."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not (paths := places(values)):
            return
        *above, last = rng.choice(paths)
        holder = _at(values, above)
        item = _copy(holder[last])
        other = _at(values, rng.choice([(), *paths]))
        match rng.randrange(6):
            case 0:
                del holder[last]
            case 1:
                holder[last] = {str(last): item}
            case 2:
                holder[last] = [item] * rng.choice((0, 1, 2, 50))
            case 3 if isinstance(holder, dict):
                key = str(last)
                cut = rng.randrange(len(key) + 1)
                holder[key[:cut] + rng.choice(("", "x", "_", " ", ".", "é")) + key[cut + 1 :]] = holder.pop(last)
            case 4 if isinstance(other, list):
                other.insert(rng.randrange(len(other) + 1), item)
            case _ if isinstance(other, dict):
                other[str(last)] = item


def spoil_values(rng: Random, values: dict[str, Any]) -> None:
    """Some values replaced by extreme ones, or by others of the same document."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        paths = places(values)
        *above, last = rng.choice(paths)
        holder = _at(values, above)
        value = rng.choice(EXTREMES) if rng.random() < 0.8 else _at(values, rng.choice(paths))
        number, space, unit = str(holder[last]).partition(" ")
        if _NUMBER.fullmatch(number) and rng.random() < 0.6:  # mostly legal, and rarely meant
            power = rng.choice((-12, -6, -3, -1, 1, 3, 6, 12))
            value = f"{float(number) * 10.0**power:.6g}{space}{unit}"
        holder[last] = _copy(value)


def as_yaml(rng: Random, values: Any) -> str:
    """The values in YAML's flow style, the scalars plain or quoted."""
    if isinstance(values, dict):
        return "{" + ", ".join(f"{as_yaml(rng, key)}: {as_yaml(rng, item)}" for key, item in values.items()) + "}"
    if isinstance(values, list):
        return "[" + ", ".join(as_yaml(rng, item) for item in values) + "]"
    if isinstance(values, str) and (rng.random() < 0.05 or (_NEEDS_QUOTES.search(values) and rng.random() < 0.9)):
        return json.dumps(values)
    if values is None:
        return rng.choice(("null", "~"))
    return str(values).lower() if isinstance(values, bool) else str(values)


def _at(values: Any, path: Any) -> Any:
    for part in path:
        values = values[part]
    return values


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
