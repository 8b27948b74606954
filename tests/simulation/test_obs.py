"""Bursts that reserve channels: refusals, exact times, and warnings."""

from typing import Any

import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from obs_scenarios import GOOD, made


def test_a_datagram_takes_assembly_offset_and_light() -> None:
    flow = lb.run(made(), seed=1).flows.iloc[0]
    # The host's interface, 1 ps of its link, assembly, the offset time (5 us, and 3 us for each of
    # two fibres), two fibres of 10 us, the burst at 10 Gb/s, the link to the host.
    expected_ps = 10_000_000 + 1 + 1_000_000_000 + 11_000_000 + 2 * 10_000_000 + 1_000_000
    assert round(flow["completion_time_s"] * 1e12) == expected_ps + 10_000_000 + 1


def test_a_fibre_is_one_link_with_the_utilisation_of_its_channels() -> None:
    result = lb.run(made(), seed=1)
    links = result.links.set_index(["source", "target"])
    assert len(links) == 8
    assert links.loc[("A", "C"), "bytes"] == 1250
    one = lb.run(made(topology__wavelengths=1), seed=1).links.set_index(["source", "target"])
    used = [table["utilisation"].to_dict()["A", "C"] for table in (links, one)]
    assert used[0] == pytest.approx(used[1] / 4)


def test_headers_that_wait_for_each_other_come_late_and_are_a_warning() -> None:
    crowd = made(
        workload={"kind": "pairs", "size": "125 kB"},
        switching__assembly={"kind": "timer", "time": "0 s"},
        switching__header_processing_time="30 us",
    )
    with pytest.warns(lb.RunWarning, match="headers came too late"):
        result = lb.run(crowd, seed=1)
    assert result.switches["dropped_late_header"].sum() == 99


CASES = {
    "offset": (
        {"switching__offset_time": "0.5 us"},
        "switching.offset_time",
        "6.5 us in total over the 2 fibres of the longest path",
        "at least 7 us: the header processing of all its nodes, and the switching time; 500 ns "
        "more",
    ),
    "offset of each hop": (
        {"switching__offset_per_hop": "0.5 us"},
        "switching.offset_time",
        "6 us in total",
        "at least 7 us",
    ),
    "control rate": (
        {"switching__offset_per_hop": "3 us", "switching__control_rate": "64 Mb/s"},
        "switching.offset_time",
        "11 us in total",
        "at least 23 us",
    ),
    "range": (
        {"switching__conversion": {"kind": "limited", "range": 4}},
        "switching.conversion.range",
        "4",
        "from 1 to 3, as there are 4 wavelengths",
    ),
    "another kind": (
        {"switching__nodes": {"C": {"kind": "electronic"}}},
        "switching.nodes.C.kind",
        "'electronic' at C",
        "'obs' at every switch",
    ),
    "an unlimited burst": (
        {
            "workload__size": "1000 TB",
            "topology__link_rate": "1 Tb/s",
            "switching__assembly": {"kind": "timer", "time": "1000 s"},
        },
        "switching.assembly.max_size",
        "'unlimited'",
        "a size up to",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_cannot_work_is_refused(case: tuple[dict[str, Any], str, str, str]) -> None:
    changes, path, given, allowed = case
    with pytest.raises(InputError) as caught:
        lb.run(made(**changes), seed=1)
    assert caught.value.path == path
    assert given in caught.value.given
    assert allowed in caught.value.allowed


# A second path from A to B, over D.
TWO_WAYS: dict[str, Any] = {
    **GOOD["topology"],
    "links": [
        *GOOD["topology"]["links"],
        {"source": "A", "target": "D"},
        {"source": "D", "target": "B", "length": "4 km"},
    ],
}
BALANCED = {"topology": TWO_WAYS, "routing": {"paths": 2, "label": "load"}}


def test_an_edge_that_balances_the_load_says_when_it_has_changed_its_path() -> None:
    load = {"kind": "load", "interval": "2 ms", "threshold": 0}
    changes = {
        "topology": TWO_WAYS,
        "routing": {"paths": 2, "label": load},
        "workload": {"kind": "pairs", "size": "1250 kB"},
        "measurement": {"trace": [0]},
    }
    result = lb.run(made(**changes), seed=1)
    switches = result.trace.path_switches
    assert switches["node"].tolist() == ["A"] * len(switches)
    assert switches["label"].tolist() == [1, 0] * (len(switches) // 2) + [1] * (len(switches) % 2)
    assert (switches["label"] + switches["before"] == 1).all()
    assert result.switches.set_index("node")["path_switches"]["A"] == len(switches) >= 4
    assert set(result.trace.bursts["label"]) == {0, 1}
    # Each change happens at the first burst of another interval.
    assert (switches["time_s"] // 2e-3).is_unique


def test_settings_that_are_not_used_leave_digests_as_they_were() -> None:
    ways = {"topology": TWO_WAYS, "routing": {"paths": 2}}
    usual = made(**ways)
    assert "ordering" not in usual.canonical_json()
    assert "label" not in usual.canonical_json()
    named = usual.with_(routing__label="random", switching__ordering="none")
    assert '"label":"random"' in named.canonical_json()
    assert "ordering" not in named.canonical_json()
    assert named.to_dict()["routing"]["label"] == "random"
    assert lb.Scenario.from_dict(named.to_dict()) == named
    table = usual.with_(routing__label="load", switching__ordering="destination")
    later = table.with_(routing__label__interval="1 s", switching__ordering__hold_back="1 s")
    assert lb.Scenario.from_dict(later.to_dict()) == later
    assert later.routing.label != table.routing.label


REFUSED = {
    "no interval": (
        {**BALANCED, "routing": {"paths": 2, "label": {"kind": "load", "interval": "0 s"}}},
        ("routing.label.interval", "'0 s'", "greater than zero"),
    ),
    "reports that are much too late": (
        {
            **BALANCED,
            "routing": {
                "paths": 2,
                "label": {"kind": "load", "interval": "1 ms", "delay": "2 s"},
            },
        },
        ("routing.label.delay", "2 s", "at most 1000 times interval (1 s)"),
    ),
    "a threshold": (
        {**BALANCED, "routing": {"paths": 2, "label": {"kind": "load", "threshold": -1}}},
        ("routing.label.threshold", "-1", "at least 0"),
    ),
    "one path": (
        {"topology": TWO_WAYS, "routing": {"label": "load"}},
        ("routing.paths", "1", "2 or more"),
    ),
    "a pair without a second path": (
        {"routing": {"paths": 2, "label": "load"}},
        ("routing.paths", "2, but 1 from A to B", "two paths for each pair"),
    ),
    "a pair with one route": (
        {
            **BALANCED,
            "routing": {
                "paths": 2,
                "label": "load",
                "routes": [{"source": "A", "destination": "B", "path": ["A", "C", "B"]}],
            },
        },
        ("routing.routes", "one path from A to B", "two or more"),
    ),
    "packets": (
        {**BALANCED, "switching": {"kind": "electronic"}},
        ("routing.label", "'load' among switches of kind 'electronic'", "'burst' or 'obs'"),
    ),
    "an unknown label": (
        {**BALANCED, "routing": {"paths": 2, "label": "least"}},
        ("routing.label", "'least'", "one of 'first', 'random', 'hash', 'subflow', 'load'"),
    ),
    "an unknown ordering": (
        {"switching__ordering": "ingress"},
        ("switching.ordering", "'ingress'", "one of 'none', 'source', 'destination'"),
    ),
    "a hold-back without a destination": (
        {"switching__ordering": {"kind": "source", "hold_back": "1 ms"}},
        ("switching.ordering.hold_back", "an unknown key", "for kind 'destination'"),
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_paths_by_load_and_orders_that_cannot_be_are_refused(
    case: tuple[dict[str, Any], tuple[str, str, str]],
) -> None:
    changes, (path, given, allowed) = case
    with pytest.raises(InputError) as caught:
        lb.run(made(**changes), seed=1)
    assert caught.value.path == path
    assert given in caught.value.given
    assert allowed in caught.value.allowed
