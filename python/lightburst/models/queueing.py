"""Waiting for one output: the M/D/1 queue.

Units of one size that arrive as a Poisson stream and wait for one output, first come first served,
form an M/D/1 queue. A hybrid switch is one if its buffer has enough ports and room and re-emits
without waiting for full reception (``re_emission = "cut-through"``): the fraction of buffered units
is the probability of waiting, and the mean buffer occupancy is the mean queue.

References
----------
.. [1] A. K. Erlang, "The theory of probabilities and telephone conversations", Nyt Tidsskrift for
   Matematik B 20, 1909, pp. 33-39.
.. [2] L. Kleinrock, "Queueing Systems, volume 1: Theory", Wiley, 1975, section 5.6.
.. [3] H. C. Tijms, "A First Course in Stochastic Models", Wiley, 2003, section 9.2.
.. [4] G. J. Franx, "A simple solution for the M/D/c waiting time distribution", Operations Research
   Letters 29(5), 2001, pp. 221-229.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

FloatArray = NDArray[np.float64]


def md1_wait_probability(load: ArrayLike) -> FloatArray:
    """Probability that an arrival has to wait: the utilisation, since arrivals are Poisson.

    Parameters
    ----------
    load : array_like of float
        Utilisation ``rho`` (arrival rate times service time), from 0 to below 1.

    Returns
    -------
    ndarray of float
        Probability of waiting.

    Raises
    ------
    ValueError
        If a load is outside [0, 1), where no stationary state exists.
    """
    return _checked_load(load).copy()


def md1_mean_wait(load: ArrayLike) -> FloatArray:
    """Mean wait before service, in service times: ``rho / (2 (1 - rho))``.

    Parameters
    ----------
    load : array_like of float
        Utilisation, from 0 to below 1.

    Returns
    -------
    ndarray of float
        Mean over all arrivals, in units of the service time (Pollaczek-Khinchine [2]_). Divided by
        `md1_wait_probability` it is the mean over the arrivals that have to wait.

    Raises
    ------
    ValueError
        If a load is outside [0, 1).
    """
    rho = _checked_load(load)
    return rho / (2 * (1 - rho))


def md1_mean_queue(load: ArrayLike) -> FloatArray:
    """Mean number of waiting units, without the one in service: ``rho^2 / (2 (1 - rho))``.

    Parameters
    ----------
    load : array_like of float
        Utilisation, from 0 to below 1.

    Returns
    -------
    ndarray of float
        Mean number waiting (Little's law on `md1_mean_wait`).

    Raises
    ------
    ValueError
        If a load is outside [0, 1).
    """
    rho = _checked_load(load)
    return rho * md1_mean_wait(rho)


def md1_occupancy(load: float, largest: int) -> FloatArray:
    """Probabilities that 0, 1, ..., `largest` units are in the system (waiting or in service).

    Parameters
    ----------
    load : float
        Utilisation, from 0 to below 1.
    largest : int
        Largest number of units, at least 0.

    Returns
    -------
    ndarray of float, shape (largest + 1,)
        Stationary distribution, the same for an arrival and for a random instant.

    Raises
    ------
    ValueError
        If the load is outside [0, 1) or `largest` is negative.

    Notes
    -----
    ``p_j = alpha_{j-1} p_0 + sum_{k=1..j} alpha_{j-k} p_k`` with ``alpha_n`` the probability of
    more than n Poisson arrivals in one service ([3]_, equation 9.2.1, constant service). All terms
    are positive; the terms of the explicit formula cancel.
    """
    rho = float(_checked_load(load))
    if largest < 0:
        raise ValueError("largest: at least 0")
    alpha = special.gammainc(np.arange(largest + 1) + 1.0, rho)
    p = np.zeros(largest + 1)
    p[0] = 1 - rho
    for j in range(1, largest + 1):
        earlier = alpha[j - 1] * p[0] + alpha[j - 1 : 0 : -1] @ p[1:j]
        p[j] = earlier / (1 - alpha[0])
    return p


def md1_wait_cdf(load: float, wait: ArrayLike) -> FloatArray:
    """Distribution of the wait before service, first come first served.

    Parameters
    ----------
    load : float
        Utilisation, from 0 to below 1.
    wait : array_like of float
        Waits in units of the service time, not negative.

    Returns
    -------
    ndarray of float
        Probability that an arrival waits at most `wait`, of the shape of `wait`.

    Raises
    ------
    ValueError
        If the load is outside [0, 1) or a wait is negative or not finite.

    Notes
    -----
    Erlang's alternating sum [1]_ loses all digits at long waits. Franx's form [4]_ does not: with m
    the whole number for which ``m - 1 <= x < m``, the sum over j below m of the probability of j
    arrivals in ``m - x`` and at most ``m - 1 - j`` units waiting.
    """
    rho = float(_checked_load(load))
    x = np.asarray(wait, dtype=np.float64)
    if not np.all((x >= 0) & np.isfinite(x)):
        raise ValueError("wait: allowed are finite numbers of service times from 0")
    whole = np.floor(x).astype(np.int64) + 1
    longest = int(whole.max(initial=1))
    # Index n: at most n units wait, so at most n + 1 are in the system.
    waiting = np.cumsum(md1_occupancy(rho, longest + 1))[1:]
    j = np.arange(longest)
    arrivals = stats.poisson.pmf(j, rho * (whole - x)[..., np.newaxis])
    room = whole[..., np.newaxis] - 1 - j
    at_most = np.where(room >= 0, waiting[np.maximum(room, 0)], 0.0)
    return np.asarray((arrivals * at_most).sum(axis=-1), dtype=np.float64)


def _checked_load(load: ArrayLike) -> FloatArray:
    rho = np.asarray(load, dtype=np.float64)
    if not np.all((rho >= 0) & (rho < 1)):
        raise ValueError("load: allowed are utilisations from 0 to below 1")
    return rho
