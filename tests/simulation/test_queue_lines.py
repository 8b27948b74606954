"""Queues with a line for each group of flows: settings of the plan, refusals, digests."""

from pathlib import Path
from typing import Any

import pytest

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError

#: Two hosts with flows to a third, each of a group.
BASE: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "links": [
            {"source": "a", "target": "S"},
            {"source": "b", "target": "S"},
            {"source": "S", "target": "c"},
        ],
        "link_rate": "10 Gb/s",
        "link_length": "2 km",
    },
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "transport": {
        "kind": "datagram",
        "segment_size": "1250 B",
        "header_size": "0 B",
        "spacing": "constant",
    },
}


def two_groups(folder: Path, queue: Any) -> lb.Scenario:
    """Each host has 100 packets for the third, at the rate of the links."""
    groups = {}
    for name, host in (("bulk", "a"), ("urgent", "b")):
        file = folder / f"{name}.csv"
        row = f"{host},c,0,125000\n"
        file.write_text(f"source,destination,start_ps,size_bytes\n{row}", encoding="utf-8")
        groups[name] = {"workload": {"kind": "table", "file": str(file)}}
    switching = BASE["switching"] | {"queue": queue}
    return lb.Scenario.from_dict({**BASE, "switching": switching, "groups": groups})


def last_ps(result: lb.Result) -> dict[str, int]:
    """The completion time of the flow of each group."""
    times = zip(result.flows["group"], result.flows["completion_time_s"], strict=True)
    return {group: round(time * 1e12) for group, time in times}


#: Of a packet of 1250 B at 10 Gb/s, and the light on both links.
PACKET, WAY = 1_000_000, 2 * 10_000_000


def test_the_urgent_are_as_fast_as_alone_but_for_one_packet(tmp_path: Path) -> None:
    times = last_ps(lb.run(two_groups(tmp_path, {"kind": "prio", "bands": {"urgent": 0}}), seed=1))
    # The first packet of the others came at the same time, and is under way.
    assert times["urgent"] in (WAY + 101 * PACKET, WAY + 102 * PACKET)
    assert times["bulk"] == WAY + 201 * PACKET
    plan = compile_plan(two_groups(tmp_path, {"kind": "prio", "bands": {"urgent": 3}}), seed=1)
    assert plan.settings["switches"][0]["queue"]["bands"] == [4, 3]


def test_shares_follow_the_quanta(tmp_path: Path) -> None:
    queue = {"kind": "drr", "quantum": "1250 B", "quanta": {"urgent": "3750 B"}}
    scenario = two_groups(tmp_path, queue)
    result = lb.run(scenario, seed=1)
    times = last_ps(result)
    # Three of four packets until the 100 are through: 133, and one or two more.
    assert 133 <= (times["urgent"] - WAY - PACKET) / PACKET <= 135
    assert times["bulk"] == WAY + 201 * PACKET
    own = result.plan.settings["switches"][0]["queue"]
    assert own == {"kind": "drr", "quanta_bytes": [1250, 3750], "buffer": "own"}
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    assert lb.load(file) == scenario


CASES: dict[str, tuple[Any, str]] = {
    "no bands": (
        "prio",
        "switching.queue.bands: given no group; allowed: the band of at least one group, such as "
        "{ urgent = 0 }",
    ),
    "an unknown group": (
        {"kind": "prio", "bands": {"urgnt": 0}},
        "switching.queue.bands.urgnt: given an unknown group 'urgnt'; allowed: one of the groups "
        "'bulk', 'urgent' (did you mean 'urgent'?)",
    ),
    "a band too many": (
        {"kind": "prio", "bands": {"urgent": 16}},
        "switching.queue.bands.urgent: given 16; allowed: a whole number from 0 to 15",
    ),
    "an unknown group with a quantum": (
        {"kind": "drr", "quanta": {"bulks": "9 kB"}},
        "switching.queue.quanta.bulks: given an unknown group 'bulks'; allowed: one of the groups "
        "'bulk', 'urgent' (did you mean 'bulk'?)",
    ),
    "a small quantum": (
        {"kind": "drr", "quanta": {"bulk": "255 B"}},
        "switching.queue.quanta.bulk: given 255 B; allowed: at least 256 B",
    ),
    "a small quantum for all": (
        {"kind": "drr", "quantum": "1 B"},
        "switching.queue.quantum: given 1 B; allowed: at least 256 B",
    ),
    "a word": (
        {"kind": "drr", "buffer": "both"},
        "switching.queue.buffer: given 'both'; allowed: one of 'own', 'shared'",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_makes_no_sense_is_refused(case: tuple[Any, str], tmp_path: Path) -> None:
    queue, message = case
    with pytest.raises(InputError) as caught:
        two_groups(tmp_path, queue)
    assert str(caught.value) == message


def test_without_groups_there_are_no_bands() -> None:
    switching = BASE["switching"] | {"queue": {"kind": "prio", "bands": {"urgent": 0}}}
    workload = {"kind": "pairs", "size": "1250 B"}
    with pytest.raises(InputError, match="nothing in a scenario without groups"):
        lb.Scenario.from_dict({**BASE, "switching": switching, "workload": workload})
