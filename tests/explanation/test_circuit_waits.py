"""The time of a flow that waits for a circuit."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

import lightburst as lb
from lightburst.plots.charts.traces import time_sequence
from lightburst.trace import FlowTrace
from lightburst.trace.circuits import Slot, direct, openings

# In slot k of 100 us, from 10 us on, rack i has a circuit to rack i + k + 1. A segment takes
# 7.2 us, and each link 50 ns.
SLOTS = {
    "topology": {"kind": "racks", "racks": 4, "hosts_per_rack": 1, "uplinks": 1},
    "switching": {"kind": "circuit"},
    "transport": {"kind": "datagram", "segment_size": "9 kB", "header_size": "0 B"},
    "workload": {"kind": "pairs", "size": "9 kB"},
}


def test_a_segment_waits_at_its_rack_until_the_circuit_is_open() -> None:
    scenario = lb.Scenario.from_dict(SLOTS)
    result = lb.run(scenario)
    flows, departures = result.flows, result.plan.flows["departures_ps"].tolist()
    numbers = {f"rack{i}/0": i for i in range(4)}
    shifts = (flows["destination"].map(numbers) - flows["source"].map(numbers)) % 4
    assert len(flows) > 1
    for flow, (source, shift) in enumerate(zip(flows["source"], shifts, strict=True)):
        parts = lb.explain(scenario, flow).parts
        (row,) = parts[parts["part"] == "circuit"].itertuples()
        assert row.node == source.split("/")[0]
        came, opened = departures[flow] + 7_250_000, (shift - 1) * 100_000_000 + 9_950_000
        assert row.time_ps == opened - came
        assert "queue" not in set(parts["part"])


def test_a_packet_of_the_packet_network_waits_for_no_circuit() -> None:
    values = {**SLOTS, "switching": {"kind": "circuit", "packet": {"rate": "1 Gb/s"}}}
    parts = lb.explain(lb.Scenario.from_dict(values), "worst").parts
    # Two links of hosts, and two of the packet network with 72 us each.
    assert dict(zip(parts["part"], parts["time_ps"], strict=True))["way"] == 158_600_000
    assert "circuit" not in set(parts["part"])


def test_the_text_tells_how_often_the_circuit_was_open() -> None:
    """Rack 0 has the circuit to rack 2 from 110 to 200 us and from 410 to 500 us, 50 ns ahead."""
    values = {**SLOTS, "workload": {"kind": "pairs", "size": "180 kB"}}
    found = lb.explain(lb.Scenario.from_dict(values), 0)
    assert (found.about["source"], found.about["destination"]) == ("rack0/0", "rack2/0")
    # Twelve of the twenty segments in the first slot, eight in the second, which the flow ends.
    circuits = found.about["circuits"]
    start = found.about["start_s"] * 1e6
    end = start + found.about["completion_time_s"] * 1e6
    assert circuits["openings"] == 2
    assert circuits["open_s"] * 1e6 == pytest.approx(90 + end - 409.95)
    waits = found.parts[found.parts["part"] == "circuit"]
    assert circuits["waited_s"] == pytest.approx(waits["time_s"].sum())
    assert "A circuit led from its rack to the other 2 times in this time, for " in str(found)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (0, 35, [(5, 8), (15, 18), (20, 24), (25, 28)]),
        # A time that has begun before is cut, and one that goes on after.
        (6, 16, [(6, 8), (15, 16)]),
        (8, 15, []),
        (18, 18, []),
    ],
)
def test_openings_come_again_until_the_end(
    begin: int, end: int, expected: list[tuple[int, int]]
) -> None:
    slots = Slot(5, 10, 3), Slot(20, 100, 4)
    found = openings(slots, begin, end).tolist()
    assert found == [list(span) for span in expected]


def test_openings_that_touch_or_overlap_are_one() -> None:
    assert openings((Slot(5, 10, 5), Slot(10, 20, 5)), 0, 20).tolist() == [[5, 20]]
    assert openings((Slot(0, 50, 30), Slot(10, 50, 5)), 0, 50).tolist() == [[0, 30]]


def test_openings_are_those_of_the_runs_departures() -> None:
    """Whatever leaves a rack to its destination's rack does so while a circuit is open."""
    values = {
        **SLOTS,
        "topology": {"kind": "racks", "racks": 6, "hosts_per_rack": 1, "uplinks": 2},
        "switching": {"kind": "circuit", "schedule": "random", "staggered": True, "slot": "30 us"},
        "workload": {"kind": "pairs", "size": "900 kB"},
    }
    result = lb.run(lb.Scenario.from_dict(values).with_({"measurement.trace": [0, 1, 2]}))
    hops = result.columns["trace_hops"]
    links = result.plan.links["to"][hops["link"]]
    cores = np.flatnonzero(links >= result.plan.settings["hosts"] + 6)
    assert cores.size > 100
    for i in cores.tolist():
        slots = direct(result.plan, int(hops["flow"][i]))
        start = int(hops["start_ps"][i])
        ((begin, end),) = openings(slots, start, start + 7_200_000).tolist()
        assert (begin, end) == (start, start + 7_200_000)


def shaded(values: dict[str, Any]) -> list[list[tuple[float, float]]]:
    """The shaded times of a flow's time-sequence picture in us: of the whole, and of the part."""
    result = lb.run(lb.Scenario.from_dict(values).with_({"measurement.trace": [0]}))
    canvas = time_sequence(FlowTrace.of(result, 0), "")
    found = []
    for axes in canvas.findobj(Axes):
        bars = [one for one in axes.collections if one.get_zorder() == 0.5]
        boxes = [path.get_extents() for one in bars for path in one.get_paths()]
        found.append([(round(1e6 * box.x0, 2), round(1e6 * box.x1, 2)) for box in boxes])
    return [spans for spans in found if spans]


def test_the_picture_shades_the_times_of_the_circuit() -> None:
    """Forty datagrams leave in 288 us; the picture ends soon after."""
    values = {**SLOTS, "workload": {"kind": "pairs", "size": "360 kB"}}
    whole, part = shaded(values)
    assert whole == [(109.95, 199.95)]
    assert part == whole
    assert not shaded({**values, "switching": {"kind": "circuit", "schedule": "greedy"}})
