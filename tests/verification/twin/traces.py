"""The tables of a trace: packets and bursts from their events, windows as recorded."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from twin.bursts import (
    BUSY,
    NO_REASON,
    NONE,
    NOWHERE,
    REASONS,
    Table,
    burst_of,
    burst_rows,
    bursts,
    cuts,
    reason_of,
    reservations,
)
from twin.link import Link
from twin.network import Network
from twin.units import Packet, Trace, Unit
from twin.windows import WindowRow

SYN, ACK, FIN, FORWARD, ECE, CWR = 1, 2, 4, 8, 16, 32
FLAGS = {
    "syn": SYN | FORWARD,
    "syn+ack": SYN | ACK,
    "data": ACK | FORWARD,
    "data+fin": ACK | FIN | FORWARD,
    "fin": FIN | FORWARD,
    "fin+ack": FIN | ACK,
    "ack": ACK,
    "nak": ACK | CWR,
    "cnp": CWR,
    "pull": CWR | ECE,
    "returned": CWR | SYN,
    "datagram": FORWARD,
}
SENT, ARRIVED, LOST, TRIMMED, RETURNED = range(5)
#: Packets without data that have a sequence number all the same.
NUMBERED = "data", "data+fin", "pull", "returned"

WINDOW_TYPES = ["u8", "u4", "f8", "f8", "f8", "u8", "u8", "u8", "u1", "u8", "u8", "u4"]


def windows(rows: list[WindowRow], traced: set[int]) -> Table:
    """``trace_windows``."""
    mine = sorted(
        (row for row in rows if row.flow in traced), key=lambda row: (row.time_ps, row.flow)
    )
    columns = zip(*mine, strict=True) if mine else [[] for _ in WINDOW_TYPES]
    named = zip(WindowRow._fields, columns, WINDOW_TYPES, strict=True)
    return {name: np.array(column, kind) for name, column, kind in named}


class SegmentRow(NamedTuple):
    """An event of a packet, and its place."""

    time: int
    event: int
    packet: Packet
    #: Where it was noted.
    node: int
    link: int = NOWHERE
    burst: str = ""
    reason: int = NO_REASON
    holder_flow: int = NOWHERE
    holder_burst: str = ""

    def place(self, links: list[Link]) -> int:
        """Where it happened: at the node from which its link leads, or to which if it came late."""
        late = self.reason == REASONS.index("late-header")
        return self.node if late or self.link == NOWHERE else links[self.link].source


def flow_of(unit: Unit) -> int:
    """The flow of a packet; none of a burst."""
    return unit.flow if isinstance(unit, Packet) else NOWHERE


def segment_rows(trace: Trace, traced: set[int], hosts: int) -> list[SegmentRow]:
    """The events of the packets of the traced flows, in the order of time."""
    rows: list[SegmentRow] = []
    holders: dict[int, Unit] = {}
    for entry in trace:
        unit, node = entry.unit, entry.node
        if entry.what == "send":
            assert entry.link is not None
            holders[entry.link] = unit
            if node < hosts:
                assert isinstance(unit, Packet) and entry.begins is not None
                rows.append(SegmentRow(entry.begins, SENT, unit, node, entry.link))
        elif entry.what == "enter":
            assert isinstance(unit, Packet)
            rows.append(SegmentRow(entry.time, SENT, unit, node))
        elif entry.what == "deliver":
            assert isinstance(unit, Packet)
            rows.append(SegmentRow(entry.time, ARRIVED, unit, node))
        elif entry.what in ("trim", "return"):
            assert isinstance(unit, Packet) and entry.link is not None
            event = TRIMMED if entry.what == "trim" else RETURNED
            rows.append(SegmentRow(entry.time, event, unit, node, entry.link))
        elif entry.what.startswith("drop") or entry.what in ("cut", "cut tail"):
            assert entry.wanted is not None
            why: list[Any] = [burst_of(unit), reason_of(entry)]
            if entry.what in BUSY:
                holder = holders[entry.wanted]
                why += [flow_of(holder), burst_of(holder)]
            elif entry.reservation:
                why += [NOWHERE, entry.reservation.burst.name]
            rows += [
                SegmentRow(entry.time, LOST, packet, node, entry.wanted, *why)
                for packet in unit.packets
            ]
    mine = [row for row in rows if row.packet.flow in traced]
    return sorted(mine, key=lambda row: (row.time, row.node))


class HopRow(NamedTuple):
    """A packet that was handed to a link, alone or in a burst."""

    came_ps: int
    flow: int
    packet: str
    burst: str
    node: int
    link: int
    held_ps: int
    queued_ps: int
    start_ps: int
    arrival_ps: int


HOP_TYPES = ["u8", "u4", "u8", "u8", "u4", "u4", "u8", "u8", "u8", "u8"]


def hop_rows(
    trace: Trace, links: list[Link], identities: dict[str, tuple[int, int, int]]
) -> Iterator[HopRow]:
    """The hand-overs of packets to links, or to the interface of their host."""
    came: dict[int, int] = {}
    # Bursts that wait at their egress: their packets came with their tails.
    held: set[str] = set()
    # The number of fibres that a packet crossed in its last burst, if it was cut off; and those of
    # each burst.
    cut = {
        packet.serial: (entry.unit.name, entry.passed)
        for entry in trace
        if entry.what == "cut tail"
        for packet in entry.unit.packets
    }
    passed: Counter[str] = Counter()
    for entry, following in pairwise([*trace, None]):
        assert entry is not None
        if entry.what == "reserve" and entry.reservation and entry.reservation.passed:
            # Links after the cut.
            time = entry.reservation.head - entry.reservation.delayed
            came |= {packet.serial: time for packet in entry.unit.packets}
        if entry.what in ("enter", "arrive", "hold", "take apart"):
            time = entry.time if entry.begins is None else entry.begins
            if entry.what != "take apart" or entry.unit.name not in held:
                came |= {packet.serial: time for packet in entry.unit.packets}
        if entry.what == "hold":
            held.add(entry.unit.name)
        if entry.what != "send":
            continue
        assert entry.link is not None and entry.begins is not None and entry.ready is not None
        link = links[entry.link]
        tx = link.tx(entry.unit.size, entry.begins)
        arrival = entry.begins + link.delay + (0 if link.heads else tx)
        if following and following.what.startswith("drop") and following.link == link.index:
            arrival = NONE
        passed[entry.unit.name] += 1
        for packet in entry.unit.packets:
            burst, fibres = cut.get(packet.serial, ("", None))
            if burst == entry.unit.name and fibres is not None and passed[burst] > fibres:
                continue
            # A packet that arrived from no link was handed over by its source host.
            of_host = packet.serial not in came
            here = identities[packet.name][0] if of_host else came[packet.serial]
            yield HopRow(
                came_ps=here,
                flow=packet.flow,
                packet=packet.name,
                burst=burst_of(entry.unit),
                node=entry.node,
                link=link.index,
                # A header is handed over before its burst comes.
                held_ps=0 if of_host else max(0, min(entry.time, entry.ready) - here),
                queued_ps=entry.begins - (here if of_host else entry.ready),
                start_ps=entry.begins,
                arrival_ps=arrival,
            )


def hops(rows: list[HopRow], numbers: dict[str, int]) -> Table:
    """``trace_hops``, in the order in which packets were handed over."""
    order = sorted(rows, key=lambda row: (row.came_ps + row.held_ps, row.node))
    # The names of packets and bursts become numbers.
    told = [
        [numbers.get(value, value) if isinstance(value, str) else value for value in row]
        for row in order
    ]
    columns = zip(*told, strict=True) if told else [[] for _ in HOP_TYPES]
    named = zip(HopRow._fields, columns, HOP_TYPES, strict=True)
    return {name: np.array(column, kind) for name, column, kind in named}


def segments(
    rows: list[SegmentRow], numbers: dict[str, int], sources: list[int], links: list[Link]
) -> Table:
    """``trace_segments``."""
    packets = [row.packet for row in rows]

    def column(kind: str, values: list[int]) -> npt.NDArray[Any]:
        return np.array(values, kind)

    def forward(packet: Packet) -> bool:
        return packet.destination != sources[packet.flow % len(sources)]

    def acknowledgement(packet: Packet) -> int:
        if not forward(packet):
            return 0 if packet.kind in NUMBERED else packet.number
        return packet.number + 1 if packet.kind == "ack" else packet.data

    def edge(packet: Packet, block: int, side: int) -> int:
        return packet.blocks[block][side] if block < len(packet.blocks) else 0

    return {
        "time_ps": column("u8", [row.time for row in rows]),
        "flow": column("u4", [packet.flow for packet in packets]),
        "event": column("u1", [row.event for row in rows]),
        "packet": column("u8", [numbers[packet.name] for packet in packets]),
        "flags": column(
            "u1",
            [
                FLAGS[p.kind]
                | FORWARD * forward(p)
                | ECE * p.echoes_mark
                | CWR * p.reduced
                | ECE * p.ace
                for p in packets
            ],
        ),
        "sequence": column(
            "u8", [p.number if p.payload or p.kind in NUMBERED else p.data for p in packets]
        ),
        "acknowledgement": column("u8", [acknowledgement(packet) for packet in packets]),
        "payload": column("u4", [packet.payload for packet in packets]),
        "retransmission": column("u1", [packet.again for packet in packets]),
        "burst": column("u8", [numbers[row.burst] for row in rows]),
        "node": column("u4", [row.place(links) for row in rows]),
        "link": column("u4", [row.link for row in rows]),
        "holder_flow": column("u4", [row.holder_flow for row in rows]),
        "holder_burst": column("u8", [numbers[row.holder_burst] for row in rows]),
        "reason": column("u1", [row.reason for row in rows]),
        "blocks": column("u1", [len(packet.blocks) for packet in packets]),
        **{
            f"block_{name}_{i}": column("u8", [edge(packet, i, side) for packet in packets])
            for i in range(4)
            for side, name in enumerate(("start", "end"))
        },
        "timestamp_ps": column("u8", [NONE if p.stamp is None else p.stamp for p in packets]),
        "echo_ps": column("u8", [NONE if p.echo is None else p.echo for p in packets]),
    }


PATH_SWITCH_TYPES = {"time_ps": "u8", "node": "u4", "egress": "u4", "before": "u1", "label": "u1"}


def path_switches(network: Network) -> Table:
    """``trace_path_switches``."""
    rows = [] if network.balance is None else network.balance.switches
    order = sorted(rows, key=lambda row: (row["time_ps"], row["node"], row["egress"]))
    return {
        name: np.array([row[name] for row in order], kind)
        for name, kind in PATH_SWITCH_TYPES.items()
    }


def numbered(names: set[str], network: Network) -> dict[str, int]:
    """The number of each unit that rows name, in the order in which they were made."""
    made = sorted(names - {""}, key=network.identities.__getitem__)
    return {"": NONE} | {name: number for number, name in enumerate(made)}


def trace_tables(
    network: Network, settings: dict[str, Any], sources: list[int]
) -> dict[str, Table]:
    """All tables of the trace of some flows, and of some links, as the settings say."""
    flows, kept = settings.get("trace") or (), settings.get("bookings")
    # All subflows of a traced flow are.
    numbers_of = (range(flow, len(network.sizes), len(sources)) for flow in flows)
    traced = {number for numbers in numbers_of for number in numbers}
    happened = segment_rows(network.trace, traced, network.hosts)
    handed = [
        row
        for row in hop_rows(network.trace, network.links, network.identities)
        if row.flow in traced
    ]
    packets = {row.packet.name for row in happened} | {row.packet for row in handed}
    made = {name for name in network.identities if name.startswith("burst")}
    numbers = numbered(packets, network) | numbered(made, network)
    assembled = burst_rows(network.trace, traced, 0 if kept is None else kept["until_ps"])
    tables = {
        "trace_segments": segments(happened, numbers, sources, network.links),
        "trace_windows": windows(network.windows, traced),
        "trace_bursts": bursts(assembled, numbers),
        "trace_hops": hops(handed, numbers),
        "trace_path_switches": path_switches(network),
    }
    if kept is not None:
        where = network.trace, network.links, kept, numbers
        tables["trace_bookings"] = reservations(*where)
        tables["trace_cuts"] = cuts(*where)
    return tables
