"""Cells -> lines of text, in columns."""

from __future__ import annotations

from collections.abc import Sequence


def in_columns(cells: Sequence[Sequence[str]]) -> list[str]:
    """One line a row, each column as wide as its widest cell."""
    if not cells:
        return []
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
