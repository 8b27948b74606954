"""Loss without a buffer and with Poisson arrivals: Erlang's formula.

An output fibre with `W` wavelength channels, full conversion and no buffer is a loss system with
`W` servers: a packet or burst that finds all of them busy is lost. Arrivals are Poisson. The
transmission time matters only by its mean [2]_. A constant offset does not matter either: channels
are then reserved in the order of the arrivals, and a channel that is free at the head of a burst
stays free.

Without conversion each wavelength is a separate system with one server, to which 1/`W` of the load
goes: `bufferless_output_loss`.

References
----------
.. [1] A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in
   automatic telephone exchanges", Elektroteknikeren 13, 1917, pp. 5-13.
.. [2] B. A. Sevastyanov, "An ergodic theorem for Markov processes and its application to telephone
   systems with refusals", Theory of Probability and its Applications 2(1), 1957, pp. 104-112.
.. [3] D. L. Jagerman, "Some properties of the Erlang loss function", Bell System Technical Journal
   53(3), 1974, pp. 525-551.
.. [4] V. B. Iversen, "Teletraffic Engineering and Network Planning", Technical University of
   Denmark, 2015, chapter 4.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise

from lightburst.models.checks import FloatArray, IntArray, loads, refuse, wholes


def last_state(ratio: Callable[[int], FloatArray], count: IntArray) -> FloatArray:
    """Stationary probability of the last state of a birth-death chain.

    Parameters
    ----------
    ratio : callable
        Function of n from 1 on: the rate from state n - 1 to n divided by the rate back, not
        negative. Its shape broadcasts against that of `count`.
    count : ndarray of int
        Number of the last state; the first is 0.

    Returns
    -------
    ndarray of float
        Stationary probability, of the broadcast shape.

    Notes
    -----
    If ``L(n)`` is the probability of state n among the first n + 1 states, ``L(0) = 1`` and
    ``L(n) = r(n) L(n-1) / (1 + r(n) L(n-1))`` ([4]_, section 4.5, for Erlang's ratios). All terms
    are positive and at most 1: the recursion neither overflows nor cancels, with thousands of
    states.
    """
    last = np.ones(count.shape)
    for n in range(1, int(count.max(initial=0)) + 1):
        step = ratio(n) * last
        last = np.where(n <= count, step / (1 + step), last)
    return last


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
    InputError
        If a load is negative or not finite, or a number of servers negative or not whole.

    Notes
    -----
    ``B = (A^W / W!) / (1 + A + A^2 / 2! + ... + A^W / W!)`` [1]_ with A erlangs and W servers, by
    `last_state` with the ratios ``A / n``; [3]_ has its asymptotes.

    Examples
    --------
    >>> float(erlang_b(8.0, 8).round(6))
    0.23557
    """
    offered, count = np.broadcast_arrays(loads(load), wholes(servers, "servers"))
    return last_state(lambda n: offered / n, count)


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
    InputError
        If a probability is outside [0, 1) or a number of servers is not a whole number above 0.

    Notes
    -----
    The loss grows with the load, so the root is unique. It lies below ``servers / (1 - blocking)``,
    since the carried load ``A (1 - B)`` cannot exceed the number of servers. Chandrupatla's
    bracketing method finds it.
    """
    target = np.asarray(blocking, dtype=np.float64)
    refuse(~((target >= 0) & (target < 1)), target, "blocking", "probabilities from 0 to below 1")
    target, count = np.broadcast_arrays(target, wholes(servers, "servers", 1))
    upper = count / (1 - target)

    def excess(load: FloatArray, wanted: FloatArray, ports: IntArray) -> FloatArray:
        return erlang_b(load, ports) - wanted

    found = elementwise.find_root(
        excess, (np.zeros(target.shape), upper), args=(target, count), tolerances={"xrtol": 1e-14}
    )
    return np.asarray(found.x, dtype=np.float64)


def bufferless_output_loss(load: ArrayLike) -> FloatArray:
    """Loss at one output channel without a buffer under Poisson arrivals: ``A / (1 + A)``.

    This is also the loss of a fibre without conversion, if the load is spread evenly over the
    wavelengths.

    Parameters
    ----------
    load : array_like of float
        Offered load of the channel in erlangs, all inputs together.

    Returns
    -------
    ndarray of float
        Loss probability: Erlang B with one server, whatever the distribution of packet sizes.

    Raises
    ------
    InputError
        If a load is negative or not finite.
    """
    return erlang_b(load, 1)
