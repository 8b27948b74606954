"""Explanations of queue pairs whose packets are trimmed."""

import pytest

import lightburst as lb
from lightburst.result.metric_text import readable

INCAST = {
    "topology": {"kind": "fat-tree", "k": 4, "link_rate": "10 Gb/s", "link_length": "10 m"},
    "switching": {"kind": "electronic", "queue": "trim"},
    "transport": {
        "kind": "rdma",
        "congestion_control": "line-rate",
        "recovery": "selective-repeat",
        "segment_size": "9 kB",
        "max_inflight": "90 kB",
    },
    "workload": {
        "kind": "incast",
        "senders": 12,
        "rounds": 1,
        "interval": "1 ms",
        "size": {"kind": "constant", "value": "300 kB"},
    },
}


def test_a_trimmed_copy_was_lost() -> None:
    """As the simulator counts: a transmission that was trimmed is lost, its header is not."""
    scenario = lb.Scenario.from_dict(INCAST)
    flows = lb.run(scenario, 1).flows
    for flow in (0, 3, 11):
        found = lb.explain(scenario, flow, seed=1)
        again = found.retransmissions
        assert len(again) == flows["retransmissions"][flow] > 10
        assert again["spurious"].sum() == flows["spurious_retransmissions"][flow]
        assert found.losses.empty
        # Each copy that got lost was trimmed, and all first transmissions that were trimmed came
        # again.
        cut = found.trimmed
        assert cut["packet"].is_unique
        assert cut["retransmission"].sum() == again["lost"].sum()
        assert set(again["segment"]) == set(cut["segment"])
        text = str(found)
        assert f"Packets trimmed to their headers: {len(cut)}" in text
        first = cut.iloc[0]
        assert f"segment {first['segment']}  " in text
        assert "Packets lost: none" in text
        assert "advertised_window" not in str(found)
    assert "(transport.max_inflight)" in str(lb.explain(scenario, 0, seed=1))


@pytest.mark.filterwarnings("ignore:.*header_queue:lightburst.RunWarning")
def test_a_header_without_room_is_lost() -> None:
    """A header that overflows its queue is no acknowledgement, though it has no data either."""
    queue = {"kind": "trim", "header_queue": "128 B"}
    scenario = lb.Scenario.from_dict(INCAST).with_(switching__queue=queue)
    found = lb.explain(scenario, 3, seed=1)
    headers = found.losses[found.losses["what"] == "header"]
    assert not headers.empty
    cut = found.trimmed.set_index("packet")
    assert (cut.loc[headers["packet"], "segment"].to_numpy() == headers["segment"]).all()
    assert (headers["reason"] == "queue-full").all()
    assert f"header of segment {headers['segment'].iloc[0]}  " in str(found)


@pytest.mark.filterwarnings("ignore:.*header_queue:lightburst.RunWarning")
def test_a_header_that_returned_is_told_and_its_packet_was_lost() -> None:
    queue = {"kind": "trim", "header_queue": "128 B", "return_to_sender": True}
    scenario = lb.Scenario.from_dict(INCAST).with_(switching__queue=queue)
    flows = lb.run(scenario, 1).flows
    for flow in (0, 3):
        found = lb.explain(scenario, flow, seed=1)
        back = found.trimmed[found.trimmed["returned_s"].notna()]
        assert len(back) > 10
        assert (back["returned_s"] >= back["time_s"]).all()
        assert f"returned at {readable('time_s', back['returned_s'].iloc[0])}" in str(found)
        # Each transmission that was trimmed is lost, whether its header goes on or back.
        again = found.retransmissions
        assert again["spurious"].sum() == flows["spurious_retransmissions"][flow]
        assert set(again.loc[again["packet"].isin(back["packet"]), "lost"]) == {True}
