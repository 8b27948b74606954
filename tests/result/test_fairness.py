"""The division of shared links by flows, and the links that flows share."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import Plan, certain, compile_plan
from lightburst.result.fairness import busiest, link_use

if TYPE_CHECKING:
    from numpy.typing import NDArray

MS = 10**9  # picoseconds
NEVER = 2**64 - 1
TCP: dict[str, Any] = {"kind": "tcp", "preset": "wide-area"}
PAIRS: dict[str, Any] = {"kind": "pairs", "size": {"kind": "constant", "value": "400 kB"}}


def bottleneck(**tables: Any) -> lb.Scenario:
    """Two senders and two receivers; 0 and 1 send to 2 and 3, over 4 - 5 - 6 - 7."""
    return lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "obs-path",
                "host_pairs": 2,
                "access_rate": "100 Mb/s",
                "fibre_rate": "100 Mb/s",
            },
            "switching": {"kind": "electronic", "queue_size": "unlimited"},
            "transport": TCP,
            **tables,
        }
    )


def reno_beside_sack() -> lb.Scenario:
    """Each of the four flows loses the same; Reno waits for its timer."""
    reno = {"workload": PAIRS, "transport": {**TCP, "recovery": "reno"}}
    drops = [{"flow": flow, "segments": [40, 45]} for flow in range(4)]
    return bottleneck(groups={"reno": reno, "sack": {"workload": PAIRS}}, loss={"drops": drops})


def made(
    pairs: list[tuple[int, int]],
    links: list[tuple[int, int]],
    hosts: int,
    delay: list[int] | None = None,
    nodes: dict[str, NDArray[Any]] | None = None,
    **settings: Any,
) -> Plan:
    """A plan with flows between hosts, over links in the order of their sources."""
    ends = np.array(links, np.uint32).T
    source, destination = np.array(pairs, np.uint32).T
    return Plan(
        settings={
            "hosts": hosts,
            "nodes": int(ends.max()) + 1,
            "routing": {"kind": "shortest-path"},
            "groups": [{"transport": {}}],
            "label": None,
            **settings,
        },
        nodes=nodes or {},
        links={
            "from": ends[0],
            "to": ends[1],
            "delay_ps": np.array(delay or [1] * len(links), np.uint64),
        },
        flows={
            "source": source,
            "destination": destination,
            "start_ps": np.arange(len(pairs), dtype=np.uint64) * np.uint64(MS),
        },
    )


def found(plan: Plan, all_told: bool = True) -> list[set[int]]:
    """The links of each flow."""
    number = plan.flows["source"].size
    flow, link, told = certain.certain_links(plan, np.arange(number))
    assert told.all() == all_told
    assert len(set(zip(flow.tolist(), link.tolist(), strict=True))) == flow.size
    return [set(link[flow == i].tolist()) for i in range(number)]


def by_brute_force(plan: Plan, weight: NDArray[Any]) -> list[set[int]]:
    """Links between nodes that are next to each other on every one of all shortest paths."""
    ends = list(zip(plan.links["from"].tolist(), plan.links["to"].tolist(), strict=True))
    graph: nx.DiGraph[int] = nx.DiGraph()
    # The shortest of parallel links, which comes last.
    longest_first = sorted(zip(weight.tolist(), ends, strict=True), reverse=True)
    graph.add_edges_from((*pair, {"w": length}) for length, pair in longest_first)
    common = []
    for source, destination in zip(
        plan.flows["source"].tolist(), plan.flows["destination"].tolist(), strict=True
    ):
        paths = nx.all_shortest_paths(graph, source, destination, weight="w")
        steps = [set(pairwise(path)) for path in paths]
        common.append({ends.index(step) for step in set.intersection(*steps)})
    return common


@pytest.mark.parametrize("metric", ["hops", "delay"])
@pytest.mark.parametrize("seed", range(12))
def test_certain_links_are_those_of_all_shortest_paths(seed: int, metric: str) -> None:
    """In random graphs with parallel links, and other delays in the reverse direction."""
    random = np.random.default_rng(seed)
    hosts, switches = 12, 25
    tree = [(int(random.integers(i)), i) for i in range(1, switches)]
    more = [tuple(random.choice(switches, 2, replace=False).tolist()) for _ in range(3 * seed)]
    joined = [(hosts + a, hosts + b) for a, b in {*tree, *more}]
    joined += joined[:5]
    joined += [(host, hosts + int(random.integers(switches))) for host in range(hosts)]
    links = sorted([*joined, *((b, a) for a, b in joined)])
    pairs = [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    plan = made(
        pairs, links, hosts, random.integers(1, 4, len(links)).tolist(),
        routing={"kind": "shortest-path", "metric": metric},
    )  # fmt: skip
    weight = plan.links["delay_ps"] if metric == "delay" else np.ones(len(links), np.int64)
    assert found(plan) == by_brute_force(plan, weight)


@pytest.mark.parametrize("k", [2, 4])
def test_certain_links_of_a_fat_tree(k: int) -> None:
    shuffle = {"kind": "shuffle", "size": {"kind": "constant", "value": "1 kB"}}
    tree = {"topology": {"kind": "fat-tree", "k": k}, "workload": shuffle}
    plan = lb.run(bottleneck(**tree)).plan
    links = found(plan, all_told=k == 2)
    assert links == by_brute_force(plan, np.ones(plan.links["from"].size, np.int64))
    assert max(map(len, links)) == (6 if k == 2 else 2)


def test_two_hosts_on_one_link_or_one_switch() -> None:
    assert found(made([(0, 1), (1, 0)], [(0, 1), (1, 0)], 2)) == [{0}, {1}]
    assert found(made([(0, 1)], [(0, 2), (1, 2), (2, 0), (2, 1)], 2)) == [{0, 3}]


LINE = [(0, 2), (1, 3), (2, 0), (2, 3), (2, 3), (3, 1), (3, 2)]


def test_what_is_not_known_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certain, "MOST_STEPS", 1)
    plan = made([(0, 1)], LINE, 2)
    flow, link, told = certain.certain_links(plan, np.arange(1))
    assert flow.tolist() == [0, 0]
    assert link.tolist() == [0, 5]
    assert told.tolist() == [True, True, True, False, False, True, False]


def test_known_throughputs_to_the_bit() -> None:
    """The index of 1, 3 and 0 Mb/s; the fourth flow starts after the end. Two channels are one
    link.
    """
    plan = made([(0, 1), (0, 1), (0, 1), (0, 1)], LINE, 2)
    flows = {
        "received_ps": np.array([8 * MS, NEVER, NEVER, NEVER], np.uint64),
        "delivered_bytes": np.array([1000, 750, 0, 0], np.uint64),
    }
    use = link_use(plan, {"flows": flows, "totals": {"end_ps": 3 * MS}})
    assert use.throughput_bps.tolist()[:3] == pytest.approx([1e6, 3e6, 0], rel=1e-15)
    assert np.isnan(use.throughput_bps[3])
    number, index = use.by_link()
    assert number.tolist() == [3, 0, 0, 3, 3, 3, 0]
    assert index[[0, 3, 4, 5]].tolist() == pytest.approx([16 / 30] * 4, rel=1e-14)
    assert np.isnan(index[[1, 2, 6]]).all()
    assert use.over(4).tolist() == [0, 1, 2]


# Hosts 0 and 1 at the switches 2 and 3, which are joined directly (3, 6) and over 4 (4, 9; 7, 8).
TRIANGLE = [(0, 2), (1, 3), (2, 0), (2, 3), (2, 4), (3, 1), (3, 2), (3, 4), (4, 2), (4, 3)]


def on_paths(label: str, *paths: list[int]) -> Plan:
    """Three flows from 0 to 1, with given paths, and one back."""
    columns: dict[str, NDArray[Any]] = {
        "path_source": np.full(len(paths), 2, np.uint32),
        "path_destination": np.full(len(paths), 3, np.uint32),
        "path_offsets": np.cumsum([0, *map(len, paths)], dtype=np.uint64),
        "path_links": np.array([link for path in paths for link in path], np.uint32),
    }
    return made([(0, 1), (0, 1), (0, 1), (1, 0)], TRIANGLE, 2, nodes=columns, label=label)


def test_links_on_all_the_paths_that_a_label_can_stand_for() -> None:
    way, direct, back = {0, 4, 9, 5}, {0, 3, 5}, {1, 6, 2}
    assert found(on_paths("first", [4, 9], [3])) == [way, way, way, back]
    assert found(on_paths("first", [3], [4, 9])) == [direct, direct, direct, back]
    for label in ("first", "random", "hash"):
        assert found(on_paths(label, [4, 9])) == [way, way, way, back]
    for label in ("random", "hash"):
        assert found(on_paths(label, [4, 9], [3])) == [{0, 5}, {0, 5}, {0, 5}, back]


def test_known_throughputs_on_a_given_path_to_the_bit() -> None:
    """The index of 1, 3 and 0 Mb/s, as on shortest paths; one flow alone in the other direction."""
    flows = {
        "received_ps": np.array([8 * MS, NEVER, NEVER, 4 * MS], np.uint64),
        "delivered_bytes": np.array([1000, 750, 0, 100], np.uint64),
    }
    use = link_use(on_paths("hash", [4, 9]), {"flows": flows, "totals": {"end_ps": 5 * MS}})
    assert use.throughput_bps.tolist() == pytest.approx([1e6, 1.5e6, 0, 8e5], rel=1e-15)
    number, index = use.by_link()
    assert number.tolist() == [3, 1, 1, 0, 3, 3, 1, 0, 0, 3]
    assert index[[0, 4, 5, 9]].tolist() == pytest.approx([6.25 / (3 * 3.25)] * 4, rel=1e-14)
    assert np.isnan(np.delete(index, [0, 4, 5, 9])).all()
    assert use.told.all()


def mesh(**routing: Any) -> lb.Scenario:
    """Six cities around a ring with two chords, two wavelengths, a flow for each pair."""
    ends = [*zip("abcdef", "bcdefa", strict=True), ("a", "d"), ("b", "e")]
    return lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "graph",
                "links": [{"source": a, "target": b, "length": "1 km"} for a, b in ends],
                "hosts_per_node": 1,
                "wavelengths": 2,
            },
            "routing": routing,
            "switching": {"kind": "electronic"},
            "transport": {"kind": "tcp"},
            "workload": {"kind": "shuffle", "size": {"kind": "constant", "value": "9 kB"}},
            "measurement": {"trace": range(30)},
        }
    )


ROUTES = [
    {"source": a, "destination": b, "path": list(way)}
    for a, b, way in (("a", "c", "adc"), ("a", "c", "abc"), ("c", "a", "cba"), ("d", "f", "dabef"))
]


@pytest.mark.parametrize("label", ["first", "random", "hash"])
@pytest.mark.parametrize("routing", [{"paths": 2}, {"paths": 3, "routes": ROUTES}])
def test_certain_links_are_on_all_paths_and_were_taken(label: str, routing: dict[str, Any]) -> None:
    """Links of the paths in the plan, and of those that packets took, hop by hop."""
    result = lb.run(mesh(label=label, **routing), seed=3)
    plan, links = result.plan, found(result.plan)
    fibres = list(zip(result.links["source"], result.links["target"], strict=True))
    given: dict[tuple[int, int], list[set[Any]]] = {}
    ends = (plan.nodes[f"path_{name}"].tolist() for name in ("source", "destination"))
    for i, pair in enumerate(zip(*ends, strict=True)):
        begin, end = plan.nodes["path_offsets"][i : i + 2]
        path = plan.nodes["path_links"][int(begin) : int(end)]
        given.setdefault(pair, []).append({fibres[link] for link in path})
    of_pair, passed = {}, {}
    hops = result.trace.hops
    for i, (a, b) in enumerate(zip(plan.flows["source"], plan.flows["destination"], strict=True)):
        switches = int(plan.links["to"][a]), int(plan.links["to"][b])
        paths = given[switches][:1] if label == "first" else given[switches]
        certain_fibres = {fibres[link] for link in links[i]}
        assert len(certain_fibres) == len(links[i]), "wavelengths of a fibre are one link"
        assert certain_fibres - {fibres[a], fibres[b][::-1]} == set.intersection(*paths)
        of_pair[int(a), int(b)] = certain_fibres
        taken = hops[hops["flow"] == i]
        passed[int(a), int(b)] = set(zip(taken["link_source"], taken["link_target"], strict=True))
    for (a, b), fibre in passed.items():
        both = of_pair[a, b] | of_pair[b, a]
        assert both <= fibre
        assert label != "first" or both == fibre


def test_no_fibre_is_certain_where_bursts_are_deflected() -> None:
    assembly = {"kind": "timer", "time": "0 s"}
    switching = {"kind": "obs", "assembly": assembly, "contention": ["deflection"]}
    plan = compile_plan(mesh().with_(switching=switching), 1)
    _, link, told = certain.certain_links(plan, np.arange(plan.flows["source"].size))
    assert (told == ~plan.between_switches).all()
    assert set(link.tolist()) == set(np.flatnonzero(told).tolist())


def test_jain_index() -> None:
    assert lb.jain_index([2, 2, 2]) == 1
    assert lb.jain_index([0, 0, 5, 0]) == 0.25
    assert lb.jain_index(pd.Series([1.0, 3.0])) == 16 / 20
    assert np.isnan(lb.jain_index([]))
    assert np.isnan(lb.jain_index([0, 0]))


def test_two_equal_flows_share_their_bottleneck_evenly() -> None:
    result = lb.run(bottleneck(workload=PAIRS))
    rows = result.links.set_index(["source", "target"])
    flows, index = (rows[name].to_dict() for name in ("flows", "jain_index"))
    for fibre in ((4, 5), (5, 6), (6, 7)):
        assert flows[fibre] == 2
        assert 0.99 < index[fibre] < 1
    # One flow for each host, and only acknowledgements in the reverse direction.
    assert flows[0, 4] == flows[7, 3] == 1
    assert flows[6, 5] == flows[3, 7] == 0
    assert rows["jain_index"].notna().sum() == 3
    assert result.links.query("source == 5 and target == 6")["flows"].item() == 2


def test_reno_beside_sack_on_the_middle_fibre() -> None:
    result = lb.run(reno_beside_sack())
    flows = result.flows
    speed = 8 * flows["delivered_bytes"] / flows["completion_time_s"]
    row = result.links.query("source == 5 and target == 6").iloc[0]
    assert row["flows"] == 4
    assert row["jain_index"] == pytest.approx(lb.jain_index(speed), rel=1e-12)
    assert 0.5 < row["jain_index"] < 0.99
    shared = result.fairness
    assert shared is not None
    assert shared.group_throughput_bps == pytest.approx(
        speed.groupby(flows["group"], observed=True).mean().to_dict()
    )
    assert shared.group_throughput_bps["sack"] > 1.2 * shared.group_throughput_bps["reno"]
    busiest = result.links[result.links["flows"] == 4]["utilisation"].max()
    assert shared.utilisation == busiest


def test_where_flows_have_a_choice_their_number_is_missing() -> None:
    """It was 0 on busy links."""
    flows = {**PAIRS, "kind": "shuffle"}
    result = lb.run(bottleneck(workload=flows, topology={"kind": "fat-tree", "k": 4}))
    hosts = (result.links["source"] < 16) | (result.links["target"] < 16)
    assert (result.links.loc[~hosts, "bytes"] > 0).any()
    assert result.links["flows"].notna().equals(hosts)
    assert (result.links.loc[hosts, "flows"] > 0).any()


def test_flows_that_do_not_count_have_a_share_all_the_same() -> None:
    """The utilisation is that of all flows, and so is the index beside it."""
    late = {**PAIRS, "kind": "incast", "senders": 2, "rounds": 2, "interval": "1 s"}
    whole = lb.run(bottleneck(workload=late))
    late_ones = whole.flows[whole.flows["received_s"] > 0.5]
    # In the second case some flows of the first round are over by then.
    assert 2 <= len(late_ones) < 4
    for warm_up, there in (("1 us", whole.flows), ("500 ms", late_ones)):
        result = lb.run(bottleneck(workload=late, measurement={"warm_up": warm_up}))
        assert (len(result.flows), result.flows["counted"].sum()) == (4, 2)
        senders = there["source"].value_counts().reindex(range(4), fill_value=0)
        assert result.links["flows"].iloc[:4].tolist() == senders.tolist()
        same = result.links["jain_index"].equals(whole.links["jain_index"])
        assert same == (warm_up == "1 us")


def test_what_is_below_zero_has_no_index() -> None:
    with pytest.raises(lb.InputError, match=r"values: given -1\.0; allowed: numbers not below 0"):
        lb.jain_index([1, -1])


def test_a_run_prints_how_fair_it_was(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "beside.toml"
    file.write_text(reno_beside_sack().to_toml(), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    out = capsys.readouterr().out
    line = r"Jain's index 0\.\d\d over the 4 flows of link \d - \d \(utilisation 0\.\d\d\)\n"
    assert re.search(line, out)
    assert re.search(r"throughput on \d - \d, mean +│ [\d.]+ kb/s +│ [\d.]+ Mb/s", out)
    assert main(["run", str(file), "--format", "json", "--out", str(tmp_path / "out")]) == 0
    shared = json.loads(capsys.readouterr().out)["fairness"]
    assert shared == json.loads((tmp_path / "out/run.json").read_text("utf-8"))["fairness"]
    names = ["source", "target", "flows", "utilisation", "jain_index", "together"]
    names.append("group_throughput_bps")
    assert shared["together"] is True
    assert list(shared) == names
    kept = pd.read_parquet(tmp_path / "out/links.parquet")
    row = kept.query(f"source == {shared['source']} and target == {shared['target']}").iloc[0]
    assert {name: row[name] for name in names[2:5]} == {name: shared[name] for name in names[2:5]}


@pytest.mark.parametrize(("later", "together"), [(0, True), (1, False)])
def test_flows_are_together_until_the_first_has_ended(later: int, together: bool) -> None:
    """One flow that starts a picosecond before the other ends, and one that starts just then."""
    plan = made([(0, 2), (1, 2)], [(0, 3), (1, 3), (2, 3), (3, 0), (3, 1), (3, 2)], 3)
    plan.flows["start_ps"][:] = [0, 5 * MS - 1 + later]
    received = np.array([5 * MS, NEVER], np.uint64)
    delivered = np.array([1000, 1000], np.uint64)
    flows = {"received_ps": received, "delivered_bytes": delivered}
    use = link_use(plan, {"flows": flows, "totals": {"end_ps": 9 * MS}})
    shared = busiest(plan, np.full(6, 0.5), use)
    assert shared is not None
    assert (shared.source, shared.target, shared.flows) == (3, 2, 2)
    assert shared.together == together


def test_an_index_over_flows_that_were_not_together_is_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Those of the second round come a second after the others have ended."""
    file = tmp_path / "apart.toml"
    late = {**PAIRS, "kind": "incast", "senders": 3, "rounds": 2, "interval": "1 s"}
    apart = bottleneck(groups={"early": {"workload": PAIRS}, "late": {"workload": late}})
    assert lb.run(apart).record["jain_index"] is None
    file.write_text(apart.to_toml(), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    assert "Jain" not in capsys.readouterr().out
    assert main(["run", str(file), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["fairness"]["together"] is False


def test_runs_with_groups_have_an_index_with_an_interval(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    beside = reno_beside_sack().with_(
        {f"groups.{name}.workload.spread": "1 ms" for name in ("reno", "sack")}
    )
    runs = lb.replicate(beside, 3, progress=False)
    alone = [lb.run(beside, seed).fairness for seed in runs["seed"]]
    assert runs["jain_index"].tolist() == [one.jain_index for one in alone if one is not None]
    assert runs["jain_index"].nunique() == 3
    Path("beside.toml").write_text(beside.to_toml(), encoding="utf-8")
    assert main(["run", "beside.toml", "--replications", "3"]) == 0
    mean = f"{runs['jain_index'].mean():.4g}"
    assert re.search(rf"Jain's index, busiest shared link +│ +{mean} \(", capsys.readouterr().out)


def test_runs_of_one_group_do_not_pay_for_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    result = lb.run(bottleneck(workload=PAIRS))
    monkeypatch.setattr("lightburst.simulation.completed.link_use", None)
    assert "jain_index" not in result.record


def test_a_run_without_a_shared_link_says_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one = bottleneck(workload=PAIRS).with_({"topology.host_pairs": 1})
    file = tmp_path / "one.toml"
    file.write_text(one.to_toml(), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    assert "Jain" not in capsys.readouterr().out
    assert main(["run", str(file), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["fairness"] is None
