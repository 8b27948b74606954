"""Monte Carlo twin of the closed forms of yu2004: their model of rounds, simulated.

One window is sent each round trip, in bursts of S segments, each lost independently. The closed
forms replace the window by its mean, drop terms that are small for a small loss, and neglect the
loss of several bursts in a round; the twin does none of this. Agreement confirms the algebra. A
difference is an error of the algebra and not of the model of TCP, because both use only the
round model.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lightburst.models.yu2004.flow import FLAVOURS, Flavour, Flow

FloatArray = NDArray[np.float64]

# Share of the rounds that are discarded as warm-up.
_WARM_UP = 0.1


@dataclass(frozen=True)
class Played:
    """Throughput of the simulated rounds.

    Attributes
    ----------
    throughput : float
        Segments sent a second.
    low, high : float
        95 % confidence interval of its mean, from the independent flows.
    """

    throughput: float
    low: float
    high: float


def play_rounds(
    flow: Flow,
    flavour: Flavour,
    rng: np.random.Generator,
    *,
    rounds: int = 4000,
    flows: int = 200,
    slow_start: bool = True,
) -> Played:
    """Simulate the round model of yu2004 and measure the throughput.

    Parameters
    ----------
    flow : Flow
        One flow: each of its parameters a single number.
    flavour : {"sack", "new-reno", "reno"}
        Sender's recovery from a loss.
    rng : numpy.random.Generator
        Generator of the losses.
    rounds, flows : int
        Rounds of each flow, of which the first tenth is discarded, and number of independent flows;
        at least 10 and 2.
    slow_start : bool
        Behaviour after a timeout. If true, the window starts at one segment and doubles each round
        up to half of its last value, as in section II.B. If false, as the formulas assume: SACK and
        New-Reno continue with half the window, Reno grows by one segment from 1.

    Returns
    -------
    Played
        Segments a second, with its interval.

    Raises
    ------
    ValueError
        If the flow has several values, the flavour is unknown, or rounds or flows are too few.

    Notes
    -----
    A round of W whole segments consists of ``ceil(W/S)`` bursts, the last of which may be smaller.
    All lost: timeouts of 1, 2, ... 64 RTO, until a retransmission arrives. Some lost: the flavour's
    recovery, without further losses. None lost: the window grows by ``1/b``.
    """
    if flow.shape != () or flavour not in FLAVOURS or rounds < 10 or flows < 2:
        raise ValueError("allowed are one flow, a known flavour, 10 rounds and 2 flows or more")
    p, burst, limit = float(flow.loss), float(flow.burst_segments), float(flow.window_limit)
    rtt, rto = float(flow.full_round_trip_s), float(flow.timeout_s)
    window, threshold = np.ones(flows), np.full(flows, limit)
    sent, passed = np.zeros(flows), np.zeros(flows)
    for step in range(rounds):
        if step == int(_WARM_UP * rounds):
            sent[:] = passed[:] = 0
        size = np.floor(window)
        bursts = np.ceil(size / burst).astype(np.int64)
        lost = rng.binomial(bursts, p)
        # The last burst is as likely to be among the lost ones as any other.
        missing = np.where(rng.random(flows) * bursts < lost, bursts * burst - size, 0.0)
        repair = _RECOVERIES[flavour](size, np.asarray(lost * burst - missing))
        some = (lost > 0) & (lost < bursts)
        expired = (lost == bursts) | (some & repair.stalled)
        tries = rng.geometric(1 - p, flows)
        sent += size + np.where(some, repair.segments, 0) + np.where(expired, tries - 1, 0)
        passed += rtt * (1 + np.where(some, repair.rounds, 0))
        passed += rto * np.where(expired, _backoff(tries), 0)
        after = np.where(some, repair.window, window / 2)
        restarted = np.where(expired & (slow_start or flavour == "reno"), 1.0, after)
        grown = _grown(window, threshold, float(flow.rounds_per_increase))
        threshold = np.where(lost > 0, after if slow_start else restarted, threshold)
        window = np.clip(np.where(lost > 0, restarted, grown), 1.0, limit)
    return _estimate(sent, passed)


@dataclass(frozen=True)
class _Repair:
    """Recovery after a round in which some bursts, but not all, were lost."""

    segments: FloatArray  # new segments sent during the recovery
    rounds: FloatArray
    window: FloatArray  # at the start of the next period
    stalled: NDArray[np.bool_]  # whether the recovery ends in a timeout


def _sack(size: FloatArray, lost: FloatArray) -> _Repair:
    """Repair everything in one round; the rest of the window carries new segments."""
    return _Repair(size - lost, np.ones_like(size), size / 2, np.zeros(size.shape, dtype=bool))


def _new_reno(size: FloatArray, lost: FloatArray) -> _Repair:
    """Repair one segment per round, without new segments."""
    return _Repair(np.zeros_like(size), lost, size / 2, np.zeros(size.shape, dtype=bool))


def _reno(size: FloatArray, lost: FloatArray) -> _Repair:
    """Repair one segment per round and halve the window each time, down to one segment."""
    halvings = np.minimum(lost, np.log2(size))
    rounds_sum = (2 - 2 ** (1 - halvings)) * size  # W + W/2 + W/4 + ...
    return _Repair(rounds_sum - halvings, halvings, size / 2**halvings, np.log2(size) <= lost)


_RECOVERIES: dict[Flavour, Callable[[FloatArray, FloatArray], _Repair]] = {
    "sack": _sack,
    "new-reno": _new_reno,
    "reno": _reno,
}


def _grown(window: FloatArray, threshold: FloatArray, b: float) -> FloatArray:
    """Return the next window without a loss: slow start up to the threshold, then avoidance."""
    slow = np.minimum(window * (1 + 1 / b), threshold)
    return np.where(window < threshold, slow, window + 1 / b)


def _backoff(tries: NDArray[np.int64]) -> FloatArray:
    """Sum of the first `tries` terms of 1, 2, 4, ... 64, 64, 64, ..."""
    doubled = np.minimum(tries, 6)
    return np.asarray(2.0**doubled - 1 + 64 * (tries - doubled))


def _estimate(sent: FloatArray, passed: FloatArray) -> Played:
    """Ratio of two means over independent flows, with its interval (the delta method)."""
    rate = sent.sum() / passed.sum()
    spread = np.std(sent - rate * passed, ddof=1) / np.sqrt(sent.size) / passed.mean()
    half = stats.t.ppf(0.975, sent.size - 1) * spread
    return Played(float(rate), float(rate - half), float(rate + half))
