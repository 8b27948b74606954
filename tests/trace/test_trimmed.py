"""Packets that queues trim, in the trace of a flow: events of their own, and in the pictures."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.text import Text

import lightburst as lb
from lightburst.experiment.flow_trace import record, save
from lightburst.plots.charts import traces
from lightburst.trace import FlowTrace, packets, series

SCENARIO = {
    "topology": {"kind": "fat-tree", "k": 4, "link_rate": "10 Gb/s", "link_length": "10 m"},
    "switching": {"kind": "electronic", "queue": "trim"},
    "transport": {
        "kind": "rdma",
        "congestion_control": {"kind": "ndp", "first_window": 12},
        "recovery": "selective-repeat",
    },
    "workload": {
        "kind": "incast",
        "senders": 8,
        "rounds": 1,
        "interval": "1 ms",
        "size": {"kind": "constant", "value": "50 kB"},
    },
    "measurement": {"trace": [0]},
}


@pytest.fixture(scope="module")
def result() -> lb.Result:
    """An incast with trimmed packets, of which flow 0 is traced."""
    return lb.run(lb.Scenario.from_dict(SCENARIO), 1)


def test_each_trim_is_an_event_between_sending_and_the_arrival_of_the_header(
    result: lb.Result,
) -> None:
    assert result.trace is not None
    rows = result.trace.segments
    cut = rows[rows["event"] == "trimmed"]
    assert len(cut) > 3
    assert (cut["payload_bytes"] == 1024).all()
    assert cut["reason"].isna().all()
    assert cut["link_source"].equals(cut["node"])
    for row in cut.itertuples():
        own = rows[rows["packet"] == row.packet]
        assert own["event"].tolist() == ["sent", "trimmed", "arrived"]
        assert own["payload_bytes"].tolist() == [1024, 1024, 0]
        assert own["time_s"].is_monotonic_increasing
    # No other packet arrives without its data.
    forward = rows[rows["from_source"] & (rows["event"] == "arrived")]
    assert set(forward.loc[forward["payload_bytes"] == 0, "packet"]) == set(cut["packet"])


def test_the_counts_and_the_pictures_have_them(result: lb.Result, tmp_path: Path) -> None:
    trace = FlowTrace.of(result, 0)
    cut = trace.segments["event"] == 3
    assert record(result, 0)["trimmed"] == cut.sum()
    sent = series.sends(trace)
    assert sent["trimmed"].sum() == cut.sum()
    assert not sent["lost"].any()
    kinds = series.packet_trace(trace)["kind"]
    assert (kinds == "trimmed").sum() == cut.sum()
    first = sent.loc[sent["trimmed"], "time_s"].min()
    begin, end = series.close_up(trace)
    assert begin < first < end
    canvas = traces.time_sequence(trace, "")
    texts = [text.get_text() for text in canvas.findobj(Text) if isinstance(text, Text)]
    assert "trimmed" in texts
    directory = save(result, 0, str(tmp_path / "out"), None)
    table = pd.read_parquet(directory / "trace_segments.parquet")
    assert (table["event"] == "trimmed").sum() == cut.sum()


def test_a_flow_without_trims_has_no_mark_for_them() -> None:
    plain = SCENARIO | {
        "switching": {"kind": "electronic"},
        "transport": {"kind": "rdma", "congestion_control": "line-rate"},
    }
    trace = FlowTrace.of(lb.run(lb.Scenario.from_dict(plain), 1), 0)
    assert tuple(series.packet_trace(trace)["kind"].cat.categories) == series.KINDS


def test_a_header_that_returns_is_an_event_and_a_packet_of_the_capture() -> None:
    queue = {"kind": "trim", "header_queue": "300 B", "return_to_sender": True}
    back = SCENARIO | {"switching": {"kind": "electronic", "queue": queue}}
    result = lb.run(lb.Scenario.from_dict(back), 1)
    assert result.trace is not None
    rows = result.trace.segments
    turned = rows[rows["event"] == "returned"]
    assert len(turned) > 2
    for row in turned.itertuples():
        own = rows[rows["packet"] == row.packet]
        assert own["event"].tolist() == ["sent", "trimmed", "returned", "arrived"]
        assert own["payload_bytes"].tolist() == [1024, 1024, 0, 0]
        assert own["from_source"].tolist() == [True, True, True, False]
        assert not own["syn"].any()
        # The header comes back to the host that sent the packet.
        assert own["node"].iloc[-1] == own["node"].iloc[0] != row.node
    trace = FlowTrace.of(result, 0)
    about = record(result, 0)
    assert about["returned"] == len(turned)
    heard = rows[~rows["from_source"] & (rows["event"] == "arrived")]
    assert about["acknowledgements"] == len(heard) - len(turned)
    captured = packets.capture(trace)
    comments = Counter(captured.comments.values())
    assert comments["header of a trimmed packet, returned by a switch"] == len(turned)
    assert comments["trimmed to its header by a queue"] == about["trimmed"]
    assert captured.payload_bytes[[*captured.comments]].tolist().count(0) == len(turned)
