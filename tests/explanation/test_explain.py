"""Explanations of a slow flow: its choice, the text, and ``lightburst explain``."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.result.metrics import worst_flow

ROOT = Path(__file__).resolve().parents[2]
MANUAL = (ROOT / "docs" / "explain.md").read_text("utf-8")
PATH: dict[str, Any] = {
    "topology": {"kind": "obs-path", "access_rate": "100 Mb/s", "host_pairs": 2},
    "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
    "loss": {"drops": [{"flow": 1, "segments": [3, 3]}, {"flow": 1, "acknowledgements": [1, 1]}]},
    "transport": {"kind": "tcp", "segment_size": "1500 B"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "30 kB"}},
}


def unbroken(found: object) -> str:
    """Return the text without line breaks."""
    return " ".join(str(found).split())


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    found = re.search(r"^```toml\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)
    assert found is not None
    Path("incast.toml").write_text(found[1], encoding="utf-8")
    return "incast.toml"


def test_the_worst_flow_of_an_incast_waited_for_a_timeout(scenario: str) -> None:
    """The answer for a new user: the end of the window was lost, and no duplicate reported it."""
    found = lb.explain(scenario)
    slowdown = found.result.flows["slowdown"]
    assert found.flow == slowdown.idxmax()
    row = found.result.flows.iloc[found.flow]
    assert found.about["completion_time_s"] == pytest.approx(row["completion_time_s"])
    assert found.about["slowdown"] == pytest.approx(row["slowdown"])
    assert found.parts["part"].iloc[int(found.parts["time_ps"].argmax())] == "timeout"
    assert found.parts["time_ps"].sum() == round(found.about["explained_s"] * 1e12)
    assert found.parts["share"].sum() == pytest.approx(1)
    assert len(found.losses) == found.result.flows["drops"][found.flow]
    assert set(found.losses["reason"]) == {"queue-full"}
    # All losses are where the answers meet: on the path to one edge, and to its host.
    assert found.losses["link_target"].tolist() == 4 * [16] + 2 * [1]
    assert found.timeouts["what"].tolist() == ["data", "data"]
    again = found.retransmissions
    assert len(again) == found.result.flows["retransmissions"][found.flow]
    assert set(again["cause"]) == {"timeout"}
    assert again["lost"].sum() == 2
    assert str(found).startswith(f"Flow {found.flow}, from ")
    assert "times the ideal " in str(found)
    assert "on an idle network, no set-up" in unbroken(found)
    assert "alone" not in str(found)


def test_what_is_lost_and_sent_again_is_named() -> None:
    found = lb.explain(lb.Scenario.from_dict(PATH), flow=1)
    lost = found.losses
    # The segment is lost with all packets of its burst.
    assert lost["what"].tolist() == ["SYN+ACK", "data", "data"]
    assert lost["segment"].tolist() == [pd.NA, 2, 3]
    assert lost["reason"].tolist() == ["scripted"] * 3
    # Hosts 0 to 3, then the edges: the first is lost at the far one, the others at the near one.
    assert lost["node"].tolist() == [7, 4, 4]
    assert lost["burst"].notna().all()
    assert found.retransmissions["segment"].tolist() == [2, 3]
    # After a SYN+ACK that was lost the window is too small for duplicates.
    assert set(found.retransmissions["cause"]) == {"timeout"}
    text = str(found)
    assert re.search(r"segment 3 +burst \d+ +at 4, to 5 +scripted", text)
    assert "SYN+ACK" in text
    assert {"set-up: timeout", "set-up: assembly", "timeout", "assembly"} <= set(
        found.parts["part"]
    )


def test_a_short_flow_whose_syn_waits_says_so_in_words(tmp_path: Path) -> None:
    """Its interface has the window of another flow to send first: 10 segments of 9 kB."""
    file = tmp_path / "flows.csv"
    rows = "source,destination,start_s,size_bytes\n0,1,0,90000\n0,1,2e-6,1000\n"
    file.write_text(rows, encoding="utf-8")
    values = {
        "topology": {"kind": "path", "links": 3},
        "switching": {"kind": "electronic"},
        "transport": {"kind": "tcp", "initial_window": 10, "segment_size": "9 kB"},
        "workload": {"kind": "table", "file": str(file)},
    }
    found = lb.explain(lb.Scenario.from_dict(values), flow=1)
    first = found.parts.iloc[0]
    assert (first["part"], first["node"]) == ("set-up: interface", 0)
    assert first["share"] > 0.5
    said = "the SYN or SYN+ACK waits in its host's interface, behind other packets"
    assert re.search(
        rf"largest part \(set-up: interface at 0, \d.*%\): {re.escape(said)}", unbroken(found)
    )
    part = found.as_dict()["parts"][0]
    assert (part["part"], part["node"]) == ("set-up: interface", 0)


def test_an_unfinished_flow_is_the_worst(scenario: str) -> None:
    cut = {"measurement.time_limit": "45 ms"}
    with pytest.warns(lb.RunWarning, match="did not finish"):
        found = lb.explain(lb.load(scenario).with_(cut))
    flows = found.result.flows
    assert found.flow == flows.index[flows["delivered_bytes"] < flows["size_bytes"]][0]
    assert found.about["completion_time_s"] is found.about["slowdown"] is None
    assert "it was not finished" in str(found)
    end = found.about["start_s"] + found.about["explained_s"]
    assert end == pytest.approx(0.045)
    assert any("did not finish" in warning for warning in found.result.warnings)


def test_nodes_have_the_names_of_the_graph() -> None:
    ends = [("Ann", "Paris"), ("Paris", "Lyon"), ("Lyon", "Bob")]
    values = {
        "topology": {"kind": "graph", "links": [{"source": a, "target": b} for a, b in ends]},
        "switching": {"kind": "electronic"},
        "loss": {"drops": [{"segments": [1, 1]}], "on": "every-link"},
        "transport": {"kind": "saw"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
        "measurement": {"sample": "1 ms", "time_limit": "10 ms"},
    }
    found = lb.explain(lb.Scenario.from_dict(values))
    assert (found.about["source"], found.about["destination"]) == ("Ann", "Bob")
    lost = found.losses.iloc[0]
    assert (lost["node"], lost["link_source"], lost["link_target"]) == ("Paris", "Paris", "Lyon")
    assert "at Paris, to Lyon" in str(found)
    assert json.loads(json.dumps(found.as_dict()))["losses"][0]["node"] == "Paris"
    assert set(found.result.samples.links["source"]) == {"Ann", "Bob", "Paris", "Lyon"}


def test_events_on_the_links_of_a_flow_are_named() -> None:
    """Of several events those on its path while it was in progress, and back to normal as none."""
    link = {"link": ["3", "4"]}
    events = [
        {"at": "10 us", "rate": "1 Gb/s", "until": "20 us", **link},
        {"at": "1 ms", "loss": 0.5, "until": "2 ms", **link},
        {"at": "5 us", "state": "down", **link, "direction": "forward"},
        {"at": "6 us", "state": "up", **link, "direction": "forward"},
        {"at": "5 us", "loss": 0.125, "link": ["2", "3"], "direction": "forward"},
    ]
    values = {
        "topology": {"kind": "path", "links": 4},
        "switching": {"kind": "electronic"},
        "transport": {"kind": "datagram", "segment_size": "9 kB"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "90 kB"}},
        "events": events,
    }
    with pytest.warns(lb.RunWarning, match=r"rests on few losses \(1 of \d+ packets\)"):
        found = lb.explain(lb.Scenario.from_dict(values), flow=0)
    named = ["3 - 4 down from 5 µs to 6 µs", "2 - 3 with a loss of 0.125 from 5 µs"]
    named.append("3 - 4 at 1 Gb/s from 10 µs to 20 µs")
    assert found.as_dict()["events"] == named
    assert "Events on links that its packets used: 3 - 4 down from" in unbroken(found)


def test_the_times_on_a_backup_path_are_named(tmp_path: Path) -> None:
    """200 m of fibre are a microsecond; the backup path has two links of it."""
    links = "source,target,length\nh,a,200 m\nk,c,200 m\na,c,200 m\na,d,200 m\nd,c,200 m\n"
    (tmp_path / "links.csv").write_text(links, encoding="utf-8")
    values = {
        "topology": {"kind": "graph", "file": str(tmp_path / "links.csv"), "hosts": "leaves"},
        "switching": {"kind": "electronic"},
        "transport": {"kind": "datagram", "segment_size": "9 kB"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "90 kB"}},
        "events": [{"at": "5 us", "link": ["a", "c"], "state": "down", "direction": "forward"}],
        "protection": {"scheme": "1:1", "detection": "10 us", "switching": "3 us"},
    }
    with pytest.warns(lb.RunWarning, match="rests on"):
        found = lb.explain(lb.Scenario.from_dict(values), flow=0)
    assert found.as_dict()["events"] == [
        "a - c down from 5 µs",
        "a to c on the backup path from 20 µs",
    ]


def test_datagrams_that_are_lost_are_explained() -> None:
    values = {
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "all-optical"},
        "transport": {"kind": "datagram"},
        "workload": {
            "kind": "incast",
            "senders": 4,
            "size": {"kind": "constant", "value": "90 kB"},
        },
    }
    found = lb.explain(lb.Scenario.from_dict(values))
    assert found.losses["what"].unique().tolist() == ["data"]
    assert "not sent again" in set(found.parts["part"])
    assert not found.parts["part"].str.startswith("set-up").any()
    assert found.losses["holder_flow"].notna().all()
    assert re.search(r"contention with flow \d", str(found))
    assert (
        found.flow == worst_flow(found.result.plan, found.result.columns) == 0
    )  # no line is complete


def test_json_holds_all_of_it(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", scenario, "--flow", "3", "--seed", "7", "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["flow"], said["seed"]) == (3, 7)
    assert sum(part["time_ps"] for part in said["parts"]) == round(said["explained_s"] * 1e12)
    found = lb.explain(scenario, flow=3, seed=7)
    assert said["provenance"]["digest"] == found.result.digest == lb.run(scenario, 7).digest
    assert len(said["losses"]) == len(found.losses)
    assert {"time_s", "node", "link_target", "reason", "holder_flow"} <= set(said["losses"][0])


BAD: dict[str, tuple[list[str], str, str]] = {
    "no such flow": (["--flow", "32"], "--flow", "'worst', or a whole number from 0 to 31"),
    "in words": (["--flow", "slowest"], "--flow", "slowest"),
    "seed": (["--seed", "-1"], "--seed", "-1"),
    "format": (["--format", "csv"], "--format", "table"),
    "change": (["--set", "workload.senders=no"], "workload.senders", "no"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_message(
    name: str, scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, path, words = BAD[name]
    assert main(["explain", scenario, *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert path in said.err
    assert words in said.err
    assert "Traceback" not in said.err


def test_a_flow_in_python_is_checked() -> None:
    for flow in ("slowest", 2, -1, True, 1.5):
        with pytest.raises(lb.InputError, match=r"a whole number from 0 to 1"):
            lb.explain(lb.Scenario.from_dict(PATH), flow=flow)  # type: ignore[arg-type]


@pytest.mark.parametrize(("advertised", "first"), [(2, 2), (4, 2), (64, 2), (4, 4)])
def test_which_window_held_a_sender_back(advertised: int, first: int) -> None:
    """Two links of 1 ms: each round of a full window ends with an ACK that takes 2 ms."""
    scenario = lb.load("examples/path.toml").with_(
        {
            "transport": {
                "kind": "tcp", "advertised_window": advertised, "acknowledge_every": 1,
                "initial_window": first,
            },
            "topology.link_length": "200 km",
            "workload.flows": 1,
            "workload.size": "216 kB",  # 24 segments
        }
    )  # fmt: skip
    found = lb.explain(scenario)
    held = found.about["held_back_s"]
    parts = found.parts.set_index("part")["time_s"]
    assert sum(held.values()) == pytest.approx(parts["sender"])
    # Windows until all is sent, each twice the one before.
    rounds, left, window = [], 24, first
    while left > 0:
        rounds.append(min(window, left))
        left, window = left - rounds[-1], min(2 * window, advertised)
    full = sum(n == advertised for n in rounds[:-1])
    waits = {"advertised window": full, "congestion window": len(rounds) - 1 - full}
    for what, number in waits.items():
        assert held[what] == pytest.approx(number * 2e-3, rel=0.05, abs=1e-6), what
    assert held["neither window"] == 0
    told = "the window that the receiver advertises (transport.advertised_window)"
    assert (told in unbroken(found)) == (full > 0)
    assert ("by its own window" in unbroken(found)) == (full < len(rounds) - 1)


def test_an_explanation_is_text_of_a_screen() -> None:
    found = lb.explain("examples/groups.toml")
    text = str(found)
    assert repr(found) == text, "what a terminal shows of it"
    assert max(map(len, text.split("\n"))) <= 96
    # A row continues below its last column.
    (at,) = [i for i, line in enumerate(text.split("\n")) if "set-up: interface at 4" in line]
    first, second = text.split("\n")[at : at + 2]
    told = "the SYN or SYN+ACK waits in its host's interface, behind other packets"
    column = first.index("the SYN")
    assert f"{first[column:]} {second.strip()}" == told
    assert second[:column].isspace() and second[column] != " "
    assert "all its segments back to back on an idle network" in " ".join(text.split())
