"""Retransmissions of a sender, and the order of arrivals: judged after the run."""

from collections import Counter
from functools import cache
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Transmission(NamedTuple):
    """The `nth` transmission of the `syn`, the `fin`, or the `data` from `begin`."""

    what: str
    begin: int
    nth: int


#: When each transmission of a flow was lost.
Lost = dict[Transmission, int]
FAST, TIMEOUT = "fast_retransmits", "timeouts"


class RetransmissionAudit:
    """The events of one flow."""

    def __init__(self) -> None:
        self.sent: Counter[tuple[str, int]] = Counter()
        self.bytes: dict[tuple[str, int], int] = {}
        #: Why the sender took data for lost, which data, and its number of transmissions.
        self.decisions: list[tuple[str, tuple[str, int], int]] = []
        self.acknowledged: dict[tuple[str, int], int] = {}
        self.arrivals: list[Transmission] = []

    def send(self, what: str, begin: int = 0, payload: int = 0) -> Transmission:
        """Note one more transmission."""
        self.sent[what, begin] += 1
        self.bytes[what, begin] = payload
        return Transmission(what, begin, self.sent[what, begin])

    def decide(self, cause: str, what: str, begin: int = 0) -> None:
        """Note that the sender takes data for lost."""
        self.decisions.append((cause, (what, begin), self.sent[what, begin]))

    def acknowledge(self, now: int, what: str, begin: int = 0) -> None:
        """Note that the sender knows that data has arrived."""
        self.acknowledged.setdefault((what, begin), now)

    def columns(self, lost: Lost) -> dict[str, int]:
        """The counts of the core for this flow."""

        @cache
        def first_kept(key: tuple[str, int]) -> int:
            """The number of the first transmission not lost before the acknowledgement."""
            until = self.acknowledged.get(key, np.inf)
            return next(
                nth for nth in count(1) if lost.get(Transmission(*key, nth), np.inf) >= until
            )

        def all_lost(key: tuple[str, int], number: int) -> bool:
            """Whether the first `number` transmissions were lost before the acknowledgement."""
            return number < first_kept(key)

        false = Counter(cause for cause, what, sent in self.decisions if not all_lost(what, sent))
        spurious = [
            self.bytes[key]
            for key, transmissions in self.sent.items()
            for nth in range(2, transmissions + 1)
            if key[0] == "data" and not all_lost(key, nth - 1)
        ]
        extents = list(self.extents())
        return {
            "spurious_retransmissions": len(spurious),
            "spurious_bytes": sum(spurious),
            "fast_retransmits": sum(cause == FAST for cause, *_ in self.decisions),
            "false_fast_retransmits": false[FAST],
            "false_timeouts": false[TIMEOUT],
            "reordered": len(extents),
            "reorder_extent_sum": sum(extents),
            "reorder_extent_max": max(extents, default=0),
        }

    def extents(self) -> list[int]:
        """RFC 4737, section 4.2, for first transmissions; without duplicates."""
        order: list[int] = []
        extents = []
        for _, begin, nth in self.arrivals:
            if begin in order:
                continue
            later = [place for place, other in enumerate(order) if other > begin]
            if later and nth == 1:
                extents.append(len(order) - later[0])
            order.append(begin)
        return extents


def most_or_sum(name: str, values: list[int]) -> int:
    """The value of a flow, from those of its subflows."""
    return max(values, default=0) if name == "reorder_extent_max" else sum(values)


def audit_columns(
    audits: list[list[tuple[RetransmissionAudit, Lost]]],
) -> dict[str, npt.NDArray[np.uint64]]:
    """The columns of all flows, each with those of its subflows, or one."""
    found = [[audit.columns(lost) for audit, lost in flow] for flow in audits]
    return {
        name: np.array(
            [most_or_sum(name, [row[name] for row in rows]) for rows in found],
            np.uint64,
        )
        for name in RetransmissionAudit().columns({})
    }
