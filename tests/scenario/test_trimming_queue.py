"""Settings of ``switching.queue = "trim"`` that contradict others: one message, path and values."""

from pathlib import Path

import pytest
from test_bad_input import refusal
from test_queues import with_queue

import lightburst as lb
from lightburst.compile import compile_plan

SCENARIO = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic", "queue": "trim"},
    "transport": {"kind": "rdma", "recovery": "selective-repeat"},
    "workload": {"kind": "incast", "senders": 2, "size": "10 kB"},
}

# settings of the switch -> path, given, allowed
CASES = {
    'queue = { kind = "trim", packets = 0 }': (
        "switching.queue.packets",
        "0",
        "a whole number from 1 to 1000000",
    ),
    'queue = { kind = "trim", tail = 2 }': (
        "switching.queue.tail",
        "2",
        "a number at least 0 and at most 1",
    ),
    'queue = { kind = "trim", return_to_sender = 1 }': (
        "switching.queue.return_to_sender",
        "1",
        "true or false",
    ),
    'queue = { kind = "trim", header_queue = "63 B" }': (
        "switching.queue.header_queue",
        "63 B",
        "at least switching.queue.header (64 B)",
    ),
    'queue = "trim"\npfc = { xoff = "40 kB" }': (
        "switching.queue",
        "'trim'",
        "another discipline beside pfc: a link that pauses keeps what trimming cuts off",
    ),
    'queue = "trim"\n[protection]\nscheme = "1+1"': (
        "switching.queue",
        "'trim'",
        "another discipline with protection.scheme = '1+1', whose packets are twofold",
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_settings_that_contradict_each_other_are_refused(text: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, with_queue(text))
    path, given, allowed = CASES[text]
    assert str(error) == f"{path}: given {given}; allowed: {allowed}"


def test_without_returns_scenario_and_plan_are_as_before_there_were_any() -> None:
    plain = lb.Scenario.from_dict(SCENARIO)
    off, on = (
        plain.with_(switching__queue={"kind": "trim", "return_to_sender": back})
        for back in (False, True)
    )
    assert off.canonical_json() == plain.canonical_json() != on.canonical_json()
    digests = [compile_plan(one, 1).digest() for one in (plain, off, on)]
    assert digests[0] == digests[1] != digests[2]
