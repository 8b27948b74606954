"""Losses of bursts: pieces that nodes cut off, heads when the header is there, or tails when it has
gone ahead; and the flows whose data is lost.

The header announces the whole burst, so a missing tail is found at its egress.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from twin.link import Link
    from twin.network import Network
    from twin.units import Burst, Packet, Reservation


class TailCut(NamedTuple):
    """A cut of a burst that had crossed `passed` fibres: `kept` bytes of it go over the link.

    Its head left there at `head`, and then `by` has its channel; `counters` are those of the node.
    """

    passed: int
    head: int
    kept: int
    link: "Link"
    by: "Reservation"
    counters: Counter[str]


class BurstLoss(NamedTuple):
    """Data of `flows`, in the order of their first packets, was lost at `time` with a burst."""

    time: int
    identity: tuple[int, int]
    flows: tuple[int, ...]


class Cuts:
    """The tails cut off the bursts in flight, by the numbers of the bursts."""

    def __init__(self, network: "Network") -> None:
        self.network = network
        self.tails: defaultdict[int, list[TailCut]] = defaultdict(list)
        self.lost: set[int] = set()
        # By the two edges and the class of the bursts, for rules of assembly that get notices of
        # losses.
        self.losses: defaultdict[tuple[int, ...], list[BurstLoss]] = defaultdict(list)

    def lose(self, burst: "Burst", packets: tuple["Packet", ...]) -> None:
        """Note the flows whose data is lost with some packets of a burst that hosts have sent."""
        hosts = self.network.hosts
        flows = [packet.flow for packet in packets if packet.payload and packet.source < hosts]
        loss = BurstLoss(self.network.events.now, burst.identity, tuple(dict.fromkeys(flows)))
        self.losses[self.network.line(burst.packets, burst.ends)].append(loss)

    def head(
        self, node: int, piece: "Burst", wanted: "Link", holder: "Reservation", begins: int
    ) -> None:
        """Record a piece lost off the head of a burst, which was to leave at `begins`."""
        self.lose(piece, piece.packets)
        self.end("cut", node, piece, wanted, holder, begins)

    def end(
        self,
        what: str,
        node: int,
        piece: "Burst",
        wanted: "Link",
        holder: "Reservation",
        begins: int,
        passed: int | None = None,
    ) -> None:
        """Drop a piece of a burst here, and not the burst."""
        self.network.end(piece)
        where = {"wanted": wanted.index, "begins": begins, "passed": passed}
        self.network.note(what, node, piece, None, reservation=holder, **where)

    def shorten(self, reservation: "Reservation", cut: TailCut) -> "Reservation":
        """Shorten the reservation of a burst on a link; returns the shorter one."""
        link, head, size = cut.link, reservation.head, reservation.size
        end = head + link.tx(cut.kept)
        place = link.transmissions.index((head, head + link.tx(size), size))
        link.transmissions[place] = head, end, cut.kept
        if reservation.burst.number not in self.lost:
            self.tails[reservation.burst.number].append(cut)
        return replace(reservation, end=end, kept=cut.kept)

    def forget(self, burst: "Burst") -> None:
        """A burst is lost, with all pieces cut off it."""
        self.lose(burst, burst.packets)
        self.lost.add(burst.number)
        self.tails.pop(burst.number, None)

    def settle(self, node: int, burst: "Burst") -> "Burst":
        """The packets of a burst that reach its egress; the others are lost now."""
        cuts = self.tails.pop(burst.number, [])
        if not cuts:
            return burst
        left: list[Packet] = []
        pieces: dict[int, list[Packet]] = defaultdict(list)
        before: dict[int, int] = {}
        last = 0
        for packet in burst.packets:
            first, last = last, last + packet.size
            missing = [place for place, cut in enumerate(cuts) if cut.kept < last]
            if missing:
                # The first node on the path, and there the first cut.
                where = min(missing, key=lambda place: cuts[place].passed)
                pieces[where].append(packet)
                before.setdefault(where, first)
            else:
                left.append(packet)
        self.lose(burst, burst.packets[len(left) :])
        for place, packets in pieces.items():
            cut = cuts[place]
            piece = replace(burst, packets=tuple(packets))
            begins = cut.head + cut.link.tx(before[place])
            self.end("cut tail", node, piece, cut.link, cut.by, begins, cut.passed)
            cut.counters["packets_cut"] += len(packets)
        for passed in {cuts[place].passed for place in pieces}:
            counters = next(cut.counters for cut in cuts if cut.passed == passed)
            counters["bursts_cut"] += 1
        return replace(burst, packets=tuple(left), size=min(cut.kept for cut in cuts))
