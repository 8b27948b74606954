"""NSFNET: 14 nodes and 21 fibres, with two published sets of lengths."""

import csv
from importlib import resources

from lightburst.scenario.fields import plain
from lightburst.scenario.topology import Graph, GraphLink, Nsfnet, nsfnet_names
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
        As `build_graph` lays out its table of fibres, with hosts at the edges.
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
    """Give where the nodes are, for drawings: the lengths of the fibres are not taken from it.

    Returns
    -------
    dict of str to tuple of float
        Longitude and latitude of each node in degrees, east and north positive: those of its city,
        in the order Seattle, Palo Alto, San Diego, Salt Lake City, Boulder, Houston, Lincoln,
        Champaign, Pittsburgh, Atlanta, Ann Arbor, Ithaca, Princeton, College Park.
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
