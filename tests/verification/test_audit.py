"""False losses of a sender, and segments out of order.

Counted by hand, and from the packets of traces, which the core's own count does not use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import QUICK
from followed import follow
from hypothesis import given
from plans import Plan
from scripted.cases import CASES, FLAVOURS, TRANSPORT, Case, Settings, flow, routes
from senders import sender
from strategies import plans

from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run
from lightburst.trace import FlowTrace
from lightburst.trace.audit import RetransmissionAudit
from lightburst.trace.division import copies
from lightburst.trace.flow import ARRIVED, FORWARD

pytestmark = pytest.mark.filterwarnings("ignore::lightburst.RunWarning")

RECOVERY = 2
BY_NAME = {case.name: case for case in CASES}
#: fast retransmissions, false ones; timeouts, false ones; retransmissions, unnecessary ones; out of
#: order.
COUNTS = (
    "fast_retransmits", "false_fast_retransmits", "timeouts", "false_timeouts",
    "retransmissions", "spurious_retransmissions", "reordered",
)  # fmt: skip


def counts(result: Result) -> tuple[int, ...]:
    (row,) = result.flows.to_dict("records")
    # Every segment here is full.
    assert row["spurious_bytes"] == 1000 * row["spurious_retransmissions"]
    return tuple(int(row[name]) for name in COUNTS)


def of_trace(trace: FlowTrace) -> dict[str, int]:
    """Count from the packets of its trace."""
    made = copies(trace)
    audit = RetransmissionAudit(trace, made)
    timeouts = [(int(time), "data") for time in trace.timeouts_ps()]
    order: list[int] = []
    extents = []
    table = trace.segments
    came = (table["event"] == ARRIVED) & (table["flags"] & FORWARD > 0) & (table["payload"] > 0)
    rows = zip(
        table["sequence"][came].tolist(), table["retransmission"][came].tolist(), strict=True
    )
    for begin, again in rows:
        if begin not in order:
            later = [place for place, other in enumerate(order) if other > begin]
            if later and not again:
                extents.append(len(order) - later[0])
            order.append(begin)
    return {
        "spurious_retransmissions": sum(audit.spurious(copy) for copy in made if copy.cause),
        "false_timeouts": sum(audit.false_timeout(*row) for row in timeouts),
        "reordered": len(extents),
        "reorder_extent_sum": sum(extents),
        "reorder_extent_max": max(extents, default=0),
    }


def entries(trace: FlowTrace) -> list[int]:
    """The times at which fast recoveries begin; Tahoe has none."""
    state = trace.windows["state"]
    begins = (state == RECOVERY) & (np.roll(state, 1) != RECOVERY)
    return [int(time) for time in trace.windows["time_ps"][begins]]


@QUICK
@given(plans())
def test_the_packets_show_the_same(plan: Plan) -> None:
    connections = [g["transport"]["kind"] != "datagram" for g in plan.settings["groups"]]
    groups = plan.flows.get("group", np.zeros(plan.flows["source"].size, np.uint16))
    for number in np.flatnonzero(np.array(connections)[groups])[:3]:
        trace, columns = follow(plan, int(number))
        row = {name: int(column[number]) for name, column in columns["flows"].items()}
        found = of_trace(trace)
        # A trace has no row of the timeouts of SYN and FIN, nor of the last before giving up.
        assert found.pop("false_timeouts") <= row["false_timeouts"] <= row["timeouts"]
        assert found == {name: row[name] for name in found}
        assert row["false_fast_retransmits"] <= row["fast_retransmits"]
        assert row["spurious_retransmissions"] <= row["retransmissions"]


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_packets_of_each_sender_show_the_same(case: Case, flavour: str) -> None:
    result = run(case.scenario(flavour), seed=1)
    trace = FlowTrace.of(result, 0)
    row = {name: int(column[0]) for name, column in result.columns["flows"].items()}
    found = of_trace(trace)
    assert found == {name: row[name] for name in found}
    if flavour != "tahoe":
        audit, begins = RetransmissionAudit(trace, copies(trace)), entries(trace)
        assert row["fast_retransmits"] == len(begins)
        # The segment sent again then is the one that a timeout at that time would repeat.
        false = sum(audit.false_timeout(time, "data") for time in begins)
        assert row["false_fast_retransmits"] == false


@pytest.mark.parametrize(
    ("name", "flavour", "expected"),
    [
        # One dropped segment: duplicates report it, and it is sent again.
        ("one", "sack", (1, 0, 0, 0, 1, 0, 0)),
        ("one", "new-reno", (1, 0, 0, 0, 1, 0, 0)),
        # Of five in one window each is sent again, in one recovery.
        ("five", "sack", (1, 0, 0, 0, 5, 0, 0)),
        # It is lost again, and no duplicates report that: a timeout, which is also right.
        ("retransmission", "sack", (1, 0, 1, 0, 2, 0, 0)),
        # The whole window: only the timer reports the loss. Its retransmissions had been lost.
        ("whole-window", "sack", (0, 0, 1, 0, 8, 0, 0)),
        # All data arrived, but its acknowledgements were lost: none of 5 to 12 was.
        ("acknowledgements-of-a-window", "sack", (0, 0, 1, 1, 1, 1, 0)),
    ],
)
def test_by_hand(name: str, flavour: str, expected: tuple[int, ...]) -> None:
    assert counts(run(BY_NAME[name].scenario(flavour), seed=1)) == expected


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_segments_overtake_and_none_is_lost_all_is_false(flavour: str, seed: int) -> None:
    scenario = {
        **routes("1040 km"),
        "transport": sender(**TRANSPORT | FLAVOURS[flavour] | {"advertised_window": 50}),
        "workload": flow(400),
        "measurement": {"time_limit": "100 s", "trace": [0]},
    }
    result = run(Scenario.from_dict(scenario), seed=seed)
    fast, false_fast, timeouts, _, again, spurious, reordered = counts(result)
    assert result.flows["drops"].tolist() == [0]
    assert fast == false_fast > 0
    assert timeouts == 0
    assert again == spurious == result.flows["duplicates"][0]
    assert reordered > fast
    # A segment each 0.8 ms, and a difference of 5.2 ms between the paths: six pass it, including
    # late ones.
    assert 3 <= result.flows["reorder_extent_max"][0] <= 12


def saw(**changes: Any) -> Settings:
    """One segment of 1 kB over 200 km and 400 km, with a timeout of 4 ms."""
    links = [
        {"source": "sender", "target": "in", "length": "200 km"},
        {"source": "in", "target": "out", "length": "400 km"},
        {"source": "out", "target": "receiver"},
    ]
    return {
        "topology": {"kind": "graph", "links": links, "link_length": "1 m"},
        "switching": {"kind": "electronic", "queue_size": "unlimited"},
        "transport": {
            "kind": "saw", "segment_size": "1 kB", "alpha": 1.01,
            "initial_timeout": "4 ms", **changes,
        },
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1 kB"}},
        "measurement": {"trace": [0]},
    }  # fmt: skip


def test_a_timeout_that_is_shorter_than_the_way_is_false() -> None:
    """A round trip takes slightly more than 6 ms."""
    result = run(Scenario.from_dict(saw()), seed=1)
    # Of the SYN, of the data, and of the FIN.
    assert counts(result) == (0, 0, 3, 3, 1, 1, 0)
    # The second time T is slightly more than 5 ms: beta gamma + (1 - beta) T, without samples of
    # data sent twice.
    patient = run(Scenario.from_dict(saw(initial_timeout="7 ms")), seed=1)
    assert counts(patient) == (0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("drops", "expected"),
    [
        # Timers of 7 ms. The SYN is not the segment; its answer is the first acknowledgement.
        ([{"acknowledgements": [1, 1]}], (0, 0, 1, 1, 0, 0, 0)),
        ([{"segments": [1, 1]}], (0, 0, 1, 0, 1, 0, 0)),
        ([{"segments": [1, 1]}, {"segments": [1, 1], "transmission": 2}], (0, 0, 2, 0, 2, 0, 0)),
        # Of the data, and of the FIN.
        ([{"acknowledgements": [2, 2]}], (0, 0, 1, 1, 1, 1, 0)),
        ([{"acknowledgements": [3, 3]}], (0, 0, 1, 1, 0, 0, 0)),
    ],
)
def test_a_timeout_tells_of_data_and_not_of_acknowledgements(
    drops: list[Settings], expected: tuple[int, ...]
) -> None:
    scenario = Scenario.from_dict(saw(initial_timeout="7 ms") | {"loss": {"drops": drops}})
    assert counts(run(scenario, seed=1)) == expected


def test_what_is_lost_after_the_timeout_was_lost_all_the_same() -> None:
    """A timer of 0.3 ms: the first copy is lost after 1 ms, when two more are in flight."""
    early = saw(initial_timeout="0.3 ms") | {"loss": {"drops": [{"segments": [1, 1]}]}}
    result = run(Scenario.from_dict(early), seed=1)
    data = result.trace.segments.query("from_source and payload_bytes > 0")
    (lost,) = data[data["event"] == "lost"]["time_s"]
    assert (data[data["event"] == "sent"]["time_s"] < lost).sum() == 3
    # So only the second was needed, and only the timeout before it was right.
    row = result.flows.iloc[0]
    assert row["spurious_retransmissions"] == row["retransmissions"] - 1 > 5
    assert row["false_timeouts"] == row["timeouts"] - 1
