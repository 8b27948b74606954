"""One long run: batch means by hand, and waits of M/M/1 against theory."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.signal import lfilter

from lightburst.study import batch_means, mean_interval


def test_batch_means_by_hand() -> None:
    # Two observations too many at the beginning go with the warm-up.
    series = [50.0, 50.0, 9.0, 1.0, 3.0, 2.0, 4.0, 0.0, 5.0, 5.0]
    found = batch_means(series, batches=4, warm_up=2)
    means = [5.0, 2.5, 2.0, 5.0]
    expected = mean_interval(means)
    assert (found.estimate, found.low, found.high) == (3.625, expected.low, expected.high)
    assert (found.n, found.size, found.cut.observations) == (4, 2, 2)
    assert batch_means([7.0, *series[2:]], batches=4, warm_up=0).estimate == 3.625
    assert batch_means(series, batches=2, warm_up=0).n == 2


def test_the_warm_up_is_found() -> None:
    series = np.random.default_rng(1).normal(5.0, 1.0, 10_000)
    series[:300] += 20.0
    found = batch_means(series)
    assert 300 <= found.cut.observations < 1000
    assert found.contains(5.0)
    assert found.trusted
    assert found.size == (10_000 - found.cut.observations) // 20
    assert batch_means(series, warm_up=0).estimate > 5.5


def test_batches_that_hang_together_are_told() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(300, 2000))
    slow, quick = lfilter([1], [1, -0.999], noise), lfilter([1], [1, -0.5], noise)
    found = [sum(batch_means(x, warm_up=0).independent for x in y) / 300 for y in (slow, quick)]
    assert found[0] < 0.25, "of correlated batches few pass"
    # The test is wrong about 5 % of the independent ones.
    assert found[1] == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / 300))
    assert batch_means(np.ones(100)).independent


def test_von_neumanns_ratio_has_the_variance_that_is_used() -> None:
    means = np.random.default_rng(3).normal(size=(20_000, 20))
    steps, deviations = np.diff(means, axis=1), means - means.mean(axis=1, keepdims=True)
    c = 1 - (steps**2).sum(axis=1) / (2 * (deviations**2).sum(axis=1))
    assert c.mean() == pytest.approx(0, abs=0.01)
    assert c.var() == pytest.approx(18 / 399, rel=0.03)


def waits(load: float, number: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Waits of an M/M/1 queue that begins empty, with a mean service of 1 (Lindley 1952)."""
    steps = rng.exponential(size=number) - rng.exponential(1 / load, number)
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    return sums - np.minimum.accumulate(sums)


def test_waits_of_a_queue_are_covered() -> None:
    rng, hits, naive, repetitions = np.random.default_rng(4), 0, 0, 300
    truth = 0.5 / (1 - 0.5)  # mean wait in line of M/M/1, in services
    for _ in range(repetitions):
        x = waits(0.5, 20_000, rng)
        hits += batch_means(x).contains(truth)
        naive += mean_interval(x).contains(truth)
    assert hits / repetitions == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / repetitions))
    assert naive / repetitions < 0.7, "observations that hang together are not independent"


def test_batches_are_students() -> None:
    x = np.random.default_rng(5).normal(size=600)
    found = batch_means(x, 0.9, batches=30, warm_up=0)
    oracle = stats.ttest_1samp(x.reshape(30, 20).mean(axis=1), 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))


@pytest.mark.parametrize(
    ("series", "batches", "warm_up", "words"),
    [
        (np.ones(19), 20, 0, "19 observations, for 20 batches"),
        (np.ones(30), 20, 11, "30 observations, for 20 batches"),
        (np.ones(30), 20, -1, "30 observations"),
        (np.ones(30), 1, 0, "batches"),
        ([1.0, math.nan], 2, 0, "finite"),
        ([], 2, 0, "at least one"),
    ],
)
def test_what_has_no_batches_is_refused(
    series: NDArray[np.float64], batches: int, warm_up: int, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        batch_means(series, batches=batches, warm_up=warm_up)
