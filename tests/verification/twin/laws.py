"""The window laws of `tcp` by name."""

import math
from typing import Any

from twin.real import ln, root


class Law:
    """A window that nothing moves: `cwnd` and `ssthresh` in bytes, as `m`, a full segment.

    That no growth goes beyond the advertised window is the sender's doing, and no law's.
    """

    #: Whether it wants reports.
    reports = False
    #: The acknowledgement that is being handled: when, its round-trip time (ps; None: it tells
    #: none), and whether it echoes a mark.
    now = 0
    rtt: int | None = None
    echo = False

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        self.settings: dict[str, Any] = transport["congestion_control"]
        self.m = float(m)
        self.advertised = float(transport["advertised_window_bytes"])
        self.cwnd = float(transport["initial_window_bytes"])
        self.ssthresh = 0.0

    def grow(self, acknowledged: int) -> None:
        """Answer the acknowledgement of so many new bytes."""

    def report(self, acknowledged: int, flight: int, *, recovering: bool) -> None:
        """Answer an acknowledgement of any kind, with `flight` bytes outstanding before it acts."""

    def loss(self, flight: int) -> None:
        """Answer a loss that is repaired without a timeout, with `flight` bytes outstanding."""

    def timeout(self, flight: int, repeated: bool) -> None:
        """Answer a timeout; `repeated`: nothing was acknowledged since the last one."""

    def lower_threshold(self, most: float) -> None:
        """RFC 5681, equation 4."""
        self.ssthresh = max(most, 2 * self.m)

    def restart(self, flight: int, repeated: bool, share: float = 0.5) -> None:
        """RFC 5681, section 3.1: what a timeout does."""
        if not repeated:
            self.lower_threshold(share * float(flight))
        self.cwnd = self.m


class StopAndWait(Law):
    """One segment, whatever happens."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.cwnd = self.m


class SlowStart(Law):
    """What begins with the slow start of RFC 5681, section 3.1, and avoids congestion then."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.ssthresh = math.inf

    def grow(self, acknowledged: int) -> None:
        if self.cwnd < self.ssthresh:
            # Equation 2.
            self.cwnd += min(float(acknowledged), self.m)
        else:
            self.avoid()

    def avoid(self) -> None:
        """Grow in congestion avoidance: by default as in equation 3."""
        self.cwnd += self.m * self.m / self.cwnd

    def timeout(self, flight: int, repeated: bool) -> None:
        self.restart(flight, repeated)


class Reno(SlowStart):
    """RFC 5681, section 3.1."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.halves_flight: bool = self.settings["halving"] == "flight-size"

    def loss(self, flight: int) -> None:
        half = self.halve(flight)
        self.cwnd = self.ssthresh if self.halves_flight else half

    def timeout(self, flight: int, repeated: bool) -> None:
        if not (self.halves_flight and repeated):
            self.halve(flight)
        self.cwnd = self.m

    def halve(self, flight: int) -> float:
        """Set the threshold; returns half of the window."""
        half = min(self.cwnd, self.advertised) / 2
        if self.halves_flight:
            self.lower_threshold(float(flight) / 2)
        else:
            # ns-2: its threshold is a whole number of segments.
            self.ssthresh = max(math.floor(half / self.m), 2) * self.m
        return half


class HighSpeed(SlowStart):
    """RFC 3649, section 5."""

    def avoid(self) -> None:
        w = math.floor(self.cwnd / self.m)
        self.cwnd += self.increase(w) * self.m * self.m / self.cwnd

    def loss(self, flight: int) -> None:
        b = self.decrease(math.floor(self.cwnd / self.m))
        self.lower_threshold((1.0 - b) * self.cwnd)
        self.cwnd = self.ssthresh

    def decrease(self, w: int) -> float:
        """b(w)."""
        if w <= 38:
            return 0.5
        share = (ln(float(w)) - ln(38.0)) / (ln(83_000.0) - ln(38.0))
        return max((0.1 - 0.5) * share + 0.5, 0.01)

    def increase(self, w: int) -> float:
        """a(w)."""
        b = self.decrease(w)
        return 0.078 * (w / root(float(w), 5)) * 2.0 * b / (2.0 - b) if w > 38 else 1.0


LAWS: dict[str, type[Law]] = {
    "highspeed": HighSpeed,
    "reno": Reno,
    "stop-and-wait": StopAndWait,
}
