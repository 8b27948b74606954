"""What the columns of tables and the metrics of a run are called, and in which unit they are.

A name carries its unit: ``throughput_bps``, ``completion_time_s``, ``topology.link_length_m``.
"""

import re
from collections.abc import Mapping
from typing import Final

from lightburst.scenario.tables.measurement import MEASUREMENTS

WORDS: Final = {
    "offered_load": "offered load",
    "throughput_bps": "throughput",
    "makespan_s": "makespan",
    "flows": "flows",
    "finished": "finished flows",
    "unfinished": "unfinished flows",
    "active_flows": "active flows, mean",
    "offered_bps": "offered, headers not included",
    "delivered_bytes": "delivered",
    "retransmissions": "retransmissions",
    "spurious_bytes": "sent again, but not lost",
    "fast_retransmits": "fast retransmissions",
    "false_fast_retransmits": "false fast retransmissions",
    "timeouts": "timeouts",
    "false_timeouts": "false timeouts",
    "reordered": "segments out of order",
    "loss_per_hop": "loss of packets per hop",
    "loss_end_to_end": "loss end to end",
    "drops_missed": "scripted drops that never came",
    "bursts": "bursts, with or without data",
    "burst_loss": "loss of bursts, with or without data",
    "burst_loss_per_hop": "loss of bursts per hop",
    "burst_mean_packets": "packets in a burst, mean",
    "burst_mean_bytes": "size of a burst, mean",
    "assembly_mean_s": "wait for the assembly, mean",
    "completion_time_mean_s": "completion time, mean",
    "completion_time_median_s": "completion time, median",
    "completion_time_p99_s": "completion time, 99th percentile",
    "slowdown_mean": "slowdown, mean",
    "slowdown_median": "slowdown, median",
    "slowdown_p99": "slowdown, 99th percentile",
    "conversions_per_delivered_bit": "conversions per delivered bit",
    "energy_j": "energy of conversions",
    "jain_index": "Jain's index, busiest shared link",
    "packet_hops": "packet hops",
    "events": "events",
    "wall_s": "wall clock time",
    "digest": "digest",
    **{key: words for one in MEASUREMENTS for key, words in one.labels.items()},
}

# What else columns of tables of flows, links and bursts are called.
_COLUMNS: Final = {
    "completion_time_s": "completion time",
    "start_s": "start",
    "size_bytes": "size of the flow",
    "queue_bytes": "queue",
    "ne": "ports of the buffer",
}

# A field of one group of flows, whose name stands in quotes if it has a dot.
_OF_GROUP: Final = re.compile(r'groups\.(?:"([^"]*)"|([^".]*))\.(.+)')

# What many tables of a scenario have, each of another thing.
_OF_A_TABLE: Final = frozenset(
    {"k", "kind", "max", "mean", "median", "min", "number", "p", "probability", "rate", "shape"}
    | {"sigma", "size", "time", "value"}
)

_ACRONYMS: Final = {word.lower(): word for word in ("ACK", "ECN", "RTT", "SACK", "TCP")}

# The end of a name, its unit, and whether that takes a prefix such as k or M. The longer first.
_UNITS: Final = (
    ("_bps2", "b²/s²", False),
    ("_j_per_bit", "J/b", True),
    ("_s_per_m", "s/m", True),
    ("_per_s", "1/s", False),
    ("_bps", "b/s", True),
    ("_bytes", "B", True),
    ("_s", "s", True),
    ("_j", "J", True),
    ("_m", "m", True),
)


def words_of(key: str, own: Mapping[str, str] | None = None) -> str:
    """Say what a figure of the summary is called; metrics of the user's own, as the user says."""
    if own and key in own:
        return own[key]
    figure, part = apart(key)
    return _with_part(WORDS.get(figure, figure.replace("_", " ")), part)


def column_words(name: str) -> str:
    """Say what a column is called, without its unit: ``link length`` for a path of a scenario.

    What it is of stands behind it: ``completion time, mean [query]``, ``load [background]``.
    """
    figure, part = apart(name)
    told = WORDS.get(figure) or _COLUMNS.get(figure)
    if told is None:
        end = next((end for end, *_ in _UNITS if figure.endswith(end)), "")
        *above, last = figure.removesuffix(end).split(".")
        # Alone these say nothing: the loss probability, the assembly time.
        parent = above[-1:] if last in _OF_A_TABLE else []
        told = " ".join(_ACRONYMS.get(w, w) for w in "_".join([*parent, last]).split("_"))
    return _with_part(told, part)


def apart(name: str) -> tuple[str, str]:
    """Take apart what is of one group or class of size, as all that reads the name must.

    Parameters
    ----------
    name : str
        Of a figure or a field: ``slowdown_p99[query]``, ``groups.query.workload.load``.

    Returns
    -------
    (str, str)
        The name without it, and the group or class: ``""`` where it is of all flows.
    """
    if found := _OF_GROUP.fullmatch(name):
        quoted, plain, field = found.groups()
        return field, quoted or plain
    figure, _, rest = name.partition("[")
    return figure, rest.removesuffix("]")


def _with_part(words: str, part: str) -> str:
    return f"{words} [{part}]" if part else words


def unit_of(name: str) -> str:
    """Give the unit in which a column is, by the end of its name; nothing for a plain number."""
    return next((unit for end, unit, _ in _UNITS if apart(name)[0].endswith(end)), "")


def has_prefix(name: str) -> bool:
    """Tell whether the unit of a column takes a prefix such as k or M."""
    return next((prefixed for end, _, prefixed in _UNITS if apart(name)[0].endswith(end)), False)
