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
