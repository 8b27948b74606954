"""A path dies at a known time: the completion time of a connection with two subflows, by hand."""

from typing import Any

import lightburst as lb

#: In ps: 1,500 B and 64 B at 1 Gb/s, the delay of 10 m, and the least timeout.
SEGMENT, CONTROL, DELAY, SECOND = 12_000_000, 512_000, 50_000, 10**12
DIAMOND: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "link_rate": "1 Gb/s",
        "link_length": "10 m",
        "links": [{"source": a, "target": b} for a, b in ("sA", "AB", "BD", "AC", "CD", "Dd")],
    },
    "routing": {"paths": 2, "label": "subflow"},
    "switching": {"kind": "electronic"},
    "transport": {
        "kind": "tcp",
        "subflows": 2,
        "segment_size": "1500 B",
        "header_size": "0 B",
        "initial_window": 2,
        "acknowledge_every": 1,
        "handshake": False,
    },
    "workload": {"kind": "pairs", "size": "6000 B"},
    # The third segment of four has left A at 36 us, the fourth would at 48 us.
    "events": [{"at": "40 us", "loss": 1.0, "link": ["A", "C"]}],
    "measurement": {"time_limit": "1 h"},
}


def outcome(*, both_ways: bool) -> tuple[int, int, int, int]:
    """Arrival of the last byte and of its acknowledgement in ps; reinjections, and duplicates."""
    (event,) = DIAMOND["events"]
    dies = {**event, "direction": "both" if both_ways else "forward"}
    changes = {"events": [dies], "transport.reinjection": True}
    flow = lb.run(lb.Scenario.from_dict(DIAMOND).with_(changes)).flows.iloc[0]
    ends = (round(flow[f"{name}_s"] * 1e12) for name in ("received", "acknowledged"))
    return *ends, int(flow["reinjections"]), int(flow["duplicates"])


THERE, BACK = 4 * (SEGMENT + DELAY), 4 * (CONTROL + DELAY)


def test_the_other_path_brings_the_segment_after_the_timeout() -> None:
    """The answer to the third segment restarts the timer; its own path gets the fourth first."""
    answered = 2 * SEGMENT + THERE + BACK
    received = answered + SECOND + SEGMENT + THERE
    assert outcome(both_ways=False) == (received, received + BACK, 1, 0)


def test_where_the_answer_is_lost_both_segments_are_sent_again() -> None:
    """The timer counts from the start, and the third segment comes twice."""
    received = SECOND + 2 * SEGMENT + THERE
    assert outcome(both_ways=True) == (received, received + BACK, 2, 1)
