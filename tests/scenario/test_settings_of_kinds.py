"""Settings in the table of their kind: precedence, refusals, and their part in digests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

import lightburst as lb
from lightburst import _core
from lightburst.cli import main
from lightburst.compile import compile_plan
from lightburst.scenario.fields import Flag, Named
from lightburst.scenario.reading.messages import kinds
from lightburst.scenario.section import Section
from lightburst.scenario.switching import AllOptical, Burst, Electronic, Hybrid
from lightburst.scenario.transport import Datagram, Saw, Sawl, Tcp
from lightburst.scenario.transport.congestion_control import COUPLED, OF_RATES
from lightburst.scenario.transport.recovery import NewReno, RenoRecovery, Sack, Sack1, Tahoe

ROOT = Path(__file__).resolve().parents[2]
OBS = ROOT / "examples/obs.toml"
TABLES = {name: kinds(Tcp.model_fields[name]) for name in ("congestion_control", "recovery")}
EACH = [(name, kind) for name, members in TABLES.items() for kind in members]


def came_later(kind: type[BaseModel]) -> frozenset[str]:
    assert issubclass(kind, Section)
    return kind.came_later


SETTINGS = [
    (name, kind, key)
    for name, kind in EACH
    for key in TABLES[name][kind].model_fields
    if key not in {"kind", *came_later(TABLES[name][kind])}
]


@pytest.fixture
def scenario() -> lb.Scenario:
    return lb.load(OBS).with_({"workload.size.value": "20 kB", "loss.probability": 0.0})


class Westwood(Section):
    """A recovery of a later version."""

    kind: Literal["westwood"] = "westwood"
    gain: Annotated[int, Field(description="Its setting.")] = 1


class LaterNewReno(NewReno):
    """With a setting that comes later."""

    later: Flag = Field(True, description="Its setting.")


class LaterHybrid(Hybrid):
    """With a setting that comes later."""

    later: Flag = Field(True, description="Its setting.")


LaterRecovery = Annotated[
    Tahoe | RenoRecovery | LaterNewReno | Sack | Sack1 | Westwood,
    Named(),
    Field(discriminator="kind"),
]


class LaterTcp(Tcp):
    """With one recovery more."""

    recovery: LaterRecovery = Field(Sack(), description="As before.")  # type: ignore[assignment]


class LaterScenario(lb.Scenario):
    """The scenario as a later version reads it."""

    switching: Annotated[AllOptical | LaterHybrid | Electronic | Burst, Field(discriminator="kind")]
    transport: Annotated[Saw | Sawl | LaterTcp | Datagram, Field(discriminator="kind")] | None = (
        Field(None, validate_default=True)
    )


def keys(scenario: lb.Scenario) -> tuple[str, str]:
    """The digests that identify a run: of the scenario, and of its plan."""
    return scenario.canonical_json(), compile_plan(scenario, 1).digest()


def choose(scenario: lb.Scenario, name: str, kind: str) -> lb.Scenario:
    """The scenario with a law or a recovery, and with what a law of rates or of subflows needs."""
    needed: dict[str, Any] = {"transport.recovery": "rack-tlp"} if kind in OF_RATES else {}
    if kind in COUPLED:
        needed["transport.subflows"] = 2
    return scenario.with_({**needed, f"transport.{name}": kind})


@pytest.mark.parametrize("recovery", ["tahoe", "reno", "sack", "sack1"])
@pytest.mark.parametrize("switching", ["all-optical", "electronic"])
def test_a_later_kind_or_setting_moves_nothing_that_does_not_use_it(
    recovery: str, switching: str, scenario: lb.Scenario
) -> None:
    changes = {"transport.recovery": recovery, "switching": {"kind": switching}}
    changes["topology"] = {"kind": "fat-tree", "k": 4}
    values = scenario.with_(changes).to_dict()
    assert keys(LaterScenario.from_dict(values)) == keys(lb.Scenario.from_dict(values))


@pytest.mark.parametrize(
    "changes",
    [{"transport.recovery": "new-reno"}, {"switching": {"kind": "hybrid"}}],
    ids=["recovery", "switching"],
)
def test_it_moves_what_uses_it(changes: dict[str, Any], scenario: lb.Scenario) -> None:
    tree = {"topology": {"kind": "fat-tree", "k": 4}, "switching": {"kind": "electronic"}}
    values = scenario.with_(tree).with_(changes).to_dict()
    now, later = keys(lb.Scenario.from_dict(values)), keys(LaterScenario.from_dict(values))
    assert now[0] != later[0]
    assert now[1] != later[1]


def test_a_later_law_is_a_class_and_a_line(scenario: lb.Scenario) -> None:
    values = scenario.to_dict()
    values["transport"]["recovery"] = {"kind": "westwood", "gain": 3}
    later = LaterScenario.from_dict(values)
    plan = compile_plan(later, 1)
    assert plan.transports[0]["recovery"] == {"kind": "westwood", "gain": 3}
    bare = later.with_({"transport.recovery": "westwood"})
    assert bare.to_dict()["transport"]["recovery"] == {"kind": "westwood", "gain": 1}


@pytest.mark.parametrize(("name", "kind", "key"), SETTINGS)
def test_the_core_reads_each_setting_that_a_kind_has(
    name: str, kind: str, key: str, scenario: lb.Scenario
) -> None:
    plan = compile_plan(choose(scenario, name, kind), 1)
    (written,) = (own for own in plan.transports[0][name] if own in (key, f"{key}_ps"))
    del plan.transports[0][name][written]
    with pytest.raises(ValueError, match=f"{kind}: transport.{name}.{written} is missing"):
        _core.simulate(json.dumps(plan.settings), plan.nodes, plan.links, plan.flows)


@pytest.mark.filterwarnings("ignore:.*but no switch makes any")
@pytest.mark.parametrize(("name", "kind"), EACH)
def test_it_runs_with_the_settings_that_a_kind_has(
    name: str, kind: str, scenario: lb.Scenario
) -> None:
    """A missing setting would be an error."""
    chosen = choose(scenario, name, kind)
    assert lb.run(chosen).summary["finished"] == 1
    table = compile_plan(chosen, 1).transports[0][name]
    keys = {key.removesuffix("_ps") for key in table}
    # At their default, settings of later versions are in no plan.
    assert keys == set(TABLES[name][kind].model_fields) - came_later(TABLES[name][kind])
    # A law sees its own settings, and no other.
    assert lb.Scenario.from_dict(chosen.to_dict()).to_dict() == chosen.to_dict()


def test_a_name_is_the_table_of_its_defaults(scenario: lb.Scenario) -> None:
    for written in ("reno", {"kind": "reno"}, RenoRecovery()):
        chosen = scenario.with_({"transport.recovery": written})
        assert chosen.to_dict() == scenario.with_({"transport.recovery.kind": "reno"}).to_dict()


CHANGES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "a name takes the whole table": (
        ["recovery.limited_transmit=false", "recovery=sack1"],
        {"kind": "sack1", "limited_transmit": False, "duplicate_threshold": 3},
    ),
    "a kind keeps what it knows": (
        ["recovery.kind=tahoe"],
        {"kind": "tahoe", "limited_transmit": False, "duplicate_threshold": 5},
    ),
    "a setting of the kind that is there": (
        ["recovery.full_acknowledgement=ssthresh"],
        {"kind": "new-reno", "full_acknowledgement": "ssthresh", "duplicate_threshold": 5},
    ),
    "a kind and its setting": (
        ["recovery.rescue_retransmission=false", "recovery.kind=sack"],
        {"kind": "sack", "rescue_retransmission": False, "duplicate_threshold": 5},
    ),
    "a name and its setting": (
        ["recovery.rescue_retransmission=false", "recovery=sack"],
        {"kind": "sack", "rescue_retransmission": False, "limited_transmit": True},
    ),
    "a table": (
        ['recovery={ kind = "reno", duplicate_threshold = 2 }'],
        {"kind": "reno", "duplicate_threshold": 2, "limited_transmit": True},
    ),
}


@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("bare", [True, False])
def test_changes_from_the_command_line(
    case: str, bare: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, expected = CHANGES[case]
    table = '{ kind = "new-reno", limited_transmit = false, duplicate_threshold = 5 }'
    if bare:
        # No setting of the file remains to be kept.
        table = '"new-reno"'
        expected = {k: v for k, v in expected.items() if (k, v) not in (
            ("duplicate_threshold", 5), ("limited_transmit", False))}  # fmt: skip
    file = tmp_path / "scenario.toml"
    file.write_text(OBS.read_text("utf-8").replace('recovery = "sack"', f"recovery = {table}"))
    options = [part for change in given for part in ("--set", f"transport.{change}")]
    assert main(["run", str(file), *options, "--format", "json"]) == 0
    scenario = json.loads(capsys.readouterr().out)["provenance"]["scenario"]
    recovery = scenario["transport"]["recovery"]
    assert {key: recovery[key] for key in expected} == expected


def test_another_transport_has_its_own_defaults(scenario: lb.Scenario) -> None:
    """Defaults are not carried over: a timeout of 1 ms is no default of TCP."""
    saw = lb.load(ROOT / "examples/hybrid.toml")
    assert saw.with_(transport__kind="tcp").to_dict()["transport"] == (
        Tcp(segment_size="9 kB").model_dump(mode="json")
    )


def test_a_table_that_is_taken_out_is_not_kept_by_a_change_of_what_is_in_it() -> None:
    lossless = lb.load(OBS).with_({"loss": None, "loss.drops": [{"burst": 7}]})
    assert lossless.loss is not None
    assert lossless.loss.probability == 0


def test_the_lists_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    def listed(topic: str) -> str:
        assert main(["list", topic]) == 0
        return capsys.readouterr().out

    assert "rescue_retransmission" in listed("recoveries")
    assert "halving" in listed("congestion_controls")
    assert listed("presets").split() == ["rfc", "ns-2", "linux", "datacentre", "wide-area"]
