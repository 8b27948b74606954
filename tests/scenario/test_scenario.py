"""Scenarios: reading, changing, writing, and the schema."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightburst import _core
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.scenario import KINDS, Scenario, load, schema
from lightburst.scenario.switching import AllOptical, Electronic, Hybrid
from lightburst.scenario.tables.routing import HashChoice
from lightburst.scenario.tables.sizes import Constant, Lognormal
from lightburst.scenario.tables.topology import FatTree, Graph, PathTopology
from lightburst.scenario.tables.workload import Incast, Poisson, Shuffle, Table
from lightburst.scenario.transport import Datagram, Saw, Sawl

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
SCHEMA = schema()
LEAST = """
[topology]
kind = "fat-tree"
[switching]
kind = "hybrid"
[transport]
kind = "sawl"
[workload]
kind = "poisson"
arrival_rate = "1e7 /s"
"""


def scenario(text: str = LEAST) -> Scenario:
    return Scenario.from_dict(tomllib.loads(text))


def test_defaults_are_those_of_the_paper() -> None:
    # minakhmetov2018, section 2; values that it leaves open are as in docs/scenario.md.
    made = scenario()
    assert made.topology == FatTree(k=8, link_length="10 m", link_rate="10 Gb/s")
    assert made.topology.propagation == 5000.0
    assert made.routing_choice == "free"
    assert isinstance(made.switching, Hybrid)
    assert (made.switching.buffer_ports, made.switching.buffer_size) == (2, None)
    assert (made.switching.switching_time, made.switching.header_processing_time) == (0, 0)
    assert made.switching.re_emission == "after-reception"
    transport = made.transport
    assert isinstance(transport, Sawl)
    assert (transport.alpha, transport.beta, transport.p) == (1.1, 0.5, 4.0)
    assert (transport.initial_timeout, transport.max_timeout) == (10**9, 60 * 10**12)
    assert (transport.segment_size, transport.header_size, transport.control_size) == (9000, 0, 64)
    workload = made.workload
    assert isinstance(workload, Poisson)
    assert (workload.arrival_rate, workload.flows) == (1e7, 1024)
    assert workload.size == Lognormal(mu=9.48, sigma=2.45663283, max="16 MiB")
    assert made.measurement.time_limit == 1000 * 10**12
    assert made.measurement.energy is None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_example_loads_compiles_and_survives_writing(path: Path) -> None:
    loaded = load(path)
    again = Scenario.from_dict(tomllib.loads(loaded.to_toml()))
    assert again == loaded
    assert again.canonical_json() == loaded.canonical_json()
    assert compile_plan(again, 1).digest() == compile_plan(loaded, 1).digest()


def test_there_are_the_examples_that_the_documentation_names() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names >= {"hybrid", "electronic", "incast", "shuffle", "path", "graph", "flows", "obs"}


def test_hybrid_and_electronic_differ_in_one_word() -> None:
    hybrid = (ROOT / "examples/hybrid.toml").read_text(encoding="utf-8").split()
    electronic = (ROOT / "examples/electronic.toml").read_text(encoding="utf-8").split()
    differing = [pair for pair in zip(hybrid, electronic, strict=True) if pair[0] != pair[1]]
    assert differing == [('"hybrid"', '"electronic"')]


def test_files_are_relative_to_the_scenario_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flows.csv").write_text("source,destination,start_s,size_bytes\n0,1,0,1\n")
    text = LEAST.partition("[workload]")[0] + '[workload]\nkind = "table"\nfile = "flows.csv"\n'
    (tmp_path / "here.toml").write_text(text)
    monkeypatch.chdir(tmp_path.parent)
    loaded = load(Path(tmp_path.name) / "here.toml")
    assert loaded.workload == Table(file=Path(tmp_path.name) / "flows.csv")
    assert load(tmp_path / "here.toml").workload == Table(file=tmp_path / "flows.csv")


class TestWith:
    """`Scenario.with_`."""

    def test_one_field(self) -> None:
        changed = scenario().with_(switching__buffer_ports=5)
        assert changed.switching == Hybrid(buffer_ports=5)
        assert changed.topology == scenario().topology

    def test_a_nested_field_and_several_at_once(self) -> None:
        changed = scenario().with_({"workload.size.mu": 9.0, "topology.k": 4}, transport__p=0)
        assert isinstance(changed.workload, Poisson)
        assert changed.workload.size == Lognormal(mu=9.0, sigma=2.45663283, max="16 MiB")
        assert isinstance(changed.transport, Sawl)
        assert (changed.topology, changed.transport.p) == (FatTree(k=4), 0)

    def test_another_kind_keeps_what_it_knows(self) -> None:
        before = scenario().with_(
            switching__buffer_ports=5, switching__header_processing_time="3 ns"
        )
        electronic = before.with_(switching__kind="electronic")
        assert electronic.switching == Electronic(header_processing_time="3 ns")
        assert before.with_({"switching.kind": "all-optical"}).switching == AllOptical(
            header_processing_time="3 ns"
        )
        assert before.with_(transport__kind="saw", transport__segment_size="1500 B").transport == (
            Saw(segment_size="1500 B")
        )
        path = scenario().with_({"topology.links": 3, "topology.kind": "path"})
        assert path.topology == PathTopology(links=3)

    def test_another_kind_of_size(self) -> None:
        changed = scenario().with_(
            {"workload.size.kind": "constant", "workload.size.value": "9 kB"}
        )
        assert isinstance(changed.workload, Poisson)
        assert changed.workload.size == Constant(value="9 kB")

    def test_a_bare_size_is_short_for_a_constant_one(self) -> None:
        size = Constant(value="9 kB")
        written = {"kind": "constant", "value": "9 kB"}
        for bare in ("9 kB", 9000, "9000 B"):
            changed = scenario().with_(workload__size=bare)
            assert changed == scenario().with_(workload__size=size)
            assert changed.to_dict()["workload"]["size"] == written
            assert Scenario.from_dict(changed.to_dict()) == changed

    def test_whole_tables(self) -> None:
        changed = scenario().with_(
            transport=Saw(), workload={"kind": "incast", "senders": 3}, switching=AllOptical()
        )
        assert (changed.transport, changed.workload) == (Saw(), Incast(senders=3))

    @pytest.mark.parametrize(
        ("path", "text", "value"),
        [
            ("switching.buffer_ports", "5", 5),
            ("transport.p", "1.5", 1.5),
            ("topology.link_rate", "40 Gb/s", 40 * 10**9),
            ("switching.buffer_size", "unlimited", None),
            ("switching.buffer_size", "90 kB", 90_000),
            ("routing.choice", "flow-hash", HashChoice()),
            ("name", "5", "5"),
            ("name", '"in quotes"', "in quotes"),
            ("name", "'half", "'half"),
            ("workload.size", '{ kind = "constant", value = "9 kB" }', Constant(value="9 kB")),
        ],
    )
    def test_text_as_on_the_command_line(self, path: str, text: str, value: object) -> None:
        found: Any = scenario().with_({path: text})
        for part in path.split("."):
            found = getattr(found, part)
        assert found == value

    def test_none_takes_a_field_out(self) -> None:
        limited = scenario().with_(switching__buffer_size="1 MB")
        assert limited.with_(switching__buffer_size=None) == scenario()

    def test_a_table_that_was_not_there(self) -> None:
        changed = scenario().with_({"measurement.energy.switch_oe": "2 pJ/b"})
        assert changed.measurement.energy is not None
        assert changed.measurement.energy.switch_oe == 2e-12
        assert changed.measurement.energy.host_transmit == 0

    @pytest.mark.parametrize(
        ("changes", "path", "allowed"),
        [
            ({"switching.bufer_ports": 5}, "switching.bufer_ports", "did you mean 'buffer_ports'"),
            ({"swiching.buffer_ports": 5}, "swiching", "did you mean 'switching'"),
            ({"switching.kind": "optical"}, "switching.kind", "'all-optical', 'hybrid'"),
            ({"name.x": 5}, "name.x", "'name' is not a table"),
            ({"switching": "hybrid"}, "switching", "a table with a kind"),
            ({"switching.queue_size": "1 MB"}, "switching.queue_size", "for kind 'electronic'"),
            ({"topology.k": "5"}, "topology.k", "an even whole number"),
            ({"topology.k": "true"}, "topology.k", "an even whole number"),
        ],
    )
    def test_what_cannot_be(self, changes: dict[str, object], path: str, allowed: str) -> None:
        with pytest.raises(InputError) as caught:
            scenario().with_(changes)
        assert caught.value.path == path
        assert allowed in caught.value.allowed

    def test_nothing_is_changed_in_place(self) -> None:
        before = scenario()
        before.with_(topology__k=4)
        before.with_({"switching.layers.edge.kind": "electronic"})
        assert before == scenario()
        assert before.switching.layers == {}


class TestCanonicalJson:
    """`Scenario.canonical_json`, which the store of runs is keyed by."""

    def test_is_one_line_of_everything_but_the_name(self) -> None:
        text = scenario().canonical_json()
        values = json.loads(text)
        assert "\n" not in text
        assert "name" not in values
        assert values["transport"]["p"] == 4.0
        assert values["switching"]["buffer_size"] == "unlimited"
        assert scenario().with_(name="other").canonical_json() == text

    def test_tells_every_difference(self) -> None:
        changes: list[dict[str, Any]] = [
            {"topology.link_length": "11 m"},
            {"routing.choice": "random"},
            {"switching.re_emission": "cut-through"},
            {"transport.p": 0},
            {"workload.size.max": "unlimited"},
            {"measurement.time_limit": "1 s"},
        ]
        texts = {scenario().with_(change).canonical_json() for change in changes}
        assert len(texts | {scenario().canonical_json()}) == len(changes) + 1

    def test_tracing_makes_no_other_scenario(self) -> None:
        assert scenario().with_({"measurement.trace": [0]}).canonical_json() == (
            scenario().canonical_json()
        )

    def test_unlimited_is_not_the_default(self) -> None:
        electronic = scenario().with_(switching__kind="electronic")
        unlimited = electronic.with_(switching__queue_size="unlimited")
        assert unlimited.canonical_json() != electronic.canonical_json()
        assert Scenario.from_dict(tomllib.loads(unlimited.to_toml())) == unlimited

    def test_follows_the_contents_of_files_and_not_their_names(self, tmp_path: Path) -> None:
        first, second = tmp_path / "a.csv", tmp_path / "b.csv"
        first.write_text("source,destination,start_s,size_bytes\n0,1,0,1\n")
        second.write_text(first.read_text())
        of = [scenario().with_(workload=Table(file=file)) for file in (first, second)]
        assert of[0].canonical_json() == of[1].canonical_json()
        second.write_text("source,destination,start_s,size_bytes\n0,1,0,2\n")
        assert of[0].canonical_json() != of[1].canonical_json()
        first.unlink()
        with pytest.raises(InputError, match=r"^workload.file: "):
            of[0].canonical_json()


def test_scenarios_are_values() -> None:
    assert scenario() == scenario()
    assert len({scenario(), scenario(), scenario().with_(name="x")}) == 2
    with pytest.raises(ValueError, match="frozen"):
        setattr(scenario(), "name", "x")  # noqa: B010 - mypy knows that it cannot be set


def test_scenarios_can_be_made_of_pieces() -> None:
    made = Scenario(
        topology=FatTree(k=4),
        switching=Electronic(ecn_threshold="90 kB"),
        transport=Datagram(rate="1 Gb/s"),
        workload=Shuffle(spread="1 ms"),
    )
    assert Scenario.from_dict(made.to_dict()) == made
    links = [{"source": "a", "target": "b", "length": "1 km"}, {"source": "b", "target": "c"}]
    graph = made.with_(topology=Graph(links=links))
    assert Scenario.from_dict(tomllib.loads(graph.to_toml())) == graph


@given(
    k=st.integers(1, 64).map(lambda half: 2 * half),
    metres=st.floats(0, 1e9),
    p=st.floats(0, 100),
    ports=st.integers(0, 2),
    seconds=st.integers(1, 10**15),
    maximum=st.integers(10**4, 10**9),
    rate=st.floats(1e-3, 1e12),
)
def test_any_scenario_survives_writing_and_reading(
    k: int, metres: float, p: float, ports: int, seconds: int, maximum: int, rate: float
) -> None:
    made = scenario().with_(
        {
            "topology.k": k,
            "topology.link_length": f"{metres!r} m",
            "transport.p": p,
            "switching.buffer_ports": ports,
            "measurement.time_limit": f"{seconds} ps",
            "workload.size.max": f"{maximum} B",
            "workload.arrival_rate": f"{rate!r} /s",
        }
    )
    assert Scenario.from_dict(tomllib.loads(made.to_toml())) == made


class TestSchema:
    """The JSON schema."""

    @pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
    def test_allows_the_examples_as_written_and_in_full(self, path: Path) -> None:
        jsonschema.Draft7Validator.check_schema(SCHEMA)
        jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), SCHEMA)
        jsonschema.validate(load(path).to_dict(), SCHEMA)

    def test_allows_a_range_and_a_word_for_a_number(self) -> None:
        values = tomllib.loads((ROOT / "examples/obs.toml").read_text(encoding="utf-8"))
        for window in ("rfc3390", 1):
            values["transport"]["initial_window"] = window
            values["loss"]["drops"] = [{"segments": [20, 24]}]
            jsonschema.validate(values, SCHEMA)
        for key, value in (("initial_window", "rfc1"), ("initial_window", 0)):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(values | {"transport": {"kind": "tcp", key: value}}, SCHEMA)
        for ends in ([20], [0, 1], [1, 2, 3], "1-2"):
            values["loss"]["drops"] = [{"segments": ends}]
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(values, SCHEMA)

    @pytest.mark.parametrize(
        ("table", "key", "value"),
        [
            ("topology", "k", 5),
            ("topology", "k", 130),
            ("topology", "link_rate", "10 gb/s"),
            ("topology", "kind", "fat-three"),
            ("switching", "bufer_ports", 2),
            ("transport", "beta", 1),
            ("workload", "flows", 0),
        ],
    )
    def test_refuses_what_is_refused(self, table: str, key: str, value: object) -> None:
        values = tomllib.loads(LEAST)
        values[table][key] = value
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(values, SCHEMA)
        with pytest.raises(InputError):
            Scenario.from_dict(values)

    def test_describes_every_field(self) -> None:
        for name, table in SCHEMA["definitions"].items():
            for key, field in table["properties"].items():
                assert key == "kind" or "description" in field, f"{name}.{key}"


def test_kinds() -> None:
    expected = {
        "topologies": ("fat-tree", "path", "graph", "obs-path", "nsfnet"),
        "switches": ("all-optical", "hybrid", "electronic", "burst"),
        "assemblies": ("timer", "size", "mixed"),
        "transports": ("saw", "sawl", "tcp", "datagram", "bursts"),
        "congestion_controls": ("reno", "stop-and-wait"),
        "recoveries": ("tahoe", "reno", "new-reno", "sack", "sack1"),
        "workloads": ("poisson", "shuffle", "pairs", "incast", "table"),
        "choices": ("free", "random", "flow-hash"),
        "distributions": ("websearch", "hadoop"),
    }
    # More results are allowed.
    missing = {topic: set(names) - set(KINDS[topic]) for topic, names in expected.items()}
    assert not any(missing.values()), missing
    assert "bounded-pareto" in KINDS["sizes"]


@pytest.mark.parametrize(
    "topic",
    [
        *("switches", "assemblies", "schedulers", "signallings", "resolvers", "transports"),
        *("congestion_controls", "recoveries", "choices", "queues", "forwardings"),
    ],
)
def test_the_core_knows_the_same_names(topic: str) -> None:
    assert sorted(_core.registry()[topic]) == sorted(KINDS[topic])
