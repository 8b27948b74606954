"""Metrics of the user's own through a study, its store, and the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.expressions import parse
from lightburst.expressions.columns import COLUMNS, NAMES
from lightburst.foundation.errors import InputError
from lightburst.report.sweep_page import sweep_page
from lightburst.result.metric_text import metric_words
from lightburst.simulation.simulate import simulate
from lightburst.study import Stopping, Store, execute_until
from lightburst.study.execution.executor import run_all
from stores import scenario

MICE = "p99 of slowdown where bytes < 100 kB"
SAME = "p99 of (slowdown) where size_bytes < 100000 B"
LATE = "count where start > 4 us"


def study(**metrics: str) -> lb.Study:
    return lb.Study(scenario(0), {"switching.buffer_ports": [0, 2]}, 2, metrics)


def rows(file: Path) -> list[dict[str, object]]:
    with Store(file) as store:
        return [json.loads(text) for (text,) in store.ask("SELECT metrics FROM runs ORDER BY id")]


def ran(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note the seed of each run from now on."""
    seeds: list[int] = []

    def noted(case: lb.Scenario, seed: int, **more: Any) -> lb.Result:
        seeds.append(seed)
        result: lb.Result = simulate(case, seed, **more)
        return result

    monkeypatch.setattr("lightburst.study.workers.one.simulate", noted)
    return seeds


def test_a_study_has_a_column_for_each_metric(tmp_path: Path) -> None:
    table = run_all(study(mice=MICE, late=LATE))
    own = ["warnings", "mice", "mice_of", "mice_needed", "late"]
    assert [name for name in table.columns if name in own] == own
    for row in table.to_dict("records"):
        point = scenario(0).with_({"switching.buffer_ports": row["switching.buffer_ports"]})
        result = lb.run(point, row["seed"], metrics={"mice": MICE, "late": LATE})
        assert (row["mice"], row["late"]) == (result.metric(MICE), result.metric(LATE))
        assert (row["mice"], row["late"]) == (result.metrics["mice"], result.summary["late"])
    table = lb.replicate(scenario(0), 2, metrics={"late": LATE})
    assert table["late"].tolist() == [lb.run(scenario(0), seed).metric(LATE) for seed in (1, 2)]


def test_a_kept_run_without_the_metric_is_run_again_and_all_else_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, seeds = tmp_path / "runs", ran(monkeypatch)
    plain = run_all(study(), file)
    before = rows(file)
    assert sorted(seeds) == [1, 1, 2, 2]
    first = run_all(study(mice=MICE), file)
    assert sorted(seeds) == [1, 1, 1, 1, 2, 2, 2, 2]
    # Another name and another spelling of the same metric.
    second = run_all(study(small=SAME), file)
    assert len(seeds) == 8
    third = run_all(study(mice=LATE), file)
    assert len(seeds) == 12
    assert run_all(study(late=LATE, mice=MICE), file)[["late", "mice"]].to_numpy().tolist() == [
        [late, mice] for late, mice in zip(third["mice"], first["mice"], strict=True)
    ]
    assert len(seeds) == 12
    pd.testing.assert_series_equal(first["mice"], second["small"], check_names=False)
    # Stored rows are unchanged, including the duration of each run, and a plain study finds them.
    pd.testing.assert_frame_equal(first.drop(columns=["mice", "mice_of", "mice_needed"]), plain)
    pd.testing.assert_frame_equal(run_all(study(), file), plain)
    assert len(rows(file)) == len(before)
    for old, new in zip(before, rows(file), strict=True):
        assert {key: new.pop(key) for key in old} == old
        mice = f"metric: {text()}"
        late = f"metric: {LATE.replace('start', 'start_s')}"
        assert sorted(new) == sorted([late, mice, f"{mice}_of", f"{mice}_needed"])


def text() -> str:
    return MICE.replace("bytes", "size_bytes")


def test_runs_without_metrics_are_kept_as_before(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    run_all(study(), file)
    assert not [key for row in rows(file) for key in row if key.startswith("metric")]
    digests = [planned.key for planned in study().runs]
    assert [planned.key for planned in study(mice=MICE).runs] == digests


def test_infinity_and_none_are_kept(tmp_path: Path) -> None:
    cut = scenario(0).with_({"measurement.time_limit": "3 us"})
    own = {"slow": "mean of completion_time", "none": "mean of slowdown where size > 1 GB"}
    for _ in range(2):
        table = run_all(lb.Study(cut, {}, 1, own), tmp_path / "runs")
        assert table["slow"].tolist() == [float("inf")]
        assert table["none"].isna().all()


def test_seeds_can_be_added_until_a_metric_of_ones_own_is_known() -> None:
    made = lb.Study(scenario(0), {}, 6, {"fast": "share of slowdown < 3"})
    table = execute_until(made, Stopping("fast", precision=0.9, first=2))
    assert 2 <= len(table) <= 6
    assert table["fast"].between(0, 1).all()


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"mice": "p99 of slowdwn"}, r"metrics\['mice'\]: .*did you mean 'slowdown'"),
        ({"mice": "count where group = 'a'"}, r"metrics\['mice'\]: .*several groups"),
        ({"switching.buffer_ports": "count"}, "names that no metric and no column"),
        ({"seed": "count"}, "names that no metric"),
        ({"slowdown_p99": "count"}, "names that no metric"),
        ({"mice[1]": "count"}, "without"),
        ({"": "count"}, "names of up to 100 characters"),
        (["count"], "expressions by name"),
        ({"mice": 3}, "an expression as text"),
    ],
)
def test_what_a_study_refuses(metrics: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run_all(lb.Study(scenario(0), {"switching.buffer_ports": [0]}, 1, metrics))


FILE = "examples/groups.toml"
OPTIONS = ["--metric", "quick = share of slowdown < 3 where group = 'query'"]


def test_the_command_shows_it_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = ["run", str(Path(FILE).absolute()), "--set", "measurement.time_limit=30 ms", *OPTIONS]
    short += ["--metric", "fct=median of completion_time", "--metric", "none=mean of slowdown/0/0"]
    monkeypatch.chdir(tmp_path)
    assert main([*short, "--out", "one"]) == 0
    shown = capsys.readouterr().out
    assert "│ quick " in shown
    assert " µs │" in next(line for line in shown.splitlines() if "│ fct " in line)
    assert main([*short, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0 <= found["quick"] <= 1
    assert found["metrics"]["quick"] == "share of slowdown < 3 where group = 'query'"
    assert found["metrics"]["fct"] == "median of completion_time_s"
    saved = json.loads((tmp_path / "one/run.json").read_text())
    assert (saved["summary"]["quick"], saved["metrics"]) == (found["quick"], found["metrics"])
    assert main([*short, "--format", "csv"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=False))["quick"] == str(
        found["quick"]
    )
    assert main([*short, "--replications", "2", "--out", "two", "--format", "json"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert both["runs"][0]["quick"] == found["quick"]
    assert set(both["summary"]["quick"]) == {"mean", "ci_low", "ci_high"}
    for directory in ("one", "two"):
        assert main(["report", directory]) == 0
        page = (tmp_path / directory / "index.html").read_text()
        assert "share of slowdown &lt; 3 where group = &#x27;query&#x27;" in page or (
            "share of slowdown &lt; 3 where group = &#39;query&#39;" in page
        )


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("quick", "--metric: given 'quick'; allowed: NAME=EXPRESSION"),
        ("quick=shar of slowdown < 3", "--metric['quick']: given 'shar' at character 1"),
        ("quick=count where group = 'quary'", "did you mean 'query'"),
    ],
)
def test_what_the_command_refuses(
    option: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["run", FILE, "--metric", option, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_page_lists_the_columns() -> None:
    page = Path("docs/metrics.md").read_text("utf-8")
    listed = re.search(r"^The columns are .*$", page, re.M)
    assert listed is not None
    known = {name if name in NAMES else "" for name in re.findall(r"`(\w+)`", listed[0])}
    assert {NAMES[name] for name in known if name} == set(COLUMNS)


def test_a_label_is_what_people_read_and_changes_no_value(tmp_path: Path) -> None:
    plain = parse("p99 of completion_time where bytes < 100 kB")
    named = parse("p99 of completion_time where bytes < 100 kB as 'Small flows, 99.9th of 100'")
    assert (str(named), named.label) == (str(plain), "Small flows, 99.9th of 100")
    assert named == plain, "what is kept of one is kept of the other"
    assert parse(named.written).label == named.label
    assert parse('count as "a\'s"').written == 'count as "a\'s"'
    assert parse("share of slowdown < 2 as 'x'").label == "x", "and no unit"
    for wrong in ("count as", "count as 'x' where size > 1 B", "count as ''", "count as ' x'",
                  "count as size", f"count as '{'x' * 101}'"):  # fmt: skip
        with pytest.raises(InputError):
            parse(wrong)
    file = tmp_path / "study.toml"
    file.write_text(
        f'scenario = "{Path("examples/hybrid.toml").resolve()}"\nseeds = 2\n'
        "[over]\nswitching.buffer_ports = [1, 2]\nworkload.flows = [30, 40]\n"
        f'[metrics]\nmine = "{named.written}"\n'
    )
    found = lb.sweep(file, progress=False)
    assert metric_words(found.study.metrics, "mine") == named.label
    axes = found.plot(y="mine").axes[0]
    assert re.fullmatch(r"Small flows, 99\.9th of 100 \(.?s\)", axes.get_ylabel())
    again = lb.load_sweep(found.save(tmp_path / "saved"))
    assert metric_words(again.study.metrics, "mine") == named.label
    assert named.label in sweep_page(found)


def test_a_run_prints_the_label(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ["run", "examples/hybrid.toml", "--set", "workload.flows=30", "--metric"]
    text = "mine=p99 of slowdown as 'Slowdown of the last'"
    assert main([*command, text, "--out", str(tmp_path / "run")]) == 0
    assert "Slowdown of the last" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "run"), "--explain", "0"]) == 0
    assert "Slowdown of the last" in (tmp_path / "run" / "index.html").read_text("utf-8")
