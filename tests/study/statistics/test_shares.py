"""Intervals of shares: none seen is a bound, and no interval leaves 0 to 1."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import lightburst as lb
from lightburst.cli import main
from lightburst.experiment.replicate import Replications, replicate
from lightburst.foundation.support import bound
from lightburst.study import mean_interval, share_interval, summarise

QUIET = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "poisson", "flows": 20, "arrival_rate": "1e3 /s"},
}


@pytest.mark.parametrize(("seen", "of"), [(1, 10), (3, 1000), (7, 12), (500, 100_000), (99, 100)])
def test_one_run_is_clopper_and_pearson(seen: int, of: int) -> None:
    found, oracle = share_interval([seen], [of]), stats.binomtest(seen, of).proportion_ci()
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (seen / of, oracle.low, oracle.high)
    )


@pytest.mark.parametrize("sizes", [[1], [40], [1000, 2000], [10**9]])
def test_none_seen_is_below_three_over_n(sizes: list[int]) -> None:
    n = sum(sizes)
    found = share_interval([0] * len(sizes), sizes)
    oracle = stats.binomtest(0, n, alternative="less").proportion_ci()
    assert found.low == 0
    assert found.high == pytest.approx(oracle.high)
    assert found.high == pytest.approx(bound(n))
    if n >= 40:
        assert found.high == pytest.approx(3 / n, rel=0.05)
    every = share_interval(sizes, sizes)
    assert (every.estimate, every.high) == (1, 1)
    assert every.low == pytest.approx(1 - found.high)


def test_runs_that_are_alike_pool_their_units() -> None:
    found = share_interval([2, 2, 2], [100, 100, 100])
    oracle = stats.binomtest(6, 300).proportion_ci()
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))


def test_losses_that_come_together_in_one_run_are_one_case() -> None:
    """Fifty losses in one run of twenty: the variance is that of one case in twenty."""
    found = share_interval([50] + [0] * 19, [1000] * 20)
    share = 50 / 20_000
    units = (1 - share) / share * (stats.t.ppf(0.975, 19_999) / stats.t.ppf(0.975, 19)) ** 2
    seen = share * units
    assert found.low == pytest.approx(stats.beta.ppf(0.025, seen, units - seen + 1))
    assert found.high == pytest.approx(stats.beta.ppf(0.975, seen + 1, units - seen))
    assert found.high > 2 * stats.binomtest(50, 20_000).proportion_ci().high


def test_many_losses_have_the_interval_of_student() -> None:
    rng = np.random.default_rng(3)
    sizes = np.full(30, 100_000)
    lost = rng.binomial(sizes, rng.normal(0.05, 0.005, 30))
    found, student = share_interval(lost, sizes), mean_interval(lost / sizes)
    assert found.estimate == pytest.approx(student.estimate)
    assert (found.low, found.high) == pytest.approx((student.low, student.high), rel=0.01)


@given(
    st.lists(
        st.integers(0, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=1,
        max_size=12,
    ).filter(lambda pairs: sum(n for _, n in pairs) > 0),
    st.floats(0.5, 0.999),
)
def test_it_never_leaves_0_to_1_and_always_has_a_width(
    pairs: list[tuple[int, int]], confidence: float
) -> None:
    found = share_interval([k for k, _ in pairs], [n for _, n in pairs], confidence)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert found.low < found.high


@pytest.mark.parametrize("p", [3e-5, 1e-4, 1e-3, 0.05, 0.5])
def test_it_covers(p: float) -> None:
    """2,000 experiments of 20 runs of 500 units; a miss of 5 % and four standard errors."""
    rng = np.random.default_rng(11)
    hits = sum(
        share_interval(rng.binomial(500, p, 20), [500] * 20).contains(p) for _ in range(2000)
    )
    assert hits / 2000 > 0.95 - 4 * math.sqrt(0.05 * 0.95 / 2000)


def test_what_is_no_count_is_refused() -> None:
    for counts, sizes in (([1], [0]), ([2], [1]), ([], []), ([1, 2], [3]), ([-1], [2])):
        with pytest.raises(ValueError, match="sizes"):
            share_interval(counts, sizes)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Replications:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("quiet"))
        return replicate(lb.Scenario.from_dict(QUIET), range(1, 4))


def test_replications_have_a_bound(quiet: Replications) -> None:
    found, n = quiet.summary()["loss_per_hop"], int(quiet.runs["loss_per_hop_of"].sum())
    assert n > 1000
    assert found == {"mean": 0.0, "ci_low": 0.0, "ci_high": pytest.approx(bound(n))}
    for share in ("loss_per_hop", "loss_end_to_end"):
        ratio = quiet.runs[f"{share}_count"] / quiet.runs[f"{share}_of"]
        assert ratio.tolist() == quiet.runs[share].tolist()


@pytest.mark.parametrize("interval", ["t", "bca"])
def test_sweeps_pages_and_figures_have_it(interval: str, tmp_path: Path) -> None:
    from lightburst.report.sweep_data import points_of

    over = {"workload.flows": [10, 20]}
    scenario = lb.Scenario.from_dict(QUIET)
    sweep = lb.sweep(scenario, over, seeds=3, interval=interval, progress=False)
    table = sweep.table("loss_end_to_end")
    assert table["ci_low"].tolist() == [0, 0]
    assert table["ci_high"].tolist() == pytest.approx([bound(n) for n in table["units"]])
    data = points_of(sweep)["metrics"]["loss_end_to_end"]
    assert data["high"] == pytest.approx(table["ci_high"], rel=1e-5)
    assert data["interval"] == "Clopper-Pearson"
    assert "loss_end_to_end_of" not in points_of(sweep)["metrics"]
    canvas = sweep.plot("workload.flows", "loss_end_to_end")
    marks = [line for line in canvas.axes[0].lines if str(line.get_gid()).startswith("limit")]
    assert [line.get_marker() for line in marks] == ["v"]
    assert np.asarray(marks[0].get_ydata()) == pytest.approx(table["ci_high"])
    sweep.save(tmp_path / "out")
    saved = pd.read_csv(tmp_path / "out" / "table.csv")
    assert {"samples", "needed", "units"} <= set(saved.columns)


def test_shares_of_ones_own_have_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = {"lost": "share of status = 'lost'", "mice": "p99 of slowdown where bytes < 100 kB"}
    study = lb.Study(lb.Scenario.from_dict(QUIET), {}, seeds=3, metrics=own)
    runs = lb.execute(study, tmp_path / "runs", progress=False).assign(all=1)
    row = summarise(runs, ["all"], "lost").iloc[0]
    assert (row["mean"], row["ci_low"], row["ci_high"]) == (0, 0, pytest.approx(bound(60)))
    assert runs["lost_of"].tolist() == [20, 20, 20]
    assert runs["mice_needed"].tolist() == [299] * 3
    again = lb.execute(study, tmp_path / "runs", progress=False)
    assert again["mice_of"].tolist() == runs["mice_of"].tolist()


def test_the_command_line_says_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(lb.Scenario.from_dict(QUIET).to_toml(), encoding="utf-8")
    for words in ([], ["--replications", "3"]):
        assert main(["run", "s.toml", *words]) == 0
        said = capsys.readouterr().out
        assert "0 (below 0.0" in said
        assert "if units are lost independently" in said
    assert main(["run", "s.toml", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["loss_end_to_end_count"] == 0 < found["loss_end_to_end_of"]
