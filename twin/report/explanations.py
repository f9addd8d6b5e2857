"""What every name means that a user meets, collected from where each is defined; and the search for one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import getdoc, isclass, signature
from typing import Any, cast

from pydantic import BaseModel

from twin import errors
from twin.analysis.metrics import METRICS
from twin.analysis.promises import PROMISES
from twin.errors import TwinError
from twin.recording import EVENT_KINDS, TABLES
from twin.report.concepts import CONCEPTS, EXIT_CODES
from twin.scenario import POLICIES, ByPolicy
from twin.scenario.keys import Key, keys, keys_of
from twin.units import nearest, scaled

GROUPS = {
    "scenario key": "Scenario keys",
    "metric": "Metrics",
    "column": "Columns",
    "event": "Events",
    "policy": "Policies",
    "concept": "Concepts",
    "promise": "Promises",
    "error": "Errors",
    "exit code": "Exit codes",
}
_SHOWN_AS = {  # where the summary or the page says it in other words
    "writers_share_at_least": ("time with at least k writing",),
    "peak_writers": ("most writers at once",),
    "store_utilisation": ("utilisation",),
    "checkpoint_duration_max_s": ("longest", "longest checkpoint"),
    "mean_power_w": ("mean draw",),
    "peak_power_w": ("peak draw",),
    "compute_share": ("computing, as full-speed work",),
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One entry.

    Args:
        kind: a key of ``GROUPS``.
        name: as it is written in files and tables; a column is ``table.column``, a key ``jobs[].checkpoint.size``.
        unit: of the value; ``1`` for a ratio or a count, empty for no number.
        definition: what it is.
        source: where the definition comes from; empty for one that needs none.
        default: of a scenario key, with its mark and source; empty for one that has none.
        example: how to write the value of a scenario key.
        also: other names it goes by, such as its label in the summary.
    """

    kind: str
    name: str
    unit: str
    definition: str
    source: str
    default: str = ""
    example: str = ""
    also: tuple[str, ...] = ()

    @property
    def brief(self) -> str:
        """The first sentence of the definition."""
        return self.definition.partition(". ")[0].removesuffix(".")


def explain(topic: str) -> list[Explanation]:
    """Everything that goes by that name; else all that begins with it; else all that holds the word.

    Case, spaces, hyphens and underscores do not matter. A column or a scenario key also goes by the end of its name,
    as in ``checkpoint.size``, and a scenario key by the form that ``--set`` takes. The title of a group gives
    all of it.

    Raises:
        TwinError: nothing has that name.
    """
    everything = list(explanations())
    asked = [_folded(form) for form in _forms_of(topic)]
    of_group = [entry for entry in everything if _folded(GROUPS[entry.kind]) == asked[0]]
    if of_group:
        return of_group
    for fits in (_is, _begins, _holds):
        for form in asked:
            found = [entry for entry in everything if any(fits(form, name) for name in _names(entry))]
            if found:
                return found
    known = [name for entry in everything for name in (entry.name, entry.name.rpartition(".")[2], *entry.also)]
    meant = nearest(topic.strip(), known)
    remedy = f"did you mean {meant}? " if meant else ""
    raise TwinError(
        f"{topic.strip()!r} is no scenario key, metric, column, policy, error or word of the summary; {remedy}"
        "`twin explain` lists all"
    )


@cache
def explanations() -> tuple[Explanation, ...]:
    """Every entry, kind by kind in the order of ``GROUPS``."""
    return tuple(_all())


def _all() -> Iterator[Explanation]:
    for key in keys():
        yield _of_key(key)
    for metric in METRICS.values():
        labels = dict.fromkeys((metric.label, metric.label.replace(" by group", ""), *_SHOWN_AS.get(metric.name, ())))
        yield Explanation("metric", metric.name, metric.unit, metric.definition, metric.source, also=tuple(labels))
    for table, columns in TABLES.items():
        for column in columns:
            yield Explanation("column", f"{table}.{column.name}", column.unit, column.meaning, "")
    for name, event in EVENT_KINDS.items():
        yield Explanation("event", name, event.unit, event.meaning, "")
    for name, policy in POLICIES.items():
        yield Explanation("policy", name, "", policy.definition, policy.source)
    for concept in CONCEPTS:
        yield Explanation("concept", concept.name, concept.unit, concept.definition, concept.source, also=concept.also)
    for name, promise in PROMISES.items():
        yield Explanation("promise", name, "", promise.claim, "the theory; run.json says whether it applies to a run")
    for name, error in vars(errors).items():
        if isclass(error) and issubclass(error, TwinError):
            yield Explanation("error", name, "", _docstring(error), "")
    for code, meaning in EXIT_CODES.items():
        yield Explanation("exit code", f"exit code {code}", "", meaning, "", also=(f"exit {code}", str(code)))


def _of_key(key: Key) -> Explanation:
    choices = f" One of {', '.join(key.choices)}." if len(key.choices) > 1 else ""
    below = f" Keys: {', '.join(keys_of(key.section))}." if key.section else ""
    default = _default(key)
    shows_form = default and not default.startswith("none")  # as an example would
    return Explanation(
        *("scenario key", key.path, key.unit, f"{key.meaning}{choices}{below}", ""),
        default=default,
        example="" if shows_form else key.example,
    )


def _default(key: Key) -> str:
    """The default of a key, its mark and its source; empty for a key that may be left out and then says nothing."""
    field = key.field
    if field.is_required():
        return "none, it must be given"
    origin = field.json_schema_extra
    if not isinstance(origin, dict):
        return ""
    factory = field.default_factory
    if factory is None:
        value = _shown(key, field.default)
    elif isinstance(factory, ByPolicy):
        value = ", ".join(f"{_shown(key, given)} ({policy})" for policy, given in factory.values.items())
    elif not isclass(factory) and signature(factory).parameters:
        value = "from other keys"
    else:
        value = _shown(key, cast("Callable[[], Any]", factory)())
    return f"{value} ({origin['mark']}: {origin['source']})"


def _shown(key: Key, value: Any) -> str:
    if value is None or value == {}:
        return "none"
    if isinstance(value, BaseModel):
        given = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        return f"{{{', '.join(f'{name}: {inner}' for name, inner in given.items())}}}"
    return scaled(value, key.unit or "1") if isinstance(value, float) else str(value)


def _docstring(error: type) -> str:
    """The docstring without its list of arguments, which are for those who catch the error."""
    text = (getdoc(error) or "").partition("\n\nArgs:")[0]
    return " ".join(text.replace("``", "").split())


def _forms_of(topic: str) -> Iterator[str]:
    """The topic; without the group, if it is a key as ``--set`` has it; without what the summary adds to a label."""
    yield topic
    jobs, _, rest = topic.partition(".")
    if jobs == "jobs" and "." in rest:
        yield f"{jobs}.{rest.partition('.')[2]}"
    if "," in topic:
        yield topic.partition(",")[0]


def _names(entry: Explanation) -> Iterator[str]:
    """All that an entry goes by, folded: its name, the ends of it, and its other names."""
    name = _folded(entry.name)
    yield name
    while "." in name:
        name = name.partition(".")[2]
        yield name
    yield from map(_folded, entry.also)


def _folded(name: str) -> str:
    plain = re.sub(r"\[\w*\]", "", name.strip().casefold())
    return re.sub(r"\bat least [0-9]+", "at least k", re.sub(r"[\s_/-]+", " ", plain))


_Fit = Callable[[str, str], bool]


def _is(form: str, name: str) -> bool:
    return form == name


def _begins(form: str, name: str) -> bool:
    return bool(form) and name.startswith(form)


def _holds(form: str, name: str) -> bool:
    return bool(form) and f" {form} " in f" {name.replace('.', ' ')} "
