"""The window laws of `tcp` by name."""

import math
from typing import Any


class Law:
    """A window that nothing moves: `cwnd` and `ssthresh` in bytes, as `m`, a full segment.

    That no growth goes beyond the advertised window is the sender's doing, and no law's.
    """

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        self.settings: dict[str, Any] = transport["congestion_control"]
        self.m = float(m)
        self.advertised = float(transport["advertised_window_bytes"])
        self.cwnd = float(transport["initial_window_bytes"])
        self.ssthresh = 0.0

    def grow(self, acknowledged: int) -> None:
        """Answer the acknowledgement of so many new bytes."""

    def loss(self, flight: int) -> None:
        """Answer a loss that is repaired without a timeout, with `flight` bytes outstanding."""

    def timeout(self, flight: int, repeated: bool) -> None:
        """Answer a timeout; `repeated`: nothing was acknowledged since the last one."""


class StopAndWait(Law):
    """One segment, whatever happens."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.cwnd = self.m


class Reno(Law):
    """RFC 5681, section 3.1."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.ssthresh = math.inf
        self.halves_flight: bool = self.settings["halving"] == "flight-size"

    def grow(self, acknowledged: int) -> None:
        if self.cwnd < self.ssthresh:
            # Equation 2.
            self.cwnd += min(float(acknowledged), self.m)
        else:
            # Equation 3.
            self.cwnd += self.m * self.m / self.cwnd

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
            # Equation 4.
            self.ssthresh = max(float(flight) / 2, 2 * self.m)
        else:
            # ns-2: its threshold is a whole number of segments.
            self.ssthresh = max(math.floor(half / self.m), 2) * self.m
        return half


LAWS: dict[str, type[Law]] = {
    "reno": Reno,
    "stop-and-wait": StopAndWait,
}
