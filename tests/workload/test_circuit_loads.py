"""Loads of circuits, by hand, and the warning of an overload."""

import warnings
from typing import Any

import pytest

import lightburst as lb
from lightburst import RunWarning
from lightburst.compile import compile_plan
from lightburst.compile.circuits.loads import hottest_circuits

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
