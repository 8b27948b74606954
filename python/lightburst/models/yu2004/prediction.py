"""Choice of the paper's throughput equation for a flow, and its value."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightburst.models.yu2004.flow import FLAVOURS, Flavour, FloatArray, Flow, Variant
from lightburst.models.yu2004.reno import reno_mean_window
from lightburst.models.yu2004.reno_timeouts import reno_recovers, reno_small_loss
from lightburst.models.yu2004.sack import mean_window
from lightburst.models.yu2004.throughput import (
    new_reno_small_loss,
    sack_at_limit,
    sack_below_limit,
    window_throughput,
)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Prediction of the closed forms for a flow; all arrays have the shape of the flow.

    Attributes
    ----------
    throughput : ndarray of float
        Segments a second, not clipped: a value above the access rate or ``W_m / RTT`` is reported
        by `broken_assumptions`.
    equation : ndarray of int
        Number of the equation that applies.
    window : ndarray of float
        ``E[W_X]`` without the window limit: (10), for Reno (41).
    """

    throughput: FloatArray
    equation: NDArray[np.int64]
    window: FloatArray


def predict(flow: Flow, flavour: Flavour, variant: Variant = "derived") -> Prediction:
    """Choose the equation that applies to a flow and compute its throughput.

    Parameters
    ----------
    flow : Flow
        The flow and its path.
    flavour : {"sack", "new-reno", "reno"}
        Sender's recovery from a loss. SACK: (26) where the mean window (10) is below the limit,
        (28) elsewhere. New-Reno: (34), or (29) where (34) exceeds it. Reno: (52) or (53); the paper
        has no form with a window limit.
    variant : {"derived", "printed"}
        Form of the equations.

    Returns
    -------
    Prediction
        Throughput, equation and window.

    Raises
    ------
    ValueError
        If the flavour or the variant is unknown.
    """
    window = mean_window(flow, variant)
    if flavour == "sack":
        below = window < flow.window_limit
        throughput = np.where(below, sack_below_limit(flow, variant), sack_at_limit(flow, variant))
        equation = np.where(below, 26, 28)
    elif flavour == "new-reno":
        below = new_reno_small_loss(flow) <= window_throughput(flow)
        throughput = np.where(below, new_reno_small_loss(flow), window_throughput(flow))
        equation = np.where(below, 34, 29)
    elif flavour == "reno":
        window = reno_mean_window(flow)
        throughput = reno_small_loss(flow)
        equation = np.where(reno_recovers(flow), 52, 53)
    else:
        raise ValueError(f"flavour: given {flavour!r}; allowed are {', '.join(FLAVOURS)}")
    return Prediction(
        *(np.broadcast_to(each, flow.shape) for each in (throughput, equation, window))
    )
