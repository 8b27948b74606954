"""A paper of the user's own is calibrated: planted values are found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightburst.papers
from calibrated_paper import NAME, OPEN, ROOT, comparable, forgotten, paper
from lightburst.cli.app import app
from lightburst.cli.terminal.guard import start
from lightburst.experiment.calibrate import GROUPS, Plan, calibrate, calibrate_parts
from lightburst.experiment.calibrated.aims import aims_of, implausible, met
from lightburst.experiment.calibrated.alternatives import alternatives, held_out, proposed
from lightburst.experiment.calibrated.calibration import Calibration
from lightburst.foundation.errors import InputError
from lightburst.papers.claims import Claim, Verdict
from lightburst.papers.open import Open
from lightburst.papers.paper import Paper
from lightburst.result.files import STORE
from lightburst.study import Store
from lightburst.study.calibration.ranges import Kind

PLAN = Plan(waves=2, points=5, seeds=2, confirm=4, budget=None, seed=1)


@pytest.fixture(scope="module")
def erlang(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paper]:
    yield paper(tmp_path_factory.mktemp("papers"))
    forgotten()


@pytest.fixture(scope="module")
def found(erlang: Paper) -> Calibration:
    """A calibration by three workers."""
    return calibrate_parts(erlang, erlang.default, PLAN, quick=True, workers=3, progress=False)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two generations of alternatives, where it does not matter which ones are found."""
    monkeypatch.setattr(
        "lightburst.experiment.calibrate.proposed", partial(proposed, generations=2)
    )


def test_a_planted_value_is_found_again(found: Calibration) -> None:
    left = found.left["channel-rate"]
    assert left.kind is Kind.DETERMINED
    # The range is logarithmic from 5 to 40 Gb/s: 10 Gb/s is at a third of it.
    begin, end = left.stretches[0][0], left.stretches[-1][1]
    assert begin - 0.05 <= 1 / 3 <= end + 0.05
    assert found.left["call"].kind is Kind.FREE
    assert not found.nowhere
    assert not found.apart
    assert set(found.statements["moved_by"]) == {"channel-rate"}
    best = found.best[1]
    assert float(str(found.written(best)["channel-rate"]).split()[0]) == pytest.approx(10, rel=0.1)
    assert found.best[0].held == 0
    assert best.held == 4
    assert (set(best.gained), best.lost) == ({f"loss-{n}" for n in (1, 2, 3, 4)}, ())
    # The search saw three of the four statements; the one held out holds as well.
    assert (best.held_seen, best.held_out) == (3, 1)


def test_the_numbers_of_the_base_are_those_of_its_runs(found: Calibration, erlang: Paper) -> None:
    (block,) = erlang.blocks(erlang.default, True)
    runs = erlang.runs(replace(block, study=type(block.study)(
        block.study.base, block.study.points, PLAN.seeds_of(0)
    )).run(None, workers=1, progress=False))  # fmt: skip
    claims = {one.id: one for one in erlang.parts["fig1"].claims(runs)}
    rows: list[dict[str, Any]] = found.statements.to_dict("records")  # type: ignore[assignment]
    for row in rows:
        assert row["base"] == pytest.approx(claims[row["reading"]].measured)
        assert (row["low"], row["high"]) == claims[row["reading"]].bounds


@pytest.mark.usefixtures("short_search")
def test_another_seed_has_other_settings(found: Calibration, erlang: Paper) -> None:
    small = replace(PLAN, waves=1, points=2)
    one, other = (
        calibrate_parts(
            erlang, erlang.default, replace(small, seed=seed), quick=True, progress=False
        )
        for seed in (1, 2)
    )
    assert not np.array_equal(one.settings, other.settings)


KILLED = """
import os, sys, pathlib
sys.path.insert(0, {tests!r})
from calibrated_paper import paper
from test_calibrate import PLAN
from lightburst.experiment.calibrate import calibrate_parts
from lightburst.study import Store
put_all = Store.put_all
def told(store, ended):
    rows = put_all(store, ended)
    os.write(1, b"kept\\n" * len(ended))
    return rows
Store.put_all = told
erlang = paper(pathlib.Path(sys.argv[1]))
calibrate_parts(erlang, erlang.default, PLAN, quick=True, store=sys.argv[2], progress=False)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_a_killed_calibration_continues(
    tmp_path: Path, found: Calibration, erlang: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "runs.db"
    code = KILLED.format(tests=str(ROOT / "tests"))
    path = os.pathsep.join([str(ROOT / "tests/experiment"), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "papers"), str(store)],
        stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert process.stdout is not None
    kept = sum(1 for _ in zip(range(80), process.stdout, strict=False))
    process.send_signal(signal.SIGKILL)
    kept += len(process.communicate()[0].splitlines())
    assert 80 <= kept < found.runs, "killed after the first wave had begun, before the end"
    computed = 0
    put_all = Store.put_all

    def counted(store: Store, ended: Any) -> Any:
        nonlocal computed
        computed += len(ended)
        return put_all(store, ended)

    monkeypatch.setattr(Store, "put_all", counted)
    again = calibrate_parts(erlang, erlang.default, PLAN, quick=True, store=store, progress=False)
    assert comparable(again) == comparable(found)
    assert 0 < computed <= found.runs - kept


@pytest.mark.usefixtures("short_search")
def test_a_budget_leaves_out_the_dearest_statements(erlang: Paper) -> None:
    plan = replace(PLAN, waves=1, points=2, budget=2 * 8 * 2, whole=True)
    found = calibrate_parts(erlang, erlang.default, plan, quick=True, progress=False)
    # Two points of two seeds at eight settings, one for each of two statements.
    assert [aim.id for aim in found.aims] == ["loss-1", "loss-2"]
    assert set(found.rest) == {"loss-3", "loss-4"}
    assert "the budget of 32 runs; it needs 16" in found.rest["loss-3"]
    assert found.runs == 4 * GROUPS * 2 + 2 * 2 * 8 + 4 * 4 * 4


@pytest.mark.usefixtures("short_search")
def test_a_statement_is_left_out_by_a_pattern(erlang: Paper, tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text(f'left_out = ["*-4"]\n{OPEN}', "utf-8")
    plan = replace(PLAN, waves=1, points=2)
    found = calibrate_parts(erlang, erlang.default, plan, quick=True, open=file, progress=False)
    assert [aim.id for aim in found.aims] == ["loss-1", "loss-2", "loss-3"]
    assert found.rest == {"loss-4": "left out by *-4 of open.toml"}


def test_gains_and_losses_are_against_the_base() -> None:
    def judged(**verdicts: str) -> dict[str, Claim]:
        return {
            id: Claim(id, "f", id, 1.0, 1.0, 1.0, 1.0, Verdict(verdict), "c", "")
            for id, verdict in verdicts.items()
        }

    base = judged(a="holds", b="differs", c="holds", d="not comparable")
    other = judged(a="holds", b="holds", c="differs", d="holds")
    parts = np.zeros((2, 1))
    first, second = alternatives(["base", "alternative 1"], parts, [base, other], [])
    assert (first.gained, first.lost, first.held) == ((), (), 2)
    assert (second.gained, second.lost, second.held) == (("b", "d"), ("c",), 3)


def test_readings_of_a_statement_are_alternatives(found: Calibration) -> None:
    def claim(id: str, value: float, bounds: tuple[float, float]) -> Claim:
        return Claim(
            id, "f", id, 1.0, value, value, value, Verdict.HOLDS, "c", "", statement_id="s",
            bounds=bounds,
        )  # fmt: skip

    def group(x: float, y: float) -> dict[str, Claim]:
        return {"one": claim("one", x, (0, 2)), "other": claim("other", y, (9, 11))}

    opened = Open((), (), (), found.opened.base)
    (aim,), rest = aims_of([group(1, 9), group(3, 11), group(2, 10)], opened)
    assert not rest
    assert [one.seed_variance for one in aim.readings] == [1, 1]
    # Root of 1 + 1: the first is 3 and 8 beyond its middle, the second 6 and nothing.
    values = np.array([[4.0, 4.0], [9.0, 10.0], [np.nan, 4.0], [np.nan, np.nan]])
    assert implausible([aim], values)[:3, 0] == pytest.approx([3 / 2**0.5, 0, 6 / 2**0.5])
    assert np.isnan(implausible([aim], values)[3, 0])
    assert met([aim], values)[:, 0].tolist() == [True, True, False, False]


def test_a_third_is_held_out(found: Calibration) -> None:
    for number in range(8):
        aims = held_out([found.aims[0]] * number, 3)
        assert sum(aim.held_out for aim in aims) == number // 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"waves": 0}, "waves: given 0; allowed: a whole number from 1 to 5"),
        ({"points": 1}, "points: given 1; allowed: a whole number from 2"),
        ({"seeds": 1}, "seeds: given 1; allowed: a whole number from 2"),
        ({"confirm": True}, "confirm: given True"),
        ({"budget": 0}, "budget: given 0; allowed: a whole number of runs from 1"),
        ({"seed": -1}, "seed: given -1"),
    ],
)
def test_a_number_beyond_its_limits_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        calibrate("yu2004", **given)


def test_a_paper_without_open_parameters_is_refused(erlang: Paper) -> None:
    with pytest.raises(InputError, match=r"name: given 'erlang1917'; allowed: a paper whose"):
        calibrate_parts(replace(erlang, package=""), erlang.default, PLAN, progress=False)


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.gaussian_process", None)
    allowed = r"pip install 'lightburst\[calibrate\]'"
    with pytest.raises(InputError, match=f"calibrate: given no package scikit-learn; .*{allowed}"):
        calibrate("yu2004", quick=True)


@pytest.mark.usefixtures("short_search")
def test_the_command_prints_and_writes(
    erlang: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(lightburst.papers.PAPERS, NAME, erlang)
    monkeypatch.chdir(tmp_path)
    command = ["calibrate", NAME, "--quick", "--waves", "1", "--points", "3", "--confirm", "2"]
    assert start(app, [*command, "--out", "out"]) == 0
    told = capsys.readouterr().out
    assert "2 open parameters" in told
    assert "alternative 1" in told
    about = json.loads((tmp_path / "out/calibration.json").read_text("utf-8"))
    assert {one["parameter"] for one in about["parameters"]} == {"channel-rate", "call"}
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"index.html", "settings.csv", "statements.csv", "together.csv"} <= files
    assert {"left-channel-rate-call.png", "moved-by-channel-rate.svg"} <= files
    page = (tmp_path / "out/index.html").read_text("utf-8")
    assert "Open parameters: the part of each range that is left" in page
    # The second call computes nothing.
    monkeypatch.setattr(Store, "put_all", None)
    assert start(app, [*command, "--format", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["parameters"] == about["parameters"]


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("command", ["reproduce", "calibrate"])
def test_processes_find_what_threads_find(
    erlang: Paper,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
    command: str,
) -> None:
    monkeypatch.setitem(lightburst.papers.PAPERS, NAME, erlang)
    monkeypatch.chdir(tmp_path)
    few = ["--waves", "1", "--points", "3", "--confirm", "2"]
    words = [command, NAME, "--quick", "--format", "json", *(few * (command == "calibrate"))]
    assert start(app, [*words, "--dask", "local:2"]) == 0
    there = json.loads(capsys.readouterr().out)
    Path(STORE).rename("away")
    assert start(app, [*words, "--workers", "1"]) == 0
    here = json.loads(capsys.readouterr().out)
    if command == "calibrate":
        assert there.pop("provenance") != here.pop("provenance")  # the times of the calls
    assert there == here


@pytest.mark.parametrize("command", ["reproduce", "calibrate"])
def test_two_kinds_of_workers_are_refused(command: str, capsys: Any) -> None:
    assert start(app, [command, "yu2004", "--workers", "2", "--dask", "local:2"]) == 2
    assert "given beside --workers" in capsys.readouterr().err
