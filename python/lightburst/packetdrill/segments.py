"""Segments of a script: ``< . 1:1(0) ack 1001 win 257 <sack 2001:3001,nop,nop>``."""

from __future__ import annotations

import re

from lightburst.foundation.errors import InputError
from lightburst.packetdrill.script import Options, Packet, unknown

_FLAGS = "SFRPEWUA."
# The field ACE of RFC 9768, section 3.2.2, as a number in the place of the letters A, W and E.
_COUNTED = re.compile(r"([SFRPU.]*)([0-7])([SFRPU.]*)")
_CODEPOINTS = ("noecn", "ect0", "ect1", "ect01", "ce")
_SEQUENCE = re.compile(r"([0-9]{1,10}):([0-9]{1,10})\(([0-9]{1,10})\)")
# Numbers of 32 bits; the least MSS of Linux; the largest window scale of RFC 7323, section 2.3.
_LARGEST = 2**32 - 1
_LEAST_SEGMENT = 88
_LARGEST_SEGMENT = 65_535
_MOST_SCALED = 14
_WORDS = re.compile(r"<[^>]*>|\[[^\]]*\]|\S+")
_COUNTERS = ("e0b", "ceb", "e1b")
_OPTIONS = (
    "mss N, sackOK, sack A:B ..., TS val N ecr N, wscale N, ECN e0b N ceb N e1b N, nop, eol or ..."
)
_REST = "'ack N', 'win N' or options in angle brackets"


class _Words:
    """Words of a line, taken one by one."""

    def __init__(self, path: str, line: int, words: list[str]) -> None:
        self.path, self.line, self.words = path, line, words

    def refuse(self, word: str, allowed: str) -> InputError:
        return unknown(self.path, self.line, word, allowed)

    def take(self, allowed: str) -> str:
        if not self.words:
            raise self.refuse("end of the line", allowed)
        return self.words.pop(0)

    def number(self, of: str, least: int = 0, most: int = _LARGEST) -> int:
        """Take the number that follows a word."""
        allowed = f"a number from {least} to {most} after {of!r}"
        word = self.take(allowed)
        if not re.fullmatch(r"[0-9]{1,10}", word) or not least <= int(word) <= most:
            raise self.refuse(word, allowed)
        return int(word)


def parse(path: str, line: int, text: str) -> Packet:
    """Parse a segment.

    Parameters
    ----------
    path : str
        File of the script.
    line : int
        Number of the line.
    text : str
        The line from ``<`` or ``>`` on, without a comment.

    Returns
    -------
    Packet
        The segment.

    Raises
    ------
    InputError
        If a word is not known.
    """
    words = _Words(path, line, _WORDS.findall(text[1:]))
    ecn = ""
    if words.words and words.words[0].startswith("["):
        ecn = words.take("").strip("[] ")
        if ecn not in _CODEPOINTS:
            raise words.refuse(ecn, f"one of {', '.join(_CODEPOINTS)}")
    flags = words.take("flags")
    if counted := _COUNTED.fullmatch(flags):
        flags = counted[1] + letters(int(counted[2])) + counted[3]
    if not set(flags) <= set(_FLAGS):
        allowed = f"a TCP segment, with flags of {_FLAGS!r}, or a number from 0 to 7 for A, W and E"
        raise words.refuse(flags, allowed)
    sequence = words.take("a sequence")
    found = _SEQUENCE.fullmatch(sequence)
    if not found or int(found[2]) - int(found[1]) != int(found[3]):
        raise words.refuse(sequence, "start:end(length), with end - start = length")
    acknowledgement = window = None
    options: Options | None = None
    given = False
    while words.words:
        word = words.take(_REST)
        if word == "ack":
            acknowledgement = words.number(word)
        elif word == "win":
            window = words.number(word)
        elif word.startswith("<"):
            given = True
            options = _options(path, line, word[1:-1])
        else:
            raise words.refuse(word, _REST)
    inbound = text[0] == "<"
    if inbound and not given:
        options = Options()
    return Packet(
        inbound, flags, int(found[1]), int(found[3]), acknowledgement, window, options, ecn
    )


def letters(field: int) -> str:
    """Return the flags AE, CWR and ECE (ACE of RFC 9768) of a number, as letters."""
    return "".join(letter for letter, bit in zip("AWE", (4, 2, 1), strict=True) if field & bit)


def _options(path: str, line: int, text: str) -> Options | None:
    """Return the options between the brackets; None for three dots."""
    if text.strip() == "...":
        return None
    options: dict[str, object] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        words = _Words(path, line, one.split())
        word = words.take(_OPTIONS)
        if word in ("nop", "eol"):
            pass
        elif word == "mss":
            options["mss"] = words.number(word, _LEAST_SEGMENT, _LARGEST_SEGMENT)
        elif word == "wscale":
            options["window_scale"] = words.number(word, 0, _MOST_SCALED)
        elif word == "sackOK":
            options["sack_permitted"] = True
        elif word == "TS":
            options["timestamp"] = (_stamp(words, "val"), _stamp(words, "ecr"))
        elif word == "sack":
            options["sack"] = _blocks(words)
        elif word == "ECN":
            options["counts_bytes"] = _pass_counters(words)
        else:
            raise words.refuse(word, _OPTIONS)
        if words.words:
            raise words.refuse(words.words[0], _OPTIONS)
    return Options(**options)  # type: ignore[arg-type]


def _stamp(words: _Words, name: str) -> int:
    if (given := words.take(f"'{name} N'")) != name:
        raise words.refuse(given, f"'{name} N'")
    return words.number(name)


def _pass_counters(words: _Words) -> bool:
    while words.words and words.words[0] in _COUNTERS:
        words.number(words.take(""))
    return True


def _blocks(words: _Words) -> tuple[tuple[int, int], ...]:
    blocks = []
    while words.words:
        found = re.fullmatch(r"([0-9]{1,10}):([0-9]{1,10})", word := words.take(""))
        if not found or int(found[1]) >= int(found[2]):
            raise words.refuse(word, "start:end, with start < end")
        blocks.append((int(found[1]), int(found[2])))
    return tuple(blocks)
