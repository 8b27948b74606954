"""Warnings of trimmed packets whose headers found no room."""

from typing import Any

import pytest

import lightburst as lb

INCAST: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4, "link_rate": "100 Gb/s"},
    "switching": {"kind": "electronic", "queue": {"kind": "trim", "header_queue": "1 kB"}},
    "transport": {"kind": "rdma", "congestion_control": "ndp", "recovery": "selective-repeat"},
    "workload": {"kind": "incast", "senders": 12, "size": "100 kB"},
}


def test_headers_without_room_are_warned_of() -> None:
    scenario = lb.Scenario.from_dict(INCAST)
    with pytest.warns(lb.RunWarning, match=r"\(header_queue of queue = 'trim'\)") as told:
        result = lb.run(scenario)
    assert result.metrics["timeouts"] != 0
    lost = result.switches["dropped_queue_full"].sum()
    assert any(str(one.message).startswith(f"{lost} packets without data") for one in told)


@pytest.mark.filterwarnings("error")
def test_where_all_fit_there_is_no_warning() -> None:
    # 12 first windows of 30 headers of 64 B are 23 kB.
    roomy = {"kind": "trim", "header_queue": "30 kB"}
    result = lb.run(lb.Scenario.from_dict(INCAST).with_(switching__queue=roomy))
    assert result.switches["trimmed"].sum() > 0
    assert result.metrics["timeouts"] == 0


@pytest.mark.filterwarnings("error")
def test_headers_that_return_are_not_lost() -> None:
    back = {"kind": "trim", "header_queue": "1 kB", "return_to_sender": True}
    result = lb.run(lb.Scenario.from_dict(INCAST).with_(switching__queue=back))
    assert result.switches["returned"].sum() > 100
    assert result.switches["dropped_queue_full"].sum() == 0
    assert result.metrics["timeouts"] == 0


def test_answers_without_room_are_warned_of_beside_headers_that_return() -> None:
    back = {"kind": "trim", "header_queue": "66 B", "return_to_sender": True}
    scenario = lb.Scenario.from_dict(INCAST).with_(switching__queue=back)
    with pytest.warns(lb.RunWarning, match="an answer or a returned header that is lost") as told:
        result = lb.run(scenario)
    lost = result.switches["dropped_queue_full"].sum()
    assert any(str(one.message).startswith(f"{lost} packets without data") for one in told)


def test_a_return_without_packets_that_can_be_trimmed_is_warned_of() -> None:
    back = {"kind": "trim", "return_to_sender": True}
    other = {"kind": "rdma", "congestion_control": "line-rate", "recovery": "go-back-n"}
    scenario = lb.Scenario.from_dict(INCAST).with_(switching__queue=back, transport=other)
    with pytest.warns(lb.RunWarning, match="no header returns to its sender"):
        lb.run(scenario)
