"""The window laws against their closed forms, from the outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from senders import sender

import lightburst as lb

#: No queue, 100 ms: only the window determines the rate between two losses.
PATH: dict[str, Any] = {
    "topology": {"kind": "obs-path", "access_rate": "10 Gb/s", "fibre_rate": "10 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
}
ROUND_TRIP_S = 0.1
SEGMENT = {
    "segment_size": "1 kB",
    "control_size": "40 B",
    "acknowledge_every": 1,
    "advertised_window": 100_000,
}


def completion(law: str | dict[str, Any], every: int, losses: int, acknowledged: int = 1) -> float:
    """Completion time in s of a flow that loses one segment in `every`, a given number of times."""
    drops = [{"segments": [every * i, every * i]} for i in range(1, losses + 1)]
    size = {"kind": "constant", "value": f"{every * losses + every // 2} kB"}
    scenario = lb.Scenario.from_dict(
        {
            **PATH,
            "transport": sender(**SEGMENT)
            | {"congestion_control": law, "acknowledge_every": acknowledged},
            "workload": {"kind": "pairs", "size": size},
            "loss": {"drops": drops},
        }
    )
    flow = lb.run(scenario).flows.iloc[0]
    assert (flow["retransmissions"], flow["timeouts"]) == (losses, 0)
    return float(flow["completion_time_s"])


def mean_window(
    law: str | dict[str, Any],
    every: int,
    losses: int = 40,
    first: int = 20,
    acknowledged: int = 1,
) -> float:
    """Segments in a round trip from the `first` of the losses to the last, of one in `every`."""
    last, before = (completion(law, every, count, acknowledged) for count in (losses, first))
    time = last - before
    return every * (losses - first) / time * ROUND_TRIP_S


@pytest.mark.parametrize("every", [1_000, 3_000, 10_000, 30_000])
def test_highspeed_has_the_response_function_of_rfc_3649(every: int) -> None:
    """Section 5: w = 0.12 / p^0.835, which at p = 10^-3 is that of standard TCP."""
    assert mean_window("highspeed", every) == pytest.approx(0.12 * every**0.835, rel=0.06)


def test_reno_has_the_response_function_of_standard_tcp() -> None:
    assert mean_window("reno", 3_000) == pytest.approx((1.5 * 3_000) ** 0.5, rel=0.06)


def test_reno_that_counts_bytes_grows_alike_however_often_it_is_acknowledged() -> None:
    """RFC 3465: a segment in a round trip, and half of that where acknowledgements are counted.

    The Reno with which CUBIC compares itself grows so (RFC 9438, 4.3: alpha is 1 for beta = 0.5).
    """
    counting = {"kind": "reno", "byte_counting": 1}
    estimate = {"kind": "cubic", "beta": 0.5, "c": 1e-9, "fast_convergence": False}
    expected = (1.5 * 3_000) ** 0.5
    for acknowledged in (1, 2):
        assert mean_window(counting, 3_000, acknowledged=acknowledged) == pytest.approx(
            expected, rel=0.06
        )
        assert mean_window(estimate, 3_000, acknowledged=acknowledged) == pytest.approx(
            expected, rel=0.06
        )
    assert mean_window("reno", 3_000, acknowledged=2) == pytest.approx(expected / 2**0.5, rel=0.06)


@pytest.mark.parametrize("limit", [1, 2])
def test_the_limit_of_rfc_3465_is_what_an_acknowledgement_counts_for_in_slow_start(
    limit: int,
) -> None:
    """Each round trip the window of even size grows by half of it, or by all of it."""
    scenario = lb.Scenario.from_dict(
        {
            **PATH,
            "transport": sender(**SEGMENT | {"acknowledge_every": 2, "initial_window": 8})
            | {"congestion_control": {"kind": "reno", "byte_counting": limit}},
            "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "200 kB"}},
            "measurement": {"trace": [0]},
        }
    )
    windows = lb.run(scenario).columns["trace_windows"]
    rounds = (windows["time_ps"] // 10**11)[1:], windows["congestion_window"][1:]
    last = [rounds[1][rounds[0] == number].max() / 1000 for number in (2, 3)]
    assert last == ([12, 18] if limit == 1 else [16, 32])


@pytest.mark.parametrize("every", [1_000, 3_000])
def test_scalable_recovers_in_as_many_round_trips_from_any_loss(every: int) -> None:
    """One round trip of recovery, and ln(1 / (1 - b)) / a of growth (Kelly 2003, section 2)."""
    round_trips = 1 + np.log(1 / (1 - 0.125)) / 0.01
    window = mean_window("scalable", every, losses=90, first=70)
    assert window == pytest.approx(every / round_trips, rel=0.03)


@pytest.mark.parametrize(("beta", "reduces"), [(0.7, "flight-size"), (0.8, "window")])
def test_cubic_follows_its_curve_after_a_loss(beta: float, reduces: str) -> None:
    """RFC 9438, 4.2: W(t) = C (t - K)^3 + W_max, with K = cbrt(W_max (1 - beta) / C)."""
    law = {"kind": "cubic", "beta": beta, "reduces": reduces}
    scenario = lb.Scenario.from_dict(
        {
            **PATH,
            "transport": sender(**SEGMENT) | {"congestion_control": law},
            "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "90 MB"}},
            "loss": {"drops": [{"segments": [700, 700]}]},
            "measurement": {"trace": [0]},
        }
    )
    trace = lb.run(scenario).trace
    assert trace is not None
    windows = trace.windows
    grown = windows[windows["state"] == "congestion avoidance"]
    before = windows[windows["time_s"] < grown["time_s"].min()]["congestion_window_bytes"].max()
    most, first = before / 1000, grown["time_s"].min()
    k = np.cbrt(most * (1 - beta) / 0.4)
    t = grown["time_s"] - first
    window = grown["congestion_window_bytes"] / 1000
    assert most > 500
    assert window.iloc[0] == pytest.approx(beta * most, rel=0.01)
    # A round trip behind at most, from the beginning over the plateau to 1.5 K.
    known = (t > ROUND_TRIP_S) & (t < 1.5 * k)
    assert t.max() > 1.5 * k
    for late in (0, ROUND_TRIP_S):
        curve = 0.4 * (t - late - k) ** 3 + most
        within = (window - curve)[known] * (1 if late else -1)
        assert within.min() > -0.005 * most


def queue(
    law: str, *, rate: str, size: str, flows: int = 1, delay: str = "10 ms", threshold: str = "off"
) -> tuple[pd.DataFrame, lb.Result]:
    """Windows in segments by time, of flows that share one slow fibre, in the second half."""
    scenario = lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "obs-path",
                "host_pairs": flows,
                "core_nodes": 0,
                "access_rate": "10 Gb/s",
                "access_delay": delay,
                "fibre_rate": rate,
                "fibre_delay": delay,
            },
            "switching": {
                "kind": "electronic",
                "queue_size": "unlimited",
                "ecn_threshold": threshold,
            },
            "transport": sender(**SEGMENT) | {"congestion_control": law},
            "workload": {"kind": "pairs", "size": {"kind": "constant", "value": size}},
            "measurement": {"trace": list(range(flows))},
        }
    )
    result = lb.run(scenario)
    assert result.trace is not None
    windows = result.trace.windows
    end = result.flows["completion_time_s"].min()
    inner = windows[(windows["time_s"] > 0.6 * end) & (windows["time_s"] < 0.95 * end)]
    return inner.assign(window=inner["congestion_window_bytes"] / 1000), result


@pytest.mark.parametrize("flows", [1, 2])
def test_each_flow_of_fast_keeps_alpha_segments_in_the_queue(flows: int) -> None:
    """Its share of 750 segments in flight, and alpha = 100."""
    windows, result = queue("fast", rate="100 Mb/s", flows=flows, size="30 MB")
    for _, own in windows.groupby("flow"):
        assert own["window"].iloc[-1] == pytest.approx(750 / flows + 100, rel=0.02)
    assert result.flows["retransmissions"].sum() == 0
    longest = windows["rtt_s"].max()
    assert longest == pytest.approx(0.06 + flows * 100 * 80e-6, rel=0.02)


def test_vegas_keeps_between_alpha_and_beta_segments_in_the_queue() -> None:
    """In flight there are 10 Mb/s times 60 ms, 75 segments; alpha = 1, beta = 3."""
    windows, _ = queue("vegas", rate="10 Mb/s", size="10 MB")
    assert 76 <= windows["window"].min() <= windows["window"].max() <= 79


@pytest.mark.parametrize("threshold", [20, 65])
def test_dctcp_swings_as_its_paper_says(threshold: int) -> None:
    """Alizadeh et al. 2010, section 3.3, one flow: W* = C RTT + K, A = sqrt(2 (C RTT + K)) / 2."""
    windows, result = queue(
        "dctcp", rate="1 Gb/s", size="60 MB", delay="100 us", threshold=f"{threshold} kB"
    )
    on_the_way = 75
    most, least = windows["window"].max(), windows["window"].min()
    assert most == pytest.approx(on_the_way + threshold, abs=3)
    assert most - least == pytest.approx(((on_the_way + threshold) / 2) ** 0.5, rel=0.15)
    assert result.flows["retransmissions"].sum() == 0
    assert result.switches["marked"].sum() > 0


@pytest.mark.filterwarnings("ignore:.*but no switch makes any")
def test_dctcp_without_marks_is_reno_and_with_nothing_but_marks_has_two_segments() -> None:
    _, unmarked = queue("dctcp", rate="10 Mb/s", size="1 MB")
    _, reno = queue("reno", rate="10 Mb/s", size="1 MB")
    assert unmarked.flows["completion_time_s"].equals(reno.flows["completion_time_s"])
    marked, _ = queue("dctcp", rate="10 Mb/s", size="1 MB", threshold="0 B")
    assert marked["window"].unique().tolist() == [2.0]
