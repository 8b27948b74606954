"""Where a warm-up ends: MSER-5 by hand, on series with a known transient, and as a setting."""

from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import format_about
from lightburst.result.warm_up import Active, Cut, mser


def test_mser_by_hand() -> None:
    # Sums of squares over the squared number of batches left, for d = 0 to 3: (44 - 10^2/6) / 36 =
    # 0.759, (8 - 4^2/5) / 25 = 0.192, (8 - 4^2/4) / 16 = 0.25, (4 - 2^2/3) / 9 = 0.296.
    means = np.array([6.0, 0, 2, 0, 2, 0])
    assert mser(means, batch=1) == Cut(1, settled=True)
    # The same means of five, each with its own spread, and three observations over.
    batches = means[:, np.newaxis] + [-3, 1, 0, 4, -2]
    series = np.concatenate([batches.ravel(), [90, 90, 90]])
    assert mser(series) == Cut(5, settled=True)
    # Equal batches, and none at all.
    assert mser(np.ones(100)) == Cut(0, settled=True)
    assert mser(np.ones(4)) == Cut(0, settled=True)


@pytest.mark.parametrize("seed", range(20))
def test_mser_is_its_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    series = 1e6 + np.cumsum(random.normal(size=237)) + 30 * 0.9 ** np.arange(237)
    z = [series[5 * i : 5 * i + 5].mean() for i in range(47)]
    errors = [np.var(z[d:]) / (47 - d) for d in range(42)]
    best = int(np.argmin(errors[:24]))
    assert mser(series) == Cut(5 * best, settled=min(errors) >= errors[best] * (1 - 1e-9))


def test_a_series_that_drifts_to_its_end_is_not_settled() -> None:
    assert not mser(np.arange(1000.0)).settled


def test_an_autoregressive_process_with_a_bias_at_its_beginning() -> None:
    # x(t) = 0.9 x(t - 1) + e from x(0) = 100, 44 standard deviations: 0.9^t of it after t steps.
    errors, cuts = [], []
    for seed in range(100):
        noise = np.random.default_rng(seed).normal(size=5000)
        noise[0] = 100
        series = lfilter([1], [1, -0.9], noise)
        cut = mser(series)
        cuts.append(cut)
        errors.append((series.mean(), series[cut.observations :].mean()))
    # After 40 steps the bias is 1.5, below one standard deviation of 2.3.
    assert min(cut.observations for cut in cuts) >= 25
    assert np.median([cut.observations for cut in cuts]) < 200
    # In some seeds the last batches are by chance more alike than all.
    assert sum(cut.settled for cut in cuts) >= 90
    whole, rest = np.array(errors).T
    # The true mean is 0; without a cut the remaining bias is 100 / (1 - 0.9) / 5000 = 0.2.
    spread = rest.std(ddof=1) / np.sqrt(rest.size)
    assert abs(rest.mean()) < 4 * spread
    assert whole.mean() == pytest.approx(0.2, abs=4 * spread)
    assert whole.mean() > 8 * spread


#: Flows of 0.5 s each begin from 0 on: after 0.5 s their number is in steady state.
STEADY: dict[str, Any] = {
    "topology": {"kind": "path", "links": 1, "link_rate": "10 Gb/s", "link_length": "50000 km"},
    "switching": {"kind": "all-optical"},
    "transport": {"kind": "tcp", "segment_size": "1 kB"},
    "workload": {"kind": "poisson", "arrival_rate": "200 /s", "duration": "10 s", "size": "1 kB"},
    "measurement": {"warm_up": "mser-5"},
}


def test_a_warm_up_that_the_run_finds() -> None:
    result = lb.run(lb.Scenario.from_dict(STEADY))
    found = result.metrics
    length = result.flows["completion_time_s"].max()
    assert length == pytest.approx(0.75, abs=0.01)
    begin = found["warm_up_s"]
    assert isinstance(begin, float)
    assert 0.5 * length < begin < 5
    # As if that time had been requested.
    same = lb.run(result.scenario.with_({"measurement.warm_up": begin}))
    for name in ("flows", "active_flows", "offered_bps", "completion_time_p99_s", "digest"):
        assert same.metrics[name] == found[name], name
    assert "warm_up_s" not in same.metrics
    assert found["active_flows"] == pytest.approx(200 * length, rel=0.1)
    assert result.scenario.to_dict()["measurement"]["warm_up"] == "mser-5"


def test_a_run_that_is_too_short_says_so() -> None:
    short = lb.Scenario.from_dict(STEADY).with_({"workload.duration": "500 ms"})
    with pytest.warns(lb.RunWarning, match="second half of the run would be better"):
        result = lb.run(short)
    assert f"cut off {format_about(result.plan.window_ps[0])}, but" in result.warnings[0]
    asked = lb.run(short.with_({"measurement.warm_up": result.metrics["warm_up_s"]}))
    assert asked.warnings == ()


def test_where_there_are_no_connections_it_is_refused() -> None:
    with pytest.raises(InputError, match=r"^measurement.warm_up: .* without connections"):
        lb.Scenario.from_dict({**STEADY, "transport": {"kind": "datagram"}})


def test_too_little_time_for_averages() -> None:
    none = np.zeros(1, np.uint64)
    assert Active(none, none, 999, 999).settled() == (0, True)
