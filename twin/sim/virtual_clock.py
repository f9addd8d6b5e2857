"""Users that progress at one common rate: one heap of marks, one alarm, O(log n) per event."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any

from twin.laws.clock import advanced, due_s
from twin.laws.lag import Motion, lagged_due_s, lagged_work_s
from twin.sim.timeline import PHASE_END, Alarm, Instant, Timeline

_STAY_BITS = 40


class User:
    """One user of clocks: a process that waits for its work to be served, at the clock's rate or a factor of it.

    Args:
        rank: place among all users.
        resume: goes on with the process, and raises StopIteration at its end. It is called directly: a process of
            SimPy's own would add a tenth to the cost of a phase end.

    Attributes:
        order: place in which equal marks leave: rank, then number of its stay; an entry of another order is stale.
        joined: V when its present stretch at one factor began [work].
        mark: V at which it leaves [work].
        factor: share of the clock's rate that it gets; what it waits for is ``work / factor`` of V.
        next_factor: the factor from the next settling on.
        served: work it had at the end of its last stretch at one factor, or when it quit before its mark [work].
        passed: V that went by until then since it joined [work].
    """

    __slots__ = ("factor", "joined", "mark", "next_factor", "order", "passed", "resume", "served")

    def __init__(self, rank: int, resume: Callable[[], None]) -> None:
        self.resume = resume
        self.order = rank << _STAY_BITS
        self.joined = 0.0
        self.mark = 0.0
        self.factor = 1.0
        self.next_factor = 1.0
        self.served = 0.0
        self.passed = 0.0

    def credit(self, v: float) -> None:
        """Count what it was served since ``joined``, at its present factor, up to V = ``v``."""
        self.served += (v - self.joined) * self.factor
        self.passed += v - self.joined
        self.joined = v

    def forget(self) -> None:
        """Start to count its work anew."""
        self.served = self.passed = 0.0


class VirtualClock:
    """V(t) = integral of the rate that all its users share; a user that needs w and joins at V0 leaves at V0 + w.

    Args:
        touched: where the clock puts itself when somebody joined, left or changed since it was last settled; None for
            a clock that is settled in every instant.

    Attributes:
        due_s: instant at which the next user leaves [s]; inf for none.
    """

    group: Any = None  # whose clock it is

    def __init__(self, timeline: Timeline, instant: Instant, touched: list[VirtualClock] | None = None) -> None:
        self._advance, self._reach_s = self._laws()  # V between events, and when it reaches a mark
        self._timeline = timeline
        self._instant = instant
        self._touched = touched
        self._is_touched = False
        self._alarm = Alarm(timeline, self._ring, PHASE_END)
        self._armed_s = inf  # the earliest ring still queued; rings that come early are ignored
        self._v = 0.0
        self._since_s = 0.0
        self._rate: Any = 0.0
        self._rang = False
        self._users: list[tuple[float, int, User]] = []  # heap of (mark, order, user)
        self._joining: list[tuple[float, User]] = []
        self._quitting: list[User] = []
        self._converting: dict[User, None] = {}
        self._moving: list[tuple[User, VirtualClock]] = []
        self._has_requests = False  # other than to join
        self._stale = 0  # entries in the heap of users that quit
        self._leave = self._let_leave
        self.due_s = inf

    def join(self, work: float, user: User) -> None:
        """Ask to be served ``work``; the user's process, which yields now, is resumed when it is."""
        self._joining.append((work, user))
        if self._touched is None:
            if not self._instant.is_asked:
                self._instant.ask()
        elif not self._is_touched:
            self.touch()

    def quit(self, user: User) -> None:
        """Ask to leave before the mark; ``user.served`` holds the work done once the instant is settled."""
        self._quitting.append(user)
        self._has_requests = True
        self._converting.pop(user, None)
        user.order += 1
        self._stale += 1
        self.touch()

    def convert(self, user: User) -> None:
        """Ask that a user, present or about to join, be served at its ``next_factor`` of the rate."""
        self._converting[user] = None
        self._has_requests = True
        self.touch()

    def cancel_conversion(self, user: User) -> None:
        """Forget that a user, who leaves in this instant, was to be converted."""
        self._converting.pop(user, None)

    def move(self, user: User, to: VirtualClock) -> None:
        """Ask that a user goes on with what it waits for on another clock."""
        self._moving.append((user, to))
        self._converting.pop(user, None)
        self.touch()
        to.touch()

    def let_move(self, now_s: float) -> None:
        """Send away who asked to move; to be called before any clock is settled."""
        if not self._moving:
            return
        users = self._users
        if users and not self._rang:
            self._v = self._advance(self._v, self._since_s, self._rate, now_s, users[0][0])
            self._since_s = now_s
        for user, to in self._moving:
            waiting = [entry for entry in self._joining if entry[1] is user]
            if waiting:
                self._joining.remove(waiting[0])
                to.join(waiting[0][0], user)
                continue
            left = (user.mark - self._v) * user.factor
            user.credit(self._v)
            user.order += 1
            self._stale += 1
            to.join(left, user)
        self._moving.clear()
        self._has_requests = True
        self._drop_stale()

    def touch(self) -> None:
        """Have the clock settled at the close of this instant."""
        if self._touched is not None and not self._is_touched:
            self._is_touched = True
            self._touched.append(self)
        if not self._instant.is_asked:
            self._instant.ask()

    def settle_always(self) -> None:
        """From now on the clock is settled in every instant, touched or not."""
        self._touched = None

    def settle(self, now_s: float, rate: Any) -> None:
        """Take in who asked to join or quit and the rate [work/s] from ``now_s`` on: the only place where V moves."""
        users, joining = self._users, self._joining
        self._is_touched = False
        if self._rang:
            self._rang = False
            v = self._v
        elif joining or rate != self._rate or self._has_requests:
            v = self._advance(self._v, self._since_s, self._rate, now_s, users[0][0]) if users else 0.0
        else:
            return
        if self._has_requests:
            self._has_requests = False
            self._let_quit(v)
            self._convert(v)
        if not users:
            v = 0.0
        self._v, self._since_s, self._rate = v, now_s, rate
        if joining:
            for work, user in joining:
                user.joined = v
                user.mark = mark = v + work / user.factor
                heappush(users, (mark, user.order, user))
            joining.clear()
        self.due_s = due = self._reach_s(now_s, v, rate, users[0][0]) if users else inf
        if due < self._armed_s:
            self._armed_s = due
            self._alarm.set(due)

    def served_at(self, now_s: float, user: User) -> float:
        """Work done by a present user up to ``now_s`` [work], not before the last settling."""
        return user.served + (self.passed_at(now_s, user) - user.passed) * user.factor

    def passed_at(self, now_s: float, user: User) -> float:
        """V that went by since a present user joined, up to ``now_s`` [work], not before the last settling."""
        return user.passed + (self._advanced(now_s) - user.joined)

    def _laws(self) -> tuple[Callable[..., float], Callable[..., float]]:
        return advanced, due_s

    def _advanced(self, now_s: float) -> float:
        return self._advance(self._v, self._since_s, self._rate, now_s, self._users[0][0])

    def users(self) -> list[User]:
        """Who is on the clock, in no order."""
        return [user for _, order, user in self._users if user.order == order]

    def _ring(self, alarm: Alarm) -> None:
        now_s = self._timeline._now
        alarm.callbacks = alarm.again
        if now_s == self.due_s:
            self._instant.after(self._leave)
        elif now_s >= self._armed_s:
            self._armed_s = self.due_s
            if self.due_s < inf:
                self._alarm.set(self.due_s)

    def _let_leave(self) -> None:
        users = self._users
        self._v = mark = users[0][0]
        self._rang = True
        if self._touched is not None and not self._is_touched:
            self._is_touched = True
            self._touched.append(self)
        self.due_s = self._armed_s = inf
        while users and users[0][0] == mark:
            _, order, user = heappop(users)
            if user.order == order:
                try:  # noqa: SIM105 - contextlib.suppress is slow, and this is the hottest line of a run
                    user.resume()
                except StopIteration:
                    pass
            else:
                self._stale -= 1
        if self._stale:
            self._drop_stale()

    def _let_quit(self, v: float) -> None:
        for user in self._quitting:
            user.credit(v)
        self._quitting.clear()
        self._drop_stale()

    def _convert(self, v: float) -> None:
        """Change the factor of users: who has just asked to join has no mark yet, the others get a new one."""
        if not self._converting:
            return
        joining = {user for _, user in self._joining}
        for user in self._converting:
            left = user.mark - v
            if user not in joining and user.next_factor != user.factor:
                user.credit(v)
                user.mark = mark = v + left * user.factor / user.next_factor
                user.order += 1
                self._stale += 1
                heappush(self._users, (mark, user.order, user))
            user.factor = user.next_factor
        self._converting.clear()
        self._drop_stale()

    def _drop_stale(self) -> None:
        """Leave a live user at the head, or nobody; and not more than half of the heap to who has left."""
        users = self._users
        while users and users[0][2].order != users[0][1]:
            heappop(users)
            self._stale -= 1
        if self._stale > len(users) // 2:
            users[:] = [entry for entry in users if entry[2].order == entry[1]]
            heapify(users)
            self._stale = 0


def _lagged_advanced(v: float, since_s: float, motion: Motion, now_s: float, head: float) -> float:
    speed = motion.at(since_s)
    if speed == motion.target:
        return advanced(v, since_s, speed, now_s, head)
    moved = v + lagged_work_s(speed, motion.target, motion.tau_s, now_s - since_s)
    return moved if moved < head else head


def _lagged_reach_s(now_s: float, v: float, motion: Motion, head: float) -> float:
    speed = motion.at(now_s)
    if speed == motion.target:
        return due_s(now_s, v, speed, head)
    return now_s + lagged_due_s(speed, motion.target, motion.tau_s, head - v)


class LaggedClock(VirtualClock):
    """A clock whose rate is a ``Motion``."""

    def _laws(self) -> tuple[Callable[..., float], Callable[..., float]]:
        return _lagged_advanced, _lagged_reach_s
