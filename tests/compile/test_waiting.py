"""The number of packets that wait at once: the fluid model beside samples of a simulation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.compile.waiting import packets_at_once
from lightburst.simulation.simulate import simulate

EVERYTHING = 10**9

# Four senders at 1 Gb/s that start one after the other, and 2 Gb/s between the edges.
SCENARIO = lb.Scenario.from_dict(
    {
        "topology": {
            "kind": "obs-path",
            "host_pairs": 4,
            "access_rate": "1 Gb/s",
            "access_delay": "1 us",
            "fibre_rate": "2 Gb/s",
            "fibre_delay": "1 us",
        },
        "switching": {"kind": "electronic", "queue_size": "unlimited"},
        "transport": {"kind": "datagram", "segment_size": "1 kB", "spacing": "constant"},
        "workload": {
            "kind": "pairs",
            "size": {"kind": "constant", "value": "2 MB"},
            "spread": "20 ms",
        },
        "measurement": {"sample": "100 us", "time_limit": "60 ms"},
    }
)


def at_once(changes: dict[str, Any], most: int = EVERYTHING) -> int:
    return packets_of(SCENARIO.with_(changes), most)


def packets_of(scenario: lb.Scenario, most: int = EVERYTHING) -> int:
    plan = compile_plan(scenario, 1)
    flows = plan.flows["source"].size
    return packets_at_once(plan, np.full(flows, most), flows)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"workload.spread": "0 s"},
        {"measurement.time_limit": "10 ms"},
        {"topology.fibre_rate": "1 Gb/s"},
        {"topology.host_pairs": 40, "transport.spacing": "poisson"},
        {"topology.host_pairs": 40, "workload.size": {"kind": "exponential", "mean": "2 MB"}},
    ],
)
def test_what_waits_is_what_the_fluid_model_says(changes: dict[str, Any]) -> None:
    result = simulate(SCENARIO.with_(changes))
    queues = result.samples.links.groupby(["source", "target"])["queue_bytes"].max()
    # Half a kilobyte is in flight on each link; packets of 0.1 ms arrive between samples.
    assert at_once(changes) == pytest.approx(queues.sum() / 1000, rel=0.03, abs=60)


@pytest.mark.parametrize(("second", "most"), [(0, 2000), (5, 1375), (10, 1000), (30, 1000)])
def test_queues_at_different_times_do_not_add_up(second: int, most: int, tmp_path: Path) -> None:
    """Two flows of 1 MB each meet at two outputs, whose queues take 8 ms to grow and to shrink.

    If the second begins 5 ms later, it has grown to 3/8 when the first is longest, and when it is
    longest itself, 5/8 of the first have left. After 10 ms the first has gone by then.
    """
    file = tmp_path / "flows.csv"
    rows = [("a", "c", 0), ("b", "c", 0), ("d", "f", second), ("e", "f", second)]
    lines = [f"{source},{target},{start / 1000},1000000" for source, target, start in rows]
    file.write_text("\n".join(["source,destination,start_s,size_bytes", *lines]))
    ends = ["as", "bs", "sc", "dt", "et", "tf", "st"]
    links = [{"source": pair[0], "target": pair[1]} for pair in ends]
    scenario = lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "graph", "links": links, "link_rate": "1 Gb/s", "link_length": "1 m",
            },
            "switching": {"kind": "electronic", "queue_size": "unlimited"},
            "transport": {"kind": "datagram", "segment_size": "1 kB", "spacing": "constant"},
            "workload": {"kind": "table", "file": str(file)},
        }
    )  # fmt: skip
    result = simulate(scenario.with_({"measurement.sample": "100 us"}))
    queues = result.samples.links.groupby("time_s")["queue_bytes"].sum()
    assert packets_of(scenario) == pytest.approx(queues.max() / 1000, rel=0.02, abs=5)
    assert packets_of(scenario) == pytest.approx(most, rel=0.02)


def test_no_link_holds_more_than_its_room_or_than_all_flows_have() -> None:
    assert at_once({}) > 1000
    assert at_once({}, most=50) <= 4 * 50
    assert at_once({"switching.queue_size": "100 kB"}) == pytest.approx(100, abs=20)
    assert at_once({"switching": {"kind": "all-optical"}, "topology.fibre_rate": "1 Gb/s"}) < 20
