"""The paths of labels: given routes, and k calculated paths for each pair of switches with hosts.

Link-disjoint paths of least total length are a minimum-cost flow, found by augmenting along
shortest paths: R. Bhandari, "Survivable Networks: Algorithms for Diverse Routing" (1999), ch. 3.
Further paths, in order of length: J. Y. Yen, "Finding the k shortest loopless paths in a network"
(1971).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, combine, show, some
from lightburst.scenario.tables.routing import MOST_PATHS, LoadLabel, Route, Routing
from lightburst.topology import Network

if TYPE_CHECKING:
    import networkx as nx

Pair = tuple[int, int]


def path_columns(
    routing: Routing, network: Network, delay_ps: NDArray[np.uint64], ends: NDArray[np.uint32]
) -> dict[str, NDArray[Any]]:
    """Find the paths between the switches at both ends of the flows, in both directions.

    Parameters
    ----------
    routing : Routing
        The ``[routing]`` table, with labels.
    network : Network
        The network of the paths.
    delay_ps : ndarray of uint64, shape (links,)
        Delay of each link in picoseconds.
    ends : ndarray of uint32, shape (flows, 2)
        Source and destination of each flow.

    Returns
    -------
    dict of str to ndarray
        ``path_source``, ``path_destination`` (uint32): switches; the paths of a pair in the order
        of their labels. ``path_offsets`` (uint64), shape (paths + 1,) and ``path_links`` (uint32):
        the links of each path, in the order of the path.

    Raises
    ------
    InputError
        If a given route is no path of the network, if several paths are requested and no pair has
        a second one, or if labels depend on load and a pair has no second path.
    """
    given = _given(routing.routes, network)
    weights = delay_ps if routing.metric == "delay" else np.ones_like(delay_ps)
    found: dict[Pair, list[list[int]]] = {}
    for pair in _pairs(network, ends):
        if pair in given:
            found[pair] = given[pair]
        elif routing.paths > 1:
            found[pair] = _paths(network, weights.tobytes(), pair, routing.paths)
        elif isinstance(routing.label, LoadLabel):
            found[pair] = []
    if isinstance(routing.label, LoadLabel):
        _check_choices(routing, network, found, given)
    others = [paths for pair, paths in found.items() if pair not in given]
    if routing.paths > 1 and others and all(len(paths) < 2 for paths in others):
        allowed = "1, because no two switches with hosts have a second path between them"
        raise InputError("routing.paths", str(routing.paths), allowed)
    return _columns(found)


def protected_columns(
    routing: Routing, network: Network, delay_ps: NDArray[np.uint64], ends: NDArray[np.uint32]
) -> dict[str, NDArray[Any]]:
    """Find a working and a backup path for each pair of switches, without a common link.

    They have the least total length, and the shorter one is the working path.

    Parameters
    ----------
    routing, network, delay_ps, ends
        As for `path_columns`.

    Returns
    -------
    dict of str to ndarray
        As from `path_columns`.

    Raises
    ------
    InputError
        If a pair does not have two such paths.
    """
    weights = delay_ps if routing.metric == "delay" else np.ones_like(delay_ps)
    found: dict[Pair, list[list[int]]] = {}
    for pair in _pairs(network, ends):
        found[pair] = _paths(network, weights.tobytes(), pair, 2)
        one, *others = [set(path) for path in found[pair]] or [set()]
        if not others or one & others[0]:
            between = " to ".join(network.name(node) for node in pair)
            allowed = "two paths without a common link for each pair of switches with traffic"
            raise InputError("protection", f"a table, but no such paths from {between}", allowed)
    return _columns(found)


def _columns(found: dict[Pair, list[list[int]]]) -> dict[str, NDArray[Any]]:
    paths = [(pair, links) for pair, several in found.items() for links in several]
    sizes = [len(links) for _, links in paths]
    return {
        "path_source": np.array([source for (source, _), _ in paths], np.uint32),
        "path_destination": np.array([destination for (_, destination), _ in paths], np.uint32),
        "path_offsets": np.cumsum([0, *sizes], dtype=np.uint64),
        "path_links": np.array([link for _, links in paths for link in links], np.uint32),
    }


def _check_choices(
    routing: Routing,
    network: Network,
    found: dict[Pair, list[list[int]]],
    given: dict[Pair, list[list[int]]],
) -> None:
    """Refuse pairs of switches without a second path, if labels depend on load."""
    for pair, paths in found.items():
        if len(paths) > 1:
            continue
        ends = " to ".join(network.name(node) for node in pair)
        if pair in given:
            path, one = "routing.routes", f"one path from {ends}"
            allowed = "two or more for each pair with routes, among which the load can choose"
        else:
            number = len(paths)
            path, one = "routing.paths", f"{routing.paths}, but {number or 'no'} from {ends}"
            allowed = (
                "two paths for each pair of switches with traffic, in both directions, since "
                "routing.label = 'load' chooses among them"
            )
        raise InputError(path, one, allowed)


def _pairs(network: Network, ends: NDArray[np.uint32]) -> list[Pair]:
    """Return the ordered pairs of different switches between which flows or ACKs travel."""
    switches = network.next_to_hosts[np.concatenate([ends, ends[:, ::-1]])]
    switches = np.unique(switches, axis=0)
    apart = (switches[:, 0] != switches[:, 1]) & (switches.min(axis=1) >= network.hosts)
    return [(int(a), int(b)) for a, b in switches[apart]]


@lru_cache(maxsize=4)
def _graph(network: Network, weights: bytes) -> "tuple[nx.DiGraph[Any], list[list[int]]]":
    """Return a graph of switches and fibres, and the links (wavelengths) of each fibre.

    Each direction of a fibre is a node, ``("fibre", number)``, so that parallel fibres differ.
    """
    # Imported here, because the import takes time and only labelled paths need it.
    import networkx as nx

    fibre = np.cumsum(network.wavelength == 0) - 1
    links: list[list[int]] = [[] for _ in range(int(fibre[-1]) + 1)]
    for link, number in enumerate(fibre.tolist()):
        links[number].append(link)
    graph: nx.DiGraph[Any] = nx.DiGraph()
    lengths = np.frombuffer(weights, np.uint64).tolist()
    for number, (first, *_) in enumerate(links):
        if network.between_switches[first]:
            node = "fibre", number
            graph.add_edge(int(network.link_from[first]), node, weight=lengths[first])
            graph.add_edge(node, int(network.link_to[first]), weight=0)
    return graph, links


@lru_cache(maxsize=2**16)
def _paths(network: Network, weights: bytes, pair: Pair, number: int) -> list[list[int]]:
    """Return up to `number` paths of a pair as lists of links, the shortest first."""
    import networkx as nx

    graph, links = _graph(network, weights)
    if not all(end in graph for end in pair):
        return []
    found = list(islice(_disjoint(graph, *pair, number), number))
    if len(found) < number:
        for path in nx.shortest_simple_paths(graph, *pair, weight="weight"):
            if path not in found:
                found.append(path)
            if len(found) == number:
                break
    fibres = [[node[1] for node in path if isinstance(node, tuple)] for path in found]
    fibres.sort(key=lambda path: (_length(graph, path), len(path), path))
    return [[link for fibre in path for link in links[fibre]] for path in fibres]


def _length(graph: "nx.DiGraph[Any]", fibres: Sequence[int]) -> int:
    return sum(
        data["weight"] for f in fibres for *_, data in graph.in_edges(("fibre", f), data=True)
    )


def _disjoint(
    graph: "nx.DiGraph[Any]", source: int, destination: int, most: int
) -> Iterator[list[Any]]:
    """Yield fibre-disjoint paths of least total length, up to `most`, fewer if no more exist."""
    import networkx as nx

    residual = graph.copy()
    for _ in range(most):
        try:
            path = nx.bellman_ford_path(residual, source, destination)
        except nx.NetworkXNoPath:
            break
        for a, b in pairwise(path):
            weight = residual[a][b]["weight"]
            residual.remove_edge(a, b)
            residual.add_edge(b, a, weight=-weight)
    used: nx.DiGraph[Any] = nx.DiGraph()
    used.add_edges_from(
        (a, b, d) for a, b, d in graph.edges(data=True) if not residual.has_edge(a, b)
    )
    while source in used and destination in used and nx.has_path(used, source, destination):
        path = nx.dijkstra_path(used, source, destination)
        used.remove_edges_from(list(pairwise(path)))
        yield path


def _given(routes: Sequence[Route], network: Network) -> dict[Pair, list[list[int]]]:
    """Return the given routes of each pair as lists of links, in the order of the scenario."""
    links: dict[Pair, list[int]] = {}
    ends = zip(network.link_from.tolist(), network.link_to.tolist(), strict=True)
    for link, pair in enumerate(ends):
        links.setdefault(pair, []).append(link)
    errors = []
    paths: dict[Pair, list[list[int]]] = {}
    for i, route in enumerate(routes):
        errors += _wrong(f"routing.routes[{i}]", route, network, links)
        if not errors:
            nodes = [network.switches[name] for name in route.path]
            several = paths.setdefault((nodes[0], nodes[-1]), [])
            several.append([link for pair in pairwise(nodes) for link in links[pair]])
            if len(several) > MOST_PATHS:
                given = f"path {len(several)} from {route.source} to {route.destination}"
                errors.append(InputError(f"routing.routes[{i}]", given, f"at most {MOST_PATHS}"))
    if errors:
        raise combine(errors)
    return paths


def _wrong(
    path: str, route: Route, network: Network, links: dict[Pair, list[int]]
) -> list[InputError]:
    """Return the errors of one route: unknown names, otherwise the first error of its path."""
    unknown = [
        InputError(f"{path}.{field}", show(name), f"one of the switches {some(network.switches)}")
        for field, names in (
            ("source", (route.source,)),
            ("destination", (route.destination,)),
            ("path", route.path),
        )
        for name in names
        if name not in network.switches
    ]
    if unknown:
        return unknown
    with_hosts = {network.name(int(node)) for node in network.next_to_hosts}
    for field, name in (("source", route.source), ("destination", route.destination)):
        if name not in with_hosts:
            allowed = f"one of the switches with hosts, {some(sorted(with_hosts))}"
            return [InputError(f"{path}.{field}", show(name), allowed)]
    words = " - ".join(route.path)
    if len(route.path) < 2 or (route.path[0], route.path[-1]) != (route.source, route.destination):
        allowed = f"a path from {route.source} to {route.destination}, two different switches"
        return [InputError(f"{path}.path", words or "no switches", allowed)]
    if len(set(route.path)) < len(route.path):
        return [InputError(f"{path}.path", words, "each switch once")]
    for a, b in pairwise(route.path):
        if (network.switches[a], network.switches[b]) not in links:
            given = f"{words}, without a link from {a} to {b}"
            return [InputError(f"{path}.path", given, "switches, each linked to the next")]
    return []
