"""How often k jobs write at once: the product form of an anonymous fleet, in milliseconds instead of a simulation.

The store is a processor-sharing queue whose rate depends on the number present, and so are the computing jobs behind
an anonymous cap: a closed network of two such queues has a product form, whatever the laws of the phase lengths.
It holds for time averages of a fleet that is not staggered for good, and knows the phase lengths by their means only.

Source: F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, J. ACM 22 (1975) 248; F. P. Kelly, Reversibility and
Stochastic Networks, 1979, ch. 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def time_shares(ratios_b_s: ArrayLike, store_rates_b_s: ArrayLike, speeds: ArrayLike) -> Floats:
    """Share of time with k = 0 .. n writers: e_k(V_i / T_i) k! / (F(1) .. F(k) u(1) .. u(n - k)), normalised.

    Args:
        ratios_b_s: V_i / T_i, checkpoint size over mean full-speed work of each job [B/s], shape (n,).
        store_rates_b_s: F(1) .. F(n), total rate of the store with that many writers [B/s], shape (n,).
        speeds: u(1) .. u(n), speed with m computing and n - m writing [-], shape (n,). Zeros are allowed for the
            smallest m (writers alone above the cap): fewer computing jobs than that are never seen.
    Returns:
        Shares [-], shape (n + 1,), sum 1.
    Raises:
        ValueError: shapes that differ, no job, a ratio or rate that is not positive, or a zero speed above a
            positive one.
    """
    ratios, rates, speed = _checked(ratios_b_s, store_rates_b_s, speeds)
    log_e = _log_elementary(np.log(ratios))[-1]
    return _normalised(log_e + _log_service(rates, speed))


def mean_checkpoint_s(
    sizes_b: ArrayLike, compute_s: ArrayLike, store_rates_b_s: ArrayLike, speeds: ArrayLike
) -> Floats:
    """Mean time from first to last byte of a checkpoint of each job [s], shape (n,), by Little's law.

    The share of time a job writes is its checkpoints per second times their mean duration; its bytes per second are
    its checkpoints per second times their size. Both shares follow from the product form.

    Args:
        sizes_b, compute_s: checkpoint size [B] and mean full-speed work between checkpoints [s], shape (n,).
        store_rates_b_s, speeds: as in ``time_shares``.
    Raises:
        ValueError: as in ``time_shares``.
    """
    sizes = np.asarray(sizes_b, dtype=np.float64)
    ratios, rates, speed = _checked(sizes / np.asarray(compute_s, dtype=np.float64), store_rates_b_s, speeds)
    log_present, log_served = _log_of_each(ratios, rates, speed)
    mean: Floats = sizes * np.exp(log_present - log_served)
    return mean


def writing_shares(ratios_b_s: ArrayLike, store_rates_b_s: ArrayLike, speeds: ArrayLike) -> Floats:
    """Share of time that each job writes [-], shape (n,); their sum is the mean number of writers.

    Args:
        ratios_b_s, store_rates_b_s, speeds: as in ``time_shares``.
    Raises:
        ValueError: as in ``time_shares``.
    """
    ratios, rates, speed = _checked(ratios_b_s, store_rates_b_s, speeds)
    log_e = _log_elementary(np.log(ratios))[-1]
    log_present, _ = _log_of_each(ratios, rates, speed)
    shares: Floats = np.exp(np.log(ratios) + log_present - _log_sum(log_e + _log_service(rates, speed)))
    return shares


def _checked(ratios: ArrayLike, rates: ArrayLike, speeds: ArrayLike) -> tuple[Floats, Floats, Floats]:
    x, f, u = (np.asarray(values, dtype=np.float64) for values in (ratios, rates, speeds))
    if x.ndim != 1 or len(x) == 0 or x.shape != f.shape or x.shape != u.shape:
        raise ValueError(
            f"shapes of ratios, store rates and speeds are {x.shape}, {f.shape} and {u.shape}; "
            "all must be (n,) with one entry a job; give F(1) .. F(n) and u(1) .. u(n)"
        )
    for name, values in (("ratios_b_s", x), ("store_rates_b_s", f)):
        if not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(f"{name} is {values}: every entry must be finite and above 0; leave out jobs without work")
    if not (np.isfinite(u) & (u >= 0)).all() or u[-1] == 0 or (np.diff((u > 0).astype(int)) < 0).any():
        raise ValueError(
            f"speeds is {u}: entries must be finite and at least 0, and none may be 0 above a positive one; "
            "such a fleet stops for ever: raise the cap"
        )
    return x, f, u


def _log_elementary(log_x: Floats) -> Floats:
    """log e_k, k = 0 .. n, of the first 0, 1, .. n values, a row each; every term is positive, so nothing cancels."""
    n = len(log_x)
    log_e = np.full((n + 1, n + 1), -np.inf)
    log_e[:, 0] = 0.0
    for i, value in enumerate(log_x):
        log_e[i + 1, 1:] = np.logaddexp(log_e[i, 1:], log_e[i, :-1] + value)
    return log_e


def _log_of_each(ratios: Floats, rates: Floats, speeds: Floats) -> tuple[Floats, Floats]:
    """log of the sum over k of e_{k-1}(all jobs but i) times the service weight of k, and the same times F(k) / k.

    Both are derivatives of a sum over e_k by x_i, taken backwards through the recursion of e_k: n^2 steps for all jobs.
    """
    n, log_x = len(ratios), np.log(ratios)
    log_e = _log_elementary(log_x)
    log_service = _log_service(rates, speeds)[1:]
    log_weights = np.stack((log_service, log_service + np.log(rates) - np.log(np.arange(1, n + 1))))
    log_each = np.empty((2, n))
    for i in reversed(range(n)):  # log_weights[:, k - 1]: what e_{k-1} of the jobs before i and job i itself earn
        log_each[:, i] = _log_sum(log_weights + log_e[i, :-1])
        log_weights[:, :-1] = np.logaddexp(log_weights[:, :-1], log_weights[:, 1:] + log_x[i])
    return log_each[0], log_each[1]


def _log_sum(log_terms: Floats) -> Floats:
    """log of the sum of the terms along the last axis."""
    top = log_terms.max(axis=-1, keepdims=True)
    total: Floats = top[..., 0] + np.log(np.exp(log_terms - top).sum(axis=-1))
    return total


def _log_service(rates: Floats, speeds: Floats) -> Floats:
    """log of k! / (F(1) .. F(k) u(1) .. u(n - k)), k = 0 .. n, up to a constant."""
    n = len(rates)
    store = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)) - np.log(rates))))
    stopped = int((speeds == 0).sum())
    # The limit of equal tiny speeds: states with fewer computing than `stopped` lose their last share.
    moving = np.cumsum(np.log(np.where(speeds == 0, 1.0, speeds)))
    compute = np.concatenate(([0.0], moving))[::-1].copy()
    log_service: Floats = store - compute
    log_service[n - stopped + 1 :] = -np.inf
    return log_service


def _normalised(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights - log_weights.max())
    shares: Floats = weights / weights.sum()
    return shares
