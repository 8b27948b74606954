"""Equations (1), (26) to (29) and (34): the throughput of SACK and of New-Reno."""

import numpy as np
from numpy.typing import ArrayLike

from lightburst.models.yu2004.flow import FloatArray, Flow, Variant, is_printed
from lightburst.models.yu2004.limited import limited_duration, limited_segments
from lightburst.models.yu2004.sack import (
    mean_period_rounds,
    mean_period_segments,
    mean_window,
    period_duration,
    segments_before_loss,
    small_loss_period_duration,
)
from lightburst.models.yu2004.timeouts import (
    mean_timeouts_duration,
    timeout_ratio,
    timeout_segments,
)


def renewal_throughput(
    flow: Flow, segments: ArrayLike, duration_s: ArrayLike, timeouts: ArrayLike
) -> FloatArray:
    """Throughput over periods and the timeouts between them, equation (1).

    Parameters
    ----------
    flow : Flow
        Loss and timeout of the flow, for ``E[H]`` (22) and ``E[|TOP|]`` (24).
    segments : array_like of float
        ``E[Y]``: segments sent in a period.
    duration_s : array_like of float
        ``E[|TDP|]``: duration of a period in seconds.
    timeouts : array_like of float
        ``Q``: probability that a period ends in timeouts (25).

    Returns
    -------
    ndarray of float
        Segments a second: ``(E[Y] + Q E[H]) / (E[|TDP|] + Q E[|TOP|])``.
    """
    q = np.asarray(timeouts, dtype=np.float64)
    sent = np.asarray(segments) + q * timeout_segments(flow.loss)
    return np.asarray(sent / (np.asarray(duration_s) + q * mean_timeouts_duration(flow)))


def sack_below_limit(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Throughput of SACK where ``W_X < W_m``, equation (26).

    (11) and (14) in (1); as printed with ``(3W-1)/2`` and ``bW + 1`` in place of ``3W/2`` and
    ``bW/2 + 1``, which halves the throughput, and with the printed (10) and (25).
    """
    window = mean_window(flow, variant)
    segments = mean_period_segments(flow, variant)
    rounds = mean_period_rounds(flow, variant)
    if is_printed(variant):
        segments, rounds = segments - 0.5, 2 * rounds
    timeouts = timeout_ratio(flow, window, variant)
    return renewal_throughput(flow, segments, period_duration(flow, rounds), timeouts)


def sack_small_loss(flow: Flow) -> FloatArray:
    """Throughput of SACK for a small loss, first line of (27), with the round after the loss.

    ``S/p / (RTT (sqrt(2bS/(3p)) + 1))``.
    """
    return _with_recovery(flow, 1.0)


def square_root_throughput(flow: Flow) -> FloatArray:
    """Throughput of SACK for a small loss, last line of (27): the square root law.

    ``sqrt(3S/(2bp)) / (RTT_0 + 2 T_b)``.
    """
    return segments_before_loss(flow) / small_loss_period_duration(flow)


def sack_at_limit(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Throughput of SACK where ``W_X = W_m``, equation (28): (16) and (19) in (1)."""
    timeouts = timeout_ratio(flow, flow.window_limit, variant)
    return renewal_throughput(
        flow, limited_segments(flow), limited_duration(flow, variant), timeouts
    )


def window_throughput(flow: Flow) -> FloatArray:
    """Throughput of a full window each round trip, equation (29): ``W_m / RTT``."""
    return np.asarray(flow.window_limit / flow.full_round_trip_s)


def new_reno_small_loss(flow: Flow) -> FloatArray:
    """Throughput of New-Reno for a small loss, equation (34): S rounds after the loss, not one.

    ``S/p / (RTT (sqrt(2bS/(3p)) + S))``.
    """
    return _with_recovery(flow, flow.burst_segments)


def _with_recovery(flow: Flow, rounds: ArrayLike) -> FloatArray:
    """Divide S/p segments by the rounds of (15) and those of the recovery."""
    recovery = np.asarray(rounds) * flow.full_round_trip_s
    return segments_before_loss(flow) / (small_loss_period_duration(flow) + recovery)
