"""Assumptions of the closed forms, and the test whether a point violates them.

The limits come from the Monte Carlo twin (`lightburst.models.rounds`): where no assumption is
violated, the derived forms are within a tenth of it for SACK and New-Reno, a fifth for Reno.
"""

import numpy as np
from numpy.typing import NDArray

from lightburst.models.yu2004.flow import Flavour, Flow, Variant
from lightburst.models.yu2004.prediction import predict
from lightburst.models.yu2004.sack import segments_before_loss
from lightburst.models.yu2004.throughput import new_reno_small_loss, window_throughput

BoolArray = NDArray[np.bool_]

_LARGEST_LOSS = 0.02
_LARGEST_BURST = 0.25  # of the window
_FEW_SEGMENTS = 10.0
_NEAR_LIMIT = (0.8, 1.5)  # mean window over window limit
_FAR_ABOVE_LIMIT = 2.5  # (34) over (29)
_SMALLEST_RENO_BURST = 4.0
_LARGEST_DROPPED_SHARE = 0.1

#: Assumptions by name, with their meaning.
ASSUMPTIONS = {
    "small-loss": f"p is at most {_LARGEST_LOSS}: one burst is lost in a round, none in a recovery",
    "small-burst": f"S is at most {_LARGEST_BURST} of the window: losing all of it is rare",
    "three-duplicates": "a loss leaves three segments to tell of it: S from 3, or a window from "
    f"{_FEW_SEGMENTS:g}",
    "window-limit": "the window is well below W_m, or all but always there",
    "above-window": "the throughput is at most W_m / RTT",
    "above-access-rate": "the throughput is at most the access rate lambda",
    "reno-start": f"Reno's window starts near 1: S is at least {_SMALLEST_RENO_BURST:g}",
    "dropped-terms": "5/2 W is at most a tenth of S/p: (52) and (53) leave it out",
}


def broken_assumptions(
    flow: Flow, flavour: Flavour, variant: Variant = "derived"
) -> dict[str, BoolArray]:
    """Report the violated assumptions of `predict`, for each point.

    Parameters
    ----------
    flow : Flow
        The flow and its path.
    flavour : {"sack", "new-reno", "reno"}
        Sender's recovery from a loss.
    variant : {"derived", "printed"}
        Form of the equations.

    Returns
    -------
    dict of str to ndarray of bool
        For each name in `ASSUMPTIONS`, whether it is violated; of the shape of the flow.

    Raises
    ------
    ValueError
        If the flavour or the variant is unknown.
    """
    found = predict(flow, flavour, variant)
    limit, burst = flow.window_limit, flow.burst_segments
    window = np.minimum(found.window, limit)
    reno = flavour == "reno"
    broken = {
        "small-loss": flow.loss > _LARGEST_LOSS,
        "small-burst": burst > _LARGEST_BURST * window,
        "three-duplicates": (burst < 3) & (window < _FEW_SEGMENTS),
        "window-limit": _near_limit(flow, flavour, found.window / limit),
        # Tolerance of a part in a million, so that (29) does not exceed itself by rounding.
        "above-window": found.throughput > window_throughput(flow) * (1 + 1e-6),
        "above-access-rate": found.throughput > flow.access_rate,
        "reno-start": reno & (burst < _SMALLEST_RENO_BURST),
        "dropped-terms": reno
        & (2.5 * found.window > _LARGEST_DROPPED_SHARE * segments_before_loss(flow)),
    }
    return {name: np.broadcast_to(where, flow.shape) for name, where in broken.items()}


def _near_limit(flow: Flow, flavour: Flavour, share: NDArray[np.float64]) -> BoolArray:
    """Only SACK has an equation for a limited window; (29) is the limit without any loss."""
    low, high = _NEAR_LIMIT
    if flavour == "sack":
        return np.asarray((share > low) & (share < high))
    if flavour == "new-reno":
        without_loss = new_reno_small_loss(flow) > _FAR_ABOVE_LIMIT * window_throughput(flow)
        return np.asarray((share > low) & ~without_loss)
    return np.asarray(share > low)
