"""The closed forms of yu2004 against independent numbers, and each equation against the others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

from lightburst.models import yu2004
from lightburst.models.yu2004 import (
    Flow,
    gains,
    limited,
    optimum,
    reno,
    reno_timeouts,
    sack,
    throughput,
    timeouts,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lightburst.models.yu2004 import Flavour, Variant

GOLDEN = pd.read_csv(Path(__file__).parents[1] / "data" / "yu2004_model_golden.csv.gz")
GRID = Flow(
    loss=GOLDEN["p"],
    assembly_time_s=GOLDEN["Tb_s"],
    access_rate=GOLDEN["lambda_segps"],
    round_trip_s=GOLDEN["RTT0_s"],
    timeout_s=GOLDEN["RTO_s"],
    window_limit=GOLDEN["Wm_seg"],
    rounds_per_increase=GOLDEN["b"],
)
BOTH: tuple[Variant, ...] = ("derived", "printed")


def a_flow(**changes: ArrayLike) -> Flow:
    """Make a flow with bursts of 20 segments, far below its window limit."""
    flow = Flow(
        loss=1e-3, assembly_time_s=19e-6, access_rate=1e6, round_trip_s=0.1, timeout_s=0.2,
        window_limit=1e6, rounds_per_increase=2,
    )  # fmt: skip
    return flow.changed(**changes)


COLUMNS: dict[str, Any] = {
    "RTT_s": GRID.full_round_trip_s,
    "S_seg": GRID.burst_segments,
    "EW10_printed": sack.mean_window(GRID, "printed"),
    "EW10_derived": sack.mean_window(GRID),
    "Q25_printed": timeouts.timeout_ratio(GRID, sack.mean_window(GRID, "printed"), "printed"),
    "Q25_derived": timeouts.timeout_ratio(GRID, sack.mean_window(GRID)),
    "B26_sack_printed": throughput.sack_below_limit(GRID, "printed"),
    "B26_sack_derived": throughput.sack_below_limit(GRID),
    "B27_line1": throughput.sack_small_loss(GRID),
    "B27_line2": throughput.square_root_throughput(GRID),
    "B28_sack_printed": throughput.sack_at_limit(GRID, "printed"),
    "B28_sack_derived": throughput.sack_at_limit(GRID),
    "sack_selected_derived": yu2004.predict(GRID, "sack").throughput,
    "B34_newreno": throughput.new_reno_small_loss(GRID),
    "B52_reno_TD": reno_timeouts.reno_without_timeouts(GRID),
    "B53_reno_TDTO": reno_timeouts.reno_with_timeouts(GRID),
    "reno_selected": yu2004.predict(GRID, "reno").throughput,
    "cap_min_lambda_WmOverRTT": np.minimum(GRID.access_rate, throughput.window_throughput(GRID)),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_of_the_reference(column: str) -> None:
    # The reference has ten digits, and 0 for values that underflow.
    np.testing.assert_allclose(COLUMNS[column], GOLDEN[column], rtol=1e-9, atol=1e-300)


def test_the_reference_is_tested_whole() -> None:
    given = {"RTT0_s", "RTO_s", "b", "Wm_seg", "lambda_Bps", "lambda_segps", "p", "Tb_s"}
    elsewhere = {"reno_case", "pftk_full_at_RTT", "pftk_approx_at_RTT"}
    assert set(GOLDEN.columns) == given | elsewhere | set(COLUMNS)
    assert len(GOLDEN) == 672
    said = np.where(yu2004.predict(GRID, "reno").equation == 52, "TD(52)", "TD+TO(53)")
    np.testing.assert_array_equal(said, GOLDEN["reno_case"])


def test_there_is_a_function_for_each_equation() -> None:
    assert list(yu2004.EQUATIONS) == list(range(1, 62))
    for number, function in yu2004.EQUATIONS.items():
        assert f"({number})" in (function.__doc__ or "").split("\n\n")[0]


def test_burst_probabilities_are_a_distribution() -> None:
    k, p = np.arange(1, 20_000), 0.01
    derived, printed = (sack.bursts_probability(p, k, variant) for variant in BOTH)
    assert derived.sum() == pytest.approx(1)
    assert printed.sum() == pytest.approx(1 - p)
    flow = a_flow(loss=p)
    assert flow.burst_segments * (k @ derived) == pytest.approx(sack.segments_before_loss(flow))


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize("b", [1, 2])
def test_equations_8_to_14_follow_from_one_another(variant: Variant, b: int) -> None:
    flow, w = a_flow(rounds_per_increase=b), 37.0
    difference = sack.period_segments_by_rounds(flow, w, variant) - sack.period_segments(flow, w)
    assert sack.window_balance(flow, w, variant) == pytest.approx(difference)
    mean = sack.mean_window(flow, variant)
    assert sack.window_balance(flow, mean, variant) == pytest.approx(0, abs=1e-8)
    assert sack.mean_period_segments(flow, variant) == pytest.approx(
        sack.period_segments(flow, mean)
    )
    rounds = sack.mean_period_rounds(flow, variant)
    assert rounds == pytest.approx(sack.period_rounds(flow, mean))
    assert sack.mean_period_duration(flow, variant) == pytest.approx(
        (rounds + 1) * flow.full_round_trip_s
    )
    assert sack.next_window(mean, rounds, b) == pytest.approx(mean)


def test_equation_8_is_the_sum_over_the_rounds() -> None:
    # A window of 40 begins at 20 and stays b rounds at each size: 20 to 39, then one more round.
    flow = a_flow(rounds_per_increase=2)
    by_hand = 2 * sum(range(20, 40)) + 40 - float(flow.burst_segments)
    assert sack.period_segments_by_rounds(flow, 40) == by_hand
    assert sack.period_segments_by_rounds(flow, 40, "printed") == by_hand - 20


def test_equations_16_to_19_follow_from_one_another() -> None:
    for b in (1, 2):
        flow = a_flow(window_limit=60, rounds_per_increase=b)
        rounds = limited.limited_rounds(flow)
        assert limited.limited_balance(flow, rounds) == pytest.approx(0, abs=1e-8)
        assert limited.limited_duration(flow) == pytest.approx(
            (rounds + 1) * flow.full_round_trip_s
        )
        assert limited.limited_segments(flow) == sack.period_segments(flow, 60)
    # The printed (18) is the derived one for b = 1, and not the root of the printed (17).
    flow = a_flow(window_limit=60, rounds_per_increase=1)
    printed = limited.limited_rounds(flow, "printed")
    assert printed == limited.limited_rounds(flow)
    assert limited.limited_balance(flow, printed, "printed") == pytest.approx(45 - 45 * 30)


@pytest.mark.parametrize("p", [0.001, 0.1, 0.4])
def test_means_of_timeouts_are_their_sums(p: float) -> None:
    k = np.arange(1, 200)
    probability = timeouts.timeouts_probability(p, k)
    assert probability.sum() == pytest.approx(1)
    assert timeouts.mean_timeouts(p) == pytest.approx(k @ probability)
    assert timeouts.timeout_segments(p) == pytest.approx(k @ probability - 1)
    durations = timeouts.timeouts_duration(k, 0.2)
    np.testing.assert_allclose(np.diff(durations)[:7], 0.2 * 2.0 ** np.array([1, 2, 3, 4, 5, 6, 6]))
    mean = timeouts.mean_timeouts_duration(a_flow(loss=p))
    assert mean == pytest.approx(durations @ probability)


def test_a_burst_of_the_whole_window_always_ends_in_a_timeout() -> None:
    flow = a_flow(window_limit=20)
    assert flow.burst_segments == 20
    np.testing.assert_array_equal(timeouts.timeout_ratio(flow, [10, 20]), 1)
    assert timeouts.timeout_ratio(flow, 60) == pytest.approx(1e-6)
    assert timeouts.timeout_ratio(flow, 61, "printed") == pytest.approx(1e-9)


@pytest.mark.parametrize("b", [1, 2])
def test_equations_35_to_44_follow_from_one_another(b: int) -> None:
    flow, w = a_flow(assembly_time_s=49e-6, rounds_per_increase=b), 37.0  # 2^-S is negligible
    difference = reno.reno_segments_by_rounds(flow, w) - reno.reno_segments(flow, w)
    assert reno.reno_window_balance(flow, w) == pytest.approx(difference)
    mean = reno.reno_mean_window(flow)
    assert reno.reno_window_balance(flow, mean) == pytest.approx(0, abs=1e-8)
    assert abs(float(reno.reno_window_balance(flow, mean, "printed"))) > 1
    assert reno.reno_mean_segments(flow) == pytest.approx(reno.reno_segments(flow, mean))
    assert reno.reno_mean_segments(flow, "printed") < reno.reno_mean_segments(flow)
    rounds = reno.reno_mean_rounds(flow)
    assert rounds == pytest.approx(b * (mean - 1))
    assert reno.reno_next_window(flow, mean, rounds) == pytest.approx(mean)
    large = reno.reno_rounds(flow, mean)
    assert reno.reno_next_large_window(flow, mean, large) == pytest.approx(mean)
    assert reno.reno_mean_duration(flow) == pytest.approx(
        (rounds + flow.burst_segments) * flow.full_round_trip_s
    )


def test_equation_39_is_the_sum_over_the_rounds() -> None:
    # A window of 2^20 that begins at 1; the recovery halves it each round, less S retransmissions.
    flow = a_flow(assembly_time_s=20e-6)
    w, s = 2.0**20, 21
    recovery = sum(w / 2**k for k in range(s)) - s
    by_hand = 2 * (w - 1) * w / 2 + recovery  # b (1 + 2 + ... + W-1)
    assert reno.reno_segments_by_rounds(flow, w) == pytest.approx(by_hand, rel=1e-12)
    assert reno.reno_segments_by_rounds(flow, w, "printed") < by_hand - w


def test_reno_stalls_after_as_many_rounds_as_halvings() -> None:
    # (46) is (35) with log2 W rounds: the same where S is that many.
    flow = a_flow(assembly_time_s=5e-6)
    assert reno_timeouts.stalled_segments(flow, 64) == pytest.approx(reno.reno_segments(flow, 64))
    printed = reno_timeouts.stalled_segments(flow, 64, "printed")
    assert printed - reno_timeouts.stalled_segments(flow, 64) == pytest.approx(1)
    assert reno_timeouts.stalled_rounds(flow, 64) == 128


def test_small_loss_forms_are_limits() -> None:
    few = a_flow(loss=1e-10, assembly_time_s=4e-6)
    many = a_flow(loss=1e-10)
    law = throughput.square_root_throughput(many)
    assert throughput.sack_below_limit(many) == pytest.approx(law, rel=1e-3)
    assert throughput.sack_small_loss(many) == pytest.approx(law, rel=1e-3)
    assert throughput.new_reno_small_loss(many) == pytest.approx(law, rel=1e-3)
    assert throughput.sack_below_limit(many, "printed") == pytest.approx(law / 2, rel=1e-3)
    duration = sack.mean_period_duration(many)
    assert sack.small_loss_period_duration(many) == pytest.approx(duration, rel=1e-3)
    assert reno.reno_small_loss_duration(few) == pytest.approx(
        reno.reno_mean_duration(few), rel=1e-3
    )
    recovering = reno.reno_mean_segments(few) / reno.reno_mean_duration(few)
    assert reno_timeouts.reno_without_timeouts(few) == pytest.approx(recovering, rel=1e-3)
    total = reno_timeouts.stalled_total_segments(many)
    stalled = total / reno_timeouts.stalled_total_duration(many)
    assert reno_timeouts.reno_with_timeouts(many) == pytest.approx(stalled, rel=1e-3)
    np.testing.assert_array_equal(reno_timeouts.reno_recovers(few), True)
    np.testing.assert_array_equal(reno_timeouts.reno_recovers(many), False)


def test_the_large_window_form_is_reno_s_alone() -> None:
    flow = a_flow(loss=1e-12)
    law = reno_timeouts.reno_square_root(flow)
    assert reno_timeouts.reno_small_loss(flow) == pytest.approx(law, rel=1e-3)
    new_reno = throughput.new_reno_small_loss(flow)
    assert reno_timeouts.new_reno_square_root(flow) == pytest.approx(new_reno, rel=1e-3)
    printed = reno_timeouts.new_reno_square_root(flow, "printed")
    assert printed * math.sqrt(3) == pytest.approx(new_reno, rel=1e-3)


def test_each_flavour_takes_the_equation_that_applies() -> None:
    flow = a_flow(loss=[1e-4, 1e-2], window_limit=100, rounds_per_increase=1)
    found = yu2004.predict(flow, "sack")
    np.testing.assert_array_equal(found.equation, [28, 26])
    assert found.throughput[0] == throughput.sack_at_limit(flow)[0]
    assert found.throughput[1] == throughput.sack_below_limit(flow)[1]
    found = yu2004.predict(flow, "new-reno")
    np.testing.assert_array_equal(found.equation, [29, 34])
    np.testing.assert_allclose(
        found.throughput,
        [throughput.window_throughput(flow), throughput.new_reno_small_loss(flow)[1]],
    )
    found = yu2004.predict(flow.changed(assembly_time_s=2e-6), "reno")
    np.testing.assert_array_equal(found.equation, [52, 52])
    # The throughput exceeds the window limit; it is not clipped but marked.
    assert found.throughput[0] > throughput.window_throughput(flow)


@pytest.mark.parametrize("b", [1, 2])
def test_the_optima_maximise_what_they_should(b: int) -> None:
    rate, p, limit, r = 5e4, 1e-3, 80, 0.1
    flow = Flow(
        loss=p, assembly_time_s=0, access_rate=rate, round_trip_s=r, timeout_s=1,
        window_limit=limit, rounds_per_increase=b,
    )  # fmt: skip

    def below(t: float) -> float:
        return -math.sqrt(3 * rate * t / (2 * b * p)) / (r + 2 * t)

    def at(t: float) -> float:
        s = rate * t
        return -(s / p) / ((r + 2 * t) * (s / (p * limit) + b * limit / 8 + 1.5))

    best = minimize_scalar(below, bounds=(1e-6, 1), method="bounded", options={"xatol": 1e-10})
    assert optimum.best_time_below_limit(flow) == pytest.approx(best.x, rel=1e-4)
    assert optimum.best_throughput_below_limit(flow) == pytest.approx(-best.fun, rel=1e-9)
    best = minimize_scalar(at, bounds=(1e-6, 1), method="bounded", options={"xatol": 1e-10})
    assert optimum.best_time_at_limit(flow) == pytest.approx(best.x, rel=1e-4)
    assert optimum.best_throughput_at_limit(flow) == pytest.approx(-best.fun, rel=1e-9)


def test_the_optimum_of_figure_5() -> None:
    flow = Flow(
        loss=0.01, assembly_time_s=0, access_rate=125e3, round_trip_s=0.135, timeout_s=0.2,
        window_limit=50,
    )  # fmt: skip
    # The paper says 4 ms; with the product it is 1.4 ms; both are beyond S = W_m at 0.392 ms.
    assert optimum.best_time_at_limit(flow, "printed") == pytest.approx(3.97e-3, rel=1e-3)
    assert optimum.best_time_at_limit(flow) == pytest.approx(1.446e-3, rel=1e-3)
    assert optimum.best_throughput_at_limit(flow, "printed") > 5 * 50 / 0.135
    found = yu2004.numerical_optimum(flow, "sack")
    assert found.assembly_time_s == pytest.approx(49 / 125e3, rel=1e-3)
    times = np.geomspace(1e-6, 1, 2000)
    every = yu2004.predict(flow.changed(assembly_time_s=times), "sack").throughput
    assert found.throughput >= every.max() * (1 - 1e-9)


def test_the_numerical_optimum_is_found_for_many_flows_at_once() -> None:
    flow = a_flow(loss=[[1e-3], [1e-2]], access_rate=[1e3, 1e5, 1e7], window_limit=50)
    found = yu2004.numerical_optimum(flow, "new-reno")
    assert found.assembly_time_s.shape == found.throughput.shape == (2, 3)
    times = np.geomspace(1e-8, 1, 3000)[:, np.newaxis, np.newaxis]
    every = yu2004.predict(flow.changed(assembly_time_s=times), "new-reno").throughput
    assert np.all(found.throughput >= every.max(axis=0) * (1 - 1e-6))


def test_gains_and_penalties_are_ratios_of_throughputs() -> None:
    flow = a_flow(loss=[1e-3, 1e-2], assembly_time_s=[[4e-6], [24e-6]], round_trip_s=1e-4)
    law = throughput.square_root_throughput(flow)
    np.testing.assert_allclose(gains.loss_penalty(flow), throughput.window_throughput(flow) / law)
    alone = gains.unassembled_throughput(flow) * gains.delayed_first_loss_gain(flow)
    np.testing.assert_allclose(law, alone / gains.delay_penalty(flow))
    np.testing.assert_allclose(
        gains.retransmission_penalty(flow, "new-reno"),
        throughput.sack_small_loss(flow) / throughput.new_reno_small_loss(flow),
    )
    np.testing.assert_allclose(
        gains.retransmission_penalty(flow, "reno"), law / reno_timeouts.reno_small_loss(flow)
    )
    np.testing.assert_array_equal(gains.retransmission_penalty(flow, "sack"), np.ones((2, 2)))
    np.testing.assert_allclose(
        gains.assembly_ratio(flow, "sack"), law / gains.unassembled_throughput(flow)
    )
    without = gains.reno_penalty_without_timeouts(flow)
    np.testing.assert_allclose(without, law / reno_timeouts.reno_without_timeouts(flow))
    with_them = gains.reno_penalty_with_timeouts(flow)
    np.testing.assert_allclose(with_them, law / reno_timeouts.reno_with_timeouts(flow))


def test_equation_57_ends_where_its_middle_leads() -> None:
    flow = a_flow(loss=1e-9, assembly_time_s=1e-2)
    last = gains.new_reno_small_loss_penalty(flow) - 1
    middle = gains.new_reno_retransmission_penalty(flow) - 1
    assert middle == pytest.approx(last, rel=1e-3)
    printed = gains.new_reno_retransmission_penalty(flow, "printed") - 1
    assert printed > 100 * last


@pytest.mark.parametrize(
    ("flavour", "changes", "broken"),
    [
        ("sack", {}, set()),
        ("new-reno", {}, set()),
        ("reno", {}, set()),
        ("sack", {"loss": 0.05}, {"small-loss", "small-burst"}),
        ("sack", {"assembly_time_s": 99e-6}, {"small-burst"}),
        (
            "sack",
            {"loss": 0.02, "assembly_time_s": 1e-6, "window_limit": 9},
            {"three-duplicates"},
        ),
        ("sack", {"window_limit": 200}, {"window-limit"}),
        ("sack", {"window_limit": 100}, set()),
        ("new-reno", {"window_limit": 100}, {"window-limit"}),
        ("new-reno", {"window_limit": 100, "loss": 1e-6}, set()),
        ("reno", {"window_limit": 90, "loss": 2e-4}, {"window-limit", "above-window"}),
        ("reno", {"loss": 1e-4, "assembly_time_s": 2e-6}, {"reno-start"}),
        ("reno", {"loss": 0.015, "assembly_time_s": 4e-6}, {"dropped-terms"}),
        ("sack", {"access_rate": 500, "assembly_time_s": 19e-3}, {"above-access-rate"}),
    ],
)
def test_broken_assumptions_are_named(
    flavour: Flavour, changes: dict[str, float], broken: set[str]
) -> None:
    base = {"loss": 2e-3, "rounds_per_increase": 1}
    found = yu2004.broken_assumptions(a_flow(**base | changes), flavour)
    assert set(found) == set(yu2004.ASSUMPTIONS)
    assert {name for name, where in found.items() if where} == broken


def test_shapes_broadcast() -> None:
    flow = a_flow(loss=np.full((3, 1), 0.01), assembly_time_s=np.zeros(4))
    assert flow.shape == (3, 4)
    for flavour in yu2004.FLAVOURS:
        found = yu2004.predict(flow, flavour)
        assert found.throughput.shape == found.equation.shape == found.window.shape == (3, 4)
        assert all(v.shape == (3, 4) for v in yu2004.broken_assumptions(flow, flavour).values())


@pytest.mark.parametrize(
    ("name", "value"),
    [("loss", 0), ("loss", 1), ("loss", np.nan), ("assembly_time_s", -1), ("access_rate", 0),
     ("round_trip_s", 0), ("timeout_s", 0), ("window_limit", 0.5), ("window_limit", np.inf),
     ("rounds_per_increase", 0.5)],
)  # fmt: skip
def test_what_is_outside_the_theory_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        a_flow(**{name: value})


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="variant"):
        sack.mean_window(a_flow(), "corrected")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="flavour"):
        yu2004.predict(a_flow(), "tahoe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="flavour"):
        gains.retransmission_penalty(a_flow(), "tahoe")  # type: ignore[arg-type]
