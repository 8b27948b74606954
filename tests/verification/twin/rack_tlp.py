"""RACK-TLP in the network: the model of Linux's sender, with any window law in bytes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from linux.sender import Sender as LinuxSender
from linux.state import INFINITE, Acknowledgement, Options, Segment, State
from linux.state import Law as LinuxLaw

from twin.audit import FAST
from twin.endpoint import Timer
from twin.events import Moment
from twin.network import TIMER
from twin.tcp import TcpSender
from twin.timeout import LinuxTimeout, TcpTimeout

if TYPE_CHECKING:
    from twin.units import Packet

MICROSECOND = 10**6
#: Kind of the event at which pacing permits a segment.
PACING = 3


class Rule:
    """A timeout of the twin, in ps, as the model of Linux reads it, in us."""

    def __init__(self, timeout: TcpTimeout | LinuxTimeout) -> None:
        self.of = timeout
        self.minimum = timeout.minimum // MICROSECOND
        self.tick = timeout.tick

    @property
    def srtt(self) -> int:
        """Eight times the smoothed round trip, at least 1; 0 before the first sample."""
        srtt = self.of.smoothed()
        return 0 if srtt is None else max(1, srtt // (MICROSECOND // 8))

    @property
    def rto(self) -> int:
        """The timeout."""
        return self.of.wait() // MICROSECOND

    def sample(self, rtt: int, una: int, nxt: int) -> None:
        """Learn from a round trip."""
        self.of.sample(rtt * MICROSECOND, una, nxt)

    def back_off(self) -> None:
        """The sender has it back off."""


class InBytes(LinuxLaw):
    """A window law of the twin, as the model of Linux calls it."""

    def __init__(self, machine: State) -> None:
        assert isinstance(machine, Machine)
        self.machine, self.law = machine, machine.owner.law

    def on_start(self) -> None:
        """The law notes transmissions itself."""

    def on_state(self, state: int) -> None:
        """No law asks for it."""

    def on_acked(self, rtt: int) -> None:
        m = self.machine
        if rtt >= 0:
            self.law.sample(rtt, m.owner.una, m.pacing_rate, m.o.pacing)

    def avoid(self, acked: int) -> None:
        of_law = self.machine.of_law
        self.law.rtt = None if of_law < 0 else max(of_law, 1) * MICROSECOND
        self.law.grow(acked * self.machine.owner.most)


class Machine(LinuxSender):
    """The model with its window in bytes, kept by a law of the twin."""

    def __init__(self, owner: RackSender, options: Options) -> None:
        self.owner, self.aim = owner, 0.0
        self.by_echo = False
        window, timeout = owner.advertised // owner.most, owner.timeout
        assert isinstance(timeout, TcpTimeout | LinuxTimeout)
        super().__init__(InBytes, options, owner.transmit, window, Rule(timeout))

    def begin_window(self) -> None:
        pass

    @property
    def cwnd(self) -> int:
        return max(1, int(self.owner.law.cwnd) // self.owner.most)

    @cwnd.setter
    def cwnd(self, segments: int) -> None:
        self.owner.law.cwnd = float(segments * self.owner.most)

    @property
    def ssthresh(self) -> int:
        return int(min(self.owner.law.ssthresh / self.owner.most, INFINITE))

    @ssthresh.setter
    def ssthresh(self, segments: int) -> None:
        self.owner.law.ssthresh = self.in_bytes(segments)

    def in_bytes(self, segments: int) -> float:
        """An ssthresh of so many segments."""
        return math.inf if segments == INFINITE else float(segments * self.owner.most)

    @property
    def in_slow_start(self) -> bool:
        return self.owner.law.cwnd < self.owner.law.ssthresh

    def send_head(self) -> None:
        self.owner.send_head()

    def advertised(self) -> bool:
        return self.owner.fits_advertised(self.snd_nxt * self.owner.most)

    def room(self) -> bool:
        if self.paced():
            self.hold()
            return False
        return self.owner.has_room()

    @property
    def now_ns(self) -> int:
        return self.owner.now // 1000

    def paced(self) -> bool:
        return self.o.pacing and self.pace * 1000 > self.owner.now

    def hold(self) -> None:
        self.owner.pacing.set(self.pace * 1000)

    def paced_bytes(self, segment: Segment) -> int:
        payload = self.owner.payload_at(segment.sequence * self.owner.most)
        return max(payload + self.owner.header, self.owner.control)

    def reduce_by_law(self) -> None:
        law = self.owner.law
        cwnd = law.cwnd
        (law.mark if self.by_echo else law.loss)(self.owner.outstanding)
        self.aim = law.cwnd
        law.cwnd = cwnd
        self.owner.note_reduction()

    def reduce_at_timeout(self, reduces: bool) -> None:
        self.owner.law.timeout(self.owner.outstanding, not reduces)

    @property
    def target(self) -> int:
        return int(self.aim / self.owner.most)

    def take_target(self) -> None:
        self.owner.law.cwnd = self.aim

    def restore_window(self) -> None:
        law = self.owner.law
        law.cwnd = max(law.cwnd, self.in_bytes(self.prior_cwnd))
        law.ssthresh = max(law.ssthresh, self.in_bytes(self.prior_ssthresh))
        law.spurious()
        self.owner.undone += 1

    def enter_cwr(self) -> None:
        self.by_echo = True
        super().enter_cwr()
        self.by_echo = False

    def enter_recovery(self, echo: bool) -> None:
        super().enter_recovery(echo)
        self.owner.flow.audit.decide(FAST, "data", self.owner.una)

    def heard(self) -> None:
        self.owner.heard()


class RackSender(TcpSender):
    """A sender whose decisions are those of the model."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        own = self.transport["recovery"]
        options = Options(
            initial_window=0,
            sack=own["sack"],
            timestamps=self.transport["timestamps"],
            ecn=True,
            frto=own["frto"],
            early_retransmit=3 if own["tail_loss_probe"] else 0,
            recovery=1
            | (2 if own["static_reordering_window"] else 0)
            | (0 if own["reordering_threshold"] else 4),
            reduction=own["reduction"],
            reordering=own["duplicate_threshold"],
            slow_start_after_idle=own["restart_after_idle"],
            pacing=own["pacing"],
            mss=self.most,
        )
        place = Moment(TIMER, self.here, self.flow.index, PACING)
        self.pacing = Timer(self.network.events, place, self.send_on)
        self.machine = self.make(options)
        self.machine.written = self.segments_written
        self.head_due = False
        self.covered_bytes = 0

    def make(self, options: Options) -> Machine:
        """The model, as the law needs it."""
        return Machine(self, options)

    @property
    def segments_written(self) -> int:
        """Segments that may leave."""
        return -(-self.application.end // self.most)

    @property
    def us(self) -> int:
        """The present time."""
        return self.now // MICROSECOND

    def established(self) -> None:
        if self.times_sent > 1 + self.timeout.excused:
            self.limit(self.most)
        machine = self.machine
        machine.now = machine.origin = machine.lsndtime = self.us
        # RFC 5681, section 3.1: after a lost SYN the initial window is one segment.
        machine.o.initial_window = machine.cwnd
        self.application.write()
        machine.written = self.segments_written
        if self.opened_at is not None:
            machine.min_rtt.update(self.us, (self.now - self.opened_at) // MICROSECOND)
        self.begin_law()
        machine.update_pacing()
        machine.write()
        self.set_timer()
        self.note_window()

    def begin_law(self) -> None:
        """Tell the law of the end of the handshake."""

    def wrote(self) -> None:
        machine, new = self.machine, self.segments_written - self.machine.written
        machine.now = self.us
        if self.head_due:
            machine.will_write()
            machine.written += new
            self.send_head()
        else:
            machine.on_write(new)
        self.set_timer()

    def transmit(self, segment: Segment) -> None:
        """Send a segment of the model."""
        self.send_segment(segment.sequence * self.most)

    def paces_at(self) -> int:
        return self.machine.pacing_rate if self.machine.o.pacing else 0

    def reordering_window(self) -> int:
        return self.machine.reo_wnd() * MICROSECOND

    def alone(self) -> bool:
        return self.machine.in_flight == 0

    def restart_timer(self) -> None:
        """The model has the timer."""

    def set_timer(self) -> None:
        """Set the timer as the model has it."""
        machine = self.machine
        if self.state != "established" or machine.pending is None:
            self.timer.clear()
        else:
            self.timer.set(max(machine.expires * MICROSECOND, self.now))

    def acknowledge(self, packet: Packet) -> None:
        m, before = self.most, self.una
        self.head_due = False
        if packet.number > self.una:
            self.una = packet.number
            self.next = max(self.next, self.una)
            covered = [s for s in self.segments if s.end <= self.una]
            for segment in covered:
                self.flow.audit.acknowledge(self.now, "data", segment.begin)
            self.segments = self.segments[len(covered) :]
        self.covered_bytes = self.una - before
        blocks = [(begin // m, -(-end // m)) for begin, end in packet.blocks]
        for segment in self.segments:
            segment.sacked |= any(b <= segment.begin and segment.end <= e for b, e in packet.blocks)
        self.law.now, self.law.rtt, self.law.sent_to = self.now, None, self.highest
        if packet.number > before or (packet.number == before and self.highest > before):
            self.hear_marks(packet)
        else:
            self.law.echo, self.law.marks = packet.echoes_mark, None
        stamp = packet.echo if self.transport["timestamps"] else None
        given = Acknowledgement(
            -(-packet.number // m),
            blocks if self.machine.o.sack else [],
            self.law.echo and self.ecn,
            None if stamp is None else stamp // 10**9,
        )
        self.machine.now = self.us
        self.machine.on_ack(given)
        if self.una == self.flow.size:
            self.timer.clear()
            self.finish()
        else:
            self.set_timer()
        self.note_window()

    def heard(self) -> None:
        """The model has handled an acknowledgement, and sent nothing yet."""
        sampled = self.machine.sampled
        self.law.rtt = None if sampled < 0 else max(sampled, 1) * MICROSECOND
        self.report(self.covered_bytes, self.outstanding)

    def send_on(self) -> None:
        if self.state != "established":
            return
        machine = self.machine
        machine.now = self.us
        if self.head_due:
            self.send_head()
        else:
            machine.on_paced()
        self.set_timer()

    def send_head(self) -> None:
        """Send the first segment after a timeout, as soon as the interface has room."""
        self.head_due = not self.machine.room()
        if not self.head_due:
            self.machine.retransmit(self.machine.queue[0])

    def expire(self) -> None:
        machine = self.machine
        if self.state != "established" or machine.pending == "rto":
            super().expire()
            return
        machine.now = self.us
        self.law.now = self.now
        machine.on_timer()
        self.set_timer()
        self.note_window()

    def data_timeout(self) -> None:
        machine = self.machine
        machine.now, machine.pending = self.us, None
        self.law.now = self.now
        self.law.sent_to = self.highest
        machine.on_rto()
        self.note_reduction()
        self.set_timer()
        self.note_window()
