"""The base of all loss recoveries, and those without SACK: Tahoe, Reno, New-Reno."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twin.audit import FAST

if TYPE_CHECKING:
    from twin.tcp import TcpSender
    from twin.units import Block


class Answer(NamedTuple):
    """The actions of the sender after an acknowledgement.

    `again`: send the first unacknowledged segment; `timer`: restart it after a new acknowledgement;
    `send`: send all that the window allows.
    """

    again: bool = False
    timer: bool = True


class Recovery:
    """`d` duplicates since the last new acknowledgement; `inflation` in bytes."""

    def __init__(self, sender: TcpSender) -> None:
        self.sender = sender
        self.options = sender.transport["recovery"]
        self.threshold: int = self.options["duplicate_threshold"]
        self.m = sender.most
        self.d = 0
        self.recover = 0
        self.recovering = False
        self.inflation = 0
        self.beyond = 0
        self.sent_before_timeout = 0
        # Bytes taken for lost and not yet reported to the law.
        self.lost_bytes = 0
        #: Whether the acknowledgement in hand made it take data for lost.
        self.decided = False

    @property
    def may_enter(self) -> bool:
        """RFC 6582, section 3.2, step 2."""
        return self.sender.una > self.recover or not self.recover or not self.options["bug_fix"]

    @property
    def flight(self) -> int:
        """The outstanding bytes, without those sent beyond the window."""
        return self.sender.outstanding - self.beyond

    @property
    def limited_transmit(self) -> int:
        """RFC 3042: bytes beyond the window that the first duplicates allow."""
        allowed = self.options["limited_transmit"] and 0 < self.d < self.threshold
        if allowed and not self.recovering and self.sender.next == self.sender.highest:
            return self.d * self.m
        return 0

    @property
    def in_loss(self) -> bool:
        """Whether data sent before a timeout is not yet acknowledged, nor lost again."""
        return not self.recovering and self.sender.una < self.sent_before_timeout

    def sent_again(self, begin: int) -> None:
        """Know that a segment was sent again."""

    def read(self, blocks: tuple[Block, ...]) -> bool:
        """Read SACK blocks; returns whether they report new data."""
        return False

    def note_loss(self) -> None:
        """Store the highest byte sent when a loss was detected: a fast retransmission follows."""
        self.sender.flow.audit.decide(FAST, "data", self.sender.una)
        self.recover = self.sender.highest
        self.sent_before_timeout = 0
        self.decided = True
        self.sender.note_reduction()
        self.lose()

    def lose(self) -> None:
        """Take the first segment that is not acknowledged for lost."""
        self.lost_bytes += self.sender.payload_at(self.sender.una)

    def newly_lost(self) -> int:
        """The bytes taken for lost since the last call."""
        lost, self.lost_bytes = self.lost_bytes, 0
        return lost

    def start_over(self) -> None:
        """Reset the count of duplicates; data that now fits into the window is not beyond it."""
        self.d = 0
        self.beyond = min(self.beyond, max(self.sender.outstanding - self.sender.cwnd, 0))

    def new(self, acknowledged: int, news: bool) -> Answer:
        """Handle an acknowledgement of `acknowledged` new bytes; `news`: of new blocks, too."""
        raise NotImplementedError

    def duplicate(self, news: bool) -> Answer:
        """Handle a duplicate acknowledgement."""
        raise NotImplementedError

    def timeout(self) -> None:
        """Reset the state that a timeout invalidates."""
        self.d = self.inflation = self.beyond = 0
        self.recovering = False
        self.recover = self.sent_before_timeout = self.sender.highest

    def send(self) -> None:
        """Send all permitted segments."""
        while self.may_send(self.sender.next) and self.sender.has_room():
            before = self.sender.next
            payload = self.sender.payload_at(before)
            self.beyond += payload * self.exceeds_window(payload)
            self.sender.send_segment(before)

    def exceeds_window(self, payload: int) -> bool:
        """Whether the present window has no room for these additional bytes."""
        sender = self.sender
        return bool(sender.outstanding) and sender.outstanding + payload > sender.cwnd

    def may_send(self, begin: int) -> bool:
        """Whether the segment at `begin`, the next one, may be sent."""
        sender, payload = self.sender, self.sender.payload_at(begin)
        if payload <= 0:
            return False
        if begin == sender.una:
            return True
        window = max(sender.cwnd + self.inflation, 0) + self.limited_transmit
        return self.in_flight + payload <= window and sender.fits_advertised(begin)

    @property
    def in_flight(self) -> int:
        """The bytes that count against the window."""
        return self.sender.outstanding


class Tahoe(Recovery):
    """Go-back-N in slow start."""

    def duplicate(self, news: bool) -> Answer:
        self.d += 1
        if self.d != self.threshold or not self.may_enter:
            return Answer()
        sender = self.sender
        self.note_loss()
        sender.law.loss(self.flight)
        # RFC 5681, section 3.1: the loss window.
        sender.law.cwnd = float(self.m)
        sender.next = sender.una
        self.beyond = 0
        return Answer(again=True)

    def new(self, acknowledged: int, news: bool) -> Answer:
        self.start_over()
        self.sender.grow(acknowledged)
        return Answer()


class Reno(Recovery):
    """RFC 5681, section 3.2; any new acknowledgement ends a recovery."""

    def duplicate(self, news: bool) -> Answer:
        self.d += 1
        if self.recovering:
            self.inflation += self.m
        elif self.d == self.threshold and self.may_enter:
            self.note_loss()
            self.sender.law.loss(self.flight)
            self.recovering = True
            self.inflation = self.threshold * self.m
            return Answer(again=True)
        return Answer()

    def new(self, acknowledged: int, news: bool) -> Answer:
        self.start_over()
        if not self.recovering or self.options["window_growth_on_exit"]:
            self.sender.grow(acknowledged)
        self.leave()
        return Answer()

    def leave(self) -> None:
        """End a recovery."""
        self.recovering = False
        self.inflation = 0


class NewReno(Reno):
    """RFC 6582; `first` until the first partial acknowledgement of a recovery."""

    first = True

    def duplicate(self, news: bool) -> Answer:
        answer = super().duplicate(news)
        if answer.again:
            self.first = True
        return answer

    def new(self, acknowledged: int, news: bool) -> Answer:
        self.start_over()
        sender = self.sender
        if not self.recovering:
            sender.grow(acknowledged)
            return Answer()
        if sender.una < self.recover:
            return self.partial(acknowledged)
        self.leave()
        if self.options["full_acknowledgement"] == "flight-size":
            # Section 3.2, step 3, option 1.
            sender.limit(max(sender.outstanding, self.m) + self.m)
        if self.options["window_growth_on_exit"]:
            sender.grow(acknowledged)
        return Answer()

    def partial(self, acknowledged: int) -> Answer:
        """Section 3.2, step 3, partial acknowledgements."""
        self.lose()
        self.inflation -= acknowledged
        if acknowledged >= self.m:
            self.inflation += self.m
        restart = self.first or self.options["partial_acknowledgement"] == "slow-but-steady"
        self.first = False
        return Answer(again=True, timer=restart)
