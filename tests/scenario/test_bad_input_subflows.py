"""Bad input about connections with several subflows."""

from typing import Any

import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError

TREE: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp", "subflows": 2},
    "workload": {"kind": "pairs", "size": "100 kB"},
}
RACKS: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "link_rate": "1 Gb/s",
        "link_length": "1 km",
        "links": [
            *({"source": a, "target": b} for a, b in ("AB", "BD", "AC", "CD")),
            {"source": "s", "target": "A"},
            {"source": "D", "target": "d"},
        ],
    },
    "routing": {"paths": 2, "label": "subflow"},
}


def refusal(changes: dict[str, Any], base: dict[str, Any] = TREE) -> str:
    """The message about a scenario with some keys changed."""
    with pytest.raises(InputError) as error:
        lb.Scenario.from_dict(base).with_(changes)
    return str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"transport.subflows": 0}, "transport.subflows: given 0; allowed: a whole number from 1"),
        ({"transport.subflows": 17}, "transport.subflows: given 17; allowed: a whole number from"),
        (
            {"transport.subflows": 1, "transport.congestion_control": "lia"},
            "transport.subflows: given 1; allowed: 2 or more with 'lia', which couples",
        ),
        (
            {"transport.subflows": 1, "transport.reinjection": True},
            "transport.reinjection: given true; allowed: false with one subflow; subflows of 2 or",
        ),
        (
            {"transport.subflows": 1, "transport.shared_window": True},
            "transport.shared_window: given true; allowed: false with one subflow; subflows of 2",
        ),
        (
            {"transport.shared_window": 3},
            "transport.shared_window: given 3; allowed: true or false",
        ),
        (
            {"transport.congestion_control": "vegas"},
            "transport.congestion_control.kind: given 'vegas'; allowed: one of 'lia', 'olia', ",
        ),
        (
            {"transport.recovery": "rack-tlp"},
            "transport.recovery.kind: given 'rack-tlp'; allowed: another recovery with subflows",
        ),
        (
            {"workload.writes": {"size": "1 kB", "interval": "1 ms"}},
            "workload.writes: given a table; allowed: no such table with subflows",
        ),
        (
            {"measurement.recovery": "1 ms"},
            "measurement.recovery: given a measurement of packets; allowed: nothing with",
        ),
        (
            {"measurement.reordering": {}},
            "measurement.reordering: given a measurement of packets; allowed: nothing with",
        ),
        (
            {"routing.label": "subflow"},
            "transport.subflows: given 2; allowed: 1 with routing.label = 'subflow' without",
        ),
        (
            {"routing.label": "subflow", "transport.subflows": 1},
            "routing.label: given 'subflow'; allowed: 'hash', 'first', 'random' or 'load' without",
        ),
    ],
)
def test_the_message_names_the_field_and_what_is_allowed(
    changes: dict[str, Any], message: str
) -> None:
    assert message in refusal(changes)


def test_each_subflow_needs_a_numbered_path() -> None:
    base = {**TREE, **RACKS}
    lb.Scenario.from_dict(base)
    message = "transport.subflows: given 3; allowed: at most 2 with routing.label = 'subflow'"
    assert message in refusal({"transport.subflows": 3}, base)


def test_given_routes_of_a_pair_count_as_numbered_paths() -> None:
    both = [list("ABD"), list("ACD")]
    routes = [
        {"source": path[0], "destination": path[-1], "path": path}
        for way in both
        for path in (way, way[::-1])
    ]
    base = {**TREE, **RACKS, "routing": {"routes": routes, "label": "subflow"}}
    lb.Scenario.from_dict(base)
    assert "at most 2" in refusal({"transport.subflows": 3}, base)
