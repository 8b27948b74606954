"""The connection of a script: its handshake, its sender, and the segments without data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lightburst.packetdrill.kernel import Agreed, Kernel, agree, answer, transport
from lightburst.packetdrill.marking import Marking
from lightburst.packetdrill.probes import LEAST_US, Probes
from lightburst.packetdrill.script import Options
from lightburst.packetdrill.sender import MICROSECOND, Sender

if TYPE_CHECKING:
    from lightburst.packetdrill.script import Packet

# Bytes of a sequence number before the data: the SYN.
_SYN: Final = 1
# Segments of an acknowledgement from which on a count of three bits may have wrapped.
_AMBIGUOUS: Final = 8
STATES: Final = ("Open", "Disorder", "CWR", "Recovery", "Loss")
"""States towards congestion, in the order of their numbers in the kernel."""
INFINITE: Final = 0x7FFF_FFFF
"""ssthresh that was never lowered."""


@dataclass(frozen=True)
class Segment:
    """A segment that left, in the numbers of the script."""

    at_ps: int
    flags: str
    start: int
    length: int
    acknowledgement: int | None
    options: Options | None = None
    ecn: str = "noecn"
    by_timer: bool = False

    @property
    def end(self) -> int:
        """First sequence number after its data."""
        return self.start + self.length

    def __str__(self) -> str:
        ack = "" if self.acknowledgement is None else f" ack {self.acknowledgement}"
        return f"> {self.flags} {self.start}:{self.end}({self.length}){ack}"


class Connection:
    """One end of a connection, which only sends data.

    Parameters
    ----------
    kernel : Kernel
        Settings of the host.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.state = "closed"
        self.sender: Sender | None = None
        self.agreed: Agreed | None = None
        self.control: list[Segment] = []
        self._syn: Packet | None = None
        self.marking = Marking()
        # Segments delivered by acknowledgements with ECE (RFC 3168).
        self._delivered_marked = 0
        self._first_stamp = 0
        self._syn_at = 0
        self._expects = 1
        self._closing = self._fin_sent = False
        # Data segments of which the script has been told, and those without data.
        self.told_data = self.told_control = 0
        self._stamped: dict[int, int] = {}
        self._probes = Probes()
        self._window_end = self._acknowledged = 0
        self._cork = self._no_delay = False

    # Handshake.

    def listen(self) -> None:
        """Wait for a SYN."""
        self.state = "listen"

    def connect(self, at_us: int) -> None:
        """Send a SYN."""
        self.state, self._syn_at = "syn-sent", at_us
        flags = self.marking.ask(self.kernel.number("tcp_ecn"))
        self._send(at_us, flags, 0, None, answer(self.kernel, None))

    def on_syn(self, at_us: int, syn: Packet) -> None:
        """Answer a SYN."""
        self.state, self._syn, self._syn_at = "syn-received", syn, at_us
        flags = self.marking.on_syn(self.kernel.number("tcp_ecn"), syn)
        self.agreed = agree(self.kernel, syn, self.marking.mode)
        self._send(at_us, flags, 0, 1, answer(self.kernel, syn.options))

    def on_answer(self, at_us: int, packet: Packet) -> None:
        """End the handshake: an answer to our SYN, or the acknowledgement of our own answer."""
        flags = self.marking.on_answer(at_us * MICROSECOND, packet)
        if self._syn is None:
            self.agreed = agree(self.kernel, packet, self.marking.mode)
        if packet.options and packet.options.timestamp:
            self._first_stamp = packet.options.timestamp[0]
        assert self.agreed is not None
        # RFC 7323, section 2.2: the window of a segment with SYN is not scaled.
        shift = self.agreed.shift if self._syn is not None else 0
        self._window_end = (packet.window or 0) << shift
        self.sender = Sender(
            transport(self.kernel, self.agreed),
            at_us,
            at_us - self._syn_at,
            self._window_end,
            accepted=self._syn is not None,
        )
        self.state = "established"
        if self._syn is None:
            self._send(at_us, flags, _SYN, self._expects)

    # Data.

    def write(self, at_us: int, size: int, *, more: bool, end_of_record: bool) -> None:
        """Write data; with ``MSG_MORE`` or ``MSG_EOR``."""
        sender = self.sender
        assert sender is not None
        self._settle_probes(at_us)
        sender.write(size, end_of_record=end_of_record)
        self.push(at_us, more=more)
        self._watch_window(at_us, heard=False)

    def set_cork(self, at_us: int, *, on: bool) -> None:
        """Set ``TCP_CORK``: hold short segments back, or no more."""
        self._cork = on
        if not on:
            self.push(at_us)

    def set_no_delay(self, at_us: int, *, on: bool) -> None:
        """Set ``TCP_NODELAY``: no short segment waits for another; one that is held back leaves."""
        self._no_delay = on
        if on:
            self.push(at_us, held=True)

    def push(self, at_us: int, *, more: bool = False, held: bool = False) -> None:
        """Let what was written leave, but a short last segment that waits; with `held` also that.

        As Linux (`tcp_nagle_test`, `tcp_check_probe_timer`): if nothing is outstanding, a segment
        that waits leaves after a timeout.
        """
        sender = self.sender
        if sender is None:
            return
        self._settle_probes(at_us)
        sender.offer(at_us, hold=not held and self._waits(more=more))
        if not sender.holds:
            return
        row = sender.look(at_us)
        if row["outstanding"]:
            sender.release_us = None
        elif sender.release_us is None:
            sender.release_us = at_us + max(row["timeout_ps"] // MICROSECOND, LEAST_US)

    def _waits(self, *, more: bool) -> bool:
        """Return whether a short segment has to wait."""
        if more or self._cork:
            return True
        if self._no_delay or self.sender is None:
            return False
        # RFC 1122, section 4.2.3.4, as Minshall has it: for a short one that is outstanding.
        sent = self.sender.sent(self.sender.clock_ps)
        return any(
            one.end - one.start < self.sender.mss and one.end > self._acknowledged for one in sent
        )

    def hear(self, at_us: int, packet: Packet) -> None:
        """Let an acknowledgement arrive."""
        self.marking.hear(at_us * MICROSECOND, packet)
        if self.marking.mode != "classic" or "E" not in packet.flags:
            self._hear(at_us, packet)
            return
        # The kernel takes all for marked that such an acknowledgement delivers.
        before = self._delivered(at_us)
        self._hear(at_us, packet)
        self._delivered_marked += self._delivered(at_us) - before

    def hear_counters(self, at_us: int, packet: Packet) -> bool:
        """Let an acknowledgement with byte counters arrive; return whether they matter.

        They do where as many segments are acknowledged as a count of three bits cannot tell.
        """
        before = self._delivered(at_us)
        self.hear(at_us, packet)
        return self._delivered(at_us) - before >= _AMBIGUOUS

    def _delivered(self, at_us: int) -> int:
        assert self.sender is not None
        return int(self.sender.look(at_us)["delivered"])

    def _hear(self, at_us: int, packet: Packet) -> None:
        sender, agreed = self.sender, self.agreed
        assert sender is not None and agreed is not None and packet.acknowledgement is not None
        options = packet.options or Options()
        self._settle_probes(at_us)
        self._probes.answered()
        stamps = options.timestamp if agreed.timestamps else None
        stamp = stamps[1] if stamps else None
        window = None if packet.window is None else packet.window << agreed.shift
        acknowledgement = min(packet.acknowledgement - _SYN, sender.written)
        known, cuts = self._acknowledged, sender.cuts
        # Without SACK the next part of a segment would look like a duplicate to the sender.
        part = acknowledgement > known and cuts.down(acknowledgement) == cuts.down(known)
        if agreed.sack or not part:
            sender.hear(
                at_us,
                acknowledgement,
                window=window,
                blocks=[(a - _SYN, b - _SYN) for a, b in options.sack] if agreed.sack else [],
                echo="E" in packet.flags and agreed.ecn == "classic",
                ace=packet.ace,
                own_stamp=stamps[0] - self._first_stamp if stamps else None,
                stamp_ps=None if stamp is None else self._stamped.get(stamp),
            )
        if acknowledgement >= self._acknowledged:
            self._acknowledged = acknowledgement
            self._window_end = self._window_end if window is None else acknowledgement + window
        self.push(at_us)
        self._watch_window(at_us, heard=True)

    def _watch_window(self, at_us: int, *, heard: bool) -> None:
        """Set or stop the probes of the window, after an event."""
        sender = self.sender
        assert sender is not None
        waits = sender.written > self._acknowledged
        if not waits or self._window_end - self._acknowledged >= sender.mss:
            self._probes.open()
            return
        if self._probes.times_us and not heard:
            return
        row = sender.look(at_us)
        if row["outstanding"] == 0:
            self._probes.closed(at_us, row["timeout_ps"] // MICROSECOND)

    def _settle_probes(self, at_us: int) -> None:
        """Keep what a timer sent up to a time, of which the script was not told."""
        if self.sender is not None:
            self.sender.settle(at_us)
        self.control += [self._probe(at) for at in self._probes.take(at_us)]

    def _probe(self, at_us: int) -> Segment:
        at_ps, ecn = at_us * MICROSECOND, self.marking.codepoint_without_data
        flags = f"{self.marking.flags(at_ps)}."
        return Segment(at_ps, flags, self._acknowledged, 0, self._expects, None, ecn, by_timer=True)

    def close(self, at_us: int) -> None:
        """Send a FIN after the data."""
        sender = self.sender
        if sender is None or self._closing:
            return
        self._closing = True
        self.push(at_us, held=True)
        sender.pass_to(at_us * MICROSECOND)
        if all(one.end < sender.written for one in sender.sent(sender.clock_ps)):
            self._fin_sent = sender.written > 0
        if not self._fin_sent:
            self._fin_sent = True
            flags = f"F{self.marking.flags(at_us * MICROSECOND)}."
            self._send(at_us, flags, _SYN + sender.written, self._expects)

    def on_fin(self, at_us: int) -> None:
        """Acknowledge a FIN."""
        self._expects += 1
        assert self.sender is not None
        start = _SYN + self.sender.written + self._fin_sent
        flags = f"{self.marking.flags(at_us * MICROSECOND)}."
        self._send(at_us, flags, start, self._expects)

    # What left.

    def _send(
        self, at_us: int, flags: str, start: int, ack: int | None, options: Options | None = None
    ) -> None:
        at_ps = at_us * MICROSECOND
        if self.sender is not None:
            self.sender.pass_to(at_ps)
            at_ps = self.sender.clock_ps = self.sender.clock_ps + 1
        ecn = "noecn" if "S" in flags else self.marking.codepoint_without_data
        self.control.append(Segment(at_ps, flags, start, 0, ack, options, ecn))

    def waiting(self, until_ps: int) -> list[Segment]:
        """Return the segments that left up to a time and of which the script was not told."""
        data = self._data(until_ps)[self.told_data :]
        probes = [self._probe(at) for at in self._probes.times_us]
        others = [*self.control[self.told_control :], *probes]
        control = [one for one in others if one.at_ps <= until_ps]
        return sorted([*control, *data], key=lambda one: one.at_ps)

    def tell(self, segments: list[Segment], stamp: int | None) -> None:
        """Note that the script was told of segments, the first with this timestamp."""
        if stamp is not None:
            self._stamped[stamp] = segments[0].at_ps
        self._settle_probes(segments[-1].at_ps // MICROSECOND)
        data = sum(one.length > 0 for one in segments)
        self.told_data += data
        self.told_control += len(segments) - data
        if self.sender is not None:
            self.sender.pass_to(segments[-1].at_ps)

    def _data(self, until_ps: int) -> list[Segment]:
        sender, marking = self.sender, self.marking
        if sender is None or not sender.written:
            return []
        own_fin = self._fin_sent and not any("F" in one.flags for one in self.control)
        found = []
        for one in sender.sent(until_ps):
            ecn = marking.codepoint(again=one.again)
            last = own_fin and one.end == sender.written
            flags = f"{'F' if last else ''}{marking.flags(one.at_ps, reduced=one.reduced)}."
            start, length = _SYN + one.start, one.end - one.start
            segment = Segment(
                one.at_ps, flags, start, length, self._expects, None, ecn, one.by_timer
            )
            found.append(segment)
        return found

    def look(self, at_us: int) -> dict[str, Any]:
        """Return the state by the names of `TCP_INFO`; empty without a connection."""
        sender = self.sender
        if sender is None:
            return {}
        self._settle_probes(at_us)
        row = sender.look(at_us)
        mss, threshold = sender.mss, row["ssthresh"]
        sent = max((one.end for one in sender.sent(sender.clock_ps)), default=0)
        return {
            "tcpi_ca_state": STATES.index(row["state"]),
            "tcpi_snd_cwnd": max(int(row["cwnd"] / mss), 1),
            "tcpi_snd_ssthresh": INFINITE if threshold >= 2**62 else int(threshold / mss),
            "tcpi_unacked": row["outstanding"],
            "tcpi_sacked": row["sacked"],
            "tcpi_lost": row["lost"],
            "tcpi_retrans": row["retransmitted"],
            "tcpi_total_retrans": row["retransmissions"],
            "tcpi_reordering": row["reordering"],
            "tcpi_reord_seen": row["reordering_seen"],
            "tcpi_dsack_dups": row["duplicates"],
            "tcpi_delivered": row["delivered"],
            "tcpi_delivered_ce": row["marks"] + self._delivered_marked,
            "tcpi_received_ce": self.marking.marked(sender.clock_ps),
            "tcpi_probes": self._probes.unanswered,
            "tcpi_notsent_bytes": sender.written - sent,
            "tcpi_snd_mss": mss,
            "tcpi_rto": row["timeout_ps"] // MICROSECOND,
            "tcpi_rtt": (row["round_trip_ps"] or 0) // MICROSECOND,
            "tcpi_min_rtt": (row["least_round_trip_ps"] or 0) // MICROSECOND,
        }
