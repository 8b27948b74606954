"""The capture as other people's tools read it: tshark (Wireshark) and tcptrace."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lightburst as lb
from lightburst.trace import FlowTrace, capture, write
from lightburst.trace.flow import ARRIVED, FORWARD, LOST, SYN
from traces import trace

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (Debian: apt install tshark)"
)
needs_tcptrace = pytest.mark.skipif(
    shutil.which("tcptrace") is None,
    reason="tcptrace is not installed (Debian: apt install tcptrace)",
)

GOOD = "1"  # of a checksum, as tshark numbers it
FIELDS = (
    "ip.checksum.status", "tcp.checksum.status", "ip.src", "tcp.seq_raw", "tcp.ack_raw", "tcp.len",
    "tcp.analysis.retransmission", "tcp.analysis.out_of_order", "tcp.options.sack_le",
    "tcp.options.sack_re", "frame.comment", "frame.time_epoch", "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment", "tcp.analysis.zero_window", "_ws.malformed",
)  # fmt: skip


LOSSY = {
    "topology": {"kind": "obs-path", "access_rate": "100 Mb/s"},
    "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
    "loss": {"probability": 0.02, "acknowledgement_probability": 0.01},
    "transport": {"kind": "tcp", "segment_size": "1500 B", "header_size": "40 B"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1 MB"}},
}
# Captures for the tools: that of the trace in tests/traces.py, and real ones.
CHANGES: dict[str, dict[str, object] | None] = {
    "made up": None,
    "sack": {},
    "reno": {"transport.recovery": "reno"},
    "new-reno, large window": {
        "transport.recovery": "new-reno", "transport.advertised_window": 2000,
        "topology.access_rate": "10 Gb/s", "loss.probability": 0.1,
    },
    "time stamps": {"transport.timestamps": True},
    "much lost": {"loss.probability": 0.1, "loss.acknowledgement_probability": 0.2},
    "stop and wait": {"transport.kind": "saw"},
    "full access buffer": {"transport.access_buffer": "20 kB", "transport.segment_size": "9 kB"},
}  # fmt: skip


@pytest.fixture(params=CHANGES)
def subject(request: pytest.FixtureRequest) -> FlowTrace:
    changes = CHANGES[request.param]
    if changes is None:
        return trace()
    scenario = lb.Scenario.from_dict(LOSSY).with_({**changes, "measurement.trace": [0]})
    return FlowTrace.of(lb.run(scenario, seed=2), 0)


def read(path: Path) -> list[dict[str, str]]:
    """Read a capture by tshark, with all checks on."""
    words = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=|"]
    for name in ("tcp.check_checksum", "ip.check_checksum"):
        words += ["-o", f"{name}:TRUE"]
    words += [word for field in FIELDS for word in ("-e", field)]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in said.splitlines()]


def sent_again(subject: FlowTrace) -> int:
    """Count our retransmissions of data."""
    rows = subject.segments
    data = (rows["flags"] & FORWARD > 0) & (rows["payload"] > 0) & (rows["retransmission"] > 0)
    return np.unique(rows["packet"][data]).size


@needs_tshark
def test_tshark_finds_nothing_wrong(subject: FlowTrace, tmp_path: Path) -> None:
    write(tmp_path / "x.pcapng", capture(subject), "x", whole=True)
    packets = read(tmp_path / "x.pcapng")
    assert len(packets) > 20
    for packet in packets:
        assert packet["ip.checksum.status"] == packet["tcp.checksum.status"] == GOOD
        for wrong in ("lost_segment", "ack_lost_segment", "zero_window"):
            assert packet[f"tcp.analysis.{wrong}"] == ""
        assert packet["_ws.malformed"] == ""


@needs_tshark
def test_tshark_counts_the_same_retransmissions(subject: FlowTrace, tmp_path: Path) -> None:
    write(tmp_path / "x.pcapng", capture(subject), "x")
    data = [packet for packet in read(tmp_path / "x.pcapng") if packet["tcp.len"] not in {"", "0"}]
    wanted = sent_again(subject)
    assert wanted > 0
    assert len(data) - len({packet["tcp.seq_raw"] for packet in data}) == wanted
    # Wireshark's label depends on its reading of times, but it marks all retransmissions.
    marks = ("tcp.analysis.retransmission", "tcp.analysis.out_of_order")
    assert sum(any(packet[mark] for mark in marks) for packet in data) == wanted


@needs_tshark
def test_tshark_shows_our_blocks_and_our_losses(subject: FlowTrace, tmp_path: Path) -> None:
    write(tmp_path / "x.pcapng", capture(subject), "x")
    packets, rows = read(tmp_path / "x.pcapng"), subject.segments
    answers = np.flatnonzero((rows["flags"] & FORWARD == 0) & (rows["event"] == ARRIVED))
    there = [packet for packet in packets if packet["ip.src"] != packets[0]["ip.src"]]
    assert len(there) == answers.size
    base = int(there[0]["tcp.ack_raw"])
    for row, packet in zip(answers, there, strict=True):
        for edge, field in (("start", "sack_le"), ("end", "sack_re")):
            ours = [int(rows[f"block_{edge}_{n}"][row]) for n in range(rows["blocks"][row])]
            theirs = [int(word) for word in packet[f"tcp.options.{field}"].split(",") if word]
            assert theirs == [(base + edge_byte) % 2**32 for edge_byte in ours]
    lost = (rows["flags"] & FORWARD > 0) & (rows["event"] == LOST)
    comments = [packet["frame.comment"] for packet in packets if packet["frame.comment"]]
    assert len(comments) == int(lost.sum()) > 0
    for comment in comments:
        assert re.fullmatch(
            r"lost in burst \d+: (random loss|scripted drop)|lost: access buffer full", comment
        )


@needs_tshark
def test_tshark_reads_nanoseconds(subject: FlowTrace, tmp_path: Path) -> None:
    captured = capture(subject)
    write(tmp_path / "x.pcapng", captured, "x")
    times = [packet["frame.time_epoch"] for packet in read(tmp_path / "x.pcapng")]
    seconds, nanoseconds = np.divmod(captured.time_ps // 1000, 10**9)
    ours = zip(seconds.tolist(), nanoseconds.tolist(), strict=True)
    assert times == [f"{946_684_800 + s}.{ns:09d}" for s, ns in ours]


@needs_tcptrace
def test_tcptrace_counts_the_same_and_complains_of_nothing(
    subject: FlowTrace, tmp_path: Path
) -> None:
    write(tmp_path / "x.pcapng", capture(subject), "x", whole=True)
    done = subprocess.run(
        ["tcptrace", "-n", "-l", "-w", "--checksum", str(tmp_path / "x.pcapng")],
        capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    found = {
        name.strip(): value.strip()
        for line in done.stdout.splitlines()
        for name, value in re.findall(r"([a-z][a-zA-Z/ ]+):\s+([\w/]+)", line)[:1]
    }
    rows, wanted = subject.segments, sent_again(subject)
    answers = (rows["flags"] & FORWARD == 0) & (rows["event"] == ARRIVED)
    assert "1 TCP connection traced" in done.stdout
    assert found["complete conn"] == "yes"
    # It counts a SYN that was sent again, too.
    wanted += np.unique(rows["packet"][rows["flags"] == SYN | FORWARD]).size - 1
    assert found["rexmt data pkts"] == str(wanted)
    assert found["outoforder pkts"] == found["truncated packets"] == "0"
    assert found["unique bytes sent"] == str(subject.size_bytes)
    assert (int(rows["blocks"][answers].max()) > 0) == subject.sack
    theirs = re.search(r"sack pkts sent:.*sack pkts sent:\s+(\d+)", done.stdout)
    assert theirs is not None
    assert int(theirs[1]) == int((rows["blocks"][answers] > 0).sum())
    assert re.findall(r"bad (\w+) checksums: +(\d+)", done.stdout) == [("IP", "0"), ("TCP", "0")]
    wrong = re.compile(r"warn|error|invalid|hardware dup", re.IGNORECASE)
    assert wrong.findall(done.stdout + done.stderr) == []
