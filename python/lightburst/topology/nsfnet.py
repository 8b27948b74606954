"""NSFNET: 14 nodes and 21 fibres, with two published sets of lengths."""

import csv
from importlib import resources

from lightburst.scenario.section import plain
from lightburst.scenario.tables.topology import Graph, GraphLink, Nsfnet, nsfnet_names
from lightburst.topology.graph import build_graph
from lightburst.topology.network import Network


def build_nsfnet(section: Nsfnet) -> Network:
    """Lay out NSFNET.

    Parameters
    ----------
    section : Nsfnet
        The ``[topology]`` table.

    Returns
    -------
    Network
        The network that `build_graph` makes of the table of fibres, with hosts at the edges.
    """
    written = plain(section)
    same = ("access_rate", "access_delay", "propagation", "wavelengths")
    return build_graph(
        Graph(
            links=_fibres(f"{section.lengths}_km"),
            hosts_per_node=section.hosts_per_edge,
            edges=nsfnet_names(section.edges),
            link_rate=written["fibre_rate"],
            **{key: written[key] for key in same},
        )
    )


def nsfnet_places() -> dict[str, tuple[float, float]]:
    """Return the positions of the nodes, for drawings; fibre lengths do not depend on them.

    Returns
    -------
    dict of str to tuple of float
        Longitude and latitude of each node's city in degrees, east and north positive, in the order
        Seattle, Palo Alto, San Diego, Salt Lake City, Boulder, Houston, Lincoln, Champaign,
        Pittsburgh, Atlanta, Ann Arbor, Ithaca, Princeton, College Park.
    """
    return {
        row["node"]: (float(row["longitude"]), float(row["latitude"]))
        for row in _rows("nsfnet_places.csv")
    }


def _rows(name: str) -> list[dict[str, str]]:
    file = resources.files("lightburst.topology") / "data" / name
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def _fibres(column: str) -> tuple[GraphLink, ...]:
    return tuple(
        GraphLink(source=row["source"], target=row["target"], length=f"{row[column]} km")
        for row in _rows("nsfnet.csv")
    )
