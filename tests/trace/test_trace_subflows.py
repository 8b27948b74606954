"""Traces of connections with several subflows: each subflow has its packets, and their data."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError
from lightburst.trace import FlowTrace, capture, series, tables

SIZE = 1_000_700
#: Two paths from A to D; the first loses all packets from 2 ms on.
TWO: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "link_rate": "1 Gb/s",
        "link_length": "1 km",
        "links": [
            *({"source": a, "target": b} for a, b in ("AB", "BD", "AC", "CD")),
            *({"source": host, "target": "A"} for host in "rs"),
            *({"source": "D", "target": host} for host in "de"),
        ],
    },
    "routing": {"paths": 2, "label": "subflow"},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp", "segment_size": "1500 B", "subflows": 2, "reinjection": True},
    "workload": {"kind": "pairs", "size": f"{SIZE} B"},
    "events": [{"at": "2 ms", "loss": 1.0, "link": ["A", "B"], "direction": "forward"}],
    "measurement": {"trace": [0, 1]},
}


@cache
def result() -> lb.Result:
    return lb.run(lb.Scenario.from_dict(TWO), seed=1)


def test_a_trace_of_subflows_does_not_change_the_run() -> None:
    plain = lb.run(lb.Scenario.from_dict(TWO).with_({"measurement.trace": []}), seed=1)
    assert plain.digest == result().digest


@pytest.mark.parametrize("flow", [0, 1])
def test_all_data_arrives_over_the_subflows_and_some_over_both(flow: int) -> None:
    rows = result().trace.segments
    rows = rows[(rows["flow"] == flow) & rows["from_source"] & (rows["payload_bytes"] > 0)]
    came = rows[rows["event"] == "arrived"]
    payload = 1500
    assert sorted(set(came["data_sequence"])) == list(range(0, SIZE, payload))
    last = came[came["data_sequence"] == SIZE // payload * payload]
    assert set(last["payload_bytes"]) == {SIZE % payload}
    sent = rows[(rows["event"] == "sent") & ~rows["retransmission"]]
    twice = sent.groupby("data_sequence")["subflow"].nunique() == 2
    row = result().flows.iloc[flow]
    assert twice.sum() == row["reinjections"] > 5
    assert len(sent) + row["retransmissions"] == row["transmissions"]
    # The second subflow sends again what the first one held at its timeout, at 1 s.
    again = sent[(sent["subflow"] == 1) & sent["data_sequence"].isin(twice.index[twice])]
    assert again["time_s"].min() > 1


@pytest.mark.parametrize("flow", [0, 1])
def test_each_acknowledgement_has_the_next_data_expected(flow: int) -> None:
    rows = result().trace.segments
    heard = rows[(rows["flow"] == flow) & ~rows["from_source"] & (rows["event"] == "arrived")]
    assert heard.loc[heard["syn"], "data_acknowledgement"].isna().all()
    told = heard.loc[~heard["syn"], "data_acknowledgement"].astype(int)
    assert told.max() == SIZE
    first = heard.loc[told.index[told == SIZE][0], "time_s"]
    assert first == pytest.approx(result().flows["acknowledged_s"][flow], abs=1e-12)


def test_a_subflow_is_a_flow_of_its_own_in_windows_captures_and_tables() -> None:
    parts = [FlowTrace.of(result(), 1, subflow) for subflow in (0, 1)]
    assert sum(series.sends(part).shape[0] for part in parts) == result().flows["transmissions"][1]
    assert [series.summary(part)["subflow"] for part in parts] == [0, 1]
    assert len(parts[0].timeouts_ps()) == 1
    assert not len(parts[1].timeouts_ps())
    for subflow, part in enumerate(parts):
        assert set(tables.windows(part)["subflow"]) == {subflow}
        headers = capture(part).headers.astype(np.int64)
        number = headers[:, 24:32].reshape(-1, 2, 4) @ (256 ** np.arange(3, -1, -1))
        sent = capture(part).payload_bytes > 0
        # The source acknowledges the SYN alone with its data, the destination no more than came.
        assert len(set(number[sent, 1])) == 1
        end = (number[sent, 0] + capture(part).payload_bytes[sent]).max()
        assert end == number[0, 0] + 1 + part.size_bytes
        acknowledged = number[~sent, 1].max()
        assert (acknowledged - end in (0, 1)) == (subflow == 1)


def test_an_unknown_subflow_is_refused() -> None:
    with pytest.raises(KeyError, match="flow 0 has no subflow 2"):
        FlowTrace.of(result(), 0, 2)
    with pytest.raises(InputError, match="subflow: given 2; allowed: a whole number from 0 to 1"):
        lb.plot.flow(result(), 0, subflow=2)


def test_a_flow_with_several_subflows_is_not_explained() -> None:
    with pytest.raises(InputError, match=r"transport.subflows: given 2; allowed: 1 for an expl"):
        lb.explain(lb.Scenario.from_dict(TWO), 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--subflow", "1"], "--subflow: given 1; allowed: 0, as the flow has one"),
        (
            ["--subflow", "2", "--set", "transport.kind=tcp", "--set", "transport.subflows=2"],
            "--subflow: given 2; allowed: a whole number from 0 to 1",
        ),
        (["--network", "--subflow", "1"], "--subflow: given '1'; allowed: an option about a flow"),
    ],
)
def test_what_the_command_refuses(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "examples/path.toml", *options]) == 2
    assert said in capsys.readouterr().err


def test_the_command_shows_one_subflow(capsys: pytest.CaptureFixture[str]) -> None:
    two = ["--set", "transport.kind=tcp", "--set", "transport.subflows=2"]
    assert main(["trace", "examples/path.toml", *two, "--subflow", "1"]) == 0
    assert "flow 0, subflow 1, seed 1" in capsys.readouterr().out
