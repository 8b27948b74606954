"""Bursts whose heads are cut by nodes: exact, and the reservations of random runs replayed."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reserved import PLANS, Step, run, steps
from twin import Burst, Reservation, TraceEntry
from twin.units import Packet

import lightburst as lb
from blocks import in_blocks
from lightburst.foundation.errors import InputError

each = in_blocks("plan", PLANS)

# From A and from B over C to D, on one wavelength. A packet takes 1 us on a fibre.
TWO_TO_ONE: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "links": [
            {"source": "a", "target": "A", "rate": "1 Tb/s", "length": "0 m"},
            {"source": "b", "target": "B", "rate": "1 Tb/s", "length": "0 m"},
            {"source": "A", "target": "C"},
            {"source": "B", "target": "C"},
            {"source": "C", "target": "D"},
            {"source": "D", "target": "d", "rate": "1 Tb/s", "length": "0 m"},
        ],
        "link_rate": "10 Gb/s",
        "link_length": "1 km",
    },
    "switching": {
        "kind": "obs",
        "assembly": {"kind": "timer", "time": "1 us"},
        "contention": ["segmentation"],
    },
    "transport": {
        "kind": "datagram",
        "segment_size": "1250 B",
        "header_size": "0 B",
        "spacing": "constant",
    },
    "measurement": {"trace": [0, 1], "network": {}},
}


def of_two(path: Path, later_s: float) -> lb.Result:
    """Send a burst of four packets from each edge, that from B later by a given time."""
    table = path / "bursts.csv"
    rows = ["source,destination,start_s,size_bytes", "a,d,0,5000", f"b,d,{later_s},5000"]
    table.write_text("\n".join(rows), encoding="utf-8")
    workload = {"kind": "table", "file": str(table)}
    return lb.run(lb.Scenario.from_dict({**TWO_TO_ONE, "workload": workload}), seed=1)


def test_where_nothing_could_be_saved_it_is_refused() -> None:
    switching = {**TWO_TO_ONE["switching"], "signalling": "jit"}
    workload = {"kind": "pairs", "size": "5000 B"}
    with pytest.raises(InputError, match=r"switching\.contention\[0\].*with signalling 'jit'"):
        lb.Scenario.from_dict({**TWO_TO_ONE, "switching": switching, "workload": workload})


def counted(result: lb.Result, *names: str) -> list[int]:
    """The counts of the node C."""
    switches = result.switches.set_index("node")
    return [switches[name].to_dict()["C"] for name in names]


@pytest.mark.parametrize(
    ("later_us", "cut"), [(4.0, 0), (3.5, 1), (3.0, 1), (2.9, 2), (1.5, 3), (1.0, 3)]
)
def test_the_packets_are_lost_that_overlap(tmp_path: Path, later_us: float, cut: int) -> None:
    result = of_two(tmp_path, later_us * 1e-6)
    first, second = result.flows["drops"], result.flows["delivered_bytes"]
    assert first.tolist() == [0, cut]
    assert second.tolist() == [5000, 5000 - 1250 * cut]
    assert counted(result, "bursts_cut", "packets_cut") == [min(cut, 1), cut]
    assert result.metrics["burst_loss"] == 0
    assert result.trace is not None
    segments = result.trace.segments
    lost = segments[segments["event"] == "lost"]
    assert lost["reason"].tolist() == ["cut"] * cut
    assert set(lost["holder_burst"]) <= {0}
    assert set(lost["burst"]) <= {1}
    assert set(lost["node"]) <= {"C"}
    pieces = result.trace.cuts[["burst", "link_source", "packets", "bytes", "holder_burst"]]
    assert pieces.to_numpy().tolist() == [[1, "C", cut, 1250 * cut, 0]][: min(cut, 1)]
    rows = result.trace.bookings
    begins = rows.loc[rows["link_source"] == "C", "start_s"].max() - cut * 1e-6
    assert result.trace.cuts["start_s"].tolist() == pytest.approx([begins][: len(pieces)])


def test_a_burst_of_which_nothing_is_left_is_lost(tmp_path: Path) -> None:
    result = of_two(tmp_path, 0.9e-6)
    assert counted(result, "dropped_no_channel", "bursts_cut", "packets_cut") == [1, 0, 0]
    assert result.metrics["burst_loss"] == 0.5


@each
def test_what_was_cut_off_comes_nowhere_and_the_rest_arrives(plan: tuple[int, str]) -> None:
    it = run(plan)
    whole = {burst.number: burst for _, burst in it.at("launch")}
    gone: dict[int, tuple[Packet, ...]] = {}
    for _, piece in it.at("cut"):
        gone[piece.number] = gone.get(piece.number, ()) + piece.packets
    short = {reservation.burst.number for reservation in it.every if reservation.kept is not None}
    for _, burst in it.at("take apart"):
        if burst.number in short:
            continue
        before = whole[burst.number]
        lost = gone.get(burst.number, ())
        assert burst.packets
        assert lost + burst.packets == before.packets
        assert burst.size == before.size - sum(packet.size for packet in lost)
    names = {packet.name for packets in gone.values() for packet in packets}
    assert names.isdisjoint(entry.unit.name for entry in it.trace if entry.what == "deliver")


@each
def test_no_packet_is_cut_off_that_could_have_stayed(plan: tuple[int, str]) -> None:
    it = run(plan)
    pending: dict[int, TraceEntry] = {}
    cut: dict[Reservation, TraceEntry] = {}
    for entry in it.trace:
        if isinstance(entry.unit, Burst) and entry.what == "cut":
            pending[entry.unit.number] = entry
        elif (
            entry.what == "reserve"
            and entry.reservation
            and entry.reservation.burst.number in pending
        ):
            cut[entry.reservation] = pending.pop(entry.reservation.burst.number)
    assert not pending
    for step in steps(it):
        reservation = step.entry.reservation
        if step.entry.what == "reserve" and reservation in cut:
            assert reservation is not None
            check_cut(step, reservation, cut[reservation])


def check_cut(step: Step, reservation: Reservation, cut: TraceEntry) -> None:
    """With one packet more there was no channel, and the reported holder overlapped."""
    assert isinstance(cut.unit, Burst) and cut.reservation is not None
    assert (cut.node, cut.wanted) == (step.node, reservation.link)
    piece, rest = cut.unit, step.burst
    whole = replace(rest, packets=piece.packets + rest.packets, size=piece.size + rest.size)
    head = step.head - takes(step, piece.size)
    wanted = step._replace(entry=step.entry._replace(unit=whole), head=head)
    assert not wanted.has_channel(reservation.link)
    for number in range(1, len(piece.packets)):
        less, more = whole.split(number)
        entry = step.entry._replace(unit=more)
        fewer = step._replace(entry=entry, head=head + takes(step, less.size))
        assert not fewer.has_channel(reservation.link)
    assert cut.reservation in step.reserved[reservation.link]
    assert cut.reservation.channel == reservation.channel
    assert cut.reservation.end <= reservation.start
    assert cut.reservation.end > wanted.interval()[0]


def takes(step: Step, size: int) -> int:
    """The transmission time of a number of bytes on a fibre."""
    return -(-8 * 10**12 * size // step.it.link(step.it.fibres(step.node)[0], "rate_bps"))


def test_the_plans_cut_bursts() -> None:
    """The plans exercise the tests above."""
    counts = Counter[str]()
    for plan in PLANS:
        pieces = run(plan).at("cut")
        counts["plans"] += bool(pieces)
        counts["several packets"] += sum(len(piece.packets) > 1 for _, piece in pieces)
        counts["on the way"] += sum(entry.node != piece.ends[0] for entry, piece in pieces)
    expected = ("plans", "several packets", "on the way")
    assert {name: counts[name] for name in expected if counts[name] < 5} == {}
