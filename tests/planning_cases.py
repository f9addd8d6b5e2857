"""Small scenarios for studies, and what is read of them."""

from __future__ import annotations

from typing import Any


def scenario(**changes: Any) -> dict[str, Any]:
    """Four jobs that share a store behind a cap; a run takes some milliseconds."""
    return {
        "twin": 1,
        "name": "small",
        "seed": 5,
        "stop": {"cycles": 12},
        "jobs": [
            {
                "name": "llm",
                "count": 4,
                "nodes": 8,
                "compute": "10 min",
                "jitter": {"law": "normal", "sigma": "6 s"},
                "checkpoint": {"size": "900 GB"},
                "launch": {"uniform": "10 min"},
            }
        ],
        "storage": {"bandwidth": "20 GB/s"},
        "power": {"cap": "210 kW"},
    } | changes


def rows(study: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Rows of a comparison by variant, metric and item."""
    return {(row["variant"], row["metric"], row["item"]): row for row in study.table.to_pylist()}
