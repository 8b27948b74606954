"""Flows by a traffic matrix: shares by hand, by the closed forms of queues, and bad input."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_link_loads import LINE, loads, made

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.compile.offered import Pattern, link_loads, link_shares
from lightburst.foundation.errors import InputError
from lightburst.models import theory

Demands = list[dict[str, Any]]


def row(source: str, destination: str, weight: float | None = None) -> dict[str, Any]:
    """Return a demand."""
    given = {} if weight is None else {"weight": weight}
    return {"source": source, "destination": destination, **given}


def tree(demands: Demands, /, **changes: Any) -> lb.Scenario:
    """Return flows by demands in a fat-tree: hosts 0 to 15, edge switches 16 to 23."""
    workload = {"kind": "poisson", "load": 0.4, "flows": 20_000, "size": "9 kB"}
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "datagram"},
            "workload": {**workload, **({"demands": demands} if demands else {}), **changes},
        }
    )


def drawn(scenario: lb.Scenario) -> np.ndarray[Any, Any]:
    """Return the number of flows from each host to each other one."""
    plan = compile_plan(scenario, 1)
    hosts = plan.settings["hosts"]
    counts = np.zeros((hosts, hosts))
    np.add.at(counts, (plan.flows["source"], plan.flows["destination"]), 1)
    return counts


def test_flows_have_the_shares_of_the_weights() -> None:
    """A host to another one, an edge to another one, and none with the weight 0."""
    counts = drawn(tree([row("0", "5", 3), row("17", "20", 1), row("3", "4", 0), row("16", "2")]))
    expected = np.zeros((16, 16))
    expected[0, 5] = 3 / 5
    expected[2:4, 8:10] = 1 / 5 / 4
    expected[0:2, 2] = 1 / 5 / 2
    assert counts[expected == 0].sum() == 0
    some = expected[expected > 0]
    seen = counts[expected > 0]
    chi_square = ((seen - 20_000 * some) ** 2 / (20_000 * some)).sum()
    # Six degrees of freedom, at 1 in 1000.
    assert chi_square < 22.5


def test_equal_demands_of_all_edges_offer_what_edges_offer() -> None:
    edges = [str(node) for node in range(16, 24)]
    every = [row(a, b) for a in edges for b in edges if a != b]
    one, other = tree(every), tree([], between="edges")
    found, wanted = (link_loads(each, compile_plan(each, 1)) for each in (one, other))
    assert found is not None
    assert wanted is not None
    assert (found.mean, found.largest) == pytest.approx((wanted.mean, wanted.largest), rel=1e-12)


def test_loads_of_a_line_by_hand() -> None:
    """Of four flows three go from A to D and one from C to B."""
    scenario = made(LINE, workload__demands=[row("A", "D", 3), row("C", "B")])
    # A has one fibre, C two: the load is of three.
    _, largest, link = loads(scenario)
    assert largest == pytest.approx(0.3 * 3 * 3 / 4)
    assert link == "A - B"
    hottest = scenario.with_(workload__load_of="hottest-link")
    assert loads(hottest)[1] == pytest.approx(0.3)


def test_the_load_is_of_the_hosts_that_send() -> None:
    scenario = tree([row("0", "5"), row("1", "5")])
    offered = lb.run(scenario.with_(workload__flows=100), seed=1).offered[""]
    assert (offered.hosts, offered.capacity_bps) == (2, 2 * 10**10)
    # Both hosts send 0.4 of their rate to one.
    _, largest, link = loads(scenario)
    assert largest == pytest.approx(0.8)
    assert link == "18 - 5"


def test_flows_within_an_edge_load_no_fibre() -> None:
    scenario = tree([row("0", "1")])
    plan = compile_plan(scenario, 1)
    assert plan.network is not None
    found = link_loads(scenario, plan)
    assert found is not None
    assert found.mean == 0
    assert found.largest == pytest.approx(0.4)


def test_erlang_of_one_demand() -> None:
    """Bursts of one demand meet no others: all that arrive at a fibre of 2 channels are lost by B.

    Erlang's B(2, a) = a^2 / 2 / (1 + a + a^2 / 2).
    """
    scenario = made(LINE, workload__demands=[row("A", "B")], workload__flows=40_000)
    # Of 2 wavelengths 0.3 each, and the header of a burst.
    a = 0.6 * (125_000 + scenario.flow_groups[0].transport.header_size) / 125_000
    loss = a * a / 2 / (1 + a + a * a / 2)
    assert theory.THEORIES["reduced-load"](scenario) == pytest.approx(loss, rel=1e-9)
    assert lb.run(scenario, seed=1).metrics["burst_loss"] == pytest.approx(loss, rel=0.06)


def test_priorities_of_two_senders_by_cobham() -> None:
    """Waiting times of a non-preemptive priority queue (Cobham 1954), to 3 %."""
    service, rates = 8e-6, {"high": 30_000.0, "low": 60_000.0}
    groups = {
        name: {
            "workload": {
                "kind": "poisson",
                "arrival_rate": rate,
                "duration": "1 s",
                "demands": [row(source, "c")],
                "size": "1000 B",
            }
        }
        for (name, rate), source in zip(rates.items(), "ab", strict=True)
    }
    links = [{"source": "a", "target": "s"}, {"source": "b", "target": "s"}]
    links.append({"source": "s", "target": "c", "rate": "1 Gb/s"})
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "link_rate": "1 Tb/s", "links": links},
            "switching": {
                "kind": "electronic",
                "queue_size": "unlimited",
                "queue": {"kind": "prio", "bands": {"high": 0}},
            },
            "transport": {"kind": "datagram", "segment_size": "1000 B"},
            "groups": groups,
        }
    )
    flows = lb.run(scenario, seed=3).flows
    waited = flows["received_s"] - flows["start_s"] - flows["ideal_s"]
    found = waited.groupby(flows["group"].astype(str)).mean()
    high, both = service * rates["high"], service * sum(rates.values())
    residual = sum(rates.values()) * service**2 / 2
    assert found["high"] == pytest.approx(residual / (1 - high), rel=0.03)
    assert found["low"] == pytest.approx(residual / (1 - high) / (1 - both), rel=0.03)


def test_a_file_is_the_table_in_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "matrix.csv"
    file.write_text("source, destination, weight\n0, 5, 3\n17, 20\n16, 2, 1e0\n")
    inline = tree([row("0", "5", 3), row("17", "20"), row("16", "2")])
    read = tree([], demands_file=str(file))
    assert (drawn(read) == drawn(inline)).all()
    before = read.canonical_json()
    assert "matrix" not in before  # by its content
    file.write_text("source,destination,weight\n0,5,3\n17,20,2\n16,2,1\n")
    assert read.canonical_json() != before
    assert (drawn(read) != drawn(inline)).any()


def test_circuits_are_offered_what_the_demands_say() -> None:
    """Direct circuits of 4 racks at 10 Gb/s carry a third of a link between two racks."""
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "racks", "racks": 4, "hosts_per_rack": 1, "uplinks": 1},
            "switching": {"kind": "circuit"},
            "transport": {"kind": "datagram"},
            "workload": {
                "kind": "poisson",
                "load": 0.5,
                "duration": "1 ms",
                "size": "9 kB",
                "demands": [row("rack0", "rack2")],
            },
        }
    )
    with pytest.warns(lb.RunWarning, match="rack0 to rack2"):
        lb.run(scenario, seed=1)


def test_shares_of_links_are_those_of_the_matrix() -> None:
    """In a fat-tree, which has no symmetry then: a quarter over each of two ways, twice."""
    scenario = tree([row("0", "15")])
    plan = compile_plan(scenario, 1)
    network = plan.network
    assert network is not None
    pattern = Pattern.of(scenario.workload, network)  # type: ignore[arg-type]
    shares = link_shares(network, plan.links["delay_ps"], scenario.routing, pattern, at_edges=False)
    assert shares is not None
    assert sorted(shares[shares > 0].tolist()) == [0.25] * 8 + [0.5] * 4 + [1.0] * 2


REFUSED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "no such place": (
        {"demands": [row("0", "5"), row("0", "99")]}, "demands", "demand 1: '99'", "names of hosts",
    ),
    "a core": ({"demands": [row("0", "32")]}, "demands", "demand 0: '32'", "switches with hosts"),
    "itself": ({"demands": [row("3", "3")]}, "demands", "3 to 3", "two different places"),
    "its own edge": (
        {"demands": [row("0", "16")]}, "demands", "0 to 16", "without a common host",
    ),
    "twice": (
        {"demands": [row("0", "1"), row("0", "1", 2)]}, "demands", "demand 1: 0 to 1",
        "in demand 0 as well",
    ),
    "no weight": ({"demands": [row("0", "1", 0)]}, "demands", "all have the weight 0", "above 0"),
    "none": ({"demands": []}, "demands", "no demand", "at least one"),
    "less than none": (
        {"demands": [row("0", "1", -1)]}, "demands[0].weight", "-1", "a number at least 0",
    ),
    "between": (
        {"demands": [row("0", "1")], "between": "edges"}, "between", "edges", "beside demands",
    ),
    "each edge": (
        {"demands": [row("0", "1")], "load": None, "arrival_rate_per_edge": "1 /s"},
        "arrival_rate_per_edge", "a rate for each edge", "beside demands",
    ),
    "file and list": (
        {"demands": [row("0", "1")], "demands_file": "x.csv"}, "demands_file", "demands as well",
        "one of",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be(case: str) -> None:
    workload, path, given, allowed = REFUSED[case]
    with pytest.raises(InputError) as caught:
        compile_plan(tree([], **workload), 1)
    assert caught.value.path == f"workload.{path}"
    assert given in caught.value.given
    assert allowed in caught.value.allowed


FILES = {
    "columns": ("from,to\n0,1\n", "from, to", "source, destination and, if wanted, weight"),
    "empty": ("source,destination\n", "which has no rows", "at least one demand"),
    "cells": ("source,destination\n0,1,2\n", "line 2: more values", "one value for each column"),
    "weight": ("source,destination,weight\n0,1,x\n", "line 2: weight 'x'", "a number, 0 or more"),
    "infinite": ("source,destination,weight\n0,1,1e999\n", "weight '1e999'", "a number, 0 or more"),
    "no name": ("source,destination\n,1\n", "line 2: ''", "as a name"),
    "place": ("source,destination\n0,1\n0,rack\n", "line 3: 'rack'", "names of hosts"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be(case: str, tmp_path: Path) -> None:
    text, given, allowed = FILES[case]
    file = tmp_path / "matrix.csv"
    file.write_text(text)
    scenario = tree([], demands_file=str(file))
    with pytest.raises(InputError) as caught:
        compile_plan(scenario, 1)
    assert caught.value.path == "workload.demands_file"
    assert given in caught.value.given
    assert allowed in caught.value.allowed
