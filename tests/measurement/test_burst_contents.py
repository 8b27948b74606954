"""``[measurement] bursts`` and ``flow_throughput``, as a user sees them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError
from lightburst.result.metric_text import readable
from lightburst.simulation.simulate import simulate

#: Flows of two sizes between four edges, with losses by chance.
NETWORK: dict[str, Any] = {
    "topology": {"kind": "nsfnet"},
    "routing": {"metric": "delay"},
    "switching": {"kind": "obs", "assembly": {"kind": "timer", "time": "2 ms"}},
    "loss": {"probability": 0.01},
    "transport": {"kind": "tcp", "preset": "wide-area"},
    "workload": {
        "kind": "poisson",
        "arrival_rate_per_edge": "50 /s",
        "duration": "0.5 s",
        "size": {"kind": "pareto", "minimum": "10 kB", "truncated_mean": "100 kB", "max": "3 MB"},
    },
}
BOTH: dict[str, Any] = {"bursts": {}, "flow_throughput": True}


def run(seed: int = 1, **measurement: Any) -> lb.Result:
    # Warnings of short runs do not matter here.
    return simulate(lb.Scenario.from_dict({**NETWORK, "measurement": measurement}), seed)


@pytest.fixture(scope="module")
def result() -> lb.Result:
    return run(**BOTH)


def mean(table: pd.DataFrame, fate: str, counted: str) -> float:
    """Over the bursts with data."""
    chosen = table.query("fate == @fate and counted == @counted and number > 0")
    return float((chosen["number"] * chosen["bursts"]).sum() / chosen["bursts"].sum())


def test_the_metrics_are_those_of_the_tables(result: lb.Result) -> None:
    metrics, table, flows = result.metrics, result.bursts, result.flows
    for fate, word in (("made", "burst"), ("lost", "lost_burst")):
        for counted in ("segments", "flows"):
            key = f"{word}_mean_{counted}"
            assert metrics[key] == pytest.approx(mean(table, fate, counted))
    sums = table.groupby(["fate", "counted"], observed=True)["share"].sum()
    assert sums.to_numpy() == pytest.approx(1)
    assert metrics["cut_piece_mean_flows"] is None
    lost, made = (
        table.query("fate == @fate and counted == 'flows' and number > 0")["bursts"].sum()
        for fate in ("lost", "made")
    )
    assert metrics["data_burst_loss"] == pytest.approx(lost / made)
    complete = flows["throughput_bps"].notna()
    assert metrics["flow_mean_bursts"] == pytest.approx(flows["bursts"][complete].mean())
    assert metrics["flow_mean_bursts_lost"] == pytest.approx(flows["bursts_lost"][complete].mean())
    assert lost > 10
    for fate, column in (("made", "bursts"), ("lost", "bursts_lost")):
        rows = table[(table["fate"] == fate) & (table["counted"] == "flows")]
        assert flows[column].sum() == (rows["number"] * rows["bursts"]).sum()


def test_the_throughput_of_flows_is_told_in_all_and_by_classes(result: lb.Result) -> None:
    flows = result.flows
    time = flows["acknowledged_s"] - flows["start_s"]
    assert flows["throughput_bps"].to_numpy() == pytest.approx(8 * flows["size_bytes"] / time)
    rows: dict[Any, dict[Any, Any]] = result.size_classes.to_dict("index")
    rows[""] = dict(result.metrics)
    size = flows["size_bytes"]
    sizes = {"below 100 kB": size < 1e5, "100 kB to 10 MB": size >= 1e5, "": size > 0}
    for name, chosen in sizes.items():
        speed, row = flows["throughput_bps"][chosen], rows[name]
        assert row["flow_throughput_mean_bps"] == pytest.approx(speed.mean())
        assert row["flow_throughput_variance_bps2"] == pytest.approx(speed.var(ddof=0))
        for word, part in {"min": 0, "p10": 0.1, "median": 0.5, "p90": 0.9, "max": 1}.items():
            expected = pytest.approx(speed.quantile(part))
            assert row[f"flow_throughput_{word}_bps"] == expected
        ratio = 8 * size[chosen].sum() / time[chosen].sum()
        assert row["flow_throughput_ratio_bps"] == pytest.approx(ratio)
        assert row["flow_throughput_jain_index"] == pytest.approx(lb.jain_index(speed))
    assert rows["above 10 MB"]["flows"] == 0
    assert np.isnan(rows["above 10 MB"]["flow_throughput_mean_bps"])
    record: dict[str, Any] = dict(result.record)
    assert record["flow_mean_bursts[below 100 kB]"] < record["flow_mean_bursts[100 kB to 10 MB]"]


def test_flows_that_the_end_cuts_off_are_counted_and_have_no_throughput() -> None:
    result = run(time_limit="0.45 s", **BOTH)
    flows, metrics = result.flows, result.metrics
    missing = flows["acknowledged_s"].isna()
    assert flows["throughput_bps"].isna().equals(missing)
    assert metrics["flows_unacknowledged"] == missing.sum() > 5
    assert metrics["unacknowledged_bytes"] == flows["size_bytes"][missing].sum()
    whole = flows[~missing]
    time = whole["acknowledged_s"] - whole["start_s"]
    ratio = 8 * whole["size_bytes"].sum() / time.sum()
    assert metrics["flow_throughput_ratio_bps"] == pytest.approx(ratio)
    assert metrics["flow_mean_bursts"] == pytest.approx(whole["bursts"].mean())
    assert flows["bursts"][missing].sum() > 0
    # Flows without end are not meant to finish.
    endless = {**NETWORK["workload"], "size": "1000 TB", "duration": "0.1 s"}
    scenario = {**NETWORK, "workload": endless}
    scenario["measurement"] = {"time_limit": "0.2 s", "flow_throughput": True}
    metrics = simulate(lb.Scenario.from_dict(scenario), 1).metrics
    assert metrics["flows_unacknowledged"] == metrics["unacknowledged_bytes"] == 0
    assert metrics["flow_throughput_mean_bps"] is metrics["flow_throughput_jain_index"] is None


def test_groups_have_them_too() -> None:
    workload = {**NETWORK["workload"], "size": "20 kB"}
    groups = {"all": {"workload": NETWORK["workload"]}, "small": {"workload": workload}}
    scenario = {key: NETWORK[key] for key in NETWORK if key != "workload"}
    result = lb.run(lb.Scenario.from_dict({**scenario, "groups": groups, "measurement": BOTH}))
    table = result.groups
    for name, own in result.flows.groupby("group", observed=True):
        assert table["flow_mean_bursts"].to_dict()[name] == pytest.approx(own["bursts"].mean())
        speed = own["throughput_bps"].mean()
        assert table["flow_throughput_mean_bps"].to_dict()[name] == pytest.approx(speed)


def test_the_distributions_begin_with_the_warm_up_unless_they_are_told_when(
    result: lb.Result,
) -> None:
    def made(**measurement: Any) -> int:
        table = run(**measurement).bursts.query("fate == 'made' and counted == 'flows'")
        return int(table["bursts"].sum())

    late, everything = made(warm_up="0.2 s", until="0.3 s", bursts={}), result.metrics["bursts"]
    assert isinstance(everything, int)
    assert 0 < late < everything
    assert made(bursts={"begin": "0.2 s", "end": "0.3 s"}) == late
    assert made(warm_up="0.2 s", bursts={"begin": "0 s"}) == everything
    assert made(warm_up="mser-5", bursts={"begin": "0.2 s", "end": "0.3 s"}) == late


def test_looking_changes_no_result_and_makes_another_scenario(result: lb.Result) -> None:
    plain = run()
    assert result.digest == plain.digest
    assert not {"flow_mean_bursts", "flow_throughput_mean_bps"} & plain.metrics.keys()
    assert "bursts" not in plain.flows
    # It has other metrics, so a stored run without them does not serve it.
    assert result.scenario.canonical_json() != plain.scenario.canonical_json()
    assert run(flow_throughput=False).scenario.canonical_json() == plain.scenario.canonical_json()
    with pytest.raises(InputError, match=r"measurement\.bursts: given nothing"):
        _ = plain.bursts


@pytest.mark.parametrize(
    ("measurement", "words"),
    [
        (
            {"warm_up": "mser-5", "bursts": {}},
            r"bursts\.begin: given nothing; allowed: a duration: .*mser-5",
        ),
        (
            {"warm_up": "1 s", "bursts": {"end": "1 s"}},
            r"bursts\.end: given 1 s; allowed: a time after begin \(1 s\)",
        ),
        ({"bursts": {"first": 3}}, r"bursts\.first"),
    ],
)
def test_what_cannot_be_is_refused(measurement: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=rf"measurement\.{words}"):
        run(**measurement)


def test_a_network_without_bursts_has_none_to_look_into() -> None:
    packets = {**NETWORK, "switching": {"kind": "electronic"}, "measurement": BOTH}
    with pytest.raises(InputError, match=r"measurement\.bursts: given .*electronic.*edges make"):
        lb.run(lb.Scenario.from_dict(packets))


def test_what_is_asked_for_is_saved_printed_and_in_json(
    result: lb.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = result.save(tmp_path / "run")
    pd.testing.assert_frame_equal(pd.read_parquet(saved / "bursts.parquet"), result.bursts)
    content = json.loads((saved / "run.json").read_text(encoding="utf-8"))
    assert content["summary"]["flow_throughput_variance_bps2"] > 0
    assert content["size_classes"][0]["flow_mean_bursts"] > 0
    file = tmp_path / "it.toml"
    file.write_text(result.scenario.to_toml(), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "flows hit by a lost burst, mean" in printed
    variance = readable(
        "flow_throughput_variance_bps2", result.metrics["flow_throughput_variance_bps2"]
    )
    assert variance.endswith(" (Mb/s)²")
    assert variance in printed


def test_a_variance_is_read_in_squares() -> None:
    assert readable("flow_throughput_variance_bps2", 84e12) == "84 (Mb/s)²"
    assert readable("flow_throughput_variance_bps2", 0.0) == "0 (b/s)²"
