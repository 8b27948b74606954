"""Tables that carry the names of nodes, and the network as a graph with results on it."""

from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pytest

import lightburst as lb

CITIES = [
    {"source": "Seattle", "target": "Chicago", "length": "3000 km"},
    {"source": "Chicago", "target": "Boston", "length": "1300 km"},
    {"source": "Seattle", "target": "Austin", "length": "2800 km"},
    {"source": "Austin", "target": "Boston", "length": "2700 km"},
]


def cities(**changes: Any) -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "links": CITIES, "hosts_per_node": 1},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "sawl"},
            "workload": {"kind": "poisson", "arrival_rate": "10 /s", "flows": 30},
        }
    ).with_(**changes)


def test_tables_of_a_graph_carry_its_names() -> None:
    result = lb.run(cities())
    hosts = {"Seattle/0", "Chicago/0", "Boston/0", "Austin/0"}
    nodes = {"Seattle", "Chicago", "Boston", "Austin"}
    assert set(result.flows["source"]) | set(result.flows["destination"]) == hosts
    assert set(result.switches["node"]) == nodes
    assert set(result.switches["layer"]) == {"switch"}
    pairs = set(zip(result.links["source"], result.links["target"], strict=True))
    assert ("Seattle", "Chicago") in pairs
    assert ("Chicago/0", "Chicago") in pairs
    assert len(pairs) == len(result.links) == 2 * (4 + 4)
    # Names are the plan's numbers, in its order.
    network = result.plan.network
    assert network is not None
    numbers = result.plan.flows["source"]
    assert result.flows["source"].tolist() == [network.name(i) for i in numbers]


def test_the_flows_of_a_run_are_a_workload_again(tmp_path: Path) -> None:
    result = lb.run(cities())
    result.save(tmp_path / "out")
    file = tmp_path / "out" / "flows.parquet"
    again = lb.run(cities(workload={"kind": "table", "file": str(file)}))
    for name in ("source", "destination", "start_ps", "bytes"):
        assert again.plan.flows[name].tolist() == result.plan.flows[name].tolist()
    assert again.digest == result.digest


@pytest.mark.parametrize(
    ("topology", "switching", "layers"),
    [
        ({"kind": "fat-tree", "k": 4}, "hybrid", {"edge": 8, "aggregation": 8, "core": 4}),
        ({"kind": "path", "links": 3}, "hybrid", {"switch": 2}),
        ({"kind": "obs-path", "access_rate": "80 Gb/s"}, "all-optical", {"edge": 2, "core": 2}),
    ],
)
def test_other_topologies_keep_numbers_and_have_layers(
    topology: dict[str, Any], switching: str, layers: dict[str, int]
) -> None:
    plain = cities().to_dict() | {"topology": topology, "switching": {"kind": switching}}
    result = lb.run(lb.Scenario.from_dict(plain))
    hosts = result.plan.settings["hosts"]
    count = sum(layers.values())
    assert result.switches["node"].tolist() == list(range(hosts, hosts + count))
    assert result.switches["layer"].value_counts().to_dict() == layers
    assert result.flows["source"].dtype.kind == "u"
    degree = result.switches.set_index("node")["layer"]
    for _, link in result.links.iterrows():
        if link["source"] < hosts and "edge" in layers:
            assert degree[link["target"]] == "edge"


def test_the_network_has_the_results_on_it() -> None:
    result = lb.run(cities())
    graph = result.network
    assert type(graph) is nx.DiGraph
    assert graph.nodes["Seattle/0"] == {"layer": "host"}
    rows = result.links.set_index(["source", "target"])
    for source, target, found in graph.edges(data=True):
        pd.testing.assert_series_equal(
            pd.Series(found), rows.loc[(source, target)], check_names=False
        )
    assert graph["Seattle"]["Chicago"]["utilisation"] > 0
    assert graph["Seattle"]["Chicago"]["delay_s"] == pytest.approx(15e-3)
    switches = result.switches.set_index("node")
    arrived = {name: node["arrived"] for name, node in graph.nodes(data=True) if "arrived" in node}
    assert arrived == switches["arrived"].to_dict()
    assert nx.is_strongly_connected(graph)


def test_numbered_nodes_are_numbers_in_the_network() -> None:
    plain = cities().to_dict() | {"topology": {"kind": "fat-tree", "k": 4}}
    graph = lb.run(lb.Scenario.from_dict(plain)).network
    assert graph.nodes[35] == {**graph.nodes[35], "layer": "core"}
    assert graph.nodes[0] == {"layer": "host"}
    assert graph[0][16]["units"] >= 0


def test_names_survive_parquet(tmp_path: Path) -> None:
    result = lb.run(cities())
    result.save(tmp_path / "out")
    for name in ("flows", "links", "switches"):
        kept = pd.read_parquet(tmp_path / "out" / f"{name}.parquet")
        pd.testing.assert_frame_equal(kept, getattr(result, name), check_dtype=False)
