"""BBR, version 1, as in docs/model.md: the window law, plain and slow."""

import math
from dataclasses import dataclass, field
from typing import Any

from twin.law import LOSS, OPEN, RECOVERY, Law
from twin.rng import Xoshiro256PlusPlus

MICROSECOND = 10**6
TICK = 4_000
ONE = 2**24
GAINS = (320, 192, 256, 256, 256, 256, 256, 256)
STARTUP, DRAIN, PROBE_BW, PROBE_RTT = "STARTUP", "DRAIN", "PROBE_BW", "PROBE_RTT"


@dataclass(frozen=True)
class Rate:
    """An acknowledgement with its rate sample; times in us, counts in segments.

    Attributes
    ----------
    prior : int or None
        Segments delivered when the newest one delivered was sent; None without a sample.
    interval : int or None
        None if it is void.
    tx, lost_since : int
        Segments in the network when the newest one was sent, with it, and those lost since.
    window_limited : bool
        Whether the window was used up in the last round trip.
    """

    now: int
    delivered: int
    delivered_at: int
    lost: int
    newly: int
    newly_lost: int
    pipe_before: int
    pipe: int
    prior: int | None
    interval: int | None
    limited: bool
    rtt: int | None
    smoothed: int | None
    may_be_delayed: bool
    phase: str
    ahead: int
    tx: int
    lost_since: int
    window_limited: bool


@dataclass(frozen=True)
class Mark:
    """A segment that is marked lost, with the state of the connection as in `Rate`."""

    now: int
    number: int
    delivered: int
    tx: int
    lost_since: int
    limited: bool


@dataclass
class Totals:
    """Counts of a connection."""

    delivered: int = 0
    lost: int = 0
    at: int = 0


@dataclass
class Policer:
    """Bandwidth of long intervals with losses."""

    begin: Totals = field(default_factory=Totals)
    sampling: bool = False
    used: bool = False
    rounds: int = 0
    bandwidth: int = 0


class Best:
    """Maximum of some rounds, as the best three of its parts."""

    def __init__(self) -> None:
        self.best = [(0, 0)] * 3

    @property
    def value(self) -> int:
        """The maximum."""
        return self.best[0][1]

    def update(self, now: int, value: int, window: int = 10) -> None:
        """Take a value of the round `now` in; those older than `window` rounds are forgotten."""
        new, best = (now, value), self.best
        if value >= best[0][1] or now - best[2][0] > window:
            self.best = [new] * 3
            return
        if value >= best[1][1]:
            best[1:] = [new, new]
        elif value >= best[2][1]:
            best[2] = new
        age = now - best[0][0]
        if age > window:
            best[:] = [best[1], best[2], new]
            if now - best[0][0] > window:
                best[:] = [best[1], best[2], new]
        elif best[1][0] == best[0][0] and age > window // 4:
            best[1:] = [new, new]
        elif best[2][0] == best[1][0] and age > window // 2:
            best[2] = new


class Bbr1(Law):
    """The law; `draw` is the random stream of its flow."""

    draw: Xoshiro256PlusPlus

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        own = self.settings
        self.ssthresh = math.inf
        self.size = m
        self.window_gain = math.floor(own["cwnd_gain"] * 256 + 0.5)
        self.min_rtt_window, self.probe_rtt_time = (
            -(-(own[name] // MICROSECOND) // TICK)
            for name in ("min_rtt_window_ps", "probe_rtt_time_ps")
        )
        self.mode = STARTUP
        self.max, self.round, self.end, self.starts = Best(), 0, 0, False
        self.policer, self.totals = Policer(), Totals()
        self.epoch = self.acked = self.bunch_rounds = self.present = 0
        self.bunches = [0, 0]
        self.least: int | None = None
        self.least_at = 0
        self.done: int | None = None
        self.round_done = False
        self.index = self.phase_start = 0
        self.gain = self.cwnd_gain = 739
        self.pacing_rate, self.seen = 1, False
        self.peak = self.flat = 0
        self.full = self.idle = self.conserves = False
        self.before, self.saved = OPEN, 0
        #: Segments lost so far, at a timeout.
        self.lost = 0

    @property
    def w(self) -> int:
        """The window in segments."""
        return int(self.cwnd / self.m)

    @w.setter
    def w(self, segments: int) -> None:
        self.cwnd = float(segments * self.size)

    @property
    def bw(self) -> int:
        """The bandwidth."""
        return self.policer.bandwidth if self.policer.used else self.max.value

    def in_bytes(self, bandwidth: int, gain: int) -> int:
        """Bytes per second."""
        return (bandwidth * self.size * gain // 256 * 990_000) // ONE

    def bunch(self) -> int:
        """Segments that a host sends at once."""
        least = 2 if self.pacing_rate >= 150_000 else 1
        return min(max(min(self.pacing_rate // 1024, 65_215) // self.size, least), 127)

    def bdp(self, bandwidth: int, gain: int) -> int:
        """Segments of a round trip."""
        if self.least is None:
            return 10
        return -(-(bandwidth * self.least * gain // 256) // ONE)

    def budget(self, segments: int) -> int:
        """Segments, with room for bunches."""
        segments += 3 * self.bunch()
        segments += segments % 2
        return segments + 2 * (self.mode == PROBE_BW and self.index == 0)

    def then(self, pipe: int, ahead: int) -> int:
        """Segments in the network when the next one leaves."""
        pipe += self.bunch() if self.gain > 256 else 0
        return max(0, pipe - self.bw * ahead // ONE)

    def hear_lost(self, mark: Mark) -> None:
        """A segment is lost: no signal."""

    def establish(self, now: int, rtt: int | None, sack: bool) -> None:
        """End the handshake at `now`."""
        self.least, self.least_at = rtt, now // TICK
        self.totals.at = self.epoch = now
        self.forget_policer()
        self.pace_from(rtt)

    def pace_from(self, rtt: int | None) -> None:
        """Pace the window over a round trip."""
        self.seen = self.seen or rtt is not None
        bandwidth = self.w * ONE // (1000 if rtt is None else max(rtt, 1))
        self.pacing_rate = self.in_bytes(bandwidth, 739)

    def pace(self, gain: int, smoothed: int | None) -> None:
        """Set the pacing rate."""
        rate = self.in_bytes(self.bw, gain)
        if not self.seen and smoothed is not None:
            self.pace_from(smoothed)
        if self.full or rate > self.pacing_rate:
            self.pacing_rate = rate

    def forget_policer(self) -> None:
        """Begin to look for a policer anew."""
        now = self.totals
        self.policer = Policer(Totals(now.delivered, now.lost, now.at))

    def police(self, losses: bool, limited: bool) -> None:
        """Look for a policer."""
        policer, totals = self.policer, self.totals
        if not self.settings["policer_detection"]:
            return
        if policer.used:
            if self.mode == PROBE_BW and self.starts:
                policer.rounds += 1
                if policer.rounds >= 48:
                    self.forget_policer()
                    self.probe()
            return
        now = Totals(totals.delivered, totals.lost, totals.at)
        if not policer.sampling:
            if not losses:
                return
            policer.sampling, policer.begin, policer.rounds = True, now, 0
        policer.rounds += self.starts and not limited
        if limited or policer.rounds > 16:
            self.forget_policer()
            return
        lost = totals.lost - policer.begin.lost
        delivered = totals.delivered - policer.begin.delivered
        if policer.rounds < 4 or not losses or not delivered or 256 * lost < 50 * delivered:
            return
        time = totals.at // 1000 - policer.begin.at // 1000
        if time >= (2**32 - 1) // 1000:
            self.forget_policer()
        elif time >= 1:
            b, a = delivered * ONE // (1000 * time), policer.bandwidth
            near = 256 * abs(b - a) <= 32 * a or self.in_bytes(abs(b - a), 256) <= 500
            if a and near:
                policer.bandwidth, policer.used, policer.rounds = (a + b) // 2, True, 0
                self.gain = 256
            else:
                policer.bandwidth, policer.begin, policer.rounds = b, now, 0

    def probe(self) -> None:
        """Enter PROBE_BW."""
        self.mode = PROBE_BW
        self.index = (8 - self.draw.below(7)) % 8
        self.phase_start = self.totals.at

    def hear(self, rate: Rate) -> bool:
        """Handle an acknowledgement; returns whether the data in flight counts as limited."""
        self.totals = Totals(rate.delivered, rate.lost, rate.delivered_at)
        self.starts = False
        if rate.prior is not None and rate.interval is not None:
            self.measure(rate, rate.prior, rate.interval)
        if self.mode == PROBE_BW and self.phase_over(rate):
            self.index = (self.index + 1) % 8
            self.phase_start = self.totals.at
        self.fill(rate)
        self.time(rate)
        self.gain, self.cwnd_gain = {
            STARTUP: (739, 739),
            DRAIN: (88, 739),
            PROBE_BW: (256 if self.policer.used else GAINS[self.index], self.window_gain),
            PROBE_RTT: (256, 256),
        }[self.mode]
        self.pace(self.gain, rate.smoothed)
        self.open_window(rate)
        return self.mode == PROBE_RTT

    def measure(self, rate: Rate, prior: int, interval: int) -> None:
        """Learn from a rate sample."""
        if prior >= self.end:
            self.end, self.starts, self.conserves = rate.delivered, True, False
            self.round += 1
        self.police(rate.newly_lost > 0, rate.limited)
        b = (rate.delivered - prior) * ONE // interval
        if not rate.limited or b >= self.max.value:
            self.max.update(self.round, b)
        if not self.settings["ack_aggregation"] or not rate.newly:
            return
        if self.starts:
            self.bunch_rounds += 1
            if self.bunch_rounds >= 5:
                self.bunch_rounds, self.present = 0, 1 - self.present
                self.bunches[self.present] = 0
        expected = self.bw * (rate.delivered_at - self.epoch) // ONE
        if self.acked <= expected or self.acked + rate.newly >= 2**20:
            self.epoch, self.acked, expected = rate.delivered_at, 0, 0
        self.acked = min(self.acked + rate.newly, 2**20 - 1)
        most = min(self.acked - expected, self.w)
        self.bunches[self.present] = max(self.bunches[self.present], most)

    def phase_over(self, rate: Rate) -> bool:
        """Whether the next phase of PROBE_BW begins."""
        lasted = self.least is not None and rate.delivered_at - self.phase_start > self.least
        pipe = self.then(rate.pipe_before, rate.ahead)
        if self.gain > 256:
            enough = pipe >= self.budget(self.bdp(self.max.value, self.gain))
            return lasted and (rate.newly_lost > 0 or enough)
        drained = pipe <= self.budget(self.bdp(self.max.value, 256))
        return lasted or (self.gain < 256 and drained)

    def fill(self, rate: Rate) -> None:
        """Find whether the pipe is full, and drain its queue."""
        best, limited = self.max.value, rate.prior is not None and rate.limited
        if not self.full and self.starts and not limited:
            if best >= self.peak * 320 // 256:
                self.peak, self.flat = best, 0
            else:
                self.flat += 1
                self.full = self.flat >= 3
        if self.mode == STARTUP and self.full:
            self.mode = DRAIN
            self.ssthresh = float(self.budget(self.bdp(best, 256)) * self.size)
        if self.mode == DRAIN:
            pipe = self.then(rate.pipe, rate.ahead)
            if pipe <= self.budget(self.bdp(best, 256)):
                self.probe()

    def time(self, rate: Rate) -> None:
        """Keep the least round trip."""
        tick = rate.now // TICK
        old = tick > self.least_at + self.min_rtt_window
        if rate.rtt is not None:
            shorter = self.least is None or rate.rtt <= self.least
            if shorter or (old and not rate.may_be_delayed):
                self.least, self.least_at = rate.rtt, tick
        if old and not self.idle and self.mode != PROBE_RTT:
            self.mode, self.done = PROBE_RTT, None
            self.save()
        if self.mode == PROBE_RTT:
            if self.done is not None:
                self.round_done = self.round_done or self.starts
                if self.round_done:
                    self.end_probe(tick)
            elif rate.pipe <= 4:
                self.done, self.round_done = tick + self.probe_rtt_time, False
                self.end = rate.delivered
        if rate.prior is not None and rate.delivered > rate.prior:
            self.idle = False

    def end_probe(self, tick: int) -> None:
        """End PROBE_RTT if its time is over."""
        if self.done is None or tick <= self.done:
            return
        self.least_at = tick
        self.w = max(self.w, self.saved)
        if self.full:
            self.probe()
        else:
            self.mode = STARTUP

    def open_window(self, rate: Rate) -> None:
        """Move the window."""
        w = self.w
        if rate.newly:
            w = self.recover(rate, max(w - rate.newly_lost, 1) if rate.newly_lost else w)
            if not self.conserves:
                goal = self.bdp(self.bw, self.cwnd_gain)
                if self.full and self.settings["ack_aggregation"]:
                    goal += min(max(self.bunches), self.bw * 100_000 // ONE)
                goal = self.budget(goal)
                if self.full:
                    w = min(w + rate.newly, goal)
                elif w < goal or rate.delivered < 10:
                    w += rate.newly
                w = max(w, 4)
        self.w = min(w, 4) if self.mode == PROBE_RTT else w

    def recover(self, rate: Rate, w: int) -> int:
        """The window as a recovery begins, is in progress or ends."""
        sent_for = rate.pipe + rate.newly
        before, self.before = self.before, rate.phase
        if rate.phase == RECOVERY and before != RECOVERY:
            self.conserves, self.end, w = True, rate.delivered, sent_for
        elif before != OPEN and rate.phase == OPEN:
            self.conserves, w = False, max(w, self.saved)
        return max(w, sent_for) if self.conserves else w

    def save(self) -> None:
        """Save the window."""
        kept = self.before != OPEN or self.mode == PROBE_RTT
        self.saved = max(self.saved, self.w) if kept else self.w

    def loss(self, flight: int) -> None:
        self.save()

    def timeout(self, flight: int, repeated: bool) -> None:
        if not repeated:
            self.save()
        self.before, self.peak, self.starts = LOSS, 0, True
        self.totals.lost = self.lost
        self.police(losses=True, limited=False)

    def spurious(self) -> None:
        self.peak = self.flat = 0
        self.forget_policer()

    def resume(self, now: int) -> None:
        """Begin anew after an idle time."""
        self.idle, self.epoch, self.acked = True, now, 0
        if self.mode == PROBE_BW:
            self.pace(256, None)
        elif self.mode == PROBE_RTT:
            self.end_probe(now // TICK)
