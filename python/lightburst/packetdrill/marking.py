"""Explicit congestion notification of a connection (RFC 3168; Accurate ECN, RFC 9768)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from lightburst.packetdrill.segments import letters

if TYPE_CHECKING:
    from lightburst.packetdrill.script import Packet

Mode = Literal["none", "classic", "accurate"]

_ASKS: Final[tuple[Mode, ...]] = ("none", "classic", "none", "accurate", "classic", "none")
"""What the kernel asks for, by the number of `net.ipv4.tcp_ecn`."""
_ACCEPTS: Final[tuple[Mode, ...]] = ("none", "classic", "classic", *("accurate",) * 3)
"""The most that it accepts."""
MOST: Final = len(_ASKS) - 1
"""Largest number of `net.ipv4.tcp_ecn`."""
_VALUES: Final = 8
_FIRST: Final = 5
_CLASSIC: Final = 3
# Values of a SYN+ACK (RFC 9768, table 2).
_REFUSED: Final = (0, 7)
_ANSWERED_CLASSIC: Final = 1
_RESERVED: Final = 5
_UNTOUCHED: Final = 2


class Marking:
    """What both ends agreed to, and the codepoints and flags of the segments that leave."""

    def __init__(self) -> None:
        self.mode: Mode = "none"
        self._asked: Mode = "none"
        self._marked_at: list[int] = []

    def ask(self, setting: int) -> str:
        """Return the flags of a SYN (RFC 9768, section 3.1.1)."""
        self._asked = _ASKS[setting]
        return {"none": "S", "classic": "SEW", "accurate": "SEWA"}[self._asked]

    def on_syn(self, setting: int, syn: Packet) -> str:
        """Return the flags of the answer to a SYN (RFC 9768, sections 3.1.2 and 3.1.3)."""
        accepts = _ACCEPTS[setting]
        if accepts == "accurate" and syn.ace not in (0, _CLASSIC):
            self.mode = "accurate"
            return f"S{letters(_reflected(syn))}."
        # RFC 3168, section 6.1.1.
        if accepts != "none" and syn.ace & _CLASSIC == _CLASSIC:
            self.mode = "classic"
        return "SE." if self.mode == "classic" else "S."

    def on_answer(self, at_ps: int, packet: Packet) -> str:
        """End the handshake; return the flags of the acknowledgement of a SYN+ACK."""
        if "S" in packet.flags:
            classic = self._asked == "classic" and packet.ace & _CLASSIC == _ANSWERED_CLASSIC
            if self._asked == "accurate":
                # RFC 9768, table 2.
                classic = packet.ace == _ANSWERED_CLASSIC
                if not classic and packet.ace not in _REFUSED:
                    self.mode = "accurate"
            self.mode = "classic" if classic else self.mode
        self.hear(at_ps, packet)
        # RFC 9768, table 3.
        return f"{letters(_reflected(packet))}." if self.mode == "accurate" else "."

    def mangled(self, packet: Packet) -> str | None:
        """Return what may stand in the place of a handshake's flags that are not simulated.

        The kernel then sends without codepoints, and answers no marks (RFC 9768, section 3.2.2.3).
        """
        if "S" in packet.flags:
            if self._asked != "accurate" or packet.ace in _REFUSED:
                return None
            if packet.ace == _RESERVED:
                return "no reserved value (A and E), of which kernels differ in the meaning"
            broken = packet.ecn == "ce" and packet.ace not in (_ANSWERED_CLASSIC, _UNTOUCHED)
        else:
            broken = self.mode == "accurate" and packet.ace in (0, 3, 4, 6)
        return "W, since our segment had no codepoint" if broken else None

    def hear(self, at_ps: int, packet: Packet) -> None:
        """Note a segment that arrives: those without data count as well (section 3.2.2.2)."""
        if packet.ecn == "ce" and self.mode == "accurate":
            self._marked_at.append(at_ps)

    def codepoint(self, *, again: bool) -> str:
        """Return the codepoint of a segment with data, which was sent before or not."""
        # RFC 3168, section 6.1.5: none of a retransmission. With counts Linux sends all segments
        # with one, those without data as well (`tcp_ecn_send`).
        return "noecn" if self.mode == "none" or (again and self.mode == "classic") else "ect0"

    @property
    def codepoint_without_data(self) -> str:
        """Codepoint of a segment without data, after the handshake."""
        return "ect0" if self.mode == "accurate" else "noecn"

    def flags(self, at_ps: int, *, reduced: bool = False) -> str:
        """Return the flags of a segment after the handshake; `reduced` if it may have CWR."""
        if self.mode == "accurate":
            return letters((_FIRST + self.marked(at_ps)) % _VALUES)
        return "W" if reduced and self.mode == "classic" else ""

    def marked(self, at_ps: int) -> int:
        """Return the number of marked segments that arrived up to a time."""
        return sum(one <= at_ps for one in self._marked_at)


def _reflected(packet: Packet) -> int:
    """Return the field that tells of the codepoint of a handshake's segment (tables 2 and 3)."""
    return {"ect1": 3, "ect0": 4, "ect01": 4, "ce": 6}.get(packet.ecn, _UNTOUCHED)
