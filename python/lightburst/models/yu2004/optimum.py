"""Equations (30) to (33): optimal assembly time, and the throughput at it."""

from dataclasses import dataclass

import numpy as np

from lightburst.models.yu2004.flow import Flavour, FloatArray, Flow, Variant, is_printed
from lightburst.models.yu2004.limited import growth_rounds
from lightburst.models.yu2004.prediction import predict

# Burst sizes tried between one segment and the window, and again around the best one.
_STEPS = 400


def best_time_below_limit(flow: Flow) -> FloatArray:
    """Optimal assembly time where ``W_X < W_m``, equation (30): ``RTT_0 / 2``.

    It maximises (27) with S taken as ``lambda T_b``; with ``lambda T_b + 1`` it is ``2 / lambda``
    less. It is an optimum only if ``S < W_m`` there.
    """
    return np.asarray(flow.round_trip_s / 2)


def best_throughput_below_limit(flow: Flow) -> FloatArray:
    """Throughput at (30), equation (31): ``sqrt(3 lambda RTT_0 / (bp)) / (4 RTT_0)``."""
    r, b = flow.round_trip_s, flow.rounds_per_increase
    return np.asarray(np.sqrt(3 * flow.access_rate * r / (b * flow.loss)) / (4 * r))


def best_time_at_limit(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Optimal assembly time where ``W_X = W_m``, equation (32).

    ``sqrt(p W_m RTT_0 (b W_m/8 + 3/2) / (2 lambda))``; as printed with the sum ``RTT_0 + (W_m/8 +
    3/2)``, seconds and rounds, in place of the product. S is taken as ``lambda T_b``. It
    is an optimum only if ``S < W_m`` there.
    """
    weight = _combined(flow, variant)
    return np.asarray(np.sqrt(flow.loss * flow.window_limit * weight / (2 * flow.access_rate)))


def best_throughput_at_limit(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Throughput at (32), equation (33).

    One over ``2pC/lambda + RTT_0/W_m + sqrt(8 p RTT_0 C / (lambda W_m))`` with ``C = b W_m/8 +
    3/2``; as printed ``RTT_0 p/W_m``, and the sum as in (32).
    """
    p, rate, limit = flow.loss, flow.access_rate, flow.window_limit
    waiting = 2 * p * (growth_rounds(flow, variant) + 1.5) / rate
    full = flow.round_trip_s / limit * (p if is_printed(variant) else 1.0)
    both = np.sqrt(8 * p * _combined(flow, variant) / (rate * limit))
    return np.asarray(1 / (waiting + full + both))


@dataclass(frozen=True, eq=False)
class Optimum:
    """Assembly time with the largest throughput; arrays of the shape of the flow.

    Attributes
    ----------
    assembly_time_s : ndarray of float
        Optimal assembly time in seconds.
    throughput : ndarray of float
        Throughput at this time, in segments a second.
    """

    assembly_time_s: FloatArray
    throughput: FloatArray


def numerical_optimum(flow: Flow, flavour: Flavour, variant: Variant = "derived") -> Optimum:
    """Find the assembly time that maximises `predict`, by a search over burst sizes.

    Parameters
    ----------
    flow : Flow
        Flow and path; the assembly time is not used.
    flavour : {"sack", "new-reno", "reno"}
        Sender's recovery from a loss.
    variant : {"derived", "printed"}
        Form of the equations.

    Returns
    -------
    Optimum
        Accurate to about one part in ten thousand of S. The search covers bursts from one segment
        to the whole window; beyond that only the delay grows. It uses no derivatives, because the
        throughput jumps where another equation takes over.

    Raises
    ------
    ValueError
        If the flavour or the variant is unknown.
    """
    wide = flow.changed(
        **{
            name: np.broadcast_to(value, flow.shape)[..., np.newaxis]
            for name, value in flow.values().items()
        }
    )
    low, high = np.zeros(flow.shape), np.log(np.broadcast_to(flow.window_limit, flow.shape))
    for _ in range(2):
        steps = np.linspace(low, high, _STEPS, axis=-1)
        times = np.expm1(steps) / wide.access_rate
        found = predict(wide.changed(assembly_time_s=times), flavour, variant).throughput
        best = np.argmax(found, axis=-1)[..., np.newaxis]
        low, high = (
            np.take_along_axis(steps, np.clip(best + side, 0, _STEPS - 1), axis=-1)[..., 0]
            for side in (-1, 1)
        )
    return Optimum(
        np.take_along_axis(times, best, axis=-1)[..., 0],
        np.take_along_axis(found, best, axis=-1)[..., 0],
    )


def _combined(flow: Flow, variant: Variant) -> FloatArray:
    """RTT_0 and the rounds without a full window, combined as under the root."""
    rounds = growth_rounds(flow, variant) + 1.5
    r = flow.round_trip_s
    return np.asarray(r + rounds if is_printed(variant) else r * rounds)
