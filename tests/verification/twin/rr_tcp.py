"""RR-TCP: the recovery of RFC 6675 with a duplicate threshold that follows the reordering."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from twin.sack import Sack

if TYPE_CHECKING:
    from twin.recovery import Answer
    from twin.tcp import Segment, TcpSender
    from twin.units import Block


@dataclass
class Episode:
    """A fast recovery: the window before it, its retransmissions, their largest length."""

    cwnd: float
    ssthresh: float
    open: set[int] = field(default_factory=set)
    longest: int = 0


class RrTcp(Sack):
    """`event` is the byte whose acknowledgement ends it and the longest length until then."""

    def __init__(self, sender: TcpSender) -> None:
        super().__init__(sender)
        self.tracked: list[Segment] = []
        self.lengths: list[int] = []
        self.event: tuple[int, int] | None = None
        self.episode: Episode | None = None

    def read(self, blocks: tuple[Block, ...]) -> bool:
        una = self.sender.una
        if blocks and self.episode and self.is_duplicate(blocks):
            self.episode.open.discard(blocks[0][0])
        before = [segment for segment in self.tracked if segment.sacked]
        unknown = [segment for segment in self.tracked if not segment.sacked]
        news = super().read(blocks)
        for segment in unknown:
            if segment.sacked or segment.end <= una:
                self.measure(segment, sum(other.begin > segment.begin for other in before))
        self.tracked = [segment for segment in self.tracked if segment.end > una]
        if self.event and una >= self.event[0]:
            self.remember(self.event[1])
            self.event = None
        return news

    def is_duplicate(self, blocks: tuple[Block, ...]) -> bool:
        """RFC 2883, section 4."""
        begin, end = blocks[0]
        within = any(first <= begin and end <= last for first, last in blocks[1:2])
        return end <= self.sender.una or within

    def measure(self, segment: Segment, length: int) -> None:
        """Note that a segment has arrived after a number of segments beyond it."""
        if length == 0:
            return
        if not segment.again:
            until, longest = self.event or (self.sender.highest, 0)
            self.event = until, max(longest, length)
        elif self.episode and segment.begin in self.episode.open:
            self.episode.longest = max(self.episode.longest, length)

    def remember(self, length: int) -> None:
        """Adapt the threshold."""
        self.lengths = [*self.lengths, length][-self.options["remembered_events"] :]
        rank = math.ceil(self.options["avoidance_ratio"] * len(self.lengths))
        longer = sorted(self.lengths)[max(rank, 1) - 1] + 1
        self.threshold = max(self.options["duplicate_threshold"], longer)

    def settle(self) -> None:
        """Undo a recovery whose retransmissions all turned out to be duplicates."""
        episode = self.episode
        if episode is None or self.recovering or episode.open:
            return
        self.episode = None
        law = self.sender.law
        if self.options["undo"]:
            law.cwnd, law.ssthresh = max(law.cwnd, episode.cwnd), episode.ssthresh
            law.spurious()
            self.sender.undone += 1
        if episode.longest:
            self.remember(episode.longest)

    def duplicate(self, news: bool) -> Answer:
        self.settle()
        window = self.sender.law.cwnd, self.sender.law.ssthresh
        answer = super().duplicate(news)
        if answer.again:
            self.episode = Episode(*window)
        return answer

    def new(self, acknowledged: int, news: bool) -> Answer:
        self.settle()
        window = self.sender.law.cwnd, self.sender.law.ssthresh
        answer = super().new(acknowledged, news)
        if answer.again:
            self.episode = Episode(*window)
        else:
            self.settle()
        return answer

    def timeout(self) -> None:
        self.event = self.episode = None
        super().timeout()

    def sent_again(self, begin: int) -> None:
        if self.episode and self.recovering:
            self.episode.open.add(begin)

    def send(self) -> None:
        super().send()
        new = self.tracked[-1].end if self.tracked else 0
        self.tracked += [segment for segment in self.sender.segments if segment.begin >= new]
