"""Equations (35) to (45): the period between two losses of a Reno flow that needs no timeout.

Reno retransmits one segment of the lost burst each round and halves its window each time, so the
next period begins with ``W / 2^S``. That works while the window does not fall below one segment:
``log2 W > S``. The paper writes "log"; only the logarithm to base 2 counts halvings.
"""

import numpy as np
from numpy.typing import ArrayLike

from lightburst.models.yu2004.flow import FloatArray, Flow, Variant, is_printed
from lightburst.models.yu2004.sack import segments_before_loss


def reno_segments(flow: Flow, window: ArrayLike) -> FloatArray:
    """Segments sent in a period ``E[Y]``, equation (35).

    ``S(1-p)/p + (5/2 - 1/2^(S-1)) E[W_X]``.
    """
    share = 2.5 - 2 ** (1 - flow.burst_segments)
    return np.asarray((1 - flow.loss) * segments_before_loss(flow) + share * np.asarray(window))


def reno_next_window(flow: Flow, window: ArrayLike, rounds: ArrayLike) -> FloatArray:
    """Window at the end of the next period, equation (36): ``max(1, W/2^S) + X/b``.

    The window is that at the end of this period, the rounds are those of the next period.
    """
    start = np.maximum(1.0, np.asarray(window) / 2**flow.burst_segments)
    return np.asarray(start + np.asarray(rounds) / flow.rounds_per_increase)


def reno_next_large_window(flow: Flow, window: ArrayLike, rounds: ArrayLike) -> FloatArray:
    """Window at the end of the next period where ``log2 W > S``, equation (37): ``W/2^S + X/b``."""
    start = np.asarray(window) / 2**flow.burst_segments
    return np.asarray(start + np.asarray(rounds) / flow.rounds_per_increase)


def reno_rounds(flow: Flow, window: ArrayLike) -> FloatArray:
    """Mean rounds of a period up to its loss ``E[X]``, equation (38): ``b E[W_X] (1 - 1/2^S)``."""
    share = 1 - 2**-flow.burst_segments
    return np.asarray(flow.rounds_per_increase * np.asarray(window) * share)


def reno_segments_by_rounds(
    flow: Flow, window: ArrayLike, variant: Variant = "derived"
) -> FloatArray:
    """Segments sent in a period, summed over its rounds from a window of 1, equation (39).

    ``b/2 W^2 - (b-4)/2 W - S``; as printed ``b/2 W^2 - (bW-4)/2 - 2S``. The paper assumes
    ``2^-S`` small against 1.
    """
    b, w, s = flow.rounds_per_increase, np.asarray(window, dtype=np.float64), flow.burst_segments
    if is_printed(variant):
        return np.asarray(b / 2 * w**2 - (b * w - 4) / 2 - 2 * s)
    return np.asarray(b / 2 * w**2 - (b - 4) / 2 * w - s)


def reno_window_balance(flow: Flow, window: ArrayLike, variant: Variant = "derived") -> FloatArray:
    """Equation (40), whose root is the mean window: (39) minus (35) for a large S.

    ``b/2 W^2 - (b+1)/2 W - S/p``; as printed ``S(1+p)/p``, which (41) does not solve. It is 0 at
    `reno_mean_window` if derived.
    """
    b, w = flow.rounds_per_increase, np.asarray(window, dtype=np.float64)
    share = 1 + flow.loss if is_printed(variant) else 1.0
    return np.asarray(b / 2 * w**2 - (b + 1) / 2 * w - share * segments_before_loss(flow))


def reno_mean_window(flow: Flow) -> FloatArray:
    """Mean window at the end of a period ``E[W_X]``, equation (41).

    ``c + sqrt(c^2 + 2S/(bp))`` with ``c = 1/2 + 1/(2b)``.
    """
    b = flow.rounds_per_increase
    c = (b + 1) / (2 * b)
    return np.asarray(c + np.sqrt(c**2 + 2 * segments_before_loss(flow) / b))


def reno_mean_segments(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Mean segments sent in a period ``E[Y]``, equation (42): (41) in (35) for a large S.

    ``S(1-p)/p + c + sqrt(c^2 + 25S/(2bp))`` with ``c = 5/4 + 5/(4b)``; as printed ``10S/(bp)``.
    """
    b, before = flow.rounds_per_increase, segments_before_loss(flow)
    c = 5 * (b + 1) / (4 * b)
    factor = 10.0 if is_printed(variant) else 12.5
    return np.asarray((1 - flow.loss) * before + c + np.sqrt(c**2 + factor * before / b))


def reno_mean_rounds(flow: Flow) -> FloatArray:
    """Mean rounds of a period up to its loss ``E[X]``, equation (43): ``b E[W_X] - b``.

    ``(1-b)/2 + sqrt(((b+1)/2)^2 + 2bS/p)``.
    """
    b = flow.rounds_per_increase
    return np.asarray(
        (1 - b) / 2 + np.sqrt(((b + 1) / 2) ** 2 + 2 * b * segments_before_loss(flow))
    )


def reno_mean_duration(flow: Flow) -> FloatArray:
    """Mean duration of a period ``E[|TDP|]``, equation (44): (43) and S rounds of recovery."""
    return np.asarray(flow.full_round_trip_s * (reno_mean_rounds(flow) + flow.burst_segments))


def reno_small_loss_duration(flow: Flow) -> FloatArray:
    """Mean duration of a period for a small loss, equation (45): ``RTT sqrt(2bS/p)``."""
    rounds = np.sqrt(2 * flow.rounds_per_increase * segments_before_loss(flow))
    return np.asarray(flow.full_round_trip_s * rounds)
