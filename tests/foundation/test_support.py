"""Metrics with too few flows are marked."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.support import needed, needed_by, weak
from lightburst.study import compare_runs
from lightburst.study.statistics.sample_sizes import rests_on

FEW = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "poisson", "flows": 40, "arrival_rate": "1e4 /s"},
}
#: Bursts that are never sent again: a lost one has no completion time.
LOSSY = {
    **FEW,
    "transport": {"kind": "datagram"},
    "loss": {"probability": 0.3},
    "workload": {"kind": "poisson", "flows": 400, "arrival_rate": "1e4 /s",
                 "size": {"kind": "constant", "value": "1 kB"}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("p", "n"), [(0.99, 299), (0.95, 59), (0.9, 29), (0.5, 5), (0.1, 29), (0.999, 2995), (1, 1)]
)
def test_what_a_percentile_needs_is_that_of_wilks(p: float, n: int) -> None:
    assert needed(p) == n
    if p < 1:
        side = max(p, 1 - p)
        assert side**n <= 0.05 < side ** (n - 1)


def test_the_largest_is_below_the_quantile_as_often_as_it_says() -> None:
    """p^n by simulation: of 40 uniform numbers all are below 0.99 in 67 of 100 cases."""
    rng = np.random.default_rng(1)
    below = (rng.random((20_000, 40)).max(axis=1) < 0.99).mean()
    assert below == pytest.approx(0.99**40, abs=4 * math.sqrt(0.25 / 20_000))


def test_percentiles_are_known_by_their_names() -> None:
    assert needed_by("completion_time_p99_s[query]") == 299
    assert needed_by("flow_throughput_p10_bps") == 29
    assert needed_by("slowdown_median") == 5
    assert [needed_by(x) for x in ("slowdown_mean", "throughput_bps", "burst_loss")] == [None] * 3


def test_a_run_marks_what_its_flows_cannot_give() -> None:
    found = lb.run(lb.Scenario.from_dict(FEW))
    assert found.metrics["timed_flows"] == found.metrics["flows"] == 40
    assert found.weak["slowdown_p99"].samples == 40
    assert found.weak["slowdown_p99"].sign == "*"
    assert "slowdown_mean" not in found.weak
    assert "slowdown_median" not in found.weak
    assert found.details()["weak"]["completion_time_p99_s"] == {"samples": 40, "needed": 299}
    many = lb.run(lb.Scenario.from_dict(FEW).with_(workload__flows=299))
    assert [key for key in many.weak if "[" not in key] == []


def test_a_mean_over_fewer_flows_than_count_says_so() -> None:
    found = lb.run(lb.Scenario.from_dict(LOSSY))
    flows = found.flows
    timed = int((flows["status"] == "finished").sum())
    assert 0 < timed < 400
    support = found.weak["completion_time_mean_s"]
    assert (support.sign, support.timed, support.flows) == ("†", timed, 400)
    assert found.details()["weak"]["slowdown_mean"]["timed_flows"] == timed


def test_tables_have_signs_and_footnotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(lb.Scenario.from_dict(FEW).to_toml(), encoding="utf-8")
    note = "* a percentile that so few flows cannot support: none of 40 flows lies beyond it in "
    for words in ([], ["--replications", "3"]):
        assert main(["run", "s.toml", *words, "--set", "measurement.size_classes=[]"]) == 0
        said = capsys.readouterr().out
        assert f"{note}about 67 of 100 cases, none of 299 in 5" in said
        line = next(x for x in said.splitlines() if "slowdown, 99th" in x)
        assert "* " in line
    (tmp_path / "l.toml").write_text(lb.Scenario.from_dict(LOSSY).to_toml(), encoding="utf-8")
    assert main(["run", "l.toml"]) == 0
    assert "of 400 flows: the others lost data in an open loop" in capsys.readouterr().out


def test_sweeps_and_comparisons_say_it() -> None:
    variants = {"a": {}, "b": {"topology.link_length": "1 km"}}
    scenario = lb.Scenario.from_dict(FEW)
    sweep = lb.sweep(scenario, {}, variants=variants, seeds=3, progress=False)
    table = sweep.table(["slowdown_p99", "slowdown_mean"])
    p99, mean = (table[table["metric"] == name] for name in ("slowdown_p99", "slowdown_mean"))
    assert p99["samples"].tolist() == [40, 40]
    assert p99["needed"].tolist() == [299, 299]
    assert mean["needed"].isna().all()
    found = sweep.compare("a", "b", ["slowdown_p99", "slowdown_mean"])
    few = [one for one in found.cautions if one.startswith("Beyond the sample")]
    assert few == [
        "Beyond the sample: slowdown_p99: percentiles of as few as 40 flows, where 299 are needed."
    ]
    assert found.as_dict()["metrics"][0]["samples"] == 40
    hollow = sweep.plot("variant", "slowdown_p99").axes[0].lines
    assert any(str(line.get_gid()).startswith("hollow") for line in hollow)
    usual = sweep.plot("variant", "slowdown_mean").axes[0].lines
    assert not any(str(line.get_gid()).startswith("hollow") for line in usual)


def test_what_figures_rest_on_is_not_compared() -> None:
    seeds = [1, 2, 3]
    columns = {"slowdown_p99": [1.0, 2, 3], "timed_flows": [9, 8, 7], "x_of": [1, 2, 3]}
    runs = pd.DataFrame({"seed": seeds, **columns})
    found = compare_runs(runs, runs.assign(slowdown_p99=[2.0, 3, 5]))
    assert found.table["metric"].tolist() == ["slowdown_p99"]
    assert rests_on(runs.assign(all=0), "slowdown_p99", "all")["samples"].tolist() == [7]
    assert weak(runs)["slowdown_p99"].needed == 299
