"""How the draw moves within a row of the power table, where lagged speeds move it.

With one lag and one power exponent P = F + D s^a, s on its way to its target: F and D follow from the draw at both ends
of the row, the energy of any part from the closed form of ``twin.laws.lag``. Where several lags or exponents move one
feeder, the row keeps its exact energy, and the way within it is a parabola between its ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from twin.analysis.blocks import Block, Floats
from twin.laws.lag import lagged_power_integral_s
from twin.recording import Recording

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)  # exact to the last digit within one time constant
_SAME = 1e-9  # of the energy of a row: the closed form is the law of it


@dataclass(frozen=True, slots=True)
class Way:
    """How the draw moves within a row.

    Args:
        span_s: length of the row.
        from_w, to_w: draw at its ends.
        bow_w: energy of the row / its length, less the mean of its ends.
        fixed_w, dynamic_w, lag: of the closed form: P = F + D s^a, and speed, target, time constant and exponent of s;
            None without one.
    """

    span_s: float
    from_w: float
    to_w: float
    bow_w: float
    fixed_w: float = 0.0
    dynamic_w: float = 0.0
    lag: tuple[float, float, float, float] | None = None

    @classmethod
    def of(cls, rows: Block, row: int, until_s: float, until_j: float, exponent: float | None) -> Way:
        """The way of a row."""
        values = {name: float(rows[name][row]) for name in rows}
        span_s, from_w, to_w = until_s - values["time_s"], values["draw_w"], values["draw_end_w"]
        row_j = until_j - values["energy_j"]
        speed, target, tau_s = values["speed"], values["target"], values["tau_s"]
        if exponent is not None and not np.isnan(tau_s) and speed != target:
            end_speed = target + (speed - target) * exp(-span_s / tau_s)
            rise = end_speed**exponent - speed**exponent
            if rise != 0.0:
                dynamic_w = (to_w - from_w) / rise
                fixed_w = from_w - dynamic_w * speed**exponent
                found = cls(span_s, from_w, to_w, 0.0, fixed_w, dynamic_w, (speed, target, tau_s, exponent))
                if np.isnan(row_j) or abs(found._until_j(span_s) - row_j) <= _SAME * max(
                    abs(row_j), values["energy_j"]
                ):
                    return found
        bow_w = 0.0 if np.isnan(row_j) else row_j / span_s - 0.5 * (from_w + to_w)
        return cls(span_s, from_w, to_w, bow_w)

    def draw_w(self, after_s: Floats) -> Floats:
        """Draw so long after the start of the row."""
        if self.lag is not None:
            speed, target, tau_s, exponent = self.lag
            speeds = target + (speed - target) * np.exp(-after_s / tau_s)
            drawn_w: Floats = self.fixed_w + self.dynamic_w * speeds**exponent
            return drawn_w
        share = after_s / self.span_s
        return self.from_w + share * (self.to_w - self.from_w) + 6.0 * self.bow_w * share * (1.0 - share)

    def energy_j(self, low_s: Floats, high_s: Floats) -> Floats:
        """Energy between two times after the start of the row, of each pair of them."""
        if self.lag is None:
            share, before = high_s / self.span_s, low_s / self.span_s
            return self.span_s * (self._bent(share) - self._bent(before))
        _, _, tau_s, _ = self.lag
        middle_s, half_s = 0.5 * (low_s + high_s), 0.5 * (high_s - low_s)
        parts_j: Floats = half_s * (self.draw_w(middle_s[:, np.newaxis] + half_s[:, np.newaxis] * _NODES) @ _WEIGHTS)
        for part in np.flatnonzero((high_s - low_s > tau_s) | (low_s == 0.0)).tolist():
            parts_j[part] = self._until_j(float(high_s[part])) - self._until_j(float(low_s[part]))
        return parts_j

    def _until_j(self, after_s: float) -> float:
        """Energy from the start of the row until then, by the law of the lag."""
        assert self.lag is not None
        integral_s = lagged_power_integral_s(*self.lag[:3], after_s, self.lag[3])
        return self.fixed_w * after_s + self.dynamic_w * integral_s

    def _bent(self, share: Floats) -> Floats:
        """Energy until a share of the row / its length."""
        straight = self.from_w * share + 0.5 * (self.to_w - self.from_w) * share**2
        bent: Floats = straight + self.bow_w * share**2 * (3.0 - 2.0 * share)
        return bent


def one_exponent(recording: Recording) -> float | None:
    """The power exponent of all jobs; None if they differ."""
    found = set(_exponents(recording.manifest["scenario"]))
    return found.pop() if len(found) == 1 else None


def _exponents(scenario: object) -> Iterator[float]:
    """Every power exponent in a scenario as resolved."""
    if isinstance(scenario, dict):
        for key, value in scenario.items():
            if key == "exponent" and isinstance(value, int | float):
                yield float(value)
            else:
                yield from _exponents(value)
    elif isinstance(scenario, Sequence) and not isinstance(scenario, str):
        for value in scenario:
            yield from _exponents(value)
