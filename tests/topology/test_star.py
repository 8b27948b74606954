"""The switch of a packet network: its place, its links and their delays."""

from pathlib import Path

import lightburst as lb
from lightburst.compile import compile_plan

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Two racks at different distances from their circuit switches: 1 km takes 5 us by default.
LINKS = [
    {"source": "a0", "target": "a"},
    {"source": "b0", "target": "b"},
    {"source": "a", "target": "near", "length": "1 km"},
    {"source": "a", "target": "far", "length": "3 km"},
    {"source": "b", "target": "near", "length": "2 km"},
    {"source": "b", "target": "far", "length": "4 km"},
]


def test_each_rack_has_a_link_as_long_as_its_first_one() -> None:
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "links": LINKS},
            "switching": {
                "kind": "circuit",
                "schedule": "round-robin",
                "packet": {"rate": "2 Gb/s", "queue_size": "unlimited", "ecn_threshold": "90 kB"},
            },
            "transport": {"kind": "tcp"},
            "workload": {"kind": "pairs", "size": "90 kB"},
        }
    )
    plan = compile_plan(scenario, 1)
    network = plan.network
    assert network is not None and network.names is not None
    assert (network.names[-1], network.layer_of_switches()[-1]) == ("packet", "packet")
    names = network.names
    columns = (plan.links[key].tolist() for key in ("from", "to", "rate_bps", "delay_ps"))
    rows = zip(*columns, strict=True)
    links = {(names[a], names[b]): (rate, delay) for a, b, rate, delay in rows}
    (_, near), (_, double) = links["a", "near"], links["b", "near"]
    assert double == 2 * near > 0
    star = {ends: link for ends, link in links.items() if "packet" in ends}
    assert star == {
        ("a", "packet"): (2 * 10**9, near),
        ("packet", "a"): (2 * 10**9, near),
        ("b", "packet"): (2 * 10**9, double),
        ("packet", "b"): (2 * 10**9, double),
    }
    circuit, electronic = plan.settings["switches"]
    assert plan.nodes["switch"].tolist() == [0, 0, 0, 0, 1]
    assert electronic["kind"] == "electronic"
    limits = {"queue_bytes": None, "ecn_threshold_bytes": 90_000}
    assert {key: electronic[key] for key in limits} == limits
    assert circuit["packet"] == {"by": "size", "threshold_bytes": 100_000, **limits}


def test_a_network_without_it_has_no_further_node() -> None:
    scenario = lb.load(EXAMPLES / "hybrid-rotor.toml")
    with_it = compile_plan(scenario, 1).settings
    values = scenario.to_dict()
    del values["switching"]["packet"]
    without = compile_plan(lb.Scenario.from_dict(values), 1).settings
    assert (with_it["nodes"], len(with_it["switches"])) == (without["nodes"] + 1, 2)
    assert len(without["switches"]) == 1
    assert "packet" not in without["switches"][0]
