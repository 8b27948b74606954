"""The fixed point of reduced loads: the reference, its properties, and its limits."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from lightburst import models
from lightburst.foundation.errors import InputError
from loss_simulations import agrees, interval, network

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "loss_closed_forms.json").read_text())
LINE = ["1-2-3-4", "1-2", "2-3", "3-4"]


def test_the_line_equals_the_reference_for_all_loads_at_once() -> None:
    rows = REFERENCE["reduced_load_line_8_channels"]
    assert rows[0]["routes"] == LINE
    routes = [route.split("-") for route in LINE]
    found = models.reduced_load(routes, [[row["load_each"]] * 4 for row in rows], 8)
    assert found.links == (("1", "2"), ("2", "3"), ("3", "4"))
    np.testing.assert_allclose(found.link_loss, [row["link_loss"] for row in rows], rtol=1e-11)
    np.testing.assert_allclose(found.route_loss, [row["route_loss"] for row in rows], rtol=1e-11)
    np.testing.assert_allclose(
        found.network_loss, [row["network_loss"] for row in rows], rtol=1e-11
    )


@pytest.mark.parametrize("load", [0.8, 1.2])
def test_the_line_is_simulated_within_an_eighth(load: float) -> None:
    routes = [route.split("-") for route in LINE]
    chosen, lost = network(routes, [4 * load] * 4, 8, 200_000, seed=1)
    found = models.reduced_load(routes, [4 * load] * 4, 8)
    first = np.array(lost)[np.array(chosen) == 1]
    assert agrees(first, float(found.route_loss[1]), precision=0.2)  # one link: exact
    parts = [np.array(lost)[np.array(chosen) == route].mean() for route in range(4)]
    through, _, second, third = parts / found.route_loss
    # Bursts from 1-2 cannot collide with each other again on 2-3: their loss is below that of the
    # fixed point, and the loss of the bursts that they meet there a little above.
    assert 0.85 < through < 0.96
    assert 0.97 < second < 1.1
    assert 0.97 < third < 1.12


@pytest.mark.parametrize(
    ("channels", "load", "hops"), [(8, 6.4, 4), (8, 3.2, 2), (4, 4.0, 3), (16, 16.0, 6)]
)
def test_the_tandem_for_which_the_fixed_point_is_wrong(
    channels: int, load: float, hops: int
) -> None:
    route = [str(node) for node in range(hops + 1)]
    fixed = models.reduced_load([route], [load], channels)
    true = models.reduced_load([route], [load], channels, streamline=True)
    first = float(models.erlang_b(load, channels))
    # By hand: each link loses its part of the load that the one before has left.
    left = load
    for loss in fixed.link_loss:
        assert loss == pytest.approx(float(models.erlang_b(left, channels)), rel=1e-10)
        left *= 1 - loss
    assert fixed.route_loss[0] == pytest.approx(1 - left / load, rel=1e-10)
    # The exact answer: a burst that has passed the first link passes all of them.
    np.testing.assert_allclose(true.link_loss, [first, *[0.0] * (hops - 1)], rtol=1e-13)
    assert float(true.route_loss[0]) == pytest.approx(first, rel=1e-13)
    lost = network([route], [load], channels, 100_000, seed=1)[1]
    assert agrees(lost, first, precision=0.2)
    # The difference is the known amount.
    mean, half = interval(lost)
    excess = float(fixed.route_loss[0]) - first
    assert abs(float(fixed.route_loss[0]) - mean - excess) <= half < excess / 3


def test_the_tandem_equals_the_reference() -> None:
    row = REFERENCE["reduced_load_tandem_8_channels"]
    route = row["route"].split("-")
    fixed = models.reduced_load([route], [row["load"]], 8)
    np.testing.assert_allclose(fixed.link_loss, row["link_loss"], rtol=1e-12)
    assert float(fixed.route_loss[0]) == pytest.approx(row["fixed_point"], rel=1e-12)
    true = models.reduced_load([route], [row["load"]], 8, streamline=True)
    assert float(true.route_loss[0]) == pytest.approx(row["true"], rel=1e-12)


def test_a_link_is_fed_by_one_only_if_nothing_else_can_reach_it() -> None:
    routes = ["A-B-C-D", "A-B-C", "B-C-E", "X-C-D-F", "D-G"]
    narrow = dict.fromkeys(itertools.pairwise("ABCD"), 8) | {
        ("C", "E"): 8, ("X", "C"): 8, ("D", "F"): 4, ("D", "G"): 8,
    }  # fmt: skip
    fed = models.fed_by_one_link([route.split("-") for route in routes], narrow)
    assert fed == {
        ("A", "B"): False, ("B", "C"): False, ("C", "D"): False,
        ("C", "E"): True,  # all over B-C
        ("X", "C"): False,
        ("D", "F"): False,  # all over C-D, which has more channels
        ("D", "G"): False,  # where a route begins
    }  # fmt: skip
    wide = narrow | {("D", "F"): 8}
    assert models.fed_by_one_link([route.split("-") for route in routes], wide)["D", "F"]


@pytest.mark.parametrize("load", [0.5, 1.0, 1.05, 3.0])
@pytest.mark.parametrize(("nodes", "hops", "channels"), [(6, 3, 8), (12, 10, 200)])
def test_a_ring_with_long_routes_has_its_fixed_point(
    nodes: int, hops: int, channels: int, load: float
) -> None:
    routes = [[(start + hop) % nodes for hop in range(hops + 1)] for start in range(nodes)]
    each = load * channels / hops
    found = models.reduced_load(routes, np.full(nodes, each), channels)
    loss = found.link_loss[0]
    np.testing.assert_allclose(found.link_loss, loss, rtol=1e-9)
    offered = each * sum((1 - loss) ** hop for hop in range(hops))
    assert loss == pytest.approx(float(models.erlang_b(offered, channels)), rel=1e-8)
    assert found.offered[0] == pytest.approx(offered, rel=1e-8)
    passed = -np.expm1(hops * np.log1p(-loss))
    np.testing.assert_allclose(found.route_loss, passed, rtol=1e-8)


def test_a_mesh_is_simulated_better_where_streams_meet() -> None:
    graph = nx.petersen_graph().to_directed()
    pairs = list(itertools.permutations(map(str, graph), 2))
    paths = dict(nx.all_pairs_shortest_path(graph))
    routes = [[str(node) for node in paths[int(a)][int(b)]] for a, b in pairs]
    found = models.reduced_load(routes, np.full(90, 1.0), 8)
    lost = network(routes, [1.0] * 90, 8, 200_000, seed=1)[1]
    assert np.mean(lost) == pytest.approx(float(found.network_loss), rel=0.06)
    better = models.reduced_load(routes, np.full(90, 1.0), 8, streamline=True)
    assert float(better.network_loss) <= float(found.network_loss)


def test_one_link_is_one_link_and_segmentation_another_formula() -> None:
    found = models.reduced_load(["AB", "AB", "CD"], [1.0, 2.0, 3.0], 4)
    np.testing.assert_allclose(found.route_loss, models.erlang_b(3.0, 4), rtol=1e-13)
    cut = models.reduced_load(["ABC"], [3.0], 4, link_loss=models.segment_loss)
    first = float(models.segment_loss(3.0, 4))
    second = float(models.segment_loss(3.0 * (1 - first), 4))
    np.testing.assert_allclose(cut.link_loss, [first, second], rtol=1e-13)
    nothing = models.reduced_load(["ABC", "BC"], [0.0, 0.0], {("A", "B"): 1, ("B", "C"): 2})
    assert nothing.network_loss == 0.0
    np.testing.assert_array_equal(nothing.route_loss, 0.0)


def test_small_losses_keep_their_digits() -> None:
    found = models.reduced_load(["ABC"], [1.0], 20)
    assert found.route_loss[0] == pytest.approx(2 * float(models.erlang_b(1.0, 20)), rel=1e-12)
    assert found.route_loss[0] < 1e-18


BAD: list[tuple[str, Callable[[], object]]] = [
    ("routes: given none", lambda: models.reduced_load([], [1.0], 8)),
    ("routes: given 'A'; allowed: routes of at", lambda: models.reduced_load(["A"], [1.0], 8)),
    ("routes: given 'ABAB'; allowed: routes that", lambda: models.reduced_load(["ABAB"], 1, 8)),
    ("load: given an array of shape ()", lambda: models.reduced_load(["AB"], 1.0, 8)),
    (
        "load: given an array of shape (2,) for 1 routes; allowed: a load for each",
        lambda: models.reduced_load(["AB"], [1.0, 1.0], 8),
    ),
    ("load: given -1.0", lambda: models.reduced_load(["AB"], [-1.0], 8)),
    ("wavelengths: given 0", lambda: models.reduced_load(["AB"], [1.0], 0)),
    (
        "wavelengths: given none for ('B', 'C')",
        lambda: models.reduced_load(["ABC"], [1.0], {("A", "B"): 8}),
    ),
]


@pytest.mark.parametrize(("message", "call"), BAD)
def test_what_makes_no_sense_is_named(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value).startswith(message)
