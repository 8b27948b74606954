"""The compiler: a plan from a scenario and a seed."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile import circuits
from lightburst.compile.checks import check_flows, check_loss, lossy_links
from lightburst.compile.headers import misplaced_headers
from lightburst.compile.memory import needed_bytes
from lightburst.compile.offered import edges_of, senders_of
from lightburst.compile.paths import path_columns, protected_columns
from lightburst.compile.plan import Columns, Plan
from lightburst.compile.seeds import check_seed
from lightburst.compile.settings import (
    balance_settings,
    choice_settings,
    fair_settings,
    group_settings,
    loss_settings,
)
from lightburst.compile.switches import Switches, resolve_switches
from lightburst.foundation.errors import combine, inside
from lightburst.foundation.memory import check_memory
from lightburst.measurement.window import asked_window_ps
from lightburst.scenario.fit import misfits
from lightburst.scenario.model import Scenario
from lightburst.scenario.tables.workload import Poisson
from lightburst.scenario.transport import OpenLoop
from lightburst.topology import Counts, Network, build_network, count
from lightburst.topology.changes import change_settings
from lightburst.topology.outages import outage_settings
from lightburst.topology.protection import protection_settings
from lightburst.workload import (
    Edges,
    Flows,
    datagram_counts,
    departures,
    make_flows,
    merge,
    merge_departures,
    with_arrival_rate,
)


def compile_plan(scenario: Scenario, seed: int) -> Plan:
    """Compile a scenario to a plan.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    seed : int
        Seed of all random streams, from 0 to 2**64 - 1.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If a file cannot be used, the parts of the scenario do not fit together, or the run needs
        more memory than is available.
    """
    seed = check_seed(seed)
    switches, network = _switches(scenario, _network(scenario))
    check_loss(scenario, network)
    links = dict(_links(network, switches.header_ps.tobytes()))
    groups = _groups(scenario, network, seed, links["delay_ps"])
    check_flows(scenario, network, switches, groups)
    tables, which = switches.settings([group.name for group in scenario.flow_groups])
    tables = circuits.circuit_settings(tables, switches, network, seed)
    nodes: Columns = {"switch": which}
    flows = _flows(scenario, network, groups, seed)
    routing = scenario.routing
    nodes |= _paths(scenario, network, links["delay_ps"], flows)
    if network.link_channels is not None:
        links["channels"] = network.link_channels
    if scenario.loss is not None:
        links["lossy"] = lossy_links(scenario, network).astype(np.uint8)
    outages = outage_settings(scenario, network, seed)
    settings = {
        "hosts": network.hosts,
        "nodes": network.nodes,
        "routing": _routing(scenario, network),
        "choice": choice_settings(routing, scenario.routing_choice),
        "label": routing.label.kind if routing.labelled else None,
        "balance": balance_settings(routing),
        "seed": seed,
        "time_limit_ps": scenario.measurement.time_limit,
        "switches": tables,
        "groups": group_settings(
            scenario.flow_groups, echo_marks=scenario.routing_choice == "entropy-spray"
        ),
        "fair": fair_settings(scenario.host_queueing),
        "loss": loss_settings(scenario.loss),
        "outages": outages,
        "protection": _protection(scenario, network, nodes, outages),
        "changes": change_settings(scenario, network, lossy_links(scenario, network)),
    }
    # Reversed, because of several measurements that the network does not allow the error names
    # the last.
    for one in reversed(scenario.measurement.asked):
        settings |= one.settings(scenario, network, switches)
    # An optional mechanism or measurement that the scenario does not request is in no plan.
    settings = {key: value for key, value in settings.items() if value is not None}
    plan = Plan(settings, nodes, links, flows, network=network)
    plan = plan.counting(asked_window_ps(scenario.measurement))
    for one in scenario.measurement.asked:
        one.check_plan(plan)
    return plan


def _switches(scenario: Scenario, network: Network) -> tuple[Switches, Network]:
    """Find the switches of a network, and add that of a packet network beside circuits."""
    switches = resolve_switches(scenario.switching, network, telemetry=scenario.telemetry)
    errors = list(misplaced_headers(switches, network))
    errors += circuits.misfits(switches, network, scenario)
    if errors:
        raise combine(errors)
    return circuits.beside_packets(switches, network)


def _routing(scenario: Scenario, network: Network) -> dict[str, Any]:
    """Return the settings of routing; a fat-tree needs no metric, since all metrics agree.

    Its structure tells the routes as long as it is whole, so where links fail it has tables.
    """
    tables = network.routing["kind"] == "shortest-path"
    if (scenario.changes or scenario.protection is not None) and not tables:
        return {"kind": "shortest-path", "metric": "hops"}
    return network.routing | ({"metric": scenario.routing.metric} if tables else {})


def _paths(
    scenario: Scenario, network: Network, delay_ps: NDArray[np.uint64], flows: Columns
) -> Columns:
    """Return the columns of paths with labels; none without labels."""
    ends = np.stack([flows["source"], flows["destination"]], axis=1)
    if scenario.protection is not None:
        return protected_columns(scenario.routing, network, delay_ps, ends)
    if scenario.routing.labelled:
        return path_columns(scenario.routing, network, delay_ps, ends)
    return {}


def _protection(
    scenario: Scenario, network: Network, nodes: Columns, outages: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Return the settings of protection; None without."""
    if scenario.protection is None:
        return None
    rows = outages["links"] if outages else []
    limit = scenario.measurement.time_limit
    return protection_settings(scenario.protection, network, nodes, rows, limit)


@lru_cache(maxsize=8)
def _links(network: Network, header_ps: bytes) -> Columns:
    """Return the columns of the links; the delay includes the header time of the next switch.

    The least delay is one picosecond, so that no event causes another at its own instant.
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


def _groups(
    scenario: Scenario, network: Network, seed: int, delay_ps: NDArray[np.uint64]
) -> list[Flows]:
    """Draw the flows of each group; refuse them if they do not fit into memory."""
    workloads, expected, edges = [], 0, _edges(scenario, network)
    for group in scenario.flow_groups:
        senders, _ = senders_of(group, network, delay_ps, scenario.routing)
        with inside(group.path):
            workload = with_arrival_rate(group.workload, senders, edges)
        workloads.append(workload)
        expected += workload.count(network.hosts) or 0
    _check_memory(scenario, network.counts, expected)
    made = []
    for group, workload in zip(scenario.flow_groups, workloads, strict=True):
        with inside(group.path):
            names = network.host_names
            made.append(make_flows(workload, network.hosts, seed, names, group.name, edges))
    return made


def _edges(scenario: Scenario, network: Network) -> Edges | None:
    """Return the edge of each host, if the flows of a group are drawn by edges."""
    workloads = [group.workload for group in scenario.flow_groups]
    drawn = [one for one in workloads if isinstance(one, Poisson)]
    if not any(one.between_edges or one.between_demands for one in drawn):
        return None
    return edges_of(network)


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
    if flows.joins is not None:
        columns |= flows.joins.columns | flows.told
    pairs = [(one.name, one.transport, own) for one, own in zip(groups, made, strict=True)]
    limit = scenario.measurement.time_limit
    counts = [
        datagram_counts(own, transport, network.host_rate_bps[own.source], limit)
        for _, transport, own in pairs
        if isinstance(transport, OpenLoop)
    ]
    if counts:
        datagrams = sum(int(n.sum()) for n in counts)
        _check_memory(scenario, network.counts, len(flows), datagrams)
        each = [
            departures(own, transport, network.host_rate_bps[own.source], seed, limit, name)
            if isinstance(transport, OpenLoop)
            else (np.empty(0, np.uint64), np.zeros(len(own) + 1, np.uint64))
            for name, transport, own in pairs
        ]
        times, offsets = merge_departures(each, order) if len(each) > 1 else each[0]
        columns |= {"departures_ps": times, "departure_offsets": offsets}
    return columns


def _network(scenario: Scenario) -> Network:
    """Build the network; refuse it if it or the flows do not fit into memory."""
    # A graph's table of links is in memory already; the memory of its routes is checked below.
    counts = count(scenario.topology) or build_network(scenario.topology).counts
    flows = sum(group.workload.count(counts.hosts) or 0 for group in scenario.flow_groups)
    _check_memory(scenario, counts, flows)
    network = build_network(scenario.topology)
    errors = list(misfits(scenario, network.hosts, network.largest_degree))
    if errors:
        raise combine(errors)
    return network.fibres if scenario.switching.sends_headers else network


def _check_memory(scenario: Scenario, counts: Counts, flows: int, datagrams: int = 0) -> None:
    """Refuse a run that needs more memory than is available, or than the scenario allows."""
    needed = needed_bytes(counts, flows, datagrams)
    check_memory(needed, limit=scenario.measurement.memory_limit)
