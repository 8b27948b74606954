"""The sender of `tcp`: outstanding data, permitted transmissions, and the timer."""

import math
from dataclasses import dataclass
from typing import Any

from twin import endpoint
from twin.accurate import Feedback
from twin.application import Application
from twin.endpoint import AVOIDANCE, RECOVERING, SLOW_START, Flow, Sender
from twin.law import LOSS, OPEN, RECOVERY, Law, Report
from twin.law_names import law_of
from twin.network import Network
from twin.recoveries import RECOVERIES
from twin.recovery import Recovery
from twin.units import Packet


@dataclass
class Segment:
    """Data that was sent and is not acknowledged."""

    begin: int
    end: int
    sent_at: int
    #: When it was sent last: bytes acknowledged, the time of their last acknowledgement, and when
    #: the newest segment acknowledged by then had been sent.
    before: tuple[int, int, int]
    again: bool = False
    sacked: bool = False

    @property
    def payload(self) -> int:
        """Its bytes."""
        return self.end - self.begin


class TcpSender(Sender):
    """`una`, `next` and `highest` are bytes; `segments` holds those of `[una, highest)`."""

    #: Whether the FIN is sent when all data is acknowledged, and not with the last data.
    closes_apart = False

    def __init__(
        self, network: Network, flow: Flow, transport: dict[str, Any], here: int, there: int
    ) -> None:
        super().__init__(network, flow, transport, here, there)
        self.advertised: int = transport["advertised_window_bytes"]
        self.una = self.next = self.highest = 0
        self.application = Application(self.network.events, flow, self.most, self.write_on)
        self.segments: list[Segment] = []
        self.law: Law = law_of(transport, self.most)
        self.recovery: Recovery = RECOVERIES[transport["recovery"]["kind"]](self)
        self.timed: tuple[int, int] | None = None
        self.una_at_timeout: int | None = None
        self.sacked = 0
        # Bytes known to have arrived, when the last of them were acknowledged, and when the newest
        # segment acknowledged was sent.
        self.delivered = 0
        self.delivered_at = self.first_sent = 0
        # The first byte of a segment that is to be sent again as soon as the interface has room.
        self.owed: int | None = None
        #: Whether marks reduce the window (RFC 3168), the end of the data sent at the last
        #: reduction, and whether the receiver is to be told of it.
        own = transport["congestion_control"]["kind"] == "dctcp"
        self.ecn = bool(transport.get("ecn", False)) and not own
        self.feedback = Feedback(self.most)
        self.reduced_at = 0
        self.tells = False

    @property
    def outstanding(self) -> int:
        """FlightSize."""
        return self.next - self.una

    @property
    def cwnd(self) -> int:
        """Congestion window in whole bytes."""
        return math.floor(self.law.cwnd)

    def grow(self, acknowledged: int) -> None:
        """Let the window grow, at most to the room of the receiver."""
        self.law.grow(acknowledged)
        self.limit(self.advertised)

    def note_reduction(self) -> None:
        """The window was reduced."""
        if self.ecn:
            self.reduced_at, self.tells = self.highest, True

    def answer_echo(self, before: float) -> None:
        """RFC 3168, section 6.1.2: no growth, and one reduction per window of data."""
        if not (self.ecn and self.law.echo) or self.recovery.decided:
            return
        self.law.cwnd = min(self.law.cwnd, before)
        newer = self.reduced_at == 0 or self.una > self.reduced_at
        if newer and not self.recovery.recovering and not self.recovery.in_loss:
            self.law.mark(self.recovery.flight)
            self.note_reduction()

    def limit(self, most: int) -> None:
        """Limit the window to `most` bytes."""
        self.law.cwnd = min(self.law.cwnd, float(most))

    def payload_at(self, begin: int) -> int:
        """Bytes of the segment that begins at `begin`; 0 if there is none."""
        if begin >= self.application.end:
            return 0
        return min(self.most, self.flow.size - begin)

    def fits_advertised(self, begin: int) -> bool:
        """Whether the segment at `begin` is within the receiver's window."""
        return begin + self.payload_at(begin) - self.una <= self.advertised

    def established(self) -> None:
        self.delivered_at = self.first_sent = self.now
        if self.times_sent > 1 + self.timeout.excused:
            # RFC 5681, section 3.1.
            self.limit(self.most)
        self.application.write()
        self.send_allowed()
        self.note_window()

    def write_on(self) -> None:
        """The application writes the next part, unless the sender gave up."""
        if self.state == "established":
            self.application.write()
            self.wrote()
            self.note_window()

    def wrote(self) -> None:
        """Send what the application has written."""
        self.send_allowed()

    def note_window(self) -> None:
        """Write its state into the trace."""
        law, recovery = self.law, self.recovery
        if recovery.recovering:
            state = RECOVERING
        elif recovery.in_loss:
            state = endpoint.LOSS
        else:
            state = SLOW_START if law.cwnd < law.ssthresh else AVOIDANCE
        inflation = float(recovery.inflation)
        self.note(law.cwnd, inflation, law.ssthresh, self.outstanding, state)

    def has_room(self) -> bool:
        """Whether the interface takes another segment; if not, more is sent when it does."""
        queue = self.interface.interface
        return queue is None or queue.has_room(self.flow.index, self.send_on)

    def send_on(self) -> None:
        """Continue: the interface has room again."""
        if self.state == "established":
            self.send_allowed()

    def send_again(self) -> None:
        """Send the first unacknowledged segment again, now or as soon as the interface has room."""
        if self.has_room():
            self.send_segment(self.una)
        else:
            self.owed = self.una

    def send_allowed(self) -> None:
        """Send all segments that may be sent."""
        if self.owed == self.una:
            if not self.has_room():
                return
            self.send_segment(self.una)
        self.recovery.send()

    def send_segment(self, begin: int) -> None:
        """Send the segment that begins at `begin`, for the first time or again."""
        self.owed = None
        end = begin + self.payload_at(begin)
        sent_before = begin < self.highest
        before = (self.una, self.delivered_at, self.first_sent)
        self.flow.transmissions += 1
        self.flow.retransmissions += sent_before
        window = min(int(self.law.cwnd / self.most), 65_535)
        kind = "data+fin" if end == self.flow.size and not self.closes_apart else "data"
        transmission = self.flow.audit.send("data", begin, end - begin)
        tells = self.tells and not sent_before
        self.tells = self.tells and not tells
        self.send(kind, begin, end - begin, window=window, transmission=transmission, reduced=tells)
        if sent_before:
            (segment,) = (s for s in self.segments if s.begin == begin)
            segment.sent_at, segment.again, segment.before = self.now, True, before
            self.timed = None
            self.recovery.sent_again(begin)
        else:
            self.segments.append(Segment(begin, end, self.now, before))
            self.timed = self.timed or (end, self.now)
        self.next = max(self.next, end)
        self.highest = max(self.highest, end)
        if not sent_before:
            self.law.now = self.now
            self.law.sent(self.alone())
        if self.timer.deadline is None:
            self.restart_timer()

    def alone(self) -> bool:
        """Whether no other segment is in the network."""
        return self.outstanding <= self.most

    def restart_timer(self) -> None:
        """Let the retransmission timer start anew."""
        self.timer.set(self.now + self.timeout.wait())

    def acknowledge(self, packet: Packet) -> None:
        if packet.number > self.una:
            self.new_acknowledgement(packet)
        elif packet.number == self.una and self.highest > self.una:
            news = self.recovery.read(packet.blocks)
            self.tell(packet, None, None)
            outstanding = self.outstanding
            before, self.recovery.decided = self.law.cwnd, False
            answer = self.recovery.duplicate(news)
            self.answer_echo(before)
            self.report(0, outstanding)
            if answer.again:
                self.send_again()
                self.restart_timer()
            self.send_allowed()
            self.note_window()
        else:
            self.recovery.read(packet.blocks)

    def new_acknowledgement(self, packet: Packet) -> None:
        """Handle an acknowledgement of new data."""
        acknowledged = packet.number - self.una
        self.una = packet.number
        self.next = max(self.next, self.una)
        covered = [s for s in self.segments if s.end <= self.una]
        for segment in covered:
            self.flow.audit.acknowledge(self.now, "data", segment.begin)
        self.segments = self.segments[len(covered) :]
        news = self.recovery.read(packet.blocks)
        self.sample(packet, covered)
        self.tell(packet, self.round_trip(packet, covered), self.delivery_rate(covered[-1]))
        outstanding = self.outstanding
        before, self.recovery.decided = self.law.cwnd, False
        answer = self.recovery.new(acknowledged, news)
        self.answer_echo(before)
        self.report(acknowledged, outstanding)
        if self.una == self.flow.size:
            self.timer.clear()
            self.finish()
            self.note_window()
            return
        if self.una == self.highest:
            self.timer.clear()
        if answer.again:
            self.send_again()
        if answer.timer and self.una < self.highest:
            # RFC 6298, section 5, (5.3).
            self.restart_timer()
        self.send_allowed()
        self.note_window()

    def tell(self, packet: Packet, rtt: int | None, rate: tuple[int, int] | None) -> None:
        """Pass the acknowledgement that is handled next to the law."""
        self.law.now, self.law.rtt = self.now, rtt
        self.law.rate, self.law.sent_to = rate, self.highest
        self.hear_marks(packet)

    def hear_marks(self, packet: Packet) -> None:
        """Pass its echo of a mark, or its count, to the law."""
        self.law.echo, self.law.marks = packet.echoes_mark, None
        if self.counts:
            self.law.marks = self.feedback.hear(packet, self.una)
            self.law.echo = self.law.marks > 0

    def delivery_rate(self, newest: Segment) -> tuple[int, int]:
        """Bytes and time of the draft of BBR, section 4.1, from the newest segment acknowledged."""
        delivered, delivered_at, first_sent = newest.before
        self.first_sent, self.delivered_at = newest.sent_at, self.now
        return self.una - delivered, max(newest.sent_at - first_sent, self.now - delivered_at)

    def report(self, acknowledged: int, outstanding: int) -> None:
        """Report the result to the law, with the round trip given by SACK blocks."""
        if not self.law.reports:
            return
        end = max((s.end for s in self.segments if s.sacked), default=0)
        if end > self.sacked:
            self.sacked = end
            (segment,) = (s for s in self.segments if s.end == end)
            if self.law.rtt is None and not segment.again:
                self.law.rtt = self.now - segment.sent_at
        in_loss = LOSS if self.recovery.in_loss else OPEN
        before, sacked = self.delivered, sum(s.payload for s in self.segments if s.sacked)
        self.delivered = max(before, self.una + sacked)
        room = self.outstanding + self.most <= self.cwnd
        report = Report(
            acknowledged,
            outstanding,
            delivered=self.delivered - before,
            lost=self.recovery.newly_lost(),
            phase=RECOVERY if self.recovery.recovering else in_loss,
            application_limited=self.next == self.application.end and room,
        )
        self.law.report(report)
        self.limit(self.advertised)

    def round_trip(self, packet: Packet, covered: list[Segment]) -> int | None:
        """The report of an acknowledgement of new data to the law."""
        if self.transport["timestamps"]:
            return None if packet.echo is None else self.now - packet.echo
        return None if any(s.again for s in covered) else self.now - covered[-1].sent_at

    def sample(self, packet: Packet, covered: list[Segment]) -> None:
        """Take a round-trip time, if the acknowledgement has one."""
        timed, self.timed = self.timed, None
        if self.transport["timestamps"]:
            if packet.echo is not None:
                self.timeout.sample(self.now - packet.echo, self.una, self.next)
        elif self.transport["rtt_samples"] == "every-acknowledgement":
            if not any(segment.again for segment in covered):
                self.timeout.sample(self.now - covered[-1].sent_at, self.una, self.next)
        elif timed is not None:
            end, sent_at = timed
            if self.una >= end:
                self.timeout.sample(self.now - sent_at, self.una, self.next)
            else:
                self.timed = timed

    def finish(self) -> None:
        if self.closes_apart:
            super().finish()
            return
        # The FIN went with the last data: no packet is left to send or to wait for.
        self.flow.acknowledged = self.now
        self.state = "fin-sent"

    def unacknowledged(self) -> int:
        return self.una

    def all_sent(self) -> int:
        return self.highest

    def data_timeout(self) -> None:
        # RFC 5681, section 3.1: the threshold is held if the segment was sent again by the timer.
        self.law.now, self.law.sent_to = self.now, self.highest
        self.law.timeout(self.recovery.flight, self.una == self.una_at_timeout)
        self.una_at_timeout = self.una
        self.recovery.timeout()
        self.note_reduction()
        self.next = self.una
        self.owed = None
        self.send_allowed()
        self.note_window()
