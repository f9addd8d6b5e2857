"""Time is absolute, an instant has an order, and it is closed once: what leans on SimPy's internals, by itself."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from twin.sim.timeline import PHASE_END, SETTLE, STOP, Alarm, Instant, Moment, Timeline


@pytest.fixture
def timeline():
    return Timeline()


def heard(timeline, log, word, priority=PHASE_END):
    """An alarm that writes down the time and its word, and may be queued several times at once."""

    def ring(alarm):
        alarm.callbacks = alarm.again
        log.append((timeline.now, word))

    return Alarm(timeline, ring, priority)


def hours(*, seed, count):
    """Pairs of times in order, of very different sizes."""
    rng = random.Random(seed)  # noqa: S311 - no secrets here
    return [sorted((10.0 ** rng.uniform(-6, 8), 10.0 ** rng.uniform(-6, 8))) for _ in range(count)]


# Absolute times


def test_some_times_are_missed_by_adding_the_time_that_is_left():
    assert any(now_s + (then_s - now_s) != then_s for now_s, then_s in hours(seed=1, count=200))


@pytest.mark.parametrize("form", ["event", "alarm"])
def test_whatever_the_time_now_an_event_happens_at_the_very_time_it_was_queued_for(form):
    for now_s, then_s in hours(seed=1, count=200):
        timeline = Timeline()
        last = Moment(timeline)
        if form == "event":
            timeline.at(Moment(timeline), now_s, PHASE_END)
            timeline.step()
            timeline.at(last, then_s, STOP)
        else:
            ring = Alarm(timeline, lambda _, to=timeline, end=last: to.at(end, to.now, STOP), PHASE_END)
            Alarm(timeline, lambda _, ring=ring, then_s=then_s: ring.set(then_s), PHASE_END).set(now_s)
        timeline.run(last)

        assert timeline.now == then_s


def test_of_two_times_a_rounding_apart_the_earlier_comes_first(timeline):
    log = []
    heard(timeline, log, "later").set(0.1 + 0.2)  # 0.30000000000000004
    heard(timeline, log, "earlier").set(0.3)
    timeline.run()

    assert log == [(0.3, "earlier"), (0.1 + 0.2, "later")]


# The order of an instant


KINDS = [("phase end", PHASE_END), ("settling", SETTLE), ("stop", STOP)]


@pytest.mark.parametrize("order", list(permutations(KINDS)))
def test_in_one_instant_phase_ends_come_before_the_settling_and_that_before_the_stop(timeline, order):
    log = []
    for word, priority in order:
        heard(timeline, log, word, priority).set(2.0)
    timeline.run()

    assert log == [(2.0, "phase end"), (2.0, "settling"), (2.0, "stop")]


def test_a_phase_end_queued_while_an_instant_is_settled_still_comes_before_its_stop(timeline):
    log = []
    late = heard(timeline, log, "phase end")
    heard(timeline, log, "stop", STOP).set(2.0)
    Alarm(timeline, lambda _: late.set(2.0), SETTLE).set(2.0)
    timeline.run()

    assert log == [(2.0, "phase end"), (2.0, "stop")]


def test_events_of_one_kind_in_one_instant_keep_the_order_in_which_they_were_queued(timeline):
    log = []
    for word in "bca":
        heard(timeline, log, word).set(2.0)
    timeline.run()

    assert [word for _, word in log] == ["b", "c", "a"]


def test_an_earlier_instant_comes_first_whatever_the_priorities(timeline):
    log = []
    heard(timeline, log, "phase end").set(2.0)
    heard(timeline, log, "stop", STOP).set(1.0)
    timeline.run()

    assert log == [(1.0, "stop"), (2.0, "phase end")]


# Alarms


def test_an_alarm_set_several_times_rings_as_often_in_the_order_of_the_times(timeline):
    log = []
    alarm = heard(timeline, log, "ring")
    for time_s in (3.0, 1.0, 2.0, 2.0):
        alarm.set(time_s)
    timeline.run()

    assert [time_s for time_s, _ in log] == [1.0, 2.0, 2.0, 3.0]


def test_an_alarm_that_has_rung_can_be_set_again(timeline):
    rings = []

    def ring(_):
        rings.append(timeline.now)
        if len(rings) < 5:
            alarm.set(timeline.now + 0.25)

    alarm = Alarm(timeline, ring, PHASE_END)
    alarm.set(1.0)
    timeline.run()

    assert rings == [1.0, 1.25, 1.5, 1.75, 2.0]


def test_an_alarm_and_plain_waiting_of_simpy_share_one_queue(timeline):
    log = []

    def wait():
        yield timeline.timeout(1.5)
        log.append((timeline.now, "waited"))

    timeline.process(wait())
    for time_s in (1.0, 2.0):
        heard(timeline, log, "ring").set(time_s)
    timeline.run()

    assert log == [(1.0, "ring"), (1.5, "waited"), (2.0, "ring")]


# A limited number of events


def test_advance_takes_at_most_so_many_events_and_says_whether_the_end_was_among_them(timeline):
    log = []
    end = Moment(timeline)
    for time_s in (1.0, 2.0, 3.0):
        heard(timeline, log, "ring").set(time_s)
    timeline.at(end, 4.0, STOP)

    assert not timeline.advance(end, 2)
    assert len(log) == 2
    assert timeline.advance(end, 2)  # the third ring, and the end as the last of the two
    assert timeline.now == 4.0


def test_advance_leaves_what_comes_after_the_end(timeline):
    log = []
    end = Moment(timeline)
    timeline.at(end, 1.0, STOP)
    heard(timeline, log, "after").set(2.0)

    assert timeline.advance(end, 100)
    assert log == []


# Closing an instant


class Stalled(Exception):
    pass


def stalled():
    raise Stalled


def test_an_instant_asked_for_by_many_phase_ends_is_settled_once_after_the_last_of_them(timeline):
    log = []
    instant = Instant(timeline, lambda now_s: log.append((now_s, "settled")), stalled)
    for word in ("first", "second", "third"):
        Alarm(timeline, lambda _, word=word: (log.append((timeline.now, word)), instant.ask()), PHASE_END).set(2.0)
    timeline.run()

    assert log == [(2.0, "first"), (2.0, "second"), (2.0, "third"), (2.0, "settled")]


def test_a_lone_phase_end_is_settled_at_once_and_no_event_is_spent_on_it(timeline):
    log = []
    instant = Instant(timeline, lambda now_s: log.append((now_s, "settled")), stalled)
    Alarm(timeline, lambda _: instant.after(lambda: log.append((timeline.now, "phase end"))), PHASE_END).set(2.0)
    heard(timeline, [], "later").set(3.0)
    timeline.step()

    assert log == [(2.0, "phase end"), (2.0, "settled")]
    assert timeline.peek() == 3.0


@pytest.mark.parametrize("own_place", [0, 1, 2])
def test_a_phase_end_among_others_of_its_instant_is_settled_after_all_of_them(timeline, own_place):
    log = []
    instant = Instant(timeline, lambda now_s: log.append("settled"), stalled)
    for place in range(3):
        if place == own_place:
            Alarm(timeline, lambda _: instant.after(lambda: log.append("phase end")), PHASE_END).set(2.0)
        else:
            Alarm(timeline, lambda _: (log.append("other"), instant.ask()), PHASE_END).set(2.0)
    timeline.run()

    assert log.count("settled") == 1
    assert log[-1] == "settled"
    assert log.index("phase end") == own_place


def rounds_at(timeline, count, times_s):
    """Settle each instant, and again until it was settled ``count`` times."""
    settled = []

    def settle(now_s):
        settled.append(now_s)
        if settled.count(now_s) < count:
            again.set(now_s)

    instant = Instant(timeline, settle, stalled)
    again = Alarm(timeline, lambda _: instant.ask(), PHASE_END)
    for time_s in times_s:
        Alarm(timeline, lambda _: instant.ask(), PHASE_END).set(time_s)
    timeline.run()
    return settled


def test_an_instant_may_be_settled_again_often_before_somebody_is_asked_whether_it_ends(timeline, monkeypatch):
    monkeypatch.setattr(Instant, "ROUNDS", 3)

    assert rounds_at(timeline, 1 + 2, [2.0]) == [2.0] * 3
    with pytest.raises(Stalled):
        rounds_at(Timeline(), 1 + 3, [2.0])


def test_rounds_of_other_instants_do_not_count(timeline, monkeypatch):
    monkeypatch.setattr(Instant, "ROUNDS", 3)

    assert len(rounds_at(timeline, 3, [0.0, 1.0, 2.0, 3.0])) == 12
