"""BBR, version 3, as in docs/model.md: the window law, plain and slow, with exact fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from twin.bbr import MICROSECOND, ONE, Best, Mark, Rate
from twin.law import LOSS, OPEN, RECOVERY, Law

if TYPE_CHECKING:
    from twin.rng import Xoshiro256PlusPlus

STARTUP, DRAIN, PROBE_RTT = "STARTUP", "DRAIN", "PROBE_RTT"
DOWN, CRUISE, REFILL, UP = "DOWN", "CRUISE", "REFILL", "UP"
CYCLE = (DOWN, CRUISE, REFILL, UP)
PACES = {STARTUP: "2.77", DRAIN: "0.5", DOWN: "0.9", UP: "1.25"}
#: Values that the end of a round compares.
Amount = int | float


def floor(value: Fraction | float) -> int:
    """The whole part."""
    return math.floor(value)


@dataclass
class Saved:
    """What a spurious recovery restores."""

    state: str | None = None
    bw: Amount = 0
    inflight: Amount = 0
    longterm: Amount = 0


class Bbr3(Law):
    """The law; `draw` is the random stream of its flow."""

    draw: Xoshiro256PlusPlus

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        own = self.settings
        self.ssthresh = math.inf
        self.size = m
        self.gain, self.thresh, self.beta, self.headroom = (
            Fraction(floor(own[name] * 1000 + 0.5), 1000)
            for name in ("cwnd_gain", "loss_threshold", "beta", "headroom")
        )
        self.min_rtt_len, self.interval, self.duration = (
            own[f"{name}_ps"] // MICROSECOND
            for name in ("min_rtt_window", "probe_rtt_interval", "probe_rtt_time")
        )
        self.state = STARTUP
        #: Time of the event, and rate and volume of its sample.
        self.at = self.newest = self.volume = 0
        self.sack = True
        self.initial = self.delivered = 0
        self.rounds = self.since_up = self.round_end = 0
        self.round_start = False
        self.max, self.cycle, self.bw = Best(), 0, 0
        self.extra, self.epoch, self.acked = Best(), 0, 0
        self.min_rtt: Amount = math.inf
        self.min_rtt_at = 0
        self.delay: Amount = math.inf
        self.delay_at = 0
        self.old = False
        self.done: int | None = None
        self.round_done = False
        self.peak = self.flat = 0
        self.full_now = self.full = False
        self.drain_round = 0
        self.phase, self.samples = "init", False
        self.per: Amount = math.inf
        self.up_acked = self.up_rounds = 0
        self.too_high = self.precautionary = False
        self.began = self.wait = 0
        self.bw_latest = self.inflight_latest = 0
        self.lossy, self.loss_end, self.loss_start = False, 0, False
        self.ranges = self.range_end = 0
        self.bw_short: Amount = math.inf
        self.short: Amount = math.inf
        self.long: Amount = math.inf
        self.saved = Saved()
        self.recovery, self.reduced, self.again = OPEN, False, False
        self.prior = 0
        self.idle = self.seen = False
        self.pacing_rate, self.quantum = 1, 2
        #: Segments lost so far, at a timeout.
        self.lost = 0

    @property
    def w(self) -> int:
        """The window in segments."""
        return int(self.cwnd / self.m)

    @w.setter
    def w(self, segments: int) -> None:
        self.cwnd = float(segments * self.size)

    # Control parameters.

    def per_second(self, bandwidth: int, gain: Fraction, part: Fraction) -> int:
        """Bytes per second."""
        return floor(floor(bandwidth * self.size * gain) * 1_000_000 * part / ONE)

    def pace(self, gain: Fraction, smoothed: int | None) -> None:
        """Set the pacing rate."""
        if not self.seen and smoothed is not None:
            self.pace_from(smoothed)
        rate = self.per_second(self.bw, gain, Fraction(99, 100))
        if self.full or rate > self.pacing_rate:
            self.pacing_rate = rate

    def pace_from(self, rtt: int | None) -> None:
        """Pace the initial window over a round trip."""
        self.seen = self.seen or rtt is not None
        bandwidth = self.initial * ONE // (1000 if rtt is None else max(rtt, 1))
        self.pacing_rate = self.per_second(bandwidth, Fraction("2.77"), Fraction(1))
        self.choose_quantum()

    def choose_quantum(self) -> None:
        """Choose the segments that a host sends at once."""
        self.quantum = max(min(self.pacing_rate // 1000, 65_536) // self.size, 2)

    def bdp(self, bandwidth: int, gain: Fraction) -> int:
        """Segments of a round trip."""
        if self.min_rtt == math.inf:
            return self.initial
        return math.ceil(Fraction(floor(bandwidth * int(self.min_rtt) * gain), ONE))

    def budget(self, segments: int) -> int:
        """Segments, with room for what hosts hold."""
        return max(segments, 3 * self.quantum, 4) + (2 if self.state == UP else 0)

    def target(self) -> int:
        """The product, unless the window is less."""
        return min(self.bdp(self.bw, Fraction(1)), self.w)

    def room(self) -> Amount:
        """The long-term bound without what is left to others."""
        if self.long == math.inf:
            return math.inf
        return max(self.long - max(floor(self.long * self.headroom), 1), 4)

    def floor_of_probe(self) -> int:
        """The window of PROBE_RTT."""
        return max(self.bdp(self.bw, Fraction(1, 2)), 4)

    def set_window(self, rate: Rate) -> None:
        """Move the window."""
        gain = {UP: self.gain + Fraction(1, 4), PROBE_RTT: Fraction(1, 2)}.get(
            self.state, self.gain
        )
        most, w = self.budget(self.bdp(self.bw, gain) + self.extra.value), self.w
        if self.full:
            w = min(w + rate.newly, most)
        elif w < most or rate.delivered - 1 < self.initial:
            w += rate.newly
        w = max(w, 4)
        cap: Amount = math.inf
        if self.state in (DOWN, REFILL, UP):
            cap = self.long
        elif self.state in (CRUISE, PROBE_RTT):
            cap = self.room()
        if self.state == PROBE_RTT:
            w = min(w, self.floor_of_probe())
        self.w = int(min(w, max(min(cap, self.short), 4)))

    # Events.

    def establish(self, now: int, rtt: int | None, sack: bool) -> None:
        """End the handshake at `now`."""
        self.sack, self.initial = sack, self.w
        if rtt is not None:
            self.min_rtt = self.delay = rtt
        self.min_rtt_at = self.delay_at = self.epoch = now
        self.pace_from(rtt)

    def hear(self, rate: Rate) -> bool:
        """Handle an acknowledgement; returns whether the data in flight counts as limited."""
        self.at, self.delivered = rate.now, rate.delivered
        if self.reduced:
            self.note_loss()
        if self.again:
            self.start_round()
        self.reduced = self.again = False
        before, self.recovery = self.recovery, rate.phase
        if before != OPEN and rate.phase == OPEN:
            self.w = max(self.w, self.prior)
        self.learn(rate)
        self.fill(rate)
        if rate.prior is not None and self.full and not self.adapt(rate):
            self.step(rate)
        self.time(rate)
        if self.loss_start:
            self.bw_latest, self.inflight_latest = self.newest, self.volume
        self.bw = int(min(self.max.value, self.bw_short))
        self.pace(Fraction(PACES.get(self.state, "1")), rate.smoothed)
        self.choose_quantum()
        self.set_window(rate)
        return self.state == PROBE_RTT

    def learn(self, rate: Rate) -> None:
        """Learn from a rate sample."""
        self.newest = self.volume = 0
        self.round_start = self.loss_start = False
        if rate.prior is not None:
            self.volume = rate.delivered - rate.prior
            if rate.interval is not None:
                self.newest = self.volume * ONE // rate.interval
            self.loss_start = rate.prior >= self.loss_end
            self.round_start = rate.prior >= self.round_end
        self.bw_latest = max(self.bw_latest, self.newest)
        self.inflight_latest = max(self.inflight_latest, self.volume)
        if self.loss_start:
            self.loss_end = rate.delivered
        if self.round_start:
            self.start_round()
            self.rounds += 1
            self.since_up += 1
        if self.newest and (self.newest >= self.max.value or not rate.limited):
            self.max.update(self.cycle, self.newest, 1)
        if self.loss_start:
            if self.lossy and self.state not in (STARTUP, REFILL, UP):
                bw = self.max.value if self.bw_short == math.inf else self.bw_short
                window = self.w if self.short == math.inf else self.short
                self.bw_short = max(self.bw_latest, floor(self.beta * int(bw)))
                self.short = max(self.inflight_latest, floor(self.beta * int(window)))
            self.lossy = False
        if self.settings["ack_aggregation"]:
            expected = self.bw * (rate.now - self.epoch) // ONE
            if self.acked <= expected:
                self.acked, self.epoch, expected = 0, rate.now, 0
            self.acked += rate.newly
            extra = min(self.acked - expected, self.w)
            self.extra.update(self.rounds, extra, 9 if self.full else 0)

    def fill(self, rate: Rate) -> None:
        """Find whether the pipe is full, and drain its queue."""
        limited = rate.prior is not None and rate.limited
        if not self.full_now and self.round_start and not limited:
            if self.newest >= floor(Fraction(5 * self.peak, 4)):
                self.peak, self.flat = self.newest, 0
            else:
                self.flat += 1
                if self.flat >= 3:
                    self.full_now = self.full = True
        ranges = self.ranges
        if self.loss_start:
            self.ranges = 0
        if self.state == STARTUP and not self.full and rate.phase == RECOVERY:
            high = self.loss_start and ranges >= 6 and self.loses_too_much(rate)
            if high if self.sack else ranges > 0:
                self.saved.state = STARTUP
                self.full = self.full_now = True
                self.long = max(self.bdp(self.bw, Fraction(1)), self.inflight_latest)
        if self.state == STARTUP and self.full:
            self.state, self.drain_round = DRAIN, self.rounds
        if self.state == DRAIN:
            empty = rate.pipe <= self.budget(self.bdp(self.bw, Fraction(1)))
            if empty or self.rounds > self.drain_round + 3:
                self.down()

    def loses_too_much(self, rate: Rate) -> bool:
        """Whether the round of a sample has lost too much."""
        return rate.prior is not None and self.is_too_high(rate.lost_since, rate.tx)

    def is_too_high(self, lost: int, tx: int) -> bool:
        """Whether so many lost are too many of those in flight."""
        return lost > tx * self.thresh or (lost > 0 and not self.sack)

    def start_round(self) -> None:
        """Begin a round."""
        self.round_end = self.delivered

    # The cycle of PROBE_BW.

    def down(self) -> None:
        """Enter DOWN."""
        self.lossy, self.bw_latest, self.inflight_latest = False, 0, 0
        self.per = math.inf
        self.since_up = self.draw.below(2)
        self.wait = 2_000_000 + self.draw.below(1_000_000)
        self.began, self.phase, self.state = self.at, "stopping", DOWN
        self.start_round()

    def refill(self) -> None:
        """Enter REFILL."""
        self.bw_short = self.short = math.inf
        self.up_rounds = self.up_acked = 0
        self.precautionary, self.phase, self.state = False, "refilling", REFILL
        self.start_round()

    def slope(self) -> None:
        """Raise the long-term bound twice as fast."""
        self.per = max(self.w // 2**self.up_rounds, 1)
        self.up_rounds = min(self.up_rounds + 1, 30)

    def probes(self) -> bool:
        """Enter REFILL if it is time."""
        late = self.at > self.began + self.wait
        if late or self.since_up >= min(self.target(), 63):
            self.refill()
            return True
        return False

    def adapt(self, rate: Rate) -> bool:
        """Follow a probe; returns whether a state was entered."""
        if self.phase == "starting" and self.round_start:
            self.phase = "feedback"
        if self.phase == "stopping" and self.round_start:
            self.samples, self.phase = False, "init"
            if self.state in CYCLE:
                self.cycle += not rate.limited
                if self.precautionary and not self.too_high:
                    self.refill()
                    return True
        if self.is_too_high(rate.lost_since, rate.tx) or self.long == math.inf:
            return False
        self.long = max(self.long, rate.tx)
        if self.state == UP and rate.window_limited and self.w >= self.long:
            self.up_acked += rate.newly
            assert self.per != math.inf
            more, self.up_acked = divmod(self.up_acked, int(self.per))
            self.long += more
            if self.round_start:
                self.slope()
        return False

    def step(self, rate: Rate) -> None:
        """Move on in the cycle."""
        if self.state == DOWN:
            if self.probes():
                return
            drained = rate.pipe <= self.budget(self.bdp(self.max.value, Fraction(1)))
            if drained and rate.pipe <= self.room():
                self.state = CRUISE
        elif self.state == CRUISE:
            self.probes()
        elif self.state == REFILL and self.round_start:
            self.samples, self.phase, self.state = True, "starting", UP
            self.start_round()
            self.peak, self.flat, self.full_now = self.newest, 0, False
            self.slope()
        elif self.state == UP and self.ends_up(rate):
            self.too_high = False
            self.down()

    def ends_up(self, rate: Rate) -> bool:
        """Whether UP is over."""
        if self.too_high and rate.pipe >= self.long:
            self.precautionary = True
            return True
        if rate.window_limited and self.w >= self.long:
            self.peak, self.flat, self.full_now = self.newest, 0, False
            return False
        return self.full_now

    # The least round trip.

    def time(self, rate: Rate) -> None:
        """Keep the least round trip."""
        self.old = self.at > self.delay_at + self.interval
        if rate.rtt is not None and (self.old or rate.rtt < self.delay):
            self.delay, self.delay_at = rate.rtt, self.at
        if self.delay < self.min_rtt or self.at > self.min_rtt_at + self.min_rtt_len:
            self.min_rtt, self.min_rtt_at = self.delay, self.delay_at
        if self.old and not self.idle and self.state != PROBE_RTT:
            self.state, self.done, self.phase = PROBE_RTT, None, "stopping"
            self.save()
            self.start_round()
        if self.state == PROBE_RTT:
            if self.done is not None:
                self.round_done = self.round_done or self.round_start
                if self.round_done:
                    self.end_probe()
            elif rate.pipe <= self.floor_of_probe():
                self.done, self.round_done = self.at + self.duration, False
                self.start_round()
        if self.volume > 0:
            self.idle = False

    def end_probe(self) -> None:
        """End PROBE_RTT if its time is over."""
        if self.done is None or self.at <= self.done:
            return
        self.delay_at = self.at
        self.w = max(self.w, self.prior)
        self.bw_short = self.short = math.inf
        if self.full:
            self.down()
            self.state = CRUISE
        else:
            self.state = STARTUP

    # Losses.

    def save(self) -> None:
        """Save the window."""
        kept = self.recovery != OPEN or self.state == PROBE_RTT
        self.prior = max(self.prior, self.w) if kept else self.w

    def save_model(self) -> None:
        """Save window and bounds."""
        self.save()
        self.saved = Saved(None, self.bw_short, self.short, self.long)

    def note_loss(self) -> None:
        """Note a loss in the round."""
        if not self.lossy:
            self.loss_end = self.delivered
            self.save_model()
        self.lossy = True

    def hear_lost(self, mark: Mark) -> None:
        """A segment is lost."""
        self.at, self.delivered = mark.now, mark.delivered
        self.note_loss()
        self.ranges += mark.number != self.range_end
        self.range_end = mark.number + 1
        if not self.samples or not self.is_too_high(mark.lost_since, mark.tx):
            return
        before, lost = mark.tx - 1, mark.lost_since - 1
        prefix = max(floor((self.thresh * before - lost) / (1 - self.thresh)), 0)
        self.too_high, self.samples = True, False
        if not mark.limited:
            self.long = max(before + prefix, floor(self.target() * self.beta))
        if self.state == UP:
            self.saved.state = UP
            self.down()

    def loss(self, flight: int) -> None:
        self.save_model()
        self.recovery, self.reduced = RECOVERY, True

    def timeout(self, flight: int, repeated: bool) -> None:
        if not repeated:
            self.save_model()
        self.recovery = LOSS

    def spurious(self) -> None:
        saved = self.saved
        self.lossy = False
        self.peak, self.flat, self.full_now = 0, 0, False
        self.bw_short = max(self.bw_short, saved.bw)
        self.short = max(self.short, saved.inflight)
        self.long = max(self.long, saved.longterm)
        if saved.state == STARTUP and self.state != STARTUP:
            self.full = False
            if self.state != PROBE_RTT:
                self.state = STARTUP
        elif saved.state == UP and self.state not in (UP, PROBE_RTT):
            self.refill()
            self.again = True
        saved.state = None

    def resume(self, now: int) -> None:
        """Begin anew after an idle time."""
        self.at = now
        self.idle, self.epoch, self.acked = True, now, 0
        if self.state in CYCLE:
            self.pace(Fraction(1), None)
        elif self.state == PROBE_RTT:
            self.end_probe()
