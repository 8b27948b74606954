"""``[switching]`` by layer and by name: from the file to the plan and through a run."""

import tomllib
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError

FAT_TREE = """
[topology]
kind = "fat-tree"
k = 4

[switching]
kind = "hybrid"

[switching.layers.edge]
kind = "electronic"
header_processing_time = "3 ns"

[switching.nodes.16]
kind = "all-optical"

[transport]
kind = "sawl"

[workload]
kind = "poisson"
arrival_rate = "1e7 /s"
flows = 200
"""
RING = [("a", "b"), ("b", "c"), ("c", "a")]


def fat_tree() -> lb.Scenario:
    return lb.Scenario.from_dict(tomllib.loads(FAT_TREE))


def graph(switching: dict[str, Any], **link: Any) -> lb.Scenario:
    links = [{"source": a, "target": b} for a, b in RING]
    links[0] |= link
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "links": links, "hosts_per_node": 1},
            "switching": switching,
            "transport": {"kind": "sawl"},
            "workload": {"kind": "shuffle"},
        }
    )


def kinds(scenario: lb.Scenario) -> list[str]:
    plan = compile_plan(scenario, 1)
    return [plan.settings["switches"][i]["kind"] for i in plan.nodes["switch"].tolist()]


def test_the_default_then_the_layer_then_the_name() -> None:
    # 16 hosts; the edges are the switches 16 to 23.
    assert kinds(fat_tree()) == ["all-optical"] + 7 * ["electronic"] + 12 * ["hybrid"]
    plan = compile_plan(fat_tree(), 1)
    # The processing time of a header is in the delay of the links that lead to the switch.
    to = plan.links["to"]
    edges = (to > 16) & (to < 24)
    assert set((plan.links["delay_ps"][edges]).tolist()) == {53_000}
    assert set((plan.links["delay_ps"][~edges]).tolist()) == {50_000}


def test_equal_tables_are_one_and_unused_ones_none() -> None:
    scenario = fat_tree().with_(
        {
            "switching.layers": {
                "edge": {"kind": "electronic"},
                "aggregation": {"kind": "hybrid", "buffer_ports": 1},
                "core": {"kind": "electronic"},
            },
            "switching.nodes": None,
        }
    )
    plan = compile_plan(scenario, 1)
    assert [switch["kind"] for switch in plan.settings["switches"]] == ["electronic", "hybrid"]
    other = scenario.with_(switching__buffer_ports=3)  # of no switch
    assert compile_plan(other, 1).digest() == plan.digest()


def test_a_file_without_them_is_what_it_was() -> None:
    scenario = fat_tree().with_({"switching.layers": None, "switching.nodes": None})
    assert "layers" not in scenario.to_dict()["switching"]
    assert "nodes" not in scenario.canonical_json()
    assert set(kinds(scenario)) == {"hybrid"}


def test_files_and_changes_keep_them() -> None:
    scenario = fat_tree()
    again = lb.Scenario.from_dict(tomllib.loads(scenario.to_toml()))
    assert again == scenario
    assert scenario.switching.kinds == "hybrid and electronic and all-optical"
    changed = scenario.with_(
        {"switching.kind": "all-optical", "switching.layers.core.kind": "hybrid"}
    )
    assert kinds(changed) == ["all-optical"] + 7 * ["electronic"] + 8 * ["all-optical"] + 4 * [
        "hybrid"
    ]
    # Another kind in a layer drops the keys that only the old one has, as in the table itself.
    assert (
        scenario.with_({"switching.layers.edge.queue_size": "9 kB"})
        .with_({"switching.layers.edge.kind": "hybrid"})
        .switching.layers["edge"]
        == lb.Scenario.from_dict(
            tomllib.loads(FAT_TREE.replace('"electronic"', '"hybrid"'))
        ).switching.layers["edge"]
    )


def test_electronic_edges_under_optical_cores_on_the_same_flows() -> None:
    scenario = fat_tree().with_({"switching.nodes": None})
    mixed = lb.run(scenario)
    optical = lb.run(scenario.with_({"switching.layers": None}))
    assert mixed.flows["start_s"].equals(optical.flows["start_s"])
    assert mixed.metrics["finished"] == 200
    # Edges convert all units, the others only those that they buffer.
    edges, others = mixed.switches["oe_bytes"][:8], mixed.switches["oe_bytes"][8:]
    assert edges.min() > 0
    buffered = (mixed.switches["buffered"] > 0).to_numpy()
    assert (others > 0).to_numpy().tolist() == buffered[8:].tolist()
    assert optical.switches["oe_bytes"][:8].sum() < edges.sum() / 4


def test_rates_may_change_where_a_switch_is_electronic() -> None:
    switching = {"kind": "all-optical", "nodes": {"a": {"kind": "electronic"}}}
    fast = {"source": "a", "target": "x", "rate": "40 Gb/s"}
    links = [{"source": a, "target": b} for a, b in RING]
    scenario = graph(switching).with_(
        topology={
            "kind": "graph",
            "links": [*links, fast, {"source": "x", "target": "y", "rate": "40 Gb/s"}],
            "hosts": "leaves",
        }
    )
    with pytest.raises(InputError, match="nodes with one link are the hosts"):
        compile_plan(scenario, 1)
    leaf = {"source": "b", "target": "z"}
    scenario = scenario.with_(topology__links=[*scenario.to_dict()["topology"]["links"], leaf])
    assert lb.run(scenario).metrics["finished"] == 2


BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"layers": {"edge": {"kind": "hybrid"}}},
        "switching.layers.edge: given an unknown layer 'edge'; allowed: none: the topology 'graph' "
        "has no layers; 'nodes' names switches",
    ),
    (
        {"nodes": {"d": {"kind": "hybrid"}}},
        "switching.nodes.d: given an unknown switch 'd'; allowed: one of the switches 'a', 'b', "
        "'c'",
    ),
    (
        {"nodes": {"a/0": {"kind": "hybrid"}}},
        "switching.nodes.a/0: given an unknown switch 'a/0'; allowed: one of the switches 'a', "
        "'b', 'c'",
    ),
    (
        {"nodes": {"a": {"kind": "hybrid", "buffer_ports": 4}}},
        "switching.nodes.a.buffer_ports: given 4; allowed: a whole number from 0 to the links of "
        "the largest switch, 3",
    ),
    (
        {"nodes": {"a": {"kind": "electronic", "queue_size": "1 kB"}}},
        "switching.nodes.a.queue_size: given 1 kB; allowed: at least transport.segment_size (9 kB),"
        " or 'unlimited'",
    ),
    (
        {"nodes": {"a": {"kind": "electronic", "buffer_ports": 1}}},
        "switching.nodes.a.buffer_ports: given an unknown key 'buffer_ports'; allowed: one of the "
        "keys kind, header_processing_time, layers, nodes, queue_size, ecn_threshold, "
        "ecn_marking, queue, shared_buffer, pfc ('buffer_ports' is for kind 'hybrid')",
    ),
    (
        {"nodes": {"a": {"kind": "electric"}}},
        "switching.nodes.a.kind: given 'electric'; allowed: one of 'all-optical', 'hybrid', "
        "'electronic', 'burst'",
    ),
    ({"nodes": {"a": 5}}, "switching.nodes.a: given 5; allowed: a table with a kind, one of"),
    ({"nodes": 5}, "switching.nodes: given 5; allowed: a table of tables, by name"),
    (
        {"nodes": {"a": {"kind": "hybrid", "nodes": {"b": {"kind": "hybrid"}}}}},
        "switching.nodes.a: given one with layers or nodes; allowed: a table without layers and "
        "nodes of its own",
    ),
    (
        {"nodes": {"b": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 us"}}}},
        "switching.kind: given 'all-optical' at a; allowed: 'burst' at every switch with hosts, "
        "because another switch is 'burst': these assemble the bursts",
    ),
]


@pytest.mark.parametrize(("others", "message"), BAD)
def test_what_cannot_be_is_refused_with_its_path(others: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        compile_plan(graph({"kind": "all-optical", **others}), 1)
    assert str(caught.value).startswith(message)


def test_layers_of_a_fat_tree_are_listed() -> None:
    with pytest.raises(InputError, match="one of the layers 'edge', 'aggregation', 'core'"):
        fat_tree().with_({"switching.layers.spine.kind": "hybrid"})


def test_light_keeps_its_rate_at_each_switch() -> None:
    mixed = {"kind": "electronic", "nodes": {"b": {"kind": "hybrid"}}}
    with pytest.raises(InputError, match="topology: given links from 10 Gb/s to 40 Gb/s at b"):
        compile_plan(graph(mixed, rate="40 Gb/s"), 1)
    mixed = {"kind": "electronic", "nodes": {"c": {"kind": "hybrid"}}}
    assert np.unique(compile_plan(graph(mixed, rate="40 Gb/s"), 1).links["rate_bps"]).size == 2


def test_edges_of_bursts_may_differ() -> None:
    def edge(time: str) -> dict[str, Any]:
        return {"kind": "burst", "assembly": {"kind": "timer", "time": time}}

    scenario = lb.load("examples/obs.toml").with_(
        switching={
            **edge("1 ms"),
            "layers": {"core": {"kind": "electronic"}},
            "nodes": {"2": edge("2 ms")},
        }
    )
    assert kinds(scenario) == ["burst", "electronic", "electronic", "burst"]
    result = lb.run(scenario)
    assert result.metrics["finished"] == result.metrics["flows"]
    assert result.switches["bursts"].tolist()[1:3] == [0, 0]
