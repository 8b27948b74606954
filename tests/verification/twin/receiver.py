"""The receiver of `tcp`: reassembly, delayed acknowledgements, SACK, DSACK, time stamps."""

from typing import Any

from twin.endpoint import Flow, Receiver, Timer
from twin.events import Moment
from twin.network import DELAY, TIMER, Network
from twin.units import Block, Packet


class TcpReceiver(Receiver):
    """Holds out-of-order data in `held`, with the block of the newest segment first."""

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        super().__init__(network, flow, transport, here, there)
        self.held: list[Block] = []
        self.waiting = 0
        self.delay = Timer(network.events, Moment(TIMER, here, flow.index, DELAY), self.acknowledge)
        self.last_acknowledgement = 0
        self.fin_at: int | None = None
        self.recovery: dict[str, Any] = transport["recovery"]
        own = transport["congestion_control"]["kind"] == "dctcp"
        self.echoes: bool = own and not self.counts
        #: Whether an echo lasts until the sender has reduced its window (RFC 3168).
        self.latches: bool = transport.get("ecn", False) is True and not own
        selective = self.recovery["kind"] in ("sack", "sack1", "rr-tcp", "rack-tlp")
        self.sacks = selective and self.recovery.get("sack", True)

    def receive(self, packet: Packet) -> None:
        late = packet.kind == "syn" and self.state not in ("listen", "syn-received")
        if packet.kind == "syn" and not late:
            self.read_stamp(packet)
        super().receive(packet)

    def answer(self, kind: str, blocks: tuple[Block, ...] = ()) -> None:
        self.settle()
        super().answer(kind, blocks)

    def acknowledge(self, duplicate: Block | None = None) -> None:
        """Acknowledge all in order, and report a `duplicate`."""
        self.settle()
        self.last_acknowledgement = self.flow.delivered
        self.send("ack", self.flow.delivered, blocks=self.blocks(duplicate))

    def settle(self) -> None:
        """Let no segment wait for an acknowledgement any more."""
        self.waiting = 0
        self.delay.clear()

    def blocks(self, duplicate: Block | None) -> tuple[Block, ...]:
        """RFC 2018, section 4, and RFC 2883, section 4."""
        if not self.sacks:
            return ()
        blocks = self.held
        if duplicate is not None and self.recovery["duplicate_sack"]:
            blocks = [duplicate, *blocks]
        return tuple(blocks[: self.recovery["sack_blocks"]])

    def read_stamp(self, packet: Packet) -> None:
        """Keep the stamp to be echoed: RFC 7323, section 4.3."""
        if packet.stamp is not None and packet.number <= self.last_acknowledgement:
            self.newest_stamp = max(packet.stamp, self.newest_stamp or 0)

    def take(self, packet: Packet) -> None:
        segment = (packet.number, packet.number + self.length(packet))
        if self.latches:
            self.marked = packet.marked or (self.marked and not packet.reduced)
        turned = self.echoes and packet.marked != self.marked
        triggers = self.counts and packet.marked and not self.marked
        if self.counts:
            self.marks += packet.marked
            self.marked = packet.marked
        if turned:
            # RFC 8257, section 3.2: waiting segments are acknowledged with their own mark.
            if self.waiting:
                self.acknowledge()
            self.marked = packet.marked
        self.read_stamp(packet)
        if packet.kind == "data+fin":
            self.fin_at = segment[1]
        expected = self.flow.delivered
        around = [b for b in self.held if b[0] <= segment[0] < b[1]]
        gaps, duplicate = bool(self.held), None
        if segment[0] < expected or around:
            self.flow.duplicates += 1
            self.held = [*around, *(b for b in self.held if b not in around)]
            duplicate = segment
        elif segment[0] > expected:
            self.hold(segment)
        else:
            self.flow.deliver(self.length(packet), self.now)
            self.fill()
        delivered = self.flow.delivered
        if delivered == self.fin_at and (delivered > expected or packet.kind == "data+fin"):
            self.state = "last-ack"
            self.answer("fin+ack", self.blocks(duplicate))
        elif delivered > expected and not gaps and not turned and not triggers:
            self.wait()
        else:
            self.acknowledge(duplicate)

    def length(self, packet: Packet) -> int:
        """Sequence numbers of a segment."""
        return packet.payload

    def hold(self, segment: Block) -> None:
        """Keep a segment, joined with the blocks that it touches."""
        touching = [b for b in self.held if b[1] == segment[0] or b[0] == segment[1]]
        ends = [edge for block in (segment, *touching) for edge in block]
        rest = [b for b in self.held if b not in touching]
        self.held = [(min(ends), max(ends)), *rest]

    def fill(self) -> None:
        """Take held data that follows without a gap."""
        for block in sorted(self.held):
            if block[0] == self.flow.delivered:
                self.flow.deliver(block[1] - block[0], self.now)
                self.held.remove(block)

    def wait(self) -> None:
        """Acknowledge one of `acknowledge_every` segments, or after a time."""
        self.waiting += 1
        if self.waiting >= self.transport["acknowledge_every"]:
            self.acknowledge()
        elif self.waiting == 1:
            self.delay.set(self.now + self.transport["acknowledgement_delay_ps"])
