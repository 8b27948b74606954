"""``wavelengths`` and parallel links: from the file to the network and through a run."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import lightburst as lb
from lightburst import _core
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.topology import FatTree, Graph, ObsPath, PathTopology
from lightburst.topology import build_network, count, from_networkx

SECTIONS = [
    FatTree(k=4),
    FatTree(k=2),
    PathTopology(links=1),
    PathTopology(links=2),
    PathTopology(links=3),
    PathTopology(links=6),
    ObsPath(host_pairs=3),
    ObsPath(core_nodes=0),
]


@pytest.mark.parametrize("section", SECTIONS, ids=str)
@pytest.mark.parametrize("wavelengths", [1, 2, 5])
def test_links_between_switches_are_bundles(section: Any, wavelengths: int) -> None:
    wide = section.model_copy(update={"wavelengths": wavelengths})
    single, network = build_network(section), build_network(wide)
    assert count(wide) == network.counts
    assert wide.largest_degree == network.largest_degree
    between = single.between_switches
    for name in ("link_from", "link_to", "link_rate_bps", "link_delay_ps"):
        column = getattr(single, name)
        expected = np.repeat(column, np.where(between, wavelengths, 1)).tolist()
        assert getattr(network, name).tolist() == expected
    expected = [number for w in between for number in range(1 + (wavelengths - 1) * w)]
    assert network.wavelength.tolist() == expected


def scenario(topology: dict[str, Any], **routing: Any) -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": topology,
            "routing": routing,
            "switching": {"kind": "hybrid"},
            "transport": {"kind": "sawl"},
            "workload": {"kind": "poisson", "arrival_rate": "3e7 /s", "flows": 200},
        }
    )


def test_one_wavelength_is_what_there_was() -> None:
    plain = scenario({"kind": "fat-tree", "k": 4})
    one = scenario({"kind": "fat-tree", "k": 4, "wavelengths": 1})
    assert "wavelengths" not in plain.canonical_json()
    assert plain.canonical_json() == one.canonical_json()
    assert "wavelength" not in compile_plan(plain, 1).links
    assert not lb.run(plain).links["wavelength"].any()


def test_a_structured_fat_tree_does_what_a_graph_of_its_links_does() -> None:
    """The same ports in the same order, once calculated and once looked up."""
    tree = scenario({"kind": "fat-tree", "k": 4, "wavelengths": 3})
    plan = compile_plan(tree, 1)
    calculated = lb.run(tree)
    settings = plan.settings | {"routing": {"kind": "shortest-path", "metric": "hops"}}
    looked_up = _core.simulate(json.dumps(settings), plan.nodes, plan.links, plan.flows)
    for group in ("flows", "links", "switches"):
        for name, column in looked_up[group].items():
            assert np.array_equal(calculated.columns[group][name], column), name


def test_more_wavelengths_lose_less_and_have_rows_of_their_own() -> None:
    lost = []
    for wavelengths in (1, 2, 4):
        result = lb.run(
            scenario({"kind": "fat-tree", "k": 4, "wavelengths": wavelengths}).with_(
                switching__kind="all-optical"
            )
        )
        lost.append(result.switches["dropped_contention"].sum() / result.switches["arrived"].sum())
        numbers = result.links.groupby(["source", "target"])["wavelength"].agg(list)
        assert set(map(tuple, numbers)) == {(0,), tuple(range(wavelengths))}
        assert (result.links["units"] > 0).all()
    assert lost[0] > 1.2 * lost[1] > 1.2 * lost[2]


def graph(*links: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "graph", "links": list(links), **more}


def test_a_graph_has_wavelengths_by_link_and_parallel_links_by_name(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text(
        "source,target,length,wavelengths,name\nh,a,,,\na,b,1 km,2,north\nb,a,3 km,,south\nb,g,,,\n"
    )
    inline = graph(
        {"source": "h", "target": "a"},
        {"source": "a", "target": "b", "length": "1 km", "wavelengths": 2, "name": "north"},
        {"source": "b", "target": "a", "length": "3 km", "name": "south"},
        {"source": "b", "target": "g"},
        wavelengths=3,
    )
    for section in (Graph(file=file, wavelengths=3), Graph.model_validate(inline)):
        network = build_network(section)
        assert network.names == ("h", "g", "a", "b")
        at_a = network.link_from == 2
        assert network.link_to[at_a].tolist() == [0, 3, 3, 3, 3, 3]
        assert network.wavelength[at_a].tolist() == [0, 0, 1, 0, 1, 2]
        assert network.link_delay_ps[at_a].tolist() == [50_000] + 2 * [5_000_000] + 3 * [15_000_000]
        assert np.array(network.link_names)[at_a].tolist() == [""] + 2 * ["north"] + 3 * ["south"]


def test_a_multigraph_gives_its_keys_as_names() -> None:
    roads: nx.MultiGraph[str] = nx.MultiGraph()
    roads.add_edge("a", "b", key="north", length="1 km", wavelengths=4)
    roads.add_edge("a", "b", key="south")
    section = from_networkx(roads, hosts_per_node=1, wavelengths=2, link_length="1 km")
    assert [(link.name, link.wavelengths) for link in section.links] == [
        ("north", 4),
        ("south", None),
    ]
    assert build_network(section).largest_degree == 1 + 4 + 2


BAD = [
    (
        graph({"source": "a", "target": "b"}, {"source": "b", "target": "a"}),
        "topology.links: given link 1: b - a; allowed: each link once, for both directions (it is "
        "in link 0 as well); parallel links each with a 'name' of its own",
    ),
    (
        graph(
            {"source": "a", "target": "b", "name": "x"},
            {"source": "b", "target": "a"},
        ),
        "topology.links: given link 1: b - a; allowed: each link once",
    ),
    (
        graph(
            {"source": "a", "target": "b", "name": "x"},
            {"source": "b", "target": "a", "name": "y"},
            {"source": "b", "target": "a", "name": "x"},
        ),
        "topology.links: given link 2: b - a called 'x'; allowed: each link once, for both "
        "directions (it is in link 0 as well)",
    ),
    (
        graph({"source": "a", "target": "b", "wavelengths": 0}),
        "topology.links[0].wavelengths: given 0; allowed: a whole number from 1 to 256",
    ),
    (
        graph({"source": "a", "target": "b", "wavelengths": 2}, hosts="leaves"),
        "topology.links: given link 0: 2 wavelengths to a host; allowed: one wavelength on the "
        "link of a host",
    ),
    (
        {"kind": "fat-tree", "wavelengths": 257},
        "topology.wavelengths: given 257; allowed: a whole number from 1 to 256",
    ),
]


@pytest.mark.parametrize(("topology", "message"), BAD)
def test_what_cannot_be_is_refused(topology: dict[str, Any], message: str) -> None:
    if topology["kind"] == "graph" and "hosts" not in topology:
        topology = topology | {"hosts_per_node": 1}
    with pytest.raises(InputError) as caught:
        compile_plan(scenario(topology).with_(switching__kind="electronic"), 1)
    assert str(caught.value).startswith(message)


def test_a_file_s_wavelengths_are_numbers(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text("source,target,wavelengths\na,b,two\n")
    with pytest.raises(InputError, match=r"line 2: wavelengths 'two'; allowed: a whole number"):
        build_network(Graph(file=file, hosts_per_node=1))


def test_a_node_has_so_many_links_at_the_most() -> None:
    with pytest.raises(InputError, match="a node with 65536 links; allowed: at most 65535 links"):
        build_network(ObsPath(host_pairs=65_534, wavelengths=2))
