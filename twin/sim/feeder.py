"""A feeder: counts the nodes below it, and works out what they ask for and what they draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol

from twin.fleet import PowerProfile
from twin.laws.speed import dynamic_draw_w, mixed_target_speed, target_speed
from twin.sim.speed_group import SpeedGroup

REMEMBERED = 100_000  # answers kept, so that a long replay stays within bounded memory,
REMEMBERED_COUNTS = 1_000_000  # and whole numbers in all of them


class Controller(Protocol):
    """A control policy at one feeder.

    Attributes:
        command: the speed for all jobs that compute below the feeder, as far as it commands one [-].
    """

    command: float

    def observe(self, now_s: float, target: float) -> bool:
        """See the target that the settled loads and the cap ask for; whether that changes what is commanded now."""
        ...

    def has_more_to_say(self, target: float) -> bool:
        """Whether a command is still to come if nothing else changes."""
        ...


def most_remembered(key: tuple[int, ...]) -> int:
    """How many answers with keys like this one are kept."""
    return min(REMEMBERED, 1 + REMEMBERED_COUNTS // len(key))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the loads of a feeder ask for.

    Attributes:
        target: the speed that would meet the cap if the feeder alone limited all jobs below it [-].
        all_fixed_w: the fixed draw of all that is below it [W].
        demand_w, fixed_w: draw at full speed, and fixed draw, of the jobs directly on the feeder [W].
        dynamic: their dynamic draw at full speed [W], exponent and speed group, in the order of the profiles.
        nodes: nodes in use below it.
    """

    target: float
    all_fixed_w: float
    demand_w: float
    fixed_w: float
    dynamic: tuple[tuple[float, float, SpeedGroup], ...]
    nodes: int


class Feeder:
    """One feeder of the tree.

    Nodes are counted in one list of whole numbers, since a sum of watts over jobs would drift: nodes running directly
    on the feeder, by profile; if there are feeders below it, nodes computing and nodes running on those, by profile;
    then nodes computing directly on it by slot, which is a profile and a speed group.

    Args:
        children: the feeders below it, in the order of their names.
        profiles: the power profiles of the fleet in ascending order.
        cap_w: limit [W]; inf for none.
        fixed_w, pue: it draws ``pue`` times what is below it, on it, and a constant ``fixed_w`` [W].

    Attributes:
        place: its place among the feeders, children before parents.
        children, groups: below it, and those whose jobs it may slow down.
        counts: the nodes.
        answer: to the nodes counted, as last looked up.
        limit_w: what its draw is counted against [W]; the cap, unless it has a limit of its own.
        demand_w, draw_w, command: at full speed, drawn [W], and the speed commanded, since the last settling.
    """

    def __init__(
        self,
        name: str,
        place: int,
        children: Sequence[Feeder],
        profiles: Sequence[PowerProfile],
        cap_w: float,
        fixed_w: float,
        pue: float,
    ) -> None:
        self.name = name
        self.place = place
        self.controller: Controller
        self.groups: list[SpeedGroup] = []
        self.is_dirty = False
        self.children = tuple(children)
        self._profiles = profiles
        self.counts = [0] * (len(profiles) * (3 if children else 1))
        self._first_slot = len(self.counts)
        self._slots: list[tuple[int, SpeedGroup]] = []
        self._in_order: list[int] = []  # the slots by profile, and as the groups came
        self._cap_w = self.limit_w = cap_w
        self._fixed_w, self._pue = fixed_w, pue
        self._is_plain = not children and fixed_w == 0.0 and pue == 1.0
        self._answers: dict[tuple[int, ...], Answer] = {}
        self.answer = self.look()
        self.demand_w = self.draw_w = 0.0
        self.command = 1.0

    @property
    def cap_w(self) -> float:
        """Limit since the last change of the cap [W]; inf for none."""
        return self._cap_w

    @property
    def reading_w(self) -> tuple[float, float]:
        """What a meter reads now, and the cap, both in watts of the jobs [W]."""
        return self.draw_w / self._pue, self._cap_w / self._pue

    def set_cap(self, cap_w: float) -> None:
        """Change the cap; what it asks for has to be looked up anew."""
        self._cap_w = cap_w
        self._answers.clear()

    def running_place(self, profile: int, *, below: bool) -> int:
        """Where in ``counts`` the running nodes of a profile are counted."""
        return 2 * len(self._profiles) + profile if below else profile

    def computing_place(self, profile: int, group: SpeedGroup, *, below: bool) -> int:
        """Where in ``counts`` the computing nodes of a profile and a group are counted."""
        if below:
            return len(self._profiles) + profile
        if (profile, group) not in self._slots:
            self._slots.append((profile, group))
            self.counts.append(0)
            self._in_order = sorted(range(len(self._slots)), key=lambda slot: self._slots[slot][0])
            self._answers.clear()
        return self._first_slot + self._slots.index((profile, group))

    def look(self) -> Answer:
        """The answer to the nodes counted now."""
        key = tuple(self.counts)
        self.answer = answer = self._answers.get(key) or self._work_out(key)
        return answer

    def draw(self) -> tuple[float, float]:
        """Demand and draw [W] at the present speeds of the groups: the children's in the order of names, then its own.

        Where the speed commanded is no higher than the target, the draw is at most the cap by the law of the speed,
        and up to the last digit here.
        """
        answer = self.answer
        drawn_w = 0.0
        for dynamic_w, exponent, group in answer.dynamic:
            drawn_w += dynamic_draw_w(dynamic_w, group.speed, exponent)
        if self._is_plain:
            return answer.demand_w, self._held(answer.fixed_w + drawn_w)
        demand_w = draw_w = 0.0
        for child in self.children:
            demand_w += child.demand_w
            draw_w += child.draw_w
        demand_w = self._pue * (demand_w + answer.demand_w + self._fixed_w)
        return demand_w, self._held(self._pue * (draw_w + (answer.fixed_w + drawn_w) + self._fixed_w))

    def _held(self, draw_w: float) -> float:
        if draw_w > self._cap_w and self.command <= self.answer.target:
            return max(self.answer.all_fixed_w, self._cap_w)
        return draw_w

    def _work_out(self, key: tuple[int, ...]) -> Answer:
        """Work out and remember the answer to these node counts."""
        count = len(self._profiles)
        running: Sequence[int] = key[:count]
        computing = [0] * count  # directly on the feeder
        dynamic: list[tuple[float, float, SpeedGroup]] = []
        for slot in self._in_order:
            profile, group = self._slots[slot]
            if nodes := key[self._first_slot + slot]:
                power = self._profiles[profile]
                computing[profile] += nodes
                dynamic.append((nodes * (power.compute_w - power.idle_w), power.exponent, group))
        fixed_w, full_w, loads = self._sums(computing, running)
        all_fixed_w = fixed_w
        if self.children:
            computing = [own + below for own, below in zip(computing, key[count : 2 * count], strict=True)]
            running = [own + below for own, below in zip(running, key[2 * count : 3 * count], strict=True)]
            all_fixed_w, _, loads = self._sums(computing, running)
        all_fixed_w = self._pue * (all_fixed_w + self._fixed_w)
        if len(self._answers) >= most_remembered(key):
            self._answers.clear()
        answer = Answer(
            self._target(all_fixed_w, loads), all_fixed_w, fixed_w + full_w, fixed_w, tuple(dynamic), sum(running)
        )
        self._answers[key] = answer
        return answer

    def _sums(self, computing: Sequence[int], running: Sequence[int]) -> tuple[float, float, list[tuple[float, float]]]:
        """Fixed draw, dynamic draw at full speed [W], and the latter by profile with its exponent."""
        fixed_w = full_w = 0.0
        loads: list[tuple[float, float]] = []
        for power, active, present in zip(self._profiles, computing, running, strict=True):
            fixed_w += active * power.idle_w + (present - active) * power.write_w
            if active:
                dynamic_w = active * (power.compute_w - power.idle_w)
                loads.append((dynamic_w, power.exponent))
                full_w += dynamic_w
        return fixed_w, full_w, loads

    def _target(self, fixed_w: float, loads: list[tuple[float, float]]) -> float:
        if self._cap_w == inf:
            return 1.0
        exponents = tuple(exponent for _, exponent in loads)
        dynamic_w = tuple(self._pue * watts for watts, _ in loads)
        if len(set(exponents)) > 1:
            return mixed_target_speed(fixed_w, dynamic_w, self._cap_w, exponents)
        full_w = 0.0
        for watts in dynamic_w:
            full_w += watts
        return target_speed(fixed_w, full_w, self._cap_w, exponents[0] if exponents else 1.0)
