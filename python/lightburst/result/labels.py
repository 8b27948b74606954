"""Display names and units of the columns of tables and of the metrics of a run.

The suffix of a name is its unit: ``throughput_bps``, ``completion_time_s``,
``topology.link_length_m``.
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
    "spurious_bytes": "retransmitted, but not lost",
    "fast_retransmits": "fast retransmissions",
    "false_fast_retransmits": "false fast retransmissions",
    "timeouts": "timeouts",
    "false_timeouts": "false timeouts",
    "reordered": "segments out of order",
    "loss_per_hop": "loss of packets per hop",
    "loss_end_to_end": "loss end to end",
    "drops_missed": "scripts of [loss] that never occurred",
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
    "packet_bytes_share": "bytes by the packet network",
    "packet_flows_share": "flows by the packet network alone",
    "energy_j": "energy of conversions",
    "jain_index": "Jain's index, busiest shared link",
    "packet_hops": "packet hops",
    "events": "events",
    "wall_s": "wall clock time",
    "digest": "digest",
    "collective_time_mean_s": "time of a collective operation, mean",
    "collective_time_max_s": "time of a collective operation, slowest rank",
    "schedule_time_s": "time of the schedule",
    "rank_time_mean_s": "time of a rank in the schedule, mean",
    "bus_bandwidth_bps": "bus bandwidth of a collective operation, mean",
    **{key: words for one in MEASUREMENTS for key, words in one.labels.items()},
}

# Display names of columns of flows, links and bursts that are no metrics of a run.
_COLUMNS: Final = {
    "completion_time_s": "completion time",
    "start_s": "start",
    "size_bytes": "size of the flow",
    "queue_bytes": "queue",
    "ne": "ports of the buffer",
}

# A field of one group of flows, whose name is quoted if it contains a dot.
_OF_GROUP: Final = re.compile(r'groups\.(?:"([^"]*)"|([^".]*))\.(.+)')

# Field names that many tables of a scenario share, each with its own meaning.
_OF_A_TABLE: Final = frozenset(
    {"k", "kind", "max", "mean", "median", "min", "number", "p", "probability", "rate", "shape"}
    | {"sigma", "size", "time", "value"}
)

_ACRONYMS: Final = {word.lower(): word for word in ("ACK", "ECN", "RTT", "SACK", "TCP")}

# Suffix of a name, its unit, and whether the unit takes a prefix such as k or M; longest first.
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
    """Return the display name of a metric; for user-defined metrics the one in `own`."""
    if own and key in own:
        return own[key]
    figure, part = apart(key)
    return _with_part(WORDS.get(figure, figure.replace("_", " ")), part)


def column_words(name: str) -> str:
    """Return the display name of a column, without its unit: ``link length`` for a scenario's path.

    The group or class comes last: ``completion time, mean [query]``, ``load [background]``.
    """
    figure, part = apart(name)
    told = WORDS.get(figure) or _COLUMNS.get(figure)
    if told is None:
        end = next((end for end, *_ in _UNITS if figure.endswith(end)), "")
        *above, last = figure.removesuffix(end).split(".")
        # Ambiguous without the name of their table: the loss probability, the assembly time.
        parent = above[-1:] if last in _OF_A_TABLE else []
        told = " ".join(_ACRONYMS.get(w, w) for w in "_".join([*parent, last]).split("_"))
    return _with_part(told, part)


def apart(name: str) -> tuple[str, str]:
    """Split the name of a metric or field from its group or size class.

    Parameters
    ----------
    name : str
        Name of a metric or field: ``slowdown_p99[query]``, ``groups.query.workload.load``.

    Returns
    -------
    (str, str)
        The name alone, and the group or size class: ``""`` for a metric of all flows.
    """
    if found := _OF_GROUP.fullmatch(name):
        quoted, plain, field = found.groups()
        return field, quoted or plain
    figure, _, rest = name.partition("[")
    return figure, rest.removesuffix("]")


def _with_part(words: str, part: str) -> str:
    return f"{words} [{part}]" if part else words


def unit_of(name: str) -> str:
    """Return the unit of a column by the suffix of its name; empty for a plain number."""
    return next((unit for end, unit, _ in _UNITS if apart(name)[0].endswith(end)), "")


def has_prefix(name: str) -> bool:
    """Return whether the unit of a column takes a prefix such as k or M."""
    return next((prefixed for end, _, prefixed in _UNITS if apart(name)[0].endswith(end)), False)
