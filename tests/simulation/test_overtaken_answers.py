"""Answers that overtake each other, because their paths have different delays."""

from typing import Any

import pytest

import lightburst as lb

ALL_TO_ALL: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4, "link_rate": "100 Gb/s"},
    "routing": {"choice": "random"},
    # Room for the headers of all packets: nothing is lost.
    "switching": {"kind": "electronic", "queue": {"kind": "trim", "header_queue": "4 MB"}},
    "transport": {
        "kind": "rdma", "congestion_control": "ndp", "recovery": "selective-repeat",
    },
    "workload": {"kind": "collective", "operation": "all-to-all", "size": "2 MB"},
}  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_trimmed_packet_is_sent_again_without_a_timeout(seed: int) -> None:
    """Also where a later answer came before the NAK that names the packet."""
    result = lb.run(lb.Scenario.from_dict(ALL_TO_ALL), seed)
    assert result.switches["trimmed"].sum() > 1_000
    assert result.metrics["loss_end_to_end"] == 0
    assert result.metrics["finished"] == 240
    assert result.metrics["timeouts"] == 0
    # Headers are a tenth of the bytes, and the last packets wait for pulls: thrice the ideal is
    # much less than one timeout.
    assert result.flows["completion_time_s"].max() < 3 * 15 * 125e3 * 8 / 100e9
