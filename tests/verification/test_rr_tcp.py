"""RR-TCP from the outside, with and without segments that overtake each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import check_equal
from plans import RECOVERIES, core
from random_plans import overtaking_plan
from random_transports import LAWS
from scripted.cases import CASES, TRANSPORT, Case, flow, routes
from senders import sender

from lightburst.papers.komatireddy2009.points import Point, base
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run

pytestmark = pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
SEGMENTS = 4000


def overtaken(recovery: str, by: str = "1040 km", seed: int = 1, **changes: Any) -> Result:
    """One flow over two routes, of which each segment draws one; none is lost."""
    settings = TRANSPORT | {"advertised_window": 200, "recovery": recovery} | changes
    scenario = {
        **routes(by),
        "transport": sender(**settings),
        "workload": flow(SEGMENTS),
        "measurement": {"time_limit": "1000 s", "trace": [0]},
    }
    result = run(Scenario.from_dict(scenario), seed=seed)
    assert result.flows["drops"].tolist() == [0]
    assert result.flows["status"].tolist() == ["finished"]
    return result


def time(result: Result) -> float:
    return float(result.flows["completion_time_s"].iloc[0])


def fast(result: Result) -> int:
    return int(result.flows["fast_retransmits"].iloc[0])


#: All but that in which segments overtake each other, and the one below.
PLAIN = [case for case in CASES if case.name not in ("reordered", "inside-a-recovery")]


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_where_nothing_overtakes_it_is_the_sack_of_rfc_6675(case: Case) -> None:
    expected, found = (
        run(case.scenario("sack", recovery=recovery), seed=1) for recovery in ("sack", "rr-tcp")
    )
    for table in ("flows", "links", "trace_windows"):
        for name, column in expected.columns[table].items():
            np.testing.assert_array_equal(found.columns[table][name], column, err_msg=name)


def test_a_recovery_for_what_was_sent_again_already_is_undone() -> None:
    """25 is lost in the recovery for 9 and 22, which sends it again as it ends; the one that begins
    then, with the same acknowledgement, sends it once more."""
    (case,) = (case for case in CASES if case.name == "inside-a-recovery")
    sack, undone = (
        run(case.scenario("sack", recovery=recovery), seed=1) for recovery in ("sack", "rr-tcp")
    )
    # Half of 12 segments outstanding, and then of the window of 6, beyond which four more are.
    for result, threshold in ((sack, 3_000), (undone, 6_000)):
        assert result.flows["fast_retransmits"].tolist() == [2]
        assert result.flows["false_fast_retransmits"].tolist() == [1]
        thresholds = result.columns["trace_windows"]["slow_start_threshold"]
        assert thresholds[-1] == threshold


@pytest.mark.parametrize("law", ["reno", "highspeed", "cubic", "scalable"])
@pytest.mark.parametrize("seed", [1, 2])
def test_after_a_few_events_nothing_is_taken_for_lost_and_the_window_is_whole(
    law: str, seed: int
) -> None:
    """As good as a threshold that is known to be large enough, where SACK takes thrice as long."""
    patient = overtaken("sack", seed=seed, congestion_control=law, duplicate_threshold=40)
    adaptive, plain = (
        overtaken(recovery, seed=seed, congestion_control=law) for recovery in ("rr-tcp", "sack")
    )
    assert fast(patient) == 0 < fast(adaptive) <= 20
    assert time(adaptive) < 1.1 * time(patient)
    assert time(plain) > 3 * time(patient)
    assert adaptive.flows["false_fast_retransmits"].iloc[0] == fast(adaptive)


def test_a_reduction_is_undone_to_the_bit() -> None:
    """All recoveries are false: ssthresh is infinite again, as at the beginning."""
    undone, not_undone = overtaken("rr-tcp"), overtaken("rr-tcp", undo=False)
    for result, infinite in ((undone, True), (not_undone, False)):
        windows = result.columns["trace_windows"]
        assert fast(result) > 0
        assert np.isfinite(windows["slow_start_threshold"]).any()
        assert np.isinf(windows["slow_start_threshold"][-1]) == infinite
    assert time(undone) < time(not_undone) < time(overtaken("sack"))


def test_without_reports_of_duplicates_nothing_is_undone() -> None:
    blind = overtaken("rr-tcp", duplicate_sack=False)
    assert np.isfinite(blind.columns["trace_windows"]["slow_start_threshold"][-1])


def test_a_larger_share_outlasts_more_events() -> None:
    """The longest of all events instead of the median."""
    half, all_of_them = (
        np.mean([fast(overtaken("rr-tcp", "4000 km", s, avoidance_ratio=share)) for s in (1, 2, 3)])
        for share in (0.5, 1.0)
    )
    assert half > 2 * all_of_them > 0


@pytest.mark.parametrize("seed", range(6))
def test_what_a_law_remembers_is_taken_back_as_in_the_twin(seed: int) -> None:
    """CUBIC between a few losses, with false ones in its stages."""
    plan = overtaking_plan(seed)
    (group,) = plan.settings["groups"]
    m = group["transport"]["segment_bytes"] - group["transport"]["header_bytes"]
    cubic = {key: drawn[0] for key, drawn in LAWS["cubic"].items()}
    transport = group["transport"] | {
        "congestion_control": {"kind": "cubic", **cubic, "c": 4e6},
        "recovery": {**RECOVERIES["rr-tcp"], "kind": "rr-tcp", "duplicate_threshold": 2},
        "advertised_window_bytes": 100 * m,
        "initial_window_bytes": 20 * m,
    }
    loss = {"probability": 0.003, "acknowledgement_probability": 0.0, "drops": []}
    groups = [{**group, "transport": transport}]
    plan = plan._replace(
        flows={**plan.flows, "bytes": np.array([500 * m], np.uint64)},
        settings={**plan.settings, "loss": loss, "groups": groups},
    )
    check_equal(plan)
    assert core(plan)["flows"]["false_fast_retransmits"].sum() > 3


def test_no_timeout_enlarges_the_window_whatever_the_threshold_has_let_go() -> None:
    """Ten transfers over two paths, of which RR-TCP learns to wait for hundreds of duplicates.

    Each of these permits a segment: if they counted at a timeout, half of them would be more than
    the window, as it was in one of three here, and in 48 of 53 with 100 MB.
    """
    point = Point("HighSpeed", "rr-tcp", delta=50e-3, loss=1e-3, size=20e6, window=2000)
    every = list(range(10))
    result = run(base().with_({**point.settings(), "measurement.trace": every}), seed=1)
    assert result.trace is not None
    windows, expired = result.trace.windows, 0
    for number in every:
        rows = windows[windows["flow"] == number]
        cwnd, ssthresh = (
            rows[name].to_numpy()
            for name in ("congestion_window_bytes", "slow_start_threshold_bytes")
        )
        state = rows["state"].to_numpy()
        after = 1 + np.flatnonzero(
            (cwnd[1:] == 1000) & (state[1:] == "loss") & (ssthresh[1:] != ssthresh[:-1])
        )
        assert (ssthresh[after] <= np.maximum(cwnd[after - 1], 2000)).all()
        expired += len(after)
    assert expired == result.flows["timeouts"].sum() >= 3
