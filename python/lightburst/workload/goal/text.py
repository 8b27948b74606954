"""Reads GOAL schedules as text: ``num_ranks``, then the operations of ranks and what they wait for.

The grammar is that of txt2bin of LogGOPSim (github.com/spcl/LogGOPSim, src/LogGOPSim/txt2bin.re).
"""

from __future__ import annotations

import re
from array import array
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.foundation.errors import InputError, show
from lightburst.workload.goal.schedule import CALC, PATH, RECV, SEND, Schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Estimated memory while reading, in bytes, per byte of the file.
EXPANSION: Final = 12
# Characters that are taken apart at once.
_AT_ONCE = 2**20

_STATEMENT = re.compile(
    r"""^[ \t]*(?:
        (?:([A-Za-z][A-Za-z0-9_]*)[ \t]*:[ \t]*)?
        (?:(calc)[ \t]+(\d{1,18})
            | (send|recv)[ \t]+(\d{1,18})[ \t]*b[ \t]+(to|from)[ \t]+(-?\d{1,18})
            (?:[ \t]+tag[ \t]+(-?\d{1,18}))?)
        (?:[ \t]+cpu[ \t]+(\d{1,18}))? (?:[ \t]+nic[ \t]+(\d{1,18}))?
        | ([A-Za-z][A-Za-z0-9_]*)[ \t]+(i?requires)[ \t]+([A-Za-z][A-Za-z0-9_]*)
        | (num_ranks|rank)[ \t]+(\d{1,18})[ \t]*(\{)?
        | (\})
    )?[ \t\r]*(.*)$""",
    re.VERBOSE | re.MULTILINE | re.ASCII,
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Parts of a line that has several statements.
_PARTS = re.compile(r"[^;{}]*\{|[^;{}]+|\}")


def read_text(file: Path) -> Schedule:
    """Read a schedule that is text.

    Parameters
    ----------
    file : Path
        Text in GOAL.

    Returns
    -------
    Schedule

    Raises
    ------
    InputError
        If the file cannot be read as such; the message has the line, counted from 1.
    """
    try:
        # Comments may have any characters; statements are matched as ASCII.
        text = file.read_text(encoding="latin-1")
    except OSError as error:
        reason = str(error).partition("\n")[0]
        raise InputError(PATH, f"{file} ({reason})", "a GOAL file") from None
    if "/" in text:
        text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return _Reader(file).read(text)


class _Reader:
    """Takes statements one after the other."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ranks: int | None = None
        self._rank = -1
        self._seen: set[int] = set()
        self._labels: dict[str, int] = {}
        # Dependencies of the present rank, whose labels are looked up at its end.
        self._wanted: list[tuple[str, str, str, int]] = []
        # Rows of operations and of dependencies, one after the other.
        self._operations = array("q")
        self._number = 0
        self._dependencies = array("q")

    def read(self, text: str) -> Schedule:
        line = 0
        for rows, chunk in _chunks(text):
            lines: list[str] = []
            for place, row in enumerate(rows):
                line += 1
                if row[-1]:
                    lines = lines or chunk().split("\n")
                    self._several(lines[place], line)
                else:
                    self._take(row, line)
        if self._rank >= 0:
            raise self._wrong(line, "the end of the file", f"'}}' after rank {self._rank}")
        if self._ranks is None:
            raise self._wrong(line, "the end of the file", "'num_ranks' and a number")
        found = np.array(self._operations, np.int64).reshape(-1, 8)
        rank, kind, value, peer, tag, cpu, nic, at = found.T.copy()
        needed, by, begin = np.array(self._dependencies, np.int64).reshape(-1, 3).T.copy()
        operations = rank, kind, value, peer, tag, cpu, nic, at, needed, by, begin.astype(bool)
        return Schedule(self._file, self._ranks, *operations)

    def _take(self, row: tuple[str, ...], line: int) -> None:
        label, calc, time, message, size, way, peer, tag, cpu, nic, *rest = row
        first, how, second, word, number, brace, close, _ = rest
        if message or calc:
            if message and (message == "send") != (way == "to"):
                raise self._wrong(
                    line, f"'{message} ... {way}'", "'send ... to' or 'recv ... from'"
                )
            kind = CALC if calc else SEND if message == "send" else RECV
            self._add(kind, label, (time or size, peer or 0, tag or 0, cpu or 0, nic or 0), line)
        elif how:
            self._wanted.append((first, how, second, line))
        elif word or close:
            self._heading(word, number, brace, line)

    def _several(self, text: str, line: int) -> None:
        """Take a line apart that is not one statement."""
        for part in _PARTS.findall(text):
            found = _STATEMENT.match(part.strip())
            assert found is not None
            groups = tuple(one or "" for one in found.groups())
            if groups[-1]:
                allowed = (
                    "'calc N', 'send Nb to R', 'recv Nb from R' (then 'tag', 'cpu', 'nic'), "
                    "'L requires L', 'L irequires L', 'rank R {', '}' or 'num_ranks N'"
                )
                raise self._wrong(line, show(part.strip()), allowed)
            self._take(groups, line)

    def _heading(self, word: str, number: str, brace: str, line: int) -> None:
        """Begin or end a rank, or note the number of ranks."""
        if word == "num_ranks":
            if self._ranks is not None or brace or not 2 <= int(number) <= 2**31:
                raise self._wrong(line, f"'num_ranks {number}'", "one number of 2 or more")
            self._ranks = int(number)
        elif word == "rank":
            rank = int(number)
            if self._rank >= 0 or not brace or self._ranks is None:
                allowed = "'rank R {' after 'num_ranks' and after the '}' of the rank before"
                raise self._wrong(line, f"'rank {number}'", allowed)
            if rank >= self._ranks or rank in self._seen:
                allowed = f"each rank from 0 to {self._ranks - 1} once"
                raise self._wrong(line, f"'rank {number}'", allowed)
            self._rank = rank
            self._seen.add(rank)
        elif self._rank < 0:
            raise self._wrong(line, "'}'", "'rank R {' before it")
        else:
            self._look_up()
            self._rank = -1

    def _add(self, kind: int, label: str, given: tuple[Any, ...], line: int) -> None:
        """Add an operation of the present rank."""
        if self._rank < 0:
            raise self._wrong(line, "an operation", "'rank R {' before it")
        value, peer, tag, cpu, nic = map(int, given)
        if label:
            if label in self._labels:
                raise self._wrong(line, f"label '{label}'", f"a label that rank {self._rank} lacks")
            self._labels[label] = self._number
        self._operations.extend((self._rank, kind, value, peer, tag, cpu, nic, line))
        self._number += 1

    def _look_up(self) -> None:
        """Find the operations of the dependencies of the present rank."""
        labels, add = self._labels, self._dependencies.extend
        for one, how, other, line in self._wanted:
            try:
                add((labels[other], labels[one], how == "irequires"))
            except KeyError as missing:
                allowed = f"a label of an operation of rank {self._rank}"
                raise self._wrong(line, f"label '{missing.args[0]}'", allowed) from None
        self._wanted.clear()
        labels.clear()

    def _wrong(self, line: int, given: str, allowed: str) -> InputError:
        return InputError(PATH, f"{given} in line {line} of {self._file}", allowed)


def _chunks(text: str) -> Iterator[tuple[list[tuple[str, ...]], Callable[[], str]]]:
    """Yield the matches of all lines with their text, some at a time to limit memory."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + _AT_ONCE)
        end = len(text) if end < 0 else end
        yield _STATEMENT.findall(text, begin, end), partial(text.__getitem__, slice(begin, end))
        begin = end + 1
