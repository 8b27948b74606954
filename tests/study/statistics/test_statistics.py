"""Intervals have their nominal coverage, and pair the right runs."""

import math

import numpy as np
import pandas as pd
import pytest

from lightburst.study import statistics

REPETITIONS = 2000
# Four standard errors of a coverage of 0.95 that was estimated from a given number of repetitions.
TOLERANCE = 4 * math.sqrt(0.95 * 0.05 / REPETITIONS)


def test_student_interval_of_known_numbers() -> None:
    got = statistics.mean_interval([1.0, 2.0, 3.0, 4.0])
    # t(0.975, 3) = 3.1824463, s = 1.2909944.
    assert got.estimate == 2.5
    assert got.high - got.estimate == pytest.approx(3.1824463 * 1.2909944 / 2, rel=1e-7)
    assert got.n == 4
    assert got.contains(2.5)
    assert not got.contains(5.0)


def test_one_sample_has_no_interval() -> None:
    got = statistics.mean_interval([3.0])
    assert got.estimate == 3.0
    assert math.isnan(got.low)
    assert math.isnan(got.high)


@pytest.mark.parametrize("n", [2, 5, 30])
def test_student_interval_covers(n: int) -> None:
    rng = np.random.default_rng(2)
    hits = sum(
        statistics.mean_interval(rng.normal(7.0, 3.0, n)).contains(7.0) for _ in range(REPETITIONS)
    )
    assert hits / REPETITIONS == pytest.approx(0.95, abs=TOLERANCE)


@pytest.mark.parametrize("n", [4, 10, 100])
def test_paired_ratio_covers_and_gains_from_pairing(n: int) -> None:
    rng = np.random.default_rng(3)
    hits, paired_width, loose_width = 0, 0.0, 0.0
    for _ in range(REPETITIONS):
        flows = rng.lognormal(0.0, 0.2, n)  # the effect of a seed on both systems
        top = 1.5 * flows * rng.lognormal(0.0, 0.05, n)
        bottom = flows * rng.lognormal(0.0, 0.05, n)
        paired = statistics.paired_ratio(top, bottom)
        loose = statistics.paired_ratio(top, rng.permutation(bottom))
        hits += paired.contains(1.5)
        paired_width += paired.high - paired.low
        loose_width += loose.high - loose.low
    assert hits / REPETITIONS == pytest.approx(0.95, abs=TOLERANCE)
    assert paired_width < 0.4 * loose_width


@pytest.mark.parametrize(("groups", "shared"), [(1, True), (6, False), (6, True)])
def test_relative_deviation_covers(groups: int, shared: bool) -> None:
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(REPETITIONS):
        means = np.geomspace(1.0, 50.0, groups)[:, None]
        noise = rng.normal(0.0, 0.17, (1 if shared else groups, 60))
        hits += statistics.relative_deviation(means * (1 + noise), shared_seeds=shared).contains(
            0.17
        )
    assert hits / REPETITIONS == pytest.approx(0.95, abs=TOLERANCE + 0.01)


def test_relative_deviation_pools_by_degrees_of_freedom() -> None:
    one, two = [1.0, 2.0, 3.0], [10.0, 10.0]
    got = statistics.relative_deviation([one, two, [5.0]])
    assert got.estimate == pytest.approx(math.sqrt((2 * 0.25 + 0.0) / 3))
    assert got.n == 5


def _runs() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "switching.buffer_ports": [0, 0, 0, 5, 5, 5],
            "seed": [1, 2, 3, 3, 2, 1],
            "throughput_bps": [10.0, 20.0, 30.0, 60.0, 40.0, 20.0],
        }
    )


def test_summarise_is_the_interval_of_each_group() -> None:
    table = statistics.summarise(_runs(), ["switching.buffer_ports"], "throughput_bps")
    assert table["switching.buffer_ports"].tolist() == [0, 5]
    for row, values in zip(
        table.itertuples(), ([10.0, 20.0, 30.0], [60.0, 40.0, 20.0]), strict=True
    ):
        expected = statistics.mean_interval(values)
        assert row.mean == pytest.approx(expected.estimate)
        assert (row.ci_low, row.ci_high) == pytest.approx((expected.low, expected.high))
        assert row.n == 3


def test_what_gives_no_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        statistics.mean_interval([])
    with pytest.raises(ValueError, match="finite"):
        statistics.mean_interval([1.0, math.nan])
    with pytest.raises(ValueError, match="no pairs"):
        statistics.paired_ratio([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="above 0"):
        statistics.paired_ratio([1.0], [0.0])
    with pytest.raises(ValueError, match="two samples"):
        statistics.relative_deviation([[1.0]])
    with pytest.raises(ValueError, match="confidence"):
        statistics.mean_interval([1.0, 2.0], confidence=1.0)
