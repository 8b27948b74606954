"""Recorded acknowledgements of a kernel, replayed to the sender of :mod:`linux.sender`."""

from __future__ import annotations

import functools
import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linux.laws import LAWS, without_hystart
from linux.sender import Sender
from linux.state import INFINITE, STATES, Acknowledgement, Options, Segment

DATA = Path(__file__).parents[2] / "data" / "linux.json.xz"
BBR_DATA = DATA.with_name("linux_bbr.json.xz")
STATE = ("ca_state", "ssthresh", "cwnd", "sacked", "lost", "retrans", "reordering", "delivered")
"""State after each acknowledgement that is compared."""
RUNGS = ("retransmissions", "order", "cause", *STATE, "unacked")
"""What is compared, from the coarsest."""

Row = dict[str, Any]


@functools.cache
def cases() -> dict[str, Row]:
    """The recorded cases by name."""
    return {one["id"]: one for one in json.loads(lzma.open(DATA).read())}


@functools.cache
def bbr_cases() -> dict[str, Row]:
    """The recorded cases of BBR, version 1, by name."""
    return {one["id"]: one for one in json.loads(lzma.open(BBR_DATA).read())}


def pack_bbr(folder: Path) -> None:
    """Write the file of :func:`bbr_cases` from a folder of recordings, as far as compared."""
    keys = ("id", "kernel", "case", "stable", "jitter", "log")
    dropped = {"backoff", "rttvar", "rto", "delivery_rate", "late", "sent"}
    dropped |= {"delivered_ce", "dsack_dups", "reord_seen", "rtt"}
    kept = []
    for path in sorted(folder.glob("*.json.gz")):
        recorded = json.loads(gzip.decompress(path.read_bytes()))
        rows = (row for row in recorded["log"] if row["ev"] != "info" or row["cause"] == "write")
        recorded["log"] = [{k: v for k, v in row.items() if k not in dropped} for row in rows]
        kept.append({key: recorded[key] for key in keys})
    text = json.dumps(kept, separators=(",", ":")).encode()
    BBR_DATA.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))


def options(case: Row) -> Options:
    """Settings of the kernel in a case."""
    sysctl = {key.removeprefix("net.ipv4.tcp_"): value for key, value in case["sysctl"].items()}
    read = {
        "frto": bool(sysctl.pop("frto", 2)),
        "early_retransmit": sysctl.pop("early_retrans", 3),
        "recovery": sysctl.pop("recovery", 1),
        "reordering": sysctl.pop("reordering", 3),
        "slow_start_after_idle": bool(sysctl.pop("slow_start_after_idle", 1)),
    }
    assert not sysctl, f"unknown settings: {sysctl}"
    return Options(
        initial_window=case["initcwnd"] or 10,
        sack=case["sack"],
        timestamps=case["timestamps"],
        ecn=case["ecn"],
        pacing=case["pacing"],
        mss=case["mss"] - (12 if case["timestamps"] else 0),
        **read,
    )


class Stamps:
    """Timestamp in ms that each acknowledgement echoes (RFC 7323, section 4.3)."""

    def __init__(self, recorded: Row) -> None:
        self.expected, self.got = 1, set[int]()
        self.last, self.echoed = 0, dict[int, int]()
        holds = dict(recorded["case"]["holds"])
        held: list[list[int]] = []
        for row in recorded["log"]:
            if row["ev"] != "tx" or "lost" in row:
                continue
            segment, sent = row["seg"], row["t"] // 1000
            if "held" in row:
                held.append([holds[segment], segment, sent])
                continue
            self.take(segment, sent)
            for one in [one for one in held if one[1] < segment]:
                one[0] -= 1
                if one[0] == 0:
                    held.remove(one)
                    self.take(one[1], one[2])

    def take(self, segment: int, sent: int) -> None:
        """The receiver gets a segment, and acknowledges."""
        if segment <= self.expected:
            self.last = sent
        self.got.add(segment)
        while self.expected in self.got:
            self.expected += 1
        self.echoed[len(self.echoed) + 1] = self.last


def events(recorded: Row) -> Iterator[tuple[int, int | Row]]:
    """Time in us, and segments written or an acknowledgement, in the order of the recording.

    A write that sends at once stands where its first segment was recorded.
    """
    case, before = recorded["case"], None
    due = [(ms * 1000, n) for ms, n in case["writes"] or [[0, case["segments"]]]]
    for row in recorded["log"]:
        begins = row["ev"] == "tx" and row["cause"] == "write" and before != "write"
        while due and (due[0][0] < row["t"] - 20_000 or (begins and due[0][0] < row["t"] + 1_000)):
            yield row["t"] if begins else due[0][0], due.pop(0)[1]
        if row["ev"] == "tx":
            before = row["cause"]
        elif row["ev"] == "ack" and "cwnd" in row:
            before = None
            yield row["t"], row


class Replay:
    """A sender that hears the acknowledgements of a recorded case at their times."""

    def __init__(self, recorded: Row) -> None:
        case = recorded["case"]
        self.log: list[Row] = []
        self.sent: dict[int, int] = {}
        self.cause: int | str = "write"
        law = without_hystart if recorded["id"].endswith("no-hystart") else LAWS[case["cc"]]
        window = (case["window"] << (case["wscale"] or 0)) // case["mss"]
        self.sender = Sender(law, options(case), self.transmit, window)
        self.sender.establish(next(row["min_rtt"] for row in recorded["log"] if "min_rtt" in row))
        stamps = Stamps(recorded).echoed if case["timestamps"] else {}
        for when, what in events(recorded):
            self.advance(when)
            if isinstance(what, int):
                self.cause = "write"
                self.sender.on_write(what)
            else:
                self.hear(what, stamps.get(what["i"]))

    def transmit(self, segment: Segment) -> None:
        number = self.sent[segment.sequence] = self.sent.get(segment.sequence, 0) + 1
        row = {"ev": "tx", "seg": segment.sequence + 1, "nth": number, "cause": self.cause}
        self.log.append(row)

    def advance(self, when: int) -> None:
        """Lets the sender's timers expire up to a time."""
        s = self.sender
        while True:
            waits = s.paced() and s.snd_nxt < s.written and s.in_flight < s.cwnd
            pace = -(-s.pace // 1000) if waits else when + 1
            timer = s.expires if s.pending else when + 1
            if min(pace, timer) > when:
                break
            self.cause, s.now = "timer", max(s.now, min(pace, timer))
            if timer <= pace:
                s.on_timer()
            else:
                s.on_paced()
        s.now = when

    def hear(self, row: Row, stamp: int | None) -> None:
        s = self.sender
        self.cause, place = row["i"], len(self.log)
        blocks = [(first - 1, last) for first, last in row["sack"]]
        s.on_ack(Acknowledgement(row["upto"], blocks, row.get("ece", False), stamp))
        state = {
            "ca_state": STATES[s.ca_state],
            "ssthresh": None if s.ssthresh >= INFINITE else s.ssthresh,
            "cwnd": s.cwnd,
            "sacked": s.sacked_out,
            "lost": s.lost_out,
            "retrans": s.retrans_out,
            "reordering": s.reordering,
            "delivered": s.delivered,
            "unacked": s.packets_out,
        }
        self.log.insert(place, {"ev": "ack", "i": row["i"], **state})


def differences(recorded: Row, log: list[Row]) -> list[str]:
    """Stable fields of a recorded case in which a log differs, with the first difference."""
    ours, theirs = rungs(log), rungs(recorded["log"])
    found = []
    for rung in RUNGS:
        if recorded["stable"][rung] and ours[rung] != theirs[rung]:
            pairs = zip(ours[rung], theirs[rung], strict=False)
            found.append(f"{rung}: {next((p for p in pairs if p[0] != p[1]), 'length')}")
    return found


def rungs(log: list[Row]) -> dict[str, list[Any]]:
    """What is compared, of a log."""
    sent = [(row["seg"], row["nth"], row["cause"]) for row in log if row["ev"] == "tx"]
    heard = [row for row in log if row["ev"] == "ack" and "cwnd" in row]
    return {
        "retransmissions": sorted(one[:2] for one in sent if one[1] > 1),
        "order": [one[:2] for one in sent],
        "cause": sent,
        **{name: [(row["i"], row[name]) for row in heard] for name in (*STATE, "unacked")},
    }
