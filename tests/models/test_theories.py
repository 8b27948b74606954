"""Theories of scenarios: the papers' own overlay, formulas by hand, and simulations."""

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy.optimize import brentq

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError
from lightburst.models import erlang_b, padhye1998, reduced_load, theory, yu2004
from lightburst.papers.yu2004 import points as overlay
from lightburst.papers.yu2004.design import points_of
from lightburst.papers.yu2004.points import LOW, PAYLOAD_BITS, Point, base
from lightburst.papers.yu2004.senders import NAMES, RFC_SACK
from lightburst.study import mean_interval

YU = theory.THEORIES["yu2004"]


def points() -> list[Point]:
    """Some of the points of the paper's studies whose closed form needs no measured round trip."""
    parts = ("fig5", "fig6", "fig7", "fig11", "table1", "table2", "factors")
    found = [point for part in parts for point in points_of(part, quick=True)]
    kept = [
        point
        for point in dict.fromkeys(found)
        if point.p > 0 and point.access > LOW and point.recovery != "tahoe" and point.assembled
        if point.tick == 0.01 and not point.ack_loss
    ]
    return kept[:: max(1, len(kept) // 60)]


def test_flows_of_scenarios_are_those_of_the_papers_overlay() -> None:
    chosen = points()
    assert len({point.access for point in chosen}) > 1
    assert len({point.recovery for point in chosen}) > 1
    for point in chosen:
        scenario = base().with_(point.settings())
        wanted, found = overlay.flow_of([point]), yu2004.Flow.from_scenario(scenario)
        for name, value in found.values().items():
            expected = 1 - (1 - point.p) ** 3 if name == "loss" and point.every_link else None
            one = float(np.ravel(wanted.values()[name])[0]) if expected is None else expected
            # Times of scenarios are whole picoseconds.
            assert np.asarray(value) == pytest.approx(one, rel=1e-12, abs=6e-13), (name, point)
        if point.recovery in ("sack", "sack1") and not point.every_link:
            value = float(overlay.throughput([point])[0]) * PAYLOAD_BITS
            assert YU(scenario) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("sender", NAMES)
def test_the_flavour_is_that_of_the_sender(sender: Any) -> None:
    point = Point(125e6, 1e-4, 0.005).by(sender)
    (flavour,) = (name for name in yu2004.FLAVOURS if name == NAMES[sender].lower())
    wanted = yu2004.predict(overlay.flow_of([point]), flavour).throughput[0] * PAYLOAD_BITS
    assert YU(base().with_(point.settings())) == pytest.approx(wanted, rel=1e-9)


def test_yu2004_is_near_a_simulation_where_it_says_that_it_holds() -> None:
    point = Point(125e6, 4e-5, 0.005, window=200).by(RFC_SACK)
    scenario = base().with_(point.settings()).with_(measurement__time_limit="200 s")
    assert YU.predict(scenario).broken == ()
    rates = lb.replicate(scenario, 4, progress=False)["throughput_bps"]
    assert rates.mean() == pytest.approx(YU(scenario), rel=0.1)


PATH: dict[str, Any] = {
    "topology": {"kind": "path", "links": 4, "link_length": "1000 km", "link_rate": "1 Gb/s"},
    "switching": {"kind": "electronic"},
    "transport": {
        "kind": "tcp",
        "recovery": "reno",
        "segment_size": "1 kB",
        "header_size": "40 B",
        "control_size": "40 B",
        "advertised_window": 100,
        "min_timeout": "200 ms",
    },
    "loss": {"probability": 0.003},
    "workload": {"kind": "pairs", "size": "20 MB"},
}


def path(**changes: Any) -> lb.Scenario:
    return lb.Scenario.from_dict(PATH).with_(**changes)


def test_padhye1998_by_hand() -> None:
    # Four links of 5 ms there and back; 8 us for a segment on each, 0.32 us for an acknowledgement.
    trip = 8 * 5e-3 + 4 * (8e-6 + 0.32e-6)
    wanted = (0.003, trip, 0.2, 100.0, 2.0)
    assert padhye1998.from_scenario(path()) == pytest.approx(wanted, rel=1e-12)
    sent = float(padhye1998.full_throughput(*wanted))
    found = theory.THEORIES["padhye1998"].predict(path())
    assert found.value == pytest.approx(sent * 0.997 * 960 * 8)
    assert found.broken == ()
    # Lost on each of the two links between switches.
    both = padhye1998.from_scenario(path(loss__on="every-link")).loss
    assert both == pytest.approx(1 - 0.997**2)
    slow = path(topology__link_rate="1 Mb/s", transport__recovery="sack")
    assert theory.THEORIES["padhye1998"].predict(slow).broken == ("reno", "above-link-rate")


def bursts(links: list[tuple[str, str]], **changes: Any) -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "graph",
                "hosts_per_node": 1,
                "wavelengths": 4,
                "links": [{"source": a, "target": b} for a, b in links],
            },
            "switching": {"kind": "obs", "ingress": "lose"},
            "transport": {"kind": "bursts"},
            "workload": {"kind": "poisson", "load": 0.6, "flows": 20_000, "size": "125 kB"},
        }
    ).with_(**changes)


TRIANGLE = [("A", "B"), ("B", "C"), ("C", "A")]
LINE = [("A", "B"), ("B", "C"), ("C", "D")]
# A mesh in which each pair has one shortest path.
PETERSEN = [(f"n{a}", f"n{b}") for a, b in nx.petersen_graph().edges]


def test_erlang_by_hand_and_by_simulation() -> None:
    # Six fibres of four wavelengths, each with its own stream; 0.6 of their capacity together.
    wanted = float(erlang_b(0.6 * 4, 4))
    for name in ("erlang", "reduced-load"):
        found = theory.THEORIES[name].predict(bursts(TRIANGLE))
        assert found.value == pytest.approx(wanted)
        assert found.broken == ()
        # The measured time does not matter to the theory.
        window = {"warm_up": "1 ms", "until": "5 ms"}
        assert theory.THEORIES[name](bursts(TRIANGLE, measurement=window)) == found.value
    runs = lb.replicate(bursts(TRIANGLE), 6, progress=False)
    assert mean_interval(runs["burst_loss"], 0.99).contains(wanted)
    # Two hosts at an edge: one of five others is at the same edge, and its bursts are never lost.
    twice = bursts(TRIANGLE, topology__hosts_per_node=2)
    per_pair = 0.6 * 4 * 6 / 30 * 4
    assert theory.THEORIES["erlang"](twice) == pytest.approx(float(erlang_b(per_pair, 4)) * 24 / 30)


def test_reduced_load_has_the_routes_and_loads_of_the_scenario() -> None:
    rate = {"workload.load": None, "workload.arrival_rate_per_edge": "2e4 /s"}
    line = bursts(LINE).with_(rate)
    # 100 us a burst; from each edge to each of the three others alike.
    routes = list(permutations("ABCD", 2))
    ways = ["ABCD"["ABCD".index(a) : "ABCD".index(b) + 1] for a, b in routes]
    ways = [
        way or "DCBA"["DCBA".index(a) : "DCBA".index(b) + 1]
        for way, (a, b) in zip(ways, routes, strict=True)
    ]
    wanted = reduced_load(ways, [2e4 * 1e-4 / 3] * 12, 4, streamline=True).network_loss
    found = theory.THEORIES["reduced-load"].predict(line)
    assert found.value == pytest.approx(float(wanted))
    assert found.broken == ("streams-meet",)
    # Nine of ten flows go to D, where weights say so.
    heavy = line.with_({"workload.destination_weights": {"D": 18.0}})
    shares = {a: {b: 18.0 if b == "D" else 1.0 for b in "ABCD" if b != a} for a in "ABCD"}
    loads = [2.0 * shares[a][b] / sum(shares[a].values()) for a, b in routes]
    wanted = reduced_load(ways, loads, 4, streamline=True).network_loss
    assert theory.THEORIES["reduced-load"](heavy) == pytest.approx(float(wanted))


def test_bursts_that_have_met_do_not_meet_again() -> None:
    tandem = bursts(LINE, topology__edges=["A", "D"])
    wanted = float(erlang_b(0.6 * 4, 4))
    found = theory.THEORIES["reduced-load"].predict(tandem)
    assert found.value == pytest.approx(wanted)
    runs = lb.replicate(tandem, 6, progress=False)
    assert mean_interval(runs["burst_loss"], 0.99).contains(wanted)


def test_reduced_load_is_near_a_simulation_where_streams_meet() -> None:
    scenario = bursts(PETERSEN, workload__load=0.5)
    found = theory.THEORIES["reduced-load"].predict(scenario)
    runs = lb.replicate(scenario, 3, progress=False)
    assert runs["burst_loss"].mean() == pytest.approx(found.value, rel=0.08)
    header = scenario.with_({"switching.header_processing_time": "10 us"})
    assert "equal-offsets" in theory.THEORIES["reduced-load"].predict(header).broken


@pytest.mark.parametrize(
    ("name", "scenario", "said"),
    [
        (
            "yu2004",
            {"switching.kind": "obs"},
            r"switching.kind: given 'obs'; .* \(assumed by yu2004\)",
        ),
        ("yu2004", {"switching.assembly.max_size": "10 kB"}, "bursts of any size"),
        ("yu2004", {"switching.assemble_acknowledgements": False}, r"RTT_0 \+ 2 T_b"),
        ("yu2004", {"loss": None}, "loss.probability: given nothing"),
        ("yu2004", {"loss.acknowledgement_probability": 0.1}, "no lost acknowledgements"),
        ("yu2004", {"loss.drops": [{"burst": 7}]}, "losses by chance alone"),
        ("yu2004", {"topology.host_pairs": 2}, "topology.host_pairs: given 2; allowed: one flow"),
        ("yu2004", {"transport.congestion_control": "cubic"}, "given 'cubic'; .*'reno'"),
        ("yu2004", {"transport.recovery": "tahoe"}, "given 'tahoe'; .*'new-reno'"),
        ("yu2004", {"transport.subflows": 2}, "transport.subflows: given 2; allowed: one window"),
        ("yu2004", {"transport": {"kind": "sawl"}}, "transport.kind: given 'sawl'"),
        ("padhye1998", {}, "switching.kind: given 'burst'; .*'electronic' .assumed by padhye1998"),
        ("erlang", {}, "switching.kind: given 'burst'; allowed: booked channels: 'obs'"),
    ],
)
def test_what_is_outside_says_which_assumption(
    name: str, scenario: dict[str, Any], said: str
) -> None:
    given = base().with_(scenario)
    with pytest.raises(InputError, match=said):
        theory.THEORIES[name].predict(given)
    assert math.isnan(theory.THEORIES[name](given))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"switching.ingress": "delay"}, "switching.ingress: given 'delay'"),
        ({"switching.conversion": "none"}, "full conversion"),
        (
            {
                "switching.contention": [{"kind": "segmentation"}],
                "transport.packet_size": "1250 B",
            },
            "given 'segmentation'",
        ),
        ({"switching.switching_time": "1 us"}, "switching.switching_time"),
        ({"transport.segment_size": "100 kB"}, "that a flow is one burst: at least 125,000 B"),
        ({"workload": {"kind": "pairs", "size": "125 kB"}}, "Poisson arrivals"),
        ({"loss": {"probability": 0.1}}, "lost by contention alone"),
    ],
)
def test_loss_says_which_assumption(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        theory.THEORIES["reduced-load"].predict(bursts(TRIANGLE).with_(changes))


SQUARE = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")]
FIRST = {"AC": "ABC", "BD": "BAD", "CA": "CBA", "DB": "DCB"}


@pytest.mark.parametrize(
    ("routing", "broken"),
    [
        ({"choice": "random"}, ()),
        ({"choice": "flow-hash"}, ("ways-mixed",)),
        ({"paths": 2, "label": "random"}, ()),
        ({"paths": 2, "label": "hash"}, ("ways-mixed",)),
        ({"paths": 2, "label": "first"}, ()),
    ],
)
def test_reduced_load_splits_as_the_routing_does(
    routing: dict[str, Any], broken: tuple[str, ...]
) -> None:
    """The same fixed point over an explicit list of routes."""
    routes: list[str] = []
    loads: list[float] = []
    for source, end in permutations("ABCD", 2):
        ring = "ABCD" * 2
        begin = ring.index(source)
        clockwise = ring[begin : ring.index(end, begin) + 1]
        back = ring[::-1]
        begin = back.index(source)
        other = back[begin : back.index(end, begin) + 1]
        ways = sorted([clockwise, other], key=len)
        if routing.get("paths") != 2:
            ways = [way for way in ways if len(way) == len(ways[0])]
        elif routing["label"] == "first":
            # The first of two equally long paths is the one over the links with the lower numbers.
            ways = [FIRST.get(source + end, ways[0])]
        routes += ways
        loads += [0.6 * 8 * 4 / 12 / len(ways)] * len(ways)
    wanted = reduced_load(routes, loads, 4, streamline=True).network_loss
    found = theory.THEORIES["reduced-load"].predict(bursts(SQUARE, routing=routing))
    assert found.value == pytest.approx(float(wanted), rel=1e-9)
    assert set(found.broken) - {"streams-meet"} == set(broken)


def test_ways_that_are_free_lose_less_than_ways_that_are_drawn() -> None:
    # From A to D over B or C: each path is a group of four channels, or both are one of eight.
    diamond = bursts([("A", "B"), ("B", "D"), ("A", "C"), ("C", "D")], topology__edges=["A", "D"])
    drawn = diamond.with_(routing__choice="random")
    found = theory.THEORIES["reduced-load"].predict(drawn)
    assert found.value == pytest.approx(float(erlang_b(0.6 * 4, 4)))
    runs = lb.replicate(drawn, 6, progress=False)
    assert mean_interval(runs["burst_loss"], 0.99).contains(found.value)
    free = theory.THEORIES["reduced-load"].predict(diamond)
    # B = E(a (1 + B), W), of which both must happen: below the exact loss of one group.
    loss = float(brentq(lambda b: float(erlang_b(2.4 * (1 + b), 4)) - b, 0, 1))
    assert free.value == pytest.approx(loss**2)
    assert "ways-apart" in free.broken
    runs = lb.replicate(diamond, 6, progress=False)
    assert mean_interval(runs["burst_loss"], 0.99).contains(float(erlang_b(4.8, 8)))
    assert free.value < float(erlang_b(4.8, 8)) < found.value


@pytest.mark.parametrize("choice", ["free", "random"])
def test_reduced_load_on_nsfnet_is_near_a_simulation(choice: str) -> None:
    """14 edges, ties by the number of links; light is fast, so that all links fill at once."""
    made: dict[str, Any] = {
        "topology": {
            "kind": "graph",
            "file": str(Path(__file__).parents[2] / "examples" / "nsfnet.csv"),
            "hosts_per_node": 1,
            "link_rate": "10 Gb/s",
            "wavelengths": 8,
            "propagation": "1 ps/m",
        },
        "routing": {"choice": choice},
        "switching": {"kind": "obs", "ingress": "lose"},
        "transport": {"kind": "bursts"},
        "workload": {
            "kind": "poisson",
            "load": 0.8,
            "load_of": "hottest-link",
            "flows": 40_000,
            "size": {"kind": "exponential", "mean": "125 kB"},
        },
    }
    scenario = lb.Scenario.from_dict(made)
    found = theory.THEORIES["reduced-load"].predict(scenario)
    interval = mean_interval(lb.replicate(scenario, 4, progress=False)["burst_loss"], 0.95)
    # It counts a little too much, since many fibres get bursts over one or two others only.
    assert interval.high - interval.estimate < 0.06 * interval.estimate
    assert 0.85 * found.value < interval.estimate < found.value


def test_one_fibre() -> None:
    with pytest.raises(InputError, match=r"ways of up to 3 fibres.*'reduced-load'"):
        theory.THEORIES["erlang"].predict(bursts(LINE))


def test_beside_has_residuals_and_says_where_the_theory_ends() -> None:
    losses = [0.001, 0.01, 0.05]
    made = [base().with_({"loss.probability": p, "switching.assembly.time": 4e-5}) for p in losses]
    theories = [YU(one) for one in made]
    means = [0.9 * theories[0], theories[1], 2 * theories[2]]
    table = pd.DataFrame({"loss.probability": losses, "mean": means})
    table = table.assign(ci_low=table["mean"] * 0.95, ci_high=table["mean"] * 1.05)
    found = theory.beside(table, made, "yu2004")
    assert found["theory"].tolist() == theories
    assert found["residual"].tolist() == pytest.approx([-0.1 * theories[0], 0.0, theories[2]])
    assert found["ratio"].tolist() == pytest.approx([0.9, 1.0, 2.0])
    assert found["inside"].tolist() == [False, True, False]
    for row, one in zip(found.to_dict("records"), made, strict=True):
        assert row["broken"] == ", ".join(YU.predict(one).broken)
    assert "small-loss" in found["broken"].iloc[2]
    made[0] = made[0].with_({"loss": None})
    found = theory.beside(table, made, YU)
    assert math.isnan(found["theory"].iloc[0])
    assert found["broken"].iloc[0] == "outside"
    for wrong, said in ((("yu2005", made), "did you mean 'yu2004'"), ((YU, made[:2]), "each row")):
        with pytest.raises(InputError, match=said):
            theory.beside(table, wrong[1], wrong[0])
    with pytest.raises(InputError, match="booked channels"):
        theory.beside(table, made, "erlang")


@pytest.mark.parametrize("name", theory.THEORIES)
def test_a_theory_is_of_a_figure_that_runs_have(name: str) -> None:
    one = theory.THEORIES[name]
    assert one.name == name
    assert one.metric in lb.run(bursts(TRIANGLE, workload__flows=10)).metrics
    assert lb.models.theory.named(name) is one


def test_the_command_asks_every_theory(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["model", "scenario", "examples/obs.toml", "--set", "transport.acknowledge_every=1"]
    scenario = lb.load("examples/obs.toml").with_(transport__acknowledge_every=1)
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert f"throughput {YU(scenario) / 1e6:.4g} Mb/s" in shown
    assert "small-burst: S is at most" in shown
    assert "padhye1998: switching.kind: given 'burst'" in shown
    assert main([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["theory"]: row for row in found["rows"]}
    assert rows["yu2004"]["value"] == YU(scenario)
    assert rows["yu2004"]["broken_assumptions"] == list(YU.predict(scenario).broken)
    assert rows["erlang"]["value"] is None
    assert main(["model", "scenario", "examples/hybrid.toml"]) == 2
    assert "one that no theory is about" in capsys.readouterr().err


def test_a_sweep_has_the_theory_beside_it_and_in_its_figures() -> None:
    losses = {"loss.probability": [0.01, 0.05], "switching.assembly.time": ["40 us", "80 us"]}
    short = base().with_(measurement__time_limit="2 s")
    swept = lb.sweep(short, over=losses, seeds=2, progress=False)
    table = swept.beside("yu2004")
    for row in table.to_dict("records"):
        point = short.with_({path: row[path] for path in losses})
        assert row["theory"] == YU(point)
        assert row["broken"] == ", ".join(YU.predict(point).broken)
    figure = swept.plot("loss.probability", hue="switching.assembly.time", theory="yu2004")
    drawn = [np.asarray(line.get_ydata(), float) for line in figure.axes[0].lines]
    wanted = table.loc[table["switching.assembly.time"] == "40 us", "theory"].to_numpy() / 1e6
    assert any(line.shape == wanted.shape and np.allclose(line, wanted) for line in drawn)
    # Each dashed curve of the runs has a curve of each theory, too.
    dashed = swept.plot("loss.probability", dash="switching.assembly.time", theory="yu2004")
    lines = [np.asarray(line.get_ydata(), float) for line in dashed.axes[0].lines]
    assert any(line.shape == wanted.shape and np.allclose(line, wanted) for line in lines)
    words = " ".join(text.get_text() for text in figure.findobj(Text))
    assert "p is at most 0.02" in words.replace("\n", " ")
    for given, said in (
        ({"theory": "yu2003"}, "did you mean 'yu2004'"),
        ({"theory": ["erlang"]}, "booked channels"),
        ({"theory": "yu2004", "y": "unfinished"}, "theories of unfinished: there are none"),
    ):
        with pytest.raises(InputError, match=said):
            swept.plot("loss.probability", hue="switching.assembly.time", **given)
