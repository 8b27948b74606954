"""Plans: the input of the simulator."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import lightburst as lb
from lightburst import _core
from lightburst.compile import compile_plan, estimate_memory
from lightburst.foundation import memory
from lightburst.foundation.errors import InputError
from lightburst.result.metrics import digest
from lightburst.scenario import Scenario, load
from lightburst.scenario.tables.topology import Graph
from lightburst.scenario.transport import Datagram

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load(EXAMPLES / "hybrid.toml")


SAWL = {
    "kind": "sawl",
    "p": 4.0,
    "alpha": 1.1,
    "beta": 0.5,
    "initial_timeout_ps": 10**9,
    "max_timeout_ps": 60 * 10**12,
    "segment_bytes": 9000,
    "header_bytes": 0,
    "control_bytes": 64,
    "receiver_timers": False,
}
SETTINGS = {
    "hosts": 128,
    "nodes": 208,
    "routing": {"kind": "fat-tree", "k": 8, "wavelengths": 1},
    "choice": "free",
    "seed": 7,
    "time_limit_ps": 10**15,
    "switches": [
        {
            "kind": "hybrid",
            "buffer_ports": 2,
            "buffer_bytes": None,
            "re_emission": "after-reception",
            "switching_time_ps": 0,
        }
    ],
    "groups": [{"transport": SAWL}],
}


def test_settings_are_exactly_those_of_the_contract(scenario: Scenario) -> None:
    plan = compile_plan(scenario, 7)
    assert plan.settings == SETTINGS
    assert json.loads(json.dumps(plan.settings)) == SETTINGS


def test_settings_of_the_other_kinds(scenario: Scenario) -> None:
    def settings(**changes: Any) -> dict[str, Any]:
        return compile_plan(scenario.with_(**changes), 1).settings

    assert settings(switching__kind="all-optical")["switches"] == [
        {"kind": "all-optical", "switching_time_ps": 0}
    ]
    assert settings(switching__kind="electronic")["switches"] == [
        {"kind": "electronic", "queue_bytes": 900_000, "ecn_threshold_bytes": None}
    ]
    saw = SAWL | {"kind": "saw"}
    del saw["p"]
    assert settings(transport__kind="saw")["groups"] == [{"transport": saw}]
    (datagrams,) = settings(transport=Datagram(header_size="28 B"))["groups"]
    assert datagrams["transport"] == {
        "kind": "datagram",
        "segment_bytes": 9000,
        "header_bytes": 28,
        "control_bytes": 64,
    }
    path = settings(topology={"kind": "path", "links": 3})
    assert (path["hosts"], path["nodes"], path["routing"]) == (
        2,
        4,
        {"kind": "shortest-path", "metric": "hops"},
    )


def test_columns(scenario: Scenario) -> None:
    plan = compile_plan(scenario, 1)
    kinds = {name: column.dtype.name for name, column in (plan.links | plan.flows).items()}
    assert kinds == {
        "from": "uint32",
        "to": "uint32",
        "rate_bps": "uint64",
        "delay_ps": "uint64",
        "source": "uint32",
        "destination": "uint32",
        "start_ps": "uint64",
        "bytes": "uint64",
    }
    assert {column.size for column in plan.links.values()} == {768}
    assert {column.size for column in plan.flows.values()} == {1024}


def test_header_processing_is_in_the_delay_of_links_into_switches(scenario: Scenario) -> None:
    plan = compile_plan(scenario.with_(switching__header_processing_time="3 ns"), 1)
    into_switch = plan.links["to"] >= 128
    assert set(plan.links["delay_ps"][into_switch].tolist()) == {53_000}
    assert set(plan.links["delay_ps"][~into_switch].tolist()) == {50_000}
    # The shared network is unchanged.
    assert set(compile_plan(scenario, 1).links["delay_ps"].tolist()) == {50_000}


def test_the_same_flows_run_over_every_switch_and_transport(scenario: Scenario) -> None:
    first = compile_plan(scenario, 3).flows
    for changes in (
        {"switching.kind": "electronic"},
        {"switching.kind": "all-optical"},
        {"transport.kind": "saw"},
        {"transport": {"kind": "datagram"}},
        {"topology.link_length": "10 km", "routing.choice": "random"},
    ):
        flows = compile_plan(scenario.with_(changes), 3).flows
        assert all(np.array_equal(flows[name], first[name]) for name in first)


def test_datagrams(scenario: Scenario) -> None:
    changes = {"transport": {"kind": "datagram"}, "workload.flows": 50}
    plan = compile_plan(scenario.with_(changes), 1)
    counts = -(-plan.flows["bytes"].astype(int) // 9000)
    assert np.array_equal(np.diff(plan.flows["departure_offsets"].astype(int)), counts)
    assert plan.flows["departures_ps"].size == counts.sum()


def test_datagrams_beyond_the_time_limit_change_nothing(scenario: Scenario) -> None:
    changes = {"transport": {"kind": "datagram"}, "workload.flows": 50}
    whole = compile_plan(scenario.with_(changes), 1).flows
    short = scenario.with_(changes, measurement__time_limit="20 us")
    plan = compile_plan(short, 1)
    assert plan.flows["departures_ps"].size < whole["departures_ps"].size / 2
    settings = json.dumps(plan.settings)
    cut, all_of_them = (
        _core.simulate(settings, plan.nodes, plan.links, flows) for flows in (plan.flows, whole)
    )
    assert digest(cut) == digest(all_of_them)
    assert cut["totals"] == all_of_them["totals"]
    assert 0 < cut["flows"]["transmissions"].sum() < whole["departures_ps"].size
    # With another limit some departures are missing.
    longer = json.dumps(plan.settings | {"time_limit_ps": 10**12})
    with pytest.raises(ValueError, match=r"flow \d+ has \d+ departures"):
        _core.simulate(longer, plan.nodes, plan.links, plan.flows)


def test_datagrams_without_end(scenario: Scenario) -> None:
    """They were once refused because of the link's rate, which was irrelevant."""
    endless = scenario.with_(
        {
            "transport": {"kind": "datagram", "rate": "1 Gb/s", "segment_size": "1250 B"},
            "workload.flows": 3,
            "workload.size": {"kind": "constant", "value": "1000 TB"},
            "measurement.time_limit": "10 ms",
        }
    )
    result = lb.run(endless)
    # One each 10 us.
    assert result.flows["transmissions"].tolist() == pytest.approx([1000] * 3, abs=4 * 32)
    assert result.metrics["unfinished"] == 0


def beside_datagrams(scenario: Scenario, time_limit: str) -> Scenario:
    """Three endless open loops beside connections."""
    values = scenario.to_dict()
    flows, sender = values.pop("workload"), values.pop("transport")
    endless = flows | {"flows": 3, "size": {"kind": "constant", "value": "1000 TB"}}
    datagrams = {"kind": "datagram", "rate": "100 Mb/s", "segment_size": "1250 B"}
    groups = {
        "endless": {"workload": endless, "transport": datagrams},
        "others": {"workload": flows, "transport": sender},
    }
    limit = {"time_limit": time_limit}
    return Scenario.from_dict(values | {"groups": groups, "measurement": limit})


def test_datagrams_without_end_beside_others(scenario: Scenario) -> None:
    result = lb.run(beside_datagrams(scenario, "20 ms"))
    own = result.flows.query("group == 'endless'")
    # One each 100 us.
    assert own["transmissions"].tolist() == pytest.approx([200] * 3, abs=4 * 14)
    assert result.groups.loc["endless", "unfinished"] == 0


def test_too_many_datagrams_blame_what_makes_them_many(scenario: Scenario) -> None:
    many = beside_datagrams(scenario, "4000000 s").with_(topology__link_rate="200 Mb/s")
    with pytest.raises(InputError) as caught:
        compile_plan(many, 1)
    assert caught.value.path == "groups.endless.workload"
    for cause in ("a smaller size", "groups.endless.transport.rate", "measurement.time_limit"):
        assert cause in caught.value.allowed


def test_digests(scenario: Scenario) -> None:
    digest = compile_plan(scenario, 1).digest()
    assert digest == compile_plan(scenario, 1).digest()
    assert digest == compile_plan(scenario.with_(name="other"), 1).digest()
    others = [
        compile_plan(scenario, 2),
        compile_plan(scenario.with_(transport__p=1), 1),
        compile_plan(scenario.with_(topology__link_length="11 m"), 1),
        compile_plan(scenario.with_(workload__size__mu=9.0), 1),
    ]
    assert len({digest, *(plan.digest() for plan in others)}) == 5


def test_the_plan_of_today_is_the_plan_of_tomorrow(scenario: Scenario) -> None:
    # If this fails, the random numbers of NumPy have changed, or ours: earlier results have another
    # plan. Say so in the change log, and put in the new values.
    flows = compile_plan(scenario, 1).flows
    rows = zip(*(flows[name][:4].tolist() for name in GOLDEN_COLUMNS), strict=True)
    assert list(rows) == GOLDEN_ROWS


GOLDEN_COLUMNS = ("source", "destination", "start_ps", "bytes")
GOLDEN_ROWS = [
    (34, 5, 45342, 74634),
    (12, 39, 238664, 10005),
    (17, 101, 299955, 672),
    (99, 80, 341582, 4284),
]


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True, None])
def test_bad_seeds(scenario: Scenario, seed: Any) -> None:
    with pytest.raises(InputError, match=r"^seed: given .*; allowed: a whole number from 0 to"):
        compile_plan(scenario, seed)


def test_what_only_the_table_of_links_tells(scenario: Scenario, tmp_path: Path) -> None:
    links = [{"source": "s", "target": name} for name in "abc"]
    star = scenario.with_(topology=Graph(links=links))
    assert compile_plan(star, 1).settings["hosts"] == 3
    with pytest.raises(InputError) as caught:
        compile_plan(
            star.with_(switching__buffer_ports=4, workload={"kind": "incast", "senders": 3}), 1
        )
    assert [(error.path, error.given) for error in caught.value.errors] == [
        ("switching.buffer_ports", "4"),
        ("workload.senders", "3"),
    ]


def test_units_that_outlast_the_clock_are_refused(scenario: Scenario) -> None:
    slow = scenario.with_(topology__link_rate="1 b/s", transport__segment_size="1 GB")
    with pytest.raises(InputError, match=r"^topology.link_rate: given 1 b/s for segments of 1 GB"):
        compile_plan(slow, 1)


class TestMemory:
    """The estimate of the memory, and the refusal of runs that do not fit."""

    def test_of_a_small_run(self, scenario: Scenario) -> None:
        assert estimate_memory(compile_plan(scenario, 1)) < 2**27

    @pytest.mark.parametrize(
        "changes",
        [
            {"topology.k": 128, "workload.flows": 2**31},
            {"topology.k": 128, "workload": {"kind": "shuffle"}},
            {"workload": {"kind": "incast", "senders": 127, "rounds": 2**30, "interval": "1 ps"}},
            {
                "transport": {"kind": "datagram", "segment_size": "2 B", "header_size": "1 B"},
                "workload.flows": 10**5,
                "workload.size": {"kind": "constant", "value": "1 GB"},
            },
            {
                "topology": {
                    "kind": "graph",
                    "hosts_per_node": 16_000,
                    "links": [{"source": str(i), "target": str(i + 1)} for i in range(15)],
                }
            },
        ],
        ids=["flows", "shuffle", "incast", "datagrams", "routes"],
    )
    def test_too_much_is_refused_at_once(
        self, scenario: Scenario, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # The limit is that of a machine of this size; the peak of this process must stay far below.
        monkeypatch.setattr(memory, "available_memory", lambda: 8 * 2**30)
        large = scenario.with_(changes)
        before = psutil.Process().memory_info().rss
        with pytest.raises(InputError) as caught:
            compile_plan(large, 1)
        assert caught.value.path == "scenario"
        assert "GiB of memory" in caught.value.given
        assert caught.value.allowed == "one that fits into the 8.0 GiB that are free"
        assert psutil.Process().memory_info().rss - before < 2**30

    def test_the_plan_itself_is_checked_again(
        self, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan = compile_plan(scenario.with_(workload__flows=300_000), 1)
        monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
        with pytest.raises(InputError, match=r"^scenario: given one that needs about 0.2 GiB"):
            estimate_memory(plan)

    def test_what_is_free(self) -> None:
        assert 0 < memory.available_memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize("kind", ["all-optical", "hybrid"])
def test_cut_through_between_different_rates_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "links.csv").write_text("source,target,rate\na,s,\nb,s,40 Gb/s\n")
    values = {
        "topology": {"kind": "graph", "file": "links.csv"},
        "switching": {"kind": kind},
        "transport": {"kind": "saw"},
        "workload": {"kind": "poisson", "arrival_rate": "1 /s", "flows": 1}
        | {"size": {"kind": "constant", "value": "1 kB"}},
    }
    mixed = Scenario.from_dict(values, directory=tmp_path)
    with pytest.raises(InputError, match="topology: given links from 10 Gb/s to 40 Gb/s"):
        compile_plan(mixed, 1)
    assert compile_plan(mixed.with_(switching__kind="electronic"), 1).links["rate_bps"].max() > 1e10
