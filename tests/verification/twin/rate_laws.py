"""The rate laws of `rdma`."""

import math
from typing import Any


class RateLaw:
    """A constant rate, in bits per second: that of the link."""

    #: The window in useful bytes.
    window = math.inf
    #: Whether the receiver pulls packets.
    pulls = False

    def __init__(self, settings: dict[str, Any], line: int, packet: tuple[int, int]) -> None:
        self.settings = settings
        self.line = line
        self.current = float(line)
        #: Useful bytes of a full packet, and its bytes on the wire.
        self.payload, self.wire = packet

    @property
    def rate(self) -> int | None:
        """In whole bits per second; None: packets are not paced."""
        return int(self.current)

    def path(self, switches: int) -> None:
        """Note the number of switches to the receiver."""

    def begin(self, packets: int) -> None:
        """Note the number of packets of the message."""

    def sent(self, now: int, payload: int) -> None:
        """Note a packet that is sent."""

    def notified(self, now: int) -> None:
        """Answer a congestion notification."""

    @property
    def waits(self) -> bool:
        """Whether no packet may be sent before a pull."""
        return False

    def pulled(self, number: int) -> None:
        """Answer the pull with this number."""

    def returned(self) -> None:
        """Answer a header that returned."""

    def news(self) -> None:
        """Answer an acknowledgement of new data."""

    def told(self, readings: tuple[Any, ...], number: int, sent: int) -> None:
        """Answer the telemetry in an acknowledgement of all before `number`."""

    def acknowledged(self, now: int, round_trip: int, payload: int) -> None:
        """Answer an acknowledgement of new data that gives a round-trip time."""

    def lost(self, now: int, *, timeout: bool) -> None:
        """Answer the begin of a repair."""


class Ndp(RateLaw):
    """Handley et al. 2017, section 3.2: a first window, and then a packet for each pull."""

    pulls = True
    rate = None

    def __init__(self, settings: dict[str, Any], line: int, packet: tuple[int, int]) -> None:
        super().__init__(settings, line, packet)
        self.first: int = settings["first_window"]
        self.left: int = self.first
        self.told_of = 0
        #: Packets since the last timeout that gave neither a pull nor a header that returned.
        self.expected = 0

    @property
    def waits(self) -> bool:
        return self.left == 0

    def begin(self, packets: int) -> None:
        self.left = self.first = min(self.first, packets)

    def sent(self, now: int, payload: int) -> None:
        self.left -= 1
        self.expected += 1

    def pulled(self, number: int) -> None:
        for _ in range(self.told_of, number):
            self.left += 1
            self.told_of += 1
            self.expected -= self.expected > 0

    def returned(self) -> None:
        self.expected -= self.expected > 0
        if not self.expected and not self.left:
            self.left = 1

    def lost(self, now: int, *, timeout: bool) -> None:
        if timeout:
            self.left = self.first
            self.expected = 0


class Dcqcn(RateLaw):
    """Zhu et al. 2015, section 3.1: all expiries of both timers, one after the other."""

    def __init__(self, settings: dict[str, Any], line: int, packet: tuple[int, int]) -> None:
        super().__init__(settings, line, packet)
        self.target = self.current
        self.alpha = 1.0
        # When each timer expires next; no timer runs before the first notification.
        self.expiries: dict[str, int] = {}
        self.counts = {"timer": 0, "bytes": 0}
        self.bytes = 0

    def expire(self, now: int) -> None:
        """Let the timers expire in the order of their times."""
        while self.expiries:
            name = min(self.expiries, key=lambda name: self.expiries[name])
            if self.expiries[name] > now:
                return
            if name == "alpha":
                self.alpha *= 1.0 - self.settings["g"]
                self.expiries[name] += self.settings["alpha_interval_ps"]
            else:
                self.rise(name)
                self.expiries[name] += self.settings["timer_ps"]

    def rise(self, cause: str) -> None:
        """Count an expiry of `timer` or `bytes`, and rise."""
        self.counts[cause] += 1
        beyond = sum(count > self.settings["fast_recovery"] for count in self.counts.values())
        names = ("", "additive_increase_bps", "hyper_increase_bps")
        if beyond:
            self.target = min(self.target + self.settings[names[beyond]], float(self.line))
        self.current = (self.target + self.current) / 2.0

    def sent(self, now: int, payload: int) -> None:
        self.expire(now)
        if self.expiries:
            self.bytes += payload
            if self.bytes >= self.settings["byte_counter_bytes"]:
                self.bytes -= self.settings["byte_counter_bytes"]
                self.rise("bytes")

    def notified(self, now: int) -> None:
        self.expire(now)
        g, least = self.settings["g"], min(float(self.settings["min_rate_bps"]), float(self.line))
        self.target = self.current
        self.current = max(self.current * (1.0 - self.alpha / 2.0), least)
        self.alpha = (1.0 - g) * self.alpha + g
        intervals = {"alpha": "alpha_interval_ps", "timer": "timer_ps"}
        self.expiries = {name: now + self.settings[key] for name, key in intervals.items()}
        self.counts = {"timer": 0, "bytes": 0}
        self.bytes = 0


class Timely(RateLaw):
    """Mittal et al. 2015, algorithm 1."""

    def __init__(self, settings: dict[str, Any], line: int, packet: tuple[int, int]) -> None:
        super().__init__(settings, line, packet)
        self.round_trips: list[float] = []
        self.average = 0.0
        self.in_a_row = 0

    def acknowledged(self, now: int, round_trip: int, payload: int) -> None:
        own, new = self.settings, float(round_trip)
        self.round_trips = [*self.round_trips[-1:], new]
        alpha, beta, delta = own["alpha"], own["beta"], float(own["additive_increase_bps"])
        change = self.round_trips[-1] - self.round_trips[0]
        self.average = (1.0 - alpha) * self.average + alpha * change
        gradient = self.average / own["min_round_trip_ps"]
        between = own["low_threshold_ps"] <= new <= own["high_threshold_ps"]
        self.in_a_row = self.in_a_row + 1 if between and gradient <= 0.0 else 0
        if new < own["low_threshold_ps"]:
            self.current += delta
        elif new > own["high_threshold_ps"]:
            self.current *= 1.0 - beta * (1.0 - own["high_threshold_ps"] / new)
        elif self.in_a_row:
            self.current += 5.0 * delta if self.in_a_row >= 5 else delta
        else:
            self.current *= 1.0 - beta * gradient
        least = min(float(own["min_rate_bps"]), float(self.line))
        self.current = min(max(self.current, least), float(self.line))


class Hpcc(RateLaw):
    """Li et al. 2019, algorithm 1."""

    def __init__(self, settings: dict[str, Any], line: int, packet: tuple[int, int]) -> None:
        super().__init__(settings, line, packet)
        self.most = float(line) * settings["base_round_trip_ps"] / 8e12
        self.step = self.most * (1.0 - settings["eta"]) / settings["flows"]
        self.present = self.reference = self.most
        self.used, self.stages, self.updated = 1.0, 0, 0
        self.last: tuple[Any, ...] = ()

    @property
    def window(self) -> float:  # type: ignore[override]
        return float(self.present * (self.payload / self.wire))

    @property
    def rate(self) -> int | None:
        return int(max(float(self.line) * (self.present / self.most), 1.0))

    def told(self, readings: tuple[Any, ...], number: int, sent: int) -> None:
        pairs = list(zip(readings, self.last, strict=False))
        same = len(readings) == len(self.last)
        if not same or any(new.link != old.link for new, old in pairs):
            self.updated = sent
        elif any(new.time <= old.time for new, old in pairs):
            return
        else:
            self.measure(pairs)
            self.compute(update=number > self.updated)
            if number > self.updated:
                self.updated = sent
        self.last = readings

    def measure(self, pairs: list[tuple[Any, Any]]) -> None:
        """Procedure MeasureInflight."""
        trip = float(self.settings["base_round_trip_ps"])
        most, interval = 0.0, 0.0
        for new, old in pairs:
            time, rate = float(new.time - old.time), float(new.rate)
            sent = 8e12 * float(new.sent - old.sent) / time
            used = 8e12 * float(min(new.queue, old.queue)) / (rate * trip) + sent / rate
            if used > most:
                most, interval = used, time
        weight = min(interval, trip) / trip
        self.used = (1.0 - weight) * self.used + weight * most

    def compute(self, *, update: bool) -> None:
        """Function ComputeWind."""
        eta = self.settings["eta"]
        multiplies = self.used >= eta or self.stages >= self.settings["max_stage"]
        by = self.used / eta if multiplies else 1.0
        self.present = min(self.reference / by + self.step, self.most)
        if update:
            self.stages = 0 if multiplies else self.stages + 1
            self.reference = self.present


class Swift(RateLaw):
    """Kumar et al. 2020, algorithm 1 and section 3.5."""

    def __init__(self, settings: dict[str, Any], line: int, packet: tuple[int, int]) -> None:
        super().__init__(settings, line, packet)
        self.cwnd = self.clamp(settings["first_window"])
        self.rtt = 0
        self.decreased: int | None = None
        self.timeouts = self.switches = 0

    @property
    def window(self) -> float:  # type: ignore[override]
        return float(self.cwnd * self.payload)

    @property
    def rate(self) -> int | None:
        if self.cwnd >= 1.0 or self.rtt == 0:
            return None
        return int(max(8.0 * self.wire * 1e12 * self.cwnd / float(self.rtt), 1.0))

    def path(self, switches: int) -> None:
        self.switches = switches

    def clamp(self, cwnd: float) -> float:
        return max(
            min(cwnd, float(self.settings["max_window"])), float(self.settings["min_window"])
        )

    def target(self) -> float:
        own = self.settings
        least, most = own["flow_min_window"], own["flow_max_window"]
        alpha = own["flow_range_ps"] / (1.0 / math.sqrt(least) - 1.0 / math.sqrt(most))
        share: float = alpha / math.sqrt(self.cwnd) + -alpha / math.sqrt(most)
        share = max(min(share, float(own["flow_range_ps"])), 0.0)
        base: float = float(own["base_target_ps"]) + self.switches * float(own["hop_target_ps"])
        return base + share

    def may_decrease(self, now: int) -> bool:
        return self.decreased is None or now - self.decreased >= self.rtt

    def become(self, cwnd: float, now: int) -> None:
        before, self.cwnd = self.cwnd, self.clamp(cwnd)
        if self.cwnd < before:
            self.decreased = now

    def news(self) -> None:
        self.timeouts = 0

    def acknowledged(self, now: int, round_trip: int, payload: int) -> None:
        self.rtt = round_trip
        delay, target = float(round_trip), self.target()
        if delay < target:
            step = self.settings["increase"]
            if self.cwnd >= 1.0:
                step /= self.cwnd
            self.become(self.cwnd + step * (payload / self.payload), now)
        elif self.may_decrease(now):
            cut = 1.0 - self.settings["beta"] * ((delay - target) / delay)
            self.become(self.cwnd * max(cut, 1.0 - self.settings["max_decrease"]), now)

    def lost(self, now: int, *, timeout: bool) -> None:
        self.timeouts = self.timeouts + 1 if timeout else 0
        if self.timeouts >= self.settings["reset_after"]:
            self.become(self.settings["min_window"], now)
        elif self.may_decrease(now):
            self.become((1.0 - self.settings["max_decrease"]) * self.cwnd, now)


RATE_LAWS: dict[str, type[RateLaw]] = {
    "dcqcn": Dcqcn,
    "hpcc": Hpcc,
    "line-rate": RateLaw,
    "ndp": Ndp,
    "swift": Swift,
    "timely": Timely,
}
