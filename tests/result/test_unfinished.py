"""Unfinished flows count as infinitely long, and are reported with every table of runs."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_result import MS, UNFINISHED, columns, plan, scenario, statuses

import lightburst as lb
from lightburst.cli import main
from lightburst.experiment.replicate import Replications
from lightburst.foundation import counts
from lightburst.result.result import Result
from lightburst.simulation.simulate import simulate
from lightburst.study import Store, mean_interval, summarise, warnings_of

INCAST: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "sawl"},
    "workload": {
        "kind": "incast",
        "senders": 12,
        "size": {"kind": "constant", "value": "90 kB"},
    },
    "measurement": {"time_limit": "500 us"},
}


def incast(**changes: object) -> lb.Scenario:
    return lb.Scenario.from_dict(INCAST).with_(**changes)


def half_done(**measurement: object) -> Result:
    """Two flows, of which one arrived after 0.75 ms."""
    ran = columns([2 * MS, UNFINISHED], [9000, 18_000], statuses("finished", "time-limit"))
    return Result(scenario(**measurement), 1, plan(), ran, 0.1)


def test_a_percentile_that_falls_on_an_unfinished_flow_is_infinite() -> None:
    metrics = half_done().metrics
    for name in ("mean", "median", "p99"):
        assert metrics[f"completion_time_{name}_s"] == metrics[f"slowdown_{name}"] == np.inf


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 3.0], [2.0, 2.98]),
        ([1.0, 2.0, np.inf], [2.0, np.inf]),
        ([1.0, np.inf], [np.inf, np.inf]),
        ([np.inf, np.inf], [np.inf, np.inf]),
        ([5.0], [5.0, 5.0]),
    ],
)
def test_quantiles_are_interpolated_between_what_is_finite(
    values: list[float], expected: list[float]
) -> None:
    assert counts.quantiles(np.array(values), 0.5, 0.99) == pytest.approx(expected)


def test_a_shorter_time_limit_improves_nothing() -> None:
    p99 = []
    for limit in ("500 us", "800 us", "2 ms", "100 ms"):
        found = simulate(incast(measurement__time_limit=limit)).summary
        assert found["flows"] == found["finished"] + found["unfinished"]
        p99.append(found["completion_time_p99_s"])
    assert p99[0] == p99[1] == np.inf
    assert p99 == sorted(p99, reverse=True)
    assert np.isfinite(p99[-1])


def test_a_limit_that_cuts_the_largest_flows_off_improves_no_percentile() -> None:
    pairs = {"kind": "pairs", "size": {"kind": "constant", "value": "30 MB"}}
    for limit, unfinished in (("1 s", 0), ("23 ms", 8)):  # 24 ms at 10 Gb/s
        found = simulate(incast(workload=pairs, measurement__time_limit=limit)).summary
        assert found["unfinished"] == unfinished
        assert np.isinf(found["completion_time_median_s"]) == (unfinished > 0)


def test_a_flow_without_end_is_left_out() -> None:
    ran = columns([2 * MS, UNFINISHED], [9000, 18_000], statuses("finished", "time-limit"))
    endless = plan()
    # A short time limit does not matter: the flow was requested.
    for size, unfinished in ((10**12, 1), (10**15 - 1, 1), (10**15, 0)):
        endless.flows["bytes"] = np.array([9000, size], np.uint64)
        result = Result(scenario(), 1, endless, ran, 0.1)
        assert result.metrics["unfinished"] == len(result.warnings) == unfinished
        assert np.isfinite(result.summary["completion_time_p99_s"]) == (not unfinished)
        assert np.isnan(result.flows["slowdown"][1]) == (not unfinished)


def test_lost_datagrams_have_no_delay_and_are_no_warning() -> None:
    ran = columns([2 * MS, UNFINISHED], [9000, 18_000], statuses("finished", "lost"))
    result = Result(scenario(), 1, plan("datagram"), ran, 0.1)
    assert result.metrics["completion_time_p99_s"] == pytest.approx(0.75e-3)
    assert np.isnan(result.flows["completion_time_s"]).tolist() == [False, True]
    assert result.metrics["unfinished"] == 1
    assert not [text for text in result.warnings if not text.startswith("loss_end_to_end rests")]


def test_a_time_limit_before_the_first_flow_is_said() -> None:
    early = incast(
        workload={"kind": "poisson", "arrival_rate": "1 /s"}, measurement__time_limit="1 ns"
    )
    with pytest.warns(lb.RunWarning) as told:
        result = lb.run(early)
    assert [str(warning.message) for warning in told] == list(result.warnings)
    assert result.warnings[0].startswith("no flow started: the first starts at ")
    assert result.warnings[0].endswith(", after the time limit of 1 ns")
    assert (result.metrics["makespan_s"], result.metrics["throughput_bps"]) == (0, None)
    assert (result.links["utilisation"] == 0).all()


def test_a_run_warns_the_caller_once() -> None:
    with pytest.warns(lb.RunWarning) as told:
        result = lb.run(incast())
    assert [str(warning.message) for warning in told] == list(result.warnings)
    assert len(told) == 1
    assert told[0].filename == __file__


def test_a_study_warns_of_each_kind_once_and_has_it_in_its_rows(tmp_path: Path) -> None:
    study = lb.Study(incast(), {"measurement.time_limit": ["500 us", "100 ms"]}, [1, 2, 3])
    for _ in range(2):  # the second time from the store
        with pytest.warns(lb.RunWarning) as told:
            runs = lb.execute(study, tmp_path / "runs", progress=False)
        assert len(told) == 1
        assert str(told[0].message).startswith("in 3 of 6 runs, first with seed 1: ")
        assert told[0].filename == __file__
        late = runs["measurement.time_limit"] == "100 ms"
        assert (runs["unfinished"] > 0).tolist() == (~late).tolist()
        assert (runs["warnings"] == "").tolist() == late.tolist()
        assert np.isinf(runs["slowdown_p99"]).tolist() == (~late).tolist()
    with pytest.warns(lb.RunWarning, match="flows did not finish"):
        lb.replicate(incast(), [1, 2], progress=False)


def test_warnings_that_differ_in_numbers_are_one() -> None:
    runs = pd.DataFrame(
        {
            "seed": [3, 4, 5],
            "warnings": ["1 of 9 late; the same", "the same", "2 of 9 late; the same"],
        }
    )
    assert warnings_of(runs) == ("in 2 of 3 runs, first with seed 3: 1 of 9 late", "the same")
    assert warnings_of(runs.assign(warnings="")) == ()


def test_an_infinite_run_makes_an_infinite_mean_without_an_interval() -> None:
    found = mean_interval([1.0, np.inf, 2.0])
    assert (found.estimate, found.n) == (np.inf, 3)
    assert np.isnan([found.low, found.high]).all()
    for bad in (np.nan, -np.inf):
        with pytest.raises(ValueError, match="finite"):
            mean_interval([1.0, bad])
    runs = pd.DataFrame(
        {"point": [1, 1, 2, 2], "seed": [1, 2, 1, 2], "p99": [1.0, np.inf, 1.0, 3.0]}
    )
    table = summarise(runs, ["point"], "p99")
    assert table["mean"].tolist() == [np.inf, 2.0]
    assert table["ci_low"].isna().tolist() == [True, False]


def test_infinity_is_written_as_text_where_json_has_none(tmp_path: Path) -> None:
    result = half_done()
    text = (result.save(tmp_path / "out") / "run.json").read_text(encoding="utf-8")
    kept = json.loads(text, parse_constant=lambda word: pytest.fail(word))
    assert kept["summary"]["slowdown_p99"] == "inf"
    assert [row["slowdown_p99"] for row in kept["size_classes"]] == ["inf", None, None]
    assert main(["report", str(tmp_path / "out")]) == 0
    runs = pd.DataFrame([{"seed": 1, **result.record}])
    found = Replications(scenario(), [1], runs).as_dict()
    assert found["summary"]["slowdown_p99"] == {"mean": "inf", "ci_low": None, "ci_high": None}
    assert found["runs"][0]["slowdown_p99"] == "inf"
    json.dumps(found, allow_nan=False)


def test_a_store_keeps_infinity(tmp_path: Path) -> None:
    study = lb.Study(scenario(), {}, [1])
    (planned,) = study.runs
    with Store(tmp_path / "runs") as store:
        store.put(planned, half_done().record)
        (kept,) = store.find([planned.scenario_digest]).values()
    assert kept == half_done().record


def test_the_command_line_says_inf_and_warns_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("incast.toml").write_text(incast().to_toml(), encoding="utf-8")
    for more in ([], ["--replications", "2"]):
        assert main(["run", "incast.toml", *more]) == 0
        printed = capsys.readouterr()
        assert printed.err.count("flows did not finish") == 1
        row = next(line for line in printed.out.splitlines() if "slowdown, 99th" in line)
        assert "inf" in row
        assert main(["run", "incast.toml", "--format", "csv", *more]) == 0
        (first, *_) = csv.DictReader(io.StringIO(capsys.readouterr().out))
        assert first["slowdown_p99"] == "inf"
        assert int(first["unfinished"]) > 0
        assert "flows did not finish" in first["warnings"]
