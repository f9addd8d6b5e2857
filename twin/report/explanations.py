"""What every metric, column, event, policy, promise and error means: collected from where each is defined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import getdoc, isclass

from twin import errors
from twin.analysis.metrics import METRICS
from twin.analysis.promises import PROMISES
from twin.errors import TwinError
from twin.recording import EVENT_KINDS, TABLES
from twin.scenario import POLICIES
from twin.units import nearest


@dataclass(frozen=True, slots=True)
class Explanation:
    """One entry.

    Args:
        kind: metric, column, event, policy, promise or error.
        name: as it is written in files and tables; a column is ``table.column``.
        unit: of the value; ``1`` for a ratio or a count, empty for no number.
        definition: what it is.
        source: where the definition comes from; empty for one that needs none.
    """

    kind: str
    name: str
    unit: str
    definition: str
    source: str

    @property
    def brief(self) -> str:
        """The first sentence of the definition."""
        return self.definition.partition(". ")[0].removesuffix(".")


def explain(topic: str) -> list[Explanation]:
    """Everything of that name, whatever its kind and case; a column also goes by its name without the table.

    Raises:
        TwinError: nothing has that name.
    """
    asked = topic.strip().casefold()
    found = [entry for entry in explanations() if asked in _names(entry)]
    if not found:
        known = [name for entry in explanations() for name in (entry.name, entry.name.rpartition(".")[2])]
        meant = nearest(topic.strip(), known)
        remedy = f"did you mean {meant}? " if meant else ""
        raise TwinError(
            f"{topic!r} is no metric, column, event, policy, promise or error; {remedy}`twin explain` lists all"
        )
    return found


def explanations() -> Iterator[Explanation]:
    """Every entry, kind by kind."""
    for metric in METRICS.values():
        yield Explanation("metric", metric.name, metric.unit, metric.definition, metric.source)
    for table, columns in TABLES.items():
        for column in columns:
            yield Explanation("column", f"{table}.{column.name}", column.unit, column.meaning, "")
    for name, event in EVENT_KINDS.items():
        yield Explanation("event", name, event.unit, event.meaning, "")
    for name, policy in POLICIES.items():
        yield Explanation("policy", name, "", policy.definition, policy.source)
    for name, promise in PROMISES.items():
        yield Explanation("promise", name, "", promise.claim, "the theory; run.json says whether it applies to a run")
    for name, error in vars(errors).items():
        if isclass(error) and issubclass(error, TwinError):
            yield Explanation("error", name, "", " ".join((getdoc(error) or "").replace("``", "").split()), "")


def _names(entry: Explanation) -> set[str]:
    name = entry.name.casefold()
    return {name, name.rpartition(".")[2]}
