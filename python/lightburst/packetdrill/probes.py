"""Probes of a receive window that is closed (RFC 9293, section 3.8.6.1), as in Linux."""

from __future__ import annotations

from typing import Final

# As many as a script could await.
_MOST: Final = 16
_LONGEST_US: Final = 120_000_000
LEAST_US: Final = 200_000
"""Shortest wait for a probe."""
_TICK_US: Final = 4_000


class Probes:
    """Times of the probes that follow, unless something is heard."""

    def __init__(self) -> None:
        self.times_us: list[int] = []
        self.unanswered = 0
        self._sent = 0

    def closed(self, now_us: int, timeout_us: int) -> None:
        """Note an event after which data waits for the window, and nothing is outstanding.

        The first probe comes after a timeout, each later one after twice the time
        (`tcp_probe0_when`).
        """
        at, self.times_us = now_us, []
        for number in range(self._sent, self._sent + _MOST):
            wait = min(max(timeout_us, LEAST_US) << number, _LONGEST_US)
            at += -(-wait // _TICK_US) * _TICK_US
            self.times_us.append(at)

    def take(self, until_us: int) -> list[int]:
        """Return the times of the probes sent up to a time; they follow no more."""
        sent = [at for at in self.times_us if at <= until_us]
        self.times_us = self.times_us[len(sent) :]
        self._sent += len(sent)
        self.unanswered += len(sent)
        return sent

    def answered(self) -> None:
        """Note an acknowledgement, whatever its window (`icsk_probes_out`)."""
        self.unanswered = 0

    def open(self) -> None:
        """Note that nothing waits for the window."""
        self.times_us, self._sent = [], 0
