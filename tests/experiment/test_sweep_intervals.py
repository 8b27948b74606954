"""Intervals of a sweep by the bootstrap: in its tables, its comparisons, its file and its page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_sweep import VARIANTS, scenario

import lightburst as lb
from lightburst.report.sweep_data import points_of
from lightburst.study import bootstrap_interval
from lightburst.study.design.description import StudyDescription
from lightburst.study.statistics import permutation_difference

METRIC = "slowdown_p99"


@pytest.fixture(scope="module")
def swept() -> lb.Sweep:
    return lb.sweep(scenario(), variants=VARIANTS, seeds=6, interval="bca", progress=False)


def test_means_have_the_ends_of_the_bootstrap(swept: lb.Sweep) -> None:
    table = swept.table(METRIC)
    own = swept.table(METRIC, interval="t")
    assert table["mean"].tolist() == own["mean"].tolist()
    for row, student in zip(table.to_dict("records"), own.to_dict("records"), strict=True):
        runs = swept.runs[swept.runs["variant"] == row["variant"]][METRIC]
        found = bootstrap_interval(runs)
        assert (row["ci_low"], row["ci_high"]) == (found.low, found.high)
        assert row["ci_low"] != student["ci_low"]


def test_a_run_without_end_leaves_no_interval(swept: lb.Sweep) -> None:
    runs = swept.runs.astype({METRIC: float})
    runs.loc[0, METRIC] = np.inf
    table = replace(swept, runs=runs).table(METRIC)
    assert np.isinf(table["mean"][0])
    assert table[["ci_low", "ci_high"]].iloc[0].isna().all()
    assert table[["ci_low", "ci_high"]].iloc[1].notna().all()


def test_comparisons_follow_the_sweep(swept: lb.Sweep) -> None:
    found = swept.compare("optical", "hybrid", METRIC)
    sides = [swept.runs[swept.runs["variant"] == name][METRIC] for name in ("optical", "hybrid")]
    gap = permutation_difference(sides[0], sides[1])
    row = found.table.iloc[0]
    assert (row["difference"], row["ci_low"], row["ci_high"]) == (gap.estimate, gap.low, gap.high)
    assert row["p"] == gap.p
    student = swept.compare("optical", "hybrid", METRIC, interval="t").table.iloc[0]
    assert student["ci_low"] != row["ci_low"]
    assert row["ratio_low"] < row["ratio"] == student["ratio"] < row["ratio_high"]


def test_a_saved_sweep_and_its_page_know_which(swept: lb.Sweep, tmp_path: Path) -> None:
    swept.save(tmp_path / "out")
    again = lb.load_sweep(tmp_path / "out")
    assert again.study.interval == "bca"
    assert again.table(METRIC).equals(swept.table(METRIC))
    assert 'interval = "bca"' in (tmp_path / "out" / "study.toml").read_text()
    data = points_of(swept)["metrics"]
    assert data[METRIC]["interval"] == "BCa bootstrap"
    assert data[METRIC]["low"] == pytest.approx(swept.table(METRIC)["ci_low"], rel=1e-5)
    # Intervals that are not requested are not resampled.
    assert data["delivered_bytes"]["interval"] == "Student"


def test_other_intervals_are_refused(swept: lb.Sweep) -> None:
    for asked in (swept.table, lambda **how: swept.compare("optical", "hybrid", **how)):
        with pytest.raises(
            lb.InputError, match="interval: given 'bcs'; allowed: one of 't' \\(Stu"
        ):
            asked(interval="bcs")
    with pytest.raises(lb.InputError, match="interval: given 'normal'; allowed: one of 't', 'bca'"):
        StudyDescription.from_dict({"scenario": scenario().to_dict(), "interval": "normal"})
