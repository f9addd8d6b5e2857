"""A virtual clock by itself: who leaves when and in which order, what a quit leaves, and what an early ring does."""

from __future__ import annotations

import random
from math import inf, nextafter

import pytest

from twin.sim.timeline import PHASE_END, Alarm, Instant, Timeline
from twin.sim.virtual_clock import User, VirtualClock


class Bench:
    """A clock on a timeline of its own, its rate set by hand.

    ``left`` says who left when, in order, and ``settled`` when the clock was settled.
    """

    def __init__(self, rate=1.0):
        self.rate = rate
        self.left = []
        self.settled = []
        self.timeline = Timeline()
        self.instant = Instant(self.timeline, self.settle, lambda: None)
        self.clock = VirtualClock(self.timeline, self.instant)

    def settle(self, now_s):
        self.settled.append(now_s)
        self.clock.settle(now_s, self.rate)

    def user(self, rank, then=lambda: None):
        def resume():
            self.left.append((self.timeline.now, rank))
            then()

        return User(rank, resume)

    def at(self, time_s, action):
        """Do something at a time, in the place of a phase end."""
        Alarm(self.timeline, lambda _: action(), PHASE_END).set(time_s)

    def join(self, time_s, work, rank):
        user = self.user(rank)
        self.enter(time_s, work, user)
        return user

    def enter(self, time_s, work, user):
        self.at(time_s, lambda: self.clock.join(work, user))

    def quit(self, time_s, user):
        self.at(time_s, lambda: self.clock.quit(user))

    def change(self, time_s, rate):
        def change():
            self.rate = rate
            self.instant.ask()

        self.at(time_s, change)

    def run(self, until_s=None):
        self.timeline.run(until_s)
        return self.left


# Leaving


def test_a_user_leaves_once_its_work_is_served():
    bench = Bench(rate=2.0)
    bench.join(1.0, 6.0, 0)

    assert bench.run() == [(4.0, 0)]


def test_no_work_is_served_in_the_same_instant():
    bench = Bench()
    bench.join(1.0, 0.0, 0)

    assert bench.run() == [(1.0, 0)]


def test_users_leave_in_the_order_of_their_marks_not_of_their_joining():
    bench = Bench()
    bench.join(0.0, 5.0, 0)
    bench.join(1.0, 2.0, 1)
    bench.join(2.0, 2.0, 2)

    assert bench.run() == [(3.0, 1), (4.0, 2), (5.0, 0)]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_equal_marks_leave_in_one_instant_by_rank_whoever_joined_first(order):
    bench = Bench()
    for rank in order:
        bench.join(1.0, 0.7, rank)

    assert bench.run() == [(1.7, 0), (1.7, 1), (1.7, 2), (1.7, 3)]


def test_equal_marks_of_users_that_joined_at_different_times_leave_together_by_rank():
    bench = Bench()
    bench.join(0.0, 4.0, 1)
    bench.join(1.0, 3.0, 0)

    assert bench.run() == [(4.0, 0), (4.0, 1)]


def test_marks_a_rounding_apart_are_two_instants():
    bench = Bench()
    bench.join(0.0, nextafter(1.0, 2.0), 0)
    bench.join(0.0, 1.0, 1)

    assert bench.run() == [(1.0, 1), (nextafter(1.0, 2.0), 0)]


def test_marks_too_near_for_the_time_to_tell_still_leave_in_their_order():
    bench = Bench()
    bench.join(1e9, nextafter(1.0, 2.0), 0)
    bench.join(1e9, 1.0, 1)

    assert bench.run() == [(1e9 + 1.0, 1), (1e9 + 1.0, 0)]


def test_a_user_that_leaves_may_join_again_and_again():
    bench = Bench()
    stays = []

    def once_more():
        stays.append(bench.timeline.now)
        if len(stays) < 4:
            bench.clock.join(0.5, user)

    user = bench.user(0, once_more)
    bench.enter(1.0, 0.5, user)
    bench.run()

    assert stays == [1.5, 2.0, 2.5, 3.0]


def test_a_user_at_its_end_does_not_keep_others_of_its_mark_from_leaving_before_the_settling():
    bench = Bench()

    def end():
        raise StopIteration

    user = bench.user(0, end)
    bench.enter(0.0, 1.0, user)
    bench.join(0.0, 1.0, 1)

    assert bench.run() == [(1.0, 0), (1.0, 1)]
    assert bench.settled == [0.0, 1.0]


# Rates


def test_a_change_of_the_rate_counts_from_its_instant_on():
    bench = Bench(rate=1.0)
    bench.join(0.0, 6.0, 0)
    bench.change(2.0, 4.0)

    assert bench.run() == [(3.0, 0)]  # 2 by 2 s, the other 4 in 1 s


def test_a_clock_that_stands_still_goes_on_where_it_stood():
    bench = Bench(rate=1.0)
    bench.join(0.0, 6.0, 0)
    bench.change(2.0, 0.0)
    bench.change(5.0, 2.0)

    assert bench.run() == [(7.0, 0)]  # 2 by 2 s, nothing for 3 s, the other 4 in 2 s


def test_nothing_is_due_on_a_clock_that_stands_still_or_is_empty():
    bench = Bench(rate=0.0)
    assert bench.clock.due_s == inf
    bench.join(0.0, 6.0, 0)

    assert bench.run() == []
    assert bench.clock.due_s == inf
    assert len(bench.clock.users()) == 1


def test_users_that_join_while_a_clock_stands_still_are_served_from_its_resumption_on():
    bench = Bench(rate=0.0)
    bench.join(0.0, 2.0, 0)
    bench.join(1.0, 1.0, 1)
    bench.change(5.0, 1.0)

    assert bench.run() == [(6.0, 1), (7.0, 0)]


def test_an_early_ring_changes_nothing_to_the_last_bit():
    bench = Bench(rate=0.7)
    bench.join(0.0, 3.3, 0)
    bench.change(0.9, 0.3)  # the ring for the old rate is still to come
    early_s = 3.3 / 0.7
    v = 0.9 * 0.7
    due_s = 0.9 + (3.3 - v) / 0.3
    touched_s = early_s + (3.3 - (v + (early_s - 0.9) * 0.3)) / 0.3

    assert touched_s != due_s  # so that a clock touched at the early ring would be told apart
    assert bench.run() == [(due_s, 0)]


def test_a_settling_without_news_changes_nothing_to_the_last_bit():
    bench = Bench(rate=0.3)
    bench.join(0.0, 3.3, 0)
    for tenth in range(1, 100):
        bench.change(tenth / 10.0, 0.3)

    assert bench.run() == [(3.3 / 0.3, 0)]


def test_a_rate_that_falls_and_rises_again_leaves_no_late_ring_behind():
    bench = Bench(rate=1.0)
    bench.join(0.0, 8.0, 0)
    for second in range(1, 7):
        bench.change(float(second), 0.5 if second % 2 else 1.0)

    assert bench.run() == [(9.5, 0)]  # 3 s at half the rate
    assert bench.timeline.peek() == inf


# V


def test_a_clock_starts_over_when_it_was_empty_so_that_long_growth_eats_no_digits():
    bench = Bench(rate=1.0)
    bench.join(0.0, 1e9, 0)
    bench.join(1e9 + 1.0, 0.1, 1)  # at a mark of 1e9 + 0.1 the rounding would be 1e-7

    bench.run(1e9 + 1.05)
    assert bench.clock.due_s == 1e9 + 1.0 + 0.1
    assert bench.clock.served_at(1e9 + 1.0, bench.clock.users()[0]) == 0.0
    (last,) = {user.joined for user in bench.clock.users()}
    assert last == 0.0


def test_a_clock_starts_over_for_a_lone_user_that_leaves_and_returns_in_one_instant():
    bench = Bench(rate=1.0)
    user = bench.user(0, lambda: bench.clock.join(0.1, user))
    bench.enter(0.0, 1e9, user)
    bench.run(1e9 + 0.05)

    assert bench.left == [(1e9, 0)]
    assert user.joined == 0.0
    assert bench.clock.due_s == 1e9 + 0.1


def test_a_clock_does_not_start_over_while_anybody_stays():
    bench = Bench()
    stays = bench.join(0.0, 10.0, 0)
    bench.join(0.0, 2.0, 1)
    later = bench.join(5.0, 1.0, 2)
    bench.run(5.5)

    assert stays.joined == 0.0
    assert later.joined == 5.0


def test_work_served_so_far_grows_at_the_rate_and_ends_at_the_mark():
    bench = Bench(rate=0.5)
    user = bench.join(2.0, 3.0, 0)
    bench.run(4.0)

    assert bench.clock.served_at(4.0, user) == 1.0
    assert bench.clock.served_at(100.0, user) == 3.0  # not past the mark of the head


# Quitting


def test_a_user_that_quits_is_not_resumed_and_has_the_work_served_until_then():
    bench = Bench(rate=0.5)
    first, second = bench.join(1.0, 10.0, 0), bench.join(3.0, 10.0, 1)
    bench.quit(4.0, second)
    bench.quit(4.5, first)

    assert bench.run() == []
    assert (first.served, second.served) == (1.75, 0.5)  # 3.5 s and 1 s at half the rate
    assert bench.clock.users() == []


@pytest.mark.parametrize("place", range(3))
def test_a_quit_changes_nothing_for_those_who_stay(place):
    bench = Bench()
    users = [bench.join(0.0, 3.0 + rank, rank) for rank in range(3)]
    bench.quit(1.0, users[place])

    assert bench.run() == [(3.0 + rank, rank) for rank in range(3) if rank != place]


def test_a_user_that_quits_in_the_instant_of_its_mark_has_all_its_work_and_is_not_resumed():
    bench = Bench()
    user = User(0, lambda: pytest.fail("it had quit"))
    bench.quit(4.0, user)  # queued before the ring of the clock
    bench.enter(1.0, 3.0, user)
    bench.join(1.0, 3.0, 1)

    assert bench.run() == [(4.0, 1)]
    assert user.served == 3.0


def test_a_user_that_quit_may_join_again_and_its_old_mark_counts_for_nothing():
    bench = Bench()
    bench.join(0.0, 20.0, 1)  # keeps the clock from starting over
    user = bench.join(0.0, 4.0, 0)
    bench.quit(1.0, user)
    bench.enter(2.0, 7.0, user)

    assert bench.run() == [(9.0, 0), (20.0, 1)]


def test_the_clock_of_a_user_that_quits_alone_starts_over():
    bench = Bench()
    bench.quit(3.0, bench.join(0.0, 10.0, 0))
    user = bench.join(5.0, 2.0, 1)

    assert bench.run() == [(7.0, 1)]
    assert user.joined == 0.0


def test_a_clock_knows_its_users_and_not_those_who_quit():
    bench = Bench()
    users = [bench.join(0.0, 10.0, rank) for rank in range(5)]
    bench.quit(1.0, users[1])
    bench.quit(1.0, users[3])
    bench.run(2.0)

    assert sorted(user.order for user in bench.clock.users()) == sorted(user.order for user in users[::2])


def churn(bench, turns):
    """Nine users that quit in turn and return, behind one with a nearer mark; what the heap looked like meanwhile."""
    users = [bench.user(rank) for rank in range(10)]
    looks = []

    def look():
        looks.append((len(bench.clock._users), len(bench.clock.users()), bench.clock._stale))

    bench.at(0.0, lambda: [bench.clock.join(1e6 if user is not users[0] else 1e5, user) for user in users])
    for turn in range(1, turns):
        user = users[1 + turn % 9]
        bench.at(turn + 0.25, lambda user=user: bench.clock.quit(user))
        bench.at(turn + 0.5, lambda user=user: bench.clock.join(1e6, user))
        bench.at(turn + 0.75, look)
    bench.run(turns + 1.0)
    return looks


def test_the_heap_stays_within_twice_the_users_however_often_they_quit():
    looks = churn(Bench(), 1000)

    assert {present for _, present, _ in looks} == {10}
    assert max(size for size, _, _ in looks) in range(12, 21)  # what left is kept for a while, up to as many as stay


def test_the_clock_counts_the_marks_of_those_who_quit_right():
    for size, present, stale in churn(Bench(), 1000):
        assert size == present + stale


def test_a_mark_of_one_who_quit_that_falls_with_the_mark_of_another_is_counted_out():
    bench = Bench()
    bench.join(0.0, 5.0, 0)
    bench.quit(1.0, bench.join(0.0, 5.0, 1))
    for rank in range(2, 6):
        bench.join(0.0, 10.0, rank)
    bench.run(2.0)
    assert bench.clock._stale == 1
    bench.run(6.0)

    assert bench.left == [(5.0, 0)]
    assert (len(bench.clock._users), bench.clock._stale) == (4, 0)


@pytest.mark.parametrize("seed", range(5))
def test_users_that_join_and_quit_at_random_leave_exactly_when_their_last_work_is_served(seed):
    rng = random.Random(seed)  # noqa: S311 - no secrets here
    bench = Bench()  # at rate 1 and in eighths of a second every sum is exact: who joins at t leaves at t + work
    expected = []
    for rank in range(40):
        user = bench.user(rank)
        time_s = rng.randrange(80) / 8.0
        for _ in range(rng.randrange(30)):
            bench.enter(time_s, rng.randrange(400, 4000) / 8.0, user)
            time_s += rng.randrange(1, 80) / 8.0
            bench.quit(time_s, user)
            time_s += rng.randrange(8) / 8.0 + 0.125
        work = rng.randrange(4000) / 8.0
        bench.enter(time_s, work, user)
        expected.append((time_s + work, rank))

    assert bench.run() == sorted(expected)
