"""Delivery rate of a traced flow, as a sender can measure it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lightburst.foundation.counts import PS
from lightburst.trace import series
from lightburst.trace.flow import SENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.trace.flow import FlowTrace


@dataclass(frozen=True)
class _Sent:
    """State of the connection when a segment was last sent; times in picoseconds."""

    time: int
    payload: int
    again: bool
    delivered: int
    delivered_at: int
    first_sent: int


@dataclass
class _Sampler:
    """Delivery-rate samples of a connection (draft-ietf-ccwg-bbr, section 4.1)."""

    #: Bytes of a full segment: each segment begins at a multiple of it.
    payload: int
    delivered: int = 0
    delivered_at: int = 0
    first_sent: int = 0
    acknowledged: int = 0
    sent_to: int = 0
    least_round_trip: int | None = None
    #: Undelivered segments by their first bytes.
    outstanding: dict[int, _Sent] = field(default_factory=dict)
    #: End of each SACK block by its begin, as last reported: only its growth is news.
    reported: dict[int, int] = field(default_factory=dict)

    def send(self, time: int, sequence: int, payload: int) -> None:
        if sequence < self.acknowledged:
            return
        if not self.outstanding:
            self.first_sent = self.delivered_at = time
        again = sequence in self.outstanding
        if sequence < self.sent_to:
            # A segment that a block has reported may be outstanding again.
            self.reported.clear()
        self.sent_to = max(self.sent_to, sequence + payload)
        self.outstanding[sequence] = _Sent(
            time, payload, again, self.delivered, self.delivered_at, self.first_sent
        )

    def covered(self, acknowledgement: int, blocks: list[tuple[int, int]]) -> Iterator[int]:
        """Yield the first bytes of the segments that an acknowledgement reports as news."""
        yield from range(self.acknowledged, acknowledgement, self.payload)
        self.acknowledged = max(self.acknowledged, acknowledgement)
        for first, end in blocks:
            yield from range(self.reported.get(first, first), end, self.payload)
            self.reported[first] = end

    def acknowledge(
        self, time: int, acknowledgement: int, blocks: list[tuple[int, int]]
    ) -> float | None:
        """Handle an acknowledgement; return its sample in bytes per second, if it gives one."""
        covered = self.covered(acknowledgement, blocks)
        found = {sequence for sequence in covered if sequence in self.outstanding}
        if not found:
            return None
        # Section 4.1.2.3: the sample is that of the segment sent last.
        newest = self.outstanding[max(found, key=lambda it: (self.outstanding[it].time, it))]
        for sequence in found:
            self.delivered += self.outstanding.pop(sequence).payload
        self.delivered_at, self.first_sent = time, newest.time
        if not newest.again:
            trip = time - newest.time
            self.least_round_trip = min(trip, self.least_round_trip or trip)
        # The longer of the times in which the data was sent and acknowledged, since
        # acknowledgements may come in bunches; nothing is delivered sooner than in a round trip.
        interval = max(newest.time - newest.first_sent, time - newest.delivered_at)
        if interval <= 0 or interval < (self.least_round_trip or 0):
            return None
        return (self.delivered - newest.delivered) / (interval * PS)


def delivery_rates(trace: FlowTrace) -> pd.DataFrame:
    """Return the delivery rate at each acknowledgement that delivers data.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, and ``rate_bps``: the useful bits delivered since the newest segment delivered
        was sent, over the longer of the times in which that data was sent and acknowledged
        (draft-ietf-ccwg-bbr, section 4.1). Cumulative and selective acknowledgements count. The
        samples are those that any sender could take, whether or not its window law does.
    """
    table = trace.segments
    rows, times = trace.own_packets()
    data = (table["payload"][rows] > 0) & (table["event"][rows] == SENT)
    rows, times = rows[data], times[data]
    heard = np.flatnonzero(series.answers(trace))
    sampler, found = _Sampler(trace.payload_bytes), []
    # At one instant the acknowledgement comes first: what is sent then answers it.
    steps = sorted(
        [(int(time), 1, int(row)) for time, row in zip(times, rows, strict=True)]
        + [(int(table["time_ps"][row]), 0, int(row)) for row in heard]
    )
    for time, sends, row in steps:
        if sends:
            sampler.send(time, int(table["sequence"][row]), int(table["payload"][row]))
            continue
        blocks = [
            (int(table[f"block_start_{place}"][row]), int(table[f"block_end_{place}"][row]))
            for place in range(int(table["blocks"][row]))
        ]
        rate = sampler.acknowledge(time, int(table["acknowledgement"][row]), blocks)
        if rate is not None:
            found.append((time * PS, 8.0 * rate))
    return pd.DataFrame(found, columns=["time_s", "rate_bps"]).astype(float)
