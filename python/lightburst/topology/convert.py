"""Converts graphs of networkx and networks of the package topohub to ``[topology]`` tables."""

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import InputError, inside, show, some
from lightburst.scenario.tables.topology import Graph, GraphLink

if TYPE_CHECKING:
    import networkx as nx

_LENGTH: Final = "length"
_UNITS: Final = ("mm", "cm", "m", "km")
# Other common names for the length attribute of a link.
_ALIKE: Final = ("dist", "distance", "weight", "km")


def from_networkx(
    graph: "nx.Graph[Any]", *, length: str = _LENGTH, length_unit: str = "m", **keys: Any
) -> Graph:
    """Make a ``[topology]`` table from a networkx graph.

    Parameters
    ----------
    graph : networkx.Graph
        A graph, built in Python or read by networkx from GraphML (`networkx.read_graphml`), GML,
        JSON... Besides the length, these properties of an edge are used if present: ``rate``, as
        text (``"100 Gb/s"``) or in bits per second; ``wavelengths``, an integer; and in a
        MultiGraph the edge's key, which becomes the name of the link. The two directed edges of a
        pair of nodes (with the same key) are the two directions of one link, which may differ in
        length and rate.
    length : str
        Name of the edge attribute that holds the length, as text with a unit (``"120 km"``) or as a
        number. Edges without it take `link_length` from the keys. If no edge has it and no other
        attribute looks like a length, `link_length` may be omitted and takes its default.
    length_unit : str
        Unit of lengths that are numbers: mm, cm, m or km.
    **keys
        Other keys of the table, as in the scenario file: `hosts_per_node`, `link_rate`...; `edges`
        is a collection of nodes of the graph.

    Returns
    -------
    Graph
        For ``Scenario(topology=...)`` or ``scenario.with_(topology=...)``. Nodes have the names
        ``str(node)``.

    Raises
    ------
    InputError
        When there is no edge, a directed edge has no counterpart, or one with other `wavelengths`,
        only some of the edges have a length and no `link_length` is given, or an attribute or a key
        is invalid.
    """
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        raise InputError("graph", show(graph), "a networkx.Graph, such as nx.petersen_graph()")
    if not graph.number_of_edges():
        raise InputError("graph", "a graph without edges", "a networkx.Graph with an edge or more")
    if length_unit not in _UNITS:
        raise InputError("length_unit", show(length_unit), f"one of {some(_UNITS)}")
    if isinstance(keys.get("edges"), list | tuple | set):
        keys["edges"] = [str(node) for node in keys["edges"]]
    if "link_length" not in keys:
        _check_lengths(graph, length)

    def values(attributes: Mapping[str, Any], *names: str) -> dict[str, Any]:
        found = {name: attributes[name] for name in names if name in attributes}
        if length in attributes:
            found["length"] = _with_unit(attributes[length], length_unit)
        return found

    links = []
    for ends, attributes in _one_way(graph):
        source, target, *key = ends
        of_link = values(attributes, "rate", "wavelengths")
        if key:  # of a MultiGraph
            of_link["name"] = str(key[0])
        if graph.is_directed():
            of_link["reverse"] = values(_counterpart(graph, ends, attributes), "rate")
        with inside(f"edge {source} - {target}: "):
            links.append(GraphLink(source=str(source), target=str(target), **of_link))
    return Graph(links=tuple(links), **keys)


def from_topohub(key: str, **keys: Any) -> Graph:
    """Make a ``[topology]`` table from a network of the package topohub.

    The package contains SNDlib, the Internet Topology Zoo, backbones and synthetic (Gabriel)
    graphs, all with link lengths (P. Jurkiewicz, "TopoHub", SoftwareX 24, 101540, 2023); ``pip
    install 'lightburst[topohub]'`` installs it.

    Parameters
    ----------
    key : str
        Key of the network in topohub: ``"sndlib/polska"``, ``"topozoo/Abilene"``,
        ``"gabriel/50/0"``.
    **keys
        Other keys of the table, as in the scenario file: `hosts_per_node`, `edges`, `link_rate`...

    Returns
    -------
    Graph
        As from `from_networkx`. Nodes keep their topohub names; if those are not unique, they are
        named by number.

    Raises
    ------
    InputError
        When the package is not installed, or has no such network.
    """
    import networkx as nx

    try:
        import topohub
    except ImportError:
        allowed = "with it: pip install 'lightburst[topohub]'"
        raise InputError("from_topohub", "no package topohub", allowed) from None
    with warnings.catch_warnings():
        # topohub does not close the file that it reads.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            found = topohub.get(key)
        except KeyError:
            allowed = "a key of topohub, such as 'sndlib/polska', 'topozoo/Abilene', 'gabriel/50/0'"
            raise InputError("from_topohub", show(key), allowed) from None
    graph = nx.node_link_graph(found, edges="edges")
    names = nx.get_node_attributes(graph, "name")
    if len(set(names.values())) == len(graph):
        graph = nx.relabel_nodes(graph, names)
    return from_networkx(graph, length="dist", length_unit="km", **keys)


def _one_way(graph: "nx.Graph[Any]") -> Iterator[tuple[tuple[Any, ...], Mapping[str, Any]]]:
    """Yield the edges; of the two directions of a directed link the first."""
    seen: set[tuple[Any, ...]] = set()
    for ends, attributes in graph.edges.items():
        if graph.is_directed():
            source, target, *key = ends
            if (target, source, *key) in seen:
                continue
            seen.add(tuple(ends))
        yield tuple(ends), attributes


def _counterpart(
    graph: "nx.Graph[Any]", ends: tuple[Any, ...], attributes: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the attributes of the edge in the other direction; refuse an edge without one."""
    source, target, *key = ends
    named = f" with the key {show(key[0])}" if key else ""
    if not graph.has_edge(target, source, *key):
        raise InputError(
            "graph",
            f"no edge {target} - {source}{named}",
            "both directions of each link, or an undirected graph, such as graph.to_undirected()",
        )
    back: Mapping[str, Any] = graph.edges[(target, source, *key)]
    here, there = (one.get("wavelengths", 1) for one in (attributes, back))
    if here != there:
        allowed = "as many in both directions"
        raise InputError("wavelengths", f"{show(here)}, and {show(there)} back", allowed)
    return back


def _with_unit(length: object, unit: str) -> object:
    if isinstance(length, str):
        return length
    return f"{length} {unit}"


def _check_lengths(graph: "nx.Graph[Any]", length: str) -> None:
    """Refuse a graph where only some edges have a length, or the length has another name."""
    edges = list(graph.edges.items())
    without = [f"{edge[0]} - {edge[1]}" for edge, attributes in edges if length not in attributes]
    if not without:
        return
    otherwise = "or link_length, which is for all links without one"
    if len(without) < len(edges):
        given = f"{len(without)} of {len(edges)} edges without '{length}': {some(without)}"
        raise InputError("length", given, f"one at each edge, {otherwise}")
    known = dict.fromkeys(name for _, attributes in edges for name in attributes)
    alike = [name for name in known if name.lower() in (*_ALIKE, _LENGTH)]
    if length != _LENGTH or alike:
        given = f"no edge with '{length}'; they have {some(known)}"
        example = f", such as length='{alike[0]}', length_unit='km'," if alike else ""
        raise InputError("length", given, f"the attribute that is the length{example} {otherwise}")
