"""How much memory a run needs, and whether there is so much."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
from numpy.typing import NDArray

from lightburst.compile.certain import certain_links, first_of_parallel
from lightburst.errors import InputError, show
from lightburst.topology import Counts
from lightburst.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND, format_duration

if TYPE_CHECKING:
    from lightburst.compile.plan import Plan

# Memory of one run, Python and the simulator together, rounded up from measurements.
_FIXED_BYTES = 64 * 2**20
_BYTES_PER_NODE = 600
_BYTES_PER_LINK = 160
_BYTES_PER_FLOW = 700
_BYTES_PER_DATAGRAM = 60
# A segment in a window: its record at the sender and the receiver, itself, its acknowledgement.
_BYTES_PER_SEGMENT = 300
# The rows of the trace about one segment and its acknowledgement, as columns and as tables; and
# those about their way over one link.
_BYTES_PER_TRACED_SEGMENT = 2000
_BYTES_PER_TRACED_HOP = 600
# What is known of a link, or of a switch, at one time, as columns and as tables.
_BYTES_PER_SAMPLED_LINK = 80
_BYTES_PER_SAMPLED_SWITCH = 40
# The packets that wait at one edge for one other edge.
_BYTES_PER_QUEUE = 200
# A data segment of a scripted drop: how often it came.
_BYTES_PER_ORDERED_SEGMENT = 4
# A table of equal-cost sets: two bytes for each pair of node and host.
_BYTES_PER_ROUTE = 2
# The paths of a pair of switches with hosts: where they begin.
_BYTES_PER_PAIR = 4
# Below this no machine is in danger, and asking it would take longer than compiling.
_HARMLESS_BYTES = 128 * 2**20


def estimate_memory(plan: "Plan", transmissions: NDArray[np.uint64] | None = None) -> int:
    """How much memory a run will need, Python and the simulator together.

    Parameters
    ----------
    plan : Plan
        What will be run.
    transmissions : ndarray of uint64, shape (flows,), optional
        How many data segments each flow will send, if that is known of a run before. Without it a
        traced flow sends all that it has, or what the links that it certainly uses carry until the
        time limit.

    Returns
    -------
    int
        Bytes, rather too many than too few.

    Raises
    ------
    InputError
        When that is more than is free.
    """
    hosts, nodes = plan.settings["hosts"], plan.settings["nodes"]
    structured = plan.settings["routing"]["kind"] != "shortest-path"
    datagrams = plan.flows["departures_ps"].size if "departures_ps" in plan.flows else 0
    counts = Counts(hosts, nodes, plan.links["from"].size, structured)
    needed = (
        needed_bytes(counts, plan.flows["source"].size, datagrams)
        + _BYTES_PER_SEGMENT * _most_in_windows(plan)
        + _traced(plan, transmissions)
        + _sampled(plan)
        + _BYTES_PER_ORDERED_SEGMENT * _ordered(plan)
        + _BYTES_PER_QUEUE * _queues(plan)
        + _BYTES_PER_PAIR * (0 if plan.settings["label"] is None else _edges(plan) ** 2)
    )
    check_memory(needed)
    return needed


def needed_bytes(counts: Counts, flows: int, datagrams: int = 0) -> int:
    """How much memory a network and so many flows and datagrams need, in bytes."""
    return (
        _FIXED_BYTES
        + _BYTES_PER_NODE * counts.nodes
        + _BYTES_PER_LINK * counts.links
        + (0 if counts.structured else _BYTES_PER_ROUTE * counts.nodes * counts.hosts)
        + _BYTES_PER_FLOW * flows
        + _BYTES_PER_DATAGRAM * datagrams
    )


def segments_in_windows(sizes: NDArray[np.uint64], payload: int, window: int) -> int:
    """How many segments can be on their way at once: of each flow a window, or all that it has.

    Parameters
    ----------
    sizes : ndarray of uint64, shape (flows,)
        Bytes of each flow.
    payload : int
        Useful bytes of a segment.
    window : int
        The largest window, in segments.
    """
    segments = (sizes + np.uint64(payload - 1)) // np.uint64(payload)
    return int(np.minimum(segments, np.uint64(window)).sum())


def _most_in_windows(plan: "Plan") -> int:
    most = 0
    for number, transport in enumerate(plan.transports):
        window = transport.get("advertised_window_bytes")
        if window is not None:
            payload = transport["segment_bytes"] - transport["header_bytes"]
            sizes = plan.flows["bytes"][plan.group == number]
            most += segments_in_windows(sizes, payload, window // payload)
    return most


def _traced(plan: "Plan", transmissions: NDArray[np.uint64] | None) -> int:
    """Bytes of the trace; refused by its own name if it alone is too much.

    Each segment goes over as many links as the longest of the shortest paths.
    """
    traced = plan.settings["trace"]
    if not traced:
        return 0
    if transmissions is None:
        most, segments = "up to ", _most_sent(plan, np.array(traced))
    else:
        most, segments = "", int(transmissions[traced].sum())
    links = _path_links(plan)
    needed = segments * (_BYTES_PER_TRACED_SEGMENT + _BYTES_PER_TRACED_HOP * links)
    limit = format_duration(plan.settings["time_limit_ps"])
    check_memory(
        needed,
        "measurement.trace",
        f"{'flow' if len(traced) == 1 else 'flows'} {show(traced).strip('[]')}, whose trace until "
        f"measurement.time_limit ({limit}) has {most}{segments:,} segments "
        f"over {links} links, {{}}",
        "an earlier limit or a smaller flow: {} of memory are free",
    )
    return needed


def _most_sent(plan: "Plan", flows: NDArray[np.int64]) -> int:
    """Segments of flows: all they have, or what the slowest link on their way carries in the time.

    Of links that all their paths have in common, several side by side are one.
    """
    segment = plan.by_flow(lambda transport: transport["segment_bytes"])[flows]
    payload = segment - plan.by_flow(lambda transport: transport["header_bytes"])[flows]
    rate = np.bincount(first_of_parallel(plan), plan.links["rate_bps"])
    user, link, _ = certain_links(plan, flows)
    slowest = np.full(plan.flows["source"].size, np.inf)
    np.minimum.at(slowest, user, rate[link])
    seconds = plan.settings["time_limit_ps"] / PICOSECONDS_PER_SECOND
    carried = slowest[flows] * seconds / (BITS_PER_BYTE * segment)
    return int(np.minimum(plan.flows["bytes"][flows] / payload, carried).sum())


def _path_links(plan: "Plan") -> int:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    traced, nodes = plan.settings["trace"], plan.settings["nodes"]
    ends = plan.links["from"], plan.links["to"]
    graph = csr_array((np.ones(ends[0].size, np.int8), ends), shape=(nodes, nodes))
    sources, places = np.unique(plan.flows["source"][traced], return_inverse=True)
    away = dijkstra(graph, unweighted=True, indices=sources)
    return int(away[places, plan.flows["destination"][traced]].max())


def _sampled(plan: "Plan") -> int:
    """Bytes of the samples; refused by their own name if they alone are too many."""
    every = plan.settings["sample_ps"]
    if every is None:
        return 0
    times = plan.settings["time_limit_ps"] // every + 1
    links = plan.links["from"].size
    switches = plan.settings["nodes"] - plan.settings["hosts"]
    needed = int(times * (_BYTES_PER_SAMPLED_LINK * links + _BYTES_PER_SAMPLED_SWITCH * switches))
    limit = format_duration(plan.settings["time_limit_ps"])
    check_memory(
        needed,
        "measurement.sample",
        f"{format_duration(every)}: until measurement.time_limit ({limit}) that is "
        f"{times:,} samples of {links:,} links and {switches:,} switches, {{}}",
        "a longer time or an earlier limit: {} of memory are free",
    )
    return needed


def _queues(plan: "Plan") -> int:
    """Queues for bursts: of each edge, the switches with hosts, for each edge."""
    if all(switch["kind"] != "burst" for switch in plan.settings["switches"]):
        return 0
    return _edges(plan) ** 2


def _edges(plan: "Plan") -> int:
    """Count the switches with hosts."""
    # A host has one link, and hosts come first.
    return int(np.unique(plan.links["to"][: plan.settings["hosts"]]).size)


def _ordered(plan: "Plan") -> int:
    """Count the data segments that scripted drops name."""
    drops = (plan.settings["loss"] or {}).get("drops", ())
    spans = [drop["segments"] for drop in drops if "segments" in drop]
    return sum(last - first + 1 for first, last in spans)


def check_memory(
    needed: int,
    path: str = "scenario",
    given: str = "one that needs about {} of memory",
    allowed: str = "what fits into the {} that are free",
) -> None:
    """Refuse what needs more memory than is free.

    Parameters
    ----------
    needed : int
        Bytes.
    path, given, allowed : str
        For the message, with a place for what is needed and for what is free.

    Raises
    ------
    InputError
        When it is more.
    """
    if needed > _HARMLESS_BYTES and needed > (free := available_memory()):
        needs, has = (f"{size / 2**30:,.1f} GiB" for size in (needed, free))
        raise InputError(path, given.format(needs), allowed.format(has))


def available_memory() -> int:
    """Bytes of memory that this process can still have: of the machine, or of its container."""
    free = int(psutil.virtual_memory().available)
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text("ascii"))
    except (OSError, ValueError):
        return free  # no control groups here
    return free if limit == "max" else max(0, min(free, int(limit) - used))
