"""Positions of the nodes of a network in a drawing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import networkx as nx

from lightburst.topology.nsfnet import nsfnet_places

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    Positions = dict[Hashable, tuple[float, float]]

HOST: Final = "host"
# Rows of a fat-tree, from top to bottom.
_ROWS: Final = ("core", "aggregation", "edge", HOST)
# Length of a degree of longitude over one of latitude, in the middle of the USA.
_NARROWER: Final = math.cos(math.radians(39))
# Lower limit of a link's length in the drawing, as a share of the mean delay.
_SHORTEST: Final = 0.5
# The name of a node is written at a side with no link within this angle.
_ROOM: Final = math.radians(50)


def positions(network: nx.Graph[Any], layers: Mapping[Hashable, str]) -> Positions:
    """Choose the positions of the nodes of a network.

    Parameters
    ----------
    network : networkx.Graph
        Undirected graph; the attribute ``delay_s`` of an edge is its propagation delay.
    layers : mapping of node to str
        Layer of each node: ``host``, or the layer of a switch.

    Returns
    -------
    dict of node to tuple of float
        x and y without a unit, y upwards. NSFNET is placed by the cities of its nodes, a path from
        left to right; a fat-tree, and any network whose links join only adjacent distances from the
        hosts (leaf-spine), in rows with the hosts below; any other network such that distances
        follow the delays of the links (Kamada and Kawai 1989).
    """
    switches = [node for node in network if layers[node] != HOST]
    core = network.subgraph(switches)
    found: Positions
    if on_map(switches):
        found = {node: (x * _NARROWER, y) for node, (x, y) in nsfnet_places().items()}
    elif (line := _line(core)) is not None:
        found = {node: (float(place), 0.0) for place, node in enumerate(line)}
    else:
        rows = _rows(network, layers)
        if rows is not None:
            return _in_rows(rows, network)
        found = _by_delay(core)
    return found | _around(network, found)


def free_sides(
    places: Mapping[Hashable, tuple[float, float]],
    links: Iterable[tuple[Hashable, Hashable]],
    stretch: float = 1.0,
) -> dict[Hashable, tuple[float, float]]:
    """Find the side of each node with most room between its links, for its name.

    Parameters
    ----------
    places : mapping of node to tuple of float
        Position of each node.
    links : iterable of (node, node)
        Links that are drawn.
    stretch : float
        Length on paper of a vertical unit over that of a horizontal one.

    Returns
    -------
    dict of node to tuple of float
        Unit vector per node, y upwards: up if no link is in the way, else down if that is free,
        else the middle of the widest gap between two links.
    """
    ways: dict[Hashable, list[float]] = {node: [] for node in places}
    for a, b in links:
        for one, other in ((a, b), (b, a)):
            if one in ways and other in ways and one != other:
                x, y = (places[other][axis] - places[one][axis] for axis in (0, 1))
                ways[one].append(math.atan2(y * stretch, x))
    return {node: _free(angles) for node, angles in ways.items()}


def _free(angles: list[float]) -> tuple[float, float]:
    for way in (math.pi / 2, -math.pi / 2):
        if all(abs(math.remainder(angle - way, math.tau)) > _ROOM for angle in angles):
            return 0.0, math.copysign(1.0, way)
    ordered = sorted(set(angles))
    after = [*ordered[1:], ordered[0] + math.tau]
    width, begin = max((end - start, start) for start, end in zip(ordered, after, strict=True))
    middle = begin + width / 2
    return math.cos(middle), math.sin(middle)


def on_map(switches: Iterable[Hashable]) -> bool:
    """Tell whether the switches are the nodes of NSFNET, by name."""
    return set(switches) == set(nsfnet_places())


def _line(core: nx.Graph[Any]) -> list[Hashable] | None:
    """Return the switches in order along a path; None if they do not form a path."""
    ends = [node for node, degree in core.degree() if degree == 1]
    if len(core) == 1:
        return list(core)
    straight = len(ends) == 2 and all(degree <= 2 for _, degree in core.degree())
    if not straight or not nx.is_connected(core):
        return None
    return list(nx.shortest_path(core, ends[0], ends[1]))


def _rows(network: nx.Graph[Any], layers: Mapping[Hashable, str]) -> list[list[Hashable]] | None:
    """Group the nodes into rows, top to bottom; None if a link would join nodes of one row."""
    if {"core", "aggregation", "edge"} <= set(layers.values()):
        return [[node for node in network if layers[node] == row] for row in _ROWS]
    hosts = [node for node in network if layers[node] == HOST]
    if not hosts:
        return None
    distance = nx.multi_source_dijkstra_path_length(network, set(hosts), weight=None)
    highest = max(distance.values())
    if highest < 2 or any(distance[a] == distance[b] for a, b in network.edges):
        return None
    return [[node for node in network if distance[node] == row] for row in range(highest, -1, -1)]


def _in_rows(rows: Sequence[Sequence[Hashable]], network: nx.Graph[Any]) -> Positions:
    """Space each row evenly, with the hosts below their switches."""
    found: Positions = {}
    *upper, hosts = rows
    for height, row in zip(range(len(upper), 0, -1), upper, strict=True):
        for place, node in enumerate(row):
            found[node] = ((place + 0.5) / len(row), float(height))
    above = {host: next(iter(network[host])) for host in hosts}
    ordered = sorted(hosts, key=lambda host: found[above[host]])
    for place, host in enumerate(ordered):
        found[host] = ((place + 0.5) / len(hosts), 0.0)
    return found


def _by_delay(core: nx.Graph[Any]) -> Positions:
    delays = {(a, b): float(delay) for a, b, delay in core.edges.data("delay_s", default=0.0)}
    mean = sum(delays.values()) / max(len(delays), 1)
    if not (math.isfinite(mean) and mean > 0):
        delays, mean = dict.fromkeys(delays, 1.0), 1.0
    drawn: nx.Graph[Any] = nx.Graph()
    drawn.add_nodes_from(core)
    drawn.add_weighted_edges_from(
        (a, b, max(delay / mean, _SHORTEST)) for (a, b), delay in delays.items()
    )
    placed = nx.kamada_kawai_layout(drawn)
    return {node: (float(x), float(y)) for node, (x, y) in placed.items()}


def _around(network: nx.Graph[Any], placed: Positions) -> Positions:
    """Place hosts around their switch, facing away from the centre of the network."""
    hosts: dict[Hashable, list[Hashable]] = {}
    for node in network:
        if node not in placed:
            hosts.setdefault(next(iter(network[node])), []).append(node)
    if not hosts:
        return {}
    centre = [sum(place[axis] for place in placed.values()) / len(placed) for axis in (0, 1)]
    spans = [
        max(place[axis] for place in placed.values())
        - min(place[axis] for place in placed.values())
        for axis in (0, 1)
    ]
    size = max(*spans, 1.0) * 0.12
    found: Positions = {}
    for switch, own in hosts.items():
        x, y = placed[switch]
        inside = spans[1] == 0 and abs(x - centre[0]) < spans[0] / 2
        away = -math.pi / 2 if inside else math.atan2(y - centre[1], x - centre[0])
        step = min(math.pi / 5, 1.6 * math.pi / len(own))
        for place, host in enumerate(own):
            angle = away + (place - (len(own) - 1) / 2) * step
            aside = (round(size * way(angle), 9) for way in (math.cos, math.sin))
            found[host] = (x + next(aside), y + next(aside))
    return found
