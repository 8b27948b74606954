"""Resampling: against the numbers of a textbook, exact ranks, and the limits of the bootstrap."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from lightburst.study import bootstrap_interval, quantile_interval

# Efron and Tibshirani 1993, table 14.1: the spatial test, measurement A of 26 children.
SPATIAL = [
    48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30,
    41,
]  # fmt: skip


def plug_in_variance(x: NDArray[np.float64], axis: int) -> Any:
    return np.var(x, axis=axis)


def test_bca_of_a_variance_as_in_the_textbook() -> None:
    found = bootstrap_interval(SPATIAL, plug_in_variance, confidence=0.90)
    assert found.estimate == pytest.approx(171.5, abs=0.05)
    # Table 14.2: (115.8, 259.6) from 2000 replications; two of their standard errors.
    assert found.low == pytest.approx(115.8, abs=4)
    assert found.high == pytest.approx(259.6, abs=6)
    assert found.n == 26
    # Far from the symmetric interval of the same standard error.
    assert found.high - found.estimate > 1.4 * (found.estimate - found.low)


def test_a_second_call_gives_the_same_and_another_seed_does_not() -> None:
    x = np.random.default_rng(1).lognormal(size=25)
    once = bootstrap_interval(x, resamples=999)
    assert bootstrap_interval(x, resamples=999) == once
    assert bootstrap_interval(x, resamples=999, seed=2) != once
    assert once.low < once.estimate < once.high
    assert once.estimate == pytest.approx(x.mean())


def test_a_sample_or_equal_samples_have_no_spread_to_draw_from() -> None:
    one = bootstrap_interval([3.0])
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    same = bootstrap_interval([2.0] * 5, "median")
    assert (same.estimate, same.low, same.high) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([], {}, "at least one sample"),
        ([1.0, math.inf], {}, "finite"),
        (np.ones(10_001), {}, "10,001 samples; allowed are up to 10,000"),
        ([1.0, 2.0], {"statistic": "mode"}, "one of mean, median, std"),
        ([1.0, 2.0], {"confidence": 95}, "confidence"),
    ],
)
def test_what_cannot_be_resampled_is_refused(
    values: list[float], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        bootstrap_interval(values, **options)


@pytest.mark.parametrize(("n", "q"), [(20, 0.5), (100, 0.9), (400, 0.99), (60, 0.1)])
def test_the_ranks_of_a_quantile_are_binomial(n: int, q: float) -> None:
    found = quantile_interval(np.random.default_rng(0).permutation(n) + 1.0, q)
    low, high = int(found.low), int(found.high)
    binomial = stats.binom(n, q)
    # P(rank low is above the quantile), P(rank high is below it); one rank further in is too much.
    assert binomial.cdf(low - 1) <= 0.025 < binomial.cdf(low)
    assert binomial.sf(high - 1) <= 0.025 < binomial.sf(high - 2)
    assert found.estimate == math.ceil(q * n)


def test_a_quantile_that_so_few_samples_cannot_bound_is_open() -> None:
    assert quantile_interval(np.arange(367.0), 0.99).high == math.inf
    assert quantile_interval(np.arange(368.0), 0.99).high == 367.0
    assert quantile_interval(np.arange(50.0), 0.01).low == -math.inf
    # Unfinished flows: infinite samples are ranked as any other.
    some = quantile_interval([*np.arange(90.0), *[math.inf] * 10], 0.5)
    assert (some.estimate, math.isfinite(some.high)) == (49.0, True)
    for q, values in ((1.0, [1.0]), (0.5, []), (0.5, [math.nan])):
        with pytest.raises(ValueError, match=r"q:|values:"):
            quantile_interval(values, q)
