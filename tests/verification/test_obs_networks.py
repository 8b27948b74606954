"""Losses of bursts in networks, against the fixed point of reduced loads, and its limits.

All headers are ahead by the same time everywhere, so each fibre makes reservations in the order
in which bursts arrive, as the theory assumes.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from lone_bursts import FAST, MEAN_S, Floats, interval, poisson, run

import lightburst as lb
from lightburst.models import erlang_b, reduced_load
from lightburst.models.burst_network import BurstNetwork
from lightburst.models.theory import THEORIES
from lightburst.scenario.tables.topology import NSFNET_NODES

SEEDS = range(1, 7)
LINE = ["ABCD", "AB", "BC", "CD"]


def lost(
    path: Path, routes: Sequence[str], loads: Sequence[float], wavelengths: int, count: int
) -> tuple[Floats, Floats]:
    """Share of the bursts of each route, and of all, that are lost in each run.

    Shapes (runs, routes) and (runs,). The routes are the only shortest paths, and each begins and
    ends at a host of its node.
    """
    fibres = sorted({tuple(sorted(link)) for route in routes for link in pairwise(route)})
    links: list[dict[str, Any]] = [{"source": a, "target": b} for a, b in fibres]
    links += [{"source": f"h{node}", "target": node, **FAST} for node in sorted({*"".join(routes)})]
    ends = [(f"h{route[0]}", f"h{route[-1]}") for route in routes]
    shares, whole = [], []
    for seed in SEEDS:
        bursts = poisson(np.random.default_rng([seed, count]), ends, loads, count)
        flows = run(path, bursts, links, wavelengths, seed).flows
        gone = flows["status"] == "lost"
        by_route = gone.groupby([flows["source"], flows["destination"]]).mean()
        shares.append([by_route[pair] for pair in ends])
        whole.append(gone.mean())
    return np.array(shares), np.array(whole)


def of_all_pairs(graph: nx.Graph) -> list[str]:
    """The shortest paths of a graph in which each pair has just one."""
    names = dict(zip(graph, "ABCDEFGHIJ", strict=False))
    paths = dict(nx.all_pairs_shortest_path(graph))
    return ["".join(names[node] for node in paths[a][b]) for a, b in permutations(graph, 2)]


@pytest.mark.parametrize("load", [0.2, 0.4, 0.6, 0.8, 1.0])
def test_a_line(tmp_path: Path, load: float) -> None:
    each = [2 * load] * 4
    theory = reduced_load(LINE, each, 4)
    shares, whole = lost(tmp_path, LINE, each, 4, 20_000)
    # Exact for one link without traffic from another.
    share, half = interval(shares[:, 1])
    assert theory.route_loss[1] == pytest.approx(float(erlang_b(4 * load, 4)))
    assert share == pytest.approx(theory.route_loss[1], abs=half)
    # Bursts that have met on the first link do not meet again: the loss on the long route is up to
    # a fifth below the fixed point, that of all together up to an eighth.
    for found, fixed, least in (
        (shares[:, 0], theory.route_loss[0], 0.8),
        (whole, theory.network_loss, 0.875),
    ):
        share, half = interval(found)
        assert least * fixed - half < share < fixed + half
        assert half < 0.25 * fixed


@pytest.mark.parametrize("load", [0.2, 0.4, 0.6, 0.8, 1.0])
@pytest.mark.parametrize(
    ("graph", "pairs", "tolerance"),
    [
        # The pairs whose bursts pass a link. In a ring most of them come from one link.
        (nx.petersen_graph(), 5, 0.05),
        (nx.cycle_graph(5), 3, 0.1),
        (nx.star_graph(5), 5, 0.05),
    ],
    ids=["petersen", "ring", "star"],
)
def test_networks_in_which_streams_meet(
    tmp_path: Path, graph: nx.Graph, pairs: int, tolerance: float, load: float
) -> None:
    routes = of_all_pairs(graph)
    each = [load * 4 / pairs] * len(routes)
    fixed = float(reduced_load(routes, each, 4).network_loss)
    share, half = interval(lost(tmp_path, routes, each, 4, 30_000)[1])
    assert (1 - tolerance) * fixed - half < share < fixed + half
    assert half < 0.2 * fixed


@pytest.mark.parametrize(("wavelengths", "load", "hops"), [(8, 6.4, 4), (4, 4.0, 3), (2, 0.4, 2)])
def test_the_tandem_for_which_the_fixed_point_is_wrong(
    tmp_path: Path, wavelengths: int, load: float, hops: int
) -> None:
    route = "ABCDE"[: hops + 1]
    fixed = float(reduced_load([route], [load], wavelengths).route_loss[0])
    true = float(reduced_load([route], [load], wavelengths, streamline=True).route_loss[0])
    share, half = interval(lost(tmp_path, [route], [load], wavelengths, 20_000)[1])
    assert share == pytest.approx(true, abs=half)
    assert half < (fixed - true) / 5


def all_pairs(topology: dict[str, Any], load: float) -> lb.Scenario:
    """Bursts of 100 us between all nodes of a mesh in which each pair has one shortest path."""
    return lb.Scenario.from_dict(
        {
            "topology": {"wavelengths": 8, **topology},
            "routing": {"metric": "delay"},
            "switching": {"kind": "obs", "ingress": "lose"},
            "transport": {"kind": "bursts"},
            "workload": {"kind": "poisson", "load": load, "flows": 200_000, "size": "125 kB"},
        }
    )


PETERSEN = {
    "kind": "graph",
    "hosts_per_node": 1,
    "link_length": "1 km",
    "links": [{"source": f"n{a}", "target": f"n{b}"} for a, b in nx.petersen_graph().edges],
}
# A thousandth of its length, so that no run is spent on filling the fibres.
NSFNET = {
    "kind": "nsfnet",
    "edges": list(NSFNET_NODES),
    "hosts_per_edge": 1,
    "lengths": "carobs",
    "propagation": "5 ps/m",
}


@pytest.mark.parametrize(
    ("topology", "load", "loss", "least", "most"),
    [
        (PETERSEN, 0.35, 0.0835, -0.03, -0.01),
        (PETERSEN, 0.44, 0.1625, -0.03, -0.01),
        (NSFNET, 0.15, 0.0807, -0.085, -0.055),
        (NSFNET, 0.2, 0.1600, -0.085, -0.055),
    ],
    ids=["petersen-8%", "petersen-16%", "nsfnet-8%", "nsfnet-16%"],
)
@pytest.mark.filterwarnings("ignore:the link .* is overloaded:lightburst.RunWarning")
def test_a_mesh_loses_less_than_the_fixed_point_the_more_so_the_less_streams_mix(
    topology: dict[str, Any], load: float, loss: float, least: float, most: float
) -> None:
    scenario = all_pairs(topology, load)
    fixed = THEORIES["reduced-load"].predict(scenario)
    assert fixed.value == pytest.approx(loss, rel=2e-3)
    # The theory itself reports for which of the two it is worse.
    assert fixed.broken == (("streams-meet",) if topology is NSFNET else ())
    network = BurstNetwork.from_scenario(scenario)

    def beside_theory(seed: int) -> float:
        # In pairs: the fixed point has the load that the run had.
        flows = lb.run(scenario, seed=seed).flows
        offered = sum(load.sum() for _, load in network.streams)
        factor = len(flows) * MEAN_S / flows["start_s"].max() / offered
        streams = [(ways, factor * load) for ways, load in network.streams]
        found = replace(network, streams=streams).loss()
        return float((flows["status"] == "lost").mean() / found) - 1

    mean, half = interval([beside_theory(seed) for seed in SEEDS])
    # docs/models.md prints these.
    assert least - half < mean < most + half
    assert half < 0.02
