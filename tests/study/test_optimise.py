"""``lightburst optimise`` and `lightburst.optimise`: the answer, its gain, invalid questions."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.experiment.optimum import Optimum
from lightburst.foundation.errors import InputError
from lightburst.models.yu2004 import Flow, optimum
from lightburst.papers.figure import Bars, Figure
from lightburst.report.optimum_figure import figures
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import simulate
from lightburst.study.workers import one as worker
from problems import BURSTS, ONE_FLOW
from processes import started

TIME, LENGTH = "switching.assembly.time", "topology.link_length"


def value(found: Optimum, point: str, column: str) -> float:
    """A number of the last comparison."""
    rows = {row["point"]: row for row in found.as_dict()["confirmed"]}
    return float(rows[point][column])


def drawn(found: Optimum) -> Figure:
    (figure,) = figures(found)
    assert isinstance(figure, Figure)
    return figure


STUDY = """
name = "timer"
seeds = 6
[optimise]
maximise = "throughput_bps"
trials = 12
first = 3
confirm = 5
[over]
switching.assembly.time = { from = "0.5 ms", to = "50 ms", scale = "log" }
[scenario]
topology = { kind = "obs-path", access_rate = "10 Mb/s" }
switching = { kind = "burst", assembly = { kind = "timer", time = "1 ms" } }
loss = { probability = 0.01 }
transport = { kind = "tcp", recovery = "sack", segment_size = "1 kB", advertised_window = 50 }
workload = { kind = "pairs", size = { kind = "constant", value = "400 kB" } }
"""


def check_read_back(found: Optimum, place: Path) -> None:
    """A saved result is equal when loaded, and can be drawn and saved again."""
    loaded = lb.load_optimum(found.save(place / "saved"))
    assert loaded.as_dict() == found.as_dict()
    pd.testing.assert_frame_equal(loaded.trials, found.trials, check_exact=True)
    pd.testing.assert_frame_equal(loaded.confirmed, found.confirmed, check_exact=True)
    assert loaded.scenario == found.scenario
    assert (loaded.words, loaded.theory) == (found.words, found.theory)
    loaded.save(place / "again")
    for name in ("optimum.json", "trials.csv", "confirmed.csv"):
        assert (place / "again" / name).read_bytes() == (place / "saved" / name).read_bytes()


def test_a_simulation_with_a_known_best_gives_it() -> None:
    # The time is 7.2 us and 15 us a km: 240 us at 15.52 km.
    late = "mean of (completion_time - 240 us) * (completion_time - 240 us)"
    found = lb.optimise(
        ONE_FLOW,
        {LENGTH: {"from": "1 km", "to": "100 km"}},
        minimise=late,
        seeds=2,
        confirm=2,
        trials=60,
    )
    assert value(found, "best", f"{LENGTH}_m") == pytest.approx(15520, rel=0.03)
    assert found.scenario.to_dict()["topology"]["link_length"] == found.best[LENGTH]
    # No chance at all in these runs: two of them are two.
    assert found.confirmed.set_index("point").loc["best", "verdict"] == "better"


def test_the_best_assembly_time_is_that_of_equation_32_where_its_assumptions_hold() -> None:
    base = BURSTS.with_({"workload.size.value": "5 MB"})
    over = {TIME: {"from": "0.1 ms", "to": "100 ms", "scale": "log"}}
    found = lb.optimise(base, over, maximise="throughput_bps", seeds=12, trials=20, confirm=10)
    below, limited, numerical = found.theory
    flow = Flow.from_scenario(base)
    assert below.time_s == pytest.approx(float(optimum.best_time_below_limit(flow)))
    assert limited.time_s == pytest.approx(float(optimum.best_time_at_limit(flow)))
    assert not below.holds
    assert limited.holds
    rows = found.confirmed.set_index("point")
    assert list(rows.index) == ["default", "best", "equation (30)", "equation (32)"]
    assert value(found, "equation (32)", f"{TIME}_s") == pytest.approx(limited.time_s, rel=1e-5)
    best = value(found, "best", f"{TIME}_s")
    assert 0.5 < best / limited.time_s < 2
    assert 0.5 < best / numerical.time_s < 2
    # And it has a gain: over the default, and over (30), which does not hold here.
    assert rows.loc["best", "verdict"] == "better"
    assert value(found, "best", "mean") > value(found, "equation (30)", "mean")
    gain = 100 * (value(found, "best", "ratio") - 1)
    assert f"of the default: {gain:+.3g} %, " in found.gain
    assert found.gain.endswith("better, beyond chance")
    figure = drawn(found)
    assert {"equation (30), fresh seeds", "equation (32), fresh seeds"} <= set(figure.colours)
    assert figure.theory == ("yu2004",)


def test_the_command_prints_and_writes_and_costs_nothing_again(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert main(["optimise", str(study), "--out", "out"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("timer: maximise throughput over switching.assembly.time\n")
    assert "\n  12 trials, " in printed
    assert re.search(r"on 5 fresh seeds .* against .* of the default:\n  \+", printed)
    assert "equation (32)" in printed
    assert {file.name for file in Path("out").iterdir()} == {
        "SHA256SUMS", "confirmed.csv", "optimum.json", "optimum.png", "optimum.svg", "study.toml",
        "trials.csv",
    }  # fmt: skip
    first = json.loads(Path("out/optimum.json").read_text("utf-8"))
    trials = pd.read_csv("out/trials.csv")
    assert list(trials["trial"]) == list(range(1, 13))
    assert first["runs"] == 1 + trials["seeds"].sum() + 4 * 5
    assert first["objectives"] == [{"metric": "throughput_bps", "direction": "maximise"}]
    assert [row["seeds"] for row in first["trials"]] == trials["seeds"].tolist()
    check_read_back(lb.load_optimum("out"), Path())
    Path("out/optimum.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"^DIR: given .*optimum\.json"):
        lb.load_optimum("out")
    # Every run is in the store: the same answer bit for bit without a simulation, in one thread.
    monkeypatch.setattr("lightburst.study.workers.one.simulate", None)
    assert main(["optimise", "out/study.toml", "--workers", "1", "--format", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    for about in (first, again):
        del about["provenance"]["created"]
    assert again == first
    assert main(["optimise", str(study), "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("trial,switching.assembly.time,")


def test_fresh_seeds_are_none_of_the_search_and_gains_are_paired(study: Path) -> None:
    found = lb.optimise(study, progress=False)
    assert found.study.all_seeds == range(1, 7)
    runs = {
        place: lb.execute(lb.Study(found.study.scenario, [point], range(7, 12)), progress=False)
        for place, point in (("default", {}), ("best", found.best))
    }
    one, other = (runs[name]["throughput_bps"] for name in ("default", "best"))
    rows = found.confirmed.set_index("point")
    assert rows.loc["default", "mean"] == one.mean()
    assert rows.loc["best", "difference"] == pytest.approx((other - one).mean())
    assert rows.loc["best", "n"] == 5


INTERRUPTED = """
from lightburst.cli import main
from lightburst.study.search import evaluated
run_placed, calls = evaluated.run_placed, []
def told(*words, **more):
    calls.append(words)
    if len(calls) == 5:
        print("searching", flush=True)
    return run_placed(*words, **more)
evaluated.run_placed = told
sys.exit(main())
"""


def test_after_ctrl_c_the_same_command_comes_to_the_same_answer(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long runs, so that the search is still in progress even on a fast machine.
    study.write_text(STUDY.replace("400 kB", "40 MB"), encoding="utf-8")
    command = ["optimise", str(study), "--format", "json"]
    process = started(INTERRUPTED, *command, cwd=study.parent)
    assert process.stdout is not None
    assert process.stdout.readline() == "searching\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "the same command continues from there" in err
    answers = []
    simulated: list[int] = []

    def counting(scenario: Scenario, seed: int, **more: Any) -> Result:
        simulated.append(seed)
        return simulate(scenario, seed, **more)

    monkeypatch.setattr(worker, "simulate", counting)
    for folder in (study.parent, study.parent / "elsewhere"):
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        assert main(command) == 0
        answers.append(json.loads(capsys.readouterr().out))
        del answers[-1]["provenance"]["created"]
        answers[-1]["simulated"] = len(simulated)
        simulated.clear()
    # Each distinct run once; a few were there from before.
    assert answers[0].pop("simulated") < answers[1].pop("simulated") <= answers[1]["runs"]
    assert answers[0] == answers[1]


def test_several_objectives_are_a_front_on_fresh_seeds(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = STUDY.replace('maximise = "throughput_bps"', 'maximise = "throughput_bps"\n'
                         'minimise = "assembly_mean_s"')  # fmt: skip
    study.write_text(text, encoding="utf-8")
    found = lb.optimise(study, progress=False)
    assert [aim.metric for aim in found.aims] == ["assembly_mean_s", "throughput_bps"]
    assert len(found.places) > 1
    front = found.trials[found.trials["verdict"] == "best"]
    waits, rates = (
        front[front["metric"] == aim.metric].sort_values("trial")["mean"] for aim in found.aims
    )
    # More throughput costs more waiting.
    order = waits.to_numpy().argsort()
    assert (rates.to_numpy()[order][1:] > rates.to_numpy()[order][:-1]).all()
    assert set(found.confirmed["point"]) == {"default", *found.names}
    figure = drawn(found)
    assert (figure.x_label, figure.y_label) == (
        "Wait for the assembly, mean (µs)",
        "Throughput (Mb/s)",
    )
    check_read_back(found, study.parent)
    assert main(["optimise", str(study)]) == 0
    assert "a front of" in capsys.readouterr().out


def test_choices_alone_are_all_tried_and_drawn_as_bars(tmp_path: Path) -> None:
    found = lb.optimise(
        BURSTS,
        {"transport.recovery": ["reno", "new-reno", "sack"]},
        variants={"short": {TIME: "1 ms"}, "long": {TIME: "10 ms"}},
        maximise="throughput_bps",
        seeds=4,
        confirm=4,
        progress=False,
    )
    check_read_back(found, tmp_path)
    assert found.trials["trial"].nunique() == 6
    assert found.places[0].variant == "long"
    assert found.best == {TIME: "10 ms", "transport.recovery": "sack"}
    (figure,) = figures(found)
    assert isinstance(figure, Bars)
    assert figure.bars[0] == "long\nsack"
    assert figure.y_label == "Throughput (Mb/s)"
    assert found.theory == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (('from = "0.5 ms", to = "50 ms", ', ""),
         "assembly.time.from: given nothing; allowed: an end"),
        ((', to = "50 ms"', ""), "over.switching.assembly.time.to: given nothing"),
        (('"50 ms"', '"0.1 ms"'), "time.to: given '0.1 ms'; allowed: no less than from, 0.5 ms"),
        (("throughput_bps", "thruput_bps"),
         "optimise.maximise: given 'thruput_bps'.*did you mean 'throughput_bps'.*makespan_s"),
        (("throughput_bps", "mean of speed"), r"optimise.maximise: given .*speed"),
        (('maximise = "throughput_bps"', ""), "optimise: given no objective"),
        (('maximise = "throughput_bps"', 'maximise = "makespan_s"\nminimise = "makespan_s"'),
         "given 'makespan_s' twice"),
        (("[optimise]", "[optimize]"), "optimize.*did you mean 'optimise'"),
        (("trials = 12", "trials = 1"), "optimise.trials: given 1; allowed: a whole number from 2"),
        (("trials = 12", "budget = 10"), "optimise.budget: given 10; allowed: at least 24 runs"),
        (("seeds = 6", "target = { metric = 'x', precision = 0.1 }"), "target: given a table"),
    ],
)  # fmt: skip
def test_bad_questions_are_refused_in_one_message(
    study: Path, capsys: pytest.CaptureFixture[str], changes: tuple[str, str], words: str
) -> None:
    assert changes[0] in STUDY
    study.write_text(STUDY.replace(*changes), encoding="utf-8")
    assert main(["optimise", str(study), "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert error.count("lightburst: ") == 1
    assert re.search(words, error), error
    assert not Path("out").exists()


def test_a_study_without_the_question_is_told_what_is_missing(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = re.sub(r"\[optimise\].*?\[over\]", "[over]", STUDY, flags=re.DOTALL)
    study.write_text(text, encoding="utf-8")
    for command in ("optimise", "sensitivity"):
        assert main([command, str(study)]) == 2
        assert f"{command}: given nothing; allowed: a table [{command}]" in capsys.readouterr().err


def test_unfinished_flows_are_counted_and_named() -> None:
    base = BURSTS.with_({"measurement.time_limit": "6 s"})
    over = {TIME: {"from": "0.1 ms", "to": "100 ms", "scale": "log"}}
    with pytest.warns(lb.RunWarning) as warned:
        found = lb.optimise(
            base.with_({"workload.size.value": "1 MB"}), over,
            minimise="completion_time_mean_s", seeds=4, trials=16, confirm=4, first=2,
        )  # fmt: skip
    said = " ".join(str(one.message) for one in warned)
    words = (
        r"\d+ of 16 trials count as worse than all others: completion_time_mean_s is infinite in "
        r"\d+ of their \d+ runs \(first: trial \d+, seed \d\)"
    )
    assert re.search(words, said)
    assert "longer measurement.time_limit" in said
    unusable = found.trials[found.trials["verdict"] == "unusable"]
    assert len(unusable) > 0
    assert value(found, "best", "mean") < 6


def test_an_objective_that_is_finite_nowhere_is_an_error() -> None:
    base = BURSTS.with_({"measurement.time_limit": "0.1 s"})
    words = (
        r"optimise.minimise: given completion_time_mean_s, not finite in any of 20 trials; "
        r"allowed: a finite one. completion_time_mean_s is infinite in 40 of their 40 runs"
    )
    with pytest.raises(lb.InputError, match=words):
        lb.optimise(
            base,
            {TIME: {"from": "1 ms", "to": "10 ms"}},
            minimise="completion_time_mean_s",
            seeds=4,
            first=2,
        )


def test_a_best_value_at_the_end_of_its_range_is_worth_a_word() -> None:
    with pytest.warns(lb.RunWarning, match="link_length: the best value is at the lower end"):
        lb.optimise(
            ONE_FLOW, {LENGTH: {"from": "1 km", "to": "9 km", "step": "1 km"}},
            minimise="completion_time_mean_s", seeds=2, confirm=2,
        )  # fmt: skip


def test_very_many_runs_are_asked_for_first(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.write_text(STUDY.replace("trials = 12", "trials = 9000"), encoding="utf-8")
    assert main(["optimise", str(study)]) == 2
    assert re.search(r"study: given 54,010 runs, (about|more than).*--yes", capsys.readouterr().err)
