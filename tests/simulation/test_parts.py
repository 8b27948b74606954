"""Runs on several threads, as a user asks for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst._core import Cancel, Cancelled
from lightburst.cli import main
from lightburst.compile import compile_plan, estimate_memory
from lightburst.simulation import parts
from lightburst.simulation.cut import parts_of
from lightburst.simulation.foretold import Foretold
from lightburst.simulation.parts import divide, events_in, lookahead_ps
from lightburst.simulation.simulate import simulate
from lightburst.study.workers import one, where

#: Two leaves, each with four hosts, joined by a fibre of 200 km.
LINKS = "source,target,length\n" + "".join(f"h{i},l{i // 4},10 m\n" for i in range(8))
CITIES = {
    "name": "Two cities",
    "topology": {"kind": "graph", "file": "links.csv", "link_rate": "10 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "300 kB"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "poisson", "load": 0.4, "flows": 400, "size": "100 kB"},
    "measurement": {"warm_up": "1 ms"},
}


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "available_cores", lambda: 4)


def scenario(tmp_path: Path, **changes: Any) -> lb.Scenario:
    (tmp_path / "links.csv").write_text(LINKS + "l0,l1,200 km\n")
    return lb.Scenario.from_dict({**CITIES, **changes}, tmp_path)


def test_a_run_on_two_threads_is_the_run_on_one(tmp_path: Path) -> None:
    given = scenario(tmp_path)
    plan = compile_plan(given, 3)
    divided, reason = divide(plan, 2)
    assert reason is None
    assert divided is not None
    # The fibre is cut, and no other link: the cities have their hosts.
    hosts = [int(node) for node in divided[:8]]
    assert hosts in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
    one, two = (lb.run(given, 3, threads=threads) for threads in (1, 2))
    assert one.digest == two.digest
    assert one.summary.drop("wall_s").equals(two.summary.drop("wall_s"))


def test_a_network_that_runs_as_a_whole_says_why(tmp_path: Path) -> None:
    traced = scenario(tmp_path, measurement={"trace": [0], "warm_up": "0 s"})
    with pytest.warns(lb.RunWarning, match="the run has one thread, since it is traced"):
        lb.run(traced, 3, threads=2)
    star = lb.Scenario.from_dict(
        {**CITIES, "topology": {"kind": "graph", "file": "star.csv", "link_rate": "10 Gb/s"}},
        _star(tmp_path),
    )
    with pytest.warns(lb.RunWarning, match="since all its hosts are at one switch"):
        lb.run(star, 3, threads=2)


def _star(tmp_path: Path) -> Path:
    rows = "".join(f"h{i},s,10 m\n" for i in range(4))
    (tmp_path / "star.csv").write_text("source,target,length\n" + rows)
    return tmp_path


def test_few_events_in_a_window_are_not_worth_threads() -> None:
    sparse = lb.load("examples/electronic.toml")
    plan = compile_plan(sparse, 1)
    divided, reason = divide(plan, 2)
    assert divided is None
    assert reason is not None
    assert "events come in the shortest delay between its parts" in reason
    assert 0 < events_in(plan, lookahead_ps(plan, parts_of(plan, 2))) < 40


@pytest.mark.parametrize("most", [2, 3, 8, 20])
def test_a_fat_tree_is_cut_into_pods(most: int) -> None:
    plan = compile_plan(lb.load("examples/electronic.toml"), 1)
    of_node = parts_of(plan, most)
    number = min(most, 8)
    assert set(of_node.tolist()) == set(range(number))
    # Pod by pod: 16 hosts, 4 edge switches, 4 aggregation switches.
    pods = [of_node[:128].reshape(8, 16), of_node[128:160].reshape(8, 4)]
    pods.append(of_node[160:192].reshape(8, 4))
    for pod in pods:
        assert (pod == pod[:, :1]).all()
        assert (pod[:, 0] == np.arange(8) * number // 8).all()


def test_short_links_are_cut_last(tmp_path: Path) -> None:
    """A ring of four cities, each a chain of three switches: two cuts of long links each."""
    rows = ["source,target,length"]
    for city in range(4):
        rows += [f"h{city},c{city}0,1 m", f"g{city},c{city}2,1 m"]
        rows += [f"c{city}{i},c{city}{i + 1},100 m" for i in range(2)]
        rows.append(f"c{city}2,c{(city + 1) % 4}0,100 km")
    (tmp_path / "links.csv").write_text("\n".join(rows) + "\n")
    plan = compile_plan(lb.Scenario.from_dict(CITIES, tmp_path), 1)
    for most in (2, 4):
        of_node = parts_of(plan, most)
        crossing = of_node[plan.links["from"]] != of_node[plan.links["to"]]
        assert set(of_node.tolist()) == set(range(most))
        assert crossing.sum() == 2 * most
        assert plan.links["delay_ps"][crossing].min() > 100_000_000


def test_a_large_graph_is_cut_by_its_sparse_matrix(tmp_path: Path) -> None:
    """A ladder of 2 x 150 switches is cut across, into halves."""
    rows = ["source,target,length", "a,r0,1 m", "b,s149,1 m"]
    rows += [f"r{i},s{i},1 km" for i in range(150)]
    rows += [f"{side}{i},{side}{i + 1},1 km" for i in range(149) for side in "rs"]
    (tmp_path / "links.csv").write_text("\n".join(rows) + "\n")
    plan = compile_plan(lb.Scenario.from_dict(CITIES, tmp_path), 1)
    of_node = parts_of(plan, 2)
    crossing = of_node[plan.links["from"]] != of_node[plan.links["to"]]
    assert crossing.sum() == 4


def test_numbers_of_threads_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (0, 1025, 1.5, True, "two"):
        with pytest.raises(lb.InputError, match=r"^threads: given .* from 1 to 1024"):
            lb.run(scenario(tmp_path), threads=wrong)  # type: ignore[arg-type]
    path = "examples/electronic.toml"
    assert main(["run", path, "--threads", "0"]) == 2
    assert "--threads: given '0'" in capsys.readouterr().err
    assert main(["run", path, "--threads", "2", "--replications", "2"]) == 2
    assert "1 with --replications" in capsys.readouterr().err


def test_the_command_runs_on_threads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cities.toml").write_text(scenario(tmp_path).to_toml())
    found = []
    for threads in ("1", "2"):
        words = ["run", str(tmp_path / "cities.toml"), "--threads", threads, "--format", "json"]
        assert main(words) == 0
        told = capsys.readouterr()
        assert "one thread" not in told.err
        found.append(json.loads(told.out))
    for result in found:
        result.pop("wall_s", None)
    assert found[0]["digest"] == found[1]["digest"]


def test_an_event_limit_and_a_token_stop_threads(tmp_path: Path) -> None:
    limited = scenario(tmp_path, measurement={"warm_up": "0 s", "event_limit": 5_000})
    with pytest.raises(lb.InputError, match=r"measurement\.event_limit: given 5000, and a run"):
        lb.run(limited, threads=2)
    cancel = Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        long = scenario(tmp_path).with_(workload__flows=8_000, workload__size="1 MB")
        lb.run(long, threads=2, cancel=cancel)


def test_a_further_part_needs_memory(tmp_path: Path) -> None:
    plan = compile_plan(scenario(tmp_path), 1)
    one, two, three = (estimate_memory(plan, parts=number) for number in (1, 2, 3))
    # Two directions of nine links, 400 flows, and some endpoints.
    least = 110 * 18 + 60 * 400
    assert one + least < two < one + least + 1_200 * 400
    assert two + least < three


@pytest.mark.parametrize(("runs", "share"), [(1, 4), (2, 2), (3, 1), (9, 1)])
def test_runs_of_a_study_come_first_and_share_the_threads_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: int, share: int
) -> None:
    given: list[int] = []

    def counted(*arguments: Any, threads: int, **others: Any) -> lb.Result:
        given.append(threads)
        return simulate(*arguments, threads=threads, **others)

    monkeypatch.setattr(one, "simulate", counted)
    monkeypatch.setattr(where, "available_cores", lambda: 4)
    small = scenario(tmp_path).with_(workload__flows=60)
    found = lb.replicate(small, runs)
    assert given == [share] * runs
    expected = [lb.run(small, seed).digest for seed in range(1, runs + 1)]
    assert found["digest"].tolist() == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("all-reduce", "some of its flows wait for others"),
        ("goal", "some of its flows wait for others"),
        ("obs", "its switches handle bursts or circuits"),
        ("pauses", "its switches pause links (priority flow control)"),
        *((name, None) for name in ("flows", "graph", "groups", "hybrid", "rdma", "shuffle")),
    ],
)
def test_the_examples_run_in_parts_or_say_why_not(
    monkeypatch: pytest.MonkeyPatch, name: str, reason: str | None
) -> None:
    monkeypatch.setattr(parts, "_LEAST_EVENTS", 0)
    example = lb.load(f"examples/{name}.toml")
    told: list[str] = []
    found = simulate(example, 1, threads=2, foretell=Foretold(told.extend))
    assert [text for text in told if "one thread" in text] == (
        [] if reason is None else [f"the run has one thread, since {reason}"]
    )
    assert found.digest == simulate(example, 1).digest
