"""Equations (46) to (54): Reno where halving ends in a timeout, and its throughput.

Where ``log2 W < S`` the window is down to one segment before the lost burst is repaired: the period
has ``log2 W`` rounds of recovery, then timeouts, and the next one begins with a window of 1.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.models.yu2004.flow import FloatArray, Flow, Variant, is_printed
from lightburst.models.yu2004.reno import (
    reno_mean_window,
    reno_small_loss_duration,
)
from lightburst.models.yu2004.sack import segments_before_loss
from lightburst.models.yu2004.throughput import square_root_throughput
from lightburst.models.yu2004.timeouts import mean_timeouts_duration, timeout_segments


def stalled_segments(flow: Flow, window: ArrayLike, variant: Variant = "derived") -> FloatArray:
    """Segments sent in a period ``E[Y]``, equation (46).

    ``(5/2 - 1/2^(L-1)) W - L + S/p`` with ``L = log2 W``, as (35) with L in place of S; as printed
    ``1/2^L``, which is one segment more.
    """
    w = np.asarray(window, dtype=np.float64)
    halvings = np.log2(w)
    exponent = halvings if is_printed(variant) else halvings - 1
    return np.asarray((2.5 - 2**-exponent) * w - halvings + segments_before_loss(flow))


def stalled_rounds(flow: Flow, window: ArrayLike) -> FloatArray:
    """Mean rounds of a period up to its loss ``E[X]``, equation (47): ``b E[W_X]``.

    The window grows linearly from the start, so the slow start threshold is taken to be 1.
    """
    return np.asarray(flow.rounds_per_increase * np.asarray(window))


def stalled_mean_segments(flow: Flow) -> FloatArray:
    """Mean segments sent in a period ``E[Y]``, equation (48): ``5/2 W + S/p - log2 W``.

    With W of (41). The paper continues with ``S/p`` alone.
    """
    w = reno_mean_window(flow)
    return np.asarray(2.5 * w + segments_before_loss(flow) - np.log2(w))


def stalled_duration(flow: Flow) -> FloatArray:
    """Mean duration of a period ``E[|TDP|]``, equation (49): ``(E[X] + log2 W) RTT``.

    With W of (41) and X of (47).
    """
    w = reno_mean_window(flow)
    return np.asarray((stalled_rounds(flow, w) + np.log2(w)) * flow.full_round_trip_s)


def stalled_total_segments(flow: Flow) -> FloatArray:
    """Mean segments of a period and its timeouts ``E[Y*]``, equation (50): (48) and (22)."""
    return np.asarray(stalled_mean_segments(flow) + timeout_segments(flow.loss))


def stalled_total_duration(flow: Flow) -> FloatArray:
    """Mean duration of a period and its timeouts ``E[|TDP*|]``, equation (51): (49) and (24)."""
    return np.asarray(stalled_duration(flow) + mean_timeouts_duration(flow))


def reno_halvings(flow: Flow) -> FloatArray:
    """Halvings that reduce the window of a small loss to one segment: ``log2 sqrt(2S/(bp))``.

    The leading term of (41) under the logarithm.
    """
    return np.asarray(np.log2(2 * segments_before_loss(flow) / flow.rounds_per_increase) / 2)


def reno_recovers(flow: Flow) -> NDArray[np.bool_]:
    """Whether (52) applies instead of (53): ``log2 sqrt(2S/(bp)) > S``.

    True where Reno repairs the burst before its window is down to one segment.
    """
    return np.asarray(reno_halvings(flow) > flow.burst_segments)


def reno_without_timeouts(flow: Flow) -> FloatArray:
    """Throughput of Reno for a small loss where it needs no timeout, equation (52).

    ``S/p / (RTT (sqrt(2bS/p) + S))``.
    """
    recovery = flow.burst_segments * flow.full_round_trip_s
    return segments_before_loss(flow) / (reno_small_loss_duration(flow) + recovery)


def reno_with_timeouts(flow: Flow) -> FloatArray:
    """Throughput of Reno for a small loss where each loss ends in a timeout, equation (53).

    ``S/p / (RTT (sqrt(2bS/p) + log2 sqrt(2S/(bp))) + RTO)``.
    """
    recovery = reno_halvings(flow) * flow.full_round_trip_s + flow.timeout_s
    return segments_before_loss(flow) / (reno_small_loss_duration(flow) + recovery)


def reno_small_loss(flow: Flow) -> FloatArray:
    """Throughput of Reno for a small loss, by (52) or (53) according to `reno_recovers`."""
    return np.where(reno_recovers(flow), reno_without_timeouts(flow), reno_with_timeouts(flow))


def reno_square_root(flow: Flow) -> FloatArray:
    """Throughput of Reno with a large window, equation (54): ``sqrt(S/(2bp)) / RTT``."""
    return segments_before_loss(flow) / reno_small_loss_duration(flow)


def new_reno_square_root(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Throughput of New-Reno with a large window, given by the paper as (54) too.

    Derived: the limit of (34), ``sqrt(3S/(2bp)) / RTT``, as for SACK. Printed: (54), smaller by
    ``sqrt(3)``.
    """
    return reno_square_root(flow) if is_printed(variant) else square_root_throughput(flow)
