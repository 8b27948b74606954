"""What can be read off a trace: what was sent again, what was lost, when the sender timed out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.errors import InputError
from lightburst.trace.flow import ARRIVED, FORWARD, LOST, NONE, REASONS, SENT, SYN
from lightburst.units import format_duration

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.trace.flow import FlowTrace

_PS: Final = 1e-12
_MOST_BINS: Final = 1_000_000

#: What a packet of `packet_trace` can be.
KINDS: Final = ("sent", "sent again", "lost")


def sends(trace: FlowTrace) -> pd.DataFrame:
    """Give the data segments that the source sent, in order of time.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.

    Returns
    -------
    pandas.DataFrame
        ``time_s`` (the transmission began, or would have, had there been room at the interface),
        ``departure_s`` (the burst that it was in left the edge; where there are no bursts, as
        ``time_s``; NaN if it was in none, or that had not left at the end),
        ``segment`` (its number from 0), ``again`` (a retransmission), and ``lost``.

    Notes
    -----
    The burst of a packet is the one that the trace names, which it does for lost packets; otherwise
    the newest one that was open when the packet had reached the edge. That is unambiguous as long
    as all packets with data go from that edge to the same one, and no two reach it at the very same
    picosecond, of which one ends a burst and the other begins the next.
    """
    table = trace.segments
    rows, time = trace.own_packets()
    data = table["payload"][rows] > 0
    rows, time = rows[data], time[data]
    departure = np.where(table["event"][rows] == SENT, _departures(trace, rows, time), np.nan)
    lost = table["packet"][table["event"] == LOST]
    return pd.DataFrame(
        {
            "time_s": time * _PS,
            "departure_s": departure,
            "segment": table["sequence"][rows] // np.uint64(trace.payload_bytes),
            "again": table["retransmission"][rows] > 0,
            "lost": np.isin(table["packet"][rows], lost),
        }
    )


def packet_trace(trace: FlowTrace, modulo: int = 60) -> pd.DataFrame:
    """Give packets as yu2004 draws them: when their burst left, and their number modulo something.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.
    modulo : int
        At which number the count begins anew.

    Returns
    -------
    pandas.DataFrame
        One row for each packet with data that left in a burst: ``kind`` (one of `KINDS`: a lost
        one is ``lost`` whether it was sent for the first time or again), ``time_s`` and
        ``packet``.
    """
    rows = sends(trace).dropna(subset="departure_s")
    places = np.where(rows["lost"], 2, np.where(rows["again"], 1, 0))
    return pd.DataFrame(
        {
            "kind": pd.Categorical.from_codes(places, categories=pd.Index(KINDS)),
            "time_s": rows["departure_s"].to_numpy(),
            "packet": (rows["segment"] % modulo).to_numpy(),
        }
    )


def acknowledgements(trace: FlowTrace) -> pd.DataFrame:
    """Give the acknowledgements that reached the source, in order of time.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.

    Returns
    -------
    pandas.DataFrame
        ``time_s`` and ``segment``: all below this number, from 0, has arrived; a fraction where
        the last segment is not full.
    """
    table = trace.segments
    rows = _answers(trace)
    return pd.DataFrame(
        {
            "time_s": table["time_ps"][rows] * _PS,
            "segment": table["acknowledgement"][rows] / trace.payload_bytes,
        }
    )


def sack_blocks(trace: FlowTrace) -> pd.DataFrame:
    """Give the SACK blocks that reached the source.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.

    Returns
    -------
    pandas.DataFrame
        ``time_s``; ``first`` and ``end``, segments as in `acknowledgements`; ``duplicate``: whether
        the block reports data that had arrived before (RFC 2883: the first block, and below the
        acknowledgement or inside the second block).
    """
    table = {name: values[_answers(trace)] for name, values in trace.segments.items()}
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
                    "time_s": table["time_ps"][rows] * _PS,
                    "first": first[rows] / trace.payload_bytes,
                    "end": end[rows] / trace.payload_bytes,
                    "duplicate": duplicate[rows],
                }
            )
        )
    columns = ("time_s", "first", "end", "duplicate")
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=pd.Index(columns))


def bins(trace: FlowTrace, bin_ps: int) -> pd.DataFrame:
    """Give the window and the throughput of the flow in bins of time.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.
    bin_ps : int
        Length of a bin in picoseconds; vlachos2008 has 13 ms.

    Returns
    -------
    pandas.DataFrame
        A row for each bin, from time 0 to the last that an end of the flow heard: ``time_s``, its
        end; ``window_segments``, the congestion window then, without the inflation of a recovery,
        in full segments (0 before the connection is there, and when all is acknowledged); and
        ``throughput_bps``, the useful bits that came to the destination in the bin, each once, in
        order or not, over its length. As ``measurement.synchronisation`` has them of all flows.

    Raises
    ------
    InputError
        If there would be more than a million bins.
    """
    table, window = trace.segments, trace.windows
    # What is sent last may begin on a busy interface after the run has ended.
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
    over = table["time_ps"][_answers(trace) & (table["acknowledgement"] == trace.size_bytes)]
    cwnd[ends >= over.min(initial=NONE)] = 0.0
    return pd.DataFrame(
        {
            "time_s": ends * _PS,
            "window_segments": cwnd / trace.payload_bytes,
            "throughput_bps": arrived * (8 / (bin_ps * _PS)),
        }
    )


def timeouts_s(trace: FlowTrace) -> NDArray[np.float64]:
    """Give the times, in seconds, at which the sender's timer expired with data outstanding."""
    return np.asarray(trace.timeouts_ps() * _PS, dtype=np.float64)


def close_up(trace: FlowTrace) -> tuple[float, float]:
    """Give a part of the time that is worth a closer look.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.

    Returns
    -------
    tuple of float
        Begin and end in seconds: from two round-trip times before the first lost segment was sent
        until three after all that was lost in the three after it was last sent again, at most 24
        in all; without a loss the first eight round-trip times; the first second if nothing was
        sent.
    """
    sent, rtt = sends(trace), trace.windows["rtt_ps"]
    if sent.empty:
        return 0.0, 1.0
    known = rtt[rtt != NONE]
    trip = float(np.median(known)) * _PS if known.size else float(np.ptp(sent["time_s"])) / 8
    lost = sent["lost"].to_numpy()
    if not lost.any():
        begin = float(sent["time_s"].min())
        return begin, begin + 8 * trip
    first = float(sent["time_s"][lost].iloc[0])
    together = sent["segment"][lost & (sent["time_s"] <= first + 3 * trip)]
    last = float(sent["time_s"][sent["segment"].isin(together)].max())
    begin = first - 2 * trip
    return begin, min(last + 3 * trip, begin + 24 * trip)


def summary(trace: FlowTrace) -> dict[str, Any]:
    """Count what happened.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.

    Returns
    -------
    dict
        ``flow``, ``source``, ``destination``, ``size_bytes``; ``segments`` (data packets that were
        sent, with ``retransmissions``); ``acknowledgements`` (that reached the source);
        ``losses``: packets of both directions, by reason; ``bursts`` with data of this or another
        traced flow that left the edge behind the source, and ``bursts_lost``.
    """
    table, sent = trace.segments, sends(trace)
    reasons = table["reason"][table["event"] == LOST]
    data = trace.bursts["data"] > 0
    return {
        "flow": trace.flow,
        "source": trace.source,
        "destination": trace.destination,
        "size_bytes": trace.size_bytes,
        "segments": len(sent),
        "retransmissions": int(sent["again"].sum()),
        "acknowledgements": int(_answers(trace).sum()),
        "losses": {REASONS[why]: int((reasons == why).sum()) for why in np.unique(reasons)},
        "bursts": int(data.sum()),
        "bursts_lost": int((trace.bursts["lost"][data] > 0).sum()),
    }


def _answers(trace: FlowTrace) -> NDArray[np.bool_]:
    """Tell which rows are acknowledgements that reached the source; a SYN is none of data."""
    table = trace.segments
    wrong = (table["flags"] & (FORWARD | SYN)) > 0
    return np.asarray((table["event"] == ARRIVED) & ~wrong)


def _departures(
    trace: FlowTrace, rows: NDArray[np.intp], time: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Give when the bursts left that packets were in which were sent at some times; NaN: never."""
    bursts = {name: values[trace.bursts["data"] > 0] for name, values in trace.bursts.items()}
    if not bursts["number"].size:
        return np.asarray(time * _PS, dtype=np.float64)
    order = np.argsort(bursts["opened_ps"], kind="stable")
    left, arrival = bursts["departure_ps"][order], time + trace.access_ps[rows]
    place = np.searchsorted(bursts["opened_ps"][order], arrival, side="right") - 1
    found = np.where(place >= 0, left[np.maximum(place, 0)], 0)
    departure = np.where((found >= arrival) & (found != NONE), found * _PS, np.nan)
    # What the trace says itself is better: of a lost packet, the burst in which it was.
    table = trace.segments
    named = table["burst"] != NONE
    number = pd.Series(table["burst"][named], index=table["packet"][named])
    said = number.map(pd.Series(bursts["departure_ps"] * _PS, index=bursts["number"]))
    said = said.reindex(table["packet"][rows])
    return np.where(said.notna(), said, departure).astype(np.float64)
