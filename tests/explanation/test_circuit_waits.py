"""The time of a flow that waits for a circuit."""

import lightburst as lb

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
