"""State of a connection of Linux 6.18, in segments and microseconds.

The variables have the names of the kernel's ``struct tcp_sock``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

JIFFY = 4_000
"""Microseconds per tick of the kernel's timers (HZ = 250)."""
OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
INFINITE = 0x7FFFFFFF
RTO_MIN = 200_000
RTO_MAX = 120_000_000
MAX_REORDERING = 300
RECOVERY_THRESHOLD = 16
"""Recoveries for which the reordering window stays wide after a DSACK."""


def jiffies(us: int) -> int:
    """Duration in whole jiffies, rounded up."""
    return -(-us // JIFFY)


class Rule(Protocol):
    """A retransmission timeout, in us."""

    minimum: int
    tick: int

    @property
    def srtt(self) -> int:
        """Eight times the smoothed round trip; 0 without one."""

    @property
    def rto(self) -> int:
        """The timeout."""

    def sample(self, rtt: int, una: int, nxt: int) -> None:
        """Learns from a round trip, with what is acknowledged and sent then."""

    def back_off(self) -> None:
        """The timer has expired."""


class Timeout:
    """The retransmission timeout of Linux, in us."""

    def __init__(
        self,
        initial: int = 1_000_000,
        minimum: int = RTO_MIN,
        maximum: int = RTO_MAX,
        tick: int = JIFFY,
    ) -> None:
        self.minimum, self.maximum, self.tick = minimum, maximum, tick
        self.rto = initial
        self.srtt = self.mdev = self.mdev_max = self.rttvar = self.rtt_seq = 0

    def sample(self, rtt: int, una: int, nxt: int) -> None:
        """Learns from a round trip, with what is acknowledged and sent then."""
        m = rtt
        if self.srtt:
            m -= self.srtt >> 3
            self.srtt += m
            if m < 0:
                m = -m - (self.mdev >> 2)
                if m > 0:
                    m >>= 3
            else:
                m -= self.mdev >> 2
            self.mdev += m
            if self.mdev > self.mdev_max:
                self.mdev_max = self.mdev
                self.rttvar = max(self.rttvar, self.mdev_max)
            if una > self.rtt_seq:
                if self.mdev_max < self.rttvar:
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2
                self.rtt_seq = nxt
                self.mdev_max = self.minimum
        else:
            self.srtt = m << 3
            self.mdev = m << 1
            self.rttvar = max(self.mdev, self.minimum)
            self.mdev_max = self.rttvar
            self.rtt_seq = nxt
        self.srtt = max(1, self.srtt)
        due = (self.srtt >> 3) + self.rttvar
        self.rto = min(-(-due // self.tick) * self.tick, self.maximum)

    def back_off(self) -> None:
        """The timer has expired."""
        self.rto = min(self.rto << 1, self.maximum)


class Minimum:
    """Minimum of 300 s, as the best three of its parts (lib/win_minmax.c)."""

    window = 300_000_000

    def __init__(self) -> None:
        self.best = [(0, 1 << 62)] * 3

    @property
    def value(self) -> int:
        return self.best[0][1]

    def update(self, now: int, value: int) -> None:
        """Takes a value in."""
        sample, best = (now, value), self.best
        if value <= best[0][1] or now - best[2][0] > self.window:
            self.best = [sample] * 3
            return
        if value <= best[1][1]:
            best[1:] = [sample, sample]
        elif value <= best[2][1]:
            best[2] = sample
        age = now - best[0][0]
        if age > self.window:
            best[:] = [best[1], best[2], sample]
            if now - best[0][0] > self.window:
                best[:] = [best[1], best[2], sample]
        elif best[1][0] == best[0][0] and age > self.window // 4:
            best[1:] = [sample, sample]
        elif best[2][0] == best[1][0] and age > self.window // 2:
            best[2] = sample


@dataclass(slots=True)
class Segment:
    """A segment that was sent."""

    sequence: int
    sent: int = 0
    sacked: bool = False
    lost: bool = False
    retransmitted: bool = False
    """Whether its retransmission is in flight."""
    ever: bool = False
    """Whether it was sent more than once."""
    delivered: int = 0
    """Segments delivered to the receiver when it was sent."""
    counted: bool = False
    """Whether it was counted by the delivery rate."""
    place: int = 0
    """Number of its last transmission; 0 if it is not in the queue ordered by time."""


@dataclass(slots=True)
class Options:
    """Settings of the kernel, by sysctl or socket option."""

    initial_window: int = 10
    sack: bool = True
    timestamps: bool = False
    ecn: bool = False
    frto: bool = True
    early_retransmit: int = 3
    recovery: int = 1
    reduction: str = "linux"
    reordering: int = 3
    slow_start_after_idle: bool = True
    pacing: bool = False
    mss: int = 1460
    header: int = 54


@dataclass(slots=True)
class Acknowledgement:
    """An acknowledgement as it arrives."""

    upto: int
    blocks: list[tuple[int, int]] = field(default_factory=list)
    """SACK blocks [start, end) in segments; a DSACK is the first."""
    echo: bool = False
    """ECE."""
    timestamp: int | None = None
    """Time (TSecr, in ms) that it echoes."""


class Law(Protocol):
    """A window law, as the sender calls it."""

    def on_start(self) -> None:
        """Notes that data is sent while none is in flight."""

    def on_state(self, state: int) -> None:
        """Notes that the state has changed."""

    def on_acked(self, rtt: int) -> None:
        """Notes an acknowledgement with its round trip in us; -1 without one."""

    def avoid(self, acked: int) -> None:
        """Enlarges the window for segments delivered."""

    def reduced(self) -> int:
        """Window after a loss, in segments."""

    def undone(self) -> int:
        """Window after a reduction without cause, in segments."""


class State:
    """Variables of a connection and what follows from them."""

    now = 0
    written = 0
    snd_una = snd_nxt = high_seq = 0
    packets_out = sacked_out = lost_out = retrans_out = 0
    ca_state = OPEN
    cwnd_cnt, ssthresh = 0, INFINITE
    prior_cwnd = prior_ssthresh = 0
    reord_seen = dsack_dups = total_retrans = 0
    delivered, lost = 1, 0
    # Undo.
    undo_marker: int | None = None
    undo_retrans = 0
    retrans_stamp: int | None = None
    frto = False
    # Tail loss probe and PRR.
    tlp_high_seq: int | None = None
    tlp_retrans = False
    prr_delivered = prr_out = prr_base = 0
    # RACK.
    rack_time, rack_end, rack_rtt = -1, 0, 0
    reo_steps, reo_persist = 1, 0
    dsack_seen = rack_advanced = False
    last_delivered = first_tx = 0
    # Round trips and timer.
    retransmits = 0
    origin = 0
    pending: str | None = None
    expires = 0
    # Use of the window, and pacing.
    limited = False
    max_packets_out = usage_seq = lsndtime = 0
    window_known = False
    pace = pacing_rate = sent_segments = places = 0
    # The acknowledgement in hand.
    rexmit: str | None = None
    sampled = of_law = -1
    newly = 0
    reord = prior_fack = 0
    sack_delivered = prior_delivered_of_rate = last_end_of_rate = 0
    first_sackt: int | None = None
    last_sackt: int | None = None

    def __init__(
        self,
        law: Callable[[State], Law],
        options: Options,
        transmit: Callable[[Segment], None],
        window: int,
        timeout: Rule | None = None,
    ) -> None:
        self.o, self.transmit = options, transmit
        self.timeout: Rule = timeout or Timeout()
        self.begin_window()
        self.law = law(self)
        self.reordering, self.rwnd = options.reordering, window
        self.queue: list[Segment] = []
        self.min_rtt = Minimum()
        self.ack = Acknowledgement(0)
        self.flags: set[str] = set()

    def begin_window(self) -> None:
        self.cwnd = self.o.initial_window

    @property
    def srtt(self) -> int:
        """Eight times the smoothed round trip."""
        return self.timeout.srtt

    @property
    def rto(self) -> int:
        return self.timeout.rto

    def tick_of(self, time: int) -> int:
        """Ticks of the timer since the handshake."""
        return (time - self.origin) // self.timeout.tick

    @property
    def jiffy(self) -> int:
        return self.now // JIFFY

    def advertised(self) -> bool:
        """Whether the next segment fits into the receiver's window."""
        return self.snd_nxt < self.snd_una + self.rwnd

    def room(self) -> bool:
        """Whether the interface takes a segment."""
        return True

    @property
    def in_flight(self) -> int:
        return self.packets_out - self.sacked_out - self.lost_out + self.retrans_out

    @property
    def reducing(self) -> bool:
        return self.ca_state in (CWR, RECOVERY)

    @property
    def in_slow_start(self) -> bool:
        return self.cwnd < self.ssthresh

    def highest_sacked(self) -> int:
        """End of the highest SACKed segment; SND.UNA if there is none."""
        if not self.sacked_out or not self.o.sack:
            return self.snd_una
        return max((s.sequence + 1 for s in self.queue if s.sacked), default=self.snd_una)

    def current_ssthresh(self) -> int:
        if self.reducing:
            return self.ssthresh
        return max(self.ssthresh, (self.cwnd >> 1) + (self.cwnd >> 2))

    def any_retrans(self) -> bool:
        return self.retrans_out > 0 or bool(self.queue and self.queue[0].ever)

    def set_state(self, state: int) -> None:
        self.ca_state = state
        self.law.on_state(state)
