"""The trace of one flow: columns of the simulator, and the constants that they refer to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst import _core
from lightburst.measurement.places import Places
from lightburst.measurement.subflows import by_subflow, has_data_level, subflows_of
from lightburst.measurement.trace_tables import STATES
from lightburst.result.pauses import class_of_groups
from lightburst.scenario.transport import OPEN_LOOP
from lightburst.trace.circuits import Slot, direct, to_circuits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lightburst.result.result import Result

    Columns = Mapping[str, NDArray[Any]]

# Kinds of events in the table of segments.
SENT: Final = 0
ARRIVED: Final = 1
LOST: Final = 2
TRIMMED: Final = 3
RETURNED: Final = 4
# Flags of a packet; FORWARD marks the direction from the flow's source to its destination.
SYN: Final = 1
ACK: Final = 2
FIN: Final = 4
FORWARD: Final = 8
ECE: Final = 16
CWR: Final = 32
# With `ecn = "accurate"`, the highest bit of the count of marks (RFC 9768), above CWR and ECE.
AE: Final = 64
# State of a sender in recovery after a timeout.
LOSS: Final = STATES.index("loss")
RECOVERY: Final = STATES.index("fast recovery")
# Placeholder for "no time" or "no burst".
NONE: Final = 2**64 - 1
_NO_LINKS: Final = np.zeros(0, np.uint32)
# Reasons for a loss, by the simulator's number.
REASONS: Final = tuple(_core.registry()["drop_reasons"])


def receive_window(transport: Mapping[str, Any]) -> int | None:
    """Return the most useful bytes that may be unacknowledged, by settings of the plan; or None."""
    limit = transport.get("advertised_window_bytes", transport.get("max_inflight_bytes"))
    return None if limit is None else int(limit)


@dataclass(frozen=True, eq=False)
class FlowTrace:
    """All recorded events of one flow.

    Attributes
    ----------
    flow : int
        Number of the flow.
    subflow, subflows : int
        Number of the subflow, whose events these are, and how many the connection has.
    source, destination : int
        Host numbers of its endpoints.
    size_bytes : int
        Useful bytes of the flow; with several subflows, of what this one has sent.
    payload_bytes : int
        Useful bytes of a full segment.
    window_bytes : int
        The receiver's advertised window in useful bytes.
    connected : bool
        Whether a connection is set up before the first byte is sent.
    sack : bool
        Whether sender and receiver negotiated selective acknowledgements.
    segments, windows, bursts, hops : mapping of str to ndarray
        Rows of this flow in the simulator's tables ``trace_segments``, ``trace_windows`` and
        ``trace_hops``, and rows of ``trace_bursts`` of the node next to the source; each table
        sorted by time, in integer picoseconds and bytes.
    places : Places
        Ends of the links.
    access_ps : NDArray
        For each row of `segments`, the time from the start of its transmission at the source until
        the next node has received it entirely; 0 for packets of the destination.
    looks : bool
        Whether the sender's timer also expires for probes and for looks at late segments, as with
        the recovery `rack-tlp`.
    max_timeout_ps : int
        Largest retransmission timeout.
    writes : tuple of int or None
        Bytes of each write of the application, and picoseconds from one to the next; None if it
        writes all data at once.
    circuits : frozenset of int
        Links of racks to circuit switches, for which they wait.
    slots : tuple of Slot
        Circuits from the rack of the source to that of the destination, by a schedule.
    pauses : dict of int to list of (int, int)
        By link: begin and end of each pause of the flow's class, in order; `NONE` without an end.
    locked : frozenset of int
        Links over which packets came that wait for pauses that never end.
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
    looks: bool = False
    max_timeout_ps: int = 0
    writes: tuple[int, int] | None = None
    circuits: frozenset[int] = frozenset()
    slots: tuple[Slot, ...] = ()
    pauses: Mapping[int, list[tuple[int, int]]] = field(default_factory=dict)
    locked: frozenset[int] = frozenset()
    subflow: int = 0
    subflows: int = 1

    @classmethod
    def of(cls, result: Result, flow: int, subflow: int = 0) -> FlowTrace:
        """Extract the trace of a flow from a result.

        Parameters
        ----------
        result : Result
            Result of a scenario whose ``measurement.trace`` names the flow.
        flow : int
            Number of the flow.
        subflow : int
            Number of its subflow.

        Returns
        -------
        FlowTrace

        Raises
        ------
        KeyError
            If the flow was not traced, or has no such subflow.
        """
        number = _number(result, flow, subflow)
        plan, transport = result.plan, result.plan.transports[result.plan.group[flow]]
        recovery = transport.get("recovery", {})
        source = int(plan.flows["source"][flow])
        payload = transport["segment_bytes"] - transport["header_bytes"]
        segments, hops, windows = (
            by_subflow(_rows(result.columns[f"trace_{name}"], "flow", number), plan)
            for name in ("segments", "hops", "windows")
        )
        subflows = subflows_of(transport)
        size = int(plan.flows["bytes"][flow]) if subflows == 1 else _sent(segments)
        if has_data_level(transport):
            segments = _without_rest_of_slot(segments, size)
        # A host has exactly one link.
        (link,) = np.flatnonzero(plan.links["from"] == source)
        # If links are traced as well, the table also has bursts without packets of this flow.
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
            size_bytes=size,
            payload_bytes=payload,
            # Stop-and-wait, without a limit, sends one segment at a time.
            window_bytes=receive_window(transport) or payload,
            connected=transport["kind"] not in OPEN_LOOP and transport.get("handshake", True),
            sack="sack_blocks" in recovery and recovery.get("sack", True),
            segments=segments,
            windows=windows,
            bursts={name: values[carried] for name, values in bursts.items()},
            hops=hops,
            places=Places.of(plan),
            access_ps=access.astype(np.uint64),
            looks=recovery.get("kind") == "rack-tlp",
            max_timeout_ps=int(transport.get("max_timeout_ps", 0)),
            writes=_writes(plan.settings["groups"][plan.group[flow]]),
            circuits=frozenset(np.flatnonzero(to_circuits(plan)).tolist()),
            slots=direct(plan, flow),
            pauses=_pauses(result, flow),
            locked=frozenset(result.columns.get("locked", {"link": _NO_LINKS})["link"].tolist()),
            subflow=subflow,
            subflows=subflows,
        )

    def written_ps(self, byte: int) -> int:
        """Return the time from which the segment that begins at a byte may leave.

        Parameters
        ----------
        byte : int
            First byte of the segment.

        Returns
        -------
        int
            Picoseconds; 0 if the application writes all data at once, `NONE` if the connection was
            never open.
        """
        if self.writes is None:
            return 0
        times = self.windows["time_ps"]
        # The first row is that of the opened connection.
        if not times.size:
            return NONE
        size, interval = self.writes
        end = min(byte + self.payload_bytes, self.size_bytes)
        return int(times[0]) + (-(-end // size) - 1) * interval

    def _writes_again(self) -> NDArray[np.bool_]:
        """Return whether the application writes, after its first write, at each window row."""
        times = self.windows["time_ps"]
        if self.writes is None or not times.size:
            return np.zeros(times.size, np.bool_)
        size, interval = self.writes
        after = times - times[0]
        number = after // np.uint64(interval)
        due = after % np.uint64(interval) == 0
        return np.asarray(due & (number > 0) & (number < -(-self.size_bytes // size)), np.bool_)

    def timeouts_ps(self) -> NDArray[np.uint64]:
        """Return the times at which the sender's timer expired while data was outstanding.

        Returns
        -------
        ndarray of uint64, shape (timeouts,)
            Picoseconds. The windows table has a row per acknowledgement, write and timeout; a row
            at whose time nothing arrived from the destination and nothing was written is a timeout.
            Other expiries (`looks`) leave the timeout as it was, and so does the event of another
            subflow, which offers data.
        """
        expired = self._expired()
        return np.asarray(self.windows["time_ps"][expired & self._backs_off()], dtype=np.uint64)

    def looks_ps(self) -> NDArray[np.uint64]:
        """Return the times at which the sender's timer expired for a probe or for late segments.

        Returns
        -------
        ndarray of uint64, shape (looks,)
            Picoseconds; none unless `looks`.
        """
        looked = self._expired() & ~self._backs_off() & self.looks
        return np.asarray(self.windows["time_ps"][looked], dtype=np.uint64)

    def _expired(self) -> NDArray[np.bool_]:
        """Return whether the timer expired at each row of the windows table."""
        table = self.segments
        heard = (table["event"] == ARRIVED) & ((table["flags"] & FORWARD) == 0)
        expired = ~np.isin(self.windows["time_ps"], table["time_ps"][heard])
        if not self.connected:
            # Without a handshake the first row is that of the start.
            expired[:1] = False
        return expired & ~self._writes_again()

    def _backs_off(self) -> NDArray[np.bool_]:
        """Return whether an expiry at each row of the windows table would be a timeout."""
        rto = self.windows["rto_ps"]
        if not self.looks and self.subflows == 1:
            return np.ones(rto.size, np.bool_)
        grown = np.append(True, rto[1:] > rto[:-1])[: rto.size]
        return grown | (rto >= self.max_timeout_ps)

    def own_packets(self) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
        """Return the packets that the source handed to its interface, in that order.

        Returns
        -------
        rows : ndarray of int, shape (packets,)
            Rows in `segments`: the start of the packet's transmission, or its loss if the
            interface's buffer was full.
        time_ps : ndarray of uint64, shape (packets,)
            Start of transmission; for a packet that was dropped at the interface, the time of the
            drop or the start of the preceding packet's transmission, whichever is later.
        """
        table = self.segments
        own, sent = (table["flags"] & FORWARD) > 0, table["event"] == SENT
        refused = (table["event"] == LOST) & ~np.isin(table["packet"], table["packet"][own & sent])
        rows = np.flatnonzero(own & (sent | refused))
        rows = rows[np.argsort(table["packet"][rows], kind="stable")]
        return rows, np.maximum.accumulate(table["time_ps"][rows])


def _number(result: Result, flow: int, subflow: int) -> int:
    """Return the number of a subflow in the simulator's tables."""
    if flow not in result.scenario.measurement.trace:
        raise KeyError(f"flow {flow} was not traced")
    if not 0 <= subflow < subflows_of(result.plan.transports[result.plan.group[flow]]):
        raise KeyError(f"flow {flow} has no subflow {subflow}")
    return flow + subflow * int(result.plan.flows["source"].size)


def _sent(segments: Columns) -> int:
    """Return the end of the data that the source has sent."""
    own = (segments["flags"] & FORWARD > 0) & (segments["payload"] > 0)
    ends = segments["sequence"][own] + segments["payload"][own]
    return int(ends.max(initial=0))


def _without_rest_of_slot(segments: Columns, size: int) -> dict[str, NDArray[Any]]:
    """Let acknowledgements of a short last segment end with its data, and not with its slot."""
    names = ["acknowledgement", *(name for name in segments if name.startswith("block_end"))]
    return {**segments, **{name: np.minimum(segments[name], size) for name in names}}


def _writes(group: Mapping[str, Any]) -> tuple[int, int] | None:
    writes = group.get("writes")
    return None if writes is None else (writes["bytes"], writes["interval_ps"])


def _rows(table: Columns, column: str, value: int) -> dict[str, NDArray[Any]]:
    """Return the rows of a table that have the given value in a column."""
    mine = table[column] == value
    return {name: values[mine] for name, values in table.items()}


def _pauses(result: Result, flow: int) -> dict[int, list[tuple[int, int]]]:
    """Return the pauses of the class of a flow by link, begin and end of each."""
    found: dict[int, list[tuple[int, int]]] = {}
    if (table := result.columns.get("pauses")) is not None:
        plan = result.plan
        own = table["class"] == class_of_groups(plan)[plan.group[flow]]
        columns = (table[name][own].tolist() for name in ("link", "begin_ps", "end_ps"))
        for link, begin, end in zip(*columns, strict=True):
            found.setdefault(link, []).append((begin, end))
    return found
