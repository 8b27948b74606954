"""Tables of RDMA: what they refuse, and what they become in the plan."""

from typing import Any

import pytest

import lightburst as lb
from lightburst.compile import compile_plan

BASE: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic", "queue": {"kind": "marking"}},
    "transport": {"kind": "rdma"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
}


def scenario(**transport: Any) -> lb.Scenario:
    return lb.Scenario.from_dict({**BASE, "transport": {"kind": "rdma", **transport}})


@pytest.mark.parametrize(
    ("transport", "path", "allowed"),
    [
        # What only TCP has.
        ({"mss": "1 kB"}, "mss", "one of the keys kind, segment_size"),
        ({"initial_window": 4}, "initial_window", "one of the keys kind, segment_size"),
        ({"handshake": True}, "handshake", "one of the keys kind, segment_size"),
        ({"acknowledgement_delay": "1 ms"}, "acknowledgement_delay", "acknowledgement_timeout"),
        ({"congestion_control": "reno"}, "congestion_control", "'dcqcn', 'hpcc', 'line-rate', "),
        ({"recovery": "sack"}, "recovery", "'go-back-n', 'selective-repeat'"),
        # Values that do not fit together.
        ({"max_inflight": "1 kB", "acknowledge_every": 2}, "max_inflight", "at least"),
        ({"control_size": "2 kB"}, "control_size", "at most segment_size"),
        (
            {"congestion_control": {"kind": "dcqcn", "alpha_interval": "50 us"}},
            "congestion_control.alpha_interval",
            "more than notification_interval (50 us)",
        ),
        (
            {"congestion_control": {"kind": "timely", "low_threshold": "1 ms"}},
            "congestion_control",
            "at most high_threshold (500 us)",
        ),
        (
            {"congestion_control": {"kind": "swift", "min_window": 2, "max_window": 1}},
            "congestion_control",
            "at most max_window (1)",
        ),
        (
            {"congestion_control": {"kind": "swift", "flow_min_window": 100}},
            "congestion_control",
            "less than flow_max_window (100)",
        ),
        (
            {"congestion_control": "ndp"},
            "recovery",
            "'selective-repeat' with congestion_control = 'ndp', which repeats single packets",
        ),
        (
            {"congestion_control": {"kind": "ndp", "first_window": 0}},
            "congestion_control",
            "a whole number from 1 to 1000000",
        ),
    ],
)
def test_a_bad_value_is_one_message(transport: dict[str, Any], path: str, allowed: str) -> None:
    with pytest.raises(lb.InputError) as error:
        scenario(**transport)
    assert error.value.path.startswith(f"transport.{path}")
    assert allowed in error.value.allowed


def test_windows_of_rate_laws_are_not_compared() -> None:
    own = {**BASE, "measurement": {"synchronisation": {}}}
    with pytest.raises(lb.InputError, match="only 'hpcc' and 'swift' have windows"):
        lb.run(lb.Scenario.from_dict(own))


def test_the_plan_has_neither_set_up_nor_limits_that_are_off() -> None:
    (group,) = compile_plan(scenario(), seed=1).settings["groups"]
    own = group["transport"]
    assert own["handshake"] is False
    assert not {"max_inflight_bytes", "max_retransmissions"} & set(own)
    # 14 + 4 of Ethernet, 20 of IP, 8 of UDP, 12 of the BTH, 4 of the ICRC; 4 of an AETH.
    assert (own["segment_bytes"], own["header_bytes"], own["control_bytes"]) == (1086, 62, 66)
    limited = compile_plan(scenario(max_inflight="20 kB"), seed=1).settings["groups"][0]
    assert limited["transport"]["max_inflight_bytes"] == 20_000


def test_messages_choose_one_path_each() -> None:
    assert scenario().routing_choice == "flow-hash"


def test_telemetry_needs_queues_that_tell() -> None:
    """Where a flow asks for it, all outputs have explicit queues; other switches have none."""
    asks = {"transport": {"kind": "rdma", "congestion_control": "hpcc"}}
    plain = BASE | {"switching": {"kind": "electronic"}}
    tables = compile_plan(lb.Scenario.from_dict(plain | asks), seed=1).settings["switches"]
    assert [table["queue"] for table in tables] == [{"kind": "drop-tail"}]
    silent = compile_plan(lb.Scenario.from_dict(plain), seed=1).settings["switches"]
    assert ["queue" in table for table in silent] == [False]
    hybrid = BASE | asks | {"switching": {"kind": "hybrid", "buffer_ports": 2}}
    with pytest.raises(lb.InputError, match=r"beside transport.congestion_control = 'hpcc'"):
        lb.run(lb.Scenario.from_dict(hybrid))


@pytest.mark.parametrize(
    ("switching", "path", "given"),
    [
        ({"kind": "electronic"}, "switching.queue", "'drop-tail'"),
        ({"kind": "electronic", "queue": "red"}, "switching.queue", "'red'"),
        ({"kind": "all-optical"}, "switching.kind", "'all-optical'"),
        (
            {
                "kind": "electronic",
                "queue": "trim",
                "layers": {"core": {"kind": "electronic", "queue": "drop-tail"}},
            },
            "switching.layers.core.queue",
            "'drop-tail'",
        ),
    ],
)
def test_pulls_need_switches_that_trim(switching: dict[str, Any], path: str, given: str) -> None:
    transport = {
        "kind": "rdma",
        "congestion_control": "ndp",
        "recovery": "selective-repeat",
    }
    with pytest.raises(lb.InputError) as error:
        lb.Scenario.from_dict(BASE | {"transport": transport, "switching": switching})
    assert (error.value.path, error.value.given) == (path, given)
    assert "'trim' at every switch" in error.value.allowed
