"""Loss without a buffer and with few sources: Engset's formulas.

`N` sources send to a fibre of `W` channels with full conversion. At a core node, the sources are
the wavelengths of all incoming fibres. A source is idle for some time, sends a burst, and is idle
again; it never competes with itself, and the arrival rate falls with the number of bursts in
transmission. The loss is below that of Erlang's formula at the same load, and zero where `N` is at
most `W`.

Three distinctions matter.

*The load.* An idle source begins a burst with rate ``a`` per mean length of a burst. Without loss
it would send for a share ``b = a / (1 + a)`` of the time; ``N b`` is the intended load of the fibre
in erlangs. `idle_source_load` converts ``b`` to ``a``.

*The congestion.* Time congestion is the share of the time in which all channels are busy, call
congestion the share of the bursts that find them busy, traffic congestion the share of the intended
load ``N b`` that is not carried. Time congestion is the largest, because arrivals are rarer while
channels are busy. Traffic congestion is the smallest, because a source whose burst was lost is idle
again, and sends more bursts than it would without loss.

*The fate of a lost burst.* Engset's source is idle again at once. A burst source without feedback
transmits the lost burst to its end: `engset_dumping_loss`.

References
----------
.. [1] T. Engset, "Die Wahrscheinlichkeitsrechnung zur Bestimmung der Wählerzahl in automatischen
   Fernsprechämtern", Elektrotechnische Zeitschrift 39(31), 1918, pp. 304-306.
.. [2] J. W. Cohen, "The generalized Engset formulae", Philips Telecommunication Review 18, 1957,
   pp. 158-170.
.. [3] V. B. Iversen, "Teletraffic Engineering and Network Planning", Technical University of
   Denmark, 2015, chapter 5.
.. [4] A. Detti, V. Eramo, M. Listanti, "Performance evaluation of a new technique for IP support in
   a WDM optical network: optical composite burst switching (OCBS)", Journal of Lightwave
   Technology 20(2), 2002, pp. 154-165.
.. [5] E. W. M. Wong, A. Zalesky, M. Zukerman, "On generalizations of the Engset model", IEEE
   Communications Letters 11(4), 2007, pp. 360-362.
.. [6] J. Zhang, Y. Peng, E. W. M. Wong, M. Zukerman, "Sensitivity of blocking probability in the
   generalized Engset model for OBS", IEEE Communications Letters 15(11), 2011, pp. 1243-1245.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_banded

from lightburst.models.checks import FloatArray, loads, refuse, wholes
from lightburst.models.erlang import last_state


def idle_source_load(load_per_source: ArrayLike) -> FloatArray:
    """Arrival rate of an idle source, from its intended share of the sending time.

    Parameters
    ----------
    load_per_source : array_like of float
        Share ``b`` of the time, from 0 to below 1: the intended load over the number of sources.

    Returns
    -------
    ndarray of float
        ``a = b / (1 - b)``, per mean length of a burst.

    Raises
    ------
    InputError
        If a share is not at least 0 and below 1.
    """
    part = np.asarray(load_per_source, dtype=np.float64)
    refuse(~((part >= 0) & (part < 1)), part, "load_per_source", "parts of the time, 0 to below 1")
    return np.asarray(part / (1 - part))


def engset_time_congestion(
    load_per_idle_source: ArrayLike, sources: ArrayLike, servers: ArrayLike
) -> FloatArray:
    """Share of the time in which all servers are busy, with a finite number of sources.

    Parameters
    ----------
    load_per_idle_source : array_like of float
        ``a``: arrival rate of one idle source times the mean service time.
    sources, servers : array_like of int
        Numbers of sources and of servers, at least 0. All three are broadcast.

    Returns
    -------
    ndarray of float
        Time congestion; 0 where there are fewer sources than servers.

    Raises
    ------
    InputError
        If a load is negative or not finite, or a count negative or not whole.

    Notes
    -----
    ``E = C(N, W) a^W / (1 + C(N, 1) a + ... + C(N, W) a^W)`` [1]_, by `erlang.last_state` with
    ``(N - n + 1) a / n``. A source whose burst is lost is idle again at once. Service times and
    idle times matter only by their means [2]_.
    """
    offered, number, count = np.broadcast_arrays(
        loads(load_per_idle_source, "load_per_idle_source"),
        wholes(sources, "sources"),
        wholes(servers, "servers"),
    )
    return last_state(lambda n: np.maximum(number - n + 1, 0) * offered / n, count)


def engset_call_congestion(
    load_per_idle_source: ArrayLike, sources: ArrayLike, servers: ArrayLike
) -> FloatArray:
    """Share of the bursts that are lost, with a finite number of sources.

    Parameters
    ----------
    load_per_idle_source : array_like of float
        ``a``: arrival rate of one idle source times the mean service time.
    sources, servers : array_like of int
        Numbers of sources (at least 1) and of servers. All three are broadcast.

    Returns
    -------
    ndarray of float
        Call congestion. Tends to Erlang B as `sources` grows with the total load kept.

    Raises
    ------
    InputError
        As `engset_time_congestion`; or if there is no source.

    Notes
    -----
    A source that begins a burst sees the system without itself: the time congestion with one source
    less ([3]_, section 5.5).
    """
    number = wholes(sources, "sources", 1)
    return engset_time_congestion(load_per_idle_source, number - 1, servers)


def engset_traffic_congestion(
    load_per_idle_source: ArrayLike, sources: ArrayLike, servers: ArrayLike
) -> FloatArray:
    """Share of the intended load ``N a / (1 + a)`` that is not carried.

    Parameters
    ----------
    load_per_idle_source : array_like of float
        ``a``: arrival rate of one idle source times the mean service time.
    sources, servers : array_like of int
        Numbers of sources (at least 1) and of servers. All three are broadcast.

    Returns
    -------
    ndarray of float
        ``B / (1 + a (1 - B))`` with the call congestion ``B`` ([3]_, section 5.5): each source
        carries ``a (1 - B) / (1 + a (1 - B))`` of its intended ``a / (1 + a)``.

    Raises
    ------
    InputError
        As `engset_call_congestion`.
    """
    lost = engset_call_congestion(load_per_idle_source, sources, servers)
    return np.asarray(lost / (1 + np.asarray(load_per_idle_source) * (1 - lost)))


def engset_dumping_loss(
    load_per_idle_source: ArrayLike, sources: ArrayLike, servers: ArrayLike
) -> FloatArray:
    """Share of the bursts that are lost if a source sends each burst to its end, lost or not.

    Parameters
    ----------
    load_per_idle_source : array_like of float
        ``a``: arrival rate of one idle source times the mean length of a burst.
    sources, servers : array_like of int
        Numbers of sources (at least 1) and of servers. All three are broadcast.

    Returns
    -------
    ndarray of float
        Loss probability, exact for exponential lengths and idle times. It is also the share of the
        intended load that is not carried, since the sources do not react to losses.

    Raises
    ------
    InputError
        As `engset_call_congestion`.

    Notes
    -----
    Markov chain of the numbers of carried and of dumped bursts ([4]_; the generalised Engset model
    of [2]_ and [5]_), without a closed form. Other distributions of the lengths change the loss a
    little [6]_. The work grows with ``(N - W) W``.
    """
    cells = np.broadcast_arrays(
        loads(load_per_idle_source, "load_per_idle_source"),
        wholes(sources, "sources", 1),
        wholes(servers, "servers"),
    )
    rows = zip(*(cell.ravel().tolist() for cell in cells), strict=True)
    found = [_dumping(a, sources, servers) for a, sources, servers in rows]
    return np.reshape(np.asarray(found, dtype=np.float64), cells[0].shape)


def _dumping(a: float, sources: int, servers: int) -> float:
    """Solve the chain by levels (number of dumped bursts), from the highest level down.

    A level is entered from below only where all servers are busy. So ``p(i, j)``, with i carried
    and j dumped bursts, is ``p(W, j - 1)`` times a vector that depends only on the levels from j
    up.
    """
    if sources <= servers or a == 0:
        return 0.0
    carried = np.arange(servers + 1)
    above = np.zeros(servers + 1)  # probabilities of the next level, per p(W, j)
    mass = lost = 0.0  # of all levels above j, per p(W, j): probability, and rate of losses
    for dumped in range(sources - servers, 0, -1):
        idle = sources - dumped - carried
        bands = np.zeros((3, servers + 1))
        bands[0, 1:] = -carried[1:]  # from i + 1 to i: a carried burst ends
        bands[1] = idle * a + carried + dumped
        bands[2, :-1] = -idle[:-1] * a  # from i - 1 to i: one more burst is carried
        sides = np.zeros((servers + 1, 2))
        sides[-1, 0] = (idle[-1] + 1) * a  # from the level below: one more burst is dumped
        sides[:, 1] = (dumped + 1) * above  # from the level above: a dumped burst ends
        risen, fallen = solve_banded((1, 1), bands, sides).T
        full = risen[-1] / (1 - fallen[-1])
        above = risen + fallen * full
        mass = float(above.sum() + full * mass)
        lost = full * (idle[-1] * a + lost)
    # Level without dumped bursts, per p(W, 0). Balance of the states 0 to i: arrivals in state i
    # equal ends in state i + 1 plus, in the level above, ends of a dumped burst in states 0 to i.
    state = 1.0
    mass += state
    fell = np.cumsum(above).tolist()
    for i in range(servers - 1, -1, -1):
        state = (state * (i + 1) + fell[i]) / ((sources - i) * a)
        mass += state
    lost += (sources - servers) * a
    return float(lost / mass * (1 + a) / (sources * a))
