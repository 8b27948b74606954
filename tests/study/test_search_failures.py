"""Searches with failed runs: they continue, report them, and leave them out of means."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_optimise import STUDY

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError, RunWarning
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import simulate
from lightburst.study import Store
from lightburst.study.runs import PlannedRun, scenario_digest
from lightburst.study.search.indices import analyse
from lightburst.study.workers import one
from problems import ONE_FLOW

LENGTH, TIME = "topology.link_length", "switching.switching_time"
MS = 1e9  # in ps
Fails = Callable[[Scenario, int], bool]


class Bad:
    """Runs some of which fail."""

    def __init__(self) -> None:
        self.fails: Fails = lambda scenario, seed: False
        self.simulated = 0

    def __call__(self, scenario: Scenario, seed: int, **options: Any) -> Result:
        self.simulated += 1
        if self.fails(scenario, seed):
            raise InputError("workload.file", "nothing", "something")
        return simulate(scenario, seed, **options)


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch) -> Bad:
    found = Bad()
    monkeypatch.setattr(one, "simulate", found)
    return found


def assembly_ms(scenario: Scenario) -> float:
    return float(scenario.switching.assembly.time) / MS  # type: ignore[union-attr]


def answer(words: list[str], capsys: pytest.CaptureFixture[str], code: int) -> tuple[Any, str]:
    assert main([*words, "--format", "json"]) == code
    said = capsys.readouterr()
    found = json.loads(said.out)
    del found["provenance"]["created"]
    return found, said.err


def test_an_optimum_is_found_beside_points_whose_runs_fail(
    study: Path, bad: Bad, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad.fails = lambda scenario, seed: assembly_ms(scenario) < 3 and seed == 2
    found, said = answer(["optimise", "study.toml"], capsys, 1)
    failed = [row for row in found["trials"] if row["verdict"] == "failed"]
    assert failed
    for row in found["trials"]:
        below = row["switching.assembly.time_s"] < 3e-3
        assert (row["verdict"] == "failed") == below
        # The trial is run no further, and its other seeds give no mean.
        assert row["seeds"] == 3 if below else row["mean"] is not None
        assert not below or row["mean"] is None
    (best,) = [row for row in found["trials"] if row["verdict"] == "best"]
    assert best["switching.assembly.time_s"] >= 3e-3
    assert {one["seed"] for one in found["failed"]} == {2}
    assert len(found["failed"]) == len(failed)
    assert re.search(
        rf"{len(failed)} of {found['runs']} runs failed and are in no mean, first with seed 2, "
        r"switching\.assembly\.time = .*: workload\.file: given nothing; allowed: something",
        said,
    )
    assert f"{len(failed)} of 12 trials count as worse than all others: a run of them" in said
    assert "'lightburst store retry'" in said
    # The failures are kept: a second call does not run them, and reports them again.
    bad.simulated = 0
    assert answer(["optimise", "study.toml"], capsys, 1)[0] == found
    assert bad.simulated == 0
    # Without the reason, after "retry", the answer is that of a search without failed runs.
    bad.fails = lambda scenario, seed: False
    assert main(["store", "retry"]) == 0
    capsys.readouterr()
    mended, _ = answer(["optimise", "study.toml"], capsys, 0)
    (elsewhere := study.parent / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    assert answer(["optimise", "../study.toml"], capsys, 0)[0] == mended
    assert mended["failed"] == []


def test_by_a_limit_of_the_scenario_itself(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Many small bursts are more events than few large ones."""
    limit = 'transport = { kind = "tcp"'
    text = STUDY.replace(limit, f"measurement.event_limit = 3000\n{limit}")
    study.write_text(text, encoding="utf-8")
    found, said = answer(["optimise", "study.toml"], capsys, 1)
    verdicts = {row["verdict"] for row in found["trials"]}
    assert {"best", "failed"} <= verdicts
    assert "measurement.event_limit: given 3000" in said


def test_what_fails_on_fresh_seeds_is_in_no_gain(bad: Bad) -> None:
    # Seeds of the search are 1 to 4, fresh ones 5 to 10: of the default all fail but two.
    bad.fails = lambda scenario, seed: (
        (seed == 5 or (seed > 7 and _km(scenario) == 10)) if seed > 4 else False
    )
    with pytest.warns(RunWarning, match="5 of .* runs failed and are in no mean"):
        found = lb.optimise(
            ONE_FLOW,
            {LENGTH: ["10 km", "12 km", "14 km"]},
            maximise="completion_time_mean_s",
            seeds=4,
            confirm=6,
            progress=False,
        )
    rows = found.confirmed.set_index("point")
    assert rows["n"].to_dict() == {"default": 2, "best": 5}
    assert np.isfinite(rows["mean"]).all()
    assert rows.loc["best", "verdict"] == "better"
    assert len(found.failed) == 5
    assert found.failed[-1]["set"] == {LENGTH: "14 km"}


def test_where_all_of_the_default_fails_there_is_no_gain(bad: Bad) -> None:
    bad.fails = lambda scenario, seed: seed > 4 and _km(scenario) == 10
    with pytest.warns(RunWarning, match="2 of .* runs failed"):
        found = lb.optimise(
            ONE_FLOW,
            {LENGTH: ["12 km", "14 km"]},
            maximise="completion_time_mean_s",
            seeds=4,
            confirm=2,
            progress=False,
        )
    assert found.confirmed.set_index("point")["n"].to_dict() == {"default": 0, "best": 2}
    assert found.gain.endswith(
        "of the default: not comparable: runs failed or have no finite value"
    )
    assert "nan" not in found.gain


def test_where_every_run_fails_the_first_error_is_that_of_the_search(
    study: Path, bad: Bad, capsys: pytest.CaptureFixture[str]
) -> None:
    bad.fails = lambda scenario, seed: True
    for command in ("optimise", "sensitivity"):
        study.write_text(STUDY + ("" if command == "optimise" else SENSITIVE), encoding="utf-8")
        assert main([command, "study.toml"]) == 2
        assert "workload.file: given nothing; allowed: something" in capsys.readouterr().err


def test_a_metric_that_no_run_has_is_refused_though_the_first_run_fails(bad: Bad) -> None:
    bad.fails = lambda scenario, seed: _km(scenario) < 11
    with pytest.raises(InputError, match=r"optimise.minimise: given 'makespan'.*'makespan_s'"):
        lb.optimise(
            ONE_FLOW, {LENGTH: {"from": "10 km", "to": "20 km"}}, minimise="makespan", seeds=2
        )


SENSITIVE = """
[sensitivity]
metric = "throughput_bps"
points = 16
"""
BOX = {LENGTH: {"from": "10 km", "to": "20 km"}, TIME: {"from": "0 s", "to": "50 us"}}


def _km(scenario: Scenario) -> float:
    return float(scenario.topology.link_length) / 1e3  # type: ignore[union-attr]


def indices(store: Path | None = None) -> lb.Sensitivities:
    return lb.sensitivity(
        ONE_FLOW, BOX, metric="completion_time_mean_s", seeds=1, points=32, store=store
    )


def test_indices_are_those_of_the_rows_without_a_failure(bad: Bad, tmp_path: Path) -> None:
    whole = indices()
    at = 9  # the second point of the third row of four
    length = whole.points[LENGTH][at]
    bad.fails = lambda scenario, seed: scenario.to_dict()["topology"]["link_length"] == length
    lost = np.flatnonzero((whole.points[LENGTH] == length).to_numpy())
    assert set(lost // 4) == {2}
    with pytest.warns(RunWarning) as told:
        found = indices(tmp_path / "runs")
    said = [str(one.message) for one in told]
    assert any(f"{len(lost)} of 129 runs failed and are in no mean, first with" in x for x in said)
    assert any("1 of 32 rows of the sample are left out" in x for x in said)
    values = np.delete(whole.points["completion_time_mean_s"].to_numpy(), range(8, 12))
    expected = analyse(2, values[:, np.newaxis], 1000, 1)
    assert found.table["first"].tolist() == expected.first.tolist()
    assert found.table["total_high"].tolist() == (expected.total + expected.total_half).tolist()
    assert np.flatnonzero(found.points["completion_time_mean_s"].isna()).tolist() == lost.tolist()
    assert len(found.failed) == len(lost)
    # Failures are kept, and after "retry" the result is that without failures.
    bad.simulated, bad.fails = 0, lambda scenario, seed: False
    with Store(tmp_path / "runs") as store:
        assert store.retry() == len(lost)
    assert indices(tmp_path / "runs").table.equals(whole.table)
    assert bad.simulated == len(lost)


def test_a_sample_of_which_more_is_lost_is_refused(bad: Bad) -> None:
    bad.fails = lambda scenario, seed: _km(scenario) > 19
    words = (
        r"^sensitivity: given \d+ of 32 rows of the sample with runs that failed \(\d+ of \d+ runs "
        r"failed and are in no mean, first with seed 1, .*workload.file: given nothing.*\); "
        r"allowed: no more than 5% of them: bounds within which runs do not fail\. 'lightburst "
    )
    with pytest.raises(InputError, match=words):
        indices()


@pytest.mark.parametrize("command", ["optimise", "sensitivity", "sweep"])
def test_runs_of_another_version_of_the_model_are_told(
    study: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    if command != "optimise":
        text = re.sub(r"\[optimise\].*?\[over\]", "[over]", STUDY, flags=re.DOTALL)
        text = text.replace('scale = "log" }', 'scale = "log", number = 2 }')
        study.write_text(text + SENSITIVE * (command == "sensitivity"), encoding="utf-8")
    assert main([command, "study.toml"]) == 0
    assert "of the model" not in capsys.readouterr().err
    # All runs, as an earlier version would have kept them.
    with Store(".lightburst/runs") as store:
        texts = [text for (text,) in store.ask("SELECT scenario FROM scenarios")]
    earlier = [Scenario.from_dict(json.loads(text)) for text in texts]
    Path(".lightburst/runs").rename("away")
    with Store(".lightburst/runs") as store:
        for one_ in earlier:
            digest = scenario_digest(one_, MODEL_VERSION - 1)
            store.put(PlannedRun({}, one_, 1, digest), {"x": 1.0})
    with warnings.catch_warnings():
        assert main([command, "study.toml"]) == 0
    said = f"runs of this study are of version {MODEL_VERSION - 1} of the model; they are run again"
    assert said in capsys.readouterr().err
