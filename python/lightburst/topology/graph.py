"""Any connected graph, from a table of links."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, combine, did_you_mean, show
from lightburst.foundation.units import parse_length, parse_rate
from lightburst.scenario.fields import Name
from lightburst.scenario.reading.rows import cells_of, read_rows
from lightburst.scenario.tables.topology import MOST_WAVELENGTHS, Graph, Reverse
from lightburst.topology.network import Network, delay_ps

_FILE = "topology.file"
_REVERSE = ("reverse_length", "reverse_rate")
_COLUMNS = ("source", "target", "length", "rate", "wavelengths", "name", *_REVERSE)
_REQUIRED = _COLUMNS[:2]
# Largest number of errors reported for one table.
_MOST_ERRORS = 20
# The routing table takes two bytes per pair of node and host: 128 GiB for this many hosts.
LARGEST_HOSTS = 2**18


class _Link(NamedTuple):
    source: str
    target: str
    delay_ps: int
    rate: int
    where: str
    # None: the default of the topology.
    wavelengths: int | None = None
    name: str = ""
    # Delay and rate from target to source; None: those from source to target.
    reverse: tuple[int, int] | None = None


def build_graph(section: Graph) -> Network:
    """Lay out a graph.

    Parameters
    ----------
    section : Graph
        The ``[topology]`` table.

    Returns
    -------
    Network
        Nodes in the order in which they first appear in the table of links, hosts before switches;
        the ports of a node in the order of its links, those to its own hosts first.

    Raises
    ------
    InputError
        When the table of links cannot be used, the graph is not connected or has fewer than two
        hosts, or an edge is no node of it.
    """
    path = "topology.links" if section.file is None else _FILE
    links = list(_inline(section)) if section.file is None else _read(section, section.file)
    _check_links(links, path)
    names = list(dict.fromkeys(name for link in links for name in (link.source, link.target)))
    _check_connected(names, links, path)
    if section.hosts_per_node is not None:
        return _with_hosts(section, section.hosts_per_node, names, links, path)
    degree = Counter(name for link in links for name in (link.source, link.target))
    hosts = [name for name in names if degree[name] == 1]
    if len(hosts) < 2:
        given = f"{len(hosts)} nodes with one link"
        allowed = "two or more (nodes with one link are the hosts), or 'hosts_per_node'"
        raise InputError(path, given, allowed)
    ordered = hosts + [name for name in names if degree[name] > 1]
    return _network(section, len(hosts), ordered, links, path)


def _with_hosts(
    section: Graph, per_node: int, names: list[str], links: list[_Link], path: str
) -> Network:
    """Turn every node, or every edge node, into a switch with hosts ``node/0``, ``node/1``..."""
    edges = _edges(section, names)
    if per_node * len(edges) > LARGEST_HOSTS:
        given = f"{per_node}, at each of {len(edges)} nodes"
        raise InputError("topology.hosts_per_node", given, f"at most {LARGEST_HOSTS} hosts in all")
    if per_node * len(edges) < 2:
        raise InputError("topology.edges", f"one, {edges[0]}, with one host", "two or more hosts")
    delay, rate = section.access_delay, section.access_rate or section.link_rate
    delay = delay_ps(section.link_length, section.propagation) if delay is None else delay
    own = [_Link(f"{name}/{i}", name, delay, rate, "") for name in edges for i in range(per_node)]
    hosts = [link.source for link in own]
    if taken := set(hosts).intersection(names):
        given = ", ".join(show(name) for name in sorted(taken)[:_MOST_ERRORS])
        allowed = "other names with hosts_per_node, whose hosts are called 'node/0', 'node/1'..."
        raise InputError(path, f"nodes called {given}", allowed)
    network = _network(section, len(hosts), hosts + names, own + links, path)
    if not section.edges:
        return network
    numbers = range(network.hosts, network.nodes)
    edge = [node for node in numbers if network.name(node) in edges]
    return replace(network, layers={"edge": edge, "core": [n for n in numbers if n not in edge]})


def _edges(section: Graph, names: list[str]) -> list[str]:
    """Return the nodes that get hosts, in the order of the table of links."""
    unknown = [name for name in section.edges if name not in names]
    if unknown:
        near = did_you_mean(unknown[0], names)
        raise InputError("topology.edges", show(unknown[0]), f"nodes of the table of links{near}")
    return [name for name in names if name in section.edges] if section.edges else names


def _network(
    section: Graph, hosts: int, ordered: list[str], links: list[_Link], path: str
) -> Network:
    number = {name: i for i, name in enumerate(ordered)}
    ends = np.array([(number[link.source], number[link.target]) for link in links], np.uint32)
    # Both directions of a link side by side, so that a stable sort keeps the order of the table.
    link_from, link_to = ends.ravel(), ends[:, ::-1].ravel()
    order = np.argsort(link_from, kind="stable")
    there = [(link.delay_ps, link.rate) for link in links]
    back = [link.reverse or own for link, own in zip(links, there, strict=True)]
    delay, rate = np.array([there, back], np.uint64).swapaxes(0, 1).reshape(-1, 2).T
    network = Network(
        hosts=hosts,
        nodes=len(ordered),
        link_from=link_from[order],
        link_to=link_to[order],
        link_rate_bps=rate[order],
        link_delay_ps=delay[order],
        routing={"kind": "shortest-path"},
        link_names=_names([link.name for link in links for _ in range(2)], order),
        names=tuple(ordered),
    )
    return network.with_wavelengths(_wavelengths(section, ends >= hosts, links, path)[order])


def _names(each: list[str], order: NDArray[np.int64]) -> tuple[str, ...] | None:
    return tuple(each[i] for i in order) if any(each) else None


def _wavelengths(
    section: Graph, switches: NDArray[np.bool_], links: list[_Link], path: str
) -> NDArray[np.int64]:
    """Return wavelengths per directed link; `switches` marks the link ends that are switches."""
    between = np.asarray(switches.all(axis=1))
    for link, wide in zip(links, between.tolist(), strict=True):
        if (link.wavelengths or 1) > 1 and not wide:
            given = f"{link.where}: {link.wavelengths} wavelengths to a host"
            raise InputError(path, given, "one wavelength on the link of a host")
    each = [section.wavelengths if w is None else w for w in (link.wavelengths for link in links)]
    return np.repeat(np.where(between, each, 1), 2)


def _inline(section: Graph) -> Iterator[_Link]:
    for i, link in enumerate(section.links):
        length = section.link_length if link.length is None else link.length
        rate = section.link_rate if link.rate is None else link.rate
        back = _reverse(section, (length, rate), link.reverse or Reverse())
        delay = delay_ps(length, section.propagation)
        ends = link.source, link.target
        yield _Link(*ends, delay, rate, f"link {i}", link.wavelengths, link.name or "", back)


def _reverse(section: Graph, other: tuple[float, int], given: Reverse) -> tuple[int, int]:
    """Return delay and rate from target to source; `other`: length and rate of the other way."""
    length = other[0] if given.length is None else given.length
    return delay_ps(length, section.propagation), given.rate or other[1]


def _read(section: Graph, file: Path) -> list[_Link]:
    links, errors = [], []
    for where, row in read_rows(file, _FILE, _REQUIRED, _COLUMNS[2:]):
        try:
            links.append(_link(section, where, row))
        except InputError as error:
            errors.append(error)
        if len(errors) == _MOST_ERRORS:
            break
    if errors:
        raise combine(errors)
    return links


def _link(section: Graph, where: str, row: Mapping[str | None, Any]) -> _Link:
    path, cells = _FILE, cells_of(row, where, _FILE, _COLUMNS)
    source, target, length, rate, wavelengths, name, reverse_length, reverse_rate = cells
    if not (source and target):
        raise InputError(path, f"{where}: a link without source or target", "names of two nodes")
    for word in filter(None, (source, target, name)):
        if not Name().fits(word):
            raise InputError(path, f"{where}: {show(word)}", f"as a name, {Name().allowed}")
    try:
        metres = parse_length(length) if length else section.link_length
        bps = parse_rate(rate) if rate else section.link_rate
        given = Reverse(
            length=parse_length(reverse_length) if reverse_length else None,
            rate=parse_rate(reverse_rate) if reverse_rate else None,
        )
    except InputError as error:
        raise InputError(path, f"{where}: {error.path} {error.given}", error.allowed) from None
    delay = delay_ps(metres, section.propagation)
    back = _reverse(section, (metres, bps), given)
    return _Link(source, target, delay, bps, where, _whole(wavelengths, where), name, back)


def _whole(text: str, where: str) -> int | None:
    if not text:
        return None
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= MOST_WAVELENGTHS:
        given = f"{where}: wavelengths {show(text)}"
        raise InputError(_FILE, given, f"a whole number from 1 to {MOST_WAVELENGTHS}")
    return number


def _check_links(links: list[_Link], path: str) -> None:
    if not links:
        raise InputError(path, "no links", "at least one link")
    seen: dict[frozenset[str], list[_Link]] = {}
    errors = []
    for link in links:
        pair = frozenset((link.source, link.target))
        given = f"{link.where}: {link.source} - {link.target}"
        if len(pair) == 1:
            errors.append(InputError(path, given, "a link between two different nodes"))
        alike = [a for a in seen.get(pair, ()) if not (a.name and link.name) or a.name == link.name]
        if alike:
            named = f" called '{link.name}'" if link.name else ""
            allowed = (
                f"each link once, for both directions (it is in {alike[0].where} as well); "
                "parallel links each with a 'name' of its own"
            )
            errors.append(InputError(path, f"{given}{named}", allowed))
        seen.setdefault(pair, []).append(link)
    if errors:
        raise combine(errors[:_MOST_ERRORS])


def _check_connected(names: list[str], links: list[_Link], path: str) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = {name: i for i, name in enumerate(names)}
    rows: NDArray[np.int64] = np.array([number[link.source] for link in links])
    columns: NDArray[np.int64] = np.array([number[link.target] for link in links])
    shape = (len(names), len(names))
    adjacency = coo_array((np.ones(len(links), np.int8), (rows, columns)), shape=shape)
    parts, part_of = connected_components(adjacency, directed=False)
    if parts > 1:
        away = names[int(np.argmax(part_of != part_of[0]))]
        given = f"{parts} parts; no path leads from {names[0]} to {away}"
        raise InputError(path, given, "a connected graph")
