"""Tables of the events of chosen flows and links, in SI base units.

Each function takes columns of the simulator, with all rows or some of them. Times in the columns
are exact to the picosecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.foundation.counts import PS
from lightburst.measurement.cells import NONE, NOWHERE, Table, reasons, seconds, whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from lightburst.measurement.places import Places

EVENTS: Final = ("sent", "arrived", "lost", "trimmed", "returned")
STATES: Final = ("slow start", "congestion avoidance", "fast recovery", "loss")
# Columns of the flags of a packet, with their bits.
FLAGS: Final = {"from_source": 8, "syn": 1, "ack": 2, "fin": 4}
# Flags of a trimmed packet's header on its way back to the sender: none of those is meant.
BACK: Final = 33
MOST_BLOCKS: Final = 4
# Columns of packets that only connections with a data level have.
DATA_LEVEL: Final = ("data_sequence", "data_acknowledgement")


def _flow(table: Table) -> Table:
    """Return the flow of each row, and its subflow where connections have several."""
    return {name: table[name] for name in ("flow", "subflow") if name in table}


def _blocks(table: Table) -> Iterator[tuple[str, object]]:
    """Yield the columns of SACK blocks."""
    for place in range(MOST_BLOCKS):
        for name in (f"block_start_{place}", f"block_end_{place}"):
            yield name, whole(table[name], table["blocks"] > place)


def segments(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per transmission, arrival, loss, trim or return of a packet.

    In order of time.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_segments``.
    places : Places
        Names of the network's nodes and links.

    Returns
    -------
    pandas.DataFrame
        ``time_s``; ``flow``, and ``subflow`` if connections have several; ``event``: ``sent``
        (start of the transmission on the host's interface), ``arrived`` (at the other host, or a
        returned header at the source), ``lost``, ``trimmed`` (a queue cut its payload off; its
        header goes on) or ``returned`` (its header found no room, and goes back to the source);
        ``packet``, the number of the packet, the same in all its rows; ``from_source``: whether it
        travels from the flow's source to its destination; ``syn``, ``ack``, ``fin``; ``sequence``,
        its first byte, from 0; ``acknowledgement``, the next byte expected (of the source's own: 1
        for the SYN, 2 for the FIN); with ``reinjection`` or ``shared_window`` also
        ``data_sequence``, the first byte in the data of the connection, and
        ``data_acknowledgement``, the next one expected there (missing where there is none);
        ``payload_bytes``; ``retransmission``; the ``node`` of the event; the ``link`` (a row of
        `lightburst.Result.links`) with ``link_source`` and ``link_target``: the host's interface
        for a transmission, for a loss the link on which the packet was lost or whose output was not
        available, and for a trim or a return the one whose queue did it. For a loss also:
        ``burst``, the number of the packet's burst (missing for a packet without burst); the
        ``reason``; and if a busy output was the reason, ``holder_flow`` or ``holder_burst``, the
        flow or burst that had occupied the output last. Further ``blocks`` (of SACK), with
        ``block_start_0`` and ``block_end_0`` to ``_3`` in bytes (missing if there are fewer); and
        the timestamps ``timestamp_s`` and ``echo_s`` (NaN without).
    """
    import pandas as pd

    flags = np.where(table["flags"] == BACK, 0, table["flags"])
    return pd.DataFrame(
        {
            "time_s": table["time_ps"] * PS,
            **_flow(table),
            "event": words(table["event"], EVENTS),
            "packet": table["packet"],
            **{name: (flags & bit) > 0 for name, bit in FLAGS.items()},
            "sequence": table["sequence"],
            "acknowledgement": table["acknowledgement"],
            **{
                name: whole(table[name], table[name] != NONE)
                for name in DATA_LEVEL
                if name in table
            },
            "payload_bytes": table["payload"],
            "retransmission": table["retransmission"] > 0,
            "burst": whole(table["burst"], table["burst"] != NONE),
            "node": places.nodes(table["node"]),
            **places.links(table["link"]),
            "reason": reasons(table["reason"]),
            "holder_flow": whole(table["holder_flow"], table["holder_flow"] != NOWHERE),
            "holder_burst": whole(table["holder_burst"], table["holder_burst"] != NONE),
            "blocks": table["blocks"],
            **dict(_blocks(table)),
            "timestamp_s": seconds(table["timestamp_ps"]),
            "echo_s": seconds(table["echo_ps"]),
        }
    )


def windows(table: Table) -> pd.DataFrame:
    """Return one row per acknowledgement or timeout of a sender.

    Of a subflow also one per event of another subflow that offers it data.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_windows``.

    Returns
    -------
    pandas.DataFrame
        ``time_s``; ``flow``, and ``subflow`` if connections have several;
        ``congestion_window_bytes``; ``inflation_bytes``, the inflation of the window by duplicate
        acknowledgements in a recovery; ``slow_start_threshold_bytes`` (infinite before the first
        loss); ``in_flight_bytes``; ``rtt_s`` (newest sample; NaN before the first); ``rto_s``, the
        retransmission timeout; ``state``, one of `STATES`: ``loss`` lasts from a timeout until all
        data outstanding at the timeout is acknowledged; ``pacing_bps``, the rate of useful bits or
        of bits on the wire at which segments leave (NaN without pacing); ``reordering_window_s``,
        the time that a segment may be later than one sent after it (RFC 8985, section 6.2; NaN if
        the recovery finds no loss by time); and ``undone``, the number of reductions of the window
        undone so far.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "time_s": table["time_ps"] * PS,
            **_flow(table),
            "congestion_window_bytes": table["congestion_window"],
            "inflation_bytes": table["inflation"],
            "slow_start_threshold_bytes": table["slow_start_threshold"],
            "in_flight_bytes": table["in_flight"],
            "rtt_s": seconds(table["rtt_ps"]),
            "rto_s": seconds(table["rto_ps"]),
            "state": words(table["state"], STATES),
            "pacing_bps": np.where(table["pacing"] > 0, 8.0 * table["pacing"], np.nan),
            "reordering_window_s": seconds(table["reordering_window_ps"]),
            "undone": table["undone"],
        }
    )


def bursts(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per burst that carries a packet of a traced flow.

    If links are traced, one row per burst that was assembled before the end of the traced interval.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_bursts``.
    places : Places
        Names of the network's nodes and links.

    Returns
    -------
    pandas.DataFrame
        ``opened_s``, arrival of its first packet at the ingress; ``closed_s``, end of its assembly;
        ``departure_s``, departure from the ingress; ``number`` among all bursts of the run in the
        order of assembly, from 0; ``node``, the ingress; ``of_node``, its number among the bursts
        of the ingress, from 1; ``egress``; ``label``, the number of its path; ``packets`` and
        ``bytes`` in it, of other flows too; ``data``: whether it carries data; ``arrival_s``,
        arrival of its tail at the egress (NaN without arrival); ``lost``. For a lost burst: the
        ``reason``, the ``lost_node``, and the link on which it was lost or which it could not get:
        ``lost_link``, ``lost_link_source``, ``lost_link_target``; ``lost_s``, the time of the loss;
        ``lost_start_s``, the scheduled departure of its head there; and ``holder_burst``, the burst
        that occupied the resource (missing if none did).
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "opened_s": table["opened_ps"] * PS,
            "closed_s": table["closed_ps"] * PS,
            "departure_s": seconds(table["departure_ps"]),
            "number": table["number"],
            "node": places.nodes(table["node"]),
            "of_node": table["of_node"],
            "egress": places.nodes(table["egress"]),
            **{name: table[name] for name in ("label", "packets", "bytes")},
            "data": table["data"] > 0,
            "arrival_s": seconds(table["arrival_ps"]),
            "lost": table["lost"] > 0,
            "reason": reasons(table["reason"]),
            "lost_node": places.nodes(table["lost_node"]),
            **places.links(table["lost_link"], "lost_"),
            **{f"{name}_s": seconds(table[f"{name}_ps"]) for name in ("lost", "lost_start")},
            "holder_burst": whole(table["holder_burst"], table["holder_burst"] != NONE),
        }
    )


def bookings(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per burst and traced link.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_bookings``.
    places : Places
        Names of the network's nodes and links.

    Returns
    -------
    pandas.DataFrame
        The ``link`` with its ends ``link_source`` and ``link_target``; the ``channel`` of the
        fibre, from 0; ``start_s``, departure of the head of the burst, and ``end_s``, departure of
        its tail; ``made_s``, the time at which the link was given the burst, or its header;
        ``burst``, the number; and ``bytes``, its remaining size there. In the order of the starts.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            **places.links(table["link"]),
            "channel": places.channels(table["link"], table["channel"]),
            **{f"{name}_s": table[f"{name}_ps"] * PS for name in ("start", "end", "made")},
            "burst": table["burst"],
            "bytes": table["bytes"],
        }
    )


def cuts(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per piece that segmentation cut off a burst on a traced link.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_cuts``.
    places : Places
        Names of the network's nodes and links.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, the time at which its packets were lost: for a head that of the cut, for a tail
        that at which its burst ends; ``burst``, the number; the ``link`` on which the piece was cut
        off, with its ends ``link_source`` and ``link_target``; ``start_s``, its scheduled departure
        there; its ``packets`` and ``bytes``; and ``holder_burst``, the burst that got the channel
        instead. A tail without lost packets (padding, or the burst was lost as a whole) has no row.
        In order of time.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "time_s": table["time_ps"] * PS,
            "burst": table["burst"],
            **places.links(table["link"]),
            "start_s": table["start_ps"] * PS,
            **{name: table[name] for name in ("packets", "bytes")},
            "holder_burst": whole(table["holder_burst"], table["holder_burst"] != NONE),
        }
    )


def hops(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per packet and link, for packets alone and in bursts.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_hops``.
    places : Places
        Names of the network's nodes and links.

    Returns
    -------
    pandas.DataFrame
        ``came_s``, arrival of the packet at the node: of its head if the node acts on heads, else
        of its tail; at a host the time at which the packet was made, and at an egress the arrival
        of its burst's tail; ``flow``; ``packet``, its number; the ``burst`` in which it is
        forwarded (missing otherwise); ``node``; the ``link`` with its ends ``link_source`` and
        ``link_target``; ``held_s``, the time in a buffer, in assembly until its burst departed, or
        at an egress until the bursts before its own had arrived; ``queued_s``, the time of
        waiting for the link after that; ``start_s``, the start of its transmission; ``arrival_s``,
        the time at which the next node can act (NaN if lost on the link). The difference of
        ``start_s`` and ``came_s + held_s + queued_s`` is the switching time. In the order in which
        links were given the packets.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "came_s": table["came_ps"] * PS,
            "flow": table["flow"],
            "packet": table["packet"],
            "burst": whole(table["burst"], table["burst"] != NONE),
            "node": places.nodes(table["node"]),
            **places.links(table["link"]),
            **{f"{name}_s": table[f"{name}_ps"] * PS for name in ("held", "queued", "start")},
            "arrival_s": seconds(table["arrival_ps"]),
        }
    )


def path_switches(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per change of path by load, for bursts of any flow.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_path_switches``.
    places : Places
        Names of the network's nodes and links.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, assembly of the first burst on the new path; ``node``, the ingress; ``egress``;
        ``before`` and ``label``, the numbers of the old and the new path, from 0. The first burst
        of a pair takes path 0, which makes no row.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "time_s": table["time_ps"] * PS,
            **{name: places.nodes(table[name]) for name in ("node", "egress")},
            **{name: table[name] for name in ("before", "label")},
        }
    )
