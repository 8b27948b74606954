"""Loss without a buffer: Erlang's and Engset's formulas.

An output fibre with `W` wavelength channels and no buffer is a loss system with `W` servers: a
packet or burst that finds all of them busy is lost. The distribution of the transmission time does
not matter, only its mean.

References
----------
.. [1] A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in
   automatic telephone exchanges", Elektroteknikeren 13, 1917.
.. [2] D. L. Jagerman, "Some properties of the Erlang loss function", Bell System Technical Journal
   53(3), 1974, pp. 525-551.
.. [3] T. Engset, "Die Wahrscheinlichkeitsrechnung zur Bestimmung der Waehlerzahl in automatischen
   Fernsprechaemtern", Elektrotechnische Zeitschrift 39, 1918, pp. 304-306.
.. [4] V. B. Iversen, "Teletraffic Engineering and Network Planning", Technical University of
   Denmark, 2015, chapters 4 and 5.
"""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import elementwise

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def erlang_b(load: ArrayLike, servers: ArrayLike) -> FloatArray:
    """Probability that an arrival of a Poisson stream finds all servers busy and is lost.

    Parameters
    ----------
    load : array_like of float
        Offered load in erlangs (arrival rate times mean service time), not negative.
    servers : array_like of int
        Number of servers, at least 0. Broadcast against `load`.

    Returns
    -------
    ndarray of float
        Loss probability, of the broadcast shape.

    Raises
    ------
    ValueError
        If a load is negative or not finite, or a number of servers negative or not whole.

    Notes
    -----
    The recursion ``B(0) = 1, B(n) = A B(n-1) / (n + A B(n-1))`` [2]_ neither overflows nor
    cancels: all its terms are positive.

    Examples
    --------
    >>> float(erlang_b(8.0, 8).round(6))
    0.23557
    """
    offered, count = np.broadcast_arrays(_checked_load(load), _checked_count(servers, "servers"))
    blocking = np.ones(offered.shape)
    for n in range(1, _largest(count) + 1):
        carried = offered * blocking
        blocking = np.where(n <= count, carried / (n + carried), blocking)
    return blocking


def erlang_b_load(blocking: ArrayLike, servers: ArrayLike) -> FloatArray:
    """Offered load at which the loss is `blocking`: the inverse of `erlang_b` in its load.

    Parameters
    ----------
    blocking : array_like of float
        Loss probability, at least 0 and below 1.
    servers : array_like of int
        Number of servers, at least 1. Broadcast against `blocking`.

    Returns
    -------
    ndarray of float
        Offered load in erlangs, of the broadcast shape.

    Raises
    ------
    ValueError
        If a probability is outside [0, 1) or a number of servers is not a whole number above 0.

    Notes
    -----
    The loss grows with the load, so there is one root. It lies below ``servers / (1 - blocking)``,
    since the carried load ``A (1 - B)`` cannot exceed the number of servers. Found by
    Chandrupatla's bracketing method.
    """
    target = np.asarray(blocking, dtype=np.float64)
    if not np.all((target >= 0) & (target < 1)):
        raise ValueError("blocking: allowed are probabilities from 0 to below 1")
    count = _checked_count(servers, "servers")
    if np.any(count < 1):
        raise ValueError("servers: at least 1")
    target, count = np.broadcast_arrays(target, count)
    upper = count / (1 - target)

    def excess(load: FloatArray, wanted: FloatArray, ports: IntArray) -> FloatArray:
        return erlang_b(load, ports) - wanted

    found = elementwise.find_root(
        excess, (np.zeros(target.shape), upper), args=(target, count), tolerances={"xrtol": 1e-14}
    )
    return np.asarray(found.x, dtype=np.float64)


def engset_time_congestion(
    load_per_idle_source: ArrayLike, sources: ArrayLike, servers: ArrayLike
) -> FloatArray:
    """Fraction of time in which all servers are busy, with a finite number of sources.

    Parameters
    ----------
    load_per_idle_source : array_like of float
        Arrival rate of one idle source times the mean service time.
    sources, servers : array_like of int
        Numbers of sources and of servers, at least 0. All three are broadcast.

    Returns
    -------
    ndarray of float
        Time congestion; 0 where there are fewer sources than servers.

    Raises
    ------
    ValueError
        If a load is negative or not finite, or a count negative or not whole.

    Notes
    -----
    ``E(0) = 1, E(n) = (N-n+1) a E(n-1) / (n + (N-n+1) a E(n-1))`` ([4]_, chapter 5). A blocked
    source is idle again at once. An optical source keeps sending a burst that is being lost; for a
    small load per source the two agree to first order.
    """
    offered, number, count = np.broadcast_arrays(
        _checked_load(load_per_idle_source),
        _checked_count(sources, "sources"),
        _checked_count(servers, "servers"),
    )
    congestion = np.ones(offered.shape)
    for n in range(1, _largest(count) + 1):
        carried = np.maximum(number - n + 1, 0) * offered * congestion
        congestion = np.where(n <= count, carried / (n + carried), congestion)
    return congestion


def engset_call_congestion(
    load_per_idle_source: ArrayLike, sources: ArrayLike, servers: ArrayLike
) -> FloatArray:
    """Fraction of arrivals that are lost, with a finite number of sources.

    Parameters
    ----------
    load_per_idle_source : array_like of float
        Arrival rate of one idle source times the mean service time.
    sources, servers : array_like of int
        Numbers of sources (at least 1) and of servers. All three are broadcast.

    Returns
    -------
    ndarray of float
        Call congestion. Tends to Erlang B as `sources` grows with the total load kept.

    Raises
    ------
    ValueError
        As `engset_time_congestion`; or if there is no source.

    Notes
    -----
    An arriving source sees the system as if it were not there itself: the time congestion with one
    source less ([4]_, arrival theorem).
    """
    number = _checked_count(sources, "sources")
    if np.any(number < 1):
        raise ValueError("sources: at least 1")
    return engset_time_congestion(load_per_idle_source, number - 1, servers)


def bufferless_output_loss(load: ArrayLike) -> FloatArray:
    """Loss at one output channel without a buffer under Poisson arrivals: ``A / (1 + A)``.

    Parameters
    ----------
    load : array_like of float
        Offered load in erlangs, all inputs together.

    Returns
    -------
    ndarray of float
        Loss probability: Erlang B with one server, whatever the distribution of packet sizes.

    Raises
    ------
    ValueError
        If a load is negative or not finite.
    """
    return erlang_b(load, 1)


def _checked_load(load: ArrayLike) -> FloatArray:
    offered = np.asarray(load, dtype=np.float64)
    if not np.all((offered >= 0) & np.isfinite(offered)):
        raise ValueError("load: allowed are finite numbers of erlangs from 0")
    return offered


def _checked_count(count: ArrayLike, name: str) -> IntArray:
    given = np.asarray(count)
    if not np.all((given >= 0) & (given == np.floor(given))):
        raise ValueError(f"{name}: allowed are whole numbers from 0")
    return cast("IntArray", given.astype(np.int64))


def _largest(count: IntArray) -> int:
    return int(count.max(initial=0))
