"""Window laws of Linux 6.18: Reno, and CUBIC (RFC 9438) with HyStart."""

from __future__ import annotations

from collections.abc import Callable

from linux.state import JIFFY, LOSS, State, jiffies


class Reno:
    """Slow start and congestion avoidance in whole segments."""

    def __init__(self, sender: State) -> None:
        self.s = sender

    def on_start(self) -> None:
        """Data is sent after an idle time."""

    def on_state(self, state: int) -> None:
        """The state changes."""

    def on_acked(self, rtt: int) -> None:
        """Segments are acknowledged, with a sample of the round trip or -1."""

    def avoid(self, acked: int) -> None:
        acked = self.slow_start(acked)
        if acked:
            self.additive(self.s.cwnd, acked)

    def slow_start(self, acked: int) -> int:
        s = self.s
        if not s.in_slow_start:
            return acked
        cwnd = min(s.cwnd + acked, s.ssthresh)
        acked -= cwnd - s.cwnd
        s.cwnd = cwnd
        return acked

    def additive(self, window: int, acked: int) -> None:
        s = self.s
        if s.cwnd_cnt >= window:
            s.cwnd_cnt = 0
            s.cwnd += 1
        s.cwnd_cnt += acked
        if s.cwnd_cnt >= window:
            delta = s.cwnd_cnt // window
            s.cwnd_cnt -= delta * window
            s.cwnd += delta

    def reduced(self) -> int:
        return max(self.s.cwnd >> 1, 2)

    def undone(self) -> int:
        return max(self.s.cwnd, self.s.prior_cwnd)


def cube_root(number: int) -> int:
    root: int = round(number ** (1 / 3))
    while root**3 > number:
        root -= 1
    while (root + 1) ** 3 <= number:
        root += 1
    return root


class Cubic(Reno):
    """CUBIC with HyStart."""

    beta = 717
    scale = 410
    friendliness = 15
    low_window = 16

    def __init__(self, sender: State, hystart: bool = True) -> None:
        super().__init__(sender)
        self.hystart = hystart
        self.reset()
        self.found = False
        self.end_seq = self.round_start = self.last_ack = 0
        self.curr_rtt, self.samples = 1 << 32, 0

    def reset(self) -> None:
        self.last_max = self.last_cwnd = self.last_time = self.origin = self.k = 0
        self.delay_min = 0
        self.epoch: int | None = None
        self.ack_cnt = self.tcp_cwnd = self.cnt = 0
        self.found = False

    def hystart_reset(self) -> None:
        s = self.s
        self.round_start = self.last_ack = s.now
        self.end_seq = s.snd_nxt
        self.curr_rtt, self.samples = 1 << 32, 0

    def on_start(self) -> None:
        s = self.s
        delta = s.jiffy - s.lsndtime // JIFFY
        if self.epoch is not None and delta > 0:
            self.epoch = min(self.epoch + delta, s.jiffy)

    def on_state(self, state: int) -> None:
        if state == LOSS:
            self.reset()
            self.hystart_reset()

    def reduced(self) -> int:
        s = self.s
        self.epoch = None
        self.last_max = s.cwnd * (1024 + self.beta) // 2048 if s.cwnd < self.last_max else s.cwnd
        return max(s.cwnd * self.beta // 1024, 2)

    def on_acked(self, rtt: int) -> None:
        s = self.s
        if rtt < 0:
            return
        if self.epoch is not None and s.jiffy - self.epoch < 1_000_000 // JIFFY:
            return
        delay = rtt or 1
        if not self.delay_min or self.delay_min > delay:
            self.delay_min = delay
        if not self.found and s.in_slow_start and self.hystart:
            self.find(delay)

    def find(self, delay: int) -> None:
        s = self.s
        if s.snd_una > self.end_seq:
            self.hystart_reset()
        if s.cwnd < self.low_window:
            return
        if s.now - self.last_ack <= 2_000:
            self.last_ack = s.now
            ack_delay = min(1_000, 65536 * 4 * 10**6 // max(s.pacing_rate, 1))
            threshold = self.delay_min + ack_delay
            if not s.o.pacing:
                threshold >>= 1
            if s.now - self.round_start > threshold:
                self.found = True
                s.ssthresh = s.cwnd
        self.curr_rtt = min(self.curr_rtt, delay)
        if self.samples < 8:
            self.samples += 1
        elif self.curr_rtt > self.delay_min + min(max(self.delay_min >> 3, 4_000), 16_000):
            self.found = True
            s.ssthresh = s.cwnd

    def avoid(self, acked: int) -> None:
        acked = self.slow_start(acked)
        if not acked:
            return
        self.update(acked)
        self.additive(self.cnt, acked)

    def update(self, acked: int) -> None:
        s = self.s
        cwnd, tick = s.cwnd, s.jiffy
        self.ack_cnt += acked
        if self.last_cwnd == cwnd and tick - self.last_time <= 1_000_000 // JIFFY // 32:
            return
        if not (self.epoch is not None and tick == self.last_time):
            self.last_cwnd, self.last_time = cwnd, tick
            if self.epoch is None:
                self.epoch, self.ack_cnt, self.tcp_cwnd = tick, acked, cwnd
                if self.last_max <= cwnd:
                    self.k, self.origin = 0, cwnd
                else:
                    factor = (1 << 40) // self.scale
                    self.k = cube_root(factor * (self.last_max - cwnd))
                    self.origin = self.last_max
            t = tick - self.epoch + jiffies(self.delay_min)
            t = (t << 10) * JIFFY // 1_000_000
            offset = abs(t - self.k)
            delta = self.scale * offset**3 >> 40
            target = self.origin - delta if t < self.k else self.origin + delta
            self.cnt = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
            if self.last_max == 0 and self.cnt > 20:
                self.cnt = 20
        delta = cwnd * self.friendliness >> 3
        while self.ack_cnt > delta:
            self.ack_cnt -= delta
            self.tcp_cwnd += 1
        if self.tcp_cwnd > cwnd:
            self.cnt = min(self.cnt, cwnd // (self.tcp_cwnd - cwnd))
        self.cnt = max(self.cnt, 2)


def without_hystart(sender: State) -> Cubic:
    """CUBIC with the module parameter ``hystart=0``."""
    return Cubic(sender, hystart=False)


LAWS: dict[str, Callable[[State], Reno]] = {"reno": Reno, "cubic": Cubic}
