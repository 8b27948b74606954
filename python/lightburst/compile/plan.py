"""The plan, and how it is made."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.checks import check_flows, check_loss, lossy_links
from lightburst.compile.memory import needed_bytes
from lightburst.compile.paths import path_columns
from lightburst.compile.seeds import check_seed
from lightburst.compile.settings import group_settings, loss_settings
from lightburst.compile.switches import resolve_switches
from lightburst.errors import InputError, combine, inside
from lightburst.free import check_memory
from lightburst.scenario.fit import misfits
from lightburst.scenario.model import Scenario
from lightburst.scenario.transport import Datagram
from lightburst.topology import Network, build_network, count
from lightburst.units import format_about
from lightburst.workload import (
    Flows,
    at_load,
    datagram_counts,
    departures,
    make_flows,
    merge,
    merge_departures,
)

Columns = dict[str, NDArray[Any]]

# Settings that came later: without them a plan has the digest that it always had.
_LATER = ("loss", "trace", "sample_ps", "label")


@dataclass(frozen=True, eq=False)
class Plan:
    """What the simulator takes.

    Attributes
    ----------
    settings : dict
        Whole numbers, floats and names; times in picoseconds, sizes in bytes.
    nodes : dict of str to ndarray, shape (switches,)
        ``switch`` (uint16): which of the settings ``switches`` each switch has. Where there are
        paths with labels also those of `lightburst.compile.paths.path_columns`.
    links : dict of str to ndarray, shape (links,)
        ``from``, ``to`` (uint32), ``rate_bps``, ``delay_ps`` (uint64), and with a ``[loss]`` table
        ``lossy`` (uint8). Shared between plans and read-only.
    flows : dict of str to ndarray, shape (flows,)
        ``source``, ``destination`` (uint32), ``start_ps``, ``bytes`` (uint64); with several groups
        ``group`` (uint16); for datagrams also ``departures_ps``, shape (datagrams,), of each flow
        up to the first one beyond the time limit, and ``departure_offsets``, shape (flows + 1,).
    window_ps : tuple of int
        Flows that start from the first of these times on and before the second count.
    network : Network, optional
        What its nodes are called.
    """

    settings: dict[str, Any]
    nodes: Columns
    links: Columns
    flows: Columns
    window_ps: tuple[int, int] = (0, 2**64 - 1)
    network: Network | None = None

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Which flows count, shape (flows,); the others are there as traffic."""
        begin, end = (np.uint64(time) for time in self.window_ps)
        start = self.flows["start_ps"]
        counted: NDArray[np.bool_] = (start >= begin) & (start < end)
        return counted

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the groups of flows, in their order; empty if there is only one."""
        groups = self.settings["groups"]
        return tuple(group["name"] for group in groups) if len(groups) > 1 else ()

    @property
    def transports(self) -> list[dict[str, Any]]:
        """Settings of the transport of each group."""
        return [group["transport"] for group in self.settings["groups"]]

    @property
    def group(self) -> NDArray[np.uint16]:
        """Which group each flow belongs to, shape (flows,)."""
        return self.flows.get("group", np.zeros(self.flows["source"].size, np.uint16))

    def by_flow(self, value: Callable[[dict[str, Any]], Any]) -> NDArray[Any]:
        """Look up a value in the settings of each flow's transport, shape (flows,)."""
        return np.array([value(transport) for transport in self.transports])[self.group]

    def digest(self) -> str:
        """SHA-256 of all that the simulator takes, in hexadecimal."""
        settings = {
            key: value
            for key, value in self.settings.items()
            if key not in _LATER or value is not None
        }
        sha = hashlib.sha256()
        sha.update(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode())
        for table in (self.nodes, self.links, self.flows):
            for name, column in table.items():
                sha.update(f"\n{name} {column.dtype.str} {column.size}\n".encode())
                sha.update(np.ascontiguousarray(column).data)
        return sha.hexdigest()


def compile_plan(scenario: Scenario, seed: int) -> Plan:
    """Turn a scenario into a plan.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    seed : int
        Of all random streams, from 0 to 2**64 - 1.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        When a file cannot be used, the parts of the scenario do not fit together, or it needs more
        memory than there is.
    """
    seed = check_seed(seed)
    network = _network(scenario)
    switches = resolve_switches(scenario.switching, network)
    check_loss(scenario, network)
    groups = _groups(scenario, network, seed)
    check_flows(scenario, network, switches, groups)
    settings, which = switches.settings()
    links = dict(_links(network, switches.header_ps.tobytes()))
    nodes: Columns = {"switch": which}
    flows = _flows(scenario, network, groups, seed)
    routing = scenario.routing
    if routing.labelled:
        ends = np.stack([flows["source"], flows["destination"]], axis=1)
        nodes |= path_columns(routing, network, links["delay_ps"], ends)
    if scenario.loss is not None:
        links["lossy"] = lossy_links(scenario, network).astype(np.uint8)
    plan = Plan(
        settings={
            "hosts": network.hosts,
            "nodes": network.nodes,
            "routing": _routing(network, routing.metric),
            "choice": scenario.routing_choice,
            "label": routing.label if routing.labelled else None,
            "seed": seed,
            "time_limit_ps": scenario.measurement.time_limit,
            "switches": settings,
            "groups": group_settings(scenario.flow_groups),
            "loss": loss_settings(scenario.loss),
            "trace": sorted(set(scenario.measurement.trace)) or None,
            "sample_ps": scenario.measurement.sample,
        },
        nodes=nodes,
        links=links,
        flows=flows,
        window_ps=(scenario.measurement.warm_up, scenario.measurement.until or 2**64 - 1),
        network=network,
    )
    _check_counted(plan)
    return plan


def _check_counted(plan: Plan) -> None:
    if plan.counted.any():
        return
    first, last = (format_about(int(plan.flows["start_ps"][i])) for i in (0, -1))
    begin, end = plan.window_ps
    path, given = "measurement.warm_up", begin
    if int(plan.flows["start_ps"][-1]) >= begin:
        path, given = "measurement.until", end
    allowed = f"times between which flows start; these start from {first} to {last}"
    raise InputError(path, format_about(given), allowed)


def _routing(network: Network, metric: str) -> dict[str, Any]:
    """Say how next hops are found; in a fat-tree all metrics agree."""
    tables = network.routing["kind"] == "shortest-path"
    return network.routing | ({"metric": metric} if tables else {})


@lru_cache(maxsize=8)
def _links(network: Network, header_ps: bytes) -> Columns:
    """Columns of the links; the time that a switch takes for a header is in the delay.

    No link is shorter than the clock can tell, so that no event causes another at its own instant.
    """
    added = np.zeros(network.nodes, np.uint64)
    added[network.hosts :] = np.frombuffer(header_ps, np.uint64)
    delay = np.maximum(network.link_delay_ps + added[network.link_to], np.uint64(1))
    delay.flags.writeable = False
    return {
        "from": network.link_from,
        "to": network.link_to,
        "rate_bps": network.link_rate_bps,
        "delay_ps": delay,
    }


def _groups(scenario: Scenario, network: Network, seed: int) -> list[Flows]:
    """Make the flows of each group, unless they will not fit into memory."""
    # A host has one link, and hosts come first.
    rates = network.link_rate_bps[: network.hosts]
    workloads, expected = [], 0
    for group in scenario.flow_groups:
        with inside(group.path):
            workload = at_load(group.workload, rates)
        workloads.append(workload)
        expected += workload.count(network.hosts) or 0
    check_memory(needed_bytes(network.counts, expected))
    made = []
    for group, workload in zip(scenario.flow_groups, workloads, strict=True):
        with inside(group.path):
            made.append(make_flows(workload, network.hosts, seed, network.host_names, group.name))
    return made


def _flows(scenario: Scenario, network: Network, made: list[Flows], seed: int) -> Columns:
    groups = scenario.flow_groups
    flows, group, order = merge(made)
    columns: Columns = {
        "source": flows.source,
        "destination": flows.destination,
        "start_ps": flows.start_ps,
        "bytes": flows.size_bytes,
    }
    if len(groups) > 1:
        columns["group"] = group
    pairs = [(one.name, one.transport, own) for one, own in zip(groups, made, strict=True)]
    limit = scenario.measurement.time_limit
    counts = [
        # A host has one link, and hosts come first.
        datagram_counts(own, transport, network.link_rate_bps[own.source], limit)
        for _, transport, own in pairs
        if isinstance(transport, Datagram)
    ]
    if counts:
        check_memory(needed_bytes(network.counts, len(flows), sum(int(n.sum()) for n in counts)))
        each = [
            departures(own, transport, network.link_rate_bps[own.source], seed, limit, name)
            if isinstance(transport, Datagram)
            else (np.empty(0, np.uint64), np.zeros(len(own) + 1, np.uint64))
            for name, transport, own in pairs
        ]
        times, offsets = merge_departures(each, order) if len(each) > 1 else each[0]
        columns |= {"departures_ps": times, "departure_offsets": offsets}
    return columns


def _network(scenario: Scenario) -> Network:
    """Build the network, unless it or the flows will not fit into memory."""
    # The table of links of a graph is in memory already; what is made of it is checked below.
    counts = count(scenario.topology) or build_network(scenario.topology).counts
    flows = sum(group.workload.count(counts.hosts) or 0 for group in scenario.flow_groups)
    check_memory(needed_bytes(counts, flows))
    network = build_network(scenario.topology)
    errors = list(misfits(scenario, network.hosts, network.largest_degree))
    if errors:
        raise combine(errors)
    return network
