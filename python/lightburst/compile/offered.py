"""What flows offer to each link in the mean, from who sends to whom and the ways of the routing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lightburst.compile.paths import path_columns
from lightburst.compile.ways import Links, Ways, shortest_ways, single_ways
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import BITS_PER_BYTE
from lightburst.scenario.tables.routing import FirstLabel, LoadLabel
from lightburst.scenario.tables.workload import Poisson
from lightburst.workload import Edges, Senders, with_arrival_rate
from lightburst.workload.sizes import mean_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.compile.plan import Plan
    from lightburst.compile.ways import FloatArray
    from lightburst.scenario import Scenario
    from lightburst.scenario.tables.groups import FlowGroup
    from lightburst.scenario.tables.routing import Routing
    from lightburst.topology import Network

# Of larger networks without a structure the loads of the links are not worth their time.
_MOST_STEPS: Final = 2 * 10**7
_MOST_LABELLED_PAIRS: Final = 2000


class Pattern(NamedTuple):
    """How often flows go from one edge to another: ``out[i] * into[j]``, for each i other than j.

    Attributes
    ----------
    out, into : ndarray of float, shape (edges,)
        The two factors.
    from_host, to_host : ndarray of float, shape (hosts,)
        How often flows come from and go to each host.
    """

    out: FloatArray
    into: FloatArray
    from_host: FloatArray
    to_host: FloatArray

    @classmethod
    def of(cls, workload: Poisson, edges: Edges) -> Pattern:
        """Find that of a workload; raises as `Edges.weights`."""
        number = np.bincount(edges.of_host, minlength=len(edges.names)).astype(np.float64)
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
        """The part of the flows that goes from each edge to each other, shape (edges, edges)."""
        return np.outer(self.out, self.into) * ~np.eye(self.out.size, dtype=np.bool_)


@dataclass(frozen=True)
class LinkLoads:
    """What all flows together offer to links, in the mean, over what these carry.

    Useful bits count, without headers and acknowledgements. The fibres between switches are looked
    at, and the links of hosts that send or receive.

    Attributes
    ----------
    mean : float
        Mean load of the fibres between switches, one for each direction; of all links without.
    largest : float
        The largest load of any link.
    link : str
        Which one that is, by the names of its ends.
    fibres : int
        How many fibres the mean is over; 0 where it is over all links.
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
        """What the mean is over."""
        return f"{self.fibres} fibres between switches" if self.fibres else "links"


def edges_of(network: Network) -> Edges:
    """Tell which hosts are at which edge."""
    nodes, of_host = np.unique(network.next_to_hosts, return_inverse=True)
    return Edges(of_host, tuple(network.name(node) for node in nodes.tolist()))


def demands(
    network: Network, delay_ps: NDArray[np.uint64], routing: Routing, traffic: FloatArray
) -> list[tuple[Ways, FloatArray]]:
    """Put traffic between edges on its ways.

    Parameters
    ----------
    network : Network
        Any network.
    delay_ps : ndarray of uint64, shape (links,)
        Delay of each link, as the simulator gets it.
    routing : Routing
        Without labels that follow the load.
    traffic : ndarray of float, shape (edges, edges)
        From each edge, in the order of their nodes, to each other.

    Returns
    -------
    list of (Ways, ndarray of float, shape (ways, nodes))
        The ways, and what enters them.
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
    """Give the part of the traffic of its pair that each path has; those of a pair are together."""
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
    """Find the shortest ways to each edge, and the paths with labels, with the edges of each."""
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
    """Give the part of all that is sent that each link gets, shape (links,).

    Parameters
    ----------
    network, delay_ps, routing
        As for `demands`.
    pattern : Pattern
        Who sends to whom.
    at_edges : bool
        Whether edges send, so that the links of hosts have no part in it.

    Returns
    -------
    ndarray of float or None
        None where bursts follow the load, which no mean tells, or the network is too large.
    """
    if network.routing["kind"] == "fat-tree":
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
    """Do the same by symmetry: what leaves an edge or a pod does so over all its links alike."""
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
    """Tell what sends the flows of a group, and the link that its load is a part of.

    Parameters
    ----------
    group : FlowGroup
        Flows of one kind.
    network, delay_ps, routing
        As for `demands`.

    Returns
    -------
    senders : Senders
        Where the load is that of the hottest link, what they can send is what fills that.
    link : str or None
        Its name; None where the load is that of senders.

    Raises
    ------
    InputError
        If the load of links is asked for where no mean tells it.
    """
    links = network.link_from, network.link_to, network.link_rate_bps, network.channels
    senders = Senders.of(group.transport.kind, network.hosts, *links)
    workload = group.workload
    if not isinstance(workload, Poisson) or workload.load_of != "hottest-link":
        return senders, None
    shares = _shares(group, network, delay_ps, routing)
    if shares is None:
        allowed = "'senders': of labels that follow the load, and in so large a network, no mean is"
        raise InputError(f"{group.path}workload.load_of", "'hottest-link'", f"{allowed} known")
    filled = shares / _capacity(network)
    hottest = int(filled.argmax())
    return senders._replace(capacity_bps=round(1 / float(filled[hottest]))), _name(network, hottest)


def senders_in(plan: Plan, group: FlowGroup, scenario: Scenario) -> tuple[Senders, str | None]:
    """Do the same for a plan, of which only those of a scenario have a network."""
    if plan.network is None:
        return plan.senders(group.transport.kind), None
    return senders_of(group, plan.network, plan.links["delay_ps"], scenario.routing)


def link_loads(scenario: Scenario, plan: Plan) -> LinkLoads | None:
    """Tell what the flows of a scenario offer to links.

    Parameters
    ----------
    scenario : Scenario
        What was compiled.
    plan : Plan
        What it was compiled to.

    Returns
    -------
    LinkLoads or None
        None if no group of flows comes at a rate, or no mean tells the loads. Groups without a rate
        are left out.
    """
    network = plan.network
    if network is None:
        return None
    delay_ps, bits = plan.links["delay_ps"], np.zeros(network.link_from.size)
    edges = edges_of(network)
    for group in scenario.flow_groups:
        workload = group.workload
        if not isinstance(workload, Poisson):
            continue
        senders, _ = senders_in(plan, group, scenario)
        shares = _shares(group, network, delay_ps, scenario.routing)
        rate = with_arrival_rate(workload, senders, edges)
        assert isinstance(rate, Poisson)
        try:
            mean = mean_size(workload.size)
        except InputError:
            return None
        if shares is None or rate.arrival_rate is None:
            return None
        bits += rate.arrival_rate * BITS_PER_BYTE * mean * shares
    if not bits.any():
        return None
    # The wavelengths of a fibre are one.
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
    assert isinstance(group.workload, Poisson)
    pattern = Pattern.of(group.workload, edges_of(network))
    at_edges = group.transport.kind == "bursts"
    return link_shares(network, delay_ps, routing, pattern, at_edges=at_edges)


def _capacity(network: Network) -> FloatArray:
    return np.asarray(network.link_rate_bps.astype(np.float64) * network.channels)


def _name(network: Network, link: int) -> str:
    ends = network.link_from[link], network.link_to[link]
    return " - ".join(network.name(int(node)) for node in ends)
