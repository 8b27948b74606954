"""Plans of burst switching, losses, TCP and traces: the input of the simulator."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lightburst.compile import Plan, compile_plan, estimate_memory, memory
from lightburst.foundation import memory as free
from lightburst.foundation.errors import InputError
from lightburst.measurement import flow_trace
from lightburst.scenario import Scenario, load
from lightburst.scenario.tables.topology import Graph
from lightburst.scenario.transport import Tcp
from lightburst.scenario.transport.tcp import INITIAL_WINDOWS

ROOT = Path(__file__).parents[2]
INITIAL = json.loads((ROOT / "tests/data/tcp_vectors.json").read_text(encoding="utf-8"))["iw"]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load(ROOT / "examples/obs.toml")


#: Settings whose form in the plan differs from that in the scenario.
TRANSPORT = {
    "segment_bytes": 1000,
    "header_bytes": 0,
    "control_bytes": 64,
    "initial_window_bytes": 10_000,
    "advertised_window_bytes": 50_000,
    "acknowledgement_delay_ps": 40 * 10**9,
    "initial_timeout_ps": 10**12,
    "min_timeout_ps": 10**12,
    "max_timeout_ps": 60 * 10**12,
    "clock_granularity_ps": 10**9,
    "access_buffer_bytes": None,
}


def test_times_sizes_and_windows_of_tcp(scenario: Scenario) -> None:
    """Times in ps, and windows in useful bytes; test_settings_of_kinds.py has the rest."""
    assert TRANSPORT.items() <= compile_plan(scenario, 1).transports[0].items()
    changed = scenario.with_(
        transport__header_size="40 B", transport__initial_window=3, transport__access_buffer="9 kB"
    )
    found = compile_plan(changed, 1).transports[0]
    assert (
        found.items()
        >= {
            **TRANSPORT,
            "header_bytes": 40,
            "initial_window_bytes": 3 * 960,
            "advertised_window_bytes": 50 * 960,
            "access_buffer_bytes": 9000,
        }.items()
    )
    assert not {"preset", "initial_window", "advertised_window"} & found.keys()


def test_as_many_sack_blocks_as_fit_unless_they_are_given(scenario: Scenario) -> None:
    """RFC 2018, section 3: four blocks fit in the 40 bytes of options, three beside time stamps."""
    stamped = scenario.with_({"transport.timestamps": True})
    assert compile_plan(stamped, 1).transports[0]["recovery"]["sack_blocks"] == 3
    assert stamped.to_dict()["transport"]["recovery"]["sack_blocks"] == 3
    assert Scenario.from_dict(stamped.to_dict()) == stamped
    assert stamped.with_({"transport.timestamps": False}) == scenario
    # A given number stays as it is, and may then not fit.
    two, four = (scenario.with_({"transport.recovery.sack_blocks": n}) for n in (2, 4))
    both = two.with_({"transport.timestamps": True})
    assert compile_plan(both, 1).transports[0]["recovery"]["sack_blocks"] == 2
    assert four.canonical_json() == scenario.canonical_json()
    with pytest.raises(InputError, match=r"sack_blocks: given 4; .* from 1 to 3 with timestamps"):
        four.with_({"transport.timestamps": True})


def test_only_those_who_have_it_remember_what_was_sent_at_a_loss(scenario: Scenario) -> None:
    """`recover` is from RFC 6582; RFC 5681 has none. A given value stays as it is."""
    for recovery, remembers in (
        ("tahoe", False),
        ("reno", False),
        ("new-reno", True),
        ("sack1", True),
    ):
        changed = scenario.with_({"transport.recovery": recovery})
        assert compile_plan(changed, 1).transports[0]["recovery"]["bug_fix"] is remembers
        assert changed.with_({"transport.recovery": "sack"}) == scenario
        for given in (True, False):
            kept = scenario.with_({"transport.recovery": {"kind": "new-reno", "bug_fix": given}})
            kept = kept.with_(transport__recovery__kind=recovery)
            assert compile_plan(kept, 1).transports[0]["recovery"]["bug_fix"] is given


@pytest.mark.parametrize("vector", INITIAL, ids=lambda vector: str(vector["SMSS"]))
@pytest.mark.parametrize("rfc", INITIAL_WINDOWS)
def test_initial_windows_are_those_of_the_rfcs(rfc: str, vector: dict[str, int]) -> None:
    # Windows count the useful bytes of a segment, without its header.
    segment = vector["SMSS"]
    tcp = Tcp(segment_size=f"{segment + 40} B", header_size="40 B", initial_window=rfc)
    assert tcp.initial_window_bytes == vector[rfc]


@pytest.mark.parametrize(
    ("assembly", "settings"),
    [
        ({"kind": "timer", "time": "1 ms"}, {"time_ps": 10**9}),
        (
            {"kind": "timer", "time": "0 s", "max_size": "9 kB", "min_size": "2 kB"},
            {"time_ps": 0, "max_bytes": 9000, "min_bytes": 2000},
        ),
        ({"kind": "size", "size": "50 kB"}, {"size_bytes": 50_000}),
        (
            {"kind": "mixed", "size": "50 kB", "time": "2 us"},
            {"size_bytes": 50_000, "time_ps": 2_000_000},
        ),
        (
            {"kind": "window-based", "medium_time": "4 ms", "fast_window": 32},
            {
                "slow_time_ps": 10**9,
                "medium_time_ps": 4 * 10**9,
                "fast_time_ps": 10**10,
                "medium_window": 16,
                "fast_window": 32,
                "acknowledgements": "slow",
            },
        ),
        (
            {"kind": "multi-queue", "time": "1 ms"},
            {"time_ps": 10**9, "allocation": {"kind": "a-priori", "queues": 2}},
        ),
        (
            {"kind": "multi-queue", "time": "1 ms", "allocation": "a-posteriori"},
            {
                "time_ps": 10**9,
                "allocation": {
                    "kind": "a-posteriori",
                    "queues": 2,
                    "notice_delay_ps": None,
                    "forget_after_ps": 10**13,
                },
            },
        ),
        (
            {"kind": "multi-queue", "time": "1 ms", "allocation": "per-flow"},
            {"time_ps": 10**9, "allocation": {"kind": "per-flow"}},
        ),
        ({"kind": "average-delay", "time": "1 ms"}, {"time_ps": 10**9}),
    ],
    ids=["timer", "limits", "size", "mixed", "window", "queues", "apart", "flows", "average"],
)
def test_settings_of_burst_switching(
    scenario: Scenario, assembly: dict[str, Any], settings: dict[str, Any]
) -> None:
    limits = {"kind": assembly["kind"], "max_bytes": None, "min_bytes": None}
    changed = scenario.with_(switching__assembly=assembly, switching__switching_time="3 ns")
    assert compile_plan(changed, 1).settings["switches"] == [
        {
            "kind": "burst",
            "switching_time_ps": 3000,
            "assemble_acknowledgements": True,
            "assembly": limits | settings,
        }
    ]


def test_settings_of_losses_and_traces(scenario: Scenario) -> None:
    drops = [
        {"burst": 7},
        {"segments": [20, 24]},
        {"segments": [20, 24], "transmission": 2},
        {"window": 40},
        {"acknowledgements": [3, 9]},
    ]
    plan = compile_plan(
        scenario.with_(
            {"loss.drops": drops, "loss.probability": 0, "measurement.trace": [0, 0]},
            loss__acknowledgement_probability=1,
        ),
        1,
    )
    assert plan.settings["loss"] == {
        "probability": 0.0,
        "acknowledgement_probability": 1.0,
        "drops": [
            {"flow": 0, "burst": 7},
            {"flow": 0, "segments": [20, 24], "transmission": 1},
            {"flow": 0, "segments": [20, 24], "transmission": 2},
            {"flow": 0, "window": 40},
            {"flow": 0, "acknowledgements": [3, 9]},
        ],
    }
    assert plan.settings["trace"] == [0]
    assert json.loads(json.dumps(plan.settings)) == plan.settings
    without = compile_plan(scenario.with_(loss=None), 1)
    assert not {"loss", "trace"} & without.settings.keys()
    assert "lossy" not in without.links


def lossy(plan: Plan) -> set[tuple[int, int]]:
    """Nodes at the ends of the lossy links."""
    assert plan.links["lossy"].dtype == np.uint8
    at = plan.links["lossy"].astype(bool)
    ends = zip(plan.links["from"][at].tolist(), plan.links["to"][at].tolist(), strict=True)
    return set(ends)


def test_where_an_obs_path_loses(scenario: Scenario) -> None:
    # Hosts 0 and 1, edges 2 and 5, cores 3 and 4: lost on the link from an edge to a core.
    assert lossy(compile_plan(scenario, 1)) == {(2, 3), (5, 4)}
    fibres = {(2, 3), (3, 4), (4, 5)}
    every = compile_plan(scenario.with_(loss__on="every-link"), 1)
    assert lossy(every) == fibres | {(b, a) for a, b in fibres}
    # Two edges and no core: from one edge to the other.
    assert lossy(compile_plan(scenario.with_(topology__core_nodes=0), 1)) == {(2, 3), (3, 2)}


def test_where_other_networks_lose(scenario: Scenario) -> None:
    electronic = scenario.with_(switching={"kind": "electronic"})
    path = electronic.with_(topology={"kind": "path", "links": 4})
    assert lossy(compile_plan(path, 1)) == {(2, 3), (4, 3)}
    tree = compile_plan(electronic.with_(topology={"kind": "fat-tree", "k": 4}), 1)
    # Edge switches 16..24 have the hosts; each has two links to aggregations.
    assert {a for a, _ in lossy(tree)} == set(range(16, 24))
    assert {b for _, b in lossy(tree)} == set(range(24, 32))
    assert len(lossy(tree)) == 16
    every = compile_plan(
        electronic.with_(topology={"kind": "fat-tree", "k": 4}, loss__on="every-link"), 1
    )
    assert len(lossy(every)) == 2 * (16 + 16)
    # A star has one switch: no link between two of them.
    links = [{"source": "s", "target": name} for name in "abcd"]
    with pytest.raises(InputError, match=r"^loss: given a network without a link between two"):
        compile_plan(electronic.with_(topology=Graph(links=links)), 1)


def test_losses_and_drops_change_the_plan_and_traces_do_not_change_the_flows(
    scenario: Scenario,
) -> None:
    plans = [
        compile_plan(scenario.with_(changes), 1)
        for changes in (
            {"loss": None},
            {"loss.probability": 0.02},
            {"loss.on": "every-link"},
            {"loss.drops": [{"burst": 7}]},
            {"transport.recovery": "reno"},
            {"switching.assembly.time": "2 ms"},
            {"measurement.trace": [0]},
        )
    ]
    assert len({plan.digest() for plan in plans}) == len(plans)
    for plan in plans:
        assert np.array_equal(plan.flows["bytes"], plans[0].flows["bytes"])


def test_a_plan_has_no_setting_of_a_mechanism_that_is_off(scenario: Scenario) -> None:
    plan = compile_plan(scenario.with_(loss=None), 1)
    optional = {"balance", "bookings", "bursts", "displacement_threshold", "label", "loss"}
    optional |= {"fair", "sample_ps", "synchronisation", "trace", "window"}
    assert not optional & plan.settings.keys()
    assert None not in plan.settings.values()


def test_links_of_hosts_may_be_slower_than_fibres_and_fibres_are_alike(scenario: Scenario) -> None:
    slow = compile_plan(scenario.with_(topology__access_rate="10 kb/s"), 1)
    assert set(slow.links["rate_bps"].tolist()) == {10_000, 80 * 10**9}
    with pytest.raises(InputError, match="topology: given links from 1 Gb/s to 80 Gb/s"):
        compile_plan(scenario.with_(switching={"kind": "all-optical"}), 1)
    links = [
        {"source": "a", "target": "x", "rate": "1 Gb/s"},
        {"source": "x", "target": "y"},
        {"source": "y", "target": "z", "rate": "40 Gb/s"},
        {"source": "z", "target": "b", "rate": "2 Gb/s"},
    ]
    with pytest.raises(InputError, match="links between switches from 10 Gb/s to 40 Gb/s"):
        compile_plan(scenario.with_(topology=Graph(links=links)), 1)
    links[2]["rate"] = "10 Gb/s"
    alike = compile_plan(scenario.with_(topology=Graph(links=links)), 1)
    assert set(alike.links["rate_bps"].tolist()) == {10**9, 2 * 10**9, 10**10}


def test_a_single_edge_has_no_fibres_to_compare(scenario: Scenario) -> None:
    star = Graph(links=[{"source": "s", "target": name} for name in "abcd"])
    plan = compile_plan(scenario.with_(topology=star, loss=None), 1)
    assert plan.settings["hosts"] == 4


def test_windows_that_outlast_the_clock_are_refused(scenario: Scenario) -> None:
    # 2,000,000 segments of 1 kB at 1 kb/s wait for 16 million seconds; a window of 50 does not.
    slow = {
        "topology.access_rate": "1 kb/s",
        "workload.size": {"kind": "constant", "value": "2 GB"},
    }
    compile_plan(scenario.with_(slow), 1)
    with pytest.raises(InputError, match=r"^topology.link_rate: given 1 kb/s for segments of 1 kB"):
        compile_plan(scenario.with_(slow, transport__advertised_window=2_000_000), 1)
    # A flow cannot have more bytes waiting than its size.
    little = slow | {"workload.size": {"kind": "constant", "value": "10 MB"}}
    compile_plan(scenario.with_(little, transport__advertised_window=2_000_000), 1)


@pytest.mark.parametrize(
    ("assembly", "largest"),
    [
        # 1000 s at 1 Gb/s and a segment; 0.9 GB and a segment; the window of one flow.
        ({"kind": "timer", "time": "1000 s"}, "125000001 kB"),
        ({"kind": "size", "size": "1 GB"}, "1000001 kB"),
        ({"kind": "mixed", "size": "1 GB", "time": "1000 s"}, "1000001 kB"),
    ],
    ids=["timer", "size", "mixed"],
)
def test_bursts_that_could_grow_too_large_need_a_limit(
    scenario: Scenario, assembly: dict[str, Any], largest: str
) -> None:
    wide = scenario.with_(
        {
            "switching.assembly": assembly,
            "workload.size": {"kind": "constant", "value": "1 TB"},
            "transport.advertised_window": 10**9,
            "topology.fibre_rate": "1 Tb/s",
        }
    )
    with pytest.raises(InputError) as caught:
        compile_plan(wide, 1)
    assert caught.value.path == "switching.assembly.max_size"
    assert caught.value.given == f"'unlimited', and bursts of up to {largest} could be assembled"
    compile_plan(wide.with_({"switching.assembly.max_size": "1 GB"}), 1)
    compile_plan(wide.with_(transport__advertised_window=1000), 1)


class TestMemory:
    """The estimate of the memory: windows and traces."""

    def test_of_windows(self, scenario: Scenario) -> None:
        changes = {
            "topology.host_pairs": 100,
            "workload.size": {"kind": "constant", "value": "1 GB"},
        }
        small, large = (
            estimate_memory(
                compile_plan(scenario.with_(changes, transport__advertised_window=w), 1)
            )
            for w in (1, 1001)
        )
        # Packets, and records; the number of records is a power of two, at least four.
        assert large - small == 100 * (1000 * 200 + (1024 - 4) * 16)
        # A flow of ten segments that begins with two has at most five in flight.
        ten = changes | {"workload.size": {"kind": "constant", "value": "9001 B"}}
        ten |= {"transport.initial_window": 2, "transport.acknowledge_every": 2}
        four, five, many = (
            estimate_memory(compile_plan(scenario.with_(ten, transport__advertised_window=w), 1))
            for w in (4, 5, 1000)
        )
        assert five == many == four + 100 * (200 + (8 - 4) * 16)

    def test_of_traces(self, scenario: Scenario) -> None:
        def needed(changes: dict[str, Any]) -> int:
            return estimate_memory(compile_plan(scenario.with_(changes), 1))

        traced = {"measurement.trace": [0]}
        # Ten thousand segments over five links, or as many as 1 Gb/s carries in a millisecond: 125.
        # Each segment is sent and received, with an acknowledgement of every second one.
        each = 1.5 * (2 * flow_trace._BYTES_PER_EVENT + 5 * flow_trace._BYTES_PER_HOP)
        each += 0.5 * flow_trace._BYTES_PER_WINDOW
        assert needed(traced) - needed({}) == pytest.approx(10_000 / 0.99**2 * each, rel=1e-3)
        short = traced | {"measurement.time_limit": "1 ms"}
        assert needed(short) - needed({}) == pytest.approx(125 * each, rel=0.01)

    def test_of_queues_at_edges_and_of_ordered_segments(self, scenario: Scenario) -> None:
        def needed(changes: dict[str, Any]) -> int:
            return estimate_memory(compile_plan(scenario.with_(changes), 1))

        # A fat-tree of k = 4 has eight edges, the path two.
        tree = {"topology": {"kind": "fat-tree", "k": 4}}
        optical = needed(tree | {"switching": {"kind": "all-optical"}})
        assert needed(tree) - optical == 8**2 * memory._BYTES_PER_QUEUE
        drops = {"loss.drops": [{"segments": [11, 1010]}, {"burst": 7}]}
        assert needed(drops) - needed({}) == 1000 * memory._BYTES_PER_ORDERED_SEGMENT

    def test_too_much_is_refused(self, scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(free, "available_memory", lambda: 8 * 2**30)
        endless = scenario.with_({"workload.size": {"kind": "constant", "value": "1000 TB"}})
        estimate_memory(compile_plan(endless, 1))
        with pytest.raises(InputError) as caught:
            estimate_memory(compile_plan(endless.with_({"measurement.trace": [0]}), 1))
        assert caught.value.path == "measurement.trace"
        words = "flow 0, whose trace until measurement.time_limit (1000 s) has up to 125,000,000"
        assert caught.value.given.startswith(words)
        assert caught.value.allowed.endswith(": 8.0 GiB of memory are free")
