"""How often one job should checkpoint, and what failures leave of its time: closed forms to first order and beyond.

Failures come at a constant rate, at any instant alike; an interval is the computing between two checkpoints.
"""

from math import sqrt


def young_interval_s(write_s: float, between_failures_s: float) -> float:
    """Computing between checkpoints that loses least to writes and failures, to first order [s]: sqrt(2 C M).

    Args:
        write_s: C, time that a checkpoint stops the job [s].
        between_failures_s: M, mean time between failures of the job [s].
    Source: J. W. Young, Communications of the ACM 17 (1974) 530.
    """
    return sqrt(2.0 * write_s * between_failures_s)


def daly_interval_s(write_s: float, between_failures_s: float) -> float:
    """The same to higher order [s]: for C < 2 M, sqrt(2 C M) (1 + sqrt(x) / 3 + x / 9) - C with x = C / 2 M; else M.

    Args:
        write_s, between_failures_s: C and M, as in ``young_interval_s``.
    Source: J. T. Daly, Future Generation Computer Systems 22 (2006) 303.
    """
    if write_s >= 2.0 * between_failures_s:
        return between_failures_s
    x = write_s / (2.0 * between_failures_s)
    return young_interval_s(write_s, between_failures_s) * (1.0 + sqrt(x) / 3.0 + x / 9.0) - write_s


def expected_ettr(compute_s: float, write_s: float, failures_per_s: float, downtime_s: float) -> float:
    """Expected share of a job's time that is productive [-]: (1 - R (u + T / 2)) / (1 + w / T), never below 0.

    Args:
        compute_s: T, time computing between checkpoints [s], above 0.
        write_s: w, time that a checkpoint stops the job [s].
        failures_per_s: R, failures of the job [1/s]; the form is of first order in R (u + T).
        downtime_s: u, from a failure until the job computes again [s].
    Source: effective training time ratio, after A. Kokolis et al., Revisiting Reliability in Large-Scale Machine
    Learning Research Clusters, 2024.
    """
    surviving = 1.0 - failures_per_s * (downtime_s + 0.5 * compute_s)
    return max(0.0, surviving / (1.0 + write_s / compute_s))
