"""Settings of messages over queue pairs, and random ones."""

from collections.abc import Callable
from random import Random
from typing import Any

from plans import GIGABIT, MICROSECOND, MILLISECOND
from random_transports import random_patience

#: Constants of DCQCN (Zhu et al. 2015), as of the scenario.
DCQCN: dict[str, Any] = {
    "kind": "dcqcn",
    "notification_interval_ps": 50 * MICROSECOND,
    "g": 1 / 256,
    "alpha_interval_ps": 55 * MICROSECOND,
    "timer_ps": 55 * MICROSECOND,
    "byte_counter_bytes": 10_000_000,
    "fast_recovery": 5,
    "additive_increase_bps": 40_000_000,
    "hyper_increase_bps": 400_000_000,
    "min_rate_bps": 1_000_000,
}


def rdma(recovery: str = "go-back-n", **changes: Any) -> dict[str, Any]:
    """Settings of messages over queue pairs."""
    return {
        "kind": "rdma",
        "congestion_control": DCQCN,
        "recovery": {"kind": recovery},
        "segment_bytes": 1086,
        "header_bytes": 62,
        "control_bytes": 66,
        "handshake": False,
        "acknowledge_every": 1,
        "acknowledgement_timeout_ps": MILLISECOND,
        **changes,
    }


def random_rdma(random: Random, segment: int, header: int) -> dict[str, Any]:
    """Messages over queue pairs, with constants that act within some packets."""
    pick = random.choice
    law = random.choice(list(RATE_LAWS))
    every, payload = pick([1, 1, 2, 5]), segment - header
    drawn: dict[str, Any] = {
        "congestion_control": RATE_LAWS[law](random),
        "segment_bytes": segment,
        "header_bytes": header,
        "control_bytes": pick([66, 66, 20, 200]),
        "acknowledge_every": every,
        "acknowledgement_timeout_ps": pick([100, 300, 1_000, 67_109]) * MICROSECOND,
        **random_patience(random),
    }
    if random.random() < 0.4:
        drawn["max_inflight_bytes"] = payload * pick([every, every + 3, 40]) + pick(
            [0, payload // 2]
        )
    return rdma(pick(["go-back-n", "selective-repeat"]), **drawn)


def random_dcqcn(random: Random) -> dict[str, Any]:
    """Timers of some packets, and byte counters of a few or of many."""
    pick = random.choice
    interval = pick([1, 5, 50])
    return DCQCN | {
        "notification_interval_ps": interval * MICROSECOND,
        "g": pick([1 / 256, 1 / 16, 0.7, 0.0, 1.0]),
        "alpha_interval_ps": interval * MICROSECOND + pick([1, 5 * MICROSECOND, 99 * MICROSECOND]),
        "timer_ps": pick([1, 7, 55, 300]) * MICROSECOND,
        "byte_counter_bytes": pick([1, 5_000, 30_000, 10_000_000]),
        "fast_recovery": pick([1, 2, 5]),
        "additive_increase_bps": pick([40_000_000, GIGABIT // 3]),
        "hyper_increase_bps": pick([400_000_000, 2 * GIGABIT]),
        "min_rate_bps": pick([1_000_000, 100_000_000, 20 * GIGABIT]),
    }


#: Constants of TIMELY (Mittal et al. 2015), as of the scenario.
TIMELY: dict[str, Any] = {
    "kind": "timely",
    "low_threshold_ps": 50 * MICROSECOND,
    "high_threshold_ps": 500 * MICROSECOND,
    "min_round_trip_ps": 20 * MICROSECOND,
    "alpha": 0.875,
    "beta": 0.8,
    "additive_increase_bps": 10_000_000,
    "min_rate_bps": 1_000_000,
}


def random_timely(random: Random) -> dict[str, Any]:
    """Thresholds within round trips, and steps that are soon at the link's rate."""
    pick = random.choice
    low = pick([1, 5, 50])
    return TIMELY | {
        "low_threshold_ps": low * MICROSECOND,
        "high_threshold_ps": pick([low, low + 10, 500]) * MICROSECOND,
        "min_round_trip_ps": pick([1, 20 * MICROSECOND]),
        "alpha": pick([0.875, 0.1, 1.0]),
        "beta": pick([0.8, 0.1, 1.0]),
        "additive_increase_bps": pick([10_000_000, GIGABIT]),
        "min_rate_bps": pick([1_000_000, 100_000_000, 20 * GIGABIT]),
    }


#: Constants of Swift (Kumar et al. 2020), as of the scenario.
SWIFT: dict[str, Any] = {
    "kind": "swift",
    "base_target_ps": 20 * MICROSECOND,
    "hop_target_ps": 3_050_000,
    "flow_range_ps": 100 * MICROSECOND,
    "flow_min_window": 0.1,
    "flow_max_window": 100.0,
    "increase": 1.0,
    "beta": 0.8,
    "max_decrease": 0.5,
    "min_window": 0.01,
    "max_window": 1000.0,
    "first_window": 10.0,
    "reset_after": 5,
}


def random_swift(random: Random) -> dict[str, Any]:
    """Targets within round trips, and windows of parts of a packet up to many."""
    pick = random.choice
    return SWIFT | {
        "base_target_ps": pick([1, 5 * MICROSECOND, 20 * MICROSECOND, 300 * MICROSECOND]),
        "hop_target_ps": pick([0, 3_050_000, 40 * MICROSECOND]),
        "flow_range_ps": pick([0, 100 * MICROSECOND]),
        "flow_min_window": pick([0.1, 0.5]),
        "flow_max_window": pick([1.5, 4.0, 100.0]),
        "increase": pick([0.3, 1.0, 5.0]),
        "beta": pick([0.8, 0.1, 1.0]),
        "max_decrease": pick([0.5, 0.25, 1.0]),
        "min_window": pick([0.01, 0.2, 2.0]),
        "max_window": pick([2.5, 1000.0]),
        "first_window": pick([0.1, 1.0, 3.7, 10.0]),
        "reset_after": pick([1, 2, 5]),
    }


#: Constants of HPCC (Li et al. 2019), as of the scenario.
HPCC: dict[str, Any] = {
    "kind": "hpcc",
    "eta": 0.95,
    "base_round_trip_ps": 13 * MICROSECOND,
    "max_stage": 5,
    "flows": 100.0,
}


def random_hpcc(random: Random) -> dict[str, Any]:
    """Round trips of a packet up to many, and steps of some packets."""
    pick = random.choice
    return HPCC | {
        "eta": pick([0.95, 0.5, 1.0]),
        "base_round_trip_ps": pick([1, 13, 100, 1_000]) * MICROSECOND,
        "max_stage": pick([1, 5]),
        "flows": pick([1.0, 2.5, 100.0]),
    }


#: Constants of NDP (Handley et al. 2017), as of the scenario.
NDP: dict[str, Any] = {"kind": "ndp", "first_window": 30}


def random_ndp(random: Random) -> dict[str, Any]:
    """First windows of a packet up to more than most messages have."""
    return NDP | {"first_window": random.choice([1, 2, 5, 12, 30])}


RATE_LAWS: dict[str, Callable[[Random], dict[str, Any]]] = {
    "dcqcn": random_dcqcn,
    "hpcc": random_hpcc,
    "line-rate": lambda random: {"kind": "line-rate"},
    "ndp": random_ndp,
    "swift": random_swift,
    "timely": random_timely,
}
