"""Tables of several runs, and pages, with metrics by group of flows."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import RunWarning
from lightburst.result.metric_text import in_parts, readable_interval, rows_of
from lightburst.study import Stopping, compare_runs, execute_until, summarise

SEEDS = (3, 4, 5)
LOAD = "groups.background.workload.load"


def scenario(**changes: Any) -> lb.Scenario:
    """Incast over background, for 2 ms."""
    background = {"kind": "poisson", "load": 0.3, "duration": "2 ms"}
    query = {"kind": "incast", "senders": 12, "size": {"kind": "constant", "value": "20 kB"}}
    return lb.Scenario.from_dict(
        {
            "name": "two groups",
            "topology": {"kind": "fat-tree", "k": 4},
            "switching": {"kind": "electronic", "queue_size": "90 kB"},
            "transport": {"kind": "tcp", "preset": "datacentre"},
            "groups": {"background": {"workload": background}, "query": {"workload": query}},
        }
    ).with_(changes)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the scenario, in an empty directory."""
    (tmp_path / "two.toml").write_text(scenario().to_toml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def charts(page: str) -> list[dict[str, Any]]:
    found = re.search(r'id="charts">(.*?)</script>', page, re.S)
    assert found is not None
    specifications: list[dict[str, Any]] = json.loads(found[1])
    return specifications


def drawn(chart: dict[str, Any]) -> pd.DataFrame:
    (rows,) = chart["datasets"].values()
    return pd.DataFrame(rows)


def test_each_row_has_the_figures_of_each_group_as_the_run_has_them() -> None:
    runs = lb.replicate(scenario(), SEEDS, progress=False).set_index("seed")
    for seed in SEEDS:
        table = lb.run(scenario(), seed).groups.to_dict("index")
        row = {f"{key}[{name}]": x for name, figures in table.items() for key, x in figures.items()}
        assert runs.loc[seed, list(row)].to_dict() == pytest.approx(row, rel=0, abs=0, nan_ok=True)
    assert (runs["flows[query]"] + runs["flows[background]"] == runs["flows"]).all()
    assert runs["flows[query]"].dtype.kind == "i"


def test_a_study_is_averaged_compared_and_stopped_by_the_figure_of_a_group() -> None:
    study = lb.Study(scenario(), {LOAD: [0.1, 0.5]}, SEEDS)
    runs = lb.execute(study, "runs", progress=False)
    key = "completion_time_mean_s[query]"
    means = summarise(runs, [LOAD], key)
    assert means["mean"].tolist() == runs.groupby(LOAD)[key].mean().tolist()
    quiet, busy = (runs[runs[LOAD] == load] for load in (0.1, 0.5))
    row = compare_runs(quiet, busy, key).table.iloc[0]
    assert row["ratio"] == pytest.approx(busy[key].mean() / quiet[key].mean())
    assert row["pairs"] == len(SEEDS)
    # The stored rows have all of them.
    again = lb.execute(study, "runs", progress=False)
    pd.testing.assert_frame_equal(again, runs)
    stopped = execute_until(study, Stopping(key, precision=100.0, first=2), progress=False)
    assert len(stopped) == 4


def test_a_point_without_groups_has_no_figures_of_groups() -> None:
    points: list[dict[str, object]] = [{}, {"groups.query": None}]
    runs = lb.execute(lb.Study(scenario(), points, SEEDS), progress=False)
    columns = runs.filter(regex=r"\[(query|background)\]")
    assert len(columns.columns) == 2 * len(lb.run(scenario()).groups.columns)
    none = "offered_load[query]"
    assert columns[none].isna().all()
    assert columns.drop(columns=none)[:3].notna().all(axis=None)
    assert columns[3:].isna().all(axis=None)
    assert runs["slowdown_p99"].notna().all()


def test_a_group_is_not_called_as_a_class_of_size_is() -> None:
    group = {"workload": {"kind": "shuffle"}}
    with pytest.raises(lb.InputError) as caught:
        scenario(**{"groups.below 100 kB": group})
    assert (caught.value.path, caught.value.given) == ("groups", "'below 100 kB'")
    plain = {"groups.below 100 kB": group, "measurement.size_classes": ["1 MB"]}
    assert "below 100 kB" in (scenario(**plain).groups or {})


def test_groups_and_classes_are_told_apart_and_written() -> None:
    def interval(mean: float, half: float) -> dict[str, float]:
        return {"mean": mean, "ci_low": mean - half, "ci_high": mean + half}

    summary = {
        "flows": interval(4, 0), "flows[a[b]]": interval(3, 0), "flows[c]": interval(1, 0),
        "unfinished[a[b]]": interval(0, 0), "unfinished[c]": interval(0, 0),
        "completion_time_mean_s[a[b]]": interval(2e-3, 1e-3),
        "completion_time_mean_s[c]": {"mean": "inf", "ci_low": None, "ci_high": None},
        "flows[below 1 MB]": interval(4, 0), "flows[above 1 MB]": interval(0, 0),
    }  # fmt: skip
    groups, classes = in_parts(summary, ["a[b]", "c"])
    assert (list(groups), list(classes)) == (["a[b]", "c"], ["below 1 MB"])
    assert rows_of(groups, readable_interval) == [
        ("flows", "3", "1"),
        ("completion_time_mean_s", "2 ms (1 to 3 ms)", "inf"),
    ]
    summary["unfinished[c]"] = interval(0.5, 0.25)
    groups, _ = in_parts(summary, ["a[b]", "c"])
    assert ("unfinished", "0", "0.5 (0.25 to 0.75)") in rows_of(groups, readable_interval)


def test_replications_print_each_group(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["run", "two.toml", "--replications", "3"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"┃ +┃ +background ┃ +query ┃", out)
    assert re.search(r"│ flows +│ [^│]+ │ +12 │", out)
    # Each interval is printed below its mean.
    below = r"│ +│ +\([^│]+ to [^│]+\) │ +\([^│]+ to [^│]+\) │\n"
    assert re.search(rf"│ throughput +│ +[\d.]+ Gb/s │ +[\d.]+ .b/s │\n{below}", out)
    assert main(["run", "two.toml", "--replications", "3", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert main(["run", "two.toml", "--replications", "3", "--format", "json"]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    key = "slowdown_median[query]"
    assert summary[key]["mean"] == pytest.approx(np.mean([float(row[key]) for row in rows]))
    assert summary[key]["ci_low"] < summary[key]["mean"]


def test_the_page_of_replications_has_a_column_and_a_colour_for_each_group() -> None:
    assert main(["run", "two.toml", "--replications", "3", "--out", "out"]) == 0
    assert main(["report", "out"]) == 0
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "<th>Figure</th><th>background</th><th>query</th><th>Key</th>" in page
    assert "slowdown_p99[" not in page
    dots = drawn(charts(page)[0])
    runs = pd.read_parquet("out/runs.parquet").set_index("seed")
    assert len(dots) == 6
    for name, part in dots.groupby("group"):
        assert part.set_index("seed")["y"].to_dict() == pytest.approx(
            (runs[f"throughput_bps[{name}]"] / 1e9).to_dict()
        )


def test_the_page_of_a_run_has_a_curve_for_each_group() -> None:
    cut = scenario(**{"measurement.time_limit": "300 us"})
    with pytest.warns(RunWarning, match="did not finish"):
        result = lb.run(cut)
    result.save("out")
    assert main(["report", "out"]) == 0
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "<th>Figure</th><th>background</th><th>query</th><th>Key</th>" in page
    completion, slowdown = map(drawn, charts(page)[1:3])  # after the network
    done = result.groups["finished"] / result.groups["flows"]
    assert (done < 1).any()
    assert completion.groupby("colour")["y"].max().to_dict() == pytest.approx(done.to_dict())
    assert f"{result.summary['unfinished']} did not finish" in page
    # All queries are of one size: one class.
    query = slowdown[slowdown["group"] == "query"]
    flows = result.flows.query("group == 'query' and status == 'finished'")
    assert query["x"].tolist() == [20_000]
    assert query["y"].item() == pytest.approx(flows["slowdown"].median())


def test_a_page_shows_the_flows_that_count() -> None:
    late = scenario(**{"measurement.warm_up": "500 us"})
    result = lb.run(late)
    result.save("out")
    assert main(["report", "out"]) == 0
    page = Path("out/index.html").read_text(encoding="utf-8")
    number = int(result.flows["counted"].sum())
    assert 0 < number < len(result.flows)
    assert f"Share of the {number} flows that count" in page
    assert set(drawn(charts(page)[1])["colour"]) == {"background"}
