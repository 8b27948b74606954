"""Tables of the events of chosen flows and links, in SI base units.

Each function takes columns of the simulator, all rows or some of them. The columns themselves have
times to the picosecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.foundation.counts import PS
from lightburst.measurement.cells import NONE, NOWHERE, Table, reasons, seconds, whole, words

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.measurement.places import Places

EVENTS: Final = ("sent", "arrived", "lost")
STATES: Final = ("slow start", "congestion avoidance", "fast recovery", "loss")
# Columns of the flags of a packet, with their bits.
FLAGS: Final = {"from_source": 8, "syn": 1, "ack": 2, "fin": 4}
MOST_BLOCKS: Final = 4


def segments(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per sending, arrival or loss of a packet, in order of time.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_segments``.
    places : Places
        Of the network.

    Returns
    -------
    pandas.DataFrame
        ``time_s``; ``flow``; ``event``: ``sent`` (its transmission on the host's interface began),
        ``arrived`` (at the other host) or ``lost``; ``packet``, a number that is the same in both
        rows of a packet; ``from_source``: whether it goes from the flow's source to its
        destination; ``syn``, ``ack``, ``fin``; ``sequence``, its first byte, from 0;
        ``acknowledgement``, the next byte expected (of the source's own: 1 for the SYN, 2 for the
        FIN); ``payload_bytes``; ``retransmission``; the ``node`` where it was; the ``link`` (a row
        of `lightburst.Result.links`) with its ends ``link_source`` and ``link_target``: the host's
        interface of a packet that is sent, and of a loss the link on which it was lost or which it
        could not get; of a loss also ``burst``, the number of the burst in which it was (missing
        otherwise), the ``reason``, and where a busy output was the reason ``holder_flow`` or
        ``holder_burst``, whose packet or which burst had got it last; ``blocks`` (of SACK), with
        ``block_start_0`` and ``block_end_0`` to ``_3`` in bytes (missing where there are fewer);
        and the time stamps ``timestamp_s`` and ``echo_s`` (NaN without).
    """
    import pandas as pd

    edges = {
        name: whole(table[name], table["blocks"] > place)
        for place in range(MOST_BLOCKS)
        for name in (f"block_start_{place}", f"block_end_{place}")
    }
    return pd.DataFrame(
        {
            "time_s": table["time_ps"] * PS,
            "flow": table["flow"],
            "event": words(table["event"], EVENTS),
            "packet": table["packet"],
            **{name: (table["flags"] & bit) > 0 for name, bit in FLAGS.items()},
            "sequence": table["sequence"],
            "acknowledgement": table["acknowledgement"],
            "payload_bytes": table["payload"],
            "retransmission": table["retransmission"] > 0,
            "burst": whole(table["burst"], table["burst"] != NONE),
            "node": places.nodes(table["node"]),
            **places.links(table["link"]),
            "reason": reasons(table["reason"]),
            "holder_flow": whole(table["holder_flow"], table["holder_flow"] != NOWHERE),
            "holder_burst": whole(table["holder_burst"], table["holder_burst"] != NONE),
            "blocks": table["blocks"],
            **edges,
            "timestamp_s": seconds(table["timestamp_ps"]),
            "echo_s": seconds(table["echo_ps"]),
        }
    )


def windows(table: Table) -> pd.DataFrame:
    """Return one row per acknowledgement or timeout of a sender.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_windows``.

    Returns
    -------
    pandas.DataFrame
        ``time_s``; ``flow``; ``congestion_window_bytes``; ``inflation_bytes``, by which duplicate
        acknowledgements widen it in a recovery;
        ``slow_start_threshold_bytes`` (infinite before the first loss); ``in_flight_bytes``;
        ``rtt_s`` (newest sample; NaN before the first); ``rto_s``, the retransmission timeout; and
        ``state``, one of `STATES`: ``loss`` lasts from a timeout until all is acknowledged that was
        outstanding then.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "time_s": table["time_ps"] * PS,
            "flow": table["flow"],
            "congestion_window_bytes": table["congestion_window"],
            "inflation_bytes": table["inflation"],
            "slow_start_threshold_bytes": table["slow_start_threshold"],
            "in_flight_bytes": table["in_flight"],
            "rtt_s": seconds(table["rtt_ps"]),
            "rto_s": seconds(table["rto_ps"]),
            "state": words(table["state"], STATES),
        }
    )


def bursts(table: Table, places: Places) -> pd.DataFrame:
    """Return one row per burst that carries a packet of a traced flow.

    Where links are traced, of each burst that was made before the end of the time of interest.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_bursts``.
    places : Places
        Of the network.

    Returns
    -------
    pandas.DataFrame
        ``opened_s``, the arrival of its first packet at the ingress; ``closed_s``, when it was
        assembled; ``departure_s``, when it left there; ``number``, that among all bursts of the run
        in the order in which they were made, from 0; ``node``, the ingress; ``of_node``, its number
        among those of the ingress, from 1;
        ``egress``; ``label``, which of the paths it took; ``packets`` and ``bytes`` in it, those of
        other flows too; ``data``: whether it carries any; ``arrival_s``, when its tail was at the
        egress (NaN: it did not come); ``lost`` and, if so, the ``reason``, the ``lost_node``, and
        the link that it was on or could not get: ``lost_link``, ``lost_link_source``,
        ``lost_link_target``; ``lost_s``, when; ``lost_start_s``, when its head was to leave there;
        and ``holder_burst``, the burst that had what it wanted, if one had (else missing).
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
        Of the network.

    Returns
    -------
    pandas.DataFrame
        The ``link`` with its ends ``link_source`` and ``link_target``; the ``channel`` of the
        fibre, from 0; ``start_s``, when the head of the burst leaves, and ``end_s``, when its tail
        has left; ``made_s``, when the link was given the burst, or its header; ``burst``, the
        number; and ``bytes``, what is left of it there. In the order of the starts.
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
        Of the network.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, when its packets were lost: a head where it is cut off, a tail where its burst
        ends; ``burst``, the number; the ``link`` on which it was cut off, with its ends
        ``link_source`` and ``link_target``; ``start_s``, when it was to leave there; its
        ``packets`` and ``bytes``; and ``holder_burst``, which burst had the channel in its place.
        A tail of which no packet is lost (it is padding, or the burst was lost as a whole) has no
        row. In time.
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
        Of the network.

    Returns
    -------
    pandas.DataFrame
        ``came_s``, when it came to the node: its head where the node acts on heads, else its tail;
        where a host made it when that was, and where its burst was taken apart when its tail came;
        ``flow``; ``packet``, its number; the ``burst`` in which it is handed on (missing
        otherwise); ``node``; the ``link`` with its ends ``link_source`` and ``link_target``;
        ``held_s``, how long it was kept in a buffer, until its burst was closed and could leave,
        or after its burst had come until those before had; ``queued_s``,
        how long it then waited for the link; ``start_s``, when its transmission begins;
        ``arrival_s``, when the node at the other end can act (NaN: it is lost on the link). What is
        between ``came_s + held_s + queued_s`` and ``start_s`` is the switching time. In the order
        in which they were handed over.
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
        Of the network.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, when the first burst on the new path was made; ``node``, the ingress;
        ``egress``; ``before`` and ``label``, the numbers of the paths, from 0. The first burst of a
        pair takes path 0, which is no row.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "time_s": table["time_ps"] * PS,
            **{name: places.nodes(table[name]) for name in ("node", "egress")},
            **{name: table[name] for name in ("before", "label")},
        }
    )
