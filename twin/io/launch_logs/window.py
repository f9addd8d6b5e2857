"""``replay.window`` -> an interval on the clock of the log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from twin.errors import Fault, LaunchLogError

Edges = tuple[float | str, float | str]


def window_s(edges: Edges, first_submission_s: Callable[[], float], *, has_wall_times: bool) -> tuple[float, float]:
    """Start (inside) and end (outside) of the window on the clock of the log [s]: since 1970 if that has date-times.

    Args:
        edges: two times since the first submission [s], or two ISO dates; in order, as a scenario checks.
        first_submission_s: called only if the window needs it, as it costs a reading of the log.
    Raises:
        LaunchLogError: dates with a zone, or dates for a log that counts seconds.
    """
    start, end = edges
    if isinstance(start, str) or isinstance(end, str):
        if not has_wall_times:
            raise _error(edges, "holds dates, but the log counts seconds", "write times, as in [0 d, 30 d]")
        return _date_s(edges, str(start)), _date_s(edges, str(end))
    first_s = first_submission_s()
    return first_s + start, first_s + end


def _date_s(edges: Edges, date: str) -> float:
    parsed = datetime.fromisoformat(date)
    if parsed.tzinfo is not None:
        raise _error(edges, "has a time zone, but the times of the log have none", "write dates as in 2017-10-01")
    return parsed.replace(tzinfo=UTC).timestamp()


def _error(edges: Edges, rule: str, remedy: str) -> LaunchLogError:
    return LaunchLogError(Fault("replay.window", f"[{edges[0]}, {edges[1]}]", rule, remedy))
