"""Verdict, difference and ratio of a comparison are of one method: none contradicts another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import stats

from lightburst.study import compare_runs
from lightburst.study.statistics import (
    bonferroni,
    difference_of_means,
    fieller_ratio,
    paired_difference,
    permutation_difference,
    permutation_ratio,
    ratio_of_means,
)

METRICS = ["x", "y", "z"]
# A failure is reported as found.
BRIEF = settings(max_examples=100, phases=[Phase.explicit, Phase.generate], derandomize=True)


def excludes(low: float, high: float, value: float) -> int:
    """1 above, -1 below, 0 if the interval contains the value or is missing."""
    return int(low > value) - int(high < value)


def check(table: pd.DataFrame) -> None:
    signs = {"higher": 1, "lower": -1}
    for row in table.to_dict("records"):
        sign = signs.get(row["verdict"], 0)
        assert sign == excludes(row["ci_low"], row["ci_high"], 0), row
        if not math.isnan(row["ratio"]) and row["verdict"] != "same":
            assert sign == excludes(row["ratio_low"], row["ratio_high"], 1), row
        if sign:
            assert row["p_adjusted"] <= 0.05 * (1 + 1e-9), row
            assert math.copysign(1, row["difference"]) == sign
        elif not math.isnan(row["p_adjusted"]):
            assert row["p_adjusted"] > 0.05 * (1 - 1e-9), row


values = st.one_of(
    st.just(0.0), st.floats(1e-3, 100), st.integers(0, 3).map(float), st.floats(1e-6, 1e6)
)


@st.composite
def two_tables(draw: st.DrawFn, shared: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables of runs: on the same seeds, or on others."""
    n = draw(st.integers(2, 14))
    m = n if shared else draw(st.integers(2, 9))
    tables = []
    for size, begin in ((n, 1), (m, 1 if shared else 101)):
        columns: dict[str, Any] = {"seed": range(begin, begin + size)}
        for name in METRICS:
            columns[name] = draw(st.lists(values, min_size=size, max_size=size))
        tables.append(pd.DataFrame(columns))
    if shared and draw(st.booleans()):
        # The purpose of pairs: both depend on the seed, and their difference depends on little
        # else.
        scale = draw(st.sampled_from([0.0, 1e-3, 0.1, 1.0]))
        for name in METRICS:
            tables[1][name] = tables[0][name] + draw(st.integers(0, 5)) + scale * tables[1][name]
    return tables[0], tables[1]


@pytest.mark.parametrize("interval", ["t", "bca"])
@BRIEF
@given(data=st.data())
def test_on_shared_seeds_nothing_contradicts(interval: str, data: st.DataObject) -> None:
    first, second = data.draw(two_tables(shared=True))
    check(compare_runs(first, second, interval=interval).table)


@pytest.mark.parametrize("interval", ["t", "bca"])
@BRIEF
@given(data=st.data())
def test_on_other_seeds_nothing_contradicts(interval: str, data: st.DataObject) -> None:
    first, second = data.draw(two_tables(shared=False))
    check(compare_runs(first, second, interval=interval).table)


def test_a_difference_whose_interval_touches_zero_is_unclear() -> None:
    """p of 0.02 and 0.04: Holm's are 0.04 both, and an interval at 97.5 % is beyond 0.04."""

    def shifted(p: float) -> np.ndarray:
        """Ten differences with this p-value."""
        noise = np.random.default_rng(3).normal(size=10)
        noise = (noise - noise.mean()) / noise.std(ddof=1)
        return np.asarray(noise + stats.t.isf(p / 2, 9) / math.sqrt(10))

    seeds, base = range(10), np.full(10, 50.0)
    first = pd.DataFrame({"seed": seeds, "x": base, "y": base})
    second = pd.DataFrame({"seed": seeds, "x": base + shifted(0.02), "y": base + shifted(0.04)})
    table = compare_runs(first, second).table.set_index("metric")
    assert table["p"].tolist() == pytest.approx([0.02, 0.04])
    assert table["p_adjusted"].tolist() == pytest.approx([0.04, 0.08])
    assert table["verdict"].tolist() == ["higher", "unclear"]
    assert table["ci_low"]["x"] > 0 > table["ci_low"]["y"]
    assert table["ratio_low"]["x"] > 1 > table["ratio_low"]["y"]


def test_fieller_is_the_test_turned_round() -> None:
    """At its ends the paired t-test of B and r A has a p-value of 0.05, by SciPy."""
    rng = np.random.default_rng(5)
    one = rng.gamma(4, 1, 12)
    other = 1.7 * one + rng.normal(0, 1.5, 12)
    found = fieller_ratio(other, one)
    assert found.estimate == pytest.approx(other.mean() / one.mean())
    assert found.low < found.estimate < found.high
    for end in (found.low, found.high):
        assert stats.ttest_rel(other, end * one).pvalue == pytest.approx(0.05)


def test_fieller_of_a_textbook() -> None:
    """Independent samples of one size and equal variances: Fieller's formula as it is printed."""
    one, other = np.array([9.0, 10, 11, 12, 8]), np.array([19.0, 20, 21, 22, 18])
    a, b, v = one.mean(), other.mean(), 2.5 / 5
    t = stats.t.isf(0.025, 8)
    g = t * t * v / a**2
    half = t / a * math.sqrt(v * (1 + (b / a) ** 2 - g))
    found = fieller_ratio(other, one, shared_seeds=False)
    assert (found.low, found.high) == pytest.approx(
        ((b / a - half) / (1 - g), (b / a + half) / (1 - g))
    )


def test_a_denominator_that_may_be_zero_has_a_ratio_without_end() -> None:
    one, other = [0.0, 0.0, 0.0, 6.0, 0.0], [50.0, 55.0, 61.0, 58.0, 52.0]
    found = fieller_ratio(other, one)
    assert found.high == math.inf
    assert found.low > 1
    assert paired_difference(one, other).low > 0
    # Neither is far from 0: the ratio is unknown.
    noise = fieller_ratio([0.0, 0.0, 9.0, 0.0], [0.0, 7.0, 0.0, 0.0])
    assert (noise.low, noise.high) == (0.0, math.inf)


@pytest.mark.parametrize("paired", [True, False])
def test_the_permutation_test_is_scipys(paired: bool) -> None:
    rng = np.random.default_rng(7)
    one, other = rng.normal(10, 2, 6), rng.normal(12, 2, 6)
    found = permutation_difference(one, other, shared_seeds=paired)
    how: dict[str, Any] = {"vectorized": True, "n_resamples": 99_999}
    if paired:
        oracle = stats.permutation_test((other - one,), np.mean, permutation_type="samples", **how)
    else:
        oracle = stats.permutation_test(
            (other, one), lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis), **how
        )
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.estimate == pytest.approx(oracle.statistic)


@pytest.mark.parametrize("paired", [True, False])
def test_permutation_intervals_are_the_test_turned_round(paired: bool) -> None:
    """Within the limits the test by its definition rejects no value, and just beyond them it
    rejects.
    """
    rng = np.random.default_rng(8)
    one, other = rng.gamma(3, 1, 7), rng.gamma(6, 1, 7)

    def p(change: Any) -> float:
        return permutation_difference(one, change, shared_seeds=paired).p

    gap = permutation_difference(one, other, 0.9, shared_seeds=paired)
    for end, beyond in ((gap.low, -1e-6), (gap.high, 1e-6)):
        assert p(other - end + 1e-3 * beyond) > 0.1 or p(other - end) > 0.1
        assert p(other - end - beyond) <= 0.1
    ratio = permutation_ratio(other, one, 0.9, shared_seeds=paired)

    def scaled(r: float) -> float:
        return permutation_difference(r * one, other, shared_seeds=paired).p

    for end, beyond in ((ratio.low, -1e-6), (ratio.high, 1e-6)):
        assert scaled(end - beyond) > 0.1
        assert scaled(end + beyond) <= 0.1


def test_few_runs_have_no_end_that_the_permutation_test_could_show() -> None:
    found = permutation_difference([1.0, 2, 3, 4], [11.0, 12.5, 13, 14])
    assert found.p == 2 / 16
    assert math.isnan(found.low)
    many = permutation_difference([1.0] * 8, [2.0] * 8)
    assert (many.low, many.high, many.p) == (1.0, 1.0, 2 / 2**8)


@pytest.mark.parametrize("interval", ["t", "bca"])
def test_the_same_gap_in_too_few_runs_is_no_verdict(interval: str) -> None:
    first = pd.DataFrame({"seed": [1, 2, 3], "x": [1.0, 5.0, 9.0]})
    row = compare_runs(first, first.assign(x=first["x"] + 1), interval=interval).table.iloc[0]
    assert (row["verdict"], row["p"], row["difference"]) == ("unclear", 0.25, 1.0)
    assert all(math.isnan(row[name]) for name in ("ci_low", "ratio_high"))


def test_bonferroni_of_known_numbers() -> None:
    # As R's p.adjust(c(0.01, 0.04, 0.03, 0.5), "bonferroni") prints it.
    assert bonferroni([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16, 0.12, 1])
    assert bonferroni([0.01, math.nan, 0.3])[[0, 2]] == pytest.approx([0.02, 0.6])


def test_a_welch_interval_of_a_ratio_covers() -> None:
    rng = np.random.default_rng(9)
    hits = 0
    for _ in range(1000):
        one, other = rng.normal(10, 2, 20), rng.normal(15, 4, 10)
        hits += fieller_ratio(other, one, shared_seeds=False).contains(1.5)
    # Three standard errors of 1,000 experiments.
    assert hits / 1000 == pytest.approx(0.955, abs=0.02)


def test_a_permutation_difference_is_that_of_the_pairs() -> None:
    random = np.random.default_rng(3)
    flows = random.lognormal(size=30)
    one, other = 2 * flows, 2 * flows + random.exponential(0.1, 30)
    found = permutation_difference(one, other)
    # As Student's, and far from the interval that ignores the pairs.
    student = paired_difference(one, other)
    assert (found.low, found.high) == pytest.approx((student.low, student.high), rel=0.05)
    assert found.p == pytest.approx(2 / 10_000)  # no draw comes near
    apart = permutation_difference(one, other, shared_seeds=False)
    assert apart.high - apart.low > 10 * (found.high - found.low)
    assert apart.p == pytest.approx(difference_of_means(one, other).p, abs=0.03)


def test_the_p_value_of_few_pairs_is_counted() -> None:
    # Only two of the 2^4 exchanges give a difference as large, those of all pairs alike.
    assert permutation_difference([1, 2, 3, 4], [2, 4, 4, 9]).p == 2 / 16
    # Over the 10 choices of three of five.
    assert permutation_difference([5, 6], [1, 2, 3], shared_seeds=False).p == 2 / 10
    assert math.isnan(permutation_difference([1], [2]).p)


def test_ratios_by_three_methods_are_near_each_other() -> None:
    random = np.random.default_rng(5)
    bottom = random.lognormal(0, 0.3, 80)
    top = 1.5 * bottom * random.lognormal(0, 0.05, 80)
    for shared, tolerance in ((True, 0.005), (False, 0.03)):
        delta = ratio_of_means(top, bottom, shared_seeds=shared)
        for method in (permutation_ratio, fieller_ratio):
            found = method(top, bottom, shared_seeds=shared)
            assert found.estimate == pytest.approx(delta.estimate)
            assert (found.low, found.high) == pytest.approx((delta.low, delta.high), rel=tolerance)
    # Where every pair has one ratio there is no spread.
    for method in (permutation_ratio, fieller_ratio):
        same = method(3 * bottom, bottom)
        assert (same.low, same.high) == pytest.approx((3, 3))
