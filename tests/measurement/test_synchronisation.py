"""Synchronisation of connections, from the request of a user to the metrics."""

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import lightburst as lb
from lightburst.measurement.synchronisation import metrics_of, series
from lightburst.trace import FlowTrace
from lightburst.trace.series import bins

BIN_PS = 13 * 10**9
SCENARIO = {
    "topology": {"kind": "obs-path", "host_pairs": 3, "access_rate": "100 Mb/s"},
    "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "5 ms"}},
    "loss": {"probability": 0.02},
    "transport": {"kind": "tcp", "segment_size": "1040 B", "header_size": "40 B"},
    "workload": {"kind": "pairs", "size": "2 MB", "spread": "100 ms"},
}
# Of two flows in two bins, with windows in thousandths.
SUMS = {
    "bins": 2,
    "connections": 4,
    "reductions": 3,
    "pairs": 4,
    "pairs_one": 3,
    "pairs_both": 2,
    "window_sum": 10_000,
    "window_squares": 58 * 10**6,
    "window_own_squares": 30 * 10**6,
    "window_squared_sums": 52 * 10**6,
    "bytes_sum": 10,
    "bytes_squares": 58,
    "bytes_own_squares": 30,
    "bytes_squared_sums": 52,
}


def scenario(own: dict[str, Any] | None = None, **changes: Any) -> lb.Scenario:
    measured = {"measurement": {"synchronisation": own or {}}}
    return lb.Scenario.from_dict({**SCENARIO, **measured}).with_(changes)


def test_the_metrics_of_hand_made_sums() -> None:
    """Two flows have 1 and 2, then 3 and 4: together 3 and 7, each with a variance of 1."""
    found = metrics_of({"synchronisation": SUMS}, 10**12)
    assert found["synchronisation_bins"] == found["connections_mean"] == 2
    assert found["aggregate_window_mean_segments"] == pytest.approx(5)
    assert found["aggregate_window_std_segments"] == pytest.approx(2)
    assert found["aggregate_window_independent_std_segments"] == pytest.approx(sqrt(2))
    assert found["aggregate_window_std_ratio"] == pytest.approx(sqrt(2))
    assert found["aggregate_throughput_mean_bps"] == pytest.approx(40)
    assert found["aggregate_throughput_std_bps"] == pytest.approx(16)
    assert found["aggregate_throughput_std_ratio"] == pytest.approx(sqrt(2))
    # Of four ordered pairs: mean 3/4, both in 2: (1/2 - 9/16) / (3/4 * 1/4).
    assert found["window_reduction_correlation"] == pytest.approx(-1 / 3)


def test_without_bins_or_losses_there_are_no_such_metrics() -> None:
    found = metrics_of({"synchronisation": dict.fromkeys(SUMS, 0)}, BIN_PS)
    assert {name for name, value in found.items() if value is not None} == {
        *("synchronisation_bins", "window_reductions")
    }


def test_the_bins_of_all_flows_are_the_sums_of_those_of_each() -> None:
    """The core counts during the run; here the same is read off the trace of every flow."""
    asked = scenario({"series": True}, **{"measurement.trace": [0, 1, 2]})
    result = lb.run(asked, seed=3)
    seen = result.synchronisation
    assert result.metrics["synchronisation_bins"] == len(seen) > 50
    own = [bins(FlowTrace.of(result, flow), BIN_PS) for flow in range(3)]

    def sums(name: str) -> NDArray[np.float64]:
        padded = [one[name].reindex(range(len(seen)), fill_value=0.0) for one in own]
        return np.asarray(np.sum(padded, axis=0))

    np.testing.assert_allclose(sums("throughput_bps"), seen["throughput_bps"], rtol=1e-12)
    # Each is rounded down to a thousandth.
    assert np.abs(sums("window_segments") - seen["window_segments"]).max() < 0.003
    assert seen["window_segments"].max() > 20
    of_each = pd.concat(own)["throughput_bps"].sum() * BIN_PS * 1e-12 / 8
    assert of_each == pytest.approx(result.metrics["delivered_bytes"]) == pytest.approx(6e6)
    metrics_of_run = [
        seen["window_segments"].mean(),
        seen["window_segments"].std(ddof=0),
        seen["throughput_bps"].std(ddof=0),
    ]
    names = (
        *("aggregate_window_mean_segments", "aggregate_window_std_segments"),
        "aggregate_throughput_std_bps",
    )
    assert [result.metrics[name] for name in names] == pytest.approx(metrics_of_run)
    assert result.metrics["window_reductions"] == seen["reductions"].sum()
    assert seen["reductions"].max() > 1


def test_what_is_looked_at_changes_neither_digest_nor_other_metrics(tmp_path: Path) -> None:
    bare = lb.run(lb.Scenario.from_dict(SCENARIO), seed=2)
    seen = lb.run(scenario({"series": True}), seed=2)
    assert seen.digest == bare.digest
    new = seen.metrics.keys() - bare.metrics.keys()
    assert len(new) == 12
    with pytest.raises(lb.InputError, match=r"measurement\.synchronisation.*series"):
        _ = bare.synchronisation
    # A study that requests the metrics does not take stored runs without them.
    assert seen.scenario.canonical_json() != bare.scenario.canonical_json()
    assert "synchronisation" not in bare.scenario.canonical_json()
    table = pd.read_parquet(seen.save(tmp_path / "out") / "synchronisation.parquet")
    pd.testing.assert_frame_equal(table, seen.synchronisation)
    pd.testing.assert_frame_equal(table, series(seen.columns, BIN_PS))


@pytest.mark.parametrize(
    ("own", "changes", "path", "words"),
    [
        (
            {},
            {"measurement.warm_up": "mser-5"},
            "synchronisation.begin",
            "known only after the run",
        ),
        ({"begin": "2 s"}, {"measurement.until": "2 s"}, "synchronisation.bin", "so short that"),
        ({"bin": "1 ps"}, {}, "synchronisation.bin", "at least 1 us, for 1,000,000,000 bins"),
        ({"bin": "0 ms"}, {}, "synchronisation.bin", "greater than zero"),
        ({"begin": "later"}, {}, "synchronisation.begin", "or 'warm-up'"),
        ({}, {"transport": {"kind": "datagram"}}, "synchronisation", "no connections"),
    ],
)
def test_bins_that_cannot_be(
    own: dict[str, Any], changes: dict[str, Any], path: str, words: str
) -> None:
    values: dict[str, Any] = {**SCENARIO, "measurement": {"synchronisation": own}}
    for key, value in changes.items():
        table, _, field = key.partition(".")
        values[table] = {**values[table], field: value} if field else value
    with pytest.raises(lb.InputError) as caught:
        lb.Scenario.from_dict(values)
    assert f"measurement.{path}: " in str(caught.value)
    assert words in str(caught.value)


def test_a_warm_up_is_left_out() -> None:
    """Bins before `begin`, by default before the warm-up, are left out; their flows run."""
    whole = lb.run(scenario({"series": True}), seed=1).synchronisation
    for own, changes in (
        ({"begin": "200 ms"}, {}),
        ({}, {"measurement.warm_up": "200 ms"}),
    ):
        changes = {"workload.spread": "1 s", **changes} if not own else changes
        later = lb.run(scenario({"series": True, **own}, **changes), seed=1).synchronisation
        # 16 bins begin before 200 ms.
        assert later["time_s"].iloc[0] == pytest.approx(17 * 0.013)
        if own:
            pd.testing.assert_frame_equal(later, whole.iloc[16:].reset_index(drop=True))
