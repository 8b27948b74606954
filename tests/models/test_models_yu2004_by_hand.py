"""Equations of yu2004 that no other equation checks, with numbers calculated by hand.

The flow of (40) to (51) has a window of exactly 64 segments: with b = 2, S = 20 and p = 1/200, S/p
= 4000, and (41) is 3/4 + sqrt(9/16 + 4000) = 3/4 + sqrt(64009)/4 = (3 + 253)/4 = 64, whose
logarithm is 6. Assembly takes 19 ms, so RTT = 62 + 2 * 19 = 100 ms.
"""

from __future__ import annotations

import math

import pytest

from lightburst.models.yu2004 import (
    Flow,
    gains,
    limited,
    optimum,
    reno,
    reno_timeouts,
)

EXACT = 1e-13


def a_flow() -> Flow:
    return Flow(
        loss=1 / 200, assembly_time_s=19e-3, access_rate=1000, round_trip_s=62e-3,
        timeout_s=0.398, window_limit=1e6, rounds_per_increase=2,
    )  # fmt: skip


def test_the_flow_is_what_the_numbers_stand_on() -> None:
    flow = a_flow()
    assert flow.burst_segments == pytest.approx(20, rel=EXACT)
    assert flow.full_round_trip_s == pytest.approx(0.1, rel=EXACT)
    assert reno.reno_mean_window(flow) == pytest.approx(64, rel=EXACT)
    assert not reno_timeouts.reno_recovers(flow)  # log2 sqrt(4000) = 6 < 20


def test_equation_17() -> None:
    # W_m = 60, X = 100: 3/8 2 3600 + 60 (100 - 60) - 30 - 4000 = 2700 + 2400 - 4030 = 1070.
    # As printed, with 3/4 60 and b = 1: 45 + 60 (100 - 30) - 30 - 4000 = 215.
    flow = a_flow().changed(window_limit=60)
    assert limited.limited_balance(flow, 100) == pytest.approx(1070, rel=EXACT)
    assert limited.limited_balance(flow, 100, "printed") == pytest.approx(215, rel=EXACT)


def test_equations_32_and_33() -> None:
    # p = 1/100, W_m = 20, lambda = 500/s, RTT_0 = 1/2 s, b = 1: W_m/8 + 3/2 = 4 rounds.
    flow = a_flow().changed(
        loss=0.01, window_limit=20, access_rate=500, round_trip_s=0.5, rounds_per_increase=1
    )
    # Derived. (32): sqrt(0.01 20 (0.5 4) / 1000) = sqrt(4e-4).
    assert optimum.best_time_at_limit(flow) == pytest.approx(0.02, rel=EXACT)
    # (33): 2 0.01 4 / 500 + 0.5/20 + sqrt(8 0.01 (0.5 4) / (500 20)) = 0.00016 + 0.025 + 0.004.
    assert optimum.best_throughput_at_limit(flow) == pytest.approx(1 / 0.02916, rel=EXACT)
    # Printed: 0.5 + 4 for 0.5 4. (32): sqrt(0.2 4.5 / 1000) = sqrt(9e-4).
    assert optimum.best_time_at_limit(flow, "printed") == pytest.approx(0.03, rel=EXACT)
    # (33): 0.01 (20 + 12) / 2000 + 0.5 0.01/20 + sqrt(0.08 4.5 / 10000) = 0.00016 + 0.00025 +
    # 0.006.
    assert optimum.best_throughput_at_limit(flow, "printed") == pytest.approx(
        1 / 0.00641, rel=EXACT
    )


def test_equation_38() -> None:
    # S = 3, b = 2, W = 64: 2 64 (1 - 1/8) = 112.
    flow = a_flow().changed(assembly_time_s=2e-3)
    assert reno.reno_rounds(flow, 64) == pytest.approx(112, rel=EXACT)


def test_equations_39_and_42() -> None:
    # (39), W = 64: 64^2 + 64 - 20 = 4140; as printed 64^2 - (128 - 4)/2 - 40.
    flow = a_flow()
    assert reno.reno_segments_by_rounds(flow, 64) == pytest.approx(4140, rel=EXACT)
    assert reno.reno_segments_by_rounds(flow, 64, "printed") == pytest.approx(3994, rel=EXACT)
    # (42): 4000 - 20 + 5/2 64, the same; as printed with 10 4000 / 2 under the root.
    assert reno.reno_mean_segments(flow) == pytest.approx(4140, rel=EXACT)
    by_hand = 3980 + 15 / 8 + math.sqrt((15 / 8) ** 2 + 20_000)
    assert reno.reno_mean_segments(flow, "printed") == pytest.approx(by_hand, rel=EXACT)


def test_equation_40() -> None:
    # W = 100: 100^2 - 3/2 100 - 4000 = 5850; as printed S (1+p)/p = 4020 instead of 4000.
    flow = a_flow()
    assert reno.reno_window_balance(flow, 100) == pytest.approx(5850, rel=EXACT)
    assert reno.reno_window_balance(flow, 100, "printed") == pytest.approx(5830, rel=EXACT)


def test_equations_46_to_51() -> None:
    flow = a_flow()
    # (46): (5/2 - 1/2^5) 64 - 6 + 4000 = 160 - 2 + 3994; as printed 1/2^6, 160 - 1 + 3994.
    assert reno_timeouts.stalled_segments(flow, 64) == pytest.approx(4152, rel=EXACT)
    assert reno_timeouts.stalled_segments(flow, 64, "printed") == pytest.approx(4153, rel=EXACT)
    # (47): 2 64. (48): 5/2 64 + 4000 - 6.
    assert reno_timeouts.stalled_rounds(flow, 64) == 128
    assert reno_timeouts.stalled_mean_segments(flow) == pytest.approx(4154, rel=EXACT)
    # (49): (128 + 6) 0.1 s.
    assert reno_timeouts.stalled_duration(flow) == pytest.approx(13.4, rel=EXACT)
    # (50): and (22), p/(1-p) = 1/199.
    total = reno_timeouts.stalled_total_segments(flow)
    assert total == pytest.approx(4154 + 1 / 199, rel=EXACT)
    # (51): and (24). f(p) = 1 + p + p (2p) + p (2p)^2 + ... with 2p = 1/100, up to p (2p)^5:
    # 1 + 0.005 1.0101010101 = 1.0050505050505. RTO/(1-p) = 0.398/0.995 = 0.4 s.
    duration = reno_timeouts.stalled_total_duration(flow)
    assert duration == pytest.approx(13.4 + 0.4 * 1.0050505050505, rel=EXACT)


def test_equations_52_to_54() -> None:
    flow = a_flow()
    # sqrt(2bS/p) = sqrt(16000) = 40 sqrt(10) rounds, of 0.1 s, in which 4000 segments are sent.
    growth = 40 * math.sqrt(10)
    assert reno_timeouts.reno_square_root(flow) == pytest.approx(40_000 / growth, rel=EXACT)
    # (52): and S = 20 rounds.
    rate = reno_timeouts.reno_without_timeouts(flow)
    assert rate == pytest.approx(40_000 / (growth + 20), rel=EXACT)
    # (53): and log2 sqrt(2S/(bp)) = log2(4000)/2 rounds, and RTO = 3.98 rounds.
    halvings = (5 + 3 * math.log2(5)) / 2
    rate = reno_timeouts.reno_with_timeouts(flow)
    assert rate == pytest.approx(40_000 / (growth + halvings + 3.98), rel=EXACT)


def test_equation_57() -> None:
    # S = 12, p = 1/36, b = 2: 2bS/(3p) = 576, 24^2: 1 + 11/(24 + 1) = 1.44.
    flow = a_flow().changed(loss=1 / 36, assembly_time_s=11e-3)
    found = gains.new_reno_retransmission_penalty(flow)
    assert found == pytest.approx(1.44, rel=EXACT)
    # As printed 2b/(3Sp) = 4, 2^2: 1 + 11/3. Its last form: 1 + sqrt(3Sp/(2b)) = 1 + 1/2.
    found = gains.new_reno_retransmission_penalty(flow, "printed")
    assert found == pytest.approx(14 / 3, rel=EXACT)
    assert gains.new_reno_small_loss_penalty(flow) == pytest.approx(1.5, rel=EXACT)
