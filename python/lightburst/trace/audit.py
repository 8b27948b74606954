"""Whether retransmissions and timeouts of a traced sender responded to actual losses."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.trace.division import packets
from lightburst.trace.flow import ARRIVED, FIN, FORWARD, NONE, SYN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightburst.trace.division import Copy
    from lightburst.trace.flow import FlowTrace

_FLAGS: Final = {"SYN": SYN, "FIN": FIN}


class RetransmissionAudit:
    """Audit of the retransmissions of a sender against the losses in its trace.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.
    copies : iterable of Copy
        All data packets of the flow, in order of creation.
    """

    def __init__(self, trace: FlowTrace, copies: Iterable[Copy]) -> None:
        self._trace = trace
        self._copies: dict[int, list[Copy]] = defaultdict(list)
        for copy in copies:
            self._copies[copy.sequence].append(copy)
        table = trace.segments
        self._heard = (table["event"] == ARRIVED) & ((table["flags"] & FORWARD) == 0)
        data = self._heard & ((table["flags"] & SYN) == 0)
        self._times = table["time_ps"][data]
        self._until = np.maximum.accumulate(table["acknowledgement"][data])

    def spurious(self, copy: Copy) -> bool:
        """Return whether a retransmission was needless: an earlier copy of it was not lost."""
        before = [one for one in self._copies[copy.sequence] if one.packet < copy.packet]
        return not _lost(before, self._known_ps(copy.sequence))

    def false_timeout(self, time_ps: int, what: str) -> bool:
        """Return whether a timeout of ``SYN``, ``data`` or ``FIN`` fired without a loss to repair.

        Parameters
        ----------
        time_ps : int
            Time at which the timer expired, in picoseconds.
        what : str
            Kind of packet that is retransmitted: ``SYN``, ``data`` or ``FIN``.
        """
        if what in _FLAGS:
            table, flag = self._trace.segments, _FLAGS[what]
            mine = (table["flags"] & FORWARD > 0) & (table["payload"] == 0)
            copies = packets(self._trace, mine & (table["flags"] & flag > 0))
            answers = table["time_ps"][self._heard & (table["flags"] & flag > 0)]
            known = int(answers[0]) if answers.size else NONE
        else:
            place = int(np.searchsorted(self._times, np.uint64(time_ps), side="right"))
            first = int(self._until[place - 1]) if place else 0
            copies, known = self._copies[first], self._known_ps(first)
        return not _lost([copy for copy in copies if copy.made_ps < time_ps], known)

    def _known_ps(self, sequence: int) -> int:
        """Return the time at which the sender learned that a byte had arrived; `NONE` if never."""
        place = int(np.searchsorted(self._until, np.uint64(sequence), side="right"))
        return int(self._times[place]) if place < self._times.size else NONE


def _lost(copies: list[Copy], known_ps: int) -> bool:
    return all(copy.lost_ps < known_ps for copy in copies)
