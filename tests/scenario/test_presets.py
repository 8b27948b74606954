"""Presets of `tcp`: their settings, and the precedence of the scenario's own settings."""

from __future__ import annotations

from pathlib import Path

import pytest

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.units import parse_duration
from lightburst.scenario.reading.messages import kinds
from lightburst.scenario.transport import Tcp
from lightburst.scenario.transport.presets import PRESETS

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("congestion_control", "recovery")


@pytest.fixture
def plain() -> lb.Scenario:
    """TCP without any setting."""
    return lb.load(ROOT / "examples/obs.toml").with_(transport={"kind": "tcp"})


def test_rfc_is_the_defaults() -> None:
    assert Tcp(preset="rfc") == Tcp()


@pytest.mark.parametrize("preset", PRESETS)
def test_each_sets_what_it_says_and_nothing_else(preset: str, plain: lb.Scenario) -> None:
    chosen, rest = (
        plain.with_(transport__preset=name).to_dict()["transport"] for name in (preset, "rfc")
    )
    assert chosen.pop("preset") == preset
    del rest["preset"]
    given = dict(PRESETS[preset])
    for name in TABLES:
        own = {**chosen.pop(name)}
        usual_ = kinds(Tcp.model_fields[name])[own["kind"]]().model_dump(mode="json")
        known = {key: value for key, value in given.pop(name, {}).items() if key in own}
        assert own == usual_ | known
        del rest[name]
    assert chosen == rest | given


@pytest.mark.parametrize("preset", PRESETS)
def test_no_delayed_acknowledgement_waits_as_long_as_the_least_timeout(preset: str) -> None:
    """Otherwise the last segment of a flow looks lost each time."""
    tcp = Tcp.model_validate({"preset": preset})
    assert tcp.acknowledgement_delay < tcp.min_timeout


def test_what_is_given_stays_and_what_is_not_follows(plain: lb.Scenario) -> None:
    given = plain.with_({"transport.preset": "ns-2", "transport.min_timeout": "0.5 s"})
    assert given.to_dict()["transport"]["min_timeout"] == "500 ms"
    assert given.with_(transport__preset="wide-area").to_dict() == (
        plain.with_({"transport.min_timeout": "0.5 s", "transport.preset": "wide-area"}).to_dict()
    )
    # Also settings in a table, and with other values first.
    one = plain.with_({"transport.recovery.limited_transmit": True, "transport.preset": "ns-2"})
    other = plain.with_(transport__preset="ns-2").with_(transport__recovery__limited_transmit=True)
    assert one.to_dict() == other.to_dict()
    assert one.to_dict()["transport"]["recovery"] == {
        "kind": "sack1", "duplicate_threshold": 3, "limited_transmit": True, "sack_blocks": 3,
        "duplicate_sack": False, "bug_fix": True,
    }  # fmt: skip
    back = one.with_(transport__preset="rfc").to_dict()["transport"]["recovery"]
    assert (back["kind"], back["sack_blocks"], back["limited_transmit"]) == ("sack", 4, True)


def test_a_preset_holds_for_another_recovery_too(plain: lb.Scenario) -> None:
    scenario = plain.with_({"transport.preset": "ns-2", "transport.recovery": "new-reno"})
    assert scenario.to_dict()["transport"]["recovery"] == {
        "kind": "new-reno", "duplicate_threshold": 3, "limited_transmit": False, "bug_fix": True,
        "window_growth_on_exit": True, "partial_acknowledgement": "impatient",
        "full_acknowledgement": "ssthresh",
    }  # fmt: skip


def test_a_preset_is_its_values(plain: lb.Scenario) -> None:
    """Written out in full, the scenario has the plan of the named preset."""
    named = plain.with_(transport__preset="datacentre")
    values = named.to_dict()
    values["transport"]["preset"] = "rfc"
    values["hosts"] = named.in_use()["hosts"]
    written = lb.Scenario.from_dict(values)
    digests = [compile_plan(scenario, 1).digest() for scenario in (named, written, plain)]
    assert digests[0] == digests[1] != digests[2]


def test_a_lost_segment_waits_as_the_preset_says(plain: lb.Scenario) -> None:
    """The only segment of a flow is lost: it is sent again after the preset's least timeout."""
    changes = {
        "loss": {"drops": [{"segments": [1, 1]}]},
        "switching": {"kind": "electronic"},
        "topology": {"kind": "path", "links": 3},
        "workload.size.value": "100 B",
    }
    for preset, wait in (("rfc", "1 s"), ("datacentre", "10 ms"), ("wide-area", "200 ms")):
        flow = lb.run(plain.with_({"transport.preset": preset, **changes})).flows.iloc[0]
        # And at the most a delayed acknowledgement longer.
        assert 1 < flow["completion_time_s"] / (parse_duration(wait) * 1e-12) < 1.25
