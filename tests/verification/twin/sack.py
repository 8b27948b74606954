"""The recoveries with SACK: that of RFC 6675, and `sack1`, the counter of ns-2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twin.recovery import Answer, Recovery

if TYPE_CHECKING:
    from twin.tcp import Segment, TcpSender
    from twin.units import Block


class Scoreboard(Recovery):
    """Which segments were SACKed."""

    def read(self, blocks: tuple[Block, ...]) -> bool:
        news = False
        for segment in self.sender.segments:
            if not segment.sacked and any(
                begin <= segment.begin and segment.end <= end for begin, end in blocks
            ):
                segment.sacked = news = True
        return news

    def forget(self) -> None:
        """Clear all SACKed marks (RFC 2018, section 8)."""
        for segment in self.sender.segments:
            segment.sacked = False

    @property
    def highest_sacked(self) -> int:
        """The byte after the last one that is SACKed; 0 if none is."""
        return max((s.end for s in self.sender.segments if s.sacked), default=0)


class Sack(Scoreboard):
    """RFC 6675; `recover` is its RecoveryPoint, `retransmitted` HighRxt, `rescued` RescueRxt.

    `lost` are the segments for which IsLost held when the pipe was computed, `scored` is the byte
    after the last one that was SACKed then.
    """

    def __init__(self, sender: TcpSender) -> None:
        super().__init__(sender)
        self.retransmitted = 0
        self.rescued = 0
        self.pipe = 0
        self.lost: set[int] = set()
        self.scored = 0
        # The byte after the segment with which the last recovery began, and the byte up to which
        # losses were reported to the law.
        self.first_lost = 0
        self.told = 0

    @property
    def limited_transmit(self) -> int:
        return 0

    @property
    def in_flight(self) -> int:
        sender = self.sender
        if self.d and not self.in_loss:
            return sender.outstanding
        return sum(s.payload for s in sender.segments if not s.sacked and s.begin < sender.next)

    def is_lost(self, segment: Segment) -> bool:
        """IsLost, section 4."""
        above = [s for s in self.sender.segments if s.begin > segment.begin]
        sacked_bytes = sum(s.payload for s in above if s.sacked)
        runs = sum(s.sacked and not (i and above[i - 1].sacked) for i, s in enumerate(above))
        return runs >= self.threshold or sacked_bytes > (self.threshold - 1) * self.m

    def set_pipe(self) -> None:
        """SetPipe, section 4."""
        if not self.recovering:
            self.retransmitted = self.sender.una
        missing = [segment for segment in self.sender.segments if not segment.sacked]
        self.lost = {segment.begin for segment in missing if self.is_lost(segment)}
        self.scored = self.highest_sacked
        self.pipe = 0
        for segment in missing:
            self.pipe += segment.payload * (segment.begin not in self.lost)
            self.pipe += segment.payload * (segment.begin < self.retransmitted)

    def pass_over(self) -> None:
        """Move `next` beyond SACKed segments."""
        for segment in self.sender.segments:
            if segment.begin == self.sender.next and segment.sacked:
                self.sender.next = segment.end
                self.beyond += segment.payload

    def duplicate(self, news: bool) -> Answer:
        return self.count(news)

    def count(self, news: bool) -> Answer:
        """Count a duplicate, if it brings news; a recovery may begin."""
        if not news:
            return Answer()
        self.d += 1
        self.pass_over()
        self.set_pipe()
        sender = self.sender
        lost = self.d >= self.threshold or self.is_lost(sender.segments[0])
        if self.recovering or sender.una < self.recover or not lost:
            return Answer()
        # Section 5, step 4.
        self.note_loss()
        sender.law.loss(self.flight)
        self.recovering = True
        first = sender.segments[0]
        self.retransmitted = self.rescued = self.first_lost = first.end
        self.set_pipe()
        return Answer(again=True)

    def new(self, acknowledged: int, news: bool) -> Answer:
        self.start_over()
        sender = self.sender
        ends = self.recovering and sender.una >= self.recover
        if ends:
            self.recovering = False
        if not self.recovering and (not ends or self.options["window_growth_on_exit"]):
            sender.grow(acknowledged)
        self.retransmitted = max(self.retransmitted, sender.una)
        if news and not self.recovering:
            # Section 2: a duplicate "regardless of its status as a cumulative acknowledgment".
            return self.count(news)
        self.pass_over()
        self.set_pipe()
        return Answer()

    def newly_lost(self) -> int:
        segments = [s for s in self.sender.segments if not s.sacked]
        start = max(self.told, self.sender.una)
        lost = [s.end for s in segments if s.begin in self.lost]
        self.told = max(start, self.first_lost, *lost)
        return sum(s.payload for s in segments if start <= s.begin < self.told)

    def timeout(self) -> None:
        super().timeout()
        self.forget()
        self.told = self.recover

    def send(self) -> None:
        if self.recovering:
            self.send_in_recovery()
        elif not self.d or not self.options["limited_transmit"] or self.in_loss:
            while self.may_send(self.sender.next) and self.sender.has_room():
                self.send_next()
                self.pass_over()
        else:
            # Limited transmit: section 5, step 3.
            while self.may_send_new() and self.sender.has_room():
                self.send_next()

    def send_next(self) -> None:
        """Send the segment in order, which may be beyond the window."""
        payload = self.sender.payload_at(self.sender.next)
        self.pipe += payload
        self.beyond += payload * self.exceeds_window(payload)
        self.sender.send_segment(self.sender.next)

    def may_send_new(self) -> bool:
        """Whether there is new data, and room for it."""
        sender = self.sender
        return (
            self.pipe + self.m <= sender.cwnd
            and sender.payload_at(sender.next) > 0
            and sender.fits_advertised(sender.next)
        )

    def send_in_recovery(self) -> None:
        """Send what NextSeg names as long as there is room: section 5, (C.1) to (C.5)."""
        sender = self.sender
        while self.pipe + self.m <= sender.cwnd and sender.has_room():
            hole = self.hole()
            if hole and hole.begin in self.lost:
                self.send_hole(hole)
            elif self.may_send_new():
                self.send_next()
            elif hole:
                self.send_hole(hole)
            elif not self.rescue():
                return

    def hole(self) -> Segment | None:
        """The first not yet retransmitted, not SACKed, below the highest SACKed: (1.a), (1.b)."""
        for segment in self.sender.segments:
            if segment.begin >= self.retransmitted and not segment.sacked:
                return segment if segment.begin < self.scored else None
        return None

    def send_hole(self, hole: Segment) -> None:
        """Send a segment again, and move HighRxt: (C.2)."""
        self.pipe += hole.payload
        self.retransmitted = hole.end
        self.sender.send_segment(hole.begin)

    def rescue(self) -> bool:
        """NextSeg's rule (4)."""
        if not self.options["rescue_retransmission"] or self.sender.una <= self.rescued:
            return False
        highest = [s for s in self.sender.segments if not s.sacked][-1]
        self.pipe += highest.payload
        self.rescued = self.recover
        self.sender.send_segment(highest.begin)
        return True


class Sack1(Scoreboard):
    """`Agent/TCP/Sack1` of ns-2: `pipe` counts segments, `looked` is where to look for a hole."""

    def __init__(self, sender: TcpSender) -> None:
        super().__init__(sender)
        self.pipe = 0
        self.looked = 0
        # Only `una` is sent until the next acknowledgement.
        self.entering = False
        self.after_timeout = False

    @property
    def flight(self) -> int:
        return self.sender.outstanding

    @property
    def limited_transmit(self) -> int:
        if self.options["limited_transmit"] and 0 < self.d < self.threshold:
            return 0 if self.recovering else self.d * self.m
        return 0

    def read(self, blocks: tuple[Block, ...]) -> bool:
        return not self.after_timeout and super().read(blocks)

    def duplicate(self, news: bool) -> Answer:
        self.entering = False
        if self.recovering:
            self.pipe -= 1
            return Answer()
        self.d += news
        if not news or self.d != self.threshold or not self.may_enter:
            return Answer()
        sender = self.sender
        self.note_loss()
        self.pipe = math.ceil(sender.outstanding / self.m) - self.threshold
        self.looked = sender.segments[0].end
        sender.law.loss(self.flight)
        self.recovering = self.entering = True
        return Answer(again=True)

    def new(self, acknowledged: int, news: bool) -> Answer:
        self.after_timeout = self.entering = False
        if self.recovering and self.sender.una < self.recover:
            self.pipe -= 2
            return Answer()
        if self.recovering:
            self.recovering = False
            self.recover = 0
        else:
            self.sender.grow(acknowledged)
        self.d = 0
        self.forget()
        return Answer()

    def timeout(self) -> None:
        super().timeout()
        self.after_timeout = True

    def send(self) -> None:
        if not self.recovering:
            super().send()
        if not self.recovering or self.entering:
            return
        sender = self.sender
        while self.pipe < sender.cwnd // self.m and sender.has_room():
            hole = self.hole()
            if hole:
                self.looked = hole.end
                self.lost_bytes += hole.payload
            begin = hole.begin if hole else sender.next
            if sender.payload_at(begin) <= 0 or not sender.fits_advertised(begin):
                return
            sender.send_segment(begin)
            self.pipe += 1

    def hole(self) -> Segment | None:
        """The first to be looked at that is not SACKed, below one that is."""
        for segment in self.sender.segments:
            if segment.begin >= self.looked and not segment.sacked:
                return segment if segment.begin < self.highest_sacked else None
        return None
