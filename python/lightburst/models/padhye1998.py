"""Throughput of TCP Reno under packet loss: Padhye, Firoiu, Towsley and Kurose; Mathis.

The model of electronic packet networks on which yu2004 builds: after a lost packet all later
packets of the same round are lost too, and `loss` is the probability that a packet is lost whose
predecessor arrived.

References
----------
.. [1] J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput: a simple model and its
   empirical validation", ACM SIGCOMM 1998, pp. 303-314.
.. [2] M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion
   avoidance algorithm", ACM Computer Communication Review 27(3), 1997, pp. 67-82.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from lightburst.models.one_flow import OneFlow
    from lightburst.scenario import Scenario

#: Assumptions by name, with their meaning.
ASSUMPTIONS = {
    "reno": "the sender is Reno",
    "above-link-rate": "the throughput is at most the rate of the slowest link",
}

FloatArray = NDArray[np.float64]


def full_throughput(
    loss: ArrayLike,
    round_trip_s: ArrayLike,
    timeout_s: ArrayLike,
    window_limit: ArrayLike = np.inf,
    rounds_per_increase: ArrayLike = 1,
) -> FloatArray:
    """Throughput by the full model of [1]_: fast retransmissions, timeouts and a window limit.

    Parameters
    ----------
    loss : array_like of float
        Loss probability ``p``, above 0 and below 1.
    round_trip_s, timeout_s : array_like of float
        Round trip time ``RTT`` and first timeout ``T_0``, in seconds, above 0.
    window_limit : array_like of float
        ``W_max`` in packets, at least 1; infinite for no limit.
    rounds_per_increase : array_like of float
        ``b``: packets acknowledged by one ACK, so rounds until the window grows by one; at least 1.

    Returns
    -------
    ndarray of float
        Packets sent a second, of the broadcast shape.

    Raises
    ------
    ValueError
        If a value is outside its range.

    Notes
    -----
    One of two forms applies, by comparing the unlimited window at the end of a period with the
    limit; at the border they differ by a few per cent.
    """
    p, rtt, t0, limit, b = _checked(
        loss, round_trip_s, timeout_s, window_limit, rounds_per_increase
    )
    half = (2 + b) / (3 * b)
    unlimited = half + np.sqrt(8 * (1 - p) / (3 * b * p) + half**2)
    window = np.minimum(unlimited, limit)
    timeout = timeout_ratio(p, window)
    rounds = np.where(
        unlimited < limit, b / 2 * window + 1, b / 8 * window + (1 - p) / (p * window) + 2
    )
    sent = (1 - p) / p + window + timeout / (1 - p)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    return np.asarray(sent / (rtt * rounds + timeout * t0 * backoff / (1 - p)))


class Arguments(NamedTuple):
    """Arguments of `full_throughput` and `approximate_throughput`, in their order."""

    loss: float
    round_trip_s: float
    timeout_s: float
    window_limit: float
    rounds_per_increase: float


def from_scenario(scenario: "Scenario") -> Arguments:
    """Read the arguments from a scenario: one TCP flow over a path with packets lost by chance.

    Parameters
    ----------
    scenario : Scenario
        With a topology ``path``, or ``obs-path`` of one pair of hosts; ``electronic`` switches; a
        probability of loss; ``tcp`` with the window of ``reno``.

    Returns
    -------
    Arguments
        The round trip is the propagation time plus the transmission times of one segment and its
        acknowledgement on an idle path.

    Raises
    ------
    InputError
        With each field outside the assumptions of the model.

    Examples
    --------
    >>> full_throughput(*from_scenario(scenario))  # doctest: +SKIP
    """
    return _read(scenario)[0]


def predict(scenario: "Scenario") -> tuple[float, dict[str, bool]]:
    """Predict the throughput of the flow of a scenario by the full model.

    Parameters
    ----------
    scenario : Scenario
        As for `from_scenario`.

    Returns
    -------
    throughput_bps : float
        Useful bits that arrive a second; a share p of the sent packets is lost.
    broken : dict of str to bool
        Whether each of `ASSUMPTIONS` is violated.

    Raises
    ------
    InputError
        As `from_scenario`.
    """
    arguments, one = _read(scenario)
    sent = float(full_throughput(*arguments))
    broken = {
        "reno": one.flavour != "reno",
        "above-link-rate": sent * 8 * one.transport.segment_size > one.rate_bps,
    }
    return sent * (1 - arguments.loss) * one.useful_bits, broken


def _read(scenario: "Scenario") -> "tuple[Arguments, OneFlow]":
    from lightburst.models.one_flow import one_flow, outside

    switching = scenario.switching
    if switching.kind != "electronic" or any(switching.others()):
        words = "packets that are lost one by one: 'electronic'"
        raise outside("switching.kind", f"'{switching.kinds}'", "padhye1998", words)
    one = one_flow(scenario, "padhye1998")
    round_trip = one.round_trip_s + one.transmission_s
    sender = one.transport
    arguments = Arguments(
        one.loss,
        round_trip,
        one.timeout_s(round_trip),
        float(sender.advertised_window),
        float(sender.acknowledge_every),
    )
    return arguments, one


def timeout_ratio(loss: ArrayLike, window: ArrayLike) -> FloatArray:
    """Probability that a loss ends in a timeout and not in a fast retransmission.

    Parameters
    ----------
    loss : array_like of float
        Loss probability ``p``, above 0 and below 1.
    window : array_like of float
        Window ``w`` in packets when the loss happens, at least 1.

    Returns
    -------
    ndarray of float
        ``min(1, (1 - (1-p)^3) (1 + (1-p)^3 (1 - (1-p)^(w-3))) / (1 - (1-p)^w))`` [1]_: fewer than
        three packets of the last two rounds arrive. About ``3 / w`` for a small loss.
    """
    kept, w = 1 - np.asarray(loss, dtype=np.float64), np.asarray(window, dtype=np.float64)
    ratio = (1 - kept**3) * (1 + kept**3 * (1 - kept ** (w - 3))) / (1 - kept**w)
    return np.minimum(1.0, ratio)


def approximate_throughput(
    loss: ArrayLike,
    round_trip_s: ArrayLike,
    timeout_s: ArrayLike,
    window_limit: ArrayLike = np.inf,
    rounds_per_increase: ArrayLike = 1,
) -> FloatArray:
    """Throughput by the approximate model of [1]_, the one in TFRC (RFC 5348, section 3.1).

    Parameters
    ----------
    loss, round_trip_s, timeout_s, window_limit, rounds_per_increase : array_like of float
        As for `full_throughput`.

    Returns
    -------
    ndarray of float
        Packets sent a second: ``min(W_max / RTT, 1 / (RTT sqrt(2bp/3)
        + T_0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2)))``.

    Raises
    ------
    ValueError
        If a value is outside its range.
    """
    p, rtt, t0, limit, b = _checked(
        loss, round_trip_s, timeout_s, window_limit, rounds_per_increase
    )
    waiting = t0 * np.minimum(1.0, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    return np.asarray(np.minimum(limit / rtt, 1 / (rtt * np.sqrt(2 * b * p / 3) + waiting)))


def square_root_throughput(
    loss: ArrayLike, round_trip_s: ArrayLike, rounds_per_increase: ArrayLike = 1
) -> FloatArray:
    """Throughput without timeouts and window limit, by the square root law [2]_.

    Parameters
    ----------
    loss, round_trip_s, rounds_per_increase : array_like of float
        As for `full_throughput`.

    Returns
    -------
    ndarray of float
        Packets a second: ``sqrt(3 / (2 b p)) / RTT``, for periodic losses. Independent losses give
        1.3098 in place of ``sqrt(3/2) = 1.2247``.

    Raises
    ------
    ValueError
        If a value is outside its range.
    """
    p, rtt, _, _, b = _checked(loss, round_trip_s, 1.0, np.inf, rounds_per_increase)
    return np.asarray(np.sqrt(3 / (2 * b * p)) / rtt)


def _checked(
    loss: ArrayLike, rtt: ArrayLike, timeout: ArrayLike, limit: ArrayLike, b: ArrayLike
) -> tuple[FloatArray, ...]:
    given = [np.asarray(value, dtype=np.float64) for value in (loss, rtt, timeout, limit, b)]
    rules = (
        ("loss", (given[0] > 0) & (given[0] < 1), "probabilities above 0 and below 1"),
        ("round_trip_s", (given[1] > 0) & np.isfinite(given[1]), "seconds above 0"),
        ("timeout_s", (given[2] > 0) & np.isfinite(given[2]), "seconds above 0"),
        ("window_limit", given[3] >= 1, "packets from 1"),
        ("rounds_per_increase", (given[4] >= 1) & np.isfinite(given[4]), "numbers from 1"),
    )
    for name, good, allowed in rules:
        if not np.all(good):
            raise ValueError(f"{name}: allowed are {allowed}")
    return tuple(np.broadcast_arrays(*given))
