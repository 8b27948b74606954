"""Rates, reordering windows and undone reductions in the trace of a sender of today."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.trace import FlowTrace
from lightburst.trace.rates import delivery_rates

# Three links of 10 ms.
pytestmark = pytest.mark.filterwarnings("ignore::lightburst.RunWarning")

WAY: dict[str, Any] = {
    "topology": {
        "kind": "path", "links": 3, "link_length": "2000 km", "link_rate": "100 Mb/s",
    },
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "transport": {
        "kind": "tcp", "preset": "linux", "recovery": {"kind": "rack-tlp", "pacing": True},
    },
    "workload": {"kind": "pairs", "size": "3 MB"},
    "measurement": {"trace": [0]},
}  # fmt: skip
UNPACED = WAY["transport"] | {"recovery": "rack-tlp"}


def traced(**changes: Any) -> FlowTrace:
    return FlowTrace.of(lb.run(lb.Scenario.from_dict(WAY | changes), seed=1), 0)


def test_the_delivery_rate_is_that_of_the_bottleneck_once_its_link_is_full() -> None:
    rates = delivery_rates(traced(transport=UNPACED))
    # 1448 B of 1500 B are useful; the last segment is shorter.
    assert rates["rate_bps"].max() == pytest.approx(1e8 * 1448 / 1500, rel=1e-9)
    assert rates["rate_bps"].iloc[-100:-1].min() == pytest.approx(1e8 * 1448 / 1500, rel=1e-9)


def test_the_first_window_is_delivered_within_a_round_trip_and_its_transmissions() -> None:
    trace = traced(transport=UNPACED | {"acknowledge_every": 1})
    rates = delivery_rates(trace)["rate_bps"].to_numpy()
    # A segment takes 120 us on each of three links of 10 ms, an acknowledgement has 64 B.
    trip = 6 * 10e-3 + 3 * 120e-6 + 3 * 64 * 8 / 1e8
    n = np.arange(1, 11)
    assert rates[:10] == pytest.approx(n * 1448 * 8 / (trip + (n - 1) * 120e-6), rel=1e-9)


def test_sacked_data_counts_as_delivered() -> None:
    sampled = delivery_rates(traced(transport=UNPACED, loss={"drops": [{"segments": [60, 60]}]}))
    # Without SACK the acknowledgement of the retransmission would deliver a whole round trip.
    assert sampled["rate_bps"].max() <= 1e8 * 1448 / 1500 * (1 + 1e-9)
    assert sampled["time_s"].between(0.25, 0.31).sum() > 10


def test_pacing_is_twice_the_window_per_round_trip_in_slow_start() -> None:
    windows = traced().windows
    rate = 2 * windows["congestion_window"][0] / (windows["rtt_ps"][0] * 1e-12)
    # SRTT is counted in eighths of a microsecond.
    assert windows["pacing"][0] == pytest.approx(rate, rel=1e-4)
    assert (traced(transport={"kind": "tcp"}).windows["pacing"] == 0).all()


def test_a_late_segment_widens_the_reordering_window_and_undoes_the_reduction() -> None:
    held = {"holds": [{"segments": [60, 60], "later": 12}]}
    trace = traced(loss=held)
    wait, undone = trace.windows["reordering_window_ps"], trace.windows["undone"]
    # RFC 8985, section 6.2, step 4: a quarter of the least round trip; none in a recovery before
    # reordering was seen; a quarter more after a duplicate.
    quarter = int(wait[0])
    least = int(trace.windows["rtt_ps"].min())
    assert quarter == pytest.approx(least / 4, rel=1e-3)
    assert set(np.diff(wait.astype(np.int64)) // quarter) >= {-1, 1}
    assert wait.min() == 0
    assert wait[-1] == 2 * quarter
    assert undone[-1] == 1
    reason = lb.explain(lb.Scenario.from_dict(WAY | {"loss": held}), flow=0)
    (row,) = reason.undone.to_dict("records")
    (again,) = reason.retransmissions.to_dict("records")
    assert again["spurious"]
    assert row["reduced_s"] <= again["time_s"] < row["time_s"]
    assert "Reductions undone, since the data was not lost: 1" in str(reason)
    assert reason.as_dict()["undone"] == [row]


@pytest.mark.parametrize("late", [[60], [60, 62], [60, 70]])
def test_the_reordering_window_widens_once_in_a_round_trip(late: list[int]) -> None:
    """However many duplicates the round trip reports (RFC 8985, section 6.2, step 4)."""
    held = {"holds": [{"segments": [number, number], "later": 12} for number in late]}
    result = lb.run(lb.Scenario.from_dict(WAY | {"loss": held}), seed=1)
    assert result.flows["retransmissions"].sum() == len(late)
    waits = FlowTrace.of(result, 0).windows["reordering_window_ps"]
    assert waits.max() == 2 * waits[0]


def test_other_recoveries_have_no_reordering_window_and_nothing_undone() -> None:
    held = {"holds": [{"segments": [60, 60], "later": 12}]}
    sack = {"kind": "tcp", "segment_size": "1500 B", "recovery": "sack"}
    trace = traced(loss=held, transport=sack)
    assert (trace.windows["reordering_window_ps"] == 2**64 - 1).all()
    assert not trace.windows["undone"].any()
    reason = lb.explain(lb.Scenario.from_dict(WAY | {"loss": held, "transport": sack}), flow=0)
    assert reason.undone.empty
    assert "undone" not in str(reason)
