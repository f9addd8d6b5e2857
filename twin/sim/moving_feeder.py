"""A feeder of a tree in which some speeds move between events: its draw moves too, and its energy is an integral."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf, ulp

from twin.laws.lag import Motion, lagged_power_integral_s
from twin.laws.speed import dynamic_draw_w
from twin.sim.feeder import Feeder
from twin.sim.timeline import Timeline

_SETTLED = 50.0  # time constants after which every speed is at its target in doubles
_LOOKS = 400  # at a draw whose parts move in opposite directions, in search of a crossing


class MovingFeeder(Feeder):
    """The same, with what it draws between settlings.

    Attributes:
        draw_before_w: draw just before the last settling [W].
        energy_j: energy drawn from t = 0 to the last settling [J].
    """

    timeline: Timeline
    children: tuple[MovingFeeder, ...]
    draw_before_w = 0.0
    energy_j = 0.0
    _own_j = 0.0  # of the jobs directly on it, up to ``_since_s``
    _since_s = 0.0
    _own_fixed_w = 0.0  # since then
    _own_dynamic: tuple[tuple[float, float, Motion], ...] = ()  # [W], exponent, and how the speed moves

    @property
    def reading_w(self) -> tuple[float, float]:
        """What a meter reads now, and the cap, both in watts of the jobs [W]."""
        return self.draw_at(self.timeline.now) / self._pue, self._cap_w / self._pue

    def advance(self, now_s: float) -> None:
        """Bring the energy up to ``now_s`` [s]; children have to come first."""
        if now_s > self._since_s:
            self.draw_before_w = self.draw_at(now_s)
            self._own_j = self._own_energy_at(now_s)
            self._since_s = now_s
            self.energy_j = self.energy_at(now_s)

    def is_settled_at(self, now_s: float) -> bool:
        """It was advanced to ``now_s`` [s]."""
        return self._since_s == now_s

    def draw(self) -> tuple[float, float]:
        """Demand and draw [W] from the instant of ``advance`` on."""
        answer = self.answer
        self._own_fixed_w = answer.fixed_w
        self._own_dynamic = tuple((watts, exponent, group.motion) for watts, exponent, group in answer.dynamic)
        demand_w = 0.0
        for child in self.children:
            demand_w += child.demand_w
        demand_w = self._pue * (demand_w + answer.demand_w + self._fixed_w)
        return demand_w, self.draw_at(self._since_s)

    def draw_at(self, now_s: float) -> float:
        """Draw at ``now_s`` [s], not before the last settling [W]."""
        return self._summed(lambda feeder, below_w: feeder._draw_over(below_w, now_s))

    def energy_at(self, now_s: float) -> float:
        """Energy from t = 0 to ``now_s`` [s], not before the last settling [J]."""
        return self._summed(lambda feeder, below_j: feeder._energy_over(below_j, now_s))

    def _summed(self, over: Callable[[MovingFeeder, float], float]) -> float:
        """What ``over`` makes of each feeder from here down and of the sum over its children, up to this one."""
        found: dict[MovingFeeder, float] = {}
        for feeder in self._from_below:
            below = 0.0
            for child in feeder.children:
                below += found[child]
            found[feeder] = over(feeder, below)
        return found[self]

    @cached_property
    def _from_below(self) -> tuple[MovingFeeder, ...]:
        """All feeders from here down, children before parents."""
        found, to_see = list[MovingFeeder](), [self]
        while to_see:
            found.append(feeder := to_see.pop())
            to_see += feeder.children
        return tuple(reversed(found))

    def _draw_over(self, below_w: float, now_s: float) -> float:
        drawn_w = 0.0
        for watts, exponent, motion in self._own_dynamic:
            drawn_w += dynamic_draw_w(watts, motion.at(now_s), exponent)
        return self._pue * (below_w + (self._own_fixed_w + drawn_w) + self._fixed_w)

    def _energy_over(self, below_j: float, now_s: float) -> float:
        return self._pue * (below_j + self._own_energy_at(now_s) + self._fixed_w * now_s)

    def crossing_s(self, now_s: float, level_w: float) -> float:
        """When the draw next passes ``level_w`` [s], if nothing but the speeds moves; inf if it does not."""
        taus_s = self._taus_s(now_s)
        if not taus_s:
            return inf

        def above_w(at_s: float) -> float:
            return self.draw_at(at_s) - level_w

        end_s = now_s + _SETTLED * max(taus_s)
        looks = 1 if len(set(taus_s)) == 1 and self._moves_one_way(now_s) else _LOOKS
        return _first_root(above_w, now_s, end_s, looks)

    def _own_energy_at(self, now_s: float) -> float:
        span_s = now_s - self._since_s
        energy_j = self._own_j + self._own_fixed_w * span_s
        for watts, exponent, motion in self._own_dynamic:
            speed = motion.at(self._since_s)
            if speed == motion.target:
                energy_j += dynamic_draw_w(watts, speed, exponent) * span_s
            else:
                energy_j += watts * lagged_power_integral_s(speed, motion.target, motion.tau_s, span_s, exponent)
        return energy_j

    def _motions(self) -> list[Motion]:
        return [motion for feeder in self._from_below for _, _, motion in feeder._own_dynamic]

    def _taus_s(self, now_s: float) -> list[float]:
        return [motion.tau_s for motion in self._motions() if motion.at(now_s) != motion.target]

    def _moves_one_way(self, now_s: float) -> bool:
        return (
            len({motion.target > motion.at(now_s) for motion in self._motions() if motion.at(now_s) != motion.target})
            == 1
        )


def _first_root(above: Callable[[float], float], start_s: float, end_s: float, looks: int) -> float:
    """The first change of sign after ``start_s`` [s], looked for at that many places; inf for none."""
    from scipy.optimize import brentq  # which only moving speeds need, and which takes long to load

    before_s, was_above = start_s, above(start_s) > 0.0
    for look in range(1, looks + 1):
        after_s = start_s + (end_s - start_s) * (look / looks) ** 2
        if (above(after_s) > 0.0) != was_above:
            root_s = float(brentq(above, before_s, after_s, xtol=1e-12, rtol=1e-15))
            return root_s if (above(root_s) > 0.0) != was_above else _next_after(above, root_s, after_s, was_above)
        before_s = after_s
    return inf


def _next_after(above: Callable[[float], float], root_s: float, end_s: float, was_above: bool) -> float:
    """The first instant found from a root on where the sign has changed [s]."""
    step_s = ulp(root_s)
    while (above(root_s) > 0.0) == was_above and root_s < end_s:
        root_s, step_s = root_s + step_s, 2.0 * step_s
    return root_s
