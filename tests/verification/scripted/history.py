"""The history of the sender of one traced flow, event by event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lightburst.measurement.cells import Table
from lightburst.measurement.trace_tables import EVENTS, FLAGS, STATES
from lightburst.result.result import Result

_PS = 1e-12
_SENT, _ARRIVED, _LOST, *_ = range(len(EVENTS))


@dataclass(frozen=True)
class Sent:
    """A data segment whose transmission began, or which was lost; segments are counted from 1."""

    time_s: float
    segment: int
    again: bool


@dataclass(frozen=True)
class Heard:
    """An event of a sender, and its state after it has handled the event.

    `event` is ``open`` (SYN+ACK), ``ack``, ``duplicate`` or ``timeout``; `expected` the number of
    the segment that the receiver wants. Windows and data in flight are in full segments.
    """

    time_s: float
    event: str
    expected: int
    window: float
    inflation: float
    threshold: float
    flight: float
    timeout_s: float
    state: str


@dataclass(frozen=True)
class History:
    """The life of a sender; times from its first data segment."""

    sent: tuple[Sent, ...]
    lost: tuple[Sent, ...]
    heard: tuple[Heard, ...]

    @property
    def again(self) -> list[int]:
        """Segments sent again, in order."""
        return [sent.segment for sent in self.sent if sent.again]

    @property
    def timeouts(self) -> int:
        """The number of expiries of the timer."""
        return sum(heard.event == "timeout" for heard in self.heard)

    @property
    def thresholds(self) -> list[float]:
        """Values that ssthresh took, one after the other."""
        values = [heard.threshold for heard in self.heard if np.isfinite(heard.threshold)]
        return [x for i, x in enumerate(values) if i == 0 or x != values[i - 1]]

    @property
    def windows_after_recovery(self) -> list[float]:
        """The window at each acknowledgement that ended a fast recovery."""
        return [
            after.window
            for before, after in pairwise(self.heard)
            if before.state == STATES[2] != after.state and after.event == "ack"
        ]

    def sent_between(self, start: float, end: float) -> list[Sent]:
        """The segments sent from one time on, before another."""
        return [sent for sent in self.sent if start <= sent.time_s < end]


def history(result: Result) -> History:
    """Read the trace of a run with one flow, whose segments are all full."""
    full = result.plan.transports[0]["segment_bytes"]
    packets, windows = (result.columns[f"trace_{name}"] for name in ("segments", "windows"))
    forward = (packets["flags"] & FLAGS["from_source"]) > 0
    data = forward & (packets["payload"] > 0)
    start = int(packets["time_ps"][data][0])

    def at(event: int) -> Iterator[Sent]:
        chosen = data & (packets["event"] == event)
        columns = (packets[name][chosen] for name in ("time_ps", "sequence", "retransmission"))
        for time, sequence, again in zip(*columns, strict=True):
            yield Sent((int(time) - start) * _PS, int(sequence) // full + 1, bool(again))

    # The last of them carries a FIN.
    syn = (packets["flags"] & FLAGS["syn"]) > 0
    answers = ~forward & ~syn & (packets["event"] == _ARRIVED)
    heard = _heard(packets, answers, windows, full, start)
    return History(tuple(at(_SENT)), tuple(at(_LOST)), tuple(heard))


def _heard(
    packets: Table,
    answers: npt.NDArray[np.bool_],
    windows: Table,
    full: int,
    start: int,
) -> Iterator[Heard]:
    """Match the acknowledgements that arrived with the windows after them."""
    acknowledged = dict(
        zip(
            packets["time_ps"][answers].tolist(),
            packets["acknowledgement"][answers].tolist(),
            strict=True,
        )
    )
    reached = 0
    for row, time in enumerate(windows["time_ps"].tolist()):
        acknowledgement = acknowledged.get(time)
        if row == 0:
            event = "open"
        elif acknowledgement is None:
            event = "timeout"
        else:
            event = "ack" if acknowledgement > reached else "duplicate"
            reached = max(reached, acknowledgement)
        yield Heard(
            time_s=(time - start) * _PS,
            event=event,
            expected=reached // full + 1,
            window=float(windows["congestion_window"][row]) / full,
            inflation=float(windows["inflation"][row]) / full,
            threshold=float(windows["slow_start_threshold"][row]) / full,
            flight=float(windows["in_flight"][row]) / full,
            timeout_s=int(windows["rto_ps"][row]) * _PS,
            state=STATES[int(windows["state"][row])],
        )
