"""NSFNET and edges of graphs: against the table of the literature, and against networkx."""

from collections import Counter
from typing import Any

import networkx as nx
import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.topology import NSFNET_NODES, Graph, GraphLink, Nsfnet
from lightburst.topology import Network, build_network

#: Nodes by number, and both sets of lengths in km.
LINKS = """
1 2 1100 1338, 1 3 1600 2056, 1 8 2800 3408, 2 3 600 834, 2 4 1000 1152, 3 6 2000 2520,
4 5 600 684, 4 11 2400 2820, 5 6 1100 1746, 5 7 800 870, 6 10 1200 1350, 6 13 2000 2364,
7 8 700 864, 8 9 700 846, 9 10 900 1008, 9 12 500 438, 9 14 500 540, 11 12 800 720,
11 14 800 942, 12 13 300 468, 13 14 300 312
"""
PS_PER_KM = 5_000_000
#: The edges of the reference for vlachos2008.
EDGES = [1, 2, 3, 6, 10, 11, 13, 14]


def published(column: int) -> "nx.Graph[int]":
    graph: nx.Graph[int] = nx.Graph()
    for line in LINKS.replace("\n", " ").split(","):
        numbers = [int(word) for word in line.split()]
        graph.add_edge(numbers[0], numbers[1], km=numbers[1 + column])
    return graph


def fibres(network: Network) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    ends = zip(network.named(network.link_from), network.named(network.link_to), strict=True)
    for (a, b), delay in zip(ends, network.link_delay_ps.tolist(), strict=True):
        graph.add_edge(a, b, ps=delay)
    return graph.subgraph(NSFNET_NODES)


@pytest.mark.parametrize(("lengths", "column"), [("rounded", 1), ("carobs", 2)])
def test_nodes_links_and_shortest_ways_are_the_published_ones(lengths: Any, column: int) -> None:
    network = build_network(Nsfnet(lengths=lengths))
    found = fibres(network)
    assert (found.number_of_nodes(), found.number_of_edges()) == (14, 2 * 21)
    ways = dict(nx.all_pairs_dijkstra_path_length(found, weight="ps"))
    for a, lengths_km in nx.all_pairs_dijkstra_path_length(published(column), weight="km"):
        for b, km in lengths_km.items():
            assert ways[NSFNET_NODES[a - 1]][NSFNET_NODES[b - 1]] == km * PS_PER_KM


def test_the_edges_are_those_that_the_fewest_shortest_ways_cross() -> None:
    graph, crossed = published(1), Counter(dict.fromkeys(range(1, 15), 0))
    for a in graph:
        for b in graph:
            if a < b:
                way = min(nx.all_shortest_paths(graph, a, b, weight="km"))
                crossed.update(way[1:-1])
    fewest = sorted(node for node, _ in crossed.most_common()[-8:])
    assert fewest == EDGES
    assert [NSFNET_NODES[node - 1] for node in fewest] == list(Nsfnet().edges)
    # No tie makes the choice arbitrary.
    assert sorted(crossed.values())[7] < sorted(crossed.values())[8]


def test_hosts_are_at_the_edges_alone() -> None:
    network = build_network(Nsfnet(edges=[13, "WA"], hosts_per_edge=3, access_rate="1 Gb/s"))
    assert network.host_names == ("WA/0", "WA/1", "WA/2", "DC/0", "DC/1", "DC/2")
    assert (network.hosts, network.nodes) == (6, 20)
    assert [network.name(node) for node in network.layers["edge"]] == ["WA", "DC"]
    assert len(network.layers["core"]) == 12
    assert set(network.link_rate_bps[:6].tolist()) == {10**9}
    assert set(network.link_rate_bps[network.between_switches].tolist()) == {10**10}


def test_a_packet_takes_as_long_as_the_shortest_way() -> None:
    # WA - IL - PA - GA are 4,400 km, the other path over Texas 4,800; 125 B take 1 us at 1 Gb/s.
    scenario = lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "nsfnet",
                "edges": ["WA", "GA"],
                "hosts_per_edge": 1,
                "access_rate": "1 Gb/s",
                "access_delay": "1 ms",
                "fibre_rate": "1 Gb/s",
                "wavelengths": 2,
            },
            "routing": {"metric": "delay"},
            "switching": {"kind": "electronic", "layers": {"core": {"kind": "all-optical"}}},
            "transport": {"kind": "datagram", "segment_size": "125 B", "spacing": "constant"},
            "workload": {"kind": "pairs", "size": "125 B"},
        }
    )
    (flow,) = lb.run(scenario).flows.itertuples()
    assert (flow.source, flow.destination) == ("WA/0", "GA/0")
    # Received whole at the two edges and at the host, cut through at the two cores between.
    assert flow.completion_time_s == pytest.approx(2e-3 + 22e-3 + 3e-6, abs=1e-12)


STAR = [GraphLink(source=name, target="hub", rate="10 Gb/s", length="1 km") for name in "abc"]


def test_edges_of_any_graph_have_the_hosts_and_their_links() -> None:
    section = Graph(
        links=STAR, hosts_per_node=2, edges=["c", "a"], access_rate="1 Gb/s", access_delay="1 us"
    )
    network = build_network(section)
    assert network.host_names == ("a/0", "a/1", "c/0", "c/1")
    assert network.link_rate_bps[:4].tolist() == [10**9] * 4
    assert network.link_delay_ps[:4].tolist() == [10**6] * 4
    assert [network.name(node) for node in network.layers["edge"]] == ["a", "c"]
    assert [network.name(node) for node in network.layers["core"]] == ["hub", "b"]


@pytest.mark.parametrize(
    ("keys", "path", "words"),
    [
        ({"hosts_per_node": 1, "edges": ["a", "hup"]}, "topology.edges", "did you mean 'hub'"),
        ({"hosts_per_node": 1, "edges": ["a"]}, "topology.edges", "two or more hosts"),
        ({"edges": ["a"]}, "edges", "hosts_per_node as well"),
        ({"access_rate": "1 Gb/s"}, "access_rate", "hosts_per_node as well"),
    ],
)
def test_edges_that_cannot_be(keys: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        build_network(Graph(links=STAR, **keys))
    assert error.value.path == path
    assert words in str(error.value)


@pytest.mark.parametrize("edges", [["WA"], ["WA", 1], ["Seattle", "WA"], [0, 1]])
def test_edges_that_nsfnet_cannot_have(edges: list[str | int]) -> None:
    with pytest.raises(
        InputError, match=r"^edges.*(two or more nodes|a whole number from 1 to 14)"
    ):
        Nsfnet(edges=edges)
