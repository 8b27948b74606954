"""Links whose directions differ, and fat-trees whose hosts have links of another rate."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.topology import FatTree, Graph
from lightburst.topology import Network, build_network, from_networkx

#: A host whose way up is slower and longer than its way down, as with ADSL.
LINKS = (
    "source,target,length,rate,reverse_length,reverse_rate\n"
    "b,s,10 km,10 Gb/s,,\na,s,20 km,100 Mb/s,10 km,1 Gb/s\n"
)
DATAGRAMS = {
    "kind": "datagram",
    "spacing": "constant",
    "segment_size": "1000 B",
    "header_size": "40 B",
}


def directions(network: Network) -> dict[tuple[str, str], tuple[int, int]]:
    """Rate and delay of each directed link, by the names of its ends."""
    columns = network.link_from, network.link_to, network.link_rate_bps, network.link_delay_ps
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(network.name(a), network.name(b)): (rate, delay) for a, b, rate, delay in rows}


EXPECTED = {
    ("b", "s"): (10_000_000_000, 50_000_000),
    ("s", "b"): (10_000_000_000, 50_000_000),
    ("a", "s"): (100_000_000, 100_000_000),
    ("s", "a"): (1_000_000_000, 50_000_000),
}


def inline() -> dict[str, Any]:
    """The table of `LINKS` in the scenario itself."""
    reverse = {"length": "10 km", "rate": "1 Gb/s"}
    a = {"source": "a", "target": "s", "length": "20 km", "rate": "100 Mb/s", "reverse": reverse}
    b = {"source": "b", "target": "s", "length": "10 km", "rate": "10 Gb/s"}
    return {"kind": "graph", "links": [b, a]}


def test_a_table_of_links_in_a_file_and_in_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text(LINKS, encoding="utf-8")
    assert directions(build_network(Graph(file=file))) == EXPECTED
    assert directions(build_network(Graph(**inline()))) == EXPECTED


def test_the_two_edges_of_a_digraph_are_one_link() -> None:
    graph = nx.DiGraph()
    graph.add_edge("b", "s", length=10_000, rate="10 Gb/s")
    graph.add_edge("a", "s", length="20 km", rate="100 Mb/s")
    graph.add_edge("s", "a", length="10 km", rate="1 Gb/s")
    graph.add_edge("s", "b", length=10_000, rate="10 Gb/s")
    assert directions(build_network(from_networkx(graph))) == EXPECTED
    keyed = nx.MultiDiGraph([("a", "s", "x"), ("s", "a", "x"), ("a", "s", "y"), ("s", "a", "y")])
    names = [link.name for link in from_networkx(keyed, hosts_per_node=1).links]
    assert names == ["x", "y"]


@pytest.mark.parametrize(
    ("edges", "path", "words"),
    [
        ([("a", "s", {}), ("b", "s", {}), ("s", "b", {})], "graph", "no edge s - a"),
        ([("a", "s", {"wavelengths": 2}), ("s", "a", {})], "wavelengths", "in both directions"),
        ([("a", "s", {}), ("s", "a", {"rate": "1 km"})], "reverse.rate", "edge a - s"),
    ],
)
def test_a_digraph_that_is_no_network(edges: list[Any], path: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        from_networkx(nx.DiGraph(edges), hosts_per_node=1)
    assert path in error.value.path
    assert words in str(error.value)


def test_bad_reverse_columns_name_their_line(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text("source,target,reverse_rate\na,s,\nb,s,2 km\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"links\.csv line 3: .*2 km"):
        build_network(Graph(file=file))


@pytest.mark.parametrize(
    ("source", "destination", "one_us", "two_us"),
    [
        # 1,000 B take 80 us at 100 Mb/s, 8 us at 1 Gb/s and 0.8 us at 10 Gb/s; 10 km take 50 us.
        ("a", "b", 80 + 100 + 0.8 + 50, 2 * 80 + 100 + 0.8 + 50),
        ("b", "a", 0.8 + 50 + 8 + 50, 0.8 + 50 + 2 * 8 + 50),
    ],
)
def test_the_time_of_a_flow_is_that_of_its_direction(
    tmp_path: Path, source: str, destination: str, one_us: float, two_us: float
) -> None:
    file = tmp_path / "flows.csv"
    rows = [f"{source},{destination},0,960", f"{source},{destination},1,1920"]
    file.write_text("\n".join(["source,destination,start_s,size_bytes", *rows]), encoding="utf-8")
    scenario = lb.Scenario.from_dict(
        {
            "topology": inline(),
            "switching": {"kind": "electronic"},
            "transport": DATAGRAMS,
            "workload": {"kind": "table", "file": str(file)},
        }
    )
    flows = lb.run(scenario).flows
    assert flows.completion_time_s[0] == pytest.approx(one_us * 1e-6, rel=1e-12)
    assert flows.ideal_s.tolist() == pytest.approx([one_us * 1e-6, two_us * 1e-6], rel=1e-12)


def test_hosts_of_a_fat_tree_below_faster_links() -> None:
    section = FatTree(k=4, link_rate="400 Gb/s", access_rate="100 Gb/s")
    network = build_network(section)
    expected = np.where(network.between_switches, 400, 100) * 10**9
    assert (network.link_rate_bps == expected).all()
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4, "link_rate": "400 Gb/s"}
            | {"access_rate": "100 Gb/s", "propagation": "0 ps/m"},
            "switching": {"kind": "electronic"},
            "transport": DATAGRAMS,
            "workload": {"kind": "shuffle", "size": {"kind": "constant", "value": "960 B"}},
        }
    )
    flows = lb.run(scenario).flows
    # 80 ns on each of the two links of hosts and 20 ns on those between switches; 1 ps a link.
    for links in (2, 4, 6):
        ideal = flows.ideal_s[flows.path_links == links]
        assert ideal.to_numpy() == pytest.approx((160e3 + 20e3 * (links - 2) + links) * 1e-12)
    with pytest.raises(InputError, match="links from 100 Gb/s to 400 Gb/s"):
        lb.run(scenario.with_(switching={"kind": "hybrid", "buffer_ports": 2}))
