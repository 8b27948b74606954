"""Segments of a script: ``< . 1:1(0) ack 1001 win 257 <sack 2001:3001,nop,nop>``."""

from __future__ import annotations

import re

from lightburst.foundation.errors import InputError
from lightburst.packetdrill.script import Options, Packet, unknown

_FLAGS = "SFRPEWU."
_CODEPOINTS = ("noecn", "ect0", "ect1", "ect01", "ce")
_SEQUENCE = re.compile(r"([0-9]{1,10}):([0-9]{1,10})\(([0-9]{1,10})\)")
# Numbers of 32 bits; the least MSS of Linux; the largest window scale of RFC 7323, section 2.3.
_LARGEST = 2**32 - 1
_LEAST_SEGMENT = 88
_LARGEST_SEGMENT = 65_535
_MOST_SCALED = 14
_WORDS = re.compile(r"<[^>]*>|\[[^\]]*\]|\S+")
_OPTIONS = "mss N, sackOK, sack A:B ..., TS val N ecr N, wscale N, nop, eol or ..."
_NO_ACCURATE_ECN = "neither the flags nor the option of Accurate ECN (RFC 9768)"
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
    if re.search("[A0-9]", flags) and set(flags) <= {*_FLAGS, *"A0123456789"}:
        raise words.refuse(flags, _NO_ACCURATE_ECN)
    if not set(flags) <= set(_FLAGS):
        raise words.refuse(flags, f"a TCP segment, with flags of {_FLAGS!r}")
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
            stamps = []
            for name in ("val", "ecr"):
                if (given := words.take(f"'{name} N'")) != name:
                    raise words.refuse(given, f"'{name} N'")
                stamps.append(words.number(name))
            options["timestamp"] = (stamps[0], stamps[1])
        elif word == "sack":
            options["sack"] = _blocks(words)
        else:
            raise words.refuse(word, _NO_ACCURATE_ECN if word == "ECN" else _OPTIONS)
        if words.words:
            raise words.refuse(words.words[0], _OPTIONS)
    return Options(**options)  # type: ignore[arg-type]


def _blocks(words: _Words) -> tuple[tuple[int, int], ...]:
    blocks = []
    while words.words:
        found = re.fullmatch(r"([0-9]{1,10}):([0-9]{1,10})", word := words.take(""))
        if not found or int(found[1]) >= int(found[2]):
            raise words.refuse(word, "start:end, with start < end")
        blocks.append((int(found[1]), int(found[2])))
    return tuple(blocks)
