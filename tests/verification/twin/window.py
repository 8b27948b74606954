"""The window law `reno`: RFC 5681, section 3.1."""

import math
from typing import Any


class Window:
    """Congestion window and slow-start threshold, in bytes."""

    def __init__(self, transport: dict[str, Any], most: int) -> None:
        self.m = float(most)
        self.advertised = float(transport["advertised_window_bytes"])
        self.halves_flight: bool = transport["congestion_control"]["halving"] == "flight-size"
        self.cwnd = float(transport["initial_window_bytes"])
        self.ssthresh = math.inf

    def grow(self, acknowledged: int) -> None:
        """Open the window by an acknowledgement of new data."""
        if self.cwnd < self.ssthresh:
            # Equation 2.
            self.cwnd += min(float(acknowledged), self.m)
        else:
            # Equation 3.
            self.cwnd += self.m * self.m / self.cwnd
        self.cwnd = min(self.cwnd, self.advertised)

    def loss(self, flight: int) -> None:
        """Halve."""
        half = self.halve(flight)
        self.cwnd = self.ssthresh if self.halves_flight else half

    def timeout(self, flight: int, repeated: bool) -> None:
        """Begin again with one segment."""
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
