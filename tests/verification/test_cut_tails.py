"""Bursts whose tails are cut by nodes: exact, and the reservations of random runs replayed."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from plans import core
from reserved import PLANS, Run, Step, run, steps
from test_cut_bursts import TWO_TO_ONE, counted
from twin import Burst, Reservation, TraceEntry

import lightburst as lb
from blocks import in_blocks
from lightburst.foundation.errors import InputError

each = in_blocks("plan", PLANS)
TAIL = {"kind": "segmentation", "drop": "tail"}
#: As in `test_cut_bursts`: two edges, one wavelength, a packet takes 1 us.
SWITCHING: dict[str, Any] = {**TWO_TO_ONE["switching"], "contention": [TAIL]}


def of_two(path: Path, later_s: float, size: int = 5000, **switching: Any) -> lb.Result:
    """Send four packets from A, and later `size` bytes from B."""
    table = path / "bursts.csv"
    rows = ["source,destination,start_s,size_bytes", "a,d,0,5000", f"b,d,{later_s},{size}"]
    table.write_text("\n".join(rows), encoding="utf-8")
    workload = {"kind": "table", "file": str(table)}
    measurement = {"trace": [0, 1], "network": {}}
    scenario = {
        **TWO_TO_ONE,
        "switching": {**SWITCHING, **switching},
        "workload": workload,
        "measurement": measurement,
    }
    return lb.run(lb.Scenario.from_dict(scenario), seed=1)


@pytest.mark.parametrize(
    ("later_us", "cut"), [(4.0, 0), (3.5, 1), (3.0, 1), (2.9, 2), (1.5, 3), (1.0, 3)]
)
@pytest.mark.parametrize("signalling", ["jet", "jit"])
def test_the_packets_are_lost_that_overlap(
    tmp_path: Path, later_us: float, cut: int, signalling: str
) -> None:
    result = of_two(tmp_path, later_us * 1e-6, signalling=signalling)
    assert result.flows["drops"].tolist() == [cut, 0]
    assert result.flows["delivered_bytes"].tolist() == [5000 - 1250 * cut, 5000]
    assert counted(result, "bursts_cut", "packets_cut") == [min(cut, 1), cut]
    assert result.metrics["burst_loss"] == 0
    trace = result.trace
    assert trace is not None
    lost = trace.segments[trace.segments["event"] == "lost"]
    assert lost["reason"].tolist() == ["cut"] * cut
    assert set(lost["holder_burst"]) <= {1}
    assert set(lost["burst"]) <= {0}
    assert set(lost["node"]) <= {"C"}
    # Packets cut off a burst go no further than to the node that cuts it.
    hops = trace.hops[trace.hops["flow"] == 0]
    over = hops.groupby("link_source").size().to_dict()
    assert over == {"a": 4, "A": 4, "C": 4 - cut, "D": 4 - cut}
    pieces = trace.cuts[["burst", "link_source", "packets", "bytes", "holder_burst"]]
    assert pieces.to_numpy().tolist() == [[0, "C", cut, 1250 * cut, 1]][: min(cut, 1)]
    # The channel is in use without a gap, and the given number of bytes of the burst left.
    rows = trace.bookings[trace.bookings["link_source"] == "C"]
    (begins, begins_later), (ends, _) = rows["start_s"], rows["end_s"]
    sent = min(int(later_us * 1250 + 1e-6), 5000)
    assert rows["bytes"].tolist() == [sent, 5000]
    assert trace.cuts["start_s"].tolist() == pytest.approx(
        [begins + (4 - cut) * 1e-6][: len(pieces)]
    )
    assert ends == pytest.approx(begins + later_us * 1e-6, abs=1e-9)
    assert begins_later == pytest.approx(ends, abs=1e-9)
    links = result.links.set_index(["source", "target"])
    assert links["bytes"].to_dict()["C", "D"] == sent + 5000
    assert links["bytes"].to_dict()["A", "C"] == 5000


@pytest.mark.parametrize(
    ("later_us", "size"),
    # The first packet of the earlier burst has not left; both bursts end together; the later one
    # ends before; both begin together.
    [(0.9, 5000), (2.0, 2500), (2.0, 1250), (0.0, 5000)],
)
def test_a_burst_that_is_no_longer_than_the_tail_is_lost(
    tmp_path: Path, later_us: float, size: int
) -> None:
    result = of_two(tmp_path, later_us * 1e-6, size)
    assert counted(result, "dropped_no_channel", "bursts_cut", "packets_cut") == [1, 0, 0]
    assert sorted(result.flows["drops"]) == [0, size // 1250]


def test_resolvers_before_it_are_asked_before(tmp_path: Path) -> None:
    line = {"kind": "delay-line", "granularity": "1 us", "delays": 4}
    result = of_two(tmp_path, 2e-6, contention=[line, TAIL])
    assert counted(result, "bursts_delayed", "bursts_cut") == [1, 0]
    result = of_two(tmp_path, 2e-6, contention=[TAIL, line])
    assert counted(result, "bursts_delayed", "bursts_cut") == [0, 1]


@pytest.mark.parametrize(("later_us", "cut"), [(3.0, 0), (4.5, 2)])
def test_a_burst_whose_header_still_waits_is_not_cut(
    tmp_path: Path, later_us: float, cut: int
) -> None:
    """The second burst of a is made at 2.5 us, its header waits until 5 us, it leaves at 15 us.

    That of x comes over A, with its header 28 us ahead and 1 us behind its packets.
    """
    rows = {"first": "a,d,0,5000\na,d,1.5e-6,25000", "ahead": f"x,d,{later_us}e-6,5000"}
    groups = {}
    for name, flows in rows.items():
        table = tmp_path / f"{name}.csv"
        table.write_text(f"source,destination,start_s,size_bytes\n{flows}", encoding="utf-8")
        groups[name] = {"workload": {"kind": "table", "file": str(table)}}
    host = {"rate": "1 Tb/s", "length": "0 m"}
    links = [
        {"source": "x", "target": "X", **host},
        {"source": "a", "target": "A", **host},
        {"source": "X", "target": "A", "length": "0 m"},
        {"source": "A", "target": "D"},
        {"source": "D", "target": "d", **host},
    ]
    switching = {"ingress": "delay", "offset_time": "10 us", "extra_offset": {"ahead": "18 us"}}
    scenario = {
        **TWO_TO_ONE,
        "topology": {**TWO_TO_ONE["topology"], "links": links},
        "switching": {**SWITCHING, **switching},
        "groups": groups,
        "measurement": {},
    }
    switches = lb.run(lb.Scenario.from_dict(scenario), seed=1).switches.set_index("node")
    found = switches[["packets_cut", "dropped_no_channel"]].to_numpy().sum(axis=0).tolist()
    assert found == [cut, int(not cut)]


def test_all_switches_cut_off_the_same() -> None:
    """Without its head the rest of a burst is announced, without its tail more than the rest."""
    workload = {"kind": "pairs", "size": "5000 B"}
    other = {**SWITCHING, "contention": ["segmentation"]}
    switching = {**SWITCHING, "nodes": {"C": other}}
    with pytest.raises(InputError) as caught:
        lb.Scenario.from_dict({**TWO_TO_ONE, "switching": switching, "workload": workload})
    error = caught.value.errors[0]
    assert error.path == "switching.nodes.C.contention[0].drop"
    assert error.given == "'head'"
    assert error.allowed == "'tail', as in switching: the same at all switches"


def offsets(burst: Burst) -> dict[str, int]:
    """Bytes of a burst up to the end of each of its packets."""
    ends, last = {}, 0
    for packet in burst.packets:
        last += packet.size
        ends[packet.name] = last
    return ends


@each
def test_what_has_not_left_a_node_is_missing_where_the_burst_ends(plan: tuple[int, str]) -> None:
    """And no other packet; the cut is that of the first node on the path."""
    it = run(plan)
    whole = {burst.number: burst for _, burst in it.at("launch")}
    pieces: dict[int, list[tuple[TraceEntry, Burst]]] = defaultdict(list)
    for entry, piece in it.at("cut tail"):
        pieces[piece.number].append((entry, piece))
    headless = {burst.number for _, burst in it.at("cut")}
    for _, burst in it.at("take apart"):
        if burst.number in headless:
            assert burst.number not in pieces
            continue
        way, ends = it.reservations[burst.number], offsets(whole[burst.number])
        left = min(reservation.size for reservation in way)
        assert burst.size == left
        assert [packet.name for packet in burst.packets] == [
            name for name, end in ends.items() if end <= left
        ]
        lost = {packet.name: entry for entry, piece in pieces[burst.number]
                for packet in piece.packets}  # fmt: skip
        assert {packet.name for packet in burst.packets} | set(lost) == set(ends)
        for name, entry in lost.items():
            short = next(reservation for reservation in way if reservation.size < ends[name])
            assert (entry.wanted, entry.passed) == (short.link, short.passed)
            assert entry.reservation is not None
            check_holder(it, entry.reservation, short)


def rows_of(table: Any, *columns: str) -> list[tuple[int, ...]]:
    """Link, burst and more of each row."""
    return list(zip(*(table[name].tolist() for name in ("link", "burst", *columns)), strict=True))


def check_holder(it: Run, holder: Reservation, short: Reservation) -> None:
    """The reported holder of a cut has the channel then."""
    assert (holder.link, holder.channel) == (short.link, short.channel)
    announced = short.head + it.time(short.link, short.burst)
    assert short.end <= holder.start < announced < holder.end


@each
def test_the_table_of_cuts_names_who_has_the_channel(plan: tuple[int, str]) -> None:
    """The table agrees with reservations of the core; its packets are all that nodes counted."""
    drawn = run(plan).plan
    links = drawn.links["from"].tolist()
    wanted = {"links": list(range(len(links))), "from_ps": 0, "until_ps": 2**64 - 1}
    found = core(drawn._replace(settings={**drawn.settings, "bookings": wanted}))
    reserved: dict[tuple[int, int], list[tuple[int, ...]]] = defaultdict(list)
    for link, burst, *use in rows_of(found["trace_bookings"], "channel", "start_ps", "end_ps"):
        reserved[link, burst].append(tuple(use))
    counted = Counter[int]()
    for row in rows_of(found["trace_cuts"], "holder_burst", "start_ps", "packets"):
        link, burst, holder, first, packets = row
        counted[links[link]] += packets
        # The holder has the channel behind the rest of a burst without its tail, else before it.
        assert any(
            its == channel and (end <= its_start if first >= start else its_end <= start)
            for channel, start, end in reserved[link, burst]
            for its, its_start, its_end in reserved[link, holder]
        )
    counts = enumerate(found["switches"]["packets_cut"].tolist(), drawn.settings["hosts"])
    assert counted == {node: count for node, count in counts if count}


def gives_way(step: Step, reservation: Reservation) -> bool:
    """Whether a burst loses its tail if that gives the new one its channel."""
    start, end = step.interval()
    first = replace(reservation.burst, size=reservation.burst.packets[0].size)
    left = start - reservation.head >= step.it.time(reservation.link, first)
    sent = (reservation.link, reservation.burst.number, reservation.head) in step.sent
    if not (left and sent and start < reservation.end < end):
        return False
    without = [replace(reservation, end=start) if other is reservation else other
               for other in step.reserved[reservation.link]
               if other.channel == reservation.channel]  # fmt: skip
    alone = step._replace(reserved={reservation.link: without})
    return reservation.channel in step.usable(reservation.link) and alone.is_free(
        reservation.link, reservation.channel
    )


@each
def test_the_burst_gives_way_that_would_end_first(plan: tuple[int, str]) -> None:
    """If a burst does, there is no channel; and no burst is lost for which one would."""
    for step in steps(run(plan)):
        table = step.resolver("segmentation")
        shortened = step.entry.shortened
        if table is None or table["drop"] == "head":
            assert shortened is None
        elif step.entry.what == "reserve" and shortened:
            before, after = shortened
            assert not step.has_channel(before.link)
            assert gives_way(step, before)
            others = [other for other in step.reserved[before.link] if other.end < before.end]
            assert not any(gives_way(step, other) for other in others)
            start, _ = step.interval()
            # No byte more would have left.
            assert after.end <= start < step.it.ends(replace(after, kept=after.size + 1))
        elif step.entry.what != "reserve":
            assert step.entry.wanted is not None
            assert not any(gives_way(step, other) for other in step.reserved[step.entry.wanted])


def test_the_plans_cut_tails() -> None:
    """The plans exercise the tests above."""
    counts = Counter[str]()
    for plan in PLANS:
        it = run(plan)
        pieces = it.at("cut tail")
        counts["plans"] += bool(pieces)
        counts["several packets"] += sum(len(piece.packets) > 1 for _, piece in pieces)
        counts["not at the ingress"] += sum(bool(entry.passed) for entry, _ in pieces)
        cuts = [entry for entry in it.trace if entry.shortened]
        counts["of lost bursts"] += sum(
            entry.shortened[0].burst.number in it.losses for entry in cuts if entry.shortened
        )
        for entry in cuts:
            own = it.own(entry.node)
            counts.update({own["scheduler"], own["signalling"], own["conversion"]["kind"]})
    expected = {"plans", "several packets", "not at the ingress", "of lost bursts", "jet", "jit"}
    expected |= {"lauc-vf", "lauc", "none", "limited", "full"}
    assert {name: counts[name] for name in expected if counts[name] < 3} == {}
