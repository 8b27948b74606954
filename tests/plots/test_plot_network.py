"""Networks as pictures: leaves below spines, names where no link is, directions side by side."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.plots.charts.places import free_sides, positions
from lightburst.report.network_map import network_charts

SPINES, LEAVES = [f"spine{i}" for i in range(4)], [f"leaf{i}" for i in range(8)]


def leaf_spine(hosts: int = 4) -> nx.DiGraph[Any]:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    for leaf, spine in itertools.product(LEAVES, SPINES):
        graph.add_edge(leaf, spine, utilisation=0.5, delay_s=1e-6)
        graph.add_edge(spine, leaf, utilisation=0.25, delay_s=1e-6)
    for leaf, host in itertools.product(LEAVES, range(hosts)):
        graph.add_edge(leaf, f"{leaf}/{host}", utilisation=0.1, delay_s=1e-6)
        graph.add_edge(f"{leaf}/{host}", leaf, utilisation=0.1, delay_s=1e-6)
    return graph


def one_of(canvas: Canvas) -> Axes:
    return canvas.axes[0]


def heights(axes: Axes) -> dict[str, float]:
    return {text.get_text(): text.xy[1] for text in axes.texts if text.get_text()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("hosts", [None, True, False])
def test_leaves_stand_below_spines_with_and_without_their_hosts(hosts: bool | None) -> None:
    canvas = lb.plot.network(leaf_spine(16), hosts=hosts)
    rows = heights(one_of(canvas))
    assert {rows[name] for name in SPINES} == {2.0}
    assert {rows[name] for name in LEAVES} == {1.0}


def test_a_page_that_leaves_hosts_out_has_the_same_rows() -> None:
    graph = leaf_spine(16)
    links = pd.DataFrame(
        [(a, b, row["utilisation"], 1e10, 1e-6) for a, b, row in graph.edges(data=True)],
        columns=["source", "target", "utilisation", "rate_bps", "delay_s"],
    ).assign(units=1, bytes=1, waiting_bytes=0, dropped=0, lost=0)
    switches = pd.DataFrame({"node": [*LEAVES, *SPINES], "layer": "switch", "arrived": 1,
                             "loss": 0.0, "buffer_max_bytes": 0})  # fmt: skip
    (chart,) = network_charts(links, switches)
    assert "128 hosts are left out" in chart.caption
    dots = [
        row
        for rows in chart.specification["datasets"].values()
        for row in rows
        if row.get("name") in {*LEAVES, *SPINES}
    ]
    at = {row["name"]: row["y"] for row in dots}
    assert {at[name] for name in SPINES} == {2.0}
    assert {at[name] for name in LEAVES} == {1.0}


def test_no_name_stands_on_a_link() -> None:
    graph = leaf_spine()
    canvas = lb.plot.network(graph, style="two-column")
    axes = one_of(canvas)
    canvas.draw_without_rendering()
    places = positions(nx.Graph(graph), {n: "host" if "/" in n else "switch" for n in graph})
    seen = {node: axes.transData.transform(place) for node, place in places.items()}
    lines = [np.linspace(seen[a], seen[b], 400) for a, b in graph.edges()]
    names = [text for text in axes.texts if text.get_text() in SPINES]
    assert len(names) == len(SPINES)
    for text in names:
        box = text.get_window_extent()
        for line in lines:
            assert not any(box.contains(*point) for point in line)


def test_the_free_side_is_above_then_below_then_the_widest_gap() -> None:
    places: dict[Hashable, tuple[float, float]] = {
        "m": (0.0, 0.0),
        "e": (1.0, 0.0),
        "n": (0.0, 1.0),
        "s": (0.0, -1.0),
        "w": (-1.0, 0.0),
    }
    assert free_sides(places, [("m", "e"), ("m", "s")])["m"] == (0.0, 1.0)
    assert free_sides(places, [("m", "n")])["m"] == (0.0, -1.0)
    assert free_sides(places, [("m", "n"), ("m", "s"), ("m", "w")])["m"] == pytest.approx((1, 0))
    assert free_sides(places, [])["m"] == (0.0, 1.0)


def test_directions_are_side_by_side_and_keep_to_the_right() -> None:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_edge("a", "b", utilisation=1.0)
    graph.add_edge("b", "a", utilisation=0.0)
    canvas = lb.plot.network(graph, "utilisation", at={"a": (0, 0), "b": (1, 0)})
    axes = one_of(canvas)
    canvas.draw_without_rendering()
    there, back = [text.arrow_patch for text in axes.texts if text.arrow_patch]  # type: ignore[attr-defined]
    middles = [float(patch.get_window_extent().bounds[1]) for patch in (there, back)]
    assert middles[0] < middles[1], "from left to right is below"
    assert there.get_edgecolor() != back.get_edgecolor()
    assert canvas.axes[1].get_ylabel() == "Utilisation"


def test_a_scenario_and_its_result_are_drawn_alike() -> None:
    scenario = lb.load("examples/hybrid.toml").with_({"topology.k": 4, "workload.flows": 20})
    result = lb.run(scenario)
    pictures = [one_of(lb.plot.network(what)) for what in (scenario, result)]
    assert heights(pictures[0]) == heights(pictures[1])
    assert len(heights(pictures[0])) == 20
    busy = lb.plot.network(result, "utilisation", hosts=False)
    assert any(
        "16 hosts are left out" in t.get_text() for t in busy.findobj(type(busy.text(0, 0, "")))
    )


def test_what_cannot_be_drawn_is_named() -> None:
    with pytest.raises(
        InputError, match="value: given 'load'; allowed: a metric of its links: del"
    ):
        lb.plot.network(leaf_spine(), "load")
    with pytest.raises(InputError, match="at: given 1 of 12 nodes; allowed: x and y of each node"):
        lb.plot.network(nx.complete_graph(12), at={0: (0, 0)})
    with pytest.raises(
        InputError, match="what: given 'x'; allowed: a result, a scenario, or a net"
    ):
        lb.plot.network("x")
