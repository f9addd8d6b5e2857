"""Policy ``three_band``: the draw is read at regular ticks, and limits in watts per node are set or removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from twin.fleet import PowerProfile
from twin.laws.speed import dynamic_draw_w
from twin.sim.controllers.commands import CommandsInFlight
from twin.sim.timeline import SAMPLE, Alarm, Instant


class Bands(NamedTuple):
    """Shares of the cap: above ``high`` it is cut to ``target``, below ``low`` all limits go; the speed of a limit."""

    high: float
    target: float
    low: float
    floor: float


class LimitedJob(Protocol):
    """A job whose nodes can be limited."""

    @property
    def profile(self) -> PowerProfile:
        """Power of its nodes."""
        ...

    @property
    def speed(self) -> float | None:
        """Speed at which it computes [-]; None while it does not."""
        ...

    @property
    def node_w(self) -> float:
        """What a node of it draws while it computes [W]."""
        ...

    def limit(self, by: object, limit_w: float | None) -> bool:
        """Let it draw so much a node at most [W], None for no limit; whether it had a limit of this controller."""
        ...


class ThreeBand:
    """Cuts and releases. It commands no common speed, but limits job by job.

    Args:
        period_s, offset_s, settle_s: of the ticks, and from a tick to its effect [s].
        reading_w: draw and cap of the feeder, in watts of the jobs.
        jobs: those with nodes below the feeder, and how many nodes.
        changed: called when limits take effect.
        record: takes the kind of an incident and its value.
    """

    command = 1.0

    def __init__(
        self,
        instant: Instant,
        times_s: tuple[float, float, float],
        bands: Bands,
        reading_w: Callable[[], tuple[float, float]],
        changed: Callable[[], None],
        record: Callable[[str, float], None],
    ) -> None:
        self.jobs: list[tuple[LimitedJob, int]] = []
        self._timeline = timeline = instant.timeline
        self._period_s, self._offset_s, self._settle_s = times_s
        self._bands = bands
        self._reading_w = reading_w
        self._changed = changed
        self._record = record
        self._in_flight = CommandsInFlight(instant, self._obey)
        self._is_capped = False  # by the newest command, in flight or obeyed
        self._tick_number = 0
        Alarm(timeline, self._tick, SAMPLE).set(self._offset_s)

    def observe(self, now_s: float, target: float) -> bool:
        """What happens between ticks is not seen."""
        return False

    def has_more_to_say(self, target: float) -> bool:
        """Whether a command is still to come if nothing else changes."""
        draw_w, cap_w = self._reading_w()
        releases = self._is_capped and draw_w < self._bands.low * cap_w
        return bool(self._in_flight) or releases or bool(self._cuts(draw_w, cap_w))

    def _tick(self, ticks: Alarm) -> None:
        draw_w, cap_w = self._reading_w()
        due_s = self._timeline._now + self._settle_s
        if limits := self._cuts(draw_w, cap_w):
            self._is_capped = True
            self._in_flight.send(due_s, (limits, draw_w - self._bands.target * cap_w))
        elif self._is_capped and draw_w < self._bands.low * cap_w:
            self._is_capped = False
            self._in_flight.send(due_s, None)
        self._tick_number += 1
        ticks.set(self._offset_s + self._tick_number * self._period_s)

    def _cuts(self, draw_w: float, cap_w: float) -> list[tuple[LimitedJob, float]]:
        """New limits [W per node] of the jobs that compute; none below the high band, or with all at the floor."""
        if draw_w <= self._bands.high * cap_w:
            return []
        left_w = draw_w - self._bands.target * cap_w
        limits: list[tuple[LimitedJob, float]] = []
        for node_w, members in _buckets(self.jobs):
            if left_w <= 0.0:
                break
            cut_w, given_w = self._even_cut(node_w, members, left_w)
            limits += [(job, max(node_w - cut_w, self._floor_w(job.profile))) for job, _ in members]
            left_w -= given_w
        return [(job, limit_w) for job, limit_w in limits if limit_w < job.node_w]

    def _even_cut(
        self, node_w: float, members: Sequence[tuple[LimitedJob, int]], wanted_w: float
    ) -> tuple[float, float]:
        """Cut of each node of a bucket [W], the same for all but those that come to their floor; and what it gives."""
        nodes_by_room: dict[float, int] = {}
        for job, nodes in members:
            room_w = max(0.0, node_w - self._floor_w(job.profile))
            nodes_by_room[room_w] = nodes_by_room.get(room_w, 0) + nodes
        left, given_w = sum(nodes_by_room.values()), 0.0
        for room_w in sorted(nodes_by_room):
            if given_w + left * room_w >= wanted_w:
                return (wanted_w - given_w) / left, wanted_w
            given_w += nodes_by_room[room_w] * room_w
            left -= nodes_by_room[room_w]
        return max(nodes_by_room), given_w

    def _floor_w(self, profile: PowerProfile) -> float:
        return profile.idle_w + dynamic_draw_w(profile.compute_w - profile.idle_w, self._bands.floor, profile.exponent)

    def _obey(self, command: tuple[list[tuple[LimitedJob, float]], float] | None) -> None:
        if command is None:
            released = 0
            for job, _ in self.jobs:
                released += job.limit(self, None)
            self._record("limits_released", released)
        else:
            limits, cut_w = command
            for job, limit_w in limits:
                job.limit(self, limit_w)
            self._record("limits_cut", cut_w)
        self._changed()


def _buckets(jobs: Iterable[tuple[LimitedJob, int]]) -> list[tuple[float, list[tuple[LimitedJob, int]]]]:
    """The jobs that compute, by what a node of theirs draws [W], the highest first."""
    buckets: dict[float, list[tuple[LimitedJob, int]]] = {}
    for job, nodes in jobs:
        if job.speed is not None:
            buckets.setdefault(job.node_w, []).append((job, nodes))
    return sorted(buckets.items(), key=lambda bucket: -bucket[0])
