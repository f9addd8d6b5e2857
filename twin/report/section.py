"""A section of the page: a chart, its definition, and its numbers, each with the query that gives it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from twin.report.figures import Figure
from twin.report.run_summary import percent
from twin.report.scales import clock
from twin.units import scaled

SHARE, RATIO, CLOCK, COUNT = "share", "ratio", "clock", "count"  # units of readings that ``scaled`` does not know

# A row of a step function holds until the next one, the last to the end of the run.
_HOLDS = '{0}["hold_s"] = {0}.time_s.shift(-1, fill_value=end_s) - {0}.time_s'


class Reading(NamedTuple):
    """One number of a section.

    Args:
        value: in SI.
        unit: of the value: an SI unit, ``1``, or SHARE (shown in percent), RATIO (to three decimals),
            CLOCK (a time of the run), COUNT.
        query: Python expression over what ``PREAMBLE`` and the section's set-up define; its value is ``value``.
        in_sight: shown beside the chart, not only in the note.
    """

    label: str
    value: float
    unit: str
    query: str
    in_sight: bool = True

    def shown(self) -> str:
        """The value as people read it."""
        if self.unit == SHARE:
            return percent(self.value)
        if self.unit == RATIO:
            return f"{self.value:.3f}"
        if self.unit == CLOCK:
            return clock(self.value)
        if self.unit == COUNT:
            return f"{self.value:,.0f}"
        return scaled(self.value, self.unit)


@dataclass(frozen=True, slots=True)
class Section:
    """One chart of the page with what belongs to it.

    Args:
        key: its anchor.
        reads: how to read the chart, a sentence or two.
        definition: unit and definition of what is drawn, and how it was thinned.
        setup: Python statements that the queries of the readings need after ``PREAMBLE``; the last ones give what
            the chart draws.
        figure: None for a section without chart.
        html, below: drawn above the chart, or instead of one, and beneath it; trusted as they are.
    """

    key: str
    title: str
    reads: str
    definition: str
    setup: str
    readings: tuple[Reading, ...]
    figure: Figure | None = None
    html: str = ""
    below: str = ""


def preamble(tables: Mapping[str, Any]) -> str:
    """Python statements that load a run, from within its directory, for the queries of all sections."""
    lines = [
        "import json",
        "from pathlib import Path",
        "import numpy as np",
        "import pandas as pd",
        "",
        'run = json.loads(Path("run.json").read_text(encoding="utf-8"))',
        'end_s = run["simulated_end_s"]',
        *(f'{table} = pd.read_parquet("{table}.parquet")' for table in tables if table != "events"),
    ]
    if "storage" in tables:
        lines.append(_HOLDS.format("storage"))
    if "power" in tables:
        lines += ['site = power[power.feeder == "site"].copy()', _HOLDS.format("site")]
    return "\n".join(lines)


def of_metrics(metrics: Mapping[str, Any], *rows: tuple[str, str, str, str]) -> Iterator[Reading]:
    """Readings of summary numbers: (name, label, unit, query) each; one that is not known is left out."""
    for name, label, unit, query in rows:
        value = metrics.get(name)
        if value is not None:
            yield Reading(label, value, unit, query)
