"""Users that progress at one common rate: one heap of marks, one alarm, O(log n) per event."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf

from twin.laws.clock import advanced, due_s
from twin.sim.timeline import PHASE_END, Alarm, Instant, Timeline

_STAY_BITS = 40


class User:
    """One user of clocks: a process that waits for its work to be served.

    Args:
        rank: place among all users.
        resume: goes on with the process, and raises StopIteration at its end. It is called directly: a process of
            SimPy's own would add a tenth to the cost of a phase end.

    Attributes:
        order: place in which equal marks leave: rank, then number of its stay; an entry of another order is stale.
        joined: V when it joined [work].
        served: work it had when it quit before its mark [work].
    """

    __slots__ = ("joined", "order", "resume", "served")

    def __init__(self, rank: int, resume: Callable[[], None]) -> None:
        self.resume = resume
        self.order = rank << _STAY_BITS
        self.joined = 0.0
        self.served = 0.0


class VirtualClock:
    """V(t) = integral of the rate that all its users share; a user that needs w and joins at V0 leaves at V0 + w."""

    def __init__(self, timeline: Timeline, instant: Instant) -> None:
        self._timeline = timeline
        self._instant = instant
        self._alarm = Alarm(timeline, self._ring, PHASE_END)
        self._armed_s = inf  # the earliest ring still queued; rings that come early are ignored
        self._v = 0.0
        self._since_s = 0.0
        self._rate = 0.0
        self._rang = False
        self._users: list[tuple[float, int, User]] = []  # heap of (mark, order, user)
        self._joining: list[tuple[float, User]] = []
        self._quitting: list[User] = []
        self._stale = 0  # entries in the heap of users that quit
        self._leave = self._let_leave
        self.due_s = inf

    def join(self, work: float, user: User) -> None:
        """Ask to be served ``work``; the user's process, which yields now, is resumed when it is."""
        self._joining.append((work, user))
        if not self._instant.is_asked:
            self._instant.ask()

    def quit(self, user: User) -> None:
        """Ask to leave before the mark; ``user.served`` holds the work done once the instant is settled."""
        self._quitting.append(user)
        user.order += 1
        self._stale += 1
        self._instant.ask()

    def settle(self, now_s: float, rate: float) -> None:
        """Take in who asked to join or quit and the rate [work/s] from ``now_s`` on: the only place where V moves."""
        users, joining = self._users, self._joining
        if self._rang:
            self._rang = False
            v = self._v
        elif joining or self._quitting or rate != self._rate:
            v = advanced(self._v, self._since_s, self._rate, now_s, users[0][0]) if users else 0.0
        else:
            return
        if self._quitting:
            self._let_quit(v)
        if not users:
            v = 0.0
        self._v, self._since_s, self._rate = v, now_s, rate
        if joining:
            for work, user in joining:
                user.joined = v
                heappush(users, (v + work, user.order, user))
            joining.clear()
        self.due_s = due = due_s(now_s, v, rate, users[0][0]) if users else inf
        if due < self._armed_s:
            self._armed_s = due
            self._alarm.set(due)

    def served_at(self, now_s: float, user: User) -> float:
        """Work done by a present user up to ``now_s`` [work], not before the last settling."""
        return advanced(self._v, self._since_s, self._rate, now_s, self._users[0][0]) - user.joined

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
            user.served = v - user.joined
        self._quitting.clear()
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
