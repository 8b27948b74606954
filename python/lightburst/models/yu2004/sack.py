"""Equations (2) to (15): the period between two losses of a SACK flow below its window limit.

A period (``TDP``) begins with half of the last window, grows by one segment in b rounds, and ends
with the round after the one that lost a burst.
"""

import numpy as np
from numpy.typing import ArrayLike

from lightburst.models.yu2004.flow import FloatArray, Flow, Variant, is_printed


def segments_from_parts(
    before_loss: ArrayLike, window: ArrayLike, burst_segments: ArrayLike
) -> FloatArray:
    """Segments sent in a period ``E[Y]``, equation (2): ``E[alpha] + 3/2 E[W_X] - S``.

    ``E[alpha]`` segments come up to the first lost burst; half a window follows in the round of the
    loss, and a whole window in the round after, of which ``S`` segments are retransmissions.
    """
    return np.asarray(
        np.asarray(before_loss) + 1.5 * np.asarray(window) - np.asarray(burst_segments)
    )


def bursts_probability(
    loss: ArrayLike, bursts: ArrayLike, variant: Variant = "derived"
) -> FloatArray:
    """Probability that the k-th burst of a period is its first loss, equation (3).

    ``(1-p)^(k-1) p``; as printed ``(1-p)^k p``, which sums to 1-p over k from 1.
    """
    p, k = np.asarray(loss, dtype=np.float64), np.asarray(bursts)
    return np.asarray((1 - p) ** (k if is_printed(variant) else k - 1) * p)


def segments_before_loss(flow: Flow) -> FloatArray:
    """Segments up to the first lost burst ``E[alpha]``, equation (4): ``S / p``."""
    return np.asarray(flow.burst_segments / flow.loss)


def period_segments(flow: Flow, window: ArrayLike) -> FloatArray:
    """Segments sent in a period ``E[Y]``, equation (5): ``3/2 E[W_X] + S (1-p)/p``."""
    return segments_from_parts(segments_before_loss(flow), window, flow.burst_segments)


def next_window(
    window: ArrayLike, rounds: ArrayLike, rounds_per_increase: ArrayLike = 1
) -> FloatArray:
    """Window at the end of the next period, equation (6): ``W/2 + X/b``.

    The window is that at the end of this period, the rounds are those of the next period.
    """
    return np.asarray(np.asarray(window) / 2 + np.asarray(rounds) / np.asarray(rounds_per_increase))


def period_rounds(flow: Flow, window: ArrayLike) -> FloatArray:
    """Mean rounds of a period up to its loss ``E[X]``, equation (7): ``b/2 E[W_X]``."""
    return np.asarray(flow.rounds_per_increase / 2 * np.asarray(window))


def period_segments_by_rounds(
    flow: Flow, window: ArrayLike, variant: Variant = "derived"
) -> FloatArray:
    """Segments sent in a period, summed over its rounds, equation (8).

    ``3b/8 W^2 + (1 - b/4) W - S``; as printed 1 - b/2.
    """
    b, w = flow.rounds_per_increase, np.asarray(window, dtype=np.float64)
    share = b / 2 if is_printed(variant) else b / 4
    return np.asarray(3 * b / 8 * w**2 + (1 - share) * w - flow.burst_segments)


def window_balance(flow: Flow, window: ArrayLike, variant: Variant = "derived") -> FloatArray:
    """Equation (9), whose root is the mean window: (8) minus (5).

    ``3b/8 W^2 - (b+2)/4 W - S/p``; as printed (b+1)/2. It is 0 at `mean_window`.
    """
    b, w = flow.rounds_per_increase, np.asarray(window, dtype=np.float64)
    share = (b + 1) / 2 if is_printed(variant) else (b + 2) / 4
    return np.asarray(3 * b / 8 * w**2 - share * w - segments_before_loss(flow))


def mean_window(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Mean window at the end of a period ``E[W_X]`` without a limit, equation (10).

    ``c + sqrt(c^2 + 8S/(3bp))`` with ``c = (b+2)/(3b)``; as printed ``c = 2(b+1)/(3b)``.
    """
    b = flow.rounds_per_increase
    c = 2 * (b + 1) / (3 * b) if is_printed(variant) else (b + 2) / (3 * b)
    return np.asarray(c + np.sqrt(c**2 + 8 * segments_before_loss(flow) / (3 * b)))


def mean_period_segments(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Mean segments sent in a period ``E[Y]``, equation (11): (10) in (5).

    ``S(1-p)/p + c + sqrt(c^2 + 6S/(bp))`` with ``c = (b+2)/(2b)``; as printed (b+1)/b.
    """
    b, before = flow.rounds_per_increase, segments_before_loss(flow)
    c = (b + 1) / b if is_printed(variant) else (b + 2) / (2 * b)
    return np.asarray((1 - flow.loss) * before + c + np.sqrt(c**2 + 6 * before / b))


def mean_period_rounds(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Mean rounds of a period up to its loss ``E[X]``, equation (12): (10) in (7).

    ``c + sqrt(c^2 + 2bS/(3p))`` with ``c = (b+2)/6``; as printed (b+1)/3.
    """
    b = flow.rounds_per_increase
    c = (b + 1) / 3 if is_printed(variant) else (b + 2) / 6
    return np.asarray(c + np.sqrt(c**2 + 2 * b * segments_before_loss(flow) / 3))


def period_duration(flow: Flow, rounds: ArrayLike) -> FloatArray:
    """Duration of a period ``E[|TDP|]``, equation (13): ``(E[X] + 1) RTT``."""
    return np.asarray((np.asarray(rounds) + 1) * flow.full_round_trip_s)


def mean_period_duration(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Mean duration of a period ``E[|TDP|]``, equation (14): (12) in (13).

    ``RTT (c + sqrt((c-1)^2 + 2bS/(3p)))`` with ``c = (b+8)/6``; as printed (b+4)/3.
    """
    return period_duration(flow, mean_period_rounds(flow, variant))


def small_loss_period_duration(flow: Flow) -> FloatArray:
    """Mean duration of a period for a small loss, equation (15): ``RTT sqrt(2bS/(3p))``."""
    rounds = np.sqrt(2 * flow.rounds_per_increase * segments_before_loss(flow) / 3)
    return np.asarray(flow.full_round_trip_s * rounds)
