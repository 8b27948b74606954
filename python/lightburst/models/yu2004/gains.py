"""Equations (55) to (61): gains and costs of burst assembly and burst loss, one at a time.

A penalty is the factor by which the throughput falls, a gain the factor by which it rises, all else
fixed.
"""

import numpy as np

from lightburst.models.yu2004.flow import FLAVOURS, Flavour, FloatArray, Flow, Variant, is_printed
from lightburst.models.yu2004.reno_timeouts import reno_halvings, reno_recovers
from lightburst.models.yu2004.sack import segments_before_loss


def loss_penalty(flow: Flow) -> FloatArray:
    """Loss penalty, equation (55): ``W_m sqrt(2bp/(3S))``, (29) over (27).

    For a small loss. It is below 1, and no penalty, where (27) exceeds ``W_m / RTT``.
    """
    before = segments_before_loss(flow)
    return np.asarray(flow.window_limit * np.sqrt(2 * flow.rounds_per_increase / (3 * before)))


def delay_penalty(flow: Flow) -> FloatArray:
    """Delay penalty of the assembly, equation (56): ``(RTT_0 + 2 T_b) / RTT_0``."""
    return np.asarray(flow.full_round_trip_s / flow.round_trip_s)


def new_reno_retransmission_penalty(flow: Flow, variant: Variant = "derived") -> FloatArray:
    """Retransmission penalty of New-Reno, middle form of (57): first line of (27) over (34).

    ``1 + (S-1) / (sqrt(2bS/(3p)) + 1)``; as printed ``sqrt(2b/(3Sp))``, which is S times less.
    """
    s = flow.burst_segments
    rounds = np.sqrt(2 * flow.rounds_per_increase * segments_before_loss(flow) / 3)
    return np.asarray(1 + (s - 1) / ((rounds / s if is_printed(variant) else rounds) + 1))


def new_reno_small_loss_penalty(flow: Flow) -> FloatArray:
    """Retransmission penalty of New-Reno, last form of (57): ``1 + sqrt(3Sp/(2b))``.

    For a small loss and a large burst.
    """
    s, b = flow.burst_segments, flow.rounds_per_increase
    return np.asarray(1 + np.sqrt(3 * s * flow.loss / (2 * b)))


def reno_penalty_without_timeouts(flow: Flow) -> FloatArray:
    """Retransmission penalty of Reno that needs no timeout, equation (58).

    The last line of (27) over (52): ``sqrt(3) (1 + sqrt(Sp/(2b)))``.
    """
    s, b = flow.burst_segments, flow.rounds_per_increase
    return np.asarray(np.sqrt(3) * (1 + np.sqrt(s * flow.loss / (2 * b))))


def reno_penalty_with_timeouts(flow: Flow) -> FloatArray:
    """Retransmission penalty of Reno whose losses end in timeouts, equation (59).

    The last line of (27) over (53): ``sqrt(3) (1 + (RTO/RTT + log2 sqrt(2S/(bp)))
    sqrt(p/(2bS)))``.
    """
    rounds = flow.timeout_s / flow.full_round_trip_s + reno_halvings(flow)
    growth = 2 * flow.rounds_per_increase * segments_before_loss(flow)
    return np.asarray(np.sqrt(3) * (1 + rounds / np.sqrt(growth)))


def retransmission_penalty(
    flow: Flow, flavour: Flavour, variant: Variant = "derived"
) -> FloatArray:
    """Retransmission penalty of a flavour, section IV.C.

    Parameters
    ----------
    Flow and path; the window limit is not used.
        Uses all but the window limit.
    flavour : {"sack", "new-reno", "reno"}
        SACK has none; New-Reno (57), middle form; Reno (58) or (59).
    variant : {"derived", "printed"}
        Form of (57).

    Returns
    -------
    ndarray of float
        Ratio.

    Raises
    ------
    ValueError
        If the flavour or the variant is unknown.
    """
    if flavour == "sack":
        return np.ones(flow.shape)
    if flavour == "new-reno":
        return new_reno_retransmission_penalty(flow, variant)
    if flavour == "reno":
        return np.where(
            reno_recovers(flow),
            reno_penalty_without_timeouts(flow),
            reno_penalty_with_timeouts(flow),
        )
    raise ValueError(f"flavour: given {flavour!r}; allowed are {', '.join(FLAVOURS)}")


def unassembled_throughput(flow: Flow) -> FloatArray:
    """Throughput without assembly, equation (60): ``sqrt(3/(2bp)) / RTT_0``.

    For a small loss and without a window limit.
    """
    return np.asarray(np.sqrt(3 / (2 * flow.rounds_per_increase * flow.loss)) / flow.round_trip_s)


def delayed_first_loss_gain(flow: Flow) -> FloatArray:
    """Gain because the first loss of a period comes later, equation (61): ``sqrt(S)``."""
    return np.sqrt(flow.burst_segments)


def assembly_ratio(flow: Flow, flavour: Flavour, variant: Variant = "derived") -> FloatArray:
    """Ratio of the throughputs with and without assembly, section IV.E: ``DFL / (DP RP)``.

    Without assembly it is 1, for SACK and New-Reno.
    """
    penalties = delay_penalty(flow) * retransmission_penalty(flow, flavour, variant)
    return delayed_first_loss_gain(flow) / penalties
