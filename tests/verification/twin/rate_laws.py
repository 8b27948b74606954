"""The rate laws of `rdma`."""

from typing import Any


class RateLaw:
    """A constant rate, in bits per second: that of the link."""

    def __init__(self, settings: dict[str, Any], line: int) -> None:
        self.settings = settings
        self.line = line
        self.current = float(line)

    @property
    def rate(self) -> int:
        """In whole bits per second."""
        return int(self.current)

    def sent(self, now: int, payload: int) -> None:
        """Note a packet that is sent."""

    def notified(self, now: int) -> None:
        """Answer a congestion notification."""

    def acknowledged(self, round_trip: int) -> None:
        """Answer an acknowledgement of new data that gives a round-trip time."""


class Dcqcn(RateLaw):
    """Zhu et al. 2015, section 3.1: all expiries of both timers, one after the other."""

    def __init__(self, settings: dict[str, Any], line: int) -> None:
        super().__init__(settings, line)
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

    def __init__(self, settings: dict[str, Any], line: int) -> None:
        super().__init__(settings, line)
        self.round_trips: list[float] = []
        self.average = 0.0
        self.in_a_row = 0

    def acknowledged(self, round_trip: int) -> None:
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


RATE_LAWS: dict[str, type[RateLaw]] = {"dcqcn": Dcqcn, "line-rate": RateLaw, "timely": Timely}
