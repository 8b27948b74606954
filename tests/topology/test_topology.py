"""Networks as arrays: structure against the literature and against networkx."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.topology import FatTree, Graph, ObsPath, PathTopology
from lightburst.topology import Network, build_network, count, from_networkx
from lightburst.topology.fat_tree import FatTreeNodes


def as_networkx(network: Network) -> "nx.DiGraph[int]":
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(network.nodes))
    graph.add_edges_from(zip(network.link_from.tolist(), network.link_to.tolist(), strict=True))
    return graph


def ports(network: Network, node: int) -> list[int]:
    return [int(to) for to in network.link_to[network.link_from == node]]


def check_consistent(network: Network) -> None:
    """Check the properties of every network."""
    assert np.all(np.diff(network.link_from.astype(np.int64)) >= 0)
    pairs = np.stack([network.link_from, network.link_to], axis=1)
    assert {tuple(pair) for pair in pairs.tolist()} == {tuple(p) for p in pairs[:, ::-1].tolist()}
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs)
    assert np.all(network.degree[: network.hosts] == 1)
    assert nx.is_strongly_connected(as_networkx(network))
    forward = {
        (a, b): (rate, delay)
        for a, b, rate, delay in zip(
            network.link_from.tolist(),
            network.link_to.tolist(),
            network.link_rate_bps.tolist(),
            network.link_delay_ps.tolist(),
            strict=True,
        )
    }
    assert all(forward[b, a] == properties for (a, b), properties in forward.items())
    assert network.link_from.dtype == network.link_to.dtype == np.uint32
    assert network.link_rate_bps.dtype == network.link_delay_ps.dtype == np.uint64


@pytest.mark.parametrize("k", [2, 4, 6, 8, 16])
def test_a_fat_tree_has_the_numbers_of_al_fares(k: int) -> None:
    network = build_network(FatTree(k=k))
    check_consistent(network)
    assert network.hosts == k**3 // 4
    assert network.nodes - network.hosts == 5 * k**2 // 4
    assert network.link_from.size == 2 * 3 * k**3 // 4
    assert np.all(network.degree[network.hosts :] == k)
    assert network.largest_degree == k
    assert network.routing == {"kind": "fat-tree", "k": k, "wavelengths": 1}
    assert count(FatTree(k=k)) == network.counts


def test_the_paper_s_fat_tree() -> None:
    # minakhmetov2018: 128 servers, 80 switches of 8 ports
    network = build_network(FatTree())
    assert (network.hosts, network.nodes - network.hosts, network.largest_degree) == (128, 80, 8)
    assert set(network.link_delay_ps.tolist()) == {50_000}  # 10 m at 5 ns/m
    assert set(network.link_rate_bps.tolist()) == {10_000_000_000}


def test_paths_of_a_fat_tree() -> None:
    # Shortest paths between hosts: 1 under one edge, k/2 in one pod, (k/2)^2 between pods.
    k = 4
    graph = as_networkx(build_network(FatTree(k=k)))
    for other, links, paths in ((1, 2, 1), (2, 4, k // 2), (5, 6, (k // 2) ** 2)):
        found = list(nx.all_shortest_paths(graph, 0, other))
        assert (len(found[0]) - 1, len(found)) == (links, paths)


def test_ports_of_a_fat_tree() -> None:
    k, half = 6, 3
    network, at = build_network(FatTree(k=k)), FatTreeNodes(6)
    for pod in range(k):
        for i in range(half):
            edge, aggregation = at.edges + pod * half + i, at.aggregations + pod * half + i
            hosts = [(pod * half + i) * half + h for h in range(half)]
            assert [ports(network, host) for host in hosts] == [[edge]] * half
            assert ports(network, edge) == hosts + [
                at.aggregations + pod * half + a for a in range(half)
            ]
            assert ports(network, aggregation) == [
                at.edges + pod * half + e for e in range(half)
            ] + [at.cores + i * half + c for c in range(half)]
    for row in range(half):
        for column in range(half):
            core = at.cores + row * half + column
            assert ports(network, core) == [at.aggregations + p * half + row for p in range(k)]


def test_a_large_fat_tree_is_built_in_arrays() -> None:
    network = build_network(FatTree(k=64))
    assert network.hosts == 65_536
    assert network.link_from.size == 393_216
    assert int(network.degree.sum()) == 393_216


@pytest.mark.parametrize("links", [1, 2, 3, 7])
def test_a_path(links: int) -> None:
    network = build_network(PathTopology(links=links, link_length="1 km"))
    check_consistent(network)
    assert (network.hosts, network.nodes) == (2, links + 1)
    assert nx.shortest_path_length(as_networkx(network), 0, 1) == links
    assert set(network.link_delay_ps.tolist()) == {5_000_000}
    switches = list(range(2, links + 1))
    for before, switch, after in zip([0, *switches], switches, [*switches[1:], 1], strict=False):
        assert ports(network, switch) == [before, after]
    assert network.largest_degree == (2 if links > 1 else 0)
    assert count(PathTopology(links=links)) == network.counts


def delays(network: Network) -> dict[tuple[int, int], int]:
    ends = zip(network.link_from.tolist(), network.link_to.tolist(), strict=True)
    return dict(zip(ends, network.link_delay_ps.tolist(), strict=True))


@pytest.mark.parametrize(("pairs", "cores"), [(1, 0), (1, 2), (3, 1), (50, 4)])
def test_an_obs_path(pairs: int, cores: int) -> None:
    section = ObsPath(host_pairs=pairs, core_nodes=cores)
    network = build_network(section)
    check_consistent(network)
    assert count(section) == network.counts
    assert (network.hosts, network.nodes) == (2 * pairs, 2 * pairs + cores + 2)
    assert network.largest_degree == section.largest_degree == pairs + 1
    ingress, egress = 2 * pairs, 2 * pairs + cores + 1
    line = list(range(ingress, egress + 1))
    assert ports(network, ingress) == [*range(pairs), ingress + 1]
    assert ports(network, egress) == [*range(pairs, 2 * pairs), egress - 1]
    for before, core, after in zip(line, line[1:], line[2:], strict=False):
        assert ports(network, core) == [before, after]
    graph = as_networkx(network)
    assert nx.shortest_path(graph, 0, pairs) == [0, *line, pairs]


def test_the_obs_path_of_the_paper() -> None:
    # yu2004, section V: 10 ms at each access link and each of three fibres, so 0.1 s for a round
    # trip; 10 GB/s in the fibres; its access rates go up to 125 MB/s.
    network = build_network(ObsPath())
    assert set(network.link_delay_ps.tolist()) == {10 * 10**9}
    rate = network.link_rate_bps.tolist()
    fibre = (np.minimum(network.link_from, network.link_to) >= 2).tolist()
    assert set(zip(fibre, rate, strict=True)) == {(False, 8 * 125 * 10**6), (True, 8 * 10**10)}
    assert fibre.count(True) == 2 * 3


@pytest.mark.parametrize("extra", [0, 35 * 10**9, 7])
def test_more_round_trip_is_at_the_receivers(extra: int) -> None:
    found = delays(
        build_network(ObsPath(host_pairs=2, core_nodes=1, extra_round_trip=f"{extra} ps"))
    )
    before = delays(build_network(ObsPath(host_pairs=2, core_nodes=1)))
    grown = {ends: found[ends] - before[ends] for ends in found if found[ends] != before[ends]}
    egress = 6
    for receiver in (2, 3):
        there, back = (egress, receiver), (receiver, egress)
        assert grown.get(there, 0) + grown.get(back, 0) == extra
        assert abs(grown.get(there, 0) - grown.get(back, 0)) <= 1
    assert set(grown) <= {(6, 2), (2, 6), (6, 3), (3, 6)}


STAR = "source,target,length,rate\na,s,1 km,\nb,s,,40 Gb/s\nc,s,,\n"


def graph_file(directory: Path, text: str) -> Path:
    file = directory / "links.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_graph_from_a_file(tmp_path: Path) -> None:
    network = build_network(Graph(file=graph_file(tmp_path, STAR), link_length="20 m"))
    check_consistent(network)
    assert network.names == ("a", "b", "c", "s")
    assert network.host_names == ("a", "b", "c")
    assert (network.hosts, network.nodes) == (3, 4)
    assert ports(network, 3) == [0, 1, 2]
    assert network.link_delay_ps[:3].tolist() == [5_000_000, 100_000, 100_000]
    assert network.link_rate_bps[:3].tolist() == [10**10, 4 * 10**10, 10**10]
    assert network.routing == {"kind": "shortest-path"}


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    section = Graph(file=graph_file(tmp_path, STAR))
    assert build_network(section).hosts == 3
    assert build_network(section) is build_network(section)
    graph_file(tmp_path, STAR + "d,s,,\n")
    assert build_network(section).hosts == 4


def test_hosts_at_every_node(tmp_path: Path) -> None:
    file = graph_file(tmp_path, "source,target\nx,y\ny,z\nz,x\n")
    network = build_network(Graph(file=file, hosts_per_node=2))
    check_consistent(network)
    assert network.names == ("x/0", "x/1", "y/0", "y/1", "z/0", "z/1", "x", "y", "z")
    assert (network.hosts, network.nodes, network.largest_degree) == (6, 9, 4)
    assert ports(network, 6) == [0, 1, 7, 8]  # own hosts first, then in the order of the file


def test_a_graph_from_networkx_keeps_its_shortest_paths() -> None:
    # Hosts on the leaves of a graph with many equal paths.
    graph = nx.grid_2d_graph(3, 3)
    graph.add_edge("left", (0, 0), length="2 km", rate="1 Gb/s")
    graph.add_edge("right", (2, 2))
    section = from_networkx(graph, link_length="1 m")
    network = build_network(section)
    check_consistent(network)
    assert network.host_names == ("left", "right")
    ours = as_networkx(network)
    assert len(list(nx.all_shortest_paths(ours, 0, 1))) == 6  # binomial(4, 2) lattice paths
    assert network.link_delay_ps[:2].tolist() == [10_000_000, 5_000]
    assert network.link_rate_bps[0] == 10**9


@pytest.mark.parametrize("seed", range(5))
def test_random_graphs_are_the_same_graph(seed: int) -> None:
    graph = nx.connected_watts_strogatz_graph(30, 4, 0.3, seed=seed)
    network = build_network(from_networkx(graph, hosts_per_node=1))
    check_consistent(network)
    switches = as_networkx(network).to_undirected().subgraph(range(30, 60))
    names = [str(name) for name in dict.fromkeys(n for edge in graph.edges for n in edge)]
    relabelled = nx.relabel_nodes(graph, {int(name): 30 + i for i, name in enumerate(names)})
    assert {frozenset(edge) for edge in switches.edges} == {
        frozenset(edge) for edge in relabelled.edges
    }


@pytest.mark.parametrize(
    ("text", "given", "allowed"),
    [
        ("", "(none)", "source, target"),
        ("source,length\na,1 m\n", "source, length", "source, target"),
        ("source,target,lenght\na,b,1 m\n", "lenght", "source, target"),
        ("source,target\n", "no links", "at least one link"),
        ("source,target\na,\n", "line 2: a link without source or target", "names of two nodes"),
        ("source,target\na,b,c\n", "line 2: more values", "one value for each column"),
        ("source,target\na,a\n", "line 2: a - a", "two different nodes"),
        ("source,target\na,b\nb,a\n", "line 3: b - a", "each link once"),
        ("source,target,length\na,s,5\n", "line 2: length '5'", "such as '10 m'"),
        ("source,target,rate\na,s,10 gb/s\n", "rate '10 gb/s'", "did you mean '10 Gb/s'?"),
        ("source,target\na,b\nc,d\n", "no path leads from a to c", "a connected graph"),
        ("source,target\na,b\nb,c\nc,a\n", "0 nodes with one link", "hosts_per_node"),
    ],
)
def test_bad_tables_of_links(tmp_path: Path, text: str, given: str, allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        build_network(Graph(file=graph_file(tmp_path, text)))
    assert caught.value.path == "topology.file"
    assert given in caught.value.given
    assert allowed in caught.value.allowed


def test_all_errors_of_a_table_of_links_are_reported(tmp_path: Path) -> None:
    rows = "".join(f"a,b{i},{i}\n" for i in range(3))
    with pytest.raises(InputError) as caught:
        build_network(Graph(file=graph_file(tmp_path, f"source,target,length\n{rows}")))
    assert [error.given[-12:] for error in caught.value.errors] == [
        f": length '{i}'" for i in range(3)
    ]


def test_bad_links_in_the_scenario_itself() -> None:
    section = Graph(links=[{"source": "a", "target": "b"}, {"source": "b", "target": "a"}])
    with pytest.raises(InputError, match=r"^topology.links: given link 1: b - a"):
        build_network(section)


def test_too_many_hosts_are_refused_before_they_are_made(tmp_path: Path) -> None:
    rows = "".join(f"a,b{i}\n" for i in range(100))
    file = graph_file(tmp_path, f"source,target\n{rows}")
    with pytest.raises(InputError, match=r"^topology.hosts_per_node: given 60000, at each of 101"):
        build_network(Graph(file=file, hosts_per_node=60_000))


def test_networks_are_shared_and_read_only() -> None:
    network = build_network(FatTree())
    assert network is build_network(FatTree())
    with pytest.raises(ValueError, match="read-only"):
        network.link_to[0] = 1


def test_switches_have_names_and_some_a_layer() -> None:
    fat_tree = build_network(FatTree(k=4))
    assert [list(layer) for layer in fat_tree.layers.values()] == [
        list(range(16, 24)),
        list(range(24, 32)),
        list(range(32, 36)),
    ]
    assert list(fat_tree.switches) == [str(node) for node in range(16, 36)]
    obs = build_network(ObsPath(host_pairs=2, core_nodes=3))
    assert {name: list(nodes) for name, nodes in obs.layers.items()} == {
        "edge": [4, 8],
        "core": [5, 6, 7],
    }


def test_a_node_called_like_a_host_of_another(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text("source,target\na,b\nb,a/0\n")
    with pytest.raises(InputError, match=r"^topology.file: given nodes called 'a/0'; allowed"):
        build_network(Graph(file=file, hosts_per_node=1))
    # As a leaf the node is a host itself, and with fewer hosts at each node the name is free.
    assert build_network(Graph(file=file)).hosts == 2
    file.write_text("source,target\na,b\nb,a/1\n")
    assert build_network(Graph(file=file, hosts_per_node=1)).hosts == 3
