"""Two tables of runs: the metrics that differ, by how much, and with what certainty."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lightburst.foundation.errors import InputError
from lightburst.study import (
    compare_runs,
    confidence_of_each,
    difference_of_means,
    fieller_ratio,
    paired_difference,
)


def runs(seeds: list[int], **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"seed": seeds, **columns, "wall_s": [9.0] * len(seeds), "digest": "abc"})


def by_metric(first: pd.DataFrame, second: pd.DataFrame, **options: object) -> pd.DataFrame:
    return compare_runs(first, second, **options).table.set_index("metric")  # type: ignore[arg-type]


def test_runs_are_paired_by_seed_in_any_order() -> None:
    first = runs([1, 2, 3, 4], x_s=[10.0, 20.0, 30.0, 99.0])
    second = runs([3, 2, 1], x_s=[60.5, 40.0, 20.0])
    row = by_metric(first, second).loc["x_s"]
    expected = paired_difference([10.0, 20.0, 30.0], [20.0, 40.0, 60.5])
    assert (row["pairs"], row["first"], row["second"]) == (3, 20.0, pytest.approx(120.5 / 3))
    assert (row["difference"], row["ci_low"], row["ci_high"], row["p"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high, expected.p)
    )
    ratio = fieller_ratio([20.0, 40.0, 60.5], [10.0, 20.0, 30.0])
    assert (row["ratio"], row["ratio_low"]) == pytest.approx((ratio.estimate, ratio.low))
    assert row["ratio"] == pytest.approx(row["second"] / row["first"])


def test_without_shared_seeds_it_is_welch() -> None:
    one, other = [10.0, 11.0, 12.0], [20.0, 25.0, 22.0]
    row = by_metric(runs([1, 2, 3], x=one), runs([4, 5, 6], x=other)).loc["x"]
    expected = difference_of_means(one, other)
    assert (row["pairs"], row["runs_first"], row["runs_second"]) == (0, 3, 3)
    assert (row["p"], row["ci_low"]) == pytest.approx((expected.p, expected.low))
    assert row["verdict"] == "higher"


def test_verdicts() -> None:
    rng = np.random.default_rng(1)
    seeds, noise = list(range(20)), rng.normal(0, 0.1, (4, 20))
    base = rng.normal(10, 3, 20)
    first = runs(seeds, up=base, down=base, still=base, flows=[500.0] * 20)
    second = runs(
        seeds, up=base + 1 + noise[0], down=base - 1 + noise[1], still=base + noise[2],
        flows=[500.0] * 20,
    )  # fmt: skip
    found = compare_runs(first, second)
    table = found.table.set_index("metric")
    assert table["verdict"].to_dict() == {
        "up": "higher", "down": "lower", "still": "unclear", "flows": "same",
    }  # fmt: skip
    assert found.compared == 3, "what cannot differ does not count"
    assert found.confidence_of_each == pytest.approx(confidence_of_each(0.95, 3))
    assert np.isnan(table["p_adjusted"]["flows"])
    assert (table.loc["flows", "ci_low"], table.loc["flows", "ratio"]) == (0.0, 1.0)
    smallest = table["p"].nsmallest(1)
    assert table.loc[smallest.index[0], "p_adjusted"] == pytest.approx(3 * smallest.iloc[0])
    assert sorted(found.differ["metric"]) == ["down", "up"]
    alone = compare_runs(first, second, "up")
    assert alone.table["ci_high"][0] < table.loc["up", "ci_high"], "fewer are known better"


def test_single_runs_say_nothing_of_chance() -> None:
    table = by_metric(runs([1], x=[2.0], y=[5.0]), runs([1], x=[3.0], y=[5.0]))
    row = table.to_dict("index")["x"]
    assert [row[name] for name in ("difference", "ratio", "verdict")] == [1.0, 1.5, "unknown"]
    assert all(math.isnan(row[name]) for name in ("ci_low", "p", "p_adjusted"))
    assert table.loc["y", "verdict"] == "same"
    table = by_metric(runs([1], x=[2.0]), runs([2, 3], x=[3.0, 4.0]))
    assert table["verdict"]["x"] == "unknown"


def test_unfinished_flows_leave_the_sign() -> None:
    seeds, low = list(range(8)), [float(i) for i in range(8)]
    high = [*(x + 1 for x in low[:5]), math.inf, math.inf, math.inf]
    row = by_metric(runs(seeds, x=low), runs(seeds, x=high)).loc["x"]
    assert (row["second"], row["verdict"]) == (math.inf, "higher")
    assert row["p"] == pytest.approx(2**-7)
    assert np.isnan(row["difference"])
    both = by_metric(runs(seeds, x=high), runs(seeds, x=[*low[:7], math.inf])).loc["x"]
    assert (both["verdict"], both["p"]) == ("lower", pytest.approx(2**-6))
    apart = by_metric(runs([91, 92], x=[1.0, 2.0]), runs(seeds, x=high)).loc["x"]
    assert apart["verdict"] == "unknown"


def test_runs_without_a_metric_are_left_out() -> None:
    first = runs([1, 2, 3, 4], x=[1.0, 2.0, 3.0, math.nan], only=[1.0] * 4)
    second = runs([1, 2, 3, 4], x=[math.nan, 3.0, 4.5, 1.0], other=[1.0] * 4, none=[math.nan] * 4)
    found = compare_runs(first, second)
    assert found.table["metric"].tolist() == ["x"]
    assert found.table["pairs"].tolist() == [2]
    assert (found.only_first, found.only_second) == (("only",), ("other",))


def test_figures_of_groups_are_compared_when_asked_for() -> None:
    first, second = (runs([1, 2, 3], **{"x": x, "x[query]": x}) for x in ([1.0, 2, 3], [2.0, 2, 4]))
    assert compare_runs(first, second).table["metric"].tolist() == ["x"]
    assert compare_runs(first, second, ["x[query]"]).table["metric"].tolist() == ["x[query]"]
    with pytest.raises(InputError, match="allowed: x, and the same of groups and classes of size"):
        compare_runs(first, second, "y")


def test_what_was_offered_to_only_one_of_the_two_is_told() -> None:
    seeds = [1, 2, 3]
    first = runs(seeds, offered_bps=[1e9, 2e9, 3e9], x=[1.0, 2.0, 3.0])
    same = compare_runs(first, first, names=("W = 8", "W = 10"))
    assert (same.offered, same.other_traffic) == ((1, 1), None)
    more = first.assign(offered_bps=1.25 * first["offered_bps"])
    found = compare_runs(first, more, ["x"], names=("W = 8", "W = 10"))
    assert found.offered == (1.25, 1.25)
    assert found.other_traffic is not None
    assert found.other_traffic.startswith("W = 10 was offered 1.25 times the traffic of W = 8")
    assert found.as_dict()["offered_ratio"] == [1.25, 1.25]
    several = compare_runs(
        pd.concat([first.assign(at=0), first.assign(at=1)]),
        pd.concat([first.assign(at=0), more.assign(at=1)]),
        by=["at"],
    )
    assert several.other_traffic is not None
    assert several.other_traffic.startswith("B was offered 1 to 1.25 times the traffic of A")
    # Runs of other seeds differ by chance, and some tables do not have the seeds.
    assert compare_runs(first, more.assign(seed=[7, 8, 9]), ["x"]).other_traffic is None
    assert math.isnan(compare_runs(runs(seeds, x=seeds), runs(seeds, x=seeds)).offered[0])


def test_points_are_compared_each_on_its_own() -> None:
    def table(shift: float, loads: list[float]) -> pd.DataFrame:
        rng = np.random.default_rng(4)
        rows = [(load, seed, load + rng.normal()) for load in loads for seed in range(5)]
        frame = pd.DataFrame(rows, columns=["workload.load", "seed", "x"])
        return frame.assign(x=frame["x"] + shift * frame["workload.load"])

    found = compare_runs(table(0, [0.1, 0.5]), table(1, [0.1, 0.5, 0.9]), by=["workload.load"])
    assert found.table["workload.load"].tolist() == [0.1, 0.5]
    assert found.table["difference"].tolist() == pytest.approx([0.1, 0.5])
    assert (found.compared, found.points_left_out) == (2, 1)
    one, other = (table(shift, [0.1]).assign(**{"workload.load": math.nan}) for shift in (0, 1))
    there = compare_runs(one, other, by=["workload.load"])
    assert (len(there.table), there.points_left_out) == (1, 0), "no value is a value, too"
    with pytest.raises(InputError, match="with several runs of seed 0"):
        compare_runs(table(0, [0.1, 0.5]), table(1, [0.1, 0.5]))
    with pytest.raises(InputError, match=r"did you mean 'workload.load'"):
        compare_runs(table(0, [0.1]), table(1, [0.1]), by=["workload.laod"])
    with pytest.raises(InputError, match="a point which both have"):
        compare_runs(table(0, [0.1]), table(1, [0.5]), by=["workload.load"])


def test_metrics_that_cannot_be_compared_are_refused() -> None:
    first, second = runs([1, 2], x=[1.0, 2.0], y=[1.0, 2.0]), runs([1, 2], x=[1.0, 2.0])
    with pytest.raises(InputError, match=r"'y' \(which only the first has\); allowed: x"):
        compare_runs(first, second, ["x", "y"])
    with pytest.raises(InputError, match="given 'digest'; allowed: x"):
        compare_runs(first, second, "digest")
    with pytest.raises(InputError, match="at least one metric"):
        compare_runs(first, second, [])
    with pytest.raises(InputError, match="in common"):
        compare_runs(first[["seed", "y"]], second)
    with pytest.raises(InputError, match="without 'seed'"):
        compare_runs(first[["x"]], second)
    with pytest.raises(ValueError, match="confidence"):
        compare_runs(first, second, confidence=95)
