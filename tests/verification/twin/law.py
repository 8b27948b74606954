"""A window law of `tcp`, and its reports."""

from dataclasses import dataclass
from typing import Any

#: Phases of a recovery.
OPEN, RECOVERY, LOSS = "open", "recovery", "loss"


@dataclass(frozen=True)
class Report:
    """An acknowledgement of any kind, handled by the recovery and not yet answered.

    Attributes
    ----------
    acknowledged : int
        New bytes that it acknowledges; 0 for a duplicate.
    flight : int
        Bytes outstanding when it came, without those.
    delivered : int
        Bytes newly known to have arrived, also by SACK blocks.
    lost : int
        Bytes that the recovery newly takes for lost; none of those of a timeout.
    phase : str
        ``open``, ``recovery`` or, after a timeout, ``loss``.
    application_limited : bool
        Whether no data is left to be sent though the window has room.
    """

    acknowledged: int
    flight: int
    delivered: int
    lost: int
    phase: str
    application_limited: bool


class Law:
    """A constant window: `cwnd` and `ssthresh` in bytes, as `m`, a full segment.

    The sender, and no law, limits the window to the advertised one.
    """

    #: Whether it wants reports.
    reports = False
    #: The acknowledgement that is being handled: its time, round-trip time (ps; None: it has none),
    #: whether it echoes a mark, and its delivery rate, as bytes and time.
    now = 0
    rtt: int | None = None
    echo = False
    #: The number of marked segments of which it tells, if they are counted.
    marks: int | None = None
    rate: tuple[int, int] | None = None
    #: End of the data sent.
    sent_to = 0

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        self.settings: dict[str, Any] = transport["congestion_control"]
        self.m = float(m)
        self.advertised = float(transport["advertised_window_bytes"])
        self.cwnd = float(transport["initial_window_bytes"])
        self.ssthresh = 0.0

    def sample(self, rtt: int, una: int, rate: int, paced: bool) -> None:
        """Take a round trip of `rtt` us, of a recovery that measures them."""

    def sent(self, alone: bool) -> None:
        """Note a new segment; `alone`: nothing else is in the network."""

    def grow(self, acknowledged: int) -> None:
        """Answer an acknowledgement of new bytes."""

    def report(self, report: Report) -> None:
        """Answer an acknowledgement of any kind."""

    def loss(self, flight: int) -> None:
        """Answer a loss that is repaired without a timeout, with `flight` bytes outstanding."""

    def mark(self, flight: int) -> None:
        """Answer an echo of a mark that counts as a loss."""
        self.loss(flight)

    def spurious(self) -> None:
        """Undo the state of the last, false loss; the window is restored already."""

    def timeout(self, flight: int, repeated: bool) -> None:
        """Answer a timeout; `repeated`: no data was acknowledged since the last one."""

    def lower_threshold(self, most: float) -> None:
        """RFC 5681, equation 4."""
        self.ssthresh = max(most, 2 * self.m)

    def restart(self, threshold: float, repeated: bool) -> None:
        """RFC 5681, section 3.1: the answer to a timeout."""
        if not repeated:
            self.lower_threshold(threshold)
        self.cwnd = self.m
