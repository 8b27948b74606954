"""Recorder of the kernel's sender: ``record.py CASE.json [OUT.json]``.

The kernel sends over a TUN device in a network namespace of its own; this program is the path and
the receiver. Writing an acknowledgement to the device runs the kernel's receive path to its end, so
the segments read next are those that this acknowledgement released, and `TCP_INFO` is the state
right after it. Needs root, /dev/net/tun, and ``ip`` of iproute2. Times are in microseconds since
the first data segment; segments count from 1, as in the recordings of tests/data.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from linux import wire
from linux.peer import NS_PER_MS, Case, Data, Receiver
from linux.peer import Path as Way
from linux.state import STATES

HOST, PEER, PORT = "192.0.2.1", "192.0.2.2", 5001
DEFAULTS: Case = {
    "cc": "cubic", "segments": 100, "mss": 1460, "rtt_ms": 40.0, "rate_mbps": 12.0, "buffer": None,
    "sack": True, "dsack": True, "timestamps": False, "wscale": 10, "window": 60_000, "ecn": False,
    "ack_every": 1, "ack_delay_ms": 40.0, "drops": [], "ack_drops": [], "holds": [], "marks": [],
    "spikes": [], "writes": None, "sysctl": {}, "pacing": False, "limit_s": 40.0, "initcwnd": None,
}  # fmt: skip
_ISN = 1000
_NEW_NETWORK = 0x40000000
_TUN, _TUN_FLAGS = 0x400454CA, 0x1001  # TUNSETIFF; IFF_TUN | IFF_NO_PI
_INFO, _CONGESTION, _SEND_BUFFER, _MAX_PACING = 11, 13, 32, 47
_NO_SSTHRESH = 0x7FFFFFFF
#: Byte at which each field of `struct tcp_info` begins; 32 bits but for `ca_state`.
_FIELDS = {
    "rto": 8, "unacked": 24, "sacked": 28, "lost": 32, "retrans": 36, "rtt": 68, "ssthresh": 76,
    "cwnd": 80, "reordering": 88, "min_rtt": 148, "delivered": 192, "dsack_dups": 216,
    "reord_seen": 220,
}  # fmt: skip


def namespace(case: Case) -> int:
    """Enter a new network namespace with a TUN device; returns the device."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "unshare")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUN, struct.pack("16sH22x", b"tun0", _TUN_FLAGS))
    for line in (
        # One segment a packet, as without offloading.
        "link set dev tun0 txqueuelen 10000 mtu 1500 gso_max_segs 1",
        f"address add {HOST}/24 dev tun0",
        "link set dev tun0 up",
        *(
            [f"route replace 192.0.2.0/24 dev tun0 initcwnd {case['initcwnd']}"]
            * bool(case["initcwnd"])
        ),
    ):
        subprocess.run(["ip", *line.split()], check=True)
    settings = {
        "tcp_no_metrics_save": 1,
        "tcp_sack": int(case["sack"]),
        "tcp_timestamps": int(case["timestamps"]),
        "tcp_ecn": int(case["ecn"]),
        **{name.rpartition(".")[2]: value for name, value in case["sysctl"].items()},
    }
    for name, value in settings.items():
        Path("/proc/sys/net/ipv4", name).write_text(str(value))
    return device


class Recorder:
    """One connection of the kernel, and its log."""

    def __init__(self, case: Case) -> None:
        self.case = case = DEFAULTS | case
        self.device = namespace(case)
        self.way, self.receiver = Way(case), Receiver(case)
        self.peer = wire.Peer(socket.inet_aton(PEER), PORT, socket.inet_aton(HOST))
        self.mss = case["mss"] - (12 if case["timestamps"] else 0)
        self.log: list[dict[str, Any]] = []
        self.nth: dict[int, int] = {}
        self.agenda: list[tuple[float, int, Any]] = []
        self.entries = self.acknowledgements = 0
        self.port = self.isn = 0
        self.began: int | None = None
        self.delayed: float | None = None
        self.over = False
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, _CONGESTION, case["cc"].encode())
        self.socket.setsockopt(socket.SOL_SOCKET, _SEND_BUFFER, 8 << 20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if case["pacing"]:
            self.socket.setsockopt(socket.SOL_SOCKET, _MAX_PACING, struct.pack("Q", 10**9))
        self.socket.setblocking(False)
        self.socket.connect_ex((PEER, PORT))

    def at(self, when: float, act: Any) -> None:
        self.entries += 1
        heapq.heappush(self.agenda, (when, self.entries, act))

    def since(self, now: int) -> int:
        """Microseconds since the first data segment."""
        return (now - (self.began or now)) // 1000

    def stamps(self, echo: int) -> tuple[int, int] | None:
        now = time.monotonic_ns() // NS_PER_MS
        return (now, echo) if self.case["timestamps"] else None

    def state(self) -> dict[str, Any]:
        """State of the sender."""
        raw = self.socket.getsockopt(socket.IPPROTO_TCP, _INFO, 320)
        found: dict[str, Any] = {
            name: struct.unpack_from("I", raw, place)[0] for name, place in _FIELDS.items()
        }
        found["ca_state"] = STATES[raw[1]]
        if found["ssthresh"] >= _NO_SSTHRESH:
            found["ssthresh"] = None
        return found

    def drain(self, cause: int | str) -> int:
        """Read the packets that the kernel has sent; returns the number of data segments."""
        sent = 0
        while True:
            try:
                packet = os.read(self.device, 4096)
            except BlockingIOError:
                return sent
            found = wire.parse(packet)
            if found is None:
                continue
            if found.flags & wire.SYN:
                self.answer(found)
            elif found.length:
                sent += 1
                self.carry(found, cause)

    def answer(self, syn: wire.Received) -> None:
        case = self.case
        self.port, self.isn = syn.port, syn.sequence
        asks = wire.ECE | wire.CWR
        echo = wire.ECE if case["ecn"] and syn.flags & asks == asks else 0
        options = wire.synack_options(
            case["mss"], sack=case["sack"], scale=case["wscale"], stamps=self.stamps(syn.stamp)
        )
        window = min(case["window"] << (case["wscale"] or 0), 0xFFFF)

        def arrive(_: float) -> None:
            flags = wire.SYN | wire.ACK | echo
            self.write(_ISN, self.isn + 1, flags, window, options)
            self.drain("syn")
            self.begin()

        self.at(time.monotonic_ns() + 2 * self.way.delay_ns, arrive)

    def write(self, sequence: int, upto: int, flags: int, window: int, options: bytes) -> None:
        segment = self.peer.segment(self.port, sequence, upto, flags, window, options)
        os.write(self.device, segment)

    def begin(self) -> None:
        """Have the application write."""
        now = time.monotonic_ns()
        for after, segments in self.case["writes"] or [[0, self.case["segments"]]]:
            self.at(now + after * NS_PER_MS, lambda _, n=segments: self.send(n))

    def send(self, segments: int) -> None:
        self.socket.send(bytes(segments * self.mss))
        self.drain("write")

    def carry(self, found: wire.Received, cause: int | str) -> None:
        """Let a data segment of the kernel take its way."""
        now = time.monotonic_ns()
        self.began = now if self.began is None else self.began
        number = ((found.sequence - self.isn - 1) & 0xFFFFFFFF) // self.mss
        nth = self.nth[number] = self.nth.get(number, 0) + 1
        key = number + 1, nth
        arrival, fate = self.way.send(now, found.size, key, ect=found.ect)
        row = {"t": self.since(now), "ev": "tx", "seg": key[0], "nth": nth, "cause": cause}
        data = Data(number, fate == "marked", bool(found.flags & wire.CWR), found.stamp)
        if fate in ("queue", "script"):
            row["lost"] = fate
        elif fate == "held":
            row["held"] = self.way.holds[key[0]]
            self.way.hold(data)
        else:
            self.at(arrival, lambda when: self.arrive(data, when))
        self.log.append(row)

    def arrive(self, data: Data, when: float) -> None:
        """Let a segment arrive at the receiver, and those that it releases."""
        at_once, duplicate = self.receiver.take(data)
        if at_once:
            self.acknowledge(when, duplicate)
        else:
            due = self.delayed = when + self.case["ack_delay_ms"] * NS_PER_MS
            self.at(due, self.acknowledge_late)
        for one in self.way.released(data.segment):
            self.at(when, lambda later, one=one: self.arrive(one, later))

    def acknowledge_late(self, due: float) -> None:
        """Acknowledge what no later segment had acknowledged."""
        if self.delayed == due:
            self.acknowledge(due, None)

    def acknowledge(self, when: float, duplicate: tuple[int, int] | None) -> None:
        self.delayed, self.receiver.unacknowledged = None, 0
        self.acknowledgements += 1
        case, taken = self.case, self.receiver
        most = 3 if case["timestamps"] else 4
        blocks = [*([duplicate] if duplicate else []), *taken.blocks][:most] if case["sack"] else []
        row: dict[str, Any] = {
            "ev": "ack",
            "i": self.acknowledgements,
            "upto": taken.expected,
            "sack": [[first + 1, end] for first, end in blocks],
        }
        if duplicate:
            row["dsack"] = [duplicate[0] + 1, duplicate[1]]
        if taken.echo:
            row["ece"] = True
        options = wire.stamps_option(self.stamps(taken.stamp))
        edges = [(self.sequence(first), self.sequence(end)) for first, end in blocks]
        options += wire.sack_option(edges)
        self.at(when + self.way.delay_ns, lambda due: self.hear(row, options, due))

    def sequence(self, segment: int) -> int:
        """Sequence number with which a segment begins."""
        return int(self.isn + 1 + segment * self.mss)

    def hear(self, row: dict[str, Any], options: bytes, due: float) -> None:
        """Let an acknowledgement arrive at the kernel, and note what it does."""
        now = time.monotonic_ns()
        self.log.append(row)
        row |= {"t": self.since(now), "late": int(now - due) // 1000}
        if row["i"] in self.case["ack_drops"]:
            row["lost"] = "script"
            return
        flags = wire.ACK | (wire.ECE if row.get("ece") else 0)
        upto = self.sequence(row["upto"])
        self.write(_ISN + 1, upto, flags, self.case["window"], options)
        row |= self.state()
        self.drain(row["i"])
        self.over = row["upto"] >= self.case["segments"]

    def run(self) -> dict[str, Any]:
        """Record until all is acknowledged; returns case and log."""
        end = time.monotonic_ns() + int(self.case["limit_s"] * 1e9)
        while not self.over and (now := time.monotonic_ns()) < end:
            due = min(self.agenda[0][0] if self.agenda else end, end)
            if due > now:
                if select.select([self.device], [], [], (due - now) / 1e9)[0]:
                    self.drain("timer")
            elif self.agenda:
                when, _, act = heapq.heappop(self.agenda)
                act(when)
        linger = struct.pack("ii", 1, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.socket.close()
        return {"case": self.case, "done": self.over, "log": self.log}


def main(arguments: list[str]) -> None:
    case, *out = arguments
    text = json.dumps(Recorder(json.loads(Path(case).read_text())).run())
    if out:
        Path(out[0]).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
