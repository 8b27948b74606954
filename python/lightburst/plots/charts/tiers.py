"""Networks for print: in rows, on a map, or at given coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import networkx as nx
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patheffects import withStroke

from lightburst.foundation.errors import InputError, show
from lightburst.plots.charts.places import HOST, free_sides, on_map, positions
from lightburst.result.labels import column_words
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.topology.build import build_network

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from matplotlib.axes import Axes

    from lightburst.plots.charts.places import Positions
    from lightburst.topology.network import Network

#: Largest number of hosts drawn by default, and of switches with their names written.
_MOST_HOSTS: Final = 40
_MOST_NAMES: Final = 60
#: Distance between the directions of a link, and of a name from the middle of its node, in points.
_APART: Final = 3.2
_AWAY: Final = 11.0
#: Height over width of the drawing, for a path and for any other network.
_FLAT: Final = 0.22
_HIGH: Final = 0.52
_INK: Final = "#1b1f24"
_PLAIN: Final = "#8a8a8a"
_MAP: Final = "viridis_r"
_SIDES: Final = "Each direction of a link keeps to its right, as on a road."


def graph_in(what: object) -> nx.Graph[Any]:
    """Return the graph of a run or of a scenario; a graph is returned unchanged.

    Raises
    ------
    InputError
        If the argument is none of these.
    """
    match what:
        case nx.Graph() if len(what):
            return what
        case Result():
            return what.network
        case Scenario():
            return graph_of(build_network(what.topology))
    raise InputError("what", show(what), "a result, a scenario, or a networkx graph with nodes")


def height(places: Positions) -> float:
    """Return the ratio of height to width of a drawing."""
    wide, high = (
        max(p[i] for p in places.values()) - min(p[i] for p in places.values()) for i in (0, 1)
    )
    return _FLAT if high < _FLAT * wide else _HIGH


def graph_of(network: Network) -> nx.DiGraph[Any]:
    """Convert the network of a scenario to the graph that `lightburst.Result.network` holds."""
    layers = [HOST] * network.hosts + network.layer_of_switches()
    names = [network.name(node) for node in range(network.nodes)]
    found: nx.DiGraph[Any] = nx.DiGraph()
    found.add_nodes_from(
        (name, {"layer": layer}) for name, layer in zip(names, layers, strict=True)
    )
    rows = zip(network.link_from, network.link_to, network.link_delay_ps, strict=True)
    found.add_edges_from(
        (names[source], names[target], {"delay_s": float(delay) * 1e-12})
        for source, target, delay in rows
    )
    return found


def placed(
    graph: nx.Graph[Any], at: Mapping[Hashable, tuple[float, float]] | None
) -> tuple[Positions, dict[Hashable, str]]:
    """Return the position and the layer of each node.

    Parameters
    ----------
    graph : networkx.Graph
        Graph whose nodes have the attribute ``layer``; without it nodes with one neighbour are
        hosts.
    at : mapping of node to (float, float), optional
        Coordinates; by default those of `lightburst.plots.charts.places.positions`.

    Raises
    ------
    InputError
        If a node has no coordinates.
    """
    plain = nx.Graph(graph)
    layers = {
        node: str(
            data.get("layer", HOST if plain.degree(node) == 1 and len(plain) > 2 else "switch")
        )
        for node, data in graph.nodes(data=True)
    }
    if at is None:
        return positions(plain, layers), layers
    missing = [node for node in graph if node not in at]
    if missing:
        allowed = f"x and y of each node, such as {show(missing[0])}"
        raise InputError("at", f"{len(at):,} of {len(graph):,} nodes", allowed)
    return {node: (float(at[node][0]), float(at[node][1])) for node in graph}, layers


def draw(
    axes: Axes,
    graph: nx.Graph[Any],
    places: Positions,
    layers: Mapping[Hashable, str],
    value: str | None,
    hosts: bool | None,
) -> str:
    """Draw a network into axes; return the text for its caption.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to draw into.
    graph, places, layers
        Graph, and the results of `placed` for it.
    value : str or None
        Attribute of the links that is shown as their colour.
    hosts : bool or None
        Whether hosts are drawn; None for only up to forty hosts, and never on a map.
    """
    ends = [node for node in graph if layers[node] == HOST]
    if len(ends) == len(graph):
        hosts = True
    elif hosts is None:
        hosts = len(ends) <= _MOST_HOSTS and not on_map(set(graph) - set(ends))
    shown = [node for node in graph if hosts or layers[node] != HOST]
    own = nx.subgraph(graph, shown)
    spans = [
        max(p[i] for p in places.values()) - min(p[i] for p in places.values()) for i in (0, 1)
    ]
    box = axes.get_window_extent()
    stretch = (box.height / (spans[1] or 1.0)) / (box.width / (spans[0] or 1.0))
    _links(axes, own, places, value)
    switches = [node for node in shown if layers[node] != HOST]
    small = [node for node in shown if layers[node] == HOST]
    for nodes, marker, size, face in ((small, "s", 4.5, _PLAIN), (switches, "o", 10, "white")):
        x, y = ([places[node][i] for node in nodes] for i in (0, 1))
        axes.plot(x, y, marker, color=face, markeredgecolor=_INK if face == "white" else face,
                  markersize=size, markeredgewidth=1.3, zorder=3)  # fmt: skip
    if len(switches) <= _MOST_NAMES:
        _names(axes, own, {node: places[node] for node in shown}, switches, stretch)
    axes.set_axis_off()
    axes.margins(0.1, 0.14)
    told = [_SIDES] if value is not None and graph.is_directed() else []
    if len(shown) < len(graph):
        told.append(f"Its {len(ends):,} hosts are left out.")
    return " ".join(told)


def _links(axes: Axes, graph: nx.Graph[Any], places: Positions, value: str | None) -> None:
    if value is None:
        pairs = {frozenset((a, b)) for a, b in graph.edges() if a != b}
        for a, b in map(tuple, pairs):
            axes.plot(
                *zip(places[a], places[b], strict=True), color=_PLAIN, linewidth=1.1, zorder=1
            )
        return
    found: dict[tuple[Hashable, Hashable], list[float]] = {}
    for a, b, data in graph.edges(data=True):
        if value not in data:
            known = sorted({name for *_, row in graph.edges(data=True) for name in row})
            allowed = f"a metric of its links: {', '.join(map(str, known)) or '(none)'}"
            raise InputError("value", show(value), allowed)
        found.setdefault((a, b), []).append(float(data[value]))
    means = {pair: sum(values) / len(values) for pair, values in found.items()}
    scale = Normalize(0.0, max([*means.values(), 0.0]) or 1.0)
    paint = colormaps[_MAP]
    for (a, b), mean in means.items():
        axes.annotate(
            "", places[b], places[a], zorder=1,
            arrowprops={"arrowstyle": "-", "color": paint(scale(mean)), "linewidth": 2.6,
                        "connectionstyle": f"bar,armA={_APART},armB={_APART},fraction=0"
                        if graph.is_directed() else "arc3"},
        )  # fmt: skip
    words = column_words(value)
    bar = axes.figure.colorbar(ScalarMappable(scale, paint), ax=axes, shrink=0.75, pad=0.01)
    bar.set_label(f"{words[:1].upper()}{words[1:]}")
    bar.outline.set_visible(False)


def _names(
    axes: Axes,
    graph: nx.Graph[Any],
    places: Positions,
    switches: list[Hashable],
    stretch: float,
) -> None:
    """Write the names of switches, on the side with no link."""
    sides = free_sides(places, graph.edges(), stretch)
    for node in switches:
        x, y = sides[node]
        axes.annotate(
            str(node), places[node], (_AWAY * x, _AWAY * y), textcoords="offset points",
            ha="left" if x > 0.5 else "right" if x < -0.5 else "center",
            va="center" if abs(y) < 0.5 else "bottom" if y > 0 else "top", zorder=4,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip
