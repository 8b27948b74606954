"""Equations (16) to (19): the period between two losses of a SACK flow at its window limit.

A period begins with ``W_m / 2``, reaches ``W_m``, and stays there until a burst is lost.
"""

import numpy as np
from numpy.typing import ArrayLike

from lightburst.models.yu2004.flow import FloatArray, Flow, Variant, is_printed
from lightburst.models.yu2004.sack import period_duration, period_segments, segments_before_loss


def limited_segments(flow: Flow) -> FloatArray:
    """Segments sent in a period ``E[Y]``, equation (16): (5) with ``E[W_X] = W_m``."""
    return period_segments(flow, flow.window_limit)


def limited_balance(flow: Flow, rounds: ArrayLike, variant: Variant = "derived") -> FloatArray:
    """Equation (17), whose root is the number of rounds: left side minus ``S/p``.

    ``3b/8 W_m^2 + W_m (X - b W_m/2) - W_m/2 - S/p``: the window grows for ``b W_m/2`` rounds. As
    printed, the first term is the mean window of that growth, ``3/4 W_m``, not yet multiplied by
    its rounds, and b is 1; (18) does not follow from that. It is 0 at `limited_rounds` if derived.
    """
    b = 1.0 if is_printed(variant) else flow.rounds_per_increase
    limit, x = flow.window_limit, np.asarray(rounds, dtype=np.float64)
    growing = 1.0 if is_printed(variant) else b * limit / 2
    sent = 0.75 * limit * growing + limit * (x - b * limit / 2)
    # Half a window, E[gamma], is sent after the loss in its round.
    return np.asarray(sent - limit / 2 - segments_before_loss(flow))


def limited_rounds(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Mean rounds of a period up to its loss ``E[X]``, equation (18).

    ``S/(p W_m) + b W_m/8 + 1/2``; as printed without b.
    """
    at_limit = segments_before_loss(flow) / flow.window_limit
    return np.asarray(at_limit + growth_rounds(flow, variant) + 0.5)


def limited_duration(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Mean duration of a period ``E[|TDP|]``, equation (19): (18) in (13)."""
    return period_duration(flow, limited_rounds(flow, variant))


def growth_rounds(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Return the rounds lost by growing from half the limit: ``b W_m/8``, as in (18) and (32).

    As printed ``W_m/8``, correct for b = 1 only.
    """
    b = 1.0 if is_printed(variant) else flow.rounds_per_increase
    return np.asarray(b * flow.window_limit / 8)
