"""The mean load of links: by hand, in runs, and as the reference of ``load``."""

import json
import warnings
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import compile_plan
from lightburst.compile.offered import Pattern, demands, edges_of, link_loads, link_shares
from lightburst.foundation.errors import InputError, RunWarning
from lightburst.scenario.tables.workload import Poisson
from lightburst.study import mean_interval

LINE = [("A", "B"), ("B", "C"), ("C", "D")]
DIAMOND = [("A", "B"), ("B", "D"), ("A", "C"), ("C", "D")]


def made(links: list[tuple[str, str]], **changes: Any) -> lb.Scenario:
    """Return bursts between the nodes of a graph, 2 wavelengths of 10 Gb/s."""
    return lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "graph",
                "links": [{"source": a, "target": b} for a, b in links],
                "hosts_per_node": 1,
                "link_rate": "10 Gb/s",
                "link_length": "1 km",
                "wavelengths": 2,
            },
            "switching": {"kind": "obs", "ingress": "lose"},
            "transport": {"kind": "bursts"},
            "workload": {"kind": "poisson", "load": 0.3, "flows": 2000, "size": "125 kB"},
        }
    ).with_(**changes)


def loads(scenario: lb.Scenario) -> tuple[float, float, str]:
    """Return the mean and the largest load, and the link of the largest."""
    found = link_loads(scenario, compile_plan(scenario, 1))
    assert found is not None
    return found.mean, found.largest, found.link


def test_a_line_by_hand() -> None:
    # Six fibres from the edges; of twelve pairs four go over B - C, three over A - B.
    mean, largest, link = loads(made(LINE))
    assert largest == pytest.approx(0.3 * 6 * 4 / 12)
    assert mean == pytest.approx(0.3 * 6 * (2 * 4 + 4 * 3) / 12 / 6)
    assert link == "B - C"
    hottest = made(LINE, workload__load_of="hottest-link")
    assert loads(hottest)[:2] == pytest.approx((0.3 * 20 / 24, 0.3), rel=1e-9)


@pytest.mark.parametrize(
    ("routing", "largest"),
    [
        # From A to D alone: half over B, half over C; or all of it over one path.
        ({"choice": "free"}, 0.5),
        ({"choice": "random"}, 0.5),
        ({"choice": "flow-hash"}, 0.5),
        ({"paths": 2, "label": "hash"}, 0.5),
        ({"paths": 2, "label": "first"}, 1.0),
        ({"routes": [{"source": "A", "destination": "D", "path": ["A", "B", "D"]}]}, 1.0),
    ],
)
def test_ways_are_shared_as_the_routing_says(routing: dict[str, Any], largest: float) -> None:
    both = made(DIAMOND, routing=routing, workload__between="edges", topology__edges=["A", "D"])
    # Each edge has two fibres: its traffic is 0.3 of both.
    assert loads(both)[1] == pytest.approx(0.6 * largest)


def test_weights_of_edges() -> None:
    weights = {"workload__between": "edges", "workload__destination_weights": {"D": 8}}
    # From each edge alike; from A, B and C to D with 8 of 10.
    _, largest, link = loads(made(LINE, **weights))
    assert link == "C - D"
    assert largest == pytest.approx(0.3 * 6 * 3 * 8 / 10 / 4)


def test_a_fat_tree_by_symmetry_is_what_its_ways_say() -> None:
    for wavelengths, between in ((1, None), (3, None), (2, {"1": 3.0, "4": 0.0})):
        tree = lb.Scenario.from_dict(
            {
                "topology": {"kind": "fat-tree", "k": 4, "wavelengths": wavelengths},
                "switching": {"kind": "electronic"},
                "transport": {"kind": "datagram"},
                "workload": {"kind": "poisson", "load": 0.4, "flows": 10, "size": "9 kB"},
            }
        )
        plan = compile_plan(tree, 1)
        network = plan.network
        assert network is not None
        edges, workload = edges_of(network), tree.flow_groups[0].workload
        assert isinstance(workload, Poisson)
        if between is not None:
            names = edges.names
            weights = {names[int(place)]: weight for place, weight in between.items()}
            more = {"between": "edges", "destination_weights": weights}
            workload = Poisson.model_validate({"load": 0.4, "size": "9 kB", **more})
        pattern = Pattern.of(workload, network)
        delay = plan.links["delay_ps"]
        shares = link_shares(network, delay, tree.routing, pattern, at_edges=True)
        assert shares is not None
        searched = np.zeros(shares.size)
        for ways, entering in demands(network, delay, tree.routing, pattern.matrix):
            searched += ways.spread(entering)[0]
        assert shares == pytest.approx(searched, abs=1e-15)
        assert pattern.from_host.sum() == pytest.approx(1)
        assert pattern.to_host.sum() == pytest.approx(1)


def test_hosts_links_count_where_hosts_send() -> None:
    slow = made(
        LINE,
        switching={"kind": "electronic"},
        transport={"kind": "datagram"},
        workload__load=0.5,
        topology__links=[{"source": a, "target": b, "rate": "400 Gb/s"} for a, b in LINE],
    )
    mean, largest, _ = loads(slow)
    # Uniform pairs: each host sends and receives half of the capacity of its link.
    assert largest == pytest.approx(0.5)
    assert mean < 0.05


@pytest.mark.parametrize("choice", ["free", "flow-hash"])
def test_runs_offer_what_is_expected(choice: str) -> None:
    """The busiest fibre of NSFNET under a load with almost no loss."""
    scenario = lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "nsfnet",
                "edges": list(range(1, 15)),
                "hosts_per_edge": 1,
                "propagation": "1 ps/m",
                "wavelengths": 64,
            },
            "routing": {"choice": choice},
            "switching": {"kind": "obs", "ingress": "lose"},
            "transport": {"kind": "bursts"},
            "workload": {
                "kind": "poisson",
                "load": 0.4,
                "load_of": "hottest-link",
                "flows": 60_000,
                "size": "125 kB",
            },
        }
    )
    mean, largest, link = loads(scenario)
    assert largest == pytest.approx(0.4)
    seen, hot = [], []
    for seed in range(1, 9 if choice == "flow-hash" else 4):
        links = lb.run(scenario, seed=seed).links.query("source.str.len() <= 3", engine="python")
        used = links[~links["source"].str.contains("/") & ~links["target"].str.contains("/")]
        named = used["source"] + " - " + used["target"]
        seen.append(float(used["utilisation"].mean()))
        hot.append(float(used.loc[named == link, "utilisation"].iloc[0]))
    assert np.mean(seen) == pytest.approx(mean, rel=0.03)
    # By a hash each pair has one path, another one in each run.
    assert np.mean(hot) == pytest.approx(largest, rel=0.2 if choice == "flow-hash" else 0.04)


def test_it_is_printed_and_kept_and_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    heavy = made(LINE, workload__load=0.6)
    with pytest.warns(RunWarning, match=r"link B - C is overloaded: its load is 1\.2 "):
        result = lb.run(heavy, seed=1)
    assert result.link_loads is not None
    kept = result.details()["link_loads"]
    assert json.loads(json.dumps(kept)) == {
        "mean": pytest.approx(1.0), "largest": pytest.approx(1.2), "link": "B - C", "fibres": 6,
    }  # fmt: skip
    # A load relative to that link does not cause the warning.
    lb.run(heavy.with_(workload__load_of="hottest-link"), seed=1)
    settings = ["--set", "workload.load_of=hottest-link", "--set", "workload.load=0.2"]
    assert main(["run", "examples/obs-nsfnet.toml", *settings]) == 0
    printed = capsys.readouterr().out
    assert "load 0.2 of the hottest link, " in printed
    assert "load of the 42 fibres between switches: 0." in printed


def test_what_no_mean_tells_is_refused() -> None:
    follow = {"paths": 2, "label": {"kind": "load"}}
    scenario = made(DIAMOND, routing=follow, topology__edges=["A", "D"])
    assert link_loads(scenario, compile_plan(scenario, 1)) is None
    with pytest.raises(InputError, match=r"workload\.load_of: given 'hottest-link'"):
        compile_plan(scenario.with_(workload__load_of="hottest-link"), 1)
    with pytest.raises(InputError, match="'hottest-link' without a load"):
        made(LINE, workload={"kind": "poisson", "arrival_rate": "1 /s"}).with_(
            workload__load_of="hottest-link"
        )


def test_flows_without_a_rate_have_no_load() -> None:
    scenario = made(LINE, workload={"kind": "pairs", "size": "125 kB"})
    assert link_loads(scenario, compile_plan(scenario, 1)) is None


@pytest.mark.parametrize(
    ("scheduler", "conversion", "said"),
    [
        ("lauc-vf", "none", True),
        ("first-fit", "none", True),
        ("lauc-vf", {"kind": "limited", "range": 1}, True),
        ("random-fit", "none", False),
        ("lauc-vf", "full", False),
    ],
)
def test_schedulers_that_pack_are_warned_of_without_converters(
    scheduler: str, conversion: object, said: bool
) -> None:
    mesh = [("A", "B"), ("B", "C"), ("C", "A"), ("C", "D")]
    more = {"switching__scheduler": scheduler, "switching__conversion": conversion}
    scenario = made(mesh, workload__load=0.5, workload__load_of="hottest-link", **more)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = lb.run(scenario, seed=1)
    assert result.summary["burst_loss"]
    words = f"switching.scheduler = '{scheduler}' with conversion = "
    assert any(words in str(one.message) for one in caught) == said
    # Between two edges no two send to the same one.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lb.run(scenario.with_(topology__edges=["A", "D"]), seed=1)


def test_random_fit_loses_less_without_converters() -> None:
    """NSFNET with all nodes as edges, at 0.4 of the hottest fibre: intervals apart."""
    scenario = lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "nsfnet",
                "edges": list(range(1, 15)),
                "hosts_per_edge": 1,
                "propagation": "1 ps/m",
                "wavelengths": 16,
            },
            "switching": {"kind": "obs", "ingress": "lose", "conversion": "none"},
            "transport": {"kind": "bursts"},
            "workload": {
                "kind": "poisson",
                "load": 0.4,
                "load_of": "hottest-link",
                "flows": 15_000,
                "size": {"kind": "exponential", "mean": "125 kB"},
            },
        }
    )
    found = {}
    for scheduler in ("lauc-vf", "random-fit"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)
            runs = lb.replicate(scenario.with_(switching__scheduler=scheduler), 4, progress=False)
        found[scheduler] = mean_interval(runs["burst_loss"], 0.95)
    assert found["random-fit"].high < 0.8 * found["lauc-vf"].low


def test_the_loads_of_circuits_are_not_known() -> None:
    # Two of the three shifts of four racks share one circuit switch, so that equal parts are wrong.
    circuits = lb.Scenario.from_dict(
        {
            "topology": {"kind": "racks", "racks": 4, "hosts_per_rack": 2, "uplinks": 2},
            "switching": {"kind": "circuit", "queue_size": "unlimited"},
            "transport": {"kind": "datagram"},
            "workload": {"kind": "poisson", "load": 0.3, "flows": 1000, "size": "90 kB"},
        }
    )
    result = lb.run(circuits)
    links = result.links
    up = links[links.source.str.fullmatch(r"rack\d") & links.target.str.startswith("core")]
    units = up.groupby("target").units.sum()
    assert units["core0"] / units["core1"] == pytest.approx(2, rel=0.15)
    assert result.link_loads is None
    assert link_loads(circuits, compile_plan(circuits, 1)) is None
    with pytest.raises(InputError, match="load_of"):
        compile_plan(circuits.with_(workload__load_of="hottest-link"), 1)
