"""Bursts that edges make themselves: exact times, no hosts, counts, and refusals."""

from typing import Any

import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.result import metrics
from obs_scenarios import GOOD as OF_HOSTS

# The network of `test_obs`, with slow and long links of the hosts: no burst goes over them.
SLOW = {"rate": "1 Mb/s", "length": "500 km"}
LINKS: list[dict[str, Any]] = [
    {**link, **SLOW} if "rate" in link else link for link in OF_HOSTS["topology"]["links"]
]
GOOD: dict[str, Any] = {
    **OF_HOSTS,
    "topology": {**OF_HOSTS["topology"], "links": LINKS},
    "transport": {"kind": "bursts"},
    "workload": {"kind": "pairs", "size": "125 kB"},
}
# Two fibres of 10 us, and 125 kB at 10 Gb/s.
LIGHT_PS, BURST_PS = 20_000_000, 100_000_000
# 5 us, and 3 us for each fibre.
OFFSET_PS = 11_000_000


def made(**changes: Any) -> lb.Scenario:
    """Return the good scenario with some changes."""
    return lb.Scenario.from_dict(GOOD).with_(**changes)


def test_a_flow_is_a_burst_that_takes_offset_and_light() -> None:
    result = lb.run(made(), seed=1)
    flow = result.flows.iloc[0]
    assert round(flow["completion_time_s"] * 1e12) == OFFSET_PS + LIGHT_PS + BURST_PS
    ideal_ps = flow["completion_time_s"] / flow["slowdown"] * 1e12
    assert round(ideal_ps) == LIGHT_PS + BURST_PS
    assert result.summary["bursts"] == 1


def test_without_headers_there_is_no_offset() -> None:
    assembly = {"kind": "timer", "time": "1 ms"}
    burst = made(switching={"kind": "burst", "assembly": assembly}, topology__wavelengths=1)
    flow = lb.run(burst, seed=1).flows.iloc[0]
    assert round(flow["completion_time_s"] * 1e12) == LIGHT_PS + BURST_PS


def test_a_stream_sends_bursts_at_its_rate() -> None:
    # 300 kB in two bursts of 125 kB and one of 50 kB, one every 400 us.
    stream = {"kind": "bursts", "segment_size": "125 kB", "rate": "2.5 Gb/s"}
    result = lb.run(made(transport=stream, workload__size="300 kB"), seed=1)
    flow = result.flows.iloc[0]
    last_ps = 2 * 400_000_000 + BURST_PS * 50 // 125
    assert round(flow["completion_time_s"] * 1e12) == last_ps + OFFSET_PS + LIGHT_PS
    assert (flow["transmissions"], result.summary["bursts"]) == (3, 3)


def test_nothing_goes_over_the_links_of_hosts() -> None:
    links = lb.run(made(), seed=1).links.set_index(["source", "target"])["bytes"]
    assert links[[("a", "A"), ("B", "b")]].tolist() == [0, 0]
    assert links[[("A", "C"), ("C", "B")]].tolist() == [125_000, 125_000]


def test_they_are_lost_as_datagrams_are_whose_hosts_take_no_time() -> None:
    fast = {"rate": "1000 Tb/s", "length": "0 m"}
    links = [dict(link, **fast) if "rate" in link else link for link in LINKS]
    links += [{"source": "C", "target": "D"}, {"source": "D", "target": "d", **fast}]
    crowd = made(
        topology__links=links,
        topology__wavelengths=1,
        switching__assembly={"kind": "size", "size": "1 B"},
        switching__ingress="lose",
        workload={
            "kind": "poisson",
            "arrival_rate": "20000 /s",
            "flows": 2000,
            "size": {"kind": "exponential", "mean": "125 kB", "max": "1 MB"},
        },
    )
    datagram = {"kind": "datagram", "segment_size": "1 MB", "spacing": "constant"}
    of_edges, of_hosts = (
        lb.run(crowd.with_(**changes), seed=1) for changes in ({}, {"transport": datagram})
    )
    lost = of_edges.switches["dropped_no_channel"].sum()
    assert 500 < lost < 1500
    assert (of_edges.flows["status"] == of_hosts.flows["status"]).all()
    assert lost == of_hosts.switches["dropped_no_channel"].sum()


def test_a_trace_follows_them_from_edge_to_edge() -> None:
    result = lb.run(made(measurement__trace=[0], measurement__network={}), seed=1)
    assert result.trace is not None
    segments = result.trace.segments
    assert segments["event"].tolist() == ["sent", "arrived"]
    assert segments["node"].tolist() == ["A", "B"]
    assert segments["link"].isna().all()
    burst = result.trace.bursts.iloc[0]
    assert (burst["node"], burst["egress"], burst["packets"]) == ("A", "B", 1)


def test_lost_bursts_do_not_wait_for_the_timers_of_connections() -> None:
    """After all data is sent, only a timer of TCP expires; no bursts are sent in that time."""
    tcp = {"kind": "tcp", "preset": "wide-area"}
    pair = {"kind": "pairs", "size": "100 kB"}
    crowd = {"kind": "poisson", "arrival_rate": "100000 /s", "flows": 100, "size": "125 kB"}
    tables = {key: table for key, table in GOOD.items() if key not in ("workload", "transport")}
    scenario = lb.Scenario.from_dict(
        {
            **tables,
            "switching": {**GOOD["switching"], "ingress": "lose"},
            "groups": {
                "edges": {"transport": {"kind": "bursts"}, "workload": crowd},
                "hosts": {"transport": tcp, "workload": pair},
            },
        }
    ).with_(topology__links=OF_HOSTS["topology"]["links"])
    result = lb.run(scenario, seed=1)
    edges = result.flows[result.flows["group"] == "edges"]
    assert {*edges["status"]} == {"finished", "lost"}
    # Except for the close of the connection, a few round trips; a timer takes a second.
    ends_s = (result.flows["start_s"] + result.flows["completion_time_s"])[
        result.flows["status"] == "finished"
    ]
    makespan_s = result.metrics["makespan_s"]
    assert isinstance(makespan_s, float)
    assert makespan_s == pytest.approx(ends_s.max() - result.flows["start_s"].min(), abs=5e-3)
    # The group itself does not include the packets that the connection sends after its bursts.
    row = result.groups.loc["edges"]
    own_s = ends_s[edges.index.intersection(ends_s.index)].max() - edges["start_s"].min()
    assert own_s < makespan_s / 5
    assert row["throughput_bps"] == pytest.approx(8 * row["delivered_bytes"] / own_s, rel=0.01)
    # With bursts alone the last event is that of a burst.
    alone_s = lb.run(made(workload=crowd), seed=1).metrics["makespan_s"]
    assert isinstance(alone_s, float)
    assert alone_s < makespan_s


def test_what_is_lost_has_no_delay() -> None:
    """Bursts that arrive have a delay, and the loss has the number that did not."""
    crowd = {"kind": "poisson", "arrival_rate": "20000 /s", "flows": 200, "size": "125 kB"}
    scenario = made(workload=crowd, switching__ingress="lose", topology__wavelengths=1)
    result = lb.run(scenario, seed=1)
    flows, summary = result.flows, result.summary
    lost = flows["status"] == "lost"
    assert summary["unfinished"] == lost.sum() == summary["burst_loss"] * 200 > 10
    times = flows["completion_time_s"]
    assert times[lost].isna().all()
    assert times[~lost].notna().all()
    # The same offset and light for each.
    assert summary["completion_time_p99_s"] == pytest.approx(summary["completion_time_mean_s"])
    assert summary["completion_time_mean_s"] == pytest.approx(times[~lost].mean())
    assert result.metric("mean of completion_time") == summary["completion_time_mean_s"]
    worst = metrics.worst_flow(result.plan, result.columns)
    assert flows["status"][worst] == "lost"
    # A burst cut off by the time limit is no loss: it would have arrived.
    limit_ps = round(float(flows["start_s"].iloc[-1]) * 1e12) + 1_000_000
    with pytest.warns(lb.RunWarning, match="did not finish before the time limit"):
        cut = lb.run(scenario.with_(measurement__time_limit=f"{limit_ps} ps"), seed=1)
    assert cut.summary["completion_time_mean_s"] == float("inf")


def test_what_became_of_one_can_be_asked() -> None:
    explained = lb.explain_burst(made(topology__wavelengths=1), 0, seed=1)
    assert explained.about["outcome"] == "arrived"


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "packets": (
        {"switching": {"kind": "electronic"}, "topology__wavelengths": 1},
        "transport.kind",
        "'bursts' among switches of kind 'electronic'",
    ),
    "one switch": (
        {"topology__links": [*LINKS, {"source": "c", "target": "A"}]},
        "transport.kind",
        "at A",
    ),
    "no size": ({"transport__segment_size": "0 B"}, "transport.segment_size", "0 B"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_is_refused(name: str) -> None:
    changes, path, given = CASES[name]
    with pytest.raises(InputError) as error:
        lb.run(made(workload={"kind": "shuffle", "size": "1 kB"}).with_(**changes), seed=1)
    assert error.value.path == path
    assert given in error.value.given


def test_who_draws_pairs_of_one_switch_is_told_how_not_to() -> None:
    links = [*LINKS, {"source": "c", "target": "A"}]
    drawn = {"kind": "poisson", "load": 0.1, "flows": 50, "size": "125 kB"}
    scenario = made(workload=drawn, topology__links=links)
    with pytest.raises(InputError) as error:
        lb.run(scenario, seed=1)
    assert error.value.allowed.endswith("such as workload.between = 'edges' draws")
    assert lb.run(scenario.with_(workload__between="edges"), seed=1).metrics["flows"] == 50


def test_the_assembly_has_no_say_in_their_size() -> None:
    small = {"kind": "size", "size": "10 kB", "max_size": "20 kB"}
    assert lb.run(made(switching__assembly=small), seed=1).summary["bursts"] == 1
    least = {"kind": "size", "size": "10 kB", "min_size": "250 kB"}
    flow = lb.run(made(switching__assembly=least), seed=1).flows.iloc[0]
    assert round(flow["completion_time_s"] * 1e12) == OFFSET_PS + LIGHT_PS + 2 * BURST_PS


def without_assembly(**changes: Any) -> dict[str, Any]:
    """Return the good scenario and its switching without a rule for packets."""
    switching = {key: value for key, value in GOOD["switching"].items() if key != "assembly"}
    return {**GOOD, "switching": {**switching, **changes}}


@pytest.mark.parametrize("kind", ["obs", "burst"])
def test_a_rule_of_assembly_can_be_left_out_where_no_host_sends(kind: str) -> None:
    scenario = without_assembly()
    if kind == "burst":
        wavelength = {**GOOD["topology"], "wavelengths": 1}
        scenario = {**GOOD, "topology": wavelength, "switching": {"kind": "burst"}}
    without = lb.Scenario.from_dict(scenario)
    assert "assembly" not in without.to_dict()["switching"]
    given = without.with_(switching__assembly={"kind": "size", "size": "50 kB"})
    found = [lb.run(each, seed=1).columns for each in (without, given)]
    assert metrics.digest(found[0]) == metrics.digest(found[1])


@pytest.mark.parametrize("path", ["switching", "switching.nodes.B"])
def test_where_hosts_send_packets_it_is_needed(path: str) -> None:
    """Two groups, one of which has bursts of edges."""
    rule = GOOD["switching"]["assembly"]
    table = {"assembly": rule, "nodes": {"B": {"kind": "obs"}}} if path != "switching" else {}
    workload = {"kind": "pairs", "size": "125 kB"}
    groups = {
        "light": {"workload": workload, "transport": {"kind": "bursts"}},
        "hosts": {"workload": workload, "transport": {"kind": "tcp"}},
    }
    scenario = {**without_assembly(**table), "groups": groups}
    del scenario["workload"], scenario["transport"]
    with pytest.raises(InputError) as error:
        lb.Scenario.from_dict(scenario)
    assert (error.value.path, error.value.given) == (f"{path}.assembly", "nothing")
    kinds = "a table with a kind, one of 'timer', 'size', 'mixed'"
    assert error.value.allowed.startswith(kinds)
    assert error.value.allowed.endswith(": hosts send packets, which edges assemble")


@pytest.mark.parametrize("kind", ["obs", "burst"])
def test_a_load_is_of_the_wavelengths_out_of_the_edges(kind: str) -> None:
    """For any rate of the hosts' links, and any representation of wavelengths."""
    workload = {"kind": "poisson", "load": 0.6, "flows": 400, "size": "125 kB"}
    scenario = made(workload=workload, topology__wavelengths=4)
    if kind == "burst":
        assembly = {"kind": "timer", "time": "1 ms"}
        scenario = scenario.with_(switching={"kind": "burst", "assembly": assembly})
    else:
        scenario = scenario.with_(switching__offset_time="1 ms")
    result = lb.run(scenario, seed=1)
    links = result.links
    edges = set(links["target"][: result.plan.settings["hosts"]])
    out = links["source"].isin(edges) & result.plan.between_switches
    fibres = len(set(zip(links["source"][out], links["target"][out], strict=True)))
    # 10 Gb/s each: a burst takes 100 us of a wavelength.
    (load,) = result.offered.values()
    assert load.capacity_bps == fibres * 4 * 10**10
    assert load.arrival_rate == pytest.approx(0.6 * fibres * 4 / 100e-6)
    assert str(load).startswith(f"load 0.6 of {fibres * 40} Gb/s ({len(edges)} edges' fibres): ")
    expected = 400 / load.arrival_rate
    assert result.flows["start_s"].max() == pytest.approx(expected, rel=0.2)
    assert result.metrics["offered_load"] == pytest.approx(0.6, rel=0.2)
    # Packets of hosts go over their links, of 1 Mb/s each.
    assert result.plan.senders("datagram") == (load.hosts * 10**6, load.hosts, None)
