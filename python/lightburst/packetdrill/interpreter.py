"""A script carried out against the sender."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import InputError
from lightburst.packetdrill import shell, statements
from lightburst.packetdrill.connection import STATES, Connection, Segment
from lightburst.packetdrill.kernel import LAWS, Kernel
from lightburst.packetdrill.outcome import Difference, Outcome
from lightburst.packetdrill.script import Call, Code, Command, Line, Packet, Script, unknown
from lightburst.packetdrill.sender import MICROSECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE_US: Final = 4_000
"""Tolerance of packetdrill."""
TIMER_TOLERANCE_US: Final = 12_000
"""Tolerance of what a timer releases: two ticks of 4 ms more, in which kernels differ."""
LONG_TIMER_US: Final = 63 * 4_000
"""Shortest timer that the kernel rounds up by as much as an eighth."""
_PERCENT: Final = 100
_LARGEST_WRITE: Final = 1 << 30
# Time for which a segment is awaited beyond the moment at which it is expected.
_PATIENCE_US: Final = 60_000_000

_WRITES: Final = ("write", "send", "sendto", "sendmsg", "writev", "sendfile")
_ORDER: Final = "SFRPUEWA."
_NO_MATTER: Final = (
    "socket|bind|accept|fcntl|getsockopt|ioctl|poll|epoll_create|epoll_ctl|epoll_wait|read|recv"
)
_SOCKET_OPTIONS: Final = (
    "SO_KEEPALIVE|SO_LINGER|SO_PRIORITY|SO_RCVBUF|SO_REUSEADDR|SO_SNDBUF|IP_MTU_DISCOVER|IP_TOS|"
    "TCP_DEFER_ACCEPT|TCP_NOTSENT_LOWAT|TCP_QUICKACK|TCP_USER_TIMEOUT"
)
_FLAGS_AT: Final = {"send": 3, "sendto": 3, "sendmsg": 2}
_SEND_FLAGS: Final = frozenset(("0", "MSG_DONTWAIT", "MSG_EOR", "MSG_MORE", "MSG_NOSIGNAL", "..."))
_CONSTANTS: Final = {f"TCP_CA_{name}": number for number, name in enumerate(STATES)}


def run(script: Script, tolerance_us: int | None = None) -> Outcome:
    """Carry out a script.

    Parameters
    ----------
    script : Script
        The script.
    tolerance_us : int or None
        Tolerance of times in microseconds, instead of that of the script.

    Returns
    -------
    Outcome
        Whether it passes, and the first difference.

    Raises
    ------
    InputError
        If it has a word that is not known here.
    """
    given = script.tolerance_us if tolerance_us is None else tolerance_us
    return _Interpreter(script, given).run()


class _DifferenceError(Exception):
    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.what)
        self.difference = difference


class _Interpreter:
    def __init__(self, script: Script, tolerance_us: int | None) -> None:
        self.path, self.lines, self.tolerance_us = script.path, script.lines, tolerance_us
        self.kernel = Kernel()
        self.connection = Connection(self.kernel)
        self.variables: dict[str, Any] = {}
        self.now_us = 0

    def refuse(self, line: Line, word: str, allowed: str) -> InputError:
        return unknown(self.path, line.number, word, allowed)

    def run(self) -> Outcome:
        for done, line in enumerate(self.lines):
            try:
                self.line(line)
            except _DifferenceError as found:
                return Outcome(self.path, done, found.difference)
        return Outcome(self.path, len(self.lines))

    def line(self, line: Line) -> None:
        due = line.time.after(self.now_us)
        if isinstance(line.action, Packet) and not line.action.inbound:
            self.expect(line, line.action, due)
            return
        if due[0] < self.now_us - TIMER_TOLERANCE_US:
            # A segment awaited before came later than the script goes on.
            found = f"it is {_seconds(self.now_us)}"
            raise _DifferenceError(Difference(line.number, "the time has passed", line.text, found))
        self.now_us = max(self.now_us, due[0])
        match line.action:
            case Packet() as packet:
                self.arrive(line, packet)
            case Call() as call:
                self.call(line, call)
            case Code(text):
                self.code(line, text)
            case Command(text):
                shell.apply(self.path, line.number, text, self.kernel.settings)
                if wrong := self.kernel.wrong():
                    name, value, allowed = wrong
                    raise self.refuse(line, f"{name}={value}", allowed)

    # Arrivals.

    def arrive(self, line: Line, packet: Packet) -> None:
        connection, flags, now = self.connection, set(packet.flags), self.now_us
        if packet.length:
            allowed = "a segment without data: only senders are simulated"
            raise self.refuse(line, f"{packet.start}:{packet.start + packet.length}", allowed)
        opens = connection.state in ("syn-sent", "syn-received") and "R" not in flags
        if opens and (mangled := connection.marking.mangled(packet)):
            raise self.refuse(line, packet.flags, mangled)
        if "S" in flags:
            if connection.state == "listen" and "." not in flags:
                connection.on_syn(now, packet)
            elif connection.state == "syn-sent" and "." in flags:
                connection.on_answer(now, packet)
            else:
                allowed = f"no SYN: the connection is {connection.state}"
                raise self.refuse(line, packet.flags, allowed)
        elif "R" in flags:
            connection.state = "reset"
        elif connection.state == "syn-received":
            connection.on_answer(now, packet)
        elif connection.state == "established":
            self.acknowledge(line, packet)
        elif connection.state != "reset":
            raise self.refuse(line, packet.flags, f"a SYN: the connection is {connection.state}")

    def acknowledge(self, line: Line, packet: Packet) -> None:
        sender = self.connection.sender
        assert sender is not None
        if packet.acknowledgement is not None:
            if sender.cuts.within(packet.acknowledgement - 1):
                allowed = f"no number within a full segment of {sender.mss} bytes"
                raise self.refuse(line, f"ack {packet.acknowledgement}", allowed)
            self.hear(line, packet)
        if "F" in packet.flags:
            self.connection.on_fin(self.now_us)

    def hear(self, line: Line, packet: Packet) -> None:
        counters = packet.options is not None and packet.options.counts_bytes
        if not counters or self.connection.marking.mode != "accurate":
            self.connection.hear(self.now_us, packet)
        elif self.connection.hear_counters(self.now_us, packet):
            allowed = "fewer than eight segments acknowledged with it: its bytes are not read"
            raise self.refuse(line, "ECN", allowed)

    # System calls.

    def call(self, line: Line, call: Call) -> None:
        connection, now = self.connection, self.now_us
        if call.name in _WRITES:
            self.write(line, call)
        elif call.name == "listen":
            connection.listen()
        elif call.name == "connect":
            if connection.state == "closed":
                connection.connect(now)
        elif call.name == "setsockopt":
            self.set_option(line, call)
        elif call.name == "close" or (call.name == "shutdown" and "SHUT_RD" not in call.arguments):
            if connection.state == "established":
                connection.close(now)
        elif not re.fullmatch(_NO_MATTER, call.name):
            known = ", ".join(sorted({*_WRITES, "listen", "connect", "close", "setsockopt"}))
            raise self.refuse(line, call.name, f"a call of senders: {known}")

    def write(self, line: Line, call: Call) -> None:
        flags = set()
        if (place := _FLAGS_AT.get(call.name)) is not None:
            flags = {flag.strip() for one in call.arguments[place:][:1] for flag in one.split("|")}
        for flag in sorted(flags - _SEND_FLAGS):
            raise self.refuse(line, flag, ", ".join(sorted(_SEND_FLAGS)))
        found = re.match(r"-?[0-9]{1,10}(?![0-9])", call.result)
        if not found or int(found[0]) > _LARGEST_WRITE:
            allowed = f"the number of bytes that the call takes, at most {_LARGEST_WRITE}"
            raise self.refuse(line, call.result, allowed)
        size = int(found[0])
        if size <= 0:
            return
        if self.connection.state != "established":
            allowed = f"no data: the connection is {self.connection.state}"
            raise self.refuse(line, call.name, allowed)
        self.connection.write(
            self.now_us, size, more="MSG_MORE" in flags, end_of_record="MSG_EOR" in flags
        )

    def set_option(self, line: Line, call: Call) -> None:
        name = call.arguments[2] if len(call.arguments) > 2 else ""
        value = call.arguments[3].strip('[]" ') if len(call.arguments) > 3 else ""
        if name == "TCP_CONGESTION":
            if value not in LAWS:
                raise self.refuse(line, value, ", ".join(LAWS))
            self.kernel.law = value
        elif name in ("TCP_CORK", "TCP_NODELAY"):
            if value not in ("0", "1"):
                raise self.refuse(line, value, "0 or 1")
            connection = self.connection
            set_it = connection.set_cork if name == "TCP_CORK" else connection.set_no_delay
            set_it(self.now_us, on=value == "1")
        elif name == "TCP_MAXSEG":
            if not re.fullmatch(r"[0-9]{1,5}", value):
                raise self.refuse(line, value, "a number of bytes")
            self.kernel.largest_segment = min(int(value), self.kernel.largest_segment)
        elif not re.fullmatch(_SOCKET_OPTIONS, name):
            known = f"TCP_CONGESTION|TCP_CORK|TCP_MAXSEG|TCP_NODELAY|{_SOCKET_OPTIONS}".replace(
                "|", ", "
            )
            raise self.refuse(line, name, known)

    # Statements.

    def code(self, line: Line, text: str) -> None:
        state = self.connection.look(self.now_us) | _CONSTANTS
        broken = statements.run(self.path, line.number, text, self.variables, state)
        if broken:
            values = ", ".join(f"{name} = {value}" for name, value in broken.found.items())
            what = f"the state at {_seconds(self.now_us)} differs"
            raise _DifferenceError(Difference(broken.line, what, broken.asserted, values))

    # Segments that are expected.

    def expect(self, line: Line, packet: Packet, due: tuple[int, int]) -> None:
        until_us = max(due[1], self.now_us) + _PATIENCE_US
        waiting = self.connection.waiting(until_us * MICROSECOND)
        when = "" if line.time.kind == "any" else f" at {_range(due)}"
        expected = f"{_shown(packet)}{when}"
        if not waiting:
            raise _DifferenceError(
                Difference(line.number, "no segment left", expected, "nothing, and no timer is set")
            )
        latest = None if line.time.kind == "any" else due[1] + self.tolerance(due, timer=True)
        sent = _gathered(waiting, packet, latest)
        found = f"{_joined(sent)} at {_seconds(sent[0].at_ps // MICROSECOND)}"
        if wrong := self.wrong(packet, sent):
            what = f"{wrong} of the segment differ" if wrong[-1] == "s" else f"{wrong} differs"
            raise _DifferenceError(Difference(line.number, what, expected, found))
        if line.time.kind != "any":
            self.check_time(line, due, sent, (expected, found))
        stamp = packet.options.timestamp if packet.options else None
        self.connection.tell(sent, stamp[0] if stamp else None)
        self.now_us = max(self.now_us, sent[-1].at_ps // MICROSECOND)

    def wrong(self, packet: Packet, sent: Sequence[Segment]) -> str | None:
        """Return what of the segments is not as expected."""
        first, agreed = sent[0], self.connection.agreed
        if (first.start, sent[-1].end) != (packet.start, packet.start + packet.length):
            return "the data"
        # Where a write ends is no matter of a sender: PSH may differ.
        marks = set(packet.flags) ^ {flag for one in sent for flag in one.flags}
        if marks - {"P"}:
            return "flags"
        if packet.acknowledgement != first.acknowledgement:
            return "the acknowledgement"
        if packet.ecn and any(not packet.ecn.startswith(one.ecn) for one in sent):
            return "the ECN codepoint"
        if packet.options is None:
            return None
        if first.options is not None:
            given, ours = packet.options, first.options
            pairs = [
                (given.mss, ours.mss),
                (given.sack_permitted, ours.sack_permitted),
                (given.window_scale is None, ours.window_scale is None),
                (given.timestamp is None, ours.timestamp is None),
            ]
            return None if all(one == other for one, other in pairs) else "options"
        stamped = agreed is not None and agreed.timestamps
        return "options" if (packet.options.timestamp is not None) > stamped else None

    def tolerance(self, due: tuple[int, int], *, timer: bool) -> int:
        """Return the tolerance in microseconds of a segment, released by a timer or not."""
        tolerance = TOLERANCE_US if self.tolerance_us is None else self.tolerance_us
        # As packetdrill: a hundredth of the time since the event before, if that is more.
        tolerance = max(tolerance, (due[0] - self.now_us) // _PERCENT)
        if not timer:
            return tolerance
        wait = due[0] - self.now_us
        return max(tolerance, TIMER_TOLERANCE_US + (wait // 8 if wait >= LONG_TIMER_US else 0))

    def check_time(
        self, line: Line, due: tuple[int, int], sent: Sequence[Segment], shown: tuple[str, str]
    ) -> None:
        tolerance = self.tolerance(due, timer=any(one.by_timer for one in sent))
        first, last = (one.at_ps // MICROSECOND for one in (sent[0], sent[-1]))
        if first < due[0] - tolerance or last > due[1] + tolerance:
            what = f"the time differs by more than {tolerance / 1000:g} ms"
            raise _DifferenceError(Difference(line.number, what, *shown))


def _gathered(waiting: Sequence[Segment], packet: Packet, latest_us: int | None) -> list[Segment]:
    """Return the segments sent in a row that the expected one stands for, or the first.

    They leave up to the latest time that is expected; without one, soon after each other.
    """
    end = packet.start + packet.length
    found = [waiting[0]]
    for one in waiting[1:]:
        last = found[-1]
        soon = last.at_ps // MICROSECOND + TIMER_TOLERANCE_US
        if one.at_ps // MICROSECOND > (soon if latest_us is None else latest_us):
            break
        if not one.length or not last.length or one.start != last.end or one.end > end:
            break
        found.append(one)
    return found


def _joined(sent: Sequence[Segment]) -> str:
    first, last = sent[0], sent[-1]
    flags = _in_order({flag for one in sent for flag in one.flags})
    length = last.end - first.start
    return str(Segment(first.at_ps, flags, first.start, length, first.acknowledgement))


def _shown(packet: Packet) -> str:
    end = packet.start + packet.length
    ack = "" if packet.acknowledgement is None else f" ack {packet.acknowledgement}"
    return f"> {_in_order(set(packet.flags))} {packet.start}:{end}({packet.length}){ack}"


def _in_order(flags: set[str]) -> str:
    return "".join(sorted(flags, key=_ORDER.index))


def _seconds(us: int) -> str:
    return f"{us / 1e6:.6f} s"


def _range(due: tuple[int, int]) -> str:
    return _seconds(due[0]) if due[0] == due[1] else f"{due[0] / 1e6:.6f}~{_seconds(due[1])}"
