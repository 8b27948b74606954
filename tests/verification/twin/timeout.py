"""Timeouts of the endpoints of a connection: the rules of stop-and-wait and of RFC 6298."""

import math
from typing import Any, Protocol

from linux.state import Timeout as LinuxRule

UNKNOWN = 2**64 - 1
MICROSECOND = 10**6


def round_half_away(x: float) -> int:
    """Nearest whole number of a positive `x`; halves go up."""
    whole = math.floor(x)
    return whole + 1 if x - whole >= 0.5 else whole


class Timeout(Protocol):
    """A timeout that learns from round-trip times and from expiries; the `newest` of them."""

    newest: int
    #: Repetitions of a SYN that leave the initial window as it is.
    excused: int
    #: Whether the time stamp of a SYN that was repeated gives a sample.
    samples_repeated: bool

    def wait(self) -> int:
        """The time to wait for an answer, in ps."""

    def back_off(self) -> None:
        """The timer has expired."""

    def sample(self, round_trip: int, una: int = 0, nxt: int = 0) -> None:
        """A round-trip time was measured, with `una` acknowledged and `nxt` sent."""

    def syn_was_repeated(self) -> None:
        """The connection is established, and its SYN gave no sample."""


class FixedTimeout:
    """The local ACK timeout of a queue pair."""

    excused, samples_repeated = 0, False

    def __init__(self, transport: dict[str, Any]) -> None:
        self.constant: int = transport["acknowledgement_timeout_ps"]
        self.newest = UNKNOWN

    def wait(self) -> int:
        return self.constant

    def back_off(self) -> None:
        """Stay the same."""

    def sample(self, round_trip: int, una: int = 0, nxt: int = 0) -> None:
        self.newest = round_trip

    def syn_was_repeated(self) -> None:
        raise AssertionError("no SYN")


class SawTimeout:
    """minakhmetov2018, section 2; `tau` is the transmission time of a full segment."""

    excused, samples_repeated = 0, False

    def __init__(self, transport: dict[str, Any], tau: int) -> None:
        self.alpha: float = transport["alpha"]
        self.beta: float = transport["beta"]
        self.maximum: int = transport["max_timeout_ps"]
        self.t: int = transport["initial_timeout_ps"]
        self.newest = UNKNOWN
        # T'_i = T_i + p tau.
        self.longer = round_half_away(transport.get("p", 0.0) * tau)

    def wait(self) -> int:
        return self.t + self.longer

    def back_off(self) -> None:
        # T_i = alpha T_{i-1} up to a maximum.
        self.t = min(round_half_away(self.alpha * float(self.t)), self.maximum)

    def sample(self, round_trip: int, una: int = 0, nxt: int = 0) -> None:
        self.newest = round_trip
        # T_i = beta gamma + (1 - beta) T_{i-1}.
        self.t = round_half_away(self.beta * float(round_trip) + (1.0 - self.beta) * float(self.t))

    def syn_was_repeated(self) -> None:
        pass


class TcpTimeout:
    """RFC 6298, with its parameters free."""

    excused, samples_repeated = 0, False

    def __init__(self, transport: dict[str, Any]) -> None:
        self.initial: int = transport["initial_timeout_ps"]
        self.minimum: int = transport["min_timeout_ps"]
        self.maximum: int = transport["max_timeout_ps"]
        self.granularity: int = transport["clock_granularity_ps"]
        self.backoff: float = transport["backoff"]
        self.rto: int = self.initial
        self.srtt: float | None = None
        self.rttvar = 0.0
        self.newest = UNKNOWN
        self.tick = 1

    def smoothed(self) -> int | None:
        """SRTT."""
        return None if self.srtt is None else round_half_away(self.srtt)

    def wait(self) -> int:
        return self.rto

    def back_off(self) -> None:
        # Section 5, (5.5).
        self.rto = min(round_half_away(self.backoff * float(self.rto)), self.maximum)

    def sample(self, round_trip: int, una: int = 0, nxt: int = 0) -> None:
        self.newest = round_trip
        r = float(round_trip)
        if self.srtt is None:
            # Section 2, (2.2).
            self.srtt, self.rttvar = r, r / 2
        else:
            # Section 2, (2.3): beta = 1/4 and alpha = 1/8, the variance first.
            self.rttvar = 0.75 * self.rttvar + 0.25 * abs(self.srtt - r)
            self.srtt = 0.875 * self.srtt + 0.125 * r
        rto = round_half_away(self.srtt + max(float(self.granularity), 4 * self.rttvar))
        self.rto = min(max(rto, self.minimum), self.maximum)

    def syn_was_repeated(self) -> None:
        # Section 5, (5.7): 3 s where the initial timeout is 1 s.
        if self.initial < 3 * 10**12:
            self.rto = min(3 * self.initial, self.maximum)


class LinuxTimeout:
    """The rule of Linux, in whole us."""

    excused, samples_repeated = 1, True

    def __init__(self, transport: dict[str, Any]) -> None:
        def us(name: str, default: int = 0) -> int:
            given: int = transport.get(name, default)
            return -(-given // MICROSECOND)

        tick = us("timer_tick_ps", 4 * 10**9)
        least, most = us("min_timeout_ps"), us("max_timeout_ps")
        self.rule = LinuxRule(us("initial_timeout_ps"), least, most, tick)
        self.minimum, self.tick = self.rule.minimum * MICROSECOND, tick
        self.newest = UNKNOWN

    def smoothed(self) -> int | None:
        """SRTT."""
        return self.rule.srtt * (MICROSECOND // 8) or None

    def wait(self) -> int:
        return self.rule.rto * MICROSECOND

    def back_off(self) -> None:
        self.rule.back_off()

    def sample(self, round_trip: int, una: int = 0, nxt: int = 0) -> None:
        self.newest = round_trip
        self.rule.sample(round_trip // MICROSECOND, una, nxt)

    def syn_was_repeated(self) -> None:
        # 3 s, whatever the initial timeout (tcp_init_metrics).
        self.rule.rto = min(3_000_000, self.rule.maximum)
