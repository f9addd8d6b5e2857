"""``--grid`` and ``--sample`` texts -> axes and points: ``power.cap=10MW..16MW:7``, ``jobs.llm.nodes=32,64``.

Source of the samples: I. M. Sobol, USSR Comput. Math. Math. Phys. 7 (1967) 86, scrambled after A. B. Owen, J. Complex.
14 (1998) 466; latin: M. D. McKay et al., Technometrics 21 (1979) 239; both by ``scipy.stats.qmc``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import exp, log
from typing import Any

from twin.errors import TwinError
from twin.io import strict_yaml
from twin.io.strict_yaml import shown
from twin.units import DIMENSIONS, NUMBER

MOST_POINTS = 100_000
_QUANTITY = rf"({NUMBER})\s*((?:%|[A-Za-z][A-Za-z/]*)?)"
_RANGE = re.compile(rf"\s*{_QUANTITY}\s*\.\.\s*{_QUANTITY}\s*(?::\s*([0-9]{{1,9}})\s*(?::\s*(log))?\s*)?")
_SAMPLE = re.compile(r"(sobol|latin):([0-9]{1,9})")
_MOST_DIGITS = 280  # before or behind the point, with room for any unit
_EXAMPLE = "write it as in power.cap=10MW..16MW:7 or jobs.llm.checkpoint.mode=blocking,async"


@dataclass(frozen=True, slots=True)
class Range:
    """All values between two ends, both included.

    Args:
        low, high: in SI.
        unit: of both, in SI; empty for plain numbers.
    """

    low: Fraction
    high: Fraction
    unit: str

    @property
    def may_be_whole(self) -> bool:
        """Whether its ends are whole numbers, so that it could be one of whole numbers only, as of nodes."""
        return not self.unit and self.low.denominator == self.high.denominator == 1

    def at(self, share: Fraction, *, in_logs: bool = False) -> Any:
        """The value at a share of the way, as a scenario would hold it; rounded once."""
        value = self.low + share * (self.high - self.low)
        if in_logs and share not in (0, 1):
            low, high = log(self.low), log(self.high)
            value = Fraction(exp(low + float(share) * (high - low)))
        if self.unit:
            return f"{float(value)!r} {self.unit}"
        return int(value) if value.denominator == 1 else float(value)

    def drawn(self, chance: float, *, is_whole: bool) -> Any:
        """The value for a number drawn evenly from [0, 1); every whole number is as likely as any other."""
        if is_whole:
            low, high = sorted((int(self.low), int(self.high)))
            return low + int(Fraction(chance) * (high - low + 1))
        value = self.at(Fraction(chance))
        return float(value) if isinstance(value, int) else value


@dataclass(frozen=True, slots=True)
class Axis:
    """One key of a sweep, and what it is set to.

    Args:
        text: as it was asked for.
        values: in order; empty for a range that is to be sampled.
        span: of a range.
        is_whole: a sample takes whole numbers of the range only.
    """

    key: str
    text: str
    values: tuple[Any, ...]
    span: Range | None = None
    is_whole: bool = False

    def drawn(self, chance: float) -> Any:
        """A value for a number drawn evenly from [0, 1)."""
        if self.span is not None:
            return self.span.drawn(chance, is_whole=self.is_whole)
        return self.values[int(chance * len(self.values))]


def axes(texts: Sequence[str]) -> list[Axis]:
    """The axes of a sweep.

    Raises:
        TwinError: a text that is none, or a key given twice.
    """
    found = [_axis(text) for text in texts]
    keys = [axis.key for axis in found]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise TwinError(f"--grid {shown(twice)}: is given twice; write all its values in one --grid")
    return found


def grid(found: Sequence[Axis]) -> list[tuple[Any, ...]]:
    """Every combination of the values, the last axis first to change.

    Raises:
        TwinError: a range without a number of values, or more than ``MOST_POINTS`` combinations.
    """
    if endless := next((axis for axis in found if not axis.values), None):
        raise TwinError(
            f"--grid {shown(endless.text)}: a range needs a number of values, as in {shown(endless.text)}:5; or sample "
            "it, as in --sample sobol:64"
        )
    points = 1
    for axis in found:
        points *= len(axis.values)
    _check_number(points)
    return list(product(*(axis.values for axis in found)))


def sample(text: str, found: Sequence[Axis], seed: int) -> list[tuple[Any, ...]]:
    """Points that fill the ranges evenly; the same for the same seed.

    Args:
        text: ``sobol:N`` or ``latin:N``.
    Raises:
        TwinError: no such text, or more than ``MOST_POINTS``.
    """
    match = _SAMPLE.fullmatch(text.strip())
    if match is None or int(match[2]) == 0:
        raise TwinError(f"--sample {shown(text)}: must be sobol:N or latin:N, N the points; write it as in sobol:256")
    count = int(match[2])
    _check_number(count)
    return [
        tuple(axis.drawn(chance) for axis, chance in zip(found, row, strict=True))
        for row in _evenly(match[1], count, len(found), seed)
    ]


def sample_warning(text: str) -> str | None:
    """What there is to say of a sample that is less even than it could be; None for one that is not."""
    match = _SAMPLE.fullmatch(text.strip())
    if match is None or match[1] != "sobol" or (count := int(match[2])) & (count - 1) == 0:
        return None
    below = 1 << (count.bit_length() - 1)
    even = f"sobol:{below} or sobol:{2 * below}"
    return f"--sample {shown(text)}: fills the ranges less evenly than a power of two would, as {even}"


def _evenly(design: str, count: int, dimensions: int, seed: int) -> Iterator[Sequence[float]]:
    import numpy as np
    from scipy.stats import qmc

    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x53574545,)))  # of sweeps alone
    sampler = qmc.Sobol if design == "sobol" else qmc.LatinHypercube
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a number that is no power of two is balanced less well, and is what was asked
        made = sampler(dimensions, rng=rng) if "rng" in _arguments(sampler) else sampler(dimensions, seed=rng)
        yield from made.random(count).tolist()


def _arguments(function: Any) -> Sequence[str]:
    from inspect import signature

    return list(signature(function).parameters)


def _axis(text: str) -> Axis:
    key, equals, values_text = text.partition("=")
    key = key.strip()
    if not equals or not key or not values_text.strip():
        raise TwinError(f"--grid {shown(text)}: must be KEY=VALUES; {_EXAMPLE}")
    if match := _RANGE.fullmatch(values_text):
        span = _span(text, match)
        if match[5] is None:
            return Axis(key, text, (), span)
        return Axis(key, text, tuple(_spaced(text, span, int(match[5]), in_logs=match[6] is not None)), span)
    if ".." in values_text:
        raise TwinError(f"--grid {shown(text)}: is no range of numbers FROM..TO:N; {_EXAMPLE}")
    return Axis(key, text, tuple(_listed(text, values_text)))


def _span(text: str, match: re.Match[str]) -> Range:
    units = [match[2] or match[4], match[4] or match[2]]
    homes = [next((kind for kind in DIMENSIONS.values() if unit in kind.units), None) for unit in units]
    for unit, home in zip(units, homes, strict=True):
        if unit and home is None:
            raise TwinError(f"--grid {shown(text)}: has the unknown unit {unit!r}; {_EXAMPLE}")
    if homes[0] is not homes[1]:
        raise TwinError(f"--grid {shown(text)}: its ends have units of different kinds; give both the same unit")
    written = [Decimal(match[place]) for place in (1, 3)]
    if any(end and abs(end.adjusted()) > _MOST_DIGITS for end in written):  # a fraction of it would fill the memory
        raise TwinError(f"--grid {shown(text)}: has an end that no number can be; {_EXAMPLE}")
    ends = [Fraction(end) for end in written]
    if homes[0] is not None:
        ends = [end * Fraction(Decimal(homes[0].units[unit])) for end, unit in zip(ends, units, strict=True)]
    return Range(ends[0], ends[1], homes[0].si if homes[0] is not None else "")


def _spaced(text: str, span: Range, count: int, *, in_logs: bool) -> Iterator[Any]:
    if count == 0:
        raise TwinError(f"--grid {shown(text)}: must have at least one value; {_EXAMPLE}")
    _check_number(count)
    if in_logs and (span.low <= 0 or span.high <= 0):
        raise TwinError(f"--grid {shown(text)}: logarithmic steps need ends above 0; raise them, or leave :log out")
    found = [span.at(Fraction(place, max(1, count - 1)), in_logs=in_logs) for place in range(count)]
    yield from dict.fromkeys(found)


def _listed(text: str, values_text: str) -> Iterator[Any]:
    """The values between commas, each read like one of --set."""
    document = strict_yaml.read_text(f"[{values_text}]")
    if document.faults or not isinstance(document.value, list):
        why = document.faults[0].rule if document.faults else "is no list"
        raise TwinError(f"--grid {shown(text)}: {why}; {_EXAMPLE}")
    if not document.value:
        raise TwinError(f"--grid {shown(text)}: must have at least one value; {_EXAMPLE}")
    for place, value in enumerate(document.value):
        if value in document.value[:place]:
            raise TwinError(f"--grid {shown(text)}: has a value twice; give each once")
        yield value


def _check_number(points: int) -> None:
    if points > MOST_POINTS:
        raise TwinError(f"--grid, --sample: {points:,} points are more than {MOST_POINTS:,}; ask for fewer values")
