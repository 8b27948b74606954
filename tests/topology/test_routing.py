"""``[routing]``: the default of the choice, metrics, several paths and given ones."""

import tomllib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.compile import Plan, compile_plan
from lightburst.foundation.errors import InputError, RunWarning
from lightburst.study.runs import scenario_digest
from lightburst.topology import Network, build_network

#: The fourteen nodes and twenty-one links of NSFNET, lengths in km.
NSFNET = """
a b 1100, a c 1600, a h 2800, b c 600, b d 1000, c f 2000, d e 600, d k 2400, e f 1100, e g 800,
f j 1200, f m 2000, g h 700, h i 700, i j 900, i l 500, i n 500, k l 800, k n 800, l m 300, m n 300
"""
LINKS = [
    {"source": a, "target": b, "length": f"{km} km"}
    for a, b, km in (line.split() for line in NSFNET.replace("\n", " ").split(","))
]


def scenario(links: list[dict[str, Any]] = LINKS, **tables: Any) -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "links": links, "hosts_per_node": 1},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "tcp"},
            "workload": {"kind": "shuffle", "size": {"kind": "constant", "value": "9 kB"}},
            **tables,
        }
    )


def paths(plan: Plan) -> dict[tuple[int, int], list[list[int]]]:
    """The links of the paths of each pair, by their labels."""
    found: dict[tuple[int, int], list[list[int]]] = {}
    ends = zip(
        plan.nodes["path_source"].tolist(), plan.nodes["path_destination"].tolist(), strict=True
    )
    for pair, (first, last) in zip(
        ends, pairwise(plan.nodes["path_offsets"].tolist()), strict=True
    ):
        links = plan.nodes["path_links"][first:last].tolist()
        # The links form a path, from source to destination.
        nodes = [plan.links["from"][links[0]], *plan.links["to"][links]]
        assert (nodes[0], nodes[-1]) == pair
        assert plan.links["from"][links[1:]].tolist() == nodes[1:-1]
        assert len(set(nodes)) == len(nodes)
        found.setdefault(pair, []).append(links)
    return found


def fibres(plan: Plan, links: list[int]) -> set[frozenset[int]]:
    ends = zip(plan.links["from"][links].tolist(), plan.links["to"][links].tolist(), strict=True)
    return {frozenset(pair) for pair in ends}


def test_the_choice_follows_the_transport() -> None:
    tcp = scenario()
    assert tcp.routing_choice == "flow-hash"
    for kind in ("saw", "sawl", "datagram"):
        assert tcp.with_(transport={"kind": kind}).routing_choice == "free"
    assert compile_plan(tcp, 1).settings["choice"] == "flow-hash"
    assert lb.run(tcp).provenance.scenario["routing"]["choice"] == "flow-hash"
    # A given choice stays.
    free = tcp.with_(routing__choice="free")
    assert free.routing_choice == "free"
    assert free.with_(transport__recovery="reno").routing_choice == "free"
    assert free.with_(routing__choice=None).routing_choice == "flow-hash"


@pytest.mark.parametrize(
    "again",
    [
        lambda tcp: tcp,
        lambda tcp: lb.Scenario.from_dict(tcp.to_dict()),
        lambda tcp: lb.Scenario.from_dict(tomllib.loads(tcp.to_toml())),
        lambda tcp: lb.Scenario(**dict(tcp)),
    ],
)
def test_it_follows_a_change_of_the_transport_also_when_written_and_read(
    again: Callable[[lb.Scenario], lb.Scenario],
) -> None:
    tcp = again(scenario())
    assert tcp.routing_choice == "flow-hash"
    moved = again(tcp.with_(transport={"kind": "saw"}))
    assert moved.routing_choice == compile_plan(moved, 1).settings["choice"] == "free"
    assert again(moved.with_(transport={"kind": "tcp"})).routing_choice == "flow-hash"
    # Also if only one group needs it.
    of = {"workload": moved.workload}
    both = {"a": of, "b": {**of, "transport": {"kind": "tcp"}}}
    mixed = moved.with_(workload=None, groups=both)
    assert again(mixed).routing_choice == "flow-hash"
    assert again(mixed.with_({"groups.b.transport": None})).routing_choice == "free"


def test_the_default_and_the_same_choice_written_out_are_one_run() -> None:
    for kind, choice in [("tcp", "flow-hash"), ("saw", "free")]:
        default = scenario(transport={"kind": kind})
        written = scenario(transport={"kind": kind}, routing={"choice": choice})
        other = scenario(transport={"kind": kind}, routing={"choice": "random"})
        assert scenario_digest(default) == scenario_digest(written) != scenario_digest(other)
        assert compile_plan(default, 1).digest() == compile_plan(written, 1).digest()


def test_a_file_without_routes_has_the_key_that_it_had() -> None:
    text = scenario().canonical_json()
    assert '"routing":{"choice":"flow-hash"}' in text
    assert scenario(routing={"metric": "hops", "paths": 1}).canonical_json() == text
    assert scenario(routing={"paths": 2}).canonical_json() != text
    plan = compile_plan(scenario(), 1)
    assert set(plan.nodes) == {"switch"}


@pytest.mark.parametrize("metric", ["hops", "delay"])
def test_two_paths_without_a_common_link_for_every_pair_of_nsfnet(metric: str) -> None:
    plan = compile_plan(scenario(routing={"paths": 2, "metric": metric}), 1)
    found = paths(plan)
    assert len(found) == 14 * 13
    weight = plan.links["delay_ps"] if metric == "delay" else np.ones_like(plan.links["delay_ps"])
    for first, second in found.values():
        assert not fibres(plan, first) & fibres(plan, second)
        assert weight[first].sum() <= weight[second].sum()


def test_disjoint_paths_are_those_of_least_total_length() -> None:
    """The trap of Bhandari's book: the shortest path excludes two disjoint ones."""
    # a-b-c-z is 3; a-d-c and b-e-z are needed for two, and b-c is in neither.
    links = ["a b 1", "b c 1", "c z 1", "a d 2", "d c 2", "b e 2", "e z 2"]
    table = [{"source": s, "target": t, "length": f"{km} km"} for s, t, km in map(str.split, links)]
    with_two = scenario(table, routing={"paths": 2, "metric": "delay"})
    network = build_network(with_two.topology)
    a, z = network.switches["a"], network.switches["z"]
    plan = compile_plan(with_two, 1)
    found = {frozenset(fibres(plan, links)) for links in paths(plan)[a, z]}
    assert found == {over(network, "adcz"), over(network, "abez")}
    # No third path is disjoint: the next shortest is the shortest of all, and comes first.
    plan = compile_plan(with_two.with_(routing__paths=3), 1)
    first, *others = (frozenset(fibres(plan, links)) for links in paths(plan)[a, z])
    assert first == over(network, "abcz")
    assert set(others) == found


def over(network: Network, path: str) -> frozenset[frozenset[int]]:
    """The fibres of a path over nodes of one letter."""
    return frozenset(frozenset(network.switches[name] for name in pair) for pair in pairwise(path))


def test_parallel_links_are_disjoint_and_wavelengths_are_not() -> None:
    links: list[dict[str, Any]] = [
        {"source": "a", "target": "b", "name": "north", "wavelengths": 2},
        {"source": "a", "target": "b", "name": "south", "length": "1 km"},
    ]
    plan = compile_plan(scenario(links, routing={"paths": 2}), 1)
    network = build_network(scenario(links).topology)
    names, wavelength = np.array(network.link_names), network.wavelength
    for north, south in paths_by_name(plan):
        assert names[north].tolist() == ["north", "north"]
        assert wavelength[north].tolist() == [0, 1]
        assert names[south].tolist() == ["south"]


def paths_by_name(plan: Plan) -> list[list[list[int]]]:
    """The links of the two paths of each pair, wavelengths side by side."""
    offsets, links = plan.nodes["path_offsets"].tolist(), plan.nodes["path_links"].tolist()
    each = [links[first:last] for first, last in pairwise(offsets)]
    return [each[i : i + 2] for i in range(0, len(each), 2)]


def took(routing: dict[str, Any], **more: Any) -> float:
    """Time of one datagram from a to b: 100 km directly, or 10 and 20 km over x."""
    links = [
        {"source": "a", "target": "b", "length": "100 km"},
        {"source": "a", "target": "x", "length": "10 km"},
        {"source": "x", "target": "b", "length": "20 km"},
    ]
    result = lb.run(
        scenario(
            links,
            switching={"kind": "all-optical"},
            routing=routing,
            transport={"kind": "datagram", "spacing": "constant"},
            **more,
        )
    )
    flows = result.flows
    return float(
        flows.completion_time_s[(flows.source == "a/0") & (flows.destination == "b/0")].iloc[0]
    )


def test_delay_finds_the_shorter_fibre_and_a_route_leads_anywhere() -> None:
    transmission, access = 7.2e-6, 2 * 50e-9
    spread = {
        "workload": {
            "kind": "shuffle",
            "spread": "1 s",
            "size": {"kind": "constant", "value": "9 kB"},
        }
    }
    direct, around = 500e-6 + access + transmission, 150e-6 + access + transmission
    assert took({}, **spread) == pytest.approx(direct, abs=1e-12)
    assert took({"metric": "delay"}, **spread) == pytest.approx(around, abs=1e-12)
    route = {"source": "a", "destination": "b", "path": ["a", "x", "b"]}
    assert took({"routes": [route]}, **spread) == pytest.approx(around, abs=1e-12)
    route["path"] = ["a", "b"]
    assert took({"metric": "delay", "routes": [route]}, **spread) == pytest.approx(
        direct, abs=1e-12
    )
    # One direction only: the reverse path is the shortest.
    back = {"source": "b", "destination": "a", "path": ["b", "x", "a"]}
    assert took({"routes": [back]}, **spread) == pytest.approx(direct, abs=1e-12)


def test_several_routes_of_a_pair_are_its_labels() -> None:
    routes = [
        {"source": "a", "destination": "c", "path": ["a", "b", "c"]},
        {"source": "a", "destination": "c", "path": ["a", "c"]},
    ]
    plan = compile_plan(scenario(routing={"routes": routes, "label": "random"}), 1)
    network = build_network(scenario().topology)
    pair = network.switches["a"], network.switches["c"]
    assert [len(links) for links in paths(plan)[pair]] == [2, 1]
    assert len(paths(plan)) == 1
    # With k paths as well, the others have these.
    plan = compile_plan(scenario(routing={"routes": routes, "paths": 2}), 1)
    assert [len(links) for links in paths(plan)[pair]] == [2, 1]
    assert len(paths(plan)) == 14 * 13


def test_only_pairs_that_flows_use_are_in_the_plan() -> None:
    two = scenario(
        routing={"paths": 2},
        workload={"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
    )
    assert len(paths(compile_plan(two, 1))) == 14


def route(**changes: Any) -> dict[str, Any]:
    return {"routes": [{"source": "a", "destination": "f", "path": ["a", "c", "f"], **changes}]}


BAD = [
    ({"paths": 0}, "routing.paths: given 0; allowed: a whole number from 1 to 255"),
    ({"metric": "cost"}, "routing.metric: given 'cost'; allowed: one of 'hops', 'delay'"),
    (
        {"label": "least"},
        "routing.label: given 'least'; allowed: one of 'first', 'random', 'hash', "
        "'subflow', 'load'",
    ),
    (route(source="q"), "routing.routes[0].source: given 'q'; allowed: one of the switches 'a', "),
    (
        route(path=["a", "q", "f"]),
        "routing.routes[0].path: given 'q'; allowed: one of the switches",
    ),
    (
        route(path=["a", "c/0", "f"]),
        "routing.routes[0].path: given 'c/0'; allowed: one of the switches",
    ),
    (
        route(path=["a", "b", "f"]),
        "routing.routes[0].path: given a - b - f, without a link from b to f; allowed: switches, "
        "each linked to the next",
    ),
    (
        route(path=["a", "c"]),
        "routing.routes[0].path: given a - c; allowed: a path from a to f, two different switches",
    ),
    (
        route(path=[]),
        "routing.routes[0].path: given no switches; allowed: a path from a to f, two different "
        "switches",
    ),
    (
        route(destination="a", path=["a"]),
        "routing.routes[0].path: given a; allowed: a path from a to a, two different switches",
    ),
    (
        route(path=["a", "c", "b", "a", "c", "f"]),
        "routing.routes[0].path: given a - c - b - a - c - f; allowed: each switch once",
    ),
    ({"routes": [{"source": "a"}]}, "routing.routes[0].destination: given nothing; allowed: text"),
]


@pytest.mark.parametrize(("routing", "message"), BAD)
def test_what_cannot_be_is_refused(routing: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        compile_plan(scenario(routing=routing), 1)
    assert str(caught.value).startswith(message)


def test_a_route_joins_switches_with_hosts() -> None:
    links = [{"source": a, "target": b} for a, b in ("hx", "xy", "yz", "zg")]
    graph: dict[str, Any] = {"topology": {"kind": "graph", "links": links}}
    routes = [{"source": "x", "destination": "y", "path": ["x", "y"]}]
    with pytest.raises(
        InputError, match=r"destination: given 'y'; allowed: .* with hosts, 'x', 'z'"
    ):
        compile_plan(scenario(routing={"routes": routes}, **graph), 1)
    with pytest.raises(InputError, match=r"paths: given 2; allowed: 1, because no two"):
        compile_plan(scenario(routing={"paths": 2}, **graph), 1)


@pytest.mark.parametrize(
    ("routing", "path"),
    [({"metric": "delay"}, "metric"), ({"paths": 2}, "paths"), (route(), "routes")],
)
def test_a_fat_tree_has_its_own_routes(routing: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError, match=f"^routing.{path}: given .* in a 'fat-tree': its paths"):
        scenario(routing=routing, topology={"kind": "fat-tree", "k": 4})


def test_reordering_without_a_loss_is_a_warning() -> None:
    """Two paths of different length, both for each packet: TCP takes the reordering for losses."""
    links = [
        {"source": "a", "target": "b", "name": "short"},
        {"source": "a", "target": "b", "name": "long", "length": "100 km"},
    ]
    workload = {"kind": "pairs", "size": {"kind": "constant", "value": "2 MB"}}
    with pytest.warns(RunWarning, match="retransmissions by flows without losses"):
        free = lb.run(scenario(links, workload=workload, routing={"choice": "free"}))
    assert free.flows["retransmissions"].sum() > 0
    assert free.metrics["loss_end_to_end"] == 0
    (warning,) = free.warnings
    assert warning.startswith(f"{free.metrics['retransmissions']} retransmissions by flows without")
    assert "(routing.choice = 'free')" in warning
    hashed = lb.run(scenario(links, workload=workload))
    assert hashed.metrics["retransmissions"] == 0
    assert hashed.warnings == ()
