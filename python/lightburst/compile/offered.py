"""Mean traffic that flows offer to each link, from the traffic pattern and the routing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lightburst.compile.paths import path_columns
from lightburst.compile.ways import Links, Ways, shortest_ways, single_ways
from lightburst.foundation.errors import InputError, inside
from lightburst.foundation.units import BITS_PER_BYTE
from lightburst.scenario.tables.routing import FirstLabel, LoadLabel
from lightburst.scenario.tables.workload import Poisson
from lightburst.workload import Edges, Senders, with_arrival_rate
from lightburst.workload.demands import Demands
from lightburst.workload.sizes import mean_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.compile.plan import Plan
    from lightburst.compile.ways import FloatArray
    from lightburst.scenario import Scenario
    from lightburst.scenario.tables.groups import FlowGroup
    from lightburst.scenario.tables.routing import Routing
    from lightburst.topology import Network

# Limits for networks without a structure: beyond them the loads of links take too long.
_MOST_STEPS: Final = 2 * 10**7
_MOST_LABELLED_PAIRS: Final = 2000


class Pattern(NamedTuple):
    """The traffic pattern: the fraction of flows from edge i to edge j.

    Attributes
    ----------
    out, into : ndarray of float, shape (edges,)
        Factors of this fraction, ``out[i] * into[j]`` for i other than j.
    from_host, to_host : ndarray of float, shape (hosts,)
        Fractions of flows with each host as source and as destination.
    given : ndarray of float, shape (edges, edges), or None
        The fractions, in place of the factors, where the workload has demands.
    """

    out: FloatArray
    into: FloatArray
    from_host: FloatArray
    to_host: FloatArray
    given: FloatArray | None = None

    @classmethod
    def of(cls, workload: Poisson, network: Network) -> Pattern:
        """Return the pattern of a workload; raises as `Edges.weights` and `Demands.of`."""
        edges = edges_of(network)
        number = np.bincount(edges.of_host, minlength=len(edges.names)).astype(np.float64)
        if workload.between_demands:
            demands = Demands.of(workload, edges, network.host_names)
            return cls(number, number, *demands.of_hosts(), demands.between_edges)
        if not workload.between_edges:
            hosts = edges.of_host.size
            each = np.full(hosts, 1 / hosts)
            return cls(number / (hosts * max(hosts - 1, 1)), number, each, each)
        weight = edges.weights(workload.destination_weights)
        out = 1 / (weight.size * (weight.sum() - weight))
        to_edge = weight * (out.sum() - out)
        from_host, to_host = (1 / weight.size / number, to_edge / number)
        return cls(out, weight, from_host[edges.of_host], to_host[edges.of_host])

    @property
    def matrix(self) -> FloatArray:
        """Fraction of flows from each edge to each other edge, shape (edges, edges)."""
        if self.given is not None:
            return self.given
        return np.outer(self.out, self.into) * ~np.eye(self.out.size, dtype=np.bool_)


@dataclass(frozen=True)
class LinkLoads:
    """Mean load of links: the traffic of all flows offered to a link, over its rate.

    Useful bits are counted, without headers and acknowledgements. The links are the fibres between
    switches, and the links of hosts that send or receive.

    Attributes
    ----------
    mean : float
        Mean load of the fibres between switches, each direction a fibre; of all links, if there
        are none.
    largest : float
        Largest load of any link.
    link : str
        The link with the largest load, by the names of its ends.
    fibres : int
        Number of fibres in `mean`; 0 if that is the mean of all links.
    """

    mean: float
    largest: float
    link: str
    fibres: int

    def __str__(self) -> str:
        return f"load of the {self.over}: {self.mean:.3g} in the mean; of the hottest link, " + (
            f"{self.link}: {self.largest:.3g}"
        )

    @property
    def over(self) -> str:
        """The links of which `mean` is the mean, in words."""
        return f"{self.fibres} fibres between switches" if self.fibres else "links"


def edges_of(network: Network) -> Edges:
    """Return the edge of each host, with the names of the edges."""
    nodes, of_host = np.unique(network.next_to_hosts, return_inverse=True)
    return Edges(of_host, tuple(network.name(node) for node in nodes.tolist()))


def demands(
    network: Network, delay_ps: NDArray[np.uint64], routing: Routing, traffic: FloatArray
) -> list[tuple[Ways, FloatArray]]:
    """Return the ways of traffic between edges.

    Parameters
    ----------
    network : Network
        Any network.
    delay_ps : ndarray of uint64, shape (links,)
        Delay of each link in the plan, in picoseconds.
    routing : Routing
        The routing, without load-dependent labels.
    traffic : ndarray of float, shape (edges, edges)
        Traffic from each edge to each other edge; edges in the order of their nodes.

    Returns
    -------
    list of (Ways, ndarray of float, shape (ways, nodes))
        Ways, and the traffic that enters each way at each node.
    """
    shortest, labelled, pairs = _ways(network, delay_ps.tobytes(), routing)
    ends = np.unique(network.next_to_hosts).astype(np.int64)
    left, found = traffic.copy(), []
    if labelled is not None:
        entering = np.zeros((labelled.ends.size, network.nodes))
        share = _of_paths(pairs, routing)
        entering[np.arange(share.size), ends[pairs[:, 0]]] = share * traffic[tuple(pairs.T)]
        left[tuple(pairs.T)] = 0
        found.append((labelled, entering))
    entering = np.zeros((ends.size, network.nodes))
    entering[:, ends] = left.T
    return [(shortest, entering), *found] if left.any() else found


def _of_paths(pairs: NDArray[np.int64], routing: Routing) -> FloatArray:
    """Return the fraction of its pair's traffic on each path; paths of a pair are contiguous."""
    _, first, which, number = np.unique(
        pairs, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if isinstance(routing.label, FirstLabel):
        return np.where(np.arange(len(pairs)) == first[which.ravel()], 1.0, 0.0)
    return np.asarray(1 / number[which.ravel()])


@lru_cache(maxsize=8)
def _ways(
    network: Network, delay_ps: bytes, routing: Routing
) -> tuple[Ways, Ways | None, NDArray[np.int64]]:
    """Return the shortest ways to each edge, the labelled paths, and the edges of these paths."""
    between = np.flatnonzero(network.between_switches)
    delay = np.frombuffer(delay_ps, np.uint64)
    length = delay.astype(np.int64) if routing.metric == "delay" else np.ones(delay.size, np.int64)
    ends = (network.link_from.astype(np.int64), network.link_to.astype(np.int64))
    links = Links(*ends, length, network.nodes)
    edges, first = np.unique(network.next_to_hosts, return_index=True)
    usable = np.zeros(delay.size, np.bool_)
    usable[between] = True
    shortest = shortest_ways(links, edges, usable)
    if not routing.labelled:
        return shortest, None, np.zeros((0, 2), np.int64)
    pairs = np.argwhere(~np.eye(edges.size, dtype=np.bool_))
    columns = path_columns(routing, network, delay, first[pairs].astype(np.uint32))
    bounds = columns["path_offsets"].astype(np.int64)
    paths = [columns["path_links"][a:b] for a, b in pairwise(bounds.tolist())]
    of_path = np.stack([columns["path_source"], columns["path_destination"]], axis=1)
    return shortest, single_ways(links, paths), np.searchsorted(edges, of_path)


def link_shares(
    network: Network,
    delay_ps: NDArray[np.uint64],
    routing: Routing,
    pattern: Pattern,
    *,
    at_edges: bool,
) -> FloatArray | None:
    """Return the fraction of all traffic that is offered to each link, shape (links,).

    Parameters
    ----------
    network, delay_ps, routing
        As for `demands`.
    pattern : Pattern
        The traffic pattern.
    at_edges : bool
        Whether edges generate the traffic, so that the links of hosts carry none of it.

    Returns
    -------
    ndarray of float or None
        None with load-dependent labels, whose fractions are not known, and for networks that are
        too large.
    """
    if network.routing["kind"] == "fat-tree" and pattern.given is None:
        shares = _in_fat_tree(network, pattern)
    else:
        edges = pattern.out.size
        steps = edges * network.link_from.size
        pairs = edges * (edges - 1) if routing.labelled else 0
        if isinstance(routing.label, LoadLabel) and routing.labelled:
            return None
        if steps > _MOST_STEPS or pairs > _MOST_LABELLED_PAIRS:
            return None
        shares = np.zeros(network.link_from.size)
        for ways, entering in demands(network, delay_ps, routing, pattern.matrix):
            shares += ways.spread(entering)[0]
    if not at_edges:
        shares[: network.hosts] = pattern.from_host
        received = network.link_to < network.hosts
        shares[received] = pattern.to_host[network.link_to[received]]
    return shares


def _in_fat_tree(network: Network, pattern: Pattern) -> FloatArray:
    """Return `link_shares` of a fat-tree, by symmetry: all links up of an edge or pod are alike."""
    out, into = pattern.out, pattern.into
    half = network.routing["k"] // 2
    pod = np.arange(out.size) // half
    of_pod, to_pod = np.bincount(pod, out), np.bincount(pod, into)
    up, down = out * (into.sum() - into), into * (out.sum() - out)
    pod_up, pod_down = of_pod * (into.sum() - to_pod), to_pod * (out.sum() - of_pod)
    source, target = network.link_from.astype(np.int64), network.link_to.astype(np.int64)
    edge, aggregation, core = (network.layers[name][0] for name in ("edge", "aggregation", "core"))
    wide = network.routing["wavelengths"]
    shares = np.zeros(source.size)
    for lower, upper, upwards in ((source, target, True), (target, source, False)):
        low = (lower >= edge) & (lower < aggregation)
        each = up if upwards else down
        shares[low & (upper >= aggregation)] = (
            each[lower[low & (upper >= aggregation)] - edge] / half / wide
        )
        high = (lower >= aggregation) & (lower < core) & (upper >= core)
        each = pod_up if upwards else pod_down
        shares[high] = each[(lower[high] - aggregation) // half] / half**2 / wide
    return shares


def senders_of(
    group: FlowGroup, network: Network, delay_ps: NDArray[np.uint64], routing: Routing
) -> tuple[Senders, str | None]:
    """Return the senders of a group, and the link to which the group's load refers.

    Parameters
    ----------
    group : FlowGroup
        The group of flows.
    network, delay_ps, routing
        As for `demands`.

    Returns
    -------
    senders : Senders
        The senders with their capacity. If the load refers to the hottest link, the capacity is
        the traffic of the whole network at which this link is full.
    link : str or None
        Name of that link; None if the load refers to the capacity of the senders.

    Raises
    ------
    InputError
        If the load refers to the hottest link and the mean loads of links are not known.
    """
    links = network.link_from, network.link_to, network.link_rate_bps, network.channels
    workload, sending = group.workload, None
    if isinstance(workload, Poisson) and workload.between_demands:
        sending = _pattern(group, network).from_host > 0
    senders = Senders.of(group.transport.kind, network.hosts, *links, sending=sending)
    if not isinstance(workload, Poisson) or workload.load_of != "hottest-link":
        return senders, None
    shares = _shares(group, network, delay_ps, routing)
    if shares is None:
        allowed = (
            "'senders': the loads of links are not known with routing.label = 'load', nor in so "
            "large a network"
        )
        raise InputError(f"{group.path}workload.load_of", "'hottest-link'", allowed)
    filled = shares / _capacity(network)
    hottest = int(filled.argmax())
    return senders._replace(capacity_bps=round(1 / float(filled[hottest]))), _name(network, hottest)


def senders_in(plan: Plan, group: FlowGroup, scenario: Scenario) -> tuple[Senders, str | None]:
    """Return `senders_of` the network of a plan; a plan without one has no hottest link."""
    if plan.network is None:
        return plan.senders(group.transport.kind), None
    return senders_of(group, plan.network, plan.links["delay_ps"], scenario.routing)


def mean_bps(group: FlowGroup, plan: Plan, scenario: Scenario, edges: Edges) -> float | None:
    """Return the mean useful bits a second that a group offers; None if they are not known.

    Parameters
    ----------
    group : FlowGroup
        A group whose flows arrive at random.
    plan, scenario
        As for `link_loads`.
    edges : Edges
        Edges of the network of the plan.
    """
    senders, _ = senders_in(plan, group, scenario)
    assert isinstance(group.workload, Poisson)
    workload = with_arrival_rate(group.workload, senders, edges)
    assert isinstance(workload, Poisson)
    try:
        mean = mean_size(workload.size)
    except InputError:
        return None
    rate = workload.arrival_rate
    return None if rate is None else rate * BITS_PER_BYTE * mean


def link_loads(scenario: Scenario, plan: Plan) -> LinkLoads | None:
    """Return the mean loads of links that the flows of a scenario offer.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    plan : Plan
        The plan of the scenario.

    Returns
    -------
    LinkLoads or None
        None if no group of flows has an arrival rate, or if the mean loads are not known. Groups
        without an arrival rate are left out.
    """
    network = plan.network
    if network is None or scenario.switching.kind == "circuit":
        # The schedule and the forwarding say which circuits carry the traffic, and not the routes.
        return None
    delay_ps, bits = plan.links["delay_ps"], np.zeros(network.link_from.size)
    edges = edges_of(network)
    for group in scenario.flow_groups:
        if not isinstance(group.workload, Poisson):
            continue
        of_group = mean_bps(group, plan, scenario, edges)
        shares = _shares(group, network, delay_ps, scenario.routing)
        if shares is None or of_group is None:
            return None
        bits += of_group * shares
    if not bits.any():
        return None
    # All wavelengths of a fibre count as one link.
    first = plan.first_of_parallel
    fibres = np.flatnonzero(first == np.arange(first.size))
    offered = np.bincount(first, bits)[fibres]
    loads = offered / np.bincount(first, _capacity(network))[fibres]
    between = network.between_switches[fibres]
    inner = loads[between] if between.any() else loads
    hottest = int(loads.argmax())
    name = _name(network, int(fibres[hottest]))
    return LinkLoads(float(inner.mean()), float(loads[hottest]), name, int(between.sum()))


def _shares(
    group: FlowGroup, network: Network, delay_ps: NDArray[np.uint64], routing: Routing
) -> FloatArray | None:
    pattern, at_edges = _pattern(group, network), group.transport.kind == "bursts"
    return link_shares(network, delay_ps, routing, pattern, at_edges=at_edges)


def _pattern(group: FlowGroup, network: Network) -> Pattern:
    assert isinstance(group.workload, Poisson)
    with inside(group.path):
        return Pattern.of(group.workload, network)


def _capacity(network: Network) -> FloatArray:
    return np.asarray(network.link_rate_bps.astype(np.float64) * network.channels)


def _name(network: Network, link: int) -> str:
    ends = network.link_from[link], network.link_to[link]
    return " - ".join(network.name(int(node)) for node in ends)
