"""Links without delay: one tick of the clock, for every form of the setting."""

from typing import Any

import pytest
from compare import check_equal
from plans import compiled, core

import lightburst as lb
from lightburst.compile import compile_plan

GRAPH = [{"source": f"host {i}", "target": "a", "length": "0.05 mm"} for i in range(3)]
WITHOUT_DELAY: list[dict[str, Any]] = [
    {"kind": "path", "links": 3, "link_length": "0 m"},
    {"kind": "path", "links": 3, "link_length": "0.05 mm"},
    {"kind": "path", "links": 3, "propagation": "0 ps/m"},
    {"kind": "graph", "links": GRAPH},
    {"kind": "fat-tree", "k": 2, "link_length": "0 m"},
    {"kind": "obs-path", "core_nodes": 0, "access_delay": "0 s", "fibre_delay": "0 s"},
]
SWITCHES: list[dict[str, Any]] = [
    {"kind": "all-optical"},
    {"kind": "hybrid", "buffer_ports": 1},
    {"kind": "electronic"},
    {"kind": "burst", "assembly": {"kind": "timer", "time": "0 s"}},
]


def make(topology: dict[str, Any], switching: dict[str, Any], transport: str) -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": topology,
            "switching": switching,
            "transport": {"kind": transport, "segment_size": "1 kB"},
            "workload": {"kind": "shuffle", "size": {"kind": "constant", "value": "30 kB"}},
            "measurement": {"time_limit": "3 s"},
        }
    )


@pytest.mark.parametrize("transport", ["saw", "tcp"])
@pytest.mark.parametrize("switching", SWITCHES, ids=lambda table: table["kind"])
@pytest.mark.parametrize("topology", WITHOUT_DELAY)
def test_it_runs_as_in_the_twin(
    topology: dict[str, Any], switching: dict[str, Any], transport: str
) -> None:
    if topology["kind"] == "obs-path" and switching["kind"] != "burst":
        topology = {**topology, "fibre_rate": "1 Gb/s"}
    plan = compiled(make(topology, switching, transport))
    assert set(plan.links["delay_ps"].tolist()) == {1}
    check_equal(plan)
    assert core(plan)["flows"]["status"].tolist() == [0] * plan.flows["source"].size


@pytest.mark.parametrize("links", [1, 2, 5])
def test_one_datagram_takes_a_tick_for_each_link(links: int) -> None:
    scenario = make({"kind": "path", "links": links, "link_length": "0 m"}, SWITCHES[0], "saw")
    workload = {"kind": "pairs", "size": {"kind": "constant", "value": "1 kB"}}
    transport = {"kind": "datagram", "spacing": "constant", "segment_size": "1 kB"}
    flows = lb.run(scenario.with_(workload=workload, transport=transport)).flows
    # 800 ns for the datagram at 10 Gb/s.
    assert round(float(flows["completion_time_s"].iloc[0]) * 1e12) == 800_000 + links


def test_the_time_for_a_header_is_delay_enough() -> None:
    scenario = make(WITHOUT_DELAY[0], SWITCHES[0], "saw")
    plan = compile_plan(scenario.with_(switching__header_processing_time="3 ns"), 1)
    assert sorted(set(plan.links["delay_ps"].tolist())) == [1, 3_000]
