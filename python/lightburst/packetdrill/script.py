"""A packetdrill script as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lightburst.foundation.errors import InputError, show


@dataclass(frozen=True)
class Time:
    """Time of a line, in microseconds.

    Attributes
    ----------
    kind : str
        ``absolute``, since the start; ``relative``, since the event before; ``any``, whenever it
        happens.
    start_us, end_us : int
        First and last moment; the same where no range is given.
    """

    kind: Literal["absolute", "relative", "any"]
    start_us: int = 0
    end_us: int = 0

    def after(self, now_us: int) -> tuple[int, int]:
        """Return the range in microseconds since the start of the script."""
        base = 0 if self.kind == "absolute" else now_us
        return base + self.start_us, base + self.end_us


@dataclass(frozen=True)
class Options:
    """TCP options of a segment; data counts as in the script.

    The byte counters of Accurate ECN (RFC 9768, section 3.2.3) are not kept.
    """

    mss: int | None = None
    sack_permitted: bool = False
    window_scale: int | None = None
    timestamp: tuple[int, int] | None = None
    sack: tuple[tuple[int, int], ...] = ()
    counts_bytes: bool = False


@dataclass(frozen=True)
class Packet:
    """A segment that arrives (`inbound`) or is expected.

    Attributes
    ----------
    inbound : bool
        Whether it arrives.
    flags : str
        Letters of S, F, R, P, U, A, W, E and the dot of an acknowledgement.
    start, length : int
        First sequence number and payload in bytes.
    acknowledgement, window : int or None
        As given.
    options : Options or None
        None where the script leaves them open.
    ecn : str
        Codepoint of the IP header: ``noecn``, ``ect0``, ``ect1``, ``ce``; empty if not given.
    """

    inbound: bool
    flags: str
    start: int
    length: int
    acknowledgement: int | None = None
    window: int | None = None
    options: Options | None = None
    ecn: str = ""

    @property
    def ace(self) -> int:
        """AE, CWR and ECE as a number (ACE of RFC 9768)."""
        return sum(
            bit for letter, bit in zip("AWE", (4, 2, 1), strict=True) if letter in self.flags
        )


@dataclass(frozen=True)
class Call:
    """A system call with its arguments and its result, as written."""

    name: str
    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Code:
    """Statements about the state of the sender."""

    text: str


@dataclass(frozen=True)
class Command:
    """Commands of a shell."""

    text: str


@dataclass(frozen=True)
class Line:
    """An event of a script."""

    number: int
    text: str
    time: Time
    action: Packet | Call | Code | Command


@dataclass(frozen=True)
class Script:
    """A script: its events in order, and the options at its head."""

    path: str
    lines: tuple[Line, ...]
    tolerance_us: int | None = None


def unknown(path: str, line: int, word: str, allowed: str) -> InputError:
    """Return the error of a word that is not known.

    Parameters
    ----------
    path : str
        File of the script.
    line : int
        Number of its line.
    word : str
        The word.
    allowed : str
        What might stand there.

    Returns
    -------
    InputError
        Names the file, the line and the word.
    """
    return InputError(f"{path}:{line}", show(word), allowed)
