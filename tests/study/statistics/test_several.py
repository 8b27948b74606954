"""Differences with their p-values, and several of them: against SciPy and the definitions."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from lightburst.study import (
    confidence_of_each,
    difference_of_means,
    holm,
    paired_difference,
    ratio_of_means,
    sign_test,
)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_a_paired_difference_is_scipys(n: int) -> None:
    rng = np.random.default_rng(n)
    one, other = rng.normal(5, 1, n), rng.normal(5.5, 2, n)
    found, oracle = paired_difference(one, other, 0.9), stats.ttest_rel(other, one)
    assert found.p == pytest.approx(oracle.pvalue, rel=1e-10)
    ends = oracle.confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=1e-10)
    assert found.estimate == pytest.approx((other - one).mean())
    assert found.n == n


def test_two_without_shared_seeds_are_welchs() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(5, 1, 7), rng.normal(5.5, 3, 25)
    found = difference_of_means(one, other)
    oracle = stats.ttest_ind(other, one, equal_var=False)
    assert found.p == pytest.approx(oracle.pvalue, rel=1e-10)
    ends = oracle.confidence_interval()
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=1e-10)
    assert found.n == 32


def test_differences_without_spread_are_judged_by_their_number() -> None:
    always = paired_difference([1.0, 5.0, 9.0, 2.0], [2.0, 6.0, 10.0, 3.0])
    assert (always.estimate, always.low, always.high) == (1.0, 1.0, 1.0)
    assert always.p == 0.125
    assert paired_difference([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]).p == 0.25, "rounding is no spread"
    assert paired_difference([1.0, 2.0], [1.0, 2.0]).p == 1.0
    apart = difference_of_means([1.0] * 3, [2.0] * 3)
    assert apart.p == pytest.approx(2 / 20)
    assert difference_of_means([1.0] * 3, [1.0] * 3).p == 1.0
    one = paired_difference([1.0], [2.0])
    assert one.estimate == 1.0
    assert math.isnan(one.low)
    assert math.isnan(one.p)
    assert math.isnan(difference_of_means([1.0], [2.0, 3.0]).p)
    with pytest.raises(ValueError, match="first and second: 1 and 2 samples, no pairs"):
        paired_difference([1.0], [2.0, 3.0])


def test_a_sign_test_takes_what_is_infinite() -> None:
    one, other = [1.0, 2.0, 3.0, math.inf, 5.0], [2.0, math.inf, 4.0, math.inf, 6.0]
    assert sign_test(one, other) == pytest.approx(stats.binomtest(4, 4).pvalue)
    assert sign_test(other, one) == sign_test(one, other)
    assert sign_test([1.0], [1.0]) == 1.0
    assert sign_test(range(10), [9.0] * 10) == pytest.approx(stats.binomtest(9, 9).pvalue)


def test_ratios_without_shared_seeds_have_the_sum_of_both_variances() -> None:
    rng = np.random.default_rng(2)
    flows = rng.normal(10, 1, 30)
    one, other = flows + rng.normal(0, 0.1, 30), 2 * flows + rng.normal(0, 0.1, 30)
    paired, apart = (ratio_of_means(other, one, shared_seeds=shared) for shared in (True, False))
    assert paired.estimate == apart.estimate
    deviation = math.sqrt(sum(x.var(ddof=1) / x.mean() ** 2 / 30 for x in (one, other)))
    assert math.log(apart.high / apart.estimate) == pytest.approx(
        stats.t(58).ppf(0.975) * deviation, rel=0.01
    )
    assert math.log(paired.high / paired.low) < 0.2 * math.log(apart.high / apart.low)


def closed(p: list[float]) -> list[float]:
    """Holm's p-values by their definition: Bonferroni's test of all hypotheses that hold one."""
    sets = [s for k in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), k)]
    return [
        max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(len(p))
    ]


@pytest.mark.parametrize("seed", range(10))
def test_holm_is_the_closed_test(seed: int) -> None:
    p = np.random.default_rng(seed).beta(0.3, 3, 7).tolist()
    assert holm(p) == pytest.approx(closed(p))


def test_holm_of_known_numbers() -> None:
    # As R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") prints it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    got = holm([math.nan, 0.01, math.nan, 0.03])
    assert np.isnan(got[[0, 2]]).all()
    assert got[[1, 3]] == pytest.approx([0.02, 0.03])
    assert holm([]).size == 0
    for wrong in ([1.1], [-0.1], 0.5):
        with pytest.raises(ValueError, match="p_values"):
            holm(wrong)


def test_holm_is_wrong_about_nothing_in_95_of_100_cases() -> None:
    # Ten correlated metrics, seven of them the same in both systems.
    rng, repetitions, wrong, covered = np.random.default_rng(3), 1000, 0, 0
    truth = np.array([0.0] * 7 + [0.5, 1.0, 2.0])
    for _ in range(repetitions):
        noise = rng.normal(size=(20, 10)) + rng.normal(size=(20, 1))
        found = [paired_difference(np.zeros(20), truth[i] + noise[:, i]) for i in range(10)]
        wrong += bool((holm([one.p for one in found])[:7] <= 0.05).any())
        each = confidence_of_each(0.95, 10)
        ends = [paired_difference(np.zeros(20), truth[i] + noise[:, i], each) for i in range(10)]
        covered += all(end.contains(true) for end, true in zip(ends, truth, strict=True))
    error = 4 * math.sqrt(0.95 * 0.05 / repetitions)
    assert wrong / repetitions < 0.05 + error
    assert covered / repetitions > 0.95 - error
    assert confidence_of_each(0.95, 1) == 0.95
    with pytest.raises(ValueError, match="number"):
        confidence_of_each(0.95, 0)
