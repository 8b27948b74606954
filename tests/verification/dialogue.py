"""A script of packetdrill, line by line, for cases that need many alike."""

from __future__ import annotations

from lightburst.packetdrill import Outcome, parse, run

MSS = 1000


class Dialogue:
    """A server that sends to a peer with a round trip of `round_trip_ms`.

    Parameters
    ----------
    round_trip_ms : int
        Round trip of the handshake.
    settings : str
        Settings of the kernel, as `name=value` words below `net.ipv4`.
    law : str
        Window law.
    """

    def __init__(self, round_trip_ms: int = 200, settings: str = "", law: str = "reno") -> None:
        words = " ".join(f"net.ipv4.{word}" for word in settings.split())
        self.lines = [
            f"`sysctl -q net.ipv4.tcp_congestion_control={law} {words}`",
            "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
            "+0 listen(3, 1) = 0",
            "+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 6>",
            "+0 > S. 0:0(0) ack 1 <...>",
            f"+{round_trip_ms / 1000} < . 1:1(0) ack 1 win 1000",
            "+0 accept(3, ..., ...) = 4",
        ]
        self.written = 0

    def add(self, line: str) -> None:
        """Add a line."""
        self.lines.append(line)

    def write(self, segments: int, after_ms: float = 0, sent: int | None = None) -> int:
        """Write segments, of which `sent` leave, by default all; return the first one."""
        first = self.written
        self.written += segments
        size = segments * MSS
        self.add(f"+{after_ms / 1000} write(4, ..., {size}) = {size}")
        for number in range(first, first + (segments if sent is None else sent)):
            self.sent(number, 0)
        return first

    def sent(self, number: int, after_ms: float) -> None:
        """Expect a segment."""
        start = 1 + number * MSS
        self.add(f"+{after_ms / 1000} > . {start}:{start + MSS}({MSS}) ack 1")

    def ack(self, next_one: int, *blocks: tuple[int, int], after_ms: float) -> None:
        """Let an acknowledgement arrive; blocks of segments from the first to before the second."""
        sack = " ".join(f"{1 + first * MSS}:{1 + end * MSS}" for first, end in blocks)
        options = f" <sack {sack}>" if blocks else ""
        self.add(f"+{after_ms / 1000} < . 1:1(0) ack {1 + next_one * MSS} win 1000{options}")

    def holds(self, assertion: str) -> None:
        """Assert something about the state."""
        self.add(f"+0 %{{ assert {assertion}, {assertion.split()[0]} }}%")

    def end(self) -> Outcome:
        """Carry it out."""
        return run(parse("dialogue.pkt", "\n".join(self.lines)))

    def passes(self) -> None:
        """Assert that all is as expected."""
        outcome = self.end()
        assert outcome.passed, str(outcome)
