"""Whether connections move together: each connection in each bin of time, summed at the end."""

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from twin.endpoint import Sender
from twin.stop_and_wait import SawSender
from twin.tcp import TcpSender


class Own(NamedTuple):
    """The state of a connection at an instant."""

    is_open: bool
    is_over: bool
    window: int
    arrived: int
    reductions: int


def look(sender: Sender) -> Own:
    """Read the state of a connection."""
    assert isinstance(sender, TcpSender | SawSender)
    bytes_ = sender.cwnd if isinstance(sender, TcpSender) else sender.most
    audit = sender.flow.audit
    came = {begin for _, begin, _ in audit.arrivals}
    return Own(
        sender.state == "established",
        sender.state in ("fin-sent", "closed", "gave-up"),
        1000 * bytes_ // sender.most,
        sum(audit.bytes["data", begin] for begin in came),
        sum(what == "data" for _, (what, _), _ in audit.decisions),
    )


class Synchronisation:
    """All connections at the end of each bin; without settings there are no bins."""

    def __init__(self, settings: dict[str, Any] | None, senders: list[Sender]) -> None:
        self.settings = settings
        self.senders = senders
        self.ends: list[int] = []
        self.seen: list[list[Own]] = []

    def before(self, time: int) -> None:
        """End the bins that end before an event at `time`."""
        if self.settings is not None:
            every, last = self.settings["bin_ps"], self.ends[-1] if self.ends else 0
            for end in range(last + every, min(time, self.settings["until_ps"] + 1), every):
                self.ends.append(end)
                self.seen.append([look(sender) for sender in self.senders])

    def tables(self) -> dict[str, dict[str, Any]]:
        """The sums, and the values of each bin."""
        own = self.settings
        if own is None:
            return {}
        none = [Own(False, False, 0, 0, 0)] * len(self.senders)
        windows, came, reduced, ends = [], [], [], []
        is_open: list[list[bool]] = []
        for end, before, now in zip(self.ends, [none, *self.seen], self.seen, strict=False):
            if end - own["bin_ps"] < own["from_ps"]:
                continue
            ends.append(end)
            is_open.append([one.is_open for one in now])
            windows.append([one.is_open * one.window for one in now])
            pairs = list(zip(before, now, strict=True))
            # Data that still arrives from a sender that gave up before the bin does not count.
            came.append([(b.arrived - a.arrived) * (not a.is_over) for a, b in pairs])
            reduced.append([b.is_open and b.reductions > a.reductions for a, b in pairs])
        sums = {
            "bins": len(ends),
            "connections": sum(map(sum, is_open)),
            "reductions": sum(map(sum, reduced)),
            **pairs_of(is_open, reduced),
            **moments("window", windows),
            **moments("bytes", came),
        }
        if not own["series"]:
            return {"synchronisation": sums}
        columns = {
            "time_ps": ends,
            "connections": [sum(row) for row in is_open],
            "window": [sum(row) for row in windows],
            "bytes": [sum(row) for row in came],
            "reductions": [sum(row) for row in reduced],
        }
        bins = {name: np.array(column, "u8") for name, column in columns.items()}
        return {"synchronisation": sums, "synchronisation_bins": bins}


def pairs_of(is_open: list[list[bool]], reduced: list[list[bool]]) -> dict[str, int]:
    """Count ordered pairs of connections in one bin."""
    found = {"pairs": 0, "pairs_one": 0, "pairs_both": 0}
    for there, row in zip(is_open, reduced, strict=True):
        mine = [one for one, here in zip(row, there, strict=True) if here]
        for first, second in permutations(mine, 2):
            found["pairs"] += 1
            found["pairs_one"] += first
            found["pairs_both"] += first and second
    return found


def moments(name: str, rows: list[list[int]]) -> dict[str, int]:
    """Sums over bins, of all connections together and of each alone."""
    together = [sum(row) for row in rows]
    alone = list(zip(*rows, strict=True))
    return {
        f"{name}_sum": sum(together),
        f"{name}_squares": sum(value**2 for value in together),
        f"{name}_own_squares": sum(value**2 for own in alone for value in own),
        f"{name}_squared_sums": sum(sum(own) ** 2 for own in alone),
    }
