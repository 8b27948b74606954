"""Load and duration: the offered traffic, and its time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError, RunWarning
from lightburst.scenario.tables.sizes import (
    BoundedPareto,
    Constant,
    Empirical,
    Exponential,
    FlowSize,
    Lognormal,
    Pareto,
)
from lightburst.scenario.tables.workload import Poisson
from lightburst.workload import load_of
from lightburst.workload.sizes import draw_sizes, mean_size

NEVER = 2**64 - 1
TREE: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "sawl"},
    "workload": {"kind": "poisson", "load": 0.6, "duration": "20 ms"},
}
SIZES: list[FlowSize] = [
    Constant(value="9 kB"),
    Exponential(mean="50 kB"),
    Exponential(mean="50 kB", max="60 kB"),
    Exponential(mean="1 MB", max="20 kB"),
    Lognormal(mu=9, sigma=1),
    Lognormal(mu=9.48, sigma=2.45663283, max="16 MiB"),
    Lognormal(mu=12, sigma=0),
    Pareto(shape=2.5, minimum="2 kB"),
    Pareto(shape=1.1, minimum="2 kB", max="1 MB"),
    Pareto(shape=1, minimum="2 kB", max="1 MB"),
    BoundedPareto(shape=1.5, minimum="1 kB", max="10 MB"),
    BoundedPareto(shape=1, minimum="1 kB", max="1 MB"),
    BoundedPareto(shape=0.3, minimum="1 kB", max="1 MB"),
    Empirical(name="websearch"),
    Empirical(name="hadoop"),
]


@pytest.fixture
def tree() -> lb.Scenario:
    return lb.Scenario.from_dict(TREE)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_mean_is_that_of_what_is_drawn(size: FlowSize) -> None:
    """A million draws: the mean is within five standard errors plus the effect of rounding."""
    drawn = draw_sizes(size, 10**6, np.random.default_rng(1)).astype(np.float64)
    assert abs(drawn.mean() - mean_size(size)) <= 5 * stats.sem(drawn) + 0.5


def test_means_that_are_known() -> None:
    # With a = 1 the integral of x times a / x^2 over [m, M] is a logarithm.
    expected = 1000 * np.log(1000) / (1 - 1 / 1000)
    assert mean_size(BoundedPareto(shape=1, minimum="1 kB", max="1 MB")) == pytest.approx(expected)
    near = BoundedPareto(shape=1 + 1e-9, minimum="1 kB", max="1 MB")
    assert mean_size(near) == pytest.approx(expected)
    assert mean_size(Pareto(shape=2, minimum="3 kB")) == 6000
    assert mean_size(Exponential(mean="1 kB", max="1000 TB")) == 1000
    # The part below the limit is uniform when the limit is far below the mean.
    assert mean_size(Exponential(mean="1 TB", max="11 GB")) == pytest.approx(5.49e9, rel=1e-3)
    # The pages of HPCC and pFabric say 1.6 to 1.7 MB.
    assert mean_size(Empirical(name="websearch")) == pytest.approx(1.711e6, rel=1e-3)


def test_a_file_of_sizes_has_a_mean_too(tmp_path: Path) -> None:
    """A fifth has 100 bytes, the others are uniform up to 300."""
    (tmp_path / "sizes.txt").write_text("100 20\n300 100\n", encoding="utf-8")
    assert mean_size(Empirical(file=tmp_path / "sizes.txt")) == pytest.approx(0.2 * 100 + 0.8 * 200)


@pytest.mark.parametrize("size", ["constant", "exponential", "lognormal", "websearch"])
@pytest.mark.parametrize("k", [4, 8])
def test_the_load_that_is_offered_is_the_load_that_was_asked_for(k: int, size: str) -> None:
    """Bits of all flows / (duration times the rates of all hosts), over 40 seeds."""
    sizes: dict[str, dict[str, Any]] = {
        "constant": {"kind": "constant", "value": "100 kB"},
        "exponential": {"kind": "exponential", "mean": "100 kB", "max": "300 kB"},
        "lognormal": {"kind": "lognormal", "max": "16 MiB"},
        "websearch": {"kind": "empirical", "name": "websearch"},
    }
    scenario = lb.Scenario.from_dict(
        {
            **TREE,
            "topology": {"kind": "fat-tree", "k": k, "link_rate": "25 Gb/s"},
            "workload": {**TREE["workload"], "size": sizes[size]},
        }
    )
    capacity = k**3 / 4 * 25e9
    loads = []
    for seed in range(1, 41):
        flows = compile_plan(scenario, seed).flows
        assert flows["start_ps"].max() <= 20 * 10**9
        loads.append(8 * flows["bytes"].sum() / (capacity * 20e-3))
    interval = stats.t.interval(0.999, 39, np.mean(loads), stats.sem(loads))
    assert interval[0] < 0.6 < interval[1]
    assert interval[1] - interval[0] < 0.25


def test_what_a_load_comes_to_is_told(tree: lb.Scenario) -> None:
    sized = tree.with_({"workload.size": {"kind": "constant", "value": "50 kB"}})
    result = lb.run(sized)
    (load,) = result.offered.values()
    # 16 hosts of 10 Gb/s: 0.6 of 160 Gb/s in flows of 400 kb are 240,000 a second.
    assert load.arrival_rate == pytest.approx(240_000)
    assert str(load) == "load 0.6 of 160 Gb/s (16 hosts' links): 240,000 flows/s of 50 kB"
    assert result.details()["offered"]["capacity_bps"] == 160_000_000_000
    rate = sized.with_({"workload.arrival_rate": "240000 /s"})
    assert lb.run(rate).digest == result.digest
    assert lb.run(rate).offered == {}
    assert "offered" not in lb.run(rate).details()


ROWS = ((2, 1000), (5, 20_000), (7, 300), (8, 4000), (11, 7))  # of starts in ps, and bytes


@pytest.mark.parametrize(
    ("ends", "window", "expected"),
    [
        ({"duration": "12 ps"}, (0, NEVER), (25_307, 12)),
        ({"flows": 5}, (0, NEVER), (25_307, 11)),
        ({"duration": "12 ps"}, (5, NEVER), (24_307, 7)),
        ({"duration": "12 ps"}, (3, 8), (20_300, 5)),
        ({"flows": 5}, (3, 8), (20_300, 5)),
        ({"duration": "12 ps"}, (3, 15), (24_307, 9)),
        ({"flows": 5}, (3, 15), (24_307, 8)),
        ({"flows": 5}, (11, NEVER), None),
    ],
)
def test_the_load_of_a_run_by_hand(
    ends: dict[str, Any], window: tuple[int, int], expected: tuple[int, int] | None
) -> None:
    workload = Poisson(load=0.6, **ends)
    start, size = np.array(ROWS, np.uint64).T
    found = load_of(workload, 10**13, start, size, window)
    # 10 Tb/s carry 10 bits in a picosecond.
    assert found == (None if expected is None else 8 * expected[0] / (10 * expected[1]))


def test_a_run_tells_what_it_really_offered(
    tree: lb.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window = {"measurement.warm_up": "2 ms", "measurement.until": "12 ms"}
    heavy = tree.with_({"workload.size": {"kind": "lognormal", "max": "16 MiB"}, **window})
    result = lb.run(heavy)
    flows = result.flows.query("0.002 <= start_s < 0.012")
    load = 8 * int(flows["size_bytes"].sum()) / (16 * 10e9 * 10e-3)
    assert result.metrics["offered_load"] == pytest.approx(load, rel=1e-12)
    assert abs(load - 0.6) > 0.01
    assert result.summary["offered_load"] == result.record["offered_load"]
    file = tmp_path / "heavy.toml"
    file.write_text(heavy.to_toml(), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    out = capsys.readouterr().out
    assert f"; this run offered {load:.4g}\n" in out
    assert re.search(rf"offered load +│ +{load:.4g} │", out)
    assert main(["run", str(file), "--set", "workload.size=2 kB"]) == 0
    assert "throughput is over the makespan" not in capsys.readouterr().out
    few = ["--set", "workload.flows=20", "--set", "measurement.warm_up=0 s"]
    assert main(["run", str(file), *few]) == 0
    started = lb.run(heavy.with_({"workload.flows": 20, "measurement.warm_up": "0 s"})).flows
    began_s = started["start_s"].max() - started["start_s"].min()
    said = (
        rf"throughput is over the makespan of .*; the flows began in its first {1e6 * began_s:.4g} "
    )
    assert re.search(said, capsys.readouterr().out)
    rate = heavy.with_({"workload.arrival_rate": "1000 /s"})
    assert "offered_load" not in lb.run(rate).record


def test_each_group_with_a_load_tells_what_it_offered(tree: lb.Scenario) -> None:
    """In one run, and in a table of several; the group without a load has no value."""
    small = {"kind": "constant", "value": "20 kB"}
    background = {"kind": "poisson", "load": 0.2, "flows": 300, "size": small}
    query = {"kind": "incast", "senders": 4, "size": small}
    groups = {"background": {"workload": background}, "query": {"workload": query}}
    content = tree.to_dict()
    del content["workload"]
    result = lb.run(lb.Scenario.from_dict({**content, "groups": groups}))
    last = result.flows.query("group == 'background'")["start_s"].max()
    load = 300 * 160_000 / (16 * 10e9 * last)
    assert result.record["offered_load[background]"] == pytest.approx(load, rel=1e-9)
    assert "offered_load" not in result.record
    assert result.record["offered_load[query]"] is None
    rows = result.groups["offered_load"]
    assert rows["background"] == result.record["offered_load[background]"]
    assert np.isnan(rows["query"])
    assert result.details()["groups"]["query"]["offered_load"] is None


def test_hosts_of_several_rates_count_with_theirs() -> None:
    links = [
        {"source": "a", "target": "s", "rate": "1 Gb/s"},
        {"source": "b", "target": "s", "rate": "2 Gb/s"},
        {"source": "c", "target": "s", "rate": "5 Gb/s"},
    ]
    scenario = lb.Scenario.from_dict(
        {
            **TREE,
            "topology": {"kind": "graph", "links": links},
            "workload": {
                "kind": "poisson",
                "load": 1,
                "size": {"kind": "constant", "value": "1 MB"},
            },
        }
    )
    # One of three flows goes to each host, and a sends with 1 Gb/s.
    with pytest.warns(RunWarning, match=r"link a - s is overloaded: its load is 2\.67 "):
        (load,) = lb.run(scenario).offered.values()
    assert (load.capacity_bps, load.hosts, load.arrival_rate) == (8 * 10**9, 3, 1000)


def test_the_first_flows_of_a_duration_are_those_of_a_number(tree: lb.Scenario) -> None:
    rate = tree.with_({"workload.arrival_rate": "1e6 /s"})
    longer, number = (
        compile_plan(scenario, 3).flows for scenario in (rate, rate.with_({"workload.flows": 1024}))
    )
    assert longer["source"].size > 15 * 1024, "more than a block"
    for name, column in number.items():
        assert np.array_equal(longer[name][:1024], column), name


def test_at_another_rate_and_for_another_time_the_same_flows_come(tree: lb.Scenario) -> None:
    def flows(**changes: object) -> dict[str, Any]:
        return compile_plan(tree.with_({"workload.arrival_rate": "1e6 /s", **changes}), 3).flows

    usual = flows()
    for other in (
        flows(**{"workload.arrival_rate": "2e6 /s"}),
        flows(**{"workload.duration": "50 ms"}),
    ):
        count = usual["source"].size
        assert other["source"].size > 1.9 * count
        for name in ("source", "destination", "bytes"):
            assert np.array_equal(other[name][:count], usual[name]), name
    twice = flows(**{"workload.arrival_rate": "2e6 /s"})["start_ps"][:1000]
    np.testing.assert_allclose(2 * twice.astype(float), usual["start_ps"][:1000], atol=2)
    small = flows(**{"workload.size": {"kind": "constant", "value": "1 B"}})
    for name in ("source", "destination", "start_ps"):
        assert np.array_equal(small[name], usual[name]), name


def test_all_flows_of_a_duration_start_within_it(tree: lb.Scenario) -> None:
    """And the next one would not: the number of flows follows from the sum of the gaps."""
    for seed in range(1, 20):
        flows = compile_plan(tree.with_({"workload.arrival_rate": "5e4 /s"}), seed).flows
        assert flows["start_ps"].max() <= 20 * 10**9
        longer = tree.with_({"workload.arrival_rate": "5e4 /s", "workload.duration": "21 ms"})
        more = compile_plan(longer, seed).flows["start_ps"]
        assert np.count_nonzero(more <= 20 * 10**9) == flows["start_ps"].size


def test_the_number_of_flows_in_a_duration_is_poisson(tree: lb.Scenario) -> None:
    rate = tree.with_({"workload.arrival_rate": "5000 /s"})
    counts = [compile_plan(rate, seed).flows["source"].size for seed in range(1, 301)]
    # Mean and variance are 100.
    assert np.mean(counts) == pytest.approx(100, abs=2.5)
    assert np.var(counts) == pytest.approx(100, rel=0.3)


def test_setting_one_takes_the_other_away(tree: lb.Scenario) -> None:
    rate = tree.with_({"workload.arrival_rate": "1e5 /s", "workload.flows": 10})
    workload = rate.to_dict()["workload"]
    assert workload.keys() == {"kind", "arrival_rate", "flows", "size"}
    back = rate.with_({"workload.load": 0.6, "workload.duration": "20 ms"})
    assert back.to_dict() == tree.to_dict()
    assert lb.Scenario.from_dict(rate.to_dict()).to_dict() == rate.to_dict()
    usual = lb.Scenario.from_dict({**TREE, "workload": {"kind": "poisson", "load": 0.1}})
    assert usual.to_dict()["workload"]["flows"] == 1024
    assert "flows" not in usual.with_({"workload.duration": "1 ms"}).to_dict()["workload"]


REFUSED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "neither": (
        {"flows": 3}, "arrival_rate", "none of", "arrival_rate, arrival_rate_per_edge and load",
    ),
    "each edge and all": (
        {"arrival_rate": "1 /s", "arrival_rate_per_edge": "1 /s"}, "arrival_rate", "both of",
        "one of",
    ),
    "each edge between hosts": (
        {"arrival_rate_per_edge": "1 /s", "between": "hosts"}, "between", "hosts", "'edges'",
    ),
    "weights between hosts": (
        {"load": 1, "destination_weights": {"16": 2}}, "destination_weights", "weights of edges",
        "between = 'edges'",
    ),
    "weights of nothing": (
        {"load": 1, "between": "edges", "destination_weights": {"160": 2}}, "destination_weights",
        "'160'", "did you mean '16'?",
    ),
    "weights all zero": (
        {"load": 1, "between": "edges", "destination_weights": {str(i): 0 for i in range(17, 24)}},
        "destination_weights", "1 edges with a weight above 0", "two or more",
    ),
    "both": ({"load": 1, "arrival_rate": "1 /s"}, "arrival_rate", "both of", "one of"),
    "both ends": ({"load": 1, "flows": 1, "duration": "1 s"}, "flows", "both of", "one of flows"),
    "zero": ({"load": 0}, "load", "0", "a number greater than 0 and less than 10"),
    "ten": ({"load": 10}, "load", "10", "a number greater than 0 and less than 10"),
    "no time": ({"load": 1, "duration": "0 s"}, "duration", "'0 s'", "greater than zero"),
    "no mean": (
        {"load": 1, "size": {"kind": "pareto", "shape": 1, "minimum": "1 kB"}},
        "size", "Pareto sizes of shape 1 without maximum", "a shape above 1, or a 'max'",
    ),
    "no flow": (
        {"arrival_rate": "1 /s", "duration": "1 ps"}, "duration", "1 ps, in which no", "in which",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be(case: str) -> None:
    workload, path, given, allowed = REFUSED[case]
    with pytest.raises(InputError) as error:
        compile_plan(
            lb.Scenario.from_dict({**TREE, "workload": {"kind": "poisson", **workload}}), 1
        )
    assert error.value.path == f"workload.{path}"
    assert error.value.given.startswith(given)
    assert allowed in error.value.allowed


def test_too_many_flows_are_refused_before_they_are_made(tree: lb.Scenario) -> None:
    huge = tree.with_({"workload.duration": "1000000 s"})
    with pytest.raises(InputError, match="GiB of memory"):
        compile_plan(huge, 1)
