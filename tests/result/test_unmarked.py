"""A sender that waits for marks which no switch makes is told of."""

from typing import Any

import pytest

import lightburst as lb

pytestmark = pytest.mark.filterwarnings("ignore:.*but no switch makes any")

TREE = {
    "topology": {"kind": "fat-tree", "k": 4},
    "workload": {"kind": "incast", "senders": 2, "rounds": 1, "size": "20 kB"},
}
ELECTRONIC: dict[str, Any] = {"kind": "electronic"}
DCTCP = {"kind": "tcp", "congestion_control": "dctcp"}
DCQCN = {"kind": "rdma", "congestion_control": "dcqcn"}


def warned(
    switching: dict[str, Any], transport: dict[str, Any], **tables: dict[str, Any]
) -> list[str]:
    """Return the warnings about marks of a run."""
    scenario = {"switching": switching, "transport": transport} | TREE | tables
    return [text for text in lb.run(lb.Scenario.from_dict(scenario), 1).warnings if "ECN" in text]


@pytest.mark.parametrize(
    ("transport", "given"),
    [
        (DCTCP, "transport.congestion_control = 'dctcp'"),
        (DCQCN, "transport.congestion_control = 'dcqcn'"),
        ({"kind": "tcp", "ecn": True}, "transport.ecn"),
        ({"kind": "tcp", "preset": "linux", "ecn": "accurate"}, "transport.ecn"),
    ],
)
def test_no_switch_makes_marks(transport: dict[str, Any], given: str) -> None:
    assert warned(ELECTRONIC, transport) == [
        f"{given} answers marks (ECN), but no switch makes any: set switching.ecn_threshold or a "
        "switching.queue with ecn"
    ]


def test_only_electronic_switches_make_marks() -> None:
    assert warned({"kind": "hybrid"}, DCTCP) == [
        "transport.congestion_control = 'dctcp' answers marks (ECN), but no switch makes any: only "
        "electronic ones can"
    ]


def test_a_packet_network_beside_circuits_can() -> None:
    racks = {"kind": "racks", "racks": 4, "hosts_per_rack": 2, "uplinks": 2}
    packet = {"rate": "10 Gb/s"}
    beside = {"kind": "circuit", "packet": packet}
    assert warned(beside, DCTCP, topology=racks) == [
        "transport.congestion_control = 'dctcp' answers marks (ECN), but no switch makes any: set "
        "switching.packet.ecn_threshold"
    ]
    beside = {"kind": "circuit", "packet": packet | {"ecn_threshold": "50 kB"}}
    assert not warned(beside, DCTCP, topology=racks)


@pytest.mark.parametrize(
    "switching",
    [
        {"ecn_threshold": "50 kB"},
        {"queue": {"kind": "codel", "ecn": True}},
        {"queue": "dualpi2"},
        {"queue": "marking"},
    ],
)
def test_where_a_switch_can_mark_there_is_no_warning(switching: dict[str, Any]) -> None:
    assert not warned(ELECTRONIC | switching, DCTCP)


def test_a_script_can_mark() -> None:
    marks = [{"flow": 0, "segments": [1, 1]}]
    assert not warned(ELECTRONIC, DCTCP, loss={"marks": marks})


@pytest.mark.parametrize(
    "transport", [{"kind": "tcp"}, {"kind": "rdma", "congestion_control": "swift"}]
)
def test_other_senders_need_none(transport: dict[str, Any]) -> None:
    assert not warned(ELECTRONIC, transport)
