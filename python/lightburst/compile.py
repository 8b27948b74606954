"""From a scenario to a plan: the arrays and settings that the simulator takes.

What is wrong with a scenario is found here at the latest; the simulator trusts the plan.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from lightburst.errors import InputError, combine, show
from lightburst.scenario.fit import misfits
from lightburst.scenario.model import Scenario
from lightburst.scenario.switching import AllOptical, Electronic, Hybrid, Switching
from lightburst.scenario.transport import Datagram, Saw, Sawl, Transport
from lightburst.scenario.workload import Table
from lightburst.topology import Counts, Network, build_network, count
from lightburst.units import (
    BITS_PER_BYTE,
    PICOSECONDS_PER_SECOND,
    format_duration,
    format_rate,
    format_size,
)
from lightburst.workload import Flows, datagram_counts, departures, make_flows

Columns = dict[str, NDArray[Any]]

# SYN, FIN and acknowledgements; datagrams have none, but the simulator wants the number.
_NO_CONTROL_BYTES = 64
_LARGEST_SEED = 2**64 - 1
# The clock of the simulator ends at 1.8e19 ps. The sum of the time limit, the largest timeout and
# either of the two that this limits stays below.
_LONGEST_PS = 4 * 10**18

# Memory of one run, Python and the simulator together, rounded up from measurements.
_FIXED_BYTES = 64 * 2**20
_BYTES_PER_NODE = 600
_BYTES_PER_LINK = 160
_BYTES_PER_FLOW = 700
_BYTES_PER_DATAGRAM = 60
# A table of equal-cost sets: two bytes for each pair of node and host.
_BYTES_PER_ROUTE = 2
# Below this no machine is in danger, and asking it would take longer than compiling.
_HARMLESS_BYTES = 128 * 2**20


@dataclass(frozen=True, eq=False)
class Plan:
    """What the simulator takes.

    Attributes
    ----------
    settings : dict
        Whole numbers, floats and names; times in picoseconds, sizes in bytes.
    links : dict of str to ndarray, shape (links,)
        ``from``, ``to`` (uint32), ``rate_bps``, ``delay_ps`` (uint64). Shared between plans and
        read-only.
    flows : dict of str to ndarray, shape (flows,)
        ``source``, ``destination`` (uint32), ``start_ps``, ``bytes`` (uint64); for datagrams also
        ``departures_ps``, shape (datagrams,), and ``departure_offsets``, shape (flows + 1,).
    """

    settings: dict[str, Any]
    links: Columns
    flows: Columns

    def digest(self) -> str:
        """SHA-256 of all of it, in hexadecimal."""
        sha = hashlib.sha256()
        sha.update(json.dumps(self.settings, sort_keys=True, separators=(",", ":")).encode())
        for table in (self.links, self.flows):
            for name, column in table.items():
                sha.update(f"\n{name} {column.dtype.str} {column.size}\n".encode())
                sha.update(np.ascontiguousarray(column).data)
        return sha.hexdigest()


def compile_plan(scenario: Scenario, seed: int, agenda: str | None = None) -> Plan:
    """Turn a scenario into a plan.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    seed : int
        Of all random streams, from 0 to 2**64 - 1.
    agenda : str, optional
        Which agenda the simulator is to use; they give the same result.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        When a file cannot be used, the parts of the scenario do not fit together, or it needs more
        memory than there is.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= _LARGEST_SEED:
        raise InputError("seed", show(seed), "a whole number from 0 to 2**64 - 1")
    network = _network(scenario)
    flows = make_flows(scenario.workload, network.hosts, seed, network.names)
    _check_clock(scenario, network, flows)
    return Plan(
        settings={
            "hosts": network.hosts,
            "nodes": network.nodes,
            "routing": dict(network.routing),
            "choice": scenario.routing.choice,
            "seed": seed,
            "time_limit_ps": scenario.measurement.time_limit,
            "agenda": agenda,
            "switch": _switch(scenario.switching),
            "transport": _transport(scenario.transport),
        },
        links=dict(_links(network, scenario.switching.header_processing_time)),
        flows=_flows(scenario, network, flows, seed),
    )


@lru_cache(maxsize=8)
def _links(network: Network, header_processing_ps: int) -> Columns:
    """Columns of the links; the time that a switch takes for a header is in the delay."""
    into_switch = network.link_to >= network.hosts
    delay = network.link_delay_ps + into_switch * np.uint64(header_processing_ps)
    delay.flags.writeable = False
    return {
        "from": network.link_from,
        "to": network.link_to,
        "rate_bps": network.link_rate_bps,
        "delay_ps": delay,
    }


def _flows(scenario: Scenario, network: Network, flows: Flows, seed: int) -> Columns:
    columns: Columns = {
        "source": flows.source,
        "destination": flows.destination,
        "start_ps": flows.start_ps,
        "bytes": flows.size_bytes,
    }
    if isinstance(scenario.transport, Datagram):
        datagrams = int(datagram_counts(flows, scenario.transport).sum())
        _check_memory(_needed(network.counts, len(flows), datagrams))
        # A host has one link, and hosts come first.
        rate = network.link_rate_bps[flows.source]
        times, offsets = departures(flows, scenario.transport, rate, seed)
        columns |= {"departures_ps": times, "departure_offsets": offsets}
    return columns


def _switch(switching: Switching) -> dict[str, Any]:
    match switching:
        case AllOptical():
            return {"kind": switching.kind, "switching_time_ps": switching.switching_time}
        case Hybrid():
            return {
                "kind": switching.kind,
                "switching_time_ps": switching.switching_time,
                "buffer_ports": switching.buffer_ports,
                "buffer_bytes": switching.buffer_size,
                "re_emission": switching.re_emission,
            }
        case Electronic():
            return {
                "kind": switching.kind,
                "queue_bytes": switching.queue_size,
                "ecn_threshold_bytes": switching.ecn_threshold,
            }


def _transport(transport: Transport) -> dict[str, Any]:
    sizes = {"segment_bytes": transport.segment_size, "header_bytes": transport.header_size}
    match transport:
        case Saw() | Sawl():
            settings = {
                "kind": transport.kind,
                "alpha": transport.alpha,
                "beta": transport.beta,
                "initial_timeout_ps": transport.initial_timeout,
                "max_timeout_ps": transport.max_timeout,
                **sizes,
                "control_bytes": transport.control_size,
                "receiver_timers": transport.receiver_timers,
            }
            return settings | ({"p": transport.p} if isinstance(transport, Sawl) else {})
        case Datagram():
            return {"kind": transport.kind, **sizes, "control_bytes": _NO_CONTROL_BYTES}


def _check_clock(scenario: Scenario, network: Network, flows: Flows) -> None:
    """Refuse what would outlast the clock of the simulator: huge units on very slow links."""
    transport, slowest = scenario.transport, int(network.link_rate_bps.min())
    segment_ps = BITS_PER_BYTE * PICOSECONDS_PER_SECOND * transport.segment_size // slowest
    # What can wait for one link at the worst: all datagrams, or one segment of each flow.
    waiting, longer = len(flows), 0.0
    if isinstance(transport, Datagram):
        waiting = int(datagram_counts(flows, transport).sum())
    elif isinstance(transport, Sawl):
        longer = transport.p
    if max(waiting, longer) * segment_ps > _LONGEST_PS:
        raise InputError(
            "topology.link_rate",
            f"{format_rate(slowest)} for segments of {format_size(transport.segment_size)}",
            f"a rate at which nothing waits longer than {format_duration(_LONGEST_PS)}",
        )


def _network(scenario: Scenario) -> Network:
    """Build the network, unless it or the flows will not fit into memory."""
    # The table of links of a graph fits, since it is there; what it makes of it is checked below.
    counts = count(scenario.topology) or build_network(scenario.topology).counts
    workload = scenario.workload
    flows = 0 if isinstance(workload, Table) else workload.count(counts.hosts)
    _check_memory(_needed(counts, flows))
    network = build_network(scenario.topology)
    errors = list(misfits(scenario, network.hosts, network.largest_degree))
    if errors:
        raise combine(errors)
    _check_rates(scenario, network)
    return network


def _check_rates(scenario: Scenario, network: Network) -> None:
    """Refuse cut-through between links of different rates: the faster one would run dry."""
    slowest, fastest = network.link_rate_bps.min(), network.link_rate_bps.max()
    if slowest != fastest and not isinstance(scenario.switching, Electronic):
        raise InputError(
            "topology",
            f"links from {format_rate(int(slowest))} to {format_rate(int(fastest))}",
            f"links of one rate, since {scenario.switching.kind} switches are cut-through; "
            "kind 'electronic' can change between rates",
        )


def estimate_memory(plan: Plan) -> int:
    """How much memory a run will need, Python and the simulator together.

    Parameters
    ----------
    plan : Plan
        What will be run.

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
    needed = _needed(counts, plan.flows["source"].size, datagrams)
    _check_memory(needed)
    return needed


def _needed(counts: Counts, flows: int, datagrams: int = 0) -> int:
    return (
        _FIXED_BYTES
        + _BYTES_PER_NODE * counts.nodes
        + _BYTES_PER_LINK * counts.links
        + (0 if counts.structured else _BYTES_PER_ROUTE * counts.nodes * counts.hosts)
        + _BYTES_PER_FLOW * flows
        + _BYTES_PER_DATAGRAM * datagrams
    )


def _check_memory(needed: int) -> None:
    if needed <= _HARMLESS_BYTES:
        return
    free = available_memory()
    if needed > free:
        raise InputError(
            "scenario",
            f"one that needs about {needed / 2**30:,.1f} GiB of memory",
            f"what fits into the {free / 2**30:,.1f} GiB that are free",
        )


def available_memory() -> int:
    """Bytes of memory that this process can still have: of the machine, or of its container."""
    free = int(psutil.virtual_memory().available)
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text("ascii"))
    except (OSError, ValueError):
        return free  # no control groups here
    return free if limit == "max" else max(0, min(free, int(limit) - used))
