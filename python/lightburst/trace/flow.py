"""The trace of one flow: the columns of the simulator, and what must be known to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst import _core
from lightburst.measurement.places import Places
from lightburst.measurement.trace_tables import STATES
from lightburst.scenario.transport import OPEN_LOOP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lightburst.result import Result

    Columns = Mapping[str, NDArray[Any]]

# The kinds of rows in the table of segments.
SENT: Final = 0
ARRIVED: Final = 1
LOST: Final = 2
# Flags of a packet; the last one says that it goes from the flow's source to its destination.
SYN: Final = 1
ACK: Final = 2
FIN: Final = 4
FORWARD: Final = 8
ECE: Final = 16
# The state of a sender after a timeout.
LOSS: Final = STATES.index("loss")
# The number that stands for no time or no burst.
NONE: Final = 2**64 - 1
# The reasons for a loss, by number.
REASONS: Final = tuple(_core.registry()["drop_reasons"])


@dataclass(frozen=True, eq=False)
class FlowTrace:
    """All that one flow did.

    Attributes
    ----------
    flow : int
        Its number.
    source, destination : int
        Its hosts.
    size_bytes : int
        Its useful bytes.
    payload_bytes : int
        Useful bytes of a full segment.
    window_bytes : int
        Useful bytes that the receiver lets the sender have on the way.
    connected : bool
        Whether a connection is set up before the first byte.
    sack : bool
        Whether receiver and sender agreed on selective acknowledgements.
    segments, windows, bursts, hops : mapping of str to ndarray
        The rows of the simulator's tables ``trace_segments``, ``trace_windows`` and ``trace_hops``
        that are of this flow, and those of ``trace_bursts`` of the node that the source is linked
        to; each in order of time, in whole picoseconds and bytes.
    places : Places
        The ends of the links.
    access_ps : NDArray
        For each row of `segments`, the time from the beginning of its transmission at the source
        until the node behind has it whole; 0 where the packet does not come from the source.
    """

    flow: int
    source: int
    destination: int
    size_bytes: int
    payload_bytes: int
    window_bytes: int
    connected: bool
    sack: bool
    segments: Columns
    windows: Columns
    bursts: Columns
    hops: Columns
    places: Places
    access_ps: NDArray[np.uint64]

    @classmethod
    def of(cls, result: Result, flow: int) -> FlowTrace:
        """Take a flow's trace out of a result.

        Parameters
        ----------
        result : Result
            Of a scenario whose ``measurement.trace`` names the flow.
        flow : int
            The flow's number.

        Returns
        -------
        FlowTrace

        Raises
        ------
        KeyError
            If the flow was not traced.
        """
        if flow not in result.scenario.measurement.trace:
            raise KeyError(f"flow {flow} was not traced")
        plan, transport = result.plan, result.plan.transports[result.plan.group[flow]]
        source = int(plan.flows["source"][flow])
        payload = transport["segment_bytes"] - transport["header_bytes"]
        segments = _rows(result.columns["trace_segments"], "flow", flow)
        hops = _rows(result.columns["trace_hops"], "flow", flow)
        # A host has one link.
        (link,) = np.flatnonzero(plan.links["from"] == source)
        # Where links are traced, too, there are rows of all bursts.
        bursts = _rows(result.columns["trace_bursts"], "node", int(plan.links["to"][link]))
        carried = np.isin(bursts["number"], np.union1d(hops["burst"], segments["burst"]))
        wire = segments["payload"].astype(np.int64) + transport["header_bytes"]
        bits = 8 * 10**12 * np.maximum(wire, transport["control_bytes"])
        rate, delay = int(plan.links["rate_bps"][link]), int(plan.links["delay_ps"][link])
        access = (-(-bits // rate) + delay) * (segments["flags"] & FORWARD > 0)
        return cls(
            flow=flow,
            source=source,
            destination=int(plan.flows["destination"][flow]),
            size_bytes=int(plan.flows["bytes"][flow]),
            payload_bytes=payload,
            # Stop-and-wait has a window of one segment.
            window_bytes=int(transport.get("advertised_window_bytes", payload)),
            connected=transport["kind"] not in OPEN_LOOP,
            sack="sack_blocks" in transport.get("recovery", {}),
            segments=segments,
            windows=_rows(result.columns["trace_windows"], "flow", flow),
            bursts={name: values[carried] for name, values in bursts.items()},
            hops=hops,
            places=Places.of(plan),
            access_ps=access.astype(np.uint64),
        )

    def timeouts_ps(self) -> NDArray[np.uint64]:
        """Give the times at which the sender's timer expired while data was outstanding.

        Returns
        -------
        ndarray of uint64, shape (timeouts,)
            Picoseconds. The rows of the windows are those of acknowledgements and of timeouts:
            where nothing came from the destination it was a timeout.
        """
        table, time = self.segments, self.windows["time_ps"]
        heard = (table["event"] == ARRIVED) & ((table["flags"] & FORWARD) == 0)
        return np.asarray(time[~np.isin(time, table["time_ps"][heard])], dtype=np.uint64)

    def own_packets(self) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
        """Give what the source handed to its interface, in that order.

        Returns
        -------
        rows : ndarray of int, shape (packets,)
            Their rows in `segments`: those of the beginnings of their transmissions, and those of
            the losses of packets that the interface had no room for.
        time_ps : ndarray of uint64, shape (packets,)
            When each began to be sent; for one that there was no room for, when the one before it
            began, or later, when it was dropped.
        """
        table = self.segments
        own, sent = (table["flags"] & FORWARD) > 0, table["event"] == SENT
        refused = (table["event"] == LOST) & ~np.isin(table["packet"], table["packet"][own & sent])
        rows = np.flatnonzero(own & (sent | refused))
        rows = rows[np.argsort(table["packet"][rows], kind="stable")]
        return rows, np.maximum.accumulate(table["time_ps"][rows])


def _rows(table: Columns, column: str, value: int) -> dict[str, NDArray[Any]]:
    """Give the rows of a table that have a value in a column."""
    mine = table[column] == value
    return {name: values[mine] for name, values in table.items()}
