"""Scenarios of bursts that reserve channels, for tests."""

from typing import Any

import lightburst as lb

# Hosts a and b at the edges A and B, one node C between them.
GOOD: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "links": [
            {"source": "a", "target": "A", "rate": "1 Gb/s", "length": "0 m"},
            {"source": "A", "target": "C"},
            {"source": "C", "target": "B"},
            {"source": "B", "target": "b", "rate": "1 Gb/s", "length": "0 m"},
        ],
        "link_rate": "10 Gb/s",
        "link_length": "2 km",
        "wavelengths": 4,
    },
    "switching": {
        "kind": "obs",
        "assembly": {"kind": "timer", "time": "1 ms"},
        "header_processing_time": "3 us",
        "switching_time": "1 us",
        "offset_time": "5 us",
    },
    "transport": {
        "kind": "datagram",
        "segment_size": "1250 B",
        "header_size": "0 B",
        "spacing": "constant",
    },
    "workload": {"kind": "pairs", "size": "1250 B"},
}


def made(**changes: Any) -> lb.Scenario:
    """Return the good scenario with some changes."""
    return lb.Scenario.from_dict(GOOD).with_(**changes)


ONE_EACH: dict[str, Any] = {"workload": GOOD["workload"]}


def two_groups(**changes: Any) -> lb.Scenario:
    """Return the good scenario with two groups that start together, and some changes."""
    tables = {key: table for key, table in GOOD.items() if key != "workload"}
    groups = {"gold": ONE_EACH, "rest": ONE_EACH}
    return lb.Scenario.from_dict({**tables, "groups": groups}).with_(**changes)
