"""Loads of circuits, by hand, and the warning of an overload."""

import warnings
from typing import Any

import pytest

import lightburst as lb
from lightburst import RunWarning
from lightburst.compile import compile_plan
from lightburst.compile.circuits.loads import hottest_circuits, packet_load

FOUR: dict[str, Any] = {
    "topology": {"kind": "racks", "racks": 4, "hosts_per_rack": 2, "uplinks": 2},
    "switching": {"kind": "circuit", "slot": "100 us", "guard": "10 us"},
    "transport": {"kind": "tcp", "preset": "datacentre"},
    "workload": {"kind": "poisson", "load": 0.5, "flows": 20, "size": "9 kB"},
}
# Each of 8 hosts sends 5 Gb/s to 7 others, 6 of which are in other racks: 60 / 7 Gb/s leave a rack,
# and 20 / 7 Gb/s go from each rack to each other one.
LEAVES, PAIR = 60 / 7, 20 / 7


@pytest.mark.parametrize(
    ("switching", "circuits", "offered", "carried"),
    [
        # Switch 0 has the shifts by 1 and 3, each half of the time, and switch 1 that by 2.
        ({}, "from rack0 to rack1", PAIR, 9 / 2),
        # Both switches have all three.
        ({"schedule": "round-robin"}, "from rack0 to rack1", PAIR, 2 * 9 / 3),
        # Four racks with two circuits each; a packet has 2 - 2 / 4 hops at least.
        ({"forwarding": "valiant"}, "of all racks", 4 * LEAVES * 1.5, 4 * 18),
        ({"forwarding": "rotor-lb"}, "from rack0", LEAVES, 18),
        ({"schedule": "greedy"}, "from rack0", LEAVES, 18),
    ],
)
def test_the_hottest_circuits(
    switching: dict[str, Any], circuits: str, offered: float, carried: float
) -> None:
    scenario = lb.Scenario.from_dict(FOUR | {"switching": FOUR["switching"] | switching})
    found = hottest_circuits(scenario, compile_plan(scenario, 1))
    assert found is not None
    assert found.circuits == circuits
    assert found.offered_bps == pytest.approx(1e9 * offered, rel=1e-12)
    assert found.carried_bps == pytest.approx(1e9 * carried, rel=1e-12)


def test_an_overload_is_told() -> None:
    # With a load of 0.78 a pair is offered 4.46 Gb/s, with 0.8 it is 4.57, and it has 4.5.
    scenario = lb.Scenario.from_dict(FOUR)
    words = (
        r"the circuits from rack0 to rack1 are overloaded: they are offered 4571 Mb/s and carry "
        r"4\.5 Gb/s at most, in the mean over time"
    )
    with pytest.warns(RunWarning, match=words):
        lb.run(scenario.with_(workload__load=0.8))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RunWarning)
        lb.run(scenario.with_(workload__load=0.78))


def test_other_switches_have_none() -> None:
    scenario = lb.Scenario.from_dict(FOUR | {"switching": {"kind": "electronic"}})
    assert hottest_circuits(scenario, compile_plan(scenario, 1)) is None


def beside(rate: str, **rule: Any) -> lb.Scenario:
    """The four racks with a packet network, and flows of 9 kB and 90 kB."""
    packet = {"rate": rate, **rule}
    sizes = {"short": ("9 kB", 0.3), "long": ("90 kB", 0.2)}
    groups = {
        name: {"workload": {"kind": "poisson", "load": load, "flows": 20, "size": size}}
        for name, (size, load) in sizes.items()
    }
    switching = FOUR["switching"] | {"packet": packet}
    return lb.Scenario.from_dict(
        {"topology": FOUR["topology"], "transport": FOUR["transport"]}
        | {"switching": switching, "groups": groups}
    )


@pytest.mark.parametrize(
    ("rule", "gbps"),
    [
        ({"threshold": "8999 B"}, 0.0),
        ({"threshold": "9 kB"}, LEAVES * 0.6),
        ({"threshold": "90 kB"}, LEAVES),
        # Of each long flow the segments that end within 20 kB: 13 of 1,460 bytes.
        ({"by": "age", "threshold": "20 kB"}, LEAVES * (0.6 + 0.4 * 13 * 1460 / 90_000)),
    ],
)
def test_the_packet_network_is_offered_what_the_rule_gives_it(
    rule: dict[str, Any], gbps: float
) -> None:
    scenario = beside("5 Gb/s", **rule)
    assert scenario.flow_groups[0].transport.payload == 1460
    found = packet_load(scenario, compile_plan(scenario, 1))
    if gbps == 0.0:
        assert found is None
        return
    assert found is not None
    assert found.circuits == "from rack0"
    assert found.offered_bps == pytest.approx(1e9 * gbps, rel=1e-12)
    assert found.carried_bps == 5e9


def test_an_overload_of_the_packet_network_is_told() -> None:
    # 0.6 of 60 / 7 Gb/s are 5.143 Gb/s.
    words = (
        r"the packet network beside the circuits is overloaded from rack0: switching\.packet gives "
        r"it 5143 Mb/s, and its link carries 5\.1 Gb/s at most"
    )
    with pytest.warns(RunWarning, match=words):
        lb.run(beside("5100 Mb/s", threshold="9 kB"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RunWarning)
        lb.run(beside("5200 Mb/s", threshold="9 kB"))
    assert (
        packet_load(lb.Scenario.from_dict(FOUR), compile_plan(lb.Scenario.from_dict(FOUR), 1))
        is None
    )


def test_what_the_packet_network_carried_is_in_the_summary() -> None:
    result = lb.run(beside("10 Gb/s", threshold="9 kB"))
    table = result.switches
    packets, circuits = table["packet_bytes"].sum(), table["circuit_bytes"].sum()
    assert 0 < packets < circuits
    assert result.summary["packet_bytes_share"] == packets / (packets + circuits)
    # 20 of 40 flows are short.
    assert result.summary["packet_flows_share"] == 0.5
    plain = lb.run(lb.Scenario.from_dict(FOUR)).summary
    assert not {"packet_bytes_share", "packet_flows_share"} & set(plain.index)
