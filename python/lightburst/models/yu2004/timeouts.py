"""Equations (20) to (25): how often a loss ends in a timeout, and how long timeouts last."""

import numpy as np
from numpy.typing import ArrayLike

from lightburst.models.yu2004.flow import FloatArray, Flow, Variant, is_printed

# After six doublings the timeout stays at 64 times its first value.
_DOUBLINGS = 6


def timeouts_probability(loss: ArrayLike, timeouts: ArrayLike) -> FloatArray:
    """Probability that a sequence has `timeouts` timeouts, equation (20): ``p^(k-1) (1-p)``.

    The probabilities sum to 1 over k, from 1.
    """
    p = np.asarray(loss, dtype=np.float64)
    return np.asarray(p ** (np.asarray(timeouts) - 1) * (1 - p))


def mean_timeouts(loss: ArrayLike) -> FloatArray:
    """Mean number of timeouts in a sequence ``E[R]``, equation (21): ``1 / (1-p)``."""
    return np.asarray(1 / (1 - np.asarray(loss, dtype=np.float64)))


def timeout_segments(loss: ArrayLike) -> FloatArray:
    """Mean segments sent during timeouts ``E[H]``, equation (22): ``p / (1-p)``.

    The retransmission that arrives belongs to the next period.
    """
    return mean_timeouts(loss) - 1


def timeouts_duration(timeouts: ArrayLike, timeout_s: ArrayLike) -> FloatArray:
    """Duration ``L_k`` of k timeouts in a row, equation (23): doubled each time, up to 64 fold."""
    doubled = np.minimum(np.asarray(timeouts, dtype=np.float64), _DOUBLINGS)
    constant = np.asarray(timeouts) - doubled
    return np.asarray((2**doubled - 1 + 2**_DOUBLINGS * constant) * timeout_s)


def mean_timeouts_duration(flow: Flow) -> FloatArray:
    """Mean duration of a sequence of timeouts ``E[|TOP|]``, equation (24): ``RTO f(p) / (1-p)``."""
    p = flow.loss
    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    return np.asarray(flow.timeout_s * f / (1 - p))


def timeout_ratio(flow: Flow, window: ArrayLike, variant: Variant = "derived") -> FloatArray:
    """Probability ``Q`` that a loss ends in a timeout, equation (25).

    ``p^(W/S - 1)``, the probability that the other bursts of the round are lost too, which is 1
    where one burst holds the whole window; as printed ``p^((W-1)/S)``.
    """
    w, s = np.asarray(window, dtype=np.float64), flow.burst_segments
    if is_printed(variant):
        return np.asarray(flow.loss ** ((w - 1) / s))
    return np.asarray(flow.loss ** np.maximum(w / s - 1, 0))
