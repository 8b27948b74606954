"""Networks of networkx, GraphML files and topohub as tables of links."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.topology import GraphLink
from lightburst.topology import build_network, from_networkx, from_topohub

#: GraphML as tools write it: typed attributes, with a length under another name.
GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="Distance" attr.type="double"/>
  <key id="d1" for="node" attr.name="label" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="n0"><data key="d1">Roma</data></node>
    <node id="n1"><data key="d1">Milano</data></node>
    <node id="n2"><data key="d1">Bari</data></node>
    <edge source="n0" target="n1"><data key="d0">477.5</data></edge>
    <edge source="n0" target="n2"><data key="d0">374.25</data></edge>
  </graph>
</graphml>
"""


def test_graphml_with_lengths_in_kilometres(tmp_path: Path) -> None:
    file = tmp_path / "italy.graphml"
    file.write_text(GRAPHML, encoding="utf-8")
    graph = nx.read_graphml(file)
    named = nx.relabel_nodes(graph, nx.get_node_attributes(graph, "label"))
    section = from_networkx(named, length="Distance", length_unit="km", hosts_per_node=1)
    assert section.links == (
        GraphLink(source="Roma", target="Milano", length="477.5 km"),
        GraphLink(source="Roma", target="Bari", length="374.25 km"),
    )
    with pytest.raises(InputError) as error:
        from_networkx(named, hosts_per_node=1)
    assert error.value.path == "length"
    assert "no edge with 'length'; they have 'Distance'" in str(error.value)
    assert "length='Distance', length_unit='km'" in str(error.value)


def graph(*lengths: object) -> "nx.Graph[str]":
    made: nx.Graph[str] = nx.path_graph(["a", "b", "c"])
    for edge, length in zip(made.edges, lengths, strict=False):
        made.edges[edge]["length"] = length
    return made


def test_edges_are_nodes_of_the_graph() -> None:
    section = from_networkx(nx.petersen_graph(), edges=[0, 7], hosts_per_node=1)
    assert section.edges == ("0", "7")
    assert build_network(section).host_names == ("0/0", "7/0")
    unknown = from_networkx(nx.petersen_graph(), edges=[10], hosts_per_node=1)
    with pytest.raises(InputError, match=r"^topology\.edges"):
        build_network(unknown)


def test_public_packages_are_there_without_being_imported() -> None:
    used = "lb.topology.from_networkx, lb.models.erlang_b, lb.trace.capture"
    subprocess.run([sys.executable, "-c", f"import lightburst as lb; {used}"], check=True)


def test_lengths_have_a_unit_or_the_one_that_is_named() -> None:
    section = from_networkx(graph("2 km", 3), length_unit="cm", hosts_per_node=1)
    assert [link.length for link in section.links] == [2000.0, 0.03]
    # All edges without a length: the scenario's value.
    assert [link.length for link in from_networkx(graph(), hosts_per_node=1).links] == [None, None]
    # A length for those without one.
    one = from_networkx(graph("2 km"), hosts_per_node=1, link_length="7 m")
    assert build_network(one).link_delay_ps[-2:].tolist() == [35_000, 35_000]


@pytest.mark.parametrize(
    ("given", "keys", "path", "words"),
    [
        (graph("2 km"), {}, "length", "1 of 2 edges without 'length': 'b - c'"),
        (graph("2 km"), {}, "length", "link_length"),
        (graph(1, 2), {"length": "km"}, "length", "no edge with 'km'; they have 'length'"),
        (graph(1, 2), {"length_unit": "mi"}, "length_unit", "'mm', 'cm', 'm', 'km'"),
        (graph(1, "far"), {}, "edge b - c: length", "given 'far'"),
        (graph(1, None), {}, "edge b - c: length", "given 'None m'"),
        (graph(1, 2), {"host": "leaves"}, "host", "unknown key"),
        (nx.DiGraph([("a", "b")]), {"link_length": "1 m"}, "graph", "graph.to_undirected()"),
    ],
)
def test_graphs_that_cannot_be(given: Any, keys: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        from_networkx(given, **keys)
    assert error.value.path == path
    assert words in str(error.value)


def test_a_network_of_topohub_runs() -> None:
    section = from_topohub(
        "sndlib/polska", hosts_per_node=2, edges=["Gdansk", "Krakow"], access_rate="1 Gb/s"
    )
    # Of SNDlib: 12 nodes and 18 links.
    names = {name for link in section.links for name in (link.source, link.target)}
    assert (len(names), len(section.links)) == (12, 18)
    assert {link.length for link in section.links if link.length is not None} >= {273_930.0}
    scenario = lb.Scenario.from_dict(
        {
            "topology": section,
            "routing": {"metric": "delay"},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "datagram", "segment_size": "1 kB", "spacing": "constant"},
            "workload": {"kind": "pairs", "size": "1 kB"},
        }
    )
    again = lb.Scenario.from_dict(scenario.to_dict())
    assert lb.run(scenario).digest == lb.run(again).digest
    assert set(lb.run(scenario).flows["source"]) == {"Gdansk/0", "Gdansk/1"}


def test_nodes_of_topohub_without_names_have_numbers() -> None:
    section = from_topohub("backbone/africa", hosts_per_node=1)
    assert all(link.source.isdigit() for link in section.links)


def test_topohub_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"given 'sndlib/polskaa'.*'sndlib/polska'"):
        from_topohub("sndlib/polskaa")
    monkeypatch.setitem(sys.modules, "topohub", None)
    with pytest.raises(InputError, match=r"pip install 'lightburst\[topohub\]'"):
        from_topohub("sndlib/polska")
