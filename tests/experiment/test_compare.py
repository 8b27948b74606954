"""Two saved results side by side, by the command and in Python."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.cli.commands.compare import print_found
from lightburst.experiment.changes import changes
from lightburst.experiment.replicate import replicate
from lightburst.foundation.errors import InputError
from lightburst.foundation.files.checksums import SUMS, seal
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.study import compare_runs, paired_difference

SCENARIO = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "hybrid"},
    "transport": {"kind": "sawl"},
    "workload": {"kind": "poisson", "arrival_rate": "1e6 /s", "flows": 40, "size": "100 kB"},
}
BASE = lb.Scenario.from_dict(SCENARIO)
OPTICAL = BASE.with_({"switching.kind": "all-optical"})


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two systems: one each, and of five seeds each."""
    directory = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        for name, scenario in (("hybrid", BASE), ("optical", OPTICAL)):
            lb.run(scenario).save(directory / f"{name}-one")
            replicate(scenario, range(1, 6)).save(directory / name)
        shifted = replicate(OPTICAL, range(4, 8))
        shifted.save(directory / "two-shared")
        replicate(OPTICAL, range(6, 9)).save(directory / "others")
    return directory


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["compare", *arguments]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["compare", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_the_command_says_which_metrics_differ_by_how_much_and_how_sure(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(saved)
    text = said(capsys, "hybrid", "optical")
    assert text.startswith("A: hybrid; B: optical\n")
    assert "switching.kind: hybrid -> all-optical" in text
    assert "switching.buffer_ports: 2 -> –" in text
    assert "5 pairs of runs with the same seed." in text
    assert "The same in every run: flows; " in text
    assert "they and p are corrected for that by one method (Bonferroni)." in text
    assert all(len(line) <= 80 for line in text.splitlines()[:20])
    alone = said(capsys, "hybrid", "optical", "--metric", "throughput_bps")
    a, b = (pd.read_parquet(saved / name / "runs.parquet") for name in ("hybrid", "optical"))
    gap = paired_difference(a["throughput_bps"], b["throughput_bps"])
    sign = "+" if gap.estimate > 0 else ""
    assert (
        f" {sign}{gap.estimate / 1e9:.4g} Gb/s ({gap.low / 1e9:.4g} to {gap.high / 1e9:.4g}"
        in alone
    )
    assert "The interval is that of 95 %." in alone
    back = said(capsys, "optical", "hybrid", "--metric", "throughput_bps")
    sign = "" if gap.estimate > 0 else "+"
    assert f" {sign}{-gap.estimate / 1e9:.4g} Gb/s (" in back


def test_json_and_csv_have_the_same_numbers(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = str(saved / "hybrid"), str(saved / "optical")
    found = json.loads(said(capsys, *paths, "--format", "json"))
    rows = list(csv.DictReader(io.StringIO(said(capsys, *paths, "--format", "csv"))))
    assert [row["metric"] for row in rows] == [row["metric"] for row in found["metrics"]]
    assert found["changes"]["switching.kind"] == ["hybrid", "all-optical"]
    for row, other in zip(rows, found["metrics"], strict=True):
        for key in ("first", "second", "difference", "ci_low", "ratio_high", "p_adjusted"):
            expected = other[key]
            assert row[key] == ("" if expected is None else str(expected).replace("None", ""))
    a, b = (pd.read_parquet(Path(path) / "runs.parquet") for path in paths)
    table = compare_runs(a, b).table.set_index("metric")
    for row in found["metrics"]:
        expected = table.loc[row["metric"]]
        assert row["verdict"] == expected["verdict"]
        assert row["p"] is None or row["p"] == expected["p"]
    assert found["compared"] == table["p"].notna().sum()


def test_networks_that_were_not_offered_the_same_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = pd.DataFrame({"seed": range(3), "offered_bps": 1e9, "x": [1.0, 2.0, 4.0]})
    second = first.assign(offered_bps=[1.2e9, 1.25e9, 1.3e9], x=[1.0, 2.5, 4.5])
    print_found(compare_runs(first, second, ["x"], names=("eight", "ten")))
    assert "Not the same traffic: B was offered 1.25 times the traffic of A" in (
        capsys.readouterr().out
    )
    print_found(compare_runs(first, first.assign(x=[1.0, 2.5, 4.5]), ["x"]))
    assert "traffic" not in capsys.readouterr().out


def test_slowdowns_over_other_ideal_times_are_told(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(saved)
    said_of = "Not the same ideal: a slowdown is over the time of the flow alone on its own network"
    assert f"{said_of}, which switching.kind changes" in said(capsys, "hybrid", "optical")
    alone = said(capsys, "hybrid", "optical", "--metric", "throughput_bps")
    assert "ideal" not in alone
    table = pd.DataFrame({"seed": range(3), "slowdown_mean": [1.0, 2.0, 4.0]})
    found = compare_runs(table, table.assign(slowdown_mean=[1.0, 2.5, 4.5]))
    assert found.other_ideal is None
    assert replace(found, changes={"transport.p": (0, 4)}).other_ideal is None
    assert replace(found, changes={"topology.link_rate": (1, 2)}).other_ideal is not None


def test_a_sweep_tells_of_other_ideal_times() -> None:
    over = {"topology.link_rate": ["1 Gb/s", "2 Gb/s"], "workload.flows": [5, 6]}
    variants = {"near": {}, "far": {"topology.link_length": "1 km"}}
    found = lb.sweep(BASE, over, variants=variants, seeds=2, progress=False)
    far = found.compare("near", "far", "slowdown_mean")
    assert far.changes == {"topology.link_length": ("10 m", "1 km")}
    assert far.cautions == (f"Not the same ideal: {far.other_ideal}.",)
    assert "which topology.link_length changes" in far.cautions[0]
    assert far.cautions[0] in far._repr_html_()
    assert far.cautions[0] in str(far)
    fast = found.compare("1 Gb/s", "2 Gb/s", "slowdown_mean", along="topology.link_rate")
    assert fast.changes == {"topology.link_rate": ("1 Gb/s", "2 Gb/s")}
    more = found.compare(5, 6, "slowdown_mean", along="workload.flows")
    assert more.changes == {"workload.flows": (5, 6)}
    assert more.other_ideal is None


def test_of_single_runs_nothing_is_said_of_chance(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = str(saved / "hybrid-one"), str(saved / "optical-one")
    text = said(capsys, one, other)
    assert "One run each: the difference may be due to chance alone" in text
    assert "higher" not in text
    first, second = lb.run(BASE), lb.run(OPTICAL)
    table = lb.compare(one, other).table.set_index("metric")
    assert table["p"].isna().all()
    assert set(table["verdict"]) <= {"unknown", "same"}
    gap = second.metrics["throughput_bps"] - first.metrics["throughput_bps"]  # type: ignore[operator]
    assert table["difference"]["throughput_bps"] == pytest.approx(gap)
    # Results in memory, and their metrics of groups and classes, are the same.
    pd.testing.assert_frame_equal(
        lb.compare(first, second).table, lb.compare(one, other).table, check_dtype=False
    )
    key = "slowdown_mean[100 kB to 10 MB]"
    assert lb.compare(one, other, key).table["first"][0] == first.record[key]
    mixed = said(capsys, one, str(saved / "optical"))
    assert "1 and 5 runs: two of each are needed" in mixed


def test_seeds_that_are_shared_are_pairs(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = lb.compare(saved / "hybrid", saved / "two-shared").table
    assert set(table["pairs"]) == {2}
    text = said(capsys, str(saved / "hybrid"), str(saved / "others"))
    assert "5 and 3 runs without two seeds in common, so not paired (Welch)" in text


def test_a_result_beside_itself_does_not_differ(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, str(saved / "hybrid"), str(saved / "hybrid"))
    assert "Nothing differs." in text
    assert "What was changed" not in text
    assert lb.compare(saved / "hybrid", saved / "hybrid").differ.empty


def test_sweeps_are_compared_point_by_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    over = {"topology.link_length": ["10 m", "1 km"]}
    a, b = (lb.sweep(base, over, seeds=3, progress=False) for base in (BASE, OPTICAL))
    found = lb.compare(a, b, "throughput_bps")
    assert found.table["topology.link_length"].tolist() == ["10 m", "1 km"]
    assert found.changes["switching.kind"] == ("hybrid", "all-optical")
    a.save("a")
    b.save("b")
    saved = lb.compare("a", "b", "throughput_bps")
    pd.testing.assert_frame_equal(saved.table, found.table)
    text = said(capsys, "a", "b", "--metric", "throughput_bps")
    assert "1 km" in text
    assert "link_length_m" not in text
    with pytest.raises(InputError, match=r"^B: given runs of one point, where A has topology.link"):
        lb.compare("a", lb.run(BASE))
    with pytest.raises(InputError, match=r"of topology.link_length.*, where A has one point"):
        lb.compare(lb.run(BASE), "a")
    near = lb.sweep(BASE, {"topology.link_length": ["10 m"]}, seeds=2, progress=False)
    assert lb.compare(near, lb.run(BASE)).table["verdict"].isin(["same", "unknown"]).all()


def test_what_is_no_result_is_refused(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = str(saved / "hybrid")
    assert "B: given" in refused(capsys, good, str(tmp_path / "nix"))
    assert "(not there)" in refused(capsys, str(tmp_path / "nix"), good)
    assert refused(capsys, str(tmp_path), good).startswith("lightburst: A: given")
    file = tmp_path / "scenario.toml"
    file.write_text(BASE.to_toml(), encoding="utf-8")
    assert "run the scenario with --out DIR first" in refused(capsys, good, str(file))
    wrong = refused(capsys, good, str(saved / "optical"), "--metric", "thruput_bps")
    assert "--metric: given 'thruput_bps'" in wrong
    assert "did you mean 'throughput_bps'" in wrong
    assert "--format" in refused(capsys, good, good, "--format", "xml")
    with pytest.raises(InputError, match=r"^A: given 3; allowed: a directory written"):
        lb.compare(3, saved / "hybrid")  # type: ignore[arg-type]


def _copied(saved: Path, target: Path, **changed: Any) -> Path:
    target.mkdir()
    for file in (saved / "optical").iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    path = target / "replications.json"
    held = json.loads(path.read_text("utf-8"))
    held["provenance"] |= changed
    path.write_text(json.dumps(held), encoding="utf-8")
    (target / SUMS).unlink()
    seal(target)
    return target


def test_results_of_two_versions_of_the_model_are_refused(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = _copied(saved, tmp_path / "old", model_version=7)
    text = refused(capsys, str(saved / "hybrid"), str(old))
    present = f"where A is of {MODEL_VERSION}"
    assert f"B: given a result of version 7 of the model, {present}" in text
    said(capsys, str(old), str(old))
    odd = _copied(saved, tmp_path / "odd", scenario=None)
    assert "B: given" in refused(capsys, str(saved / "hybrid"), str(odd))
    damaged = _copied(saved, tmp_path / "damaged")
    other = saved / "hybrid" / "runs.parquet"
    (damaged / "runs.parquet").write_bytes(other.read_bytes())
    assert "damaged: differs from" in refused(capsys, str(damaged), str(saved / "hybrid"))


def test_changes_are_told_by_path() -> None:
    one = {"name": "a", "x": {"kind": "p", "y": 1, "only": 2}, "same": [1]}
    other = {"name": "b", "x": {"kind": "q", "y": 1}, "same": [1], "more": 3}
    assert changes(one, other) == {
        "x.kind": ("p", "q"), "x.only": (2, None), "more": (None, 3),
    }  # fmt: skip
    assert changes(BASE.in_use(), BASE.in_use()) == {}


def test_tables_of_runs_are_compared() -> None:
    runs = pd.DataFrame({"seed": [1, 2, 3], "x": np.arange(3.0)})
    assert lb.compare(runs, runs.assign(x=[1.0, 3.0, 2.0])).table["pairs"].tolist() == [3]
    with pytest.raises(InputError, match="without 'seed'"):
        lb.compare(runs[["x"]], runs)
