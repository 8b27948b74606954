"""The memory that a run needs, compared with the available memory."""

import operator
from collections.abc import Mapping
from math import ceil, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.at_once import PLACES, AtOnce
from lightburst.compile.forecast import Forecast
from lightburst.compile.plan import Plan
from lightburst.compile.waiting import packets_at_once, unit_bytes
from lightburst.foundation.memory import HARMLESS_BYTES, check_memory
from lightburst.scenario.tables.loss import SCRIPTS
from lightburst.scenario.tables.measurement import MEASUREMENTS
from lightburst.scenario.transport import OPEN_LOOP
from lightburst.topology import Counts
from lightburst.workload import LEAST_BYTES_PER_FLOW

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Memory at the peak of a run, with the tables of its result: measured peaks of processes, rounded
# up (tests/compile/test_memory.py).
# Modules that the first run and its tables import.
_FIRST_BYTES = 20 * 2**20
_BYTES_PER_NODE = 600
_BYTES_PER_LINK = 220
# A flow in the plan and in all columns, by the kind of its transport; and its two endpoints.
_BYTES_PER_FLOW = {
    "datagram": LEAST_BYTES_PER_FLOW,
    "bursts": 520,
    "saw": 520,
    "sawl": 520,
    "tcp": 520,
    "rdma": 520,
}
_BYTES_PER_CONNECTION = {
    "datagram": 0,
    "bursts": 0,
    "saw": 520,
    "sawl": 520,
    "tcp": 1160,
    "rdma": 1160,
}
# An unacknowledged segment in the record of its sender, whose capacity doubles when it is full.
_BYTES_PER_RECORD = 16
_LEAST_RECORDS = 4
# The departure time of a datagram; those of several groups are merged, which needs more.
_BYTES_PER_DATAGRAM = 28
_BYTES_PER_MERGED_DATAGRAM = 64
# A further number of each flow in the network, if connections have several subflows.
_BYTES_PER_SUBFLOW = 24
# The data level of a connection with subflows, and of an unacknowledged segment.
_BYTES_PER_DATA_LEVEL = 1000
_BYTES_PER_NUMBERED = 12
# A queued or travelling packet, by the kind of its transport: of a connection with a timer and
# options; of a burst also with its header; and each further packet of a burst.
_BYTES_PER_PACKET = 72
_BYTES_PER_WAITING = {
    "datagram": 72,
    "bursts": 230,
    "saw": 200,
    "sawl": 200,
    "tcp": 200,
    "rdma": 200,
}
# The telemetry of a packet, and the path of a flow whose sender changes it.
_BYTES_PER_TELEMETRY = 360
_BYTES_PER_CHANGING_PATH = 40
# The entropy values of a flow without their penalties, and some packets in flight.
_BYTES_PER_SPRAY = 400
# A host with a fair interface, and the position of a flow in its queue.
_BYTES_PER_FAIR_HOST = 80
_BYTES_PER_FAIR_FLOW = 4
# A flow that waits for others: its columns, its join, and its start; a join that works, with its
# begin and the operation of the schedule.
_BYTES_PER_JOINED_FLOW = 106
_BYTES_PER_WORKING_JOIN = 150
# A flow whose receive is matched in the run, and that receive with its place in a queue.
_BYTES_PER_MATCHED_FLOW = 90
# The place of a queue in the table of an output with FQ-CoDel, and the queue of a hash of flows;
# switches on a long path in a fat-tree, and packets of a connection without data.
_BYTES_PER_PLACE = 4
_BYTES_PER_FLOW_QUEUE = 140
_SWITCHES = 5
# The line of a group of flows at an output, and the group of a flow.
_BYTES_PER_LINE = 40
_BYTES_PER_GROUP = 2
_ENDS = 4
# The assembly queue of an edge for one destination edge.
_BYTES_PER_QUEUE = 280
# A switch that reserves channels, and each channel of a fibre.
_BYTES_PER_OBS_SWITCH = 900
_BYTES_PER_CHANNEL = 60
# A rack of a network with circuits: the places of a pair of racks in the schedule, with a queue or
# two; a rack in a matching, in the plan and as the simulator reads it; and in the slot of a switch.
_BYTES_PER_PAIR_OF_RACKS = 64
_BYTES_PER_MATCHED_RACK = 90
_BYTES_PER_CIRCUIT = 6
# A data segment of a script: the count of its transmissions.
_BYTES_PER_ORDERED_SEGMENT = 4
# A table of equal-cost sets: bytes for each pair of node and host.
_BYTES_PER_ROUTE = 2
# Labelled paths: the import of networkx, each pair of switches with hosts, and each path.
_PATHS_BYTES = 30 * 2**20
_BYTES_PER_PAIR = 4
_BYTES_PER_PATH = 1000
# The traffic offered to a link in an interval.
_BYTES_PER_INTERVAL = 8
# What each further part of a network has of a link, with its nodes, and of a flow.
_BYTES_PER_LINK_OF_PART = 110
_BYTES_PER_FLOW_OF_PART = 60


def estimate_memory(
    plan: Plan,
    before: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    parts: int = 1,
) -> int:
    """Estimate the memory that a run needs, from its plan to the tables of its result.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    before : mapping of str to mapping, optional
        The columns of an earlier run without a trace, with the numbers of data segments of each
        flow, of bursts, and of bursts on each link. Without them a traced flow is taken to send
        all its segments, or as many as the links that it certainly uses carry until the time
        limit, and the bursts of traced links are left out of the estimate.
    limit : int, optional
        ``measurement.memory_limit``: the most bytes that this program may hold.
    parts : int
        Number of parts of the network, each of which has the whole of it.

    Returns
    -------
    int
        Bytes, an upper rather than a lower estimate, without those of Python itself (some 150 MiB,
        already allocated by then). Retransmissions that wait in queues without limit are not
        included.

    Raises
    ------
    InputError
        If the estimate exceeds the available memory or the limit.
    """
    hosts, nodes = plan.settings["hosts"], plan.settings["nodes"]
    structured = plan.settings["routing"]["kind"] != "shortest-path"
    counts = Counts(hosts, nodes, plan.links["from"].size, structured)
    forecast = Forecast(plan, before)
    needed = int(
        _FIRST_BYTES
        + needed_bytes(counts, 0)
        + _flows(plan, parts)
        + (parts - 1) * _BYTES_PER_LINK_OF_PART * counts.links
        + sum(one.memory(forecast) for one in reversed(MEASUREMENTS))
        + _BYTES_PER_ORDERED_SEGMENT * _ordered(plan)
        + _BYTES_PER_QUEUE * _queues(plan)
        + _channels(plan)
        + _paths(plan)
        + _loads(plan)
        + _fair(plan)
        + _changing_paths(plan)
        + _queues_by_flow(plan)
        + _queues_by_group(plan)
        + _circuits(plan)
        + _BYTES_PER_JOINED_FLOW * plan.flows.get("after_join", np.empty(0)).size
        + _BYTES_PER_WORKING_JOIN * plan.flows.get("join_cpu", np.empty(0)).size
        + _BYTES_PER_MATCHED_FLOW * plan.flows.get("tag_of_flow", np.empty(0)).size
    )
    check_memory(needed - plan.nbytes, limit=limit)
    return needed


def _fair(plan: Plan) -> int:
    """Return the bytes of fair interfaces, which serve flows in turn."""
    if plan.settings.get("fair") is None:
        return 0
    flows = plan.flows["source"].size
    return _BYTES_PER_FAIR_HOST * int(plan.settings["hosts"]) + _BYTES_PER_FAIR_FLOW * flows


def _changing_paths(plan: Plan) -> int:
    """Return the bytes of the paths of flows, if senders change them."""
    choice = plan.settings["choice"]
    flows = int(plan.flows["source"].size)
    match choice:
        case {"kind": "adaptive"}:
            return _BYTES_PER_CHANGING_PATH * flows
        case {"kind": "entropy-spray", "entropies": values, "recycled": recycled}:
            return (_BYTES_PER_SPRAY + int(values) + int(recycled)) * flows
    return 0


def _queues_by_flow(plan: Plan) -> int:
    """Return the bytes of the queues that flows find at the outputs of switches with FQ-CoDel.

    An output makes the queue of a hash when a packet comes with it. So there are at most as many as
    hashes, and as many as pairs of a flow and an output on its way; of the latter some have equal
    hashes, as balls in the same bin.
    """
    tables = [one.get("queue") or {} for one in plan.settings["switches"]]
    hashes = np.array([one["flows"] if one.get("kind") == "fq-codel" else 0 for one in tables])
    if not hashes.any():
        return 0
    hosts = plan.settings["hosts"]
    source = plan.links["from"]
    of_switches = source[source >= hosts] - hosts
    places = float(hashes[plan.nodes["switch"][of_switches]].sum())
    # On its way: once for each direction, or once for each packet if each may take another way.
    each = np.full(plan.flows["bytes"].size, 2.0)
    if plan.settings["choice"] != "flow-hash":
        payload = plan.by_flow(lambda one: one["segment_bytes"] - one["header_bytes"])
        each = 2 * np.ceil(plan.flows["bytes"] / payload) + _ENDS
    outputs = min(_SWITCHES, plan.settings["nodes"] - hosts)
    pairs = float(outputs * np.minimum(each, of_switches.size).sum())
    queues = places * -np.expm1(-pairs / places)
    return int(_BYTES_PER_PLACE * places + _BYTES_PER_FLOW_QUEUE * queues)


def _queues_by_group(plan: Plan) -> int:
    """Return the bytes of the lines of groups at the outputs of switches."""
    tables = [one.get("queue") or {} for one in plan.settings["switches"]]
    lines = [max(one.get("bands", (-1,))) + 1 or len(one.get("quanta_bytes", ())) for one in tables]
    if not any(lines):
        return 0
    hosts, source = plan.settings["hosts"], plan.links["from"]
    outputs = np.array(lines)[plan.nodes["switch"][source[source >= hosts] - hosts]]
    return int(_BYTES_PER_LINE * outputs.sum() + _BYTES_PER_GROUP * plan.flows["bytes"].size)


def _changes_of_circuits(plan: Plan) -> int:
    """Return the most times at which racks learn that links are down, or up again."""
    outages = plan.settings.get("outages") or {}
    known = outages.get("links", ()) if "restoration_ps" in outages else ()
    return len({time for _, *times in known for time in times})


def _circuits(plan: Plan) -> int:
    """Return the bytes of the queues of racks for circuits, and of the schedule of these."""
    schedule = _schedule(plan)
    if schedule is None:
        by_demand = any(one["kind"] == "circuit" for one in plan.settings["switches"])
        return _BYTES_PER_PAIR_OF_RACKS * _edges(plan) ** 2 if by_demand else 0
    racks, slots = _edges(plan), sum(map(len, schedule["turns"]))
    matched = _BYTES_PER_MATCHED_RACK * len(schedule["matchings"]) + _BYTES_PER_CIRCUIT * slots
    graphs = 0
    if any("short_bytes" in one for one in plan.settings["switches"]):
        # A graph begins where a slot does or its guard time ends, until all turns begin again.
        changes = 2 * len(set(schedule.get("offsets_ps", (0,)))) + 1
        graphs = changes * lcm(*map(len, schedule["turns"])) * (racks**2 + 8)
        # Others after each change of the links that are known to be down.
        graphs *= 1 + _changes_of_circuits(plan)
    return racks * (_BYTES_PER_PAIR_OF_RACKS * racks + matched) + graphs


def _schedule(plan: Plan) -> dict[str, Any] | None:
    """Return the schedule of circuits, if there are any."""
    found = (switch["schedule"] for switch in plan.settings["switches"] if "schedule" in switch)
    return next(found, None)


def needed_bytes(counts: Counts, flows: int, datagrams: int = 0) -> int:
    """Return the bytes that a network, its flows and its datagrams need at least."""
    return (
        _BYTES_PER_NODE * counts.nodes
        + _BYTES_PER_LINK * counts.links
        + (0 if counts.structured else _BYTES_PER_ROUTE * counts.nodes * counts.hosts)
        + LEAST_BYTES_PER_FLOW * flows
        + _BYTES_PER_DATAGRAM * datagrams
    )


def segments_in_windows(sizes: NDArray[np.uint64], payload: int, window: int) -> int:
    """Return the most segments in flight at once: those of each flow, at most a window of it.

    Parameters
    ----------
    sizes : ndarray of uint64, shape (flows,)
        Bytes of each flow.
    payload : int
        Payload bytes of a segment.
    window : int
        The largest window, in segments.
    """
    segments = (sizes + np.uint64(payload - 1)) // np.uint64(payload)
    return int(np.minimum(segments, np.uint64(window)).sum())


def _flows(plan: Plan, parts: int) -> int:
    """Return the bytes of the flows, and of their packets in the network at once."""
    numbers = np.bincount(plan.group, minlength=len(plan.transports)).tolist()
    rows = (_BYTES_PER_FLOW[transport["kind"]] for transport in plan.transports)
    # All flows have the places of the largest number of subflows.
    subflows: int = max(transport.get("subflows", 1) for transport in plan.transports)
    # In parts of the flows, so that the estimate itself needs less memory than the run.
    most = np.concatenate([_in_flight(part) for _, part in plan.parts()])
    at_once = AtOnce(plan)
    # Connections between two of n parts, of all as many as (n - 1) / n, have endpoints in both.
    connections = _connections(plan, most, at_once) * (2 - 1 / parts)
    needed = int(sum(map(operator.mul, numbers, rows)) + connections)
    needed += (parts - 1) * _BYTES_PER_FLOW_OF_PART * int(plan.flows["source"].size)
    needed += (subflows - 1) * _BYTES_PER_SUBFLOW * int(plan.flows["source"].size)
    if "departures_ps" in plan.flows:
        datagrams = plan.flows["departures_ps"].size
        needed += _BYTES_PER_DATAGRAM * datagrams
        if len(plan.transports) > 1:
            # The memory of the merge is free again when the run begins.
            needed = max(needed, _BYTES_PER_MERGED_DATAGRAM * datagrams)
        most = np.maximum(most, np.diff(plan.flows["departure_offsets"].astype(np.int64)))
    each = max(map(_waiting, plan.transports, unit_bytes(plan).tolist()))
    if each * int(most.sum()) <= max(HARMLESS_BYTES // 4, needed // 8):
        return needed + each * int(most.sum())
    # What waits for circuits does not follow from the rates of links: any packet may.
    circuits = any(one["kind"] == "circuit" for one in plan.settings["switches"])
    packets = int(most.sum())
    if not circuits:
        packets = packets_at_once(plan, most, at_once.most(np.ones(most.size)))
    if all(transport["kind"] not in OPEN_LOOP for transport in plan.transports):
        # Only connections in progress have packets in the network.
        packets = min(packets, int(_windows_at_once(at_once, most.astype(float))))
    return needed + each * packets


def _windows_at_once(at_once: AtOnce, most: FloatArray) -> float:
    """Return the packets in flight of all connections in progress at once.

    A window grows and then ends with its flow: over the time of the flow half of its largest
    number of packets is in flight. Three standard deviations of as many independent flows, each
    uniform up to this number, come on top.
    """
    largest, squares = at_once.most(most), at_once.most(most**2)
    return min(largest, largest / 2 + 3 * float(np.sqrt(squares / 12)))


def _waiting(transport: dict[str, Any], size: float) -> int:
    """Return the memory of a queued unit of `size` bytes, of a burst with its packets."""
    bytes_of_one: int = _BYTES_PER_WAITING[transport["kind"]]
    if transport.get("congestion_control", {}).get("kind") == "hpcc":
        bytes_of_one += _BYTES_PER_TELEMETRY
    if "packet_bytes" not in transport:
        return bytes_of_one
    # On average half a packet more.
    packets: float = size / transport["packet_bytes"] + 0.5
    return bytes_of_one + ceil(_BYTES_PER_PACKET * max(packets - 1, 0))


def _connections(plan: Plan, in_flight: IntArray, at_once: AtOnce) -> float:
    """Return the bytes of the endpoints of all connections in progress at once."""
    ends, records = np.empty((2, in_flight.size))
    for some, part in plan.parts():
        ends[some] = part.by_flow(lambda transport: _BYTES_PER_CONNECTION[transport["kind"]])
        # Further subflows open for what the first window leaves.
        subflows = part.by_flow(lambda transport: transport.get("subflows", 1))
        window = part.by_flow(lambda transport: transport.get("initial_window_bytes", 0))
        ends[some] *= np.where(part.flows["bytes"] > window, subflows, 1)
        level = part.by_flow(_has_data_level)
        ends[some] += _BYTES_PER_DATA_LEVEL * level
        each = _BYTES_PER_RECORD + _BYTES_PER_NUMBERED * level
        records[some] = each * _records(part, in_flight[some])
    everything = float(ends.sum() + records.sum())
    if everything < HARMLESS_BYTES // 8:
        return everything
    # Of the allocated slots half were in use, and have records.
    return at_once.most(ends, PLACES) + at_once.most(records, PLACES / 2)


def _has_data_level(transport: Mapping[str, Any]) -> bool:
    return bool(transport.get("reinjection") or transport.get("shared_window"))


def _in_flight(plan: Plan) -> IntArray:
    """Return the most unacknowledged segments of each flow at once, shape (flows,).

    Take a flow of n segments, an initial window of w, and an acknowledgement of each k-th segment.
    When a segments are acknowledged, the window is at most w + a / k, and at most n - a segments
    are left: so at most (n + k w) / (k + 1) are in flight at once. Where bytes are counted k is 1.
    """
    most = np.ones(plan.flows["source"].size, np.int64)
    for number, transport in enumerate(plan.transports):
        if "advertised_window_bytes" in transport:
            mine = plan.group == number
            payload = transport["segment_bytes"] - transport["header_bytes"]
            # Each subflow has windows of its own.
            subflows = transport.get("subflows", 1)
            window = subflows * (transport["advertised_window_bytes"] // payload)
            begin = subflows * (transport["initial_window_bytes"] // payload)
            law = transport["congestion_control"]
            by_bytes = "byte_counting" in law or "slow_start" in law
            each = 1 if by_bytes else transport["acknowledge_every"]
            segments = -(-plan.flows["bytes"][mine].astype(np.int64) // payload)
            slow_start = (segments + each * begin) // (each + 1) + 1
            most[mine] = np.minimum(np.minimum(segments, window), slow_start)
    return most


def _records(plan: Plan, in_flight: IntArray) -> IntArray:
    """Return the capacity of each sender's record, shape (flows,): a power of two; 0: datagrams."""
    doublings = np.ceil(np.log2(np.maximum(in_flight, _LEAST_RECORDS)))
    room = np.exp2(doublings).astype(np.int64)
    datagrams = plan.by_flow(lambda transport: transport["kind"] in OPEN_LOOP)
    return np.where(datagrams, 0, room)


def _paths(plan: Plan) -> int:
    """Return the bytes of labelled paths, and of the library that finds them."""
    if not {"label", "protection"} & plan.settings.keys():
        return 0
    paths = plan.nodes["path_source"].size
    return _PATHS_BYTES + _BYTES_PER_PAIR * _edges(plan) ** 2 + _BYTES_PER_PATH * paths


def _loads(plan: Plan) -> int:
    """Return the bytes of the load history of links, which load-dependent labels need."""
    own = plan.settings.get("balance")
    if own is None:
        return 0
    intervals = own["delay_ps"] // own["interval_ps"] + 4
    return int(_BYTES_PER_INTERVAL * intervals * plan.links["from"].size)


def _queues(plan: Plan) -> int:
    """Return the number of assembly queues: at each edge, one for each edge and class."""
    if not plan.makes_bursts:
        return 0
    switches = plan.settings["switches"]
    classes = max(len(switch.get("extra_offset_ps", ())) for switch in switches)
    return max(classes, 1) * _edges(plan) ** 2


def _channels(plan: Plan) -> int:
    """Return the bytes of switches that reserve channels, and of these channels."""
    if "channels" not in plan.links:
        return 0
    switches = plan.nodes["switch"].size
    channels = int(plan.channels[plan.between_switches].sum())
    return _BYTES_PER_OBS_SWITCH * switches + _BYTES_PER_CHANNEL * channels


def _edges(plan: Plan) -> int:
    """Return the number of switches with hosts."""
    return int(np.unique(plan.next_to_hosts).size)


def _ordered(plan: Plan) -> int:
    """Return the number of data segments that scripts name."""
    loss = plan.settings.get("loss") or {}
    scripts = [script for key in SCRIPTS for script in loss.get(key, ())]
    spans = [script["segments"] for script in scripts if "segments" in script]
    return sum(last - first + 1 for first, last in spans)
