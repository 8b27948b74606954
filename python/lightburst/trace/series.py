"""Time series and counts derived from a flow's trace: transmissions, losses, timeouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.foundation.counts import PS
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import format_duration
from lightburst.trace.flow import (
    ARRIVED,
    FORWARD,
    LOST,
    NONE,
    REASONS,
    RETURNED,
    SENT,
    SYN,
    TRIMMED,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.trace.flow import FlowTrace

_MOST_BINS: Final = 1_000_000

#: Kinds of packets in the table of `packet_trace`.
KINDS: Final = ("sent", "sent again", "lost")
#: Another kind, where any packet was trimmed.
TRIMS: Final = "trimmed"


def sends(trace: FlowTrace) -> pd.DataFrame:
    """Return the data segments that the source sent, sorted by time.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    pandas.DataFrame
        ``time_s``: start of the transmission, or time of the drop at a full interface.
        ``departure_s``: departure of the packet's burst from the edge; equal to ``time_s`` in a
        network without bursts, NaN if the packet was in no burst or the burst had not departed by
        the end of the run. ``segment``: number of the segment, from 0. ``again``: whether it is a
        retransmission. ``lost``: whether it was lost. ``trimmed``: whether a queue cut its payload
        off; ``lost`` as well if its header was lost then.

    Notes
    -----
    For lost packets the trace names the burst. Any other packet is assigned to the latest burst
    that was open when it reached the edge. This is unambiguous as long as all data packets go from
    that edge to a single egress, and no packet that completes a burst reaches the edge in the same
    picosecond as the packet that starts the next burst.
    """
    table = trace.segments
    rows, time = trace.own_packets()
    data = table["payload"][rows] > 0
    rows, time = rows[data], time[data]
    departure = np.where(table["event"][rows] == SENT, _departures(trace, rows, time), np.nan)
    lost, trimmed = (table["packet"][table["event"] == event] for event in (LOST, TRIMMED))
    return pd.DataFrame(
        {
            "time_s": time * PS,
            "departure_s": departure,
            "segment": table["sequence"][rows] // np.uint64(trace.payload_bytes),
            "again": table["retransmission"][rows] > 0,
            "lost": np.isin(table["packet"][rows], lost),
            "trimmed": np.isin(table["packet"][rows], trimmed),
        }
    )


def packet_trace(trace: FlowTrace, modulo: int = 60) -> pd.DataFrame:
    """Return packets as plotted in yu2004: departure of their burst against number modulo `modulo`.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.
    modulo : int
        Packet number at which the numbering restarts from 0.

    Returns
    -------
    pandas.DataFrame
        One row for each data packet that departed in a burst: ``kind``, one of `KINDS` (``lost``
        for first transmissions and retransmissions alike), or `TRIMS` where there are any;
        ``time_s``; and ``packet``.
    """
    rows = sends(trace).dropna(subset="departure_s")
    whole = np.where(rows["lost"], 2, np.where(rows["again"], 1, 0))
    places = np.where(rows["trimmed"], 3, whole)
    kinds = (*KINDS, TRIMS) if rows["trimmed"].any() else KINDS
    return pd.DataFrame(
        {
            "kind": pd.Categorical.from_codes(places, categories=pd.Index(kinds)),
            "time_s": rows["departure_s"].to_numpy(),
            "packet": (rows["segment"] % modulo).to_numpy(),
        }
    )


def acknowledgements(trace: FlowTrace) -> pd.DataFrame:
    """Return the acknowledgements that reached the source, sorted by time.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, and ``segment``: all segments below this number, counted from 0, have arrived;
        fractional after a partial last segment.
    """
    table = trace.segments
    rows = answers(trace)
    return pd.DataFrame(
        {
            "time_s": table["time_ps"][rows] * PS,
            "segment": table["acknowledgement"][rows] / trace.payload_bytes,
        }
    )


def sack_blocks(trace: FlowTrace) -> pd.DataFrame:
    """Return the SACK blocks that reached the source.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    pandas.DataFrame
        ``time_s``; ``first`` and ``end``, in segments as in `acknowledgements`; and ``duplicate``:
        whether the block reports duplicate data (RFC 2883: it is the first block, and lies below
        the acknowledgement or within the second block).
    """
    table = {name: values[answers(trace)] for name, values in trace.segments.items()}
    found = []
    for place in range(int(table["blocks"].max(initial=0))):
        rows = table["blocks"] > place
        first, end = table[f"block_start_{place}"], table[f"block_end_{place}"]
        duplicate = np.zeros_like(rows)
        if place == 0:
            inside = (first >= table["block_start_1"]) & (end <= table["block_end_1"])
            duplicate = (end <= table["acknowledgement"]) | (inside & (table["blocks"] > 1))
        found.append(
            pd.DataFrame(
                {
                    "time_s": table["time_ps"][rows] * PS,
                    "first": first[rows] / trace.payload_bytes,
                    "end": end[rows] / trace.payload_bytes,
                    "duplicate": duplicate[rows],
                }
            )
        )
    columns = ("time_s", "first", "end", "duplicate")
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=pd.Index(columns))


def bins(trace: FlowTrace, bin_ps: int) -> pd.DataFrame:
    """Return the congestion window and the throughput of the flow per time bin.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.
    bin_ps : int
        Length of a bin in picoseconds; vlachos2008 uses 13 ms.

    Returns
    -------
    pandas.DataFrame
        One row per bin, from time 0 to the last event at either endpoint. ``time_s``: end of the
        bin. ``window_segments``: congestion window at that time in full segments, without the
        inflation of fast recovery; 0 before the connection is established and after everything is
        acknowledged. ``throughput_bps``: new useful bits that arrived at the destination in the
        bin, in order or not, divided by the bin's length. The definitions are those of
        ``measurement.synchronisation``.

    Raises
    ------
    InputError
        If there were more than a million bins.
    """
    table, window = trace.segments, trace.windows
    # Transmissions are ignored: the last may begin, on a busy interface, after the run has ended.
    arrivals = table["time_ps"][table["event"] == ARRIVED]
    last = max(int(times.max(initial=0)) for times in (arrivals, window["time_ps"]))
    if bin_ps * _MOST_BINS <= last:
        allowed = f"at least {format_duration(last // _MOST_BINS + 1)}, for {_MOST_BINS:,} bins"
        raise InputError("bin_ps", format_duration(bin_ps), allowed)
    ends = np.arange(1, -(-last // bin_ps) + 1, dtype=np.uint64) * np.uint64(bin_ps)
    came = (table["event"] == ARRIVED) & (table["flags"] & FORWARD > 0) & (table["payload"] > 0)
    _, first = np.unique(table["sequence"][came], return_index=True)
    time, payload = table["time_ps"][came][first], table["payload"][came][first]
    place = -(-time.astype(np.int64) // bin_ps) - 1
    arrived = np.bincount(place, payload, ends.size)
    known = np.searchsorted(window["time_ps"], ends, side="right")
    cwnd = np.floor(np.concatenate([[0.0], window["congestion_window"]])[known])
    over = table["time_ps"][answers(trace) & (table["acknowledgement"] == trace.size_bytes)]
    cwnd[ends >= over.min(initial=NONE)] = 0.0
    return pd.DataFrame(
        {
            "time_s": ends * PS,
            "window_segments": cwnd / trace.payload_bytes,
            "throughput_bps": arrived * (8 / (bin_ps * PS)),
        }
    )


def timeouts_s(trace: FlowTrace) -> NDArray[np.float64]:
    """Return the times in seconds at which the sender's timer expired with data outstanding."""
    return np.asarray(trace.timeouts_ps() * PS, dtype=np.float64)


def close_up(trace: FlowTrace) -> tuple[float, float]:
    """Return an interval of time that is worth a closer look.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    tuple of float
        Begin and end in seconds. The interval begins two round-trip times before the first lost or
        trimmed segment was sent. It ends three round-trip times after the last retransmission of
        the segments lost within three round-trip times of the first, and lasts at most 24
        round-trip times. Without a loss: the first eight round-trip times, or all of a shorter
        flow. If nothing was sent: the first second.
    """
    sent, rtt = sends(trace), trace.windows["rtt_ps"]
    if sent.empty:
        return 0.0, 1.0
    known = rtt[rtt != NONE]
    trip = float(np.median(known)) * PS if known.size else float(np.ptp(sent["time_s"])) / 8
    lost = (sent["lost"] | sent["trimmed"]).to_numpy()
    if not lost.any():
        begin = float(sent["time_s"].min())
        return begin, min(begin + 8 * trip, float(trace.segments["time_ps"].max()) * PS)
    first = float(sent["time_s"][lost].iloc[0])
    together = sent["segment"][lost & (sent["time_s"] <= first + 3 * trip)]
    last = float(sent["time_s"][sent["segment"].isin(together)].max())
    begin = first - 2 * trip
    return begin, min(last + 3 * trip, begin + 24 * trip)


def summary(trace: FlowTrace) -> dict[str, Any]:
    """Summarise the trace in counts.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    dict
        ``flow``, ``subflow`` if the connection has several, ``source``, ``destination``,
        ``size_bytes``; ``segments``, data packets sent, and ``retransmissions`` among them;
        ``acknowledgements`` that reached the source; ``losses`` of packets in both directions, by
        reason; ``trimmed``, data packets whose payload a queue cut off, and ``returned``, those
        whose header found no room and went back to the source; ``bursts`` with data of traced flows
        that left the edge next to the source, and ``bursts_lost`` among them.
    """
    table, sent = trace.segments, sends(trace)
    reasons = table["reason"][table["event"] == LOST]
    data = trace.bursts["data"] > 0
    return {
        "flow": trace.flow,
        **({"subflow": trace.subflow} if trace.subflows > 1 else {}),
        "source": trace.source,
        "destination": trace.destination,
        "size_bytes": trace.size_bytes,
        "segments": len(sent),
        "retransmissions": int(sent["again"].sum()),
        "acknowledgements": int(answers(trace).sum()),
        "losses": {REASONS[why]: int((reasons == why).sum()) for why in np.unique(reasons)},
        "trimmed": int((table["event"] == TRIMMED).sum()),
        "returned": int((table["event"] == RETURNED).sum()),
        "bursts": int(data.sum()),
        "bursts_lost": int((trace.bursts["lost"][data] > 0).sum()),
    }


def answers(trace: FlowTrace) -> NDArray[np.bool_]:
    """Return a mask of the acknowledgements that reached the source, without SYNs.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    ndarray of bool, shape (rows of `FlowTrace.segments`,)
    """
    table = trace.segments
    wrong = (table["flags"] & (FORWARD | SYN)) > 0
    return np.asarray((table["event"] == ARRIVED) & ~wrong)


def _departures(
    trace: FlowTrace, rows: NDArray[np.intp], time: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return the departure of the burst of each packet, sent at `time`; NaN if there is none."""
    bursts = {name: values[trace.bursts["data"] > 0] for name, values in trace.bursts.items()}
    if not bursts["number"].size:
        return np.asarray(time * PS, dtype=np.float64)
    order = np.argsort(bursts["opened_ps"], kind="stable")
    left, arrival = bursts["departure_ps"][order], time + trace.access_ps[rows]
    place = np.searchsorted(bursts["opened_ps"][order], arrival, side="right") - 1
    found = np.where(place >= 0, left[np.maximum(place, 0)], 0)
    departure = np.where((found >= arrival) & (found != NONE), found * PS, np.nan)
    # Prefer the burst that the trace names, as it does for lost packets.
    table = trace.segments
    named = table["burst"] != NONE
    number = pd.Series(table["burst"][named], index=table["packet"][named])
    said = number.map(pd.Series(bursts["departure_ps"] * PS, index=bursts["number"]))
    said = said.reindex(table["packet"][rows])
    return np.where(said.notna(), said, departure).astype(np.float64)
