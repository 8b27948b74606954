"""RACK-TLP with a law that sets window and pace from rates of delivery (docs/model.md, *Rates*)."""

from __future__ import annotations

from typing import Any

from linux.state import LOSS, RECOVERY, Acknowledgement, Options, Segment

from twin import law
from twin.bbr import MICROSECOND, Bbr1, Mark, Rate
from twin.bbr3 import Bbr3
from twin.rack_tlp import Machine, RackSender
from twin.timeout import LinuxTimeout, TcpTimeout


class RateMachine(Machine):
    """The model of Linux, with stamps and samples."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        assert isinstance(self.owner.law, Bbr1 | Bbr3)
        self.bbr: Bbr1 | Bbr3 = self.owner.law
        self.stamps: dict[int, tuple[int, int, bool, int, int]] = {}
        self.marks: list[Mark] = []
        self.delivered_at = 0
        #: Segments delivered up to which the application limits; 0 if it does not.
        self.limited_to = 0
        self.restarts = False
        self.newest: Segment | None = None
        self.pipe_before = 0
        self.may_be_delayed = False

    def establish_law(self, rtt: int | None) -> None:
        """End the handshake; the application writes its data."""
        self.delivered_at = self.now
        self.note_limit()
        self.bbr.establish(self.now, rtt, self.o.sack)

    def note_limit(self) -> None:
        """The application limits what is in the network now."""
        self.limited_to = max(self.delivered + self.in_flight, 1)

    def will_write(self) -> None:
        # Losses that wait for their turn come before new data.
        repaired = self.lost_out <= self.retrans_out
        if repaired and self.snd_nxt == self.written and self.in_flight < self.cwnd:
            self.note_limit()

    def restart(self, delta: int) -> None:
        """The law has a restart of its own."""

    def stamp(self, segment: Segment) -> None:
        if not self.packets_out:
            self.delivered_at = self.now
        self.restarts = self.in_flight == 0
        limited, tx = self.limited_to > 0, self.in_flight + 1
        self.stamps[segment.sequence] = (self.first_tx, self.delivered_at, limited, tx, self.lost)

    def mark_lost(self, s: Segment) -> None:
        before = self.lost
        super().mark_lost(s)
        if self.lost > before:
            _, _, limited, tx, lost = self.stamps[s.sequence]
            mark = Mark(self.now, s.sequence, self.delivered, tx, self.lost - lost, limited)
            self.marks.append(mark)

    def tell_marks(self) -> None:
        """Tell the law of the segments marked lost."""
        marks, self.marks = self.marks, []
        for mark in marks:
            self.bbr.hear_lost(mark)

    def heard(self) -> None:
        self.tell_marks()
        super().heard()

    def retransmit_queue(self) -> None:
        self.tell_marks()
        super().retransmit_queue()

    def pace_on(self, segment: Segment) -> None:
        if self.restarts and self.limited_to:
            self.bbr.resume(self.now)
            self.update_pacing()
        super().pace_on(segment)

    def paced_bytes(self, segment: Segment) -> int:
        return self.owner.payload_at(segment.sequence * self.owner.most)

    def on_ack(self, ack: Acknowledgement) -> None:
        self.pipe_before = self.in_flight
        self.newest, self.may_be_delayed = None, False
        super().on_ack(ack)

    def rate_delivered(self, s: Segment) -> None:
        newest = (self.first_tx, self.last_end_of_rate)
        first = not self.prior_delivered_of_rate
        if not s.counted and (first or (s.sent, s.sequence) > newest):
            self.newest = s
        super().rate_delivered(s)

    def clean(self) -> None:
        out, sacked, delivered = self.packets_out, self.sacked_out, self.delivered
        super().clean()
        delivered = self.delivered if self.o.sack else delivered
        alone = self.prior_delivered_of_rate + 1 == delivered
        short = out - self.packets_out == 1 and self.owner.covered_bytes < self.owner.most
        alert = bool(self.flags & {"sacked", "ece", "dsacking"})
        self.may_be_delayed = short and alone and not sacked and not alert

    def control(self, acked: int, lost: int) -> None:
        self.tell_marks()
        if self.delivered > self.limited_to:
            self.limited_to = 0
        if acked:
            self.delivered_at = self.now
        prior = interval = None
        limited, tx, lost_since = False, 0, 0
        if self.newest is not None:
            first_sent, delivered_at, limited, tx, at = self.stamps[self.newest.sequence]
            lost_since = self.lost - at
            prior = self.prior_delivered_of_rate
            interval = max(self.newest.sent - first_sent, self.now - delivered_at)
            if interval <= 0 or interval < self.min_rtt.value:
                interval = None
        timeout = self.owner.timeout
        assert isinstance(timeout, TcpTimeout | LinuxTimeout)
        smoothed = timeout.smoothed()
        rate = Rate(
            now=self.now,
            delivered=self.delivered,
            delivered_at=self.delivered_at,
            lost=self.lost,
            newly=acked,
            newly_lost=lost,
            pipe_before=self.pipe_before,
            pipe=self.in_flight,
            prior=prior,
            interval=interval,
            limited=limited,
            rtt=None if self.of_law < 0 else max(self.of_law, 1),
            smoothed=None if smoothed is None else smoothed // MICROSECOND,
            may_be_delayed=self.may_be_delayed,
            phase={RECOVERY: law.RECOVERY, LOSS: law.LOSS}.get(self.ca_state, law.OPEN),
            tx=tx,
            lost_since=lost_since,
            window_limited=self.limited,
            ahead=max(0, self.pace * 1000 - self.owner.now) // MICROSECOND,
        )
        if self.bbr.hear(rate):
            self.note_limit()
        self.update_pacing()

    def update_pacing(self) -> None:
        self.pacing_rate = max(self.bbr.pacing_rate, 1)

    def reduce_cwnd(self, acked: int, lost: int, advanced: bool) -> None:
        """The law sets the window."""

    def end_reduction(self) -> None:
        """The law restores the window."""

    def reduce_at_timeout(self, reduces: bool) -> None:
        self.bbr.lost = self.lost
        super().reduce_at_timeout(reduces)
        self.tell_marks()

    def restore_window(self) -> None:
        self.bbr.ssthresh = max(self.bbr.ssthresh, self.in_bytes(self.prior_ssthresh))
        self.bbr.spurious()
        self.owner.undone += 1


class RateSender(RackSender):
    """A sender whose law sets window and pace."""

    machine: RateMachine

    def make(self, options: Options) -> RateMachine:
        return RateMachine(self, options)

    def begin_law(self) -> None:
        opened_at = self.opened_at
        self.machine.establish_law(
            None if opened_at is None else (self.now - opened_at) // MICROSECOND
        )
