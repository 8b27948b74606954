"""The window laws of Linux, in bytes: whole segments of `m`."""

import math
from typing import Any

from twin.law import Law

#: ps in a us, us in a jiffy.
MICROSECOND = 10**6
JIFFY = 4_000
MANY = 2**62


class LinuxReno(Law):
    """Slow start and congestion avoidance by whole segments delivered."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.ssthresh = math.inf
        self.count = 0

    @property
    def w(self) -> int:
        """The window in segments."""
        return int(self.cwnd / self.m)

    def grow(self, acknowledged: int) -> None:
        k = math.ceil(acknowledged / self.m)
        if self.cwnd < self.ssthresh:
            before = self.w
            self.cwnd = min(before + k, int(min(self.ssthresh / self.m, 1e15))) * self.m
            k -= self.w - before
        if k:
            self.avoid(k)

    def avoid(self, k: int) -> None:
        """Grow by `k` segments delivered in congestion avoidance."""
        self.add(self.w, k)

    def add(self, per: int, k: int) -> None:
        """Grow by a segment for every `per` delivered."""
        more = 0
        if self.count >= per:
            self.count, more = 0, 1
        self.count += k
        more += self.count // per
        self.count %= per
        self.cwnd += more * self.m

    def reduced(self) -> int:
        """ssthresh after a loss, in segments."""
        return self.w // 2

    def loss(self, flight: int) -> None:
        self.ssthresh = max(self.reduced(), 2) * self.m
        self.count = 0
        self.cwnd = self.ssthresh

    def timeout(self, flight: int, repeated: bool) -> None:
        if not repeated:
            self.ssthresh = max(self.reduced(), 2) * self.m
        self.count = 0
        self.cwnd = self.m


class LinuxCubic(LinuxReno):
    """CUBIC with HyStart; `top` is W_max, `least` the least round trip in us."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.last_sent = 0
        self.forget()
        self.round_end, self.round_start, self.train = 0, 0, 0
        self.samples: list[int] = []

    def forget(self) -> None:
        """Begin as at first."""
        self.top = self.origin = self.k = self.least = 0
        self.computed = (0, 0)
        self.stage: int | None = None
        self.acked = self.friendly = self.per = 0
        self.found = False

    @property
    def jiffy(self) -> int:
        """Jiffies since the simulation began."""
        return self.now // MICROSECOND // JIFFY

    def reduced(self) -> int:
        w = self.w
        self.stage = None
        converges = self.settings["fast_convergence"] and w < self.top
        self.top = w * (1024 + 717) // 2048 if converges else w
        return w * 717 // 1024

    def timeout(self, flight: int, repeated: bool) -> None:
        super().timeout(flight, repeated)
        self.forget()
        self.begin_round(self.now // MICROSECOND, self.sent_to)

    def begin_round(self, now: int, end: int) -> None:
        """A round trip of HyStart begins."""
        self.round_start = self.train = now
        self.round_end, self.samples = end, []

    def sample(self, rtt: int, una: int, rate: int, paced: bool) -> None:
        """Take a round trip of `rtt` us, of a recovery that measures them."""
        if self.stage is not None and self.jiffy - self.stage < 250:
            return
        rtt = max(rtt, 1)
        self.least = min(self.least or rtt, rtt)
        if not self.settings["hystart"] or self.found or self.cwnd >= self.ssthresh:
            return
        now = self.now // MICROSECOND
        if una > self.round_end:
            self.begin_round(now, self.sent_to)
        if self.w < 16:
            return
        if now - self.train <= 2_000:
            self.train = now
            limit = self.least + min(1_000, 4 * 65_536 * 10**6 // max(rate, 1))
            self.found = now - self.round_start > (limit if paced else limit >> 1)
        self.samples.append(rtt)
        late = self.least + min(max(self.least >> 3, 4_000), 16_000)
        if len(self.samples) > 8 and min(self.samples) > late:
            self.found = True
        if self.found:
            self.ssthresh = self.w * self.m

    def sent(self, alone: bool) -> None:
        """A new segment was sent; `alone`: nothing else is in the network."""
        if alone and self.stage is not None:
            self.stage = min(self.stage + self.jiffy - self.last_sent, self.jiffy)
        self.last_sent = self.jiffy

    def avoid(self, k: int) -> None:
        self.acked += k
        w, now = self.w, self.jiffy
        if self.computed[0] != w or now - self.computed[1] > 7:
            if self.stage is None or now != self.computed[1]:
                self.computed = (w, now)
                self.compute(w, k, now)
            self.befriend(w)
        self.add(self.per, k)

    def compute(self, w: int, k: int, now: int) -> None:
        """Compute the curve."""
        if self.stage is None:
            self.stage, self.acked, self.friendly = now, k, w
            self.origin, self.k = max(w, self.top), 0
            if self.top > w:
                self.k = cube_root((1 << 40) // 410 * (self.top - w))
        t = ((now - self.stage - (-self.least // JIFFY)) << 10) * JIFFY // 10**6
        delta = 410 * abs(t - self.k) ** 3 >> 40
        goal = max(self.origin - delta, 0) if t < self.k else self.origin + delta
        self.per = w // (goal - w) if goal > w else 100 * w
        if self.top == 0:
            self.per = min(self.per, 20)

    def befriend(self, w: int) -> None:
        """Grow at least like Reno."""
        per = w * 15 >> 3
        while per and self.acked > per:
            self.acked -= per
            self.friendly += 1
        if self.friendly > w:
            self.per = min(self.per, w // (self.friendly - w))
        self.per = max(self.per, 2)


def cube_root(number: int) -> int:
    """Cube root, rounded down, by bisection."""
    low, high = 0, 1
    while high**3 <= number:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle)
    return low
