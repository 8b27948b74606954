"""Text of a script to its events."""

from __future__ import annotations

import re

from lightburst.foundation.errors import InputError
from lightburst.packetdrill import segments
from lightburst.packetdrill.script import Call, Code, Command, Line, Packet, Script, Time, unknown

_NUMBER = r"(?:\d*\.\d+|\d+)"
_TIME = re.compile(
    rf"(?P<any>\*)|(?P<plus>\+?)(?P<start>{_NUMBER})"
    rf"(?:~\+?(?P<end>{_NUMBER}))?(?:\s*\.\.\.\s*\+?{_NUMBER})?"
)
_BLANK = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*(?=\s*\()")
_OPTION = re.compile(r"--(?P<name>\w+)(?:=(?P<value>\S*))?[^\n]*")
_ACTIONS = "a segment after '<' or '>', a system call, `commands` or %{ code }%"
# Options that choose addresses or the check of what a kernel says, not what a sender does.
_NO_MATTER = re.compile(
    "bind_port|connect_port|connection_timeout|gateway_ip|ip_version|local_ip|mss|mtu|netmask_ip|"
    "remote_ip|send_omit_free|speed|non_fatal|tcp_ts_tick_usecs|verbose"
)
_MICROSECONDS = 1_000_000
# In seconds: a script of many lines stays far from the end of the clock.
_LONGEST = 10_000


def parse(path: str, text: str) -> Script:
    """Parse a script.

    Parameters
    ----------
    path : str
        Name of the file, for messages.
    text : str
        Its content.

    Returns
    -------
    Script
        Its events.

    Raises
    ------
    InputError
        If a word is not known; names the file, the line and the word.
    """
    return _Parser(path, text).script()


class _Parser:
    def __init__(self, path: str, text: str) -> None:
        self.path, self.text, self.place = path, text, 0
        self.tolerance: int | None = None

    @property
    def number(self) -> int:
        return self.text.count("\n", 0, self.place) + 1

    def refuse(self, word: str, allowed: str) -> InputError:
        return unknown(self.path, self.number, word, allowed)

    def skip(self) -> None:
        if found := _BLANK.match(self.text, self.place):
            self.place = found.end()

    def word(self) -> str:
        """Return the word in hand, for a message."""
        return (self.text[self.place :].split(None, 1) or ["end of the file"])[0]

    def script(self) -> Script:
        lines: list[Line] = []
        self.skip()
        while found := _OPTION.match(self.text, self.place):
            self.option(found["name"], found["value"])
            self.place = found.end()
            self.skip()
        while self.place < len(self.text):
            lines.append(self.line())
            self.skip()
        return Script(self.path, tuple(lines), self.tolerance)

    def option(self, name: str, value: str | None) -> None:
        if name == "tolerance_usecs":
            if not re.fullmatch(r"[0-9]+", value or ""):
                raise self.refuse(f"--{name}={value}", "a number of microseconds")
            self.tolerance = int(value or "0")
        elif not _NO_MATTER.fullmatch(name):
            raise self.refuse(f"--{name}", "--tolerance_usecs=N")

    def line(self) -> Line:
        number, begin = self.number, self.place
        time = Time("relative")
        if self.text[self.place] != "`":
            time = self.time()
            self.skip()
        action = self.action()
        text = " ".join(self.text[begin : self.place].split("//")[0].split())
        return Line(number, text, time, action)

    def time(self) -> Time:
        found = _TIME.match(self.text, self.place)
        if not found:
            raise self.refuse(self.word(), "a time, such as 0, +.1, +.3~+.31 or *")
        if max(float(found["start"] or 0), float(found["end"] or 0)) > _LONGEST:
            raise self.refuse(found[0], f"a time of at most {_LONGEST} s")
        self.place = found.end()
        if found["any"]:
            return Time("any")
        start = round(float(found["start"]) * _MICROSECONDS)
        end = start if found["end"] is None else round(float(found["end"]) * _MICROSECONDS)
        return Time("relative" if found["plus"] else "absolute", start, end)

    def action(self) -> Packet | Call | Code | Command:
        text, place = self.text, self.place
        if text.startswith(("<", ">"), place):
            return segments.parse(self.path, self.number, self.rest_of_line())
        if text.startswith("`", place):
            return Command(self.until("`", 1))
        if text.startswith("%{", place):
            return Code(self.until("}%", 2))
        if found := _NAME.match(text, place):
            self.place = text.index("(", found.end()) + 1
            arguments = self.arguments()
            return Call(found[0], arguments, self.result())
        raise self.refuse(self.word(), _ACTIONS)

    def rest_of_line(self) -> str:
        end = self.text.find("\n", self.place)
        end = len(self.text) if end < 0 else end
        rest = self.text[self.place : end]
        self.place = end
        return rest.split("//")[0].split("#")[0].strip()

    def until(self, mark: str, opening: int) -> str:
        """Take the text up to a closing mark."""
        begin = self.place + opening
        end = self.text.find(mark, begin)
        if end < 0:
            raise self.refuse(self.word(), f"an end, {mark}")
        self.place = end + len(mark)
        return self.text[begin:end]

    def arguments(self) -> tuple[str, ...]:
        """Take the arguments of a call, after its opening bracket."""
        found, depth, begin, quoted = [], 0, self.place, False
        for place in range(self.place, len(self.text)):
            letter = self.text[place]
            if letter == '"':
                quoted = not quoted
            elif quoted:
                continue
            elif letter in "([{":
                depth += 1
            elif depth and letter in ")]}":
                depth -= 1
            elif letter == ")" or (letter == "," and not depth):
                found.append(self.text[begin:place].strip())
                begin = place + 1
                if letter == ")":
                    self.place = begin
                    return tuple(filter(None, found))
        raise self.refuse(self.word(), "a closing bracket")

    def result(self) -> str:
        self.skip()
        if not self.text.startswith("=", self.place):
            raise self.refuse(self.word(), "'=' and the result of the call")
        self.place += 1
        return self.rest_of_line()
