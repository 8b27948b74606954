"""``lightburst sweep`` and docs/sweep.md as a new user meets them."""

from __future__ import annotations

import csv
import importlib
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import simulate

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sweep.md").read_text("utf-8")
one = importlib.import_module("lightburst.study.workers.one")

STUDY = """
name = "small"
seeds = 3
show = ["slowdown_mean", "throughput_bps"]
compare = [["SAW", "SAWL"]]
scenario = "small.toml"

[over]
switching.buffer_ports = [1, 2]

[variants]
SAW = { transport.p = 0 }
SAWL = { transport.p = 4 }

[[figures]]
x = "switching.buffer_ports"
y = "throughput_bps"
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from test_cli import SCENARIO

    monkeypatch.chdir(tmp_path)
    # The file is beside the study, and not in the working directory.
    folder = tmp_path / "studies"
    folder.mkdir()
    (folder / "small.toml").write_text(SCENARIO, encoding="utf-8")
    path = folder / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the runs that were simulated, not read from a store."""
    seen: list[int] = []

    def counting(which: Scenario, seed: int, **options: Any) -> Result:
        seen.append(seed)
        return simulate(which, seed, **options)

    monkeypatch.setattr(one, "simulate", counting)
    return seen


def test_a_study_prints_its_answer_and_what_comes_next(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["sweep", str(study), "--out", "out"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("small: 4 points, 3 seeds; mean (95 %)")
    assert "SAWL against SAW, on the same seeds" in printed
    assert "SAWL / SAW (95 %)" in printed
    assert "figure: out/throughput_bps-over-buffer_ports.png (and .svg)" in printed.replace(
        str(study.parent.parent) + "/", ""
    )
    names = {file.name for file in Path("out").iterdir()}
    assert names == {
        "SHA256SUMS", "comparisons.csv", "runs.parquet", "study.toml", "sweep.json", "table.csv",
        "throughput_bps-over-buffer_ports.png", "throughput_bps-over-buffer_ports.svg",
    }  # fmt: skip
    found = lb.load_sweep("out")
    assert len(found.runs) == 12
    compared = pd.read_csv("out/comparisons.csv")
    assert set(compared["metric"]) == {"slowdown_mean", "throughput_bps"}
    # The written study runs again, from the store, with the same result.
    assert main(["sweep", "out/study.toml", "--out", "again"]) == 0
    assert lb.load_sweep("again").provenance["digest"] == found.provenance["digest"]


def test_variants_with_other_traffic_are_told(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", str(study)]) == 0
    assert "Not the same traffic" not in capsys.readouterr().out
    scenario = study.parent / "small.toml"
    text = scenario.read_text("utf-8")
    drawn = '[workload]\nkind = "poisson"\nload = 0.2\nflows = 20\nsize = "10 kB"\n'
    scenario.write_text(text[: text.index("[workload]")] + drawn, encoding="utf-8")
    wide = STUDY.replace("transport.p = 4 }", "transport.p = 4, topology.link_rate = '20 Gb/s' }")
    study.write_text(wide, encoding="utf-8")
    assert main(["sweep", str(study)]) == 0
    told = capsys.readouterr().out
    assert "Not the same traffic: SAWL was offered 2 times the" in told
    assert "Not the same ideal: a slowdown is over the time of the flow alone" in told
    assert "which topology.link_rate changes" in told


def test_machines_get_json_and_csv(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(study), "--format", "json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert (about["points"], about["runs"]) == (4, 12)
    assert about["study"]["seeds"] == 3
    assert main(["sweep", str(study), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["mean"]) for row in rows] == pytest.approx(
        [row["mean"] for row in about["table"]]
    )


def test_what_is_finished_is_not_run_again(study: Path, simulated: list[int]) -> None:
    assert main(["sweep", str(study), "--set", "switching.buffer_ports=[1]"]) == 0
    assert len(simulated) == 2 * 3
    assert main(["sweep", str(study)]) == 0
    assert len(simulated) == 2 * 2 * 3
    assert main(["sweep", str(study), "--workers", "1"]) == 0
    assert len(simulated) == 2 * 2 * 3


def test_options_change_axes_and_the_scenario(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = ["--set", "switching.buffer_ports={from=0, to=4, number=3}"]
    changes += ["--set", "workload.flows=20", "--set", "topology.link_length=['10 m', '20 m']"]
    assert main(["sweep", str(study), *changes, "--format", "json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["points"] == 2 * 3 * 2
    assert about["study"]["scenario"]["workload"]["flows"] == 20


def test_tables_of_runs_are_kept_beside_the_store(
    study: Path, simulated: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", str(study)]) == 0
    text = study.read_text("utf-8").replace("seeds = 3", "seeds = 3\nkeep = ['flows', 'links']")
    study.write_text(text, encoding="utf-8")
    # Runs without them are run again, once.
    assert main(["sweep", str(study), "--out", "out"]) == 0
    assert len(simulated) == 24
    found = lb.load_sweep("out")
    flows = found.kept("flows")
    assert list(flows.columns[:3]) == ["variant", "switching.buffer_ports", "seed"]
    assert len(flows) == 12 * 40
    one = flows.query("variant == 'SAWL' and `switching.buffer_ports` == 2 and seed == 3")
    alone = lb.run(found.study.scenario.with_({"transport.p": 4}), 3).flows
    assert one["completion_time_s"].tolist() == alone["completion_time_s"].tolist()
    assert main(["sweep", str(study)]) == 0
    assert len(simulated) == 24
    file = next(Path(".lightburst/runs/tables").glob("*-flows.parquet"))
    file.write_bytes(b"damaged")
    capsys.readouterr()
    assert main(["sweep", str(study), "--out", "damaged"]) == 2
    assert "keep: given" in capsys.readouterr().err
    assert not Path("damaged").exists()
    file.unlink()
    assert main(["sweep", str(study), "--out", "out"]) == 0
    assert len(simulated) == 25


def test_without_a_store_tables_are_kept_as_long_as_the_sweep(study: Path) -> None:
    found = lb.sweep(study.parent / "small.toml", seeds=2, keep=["switches"], progress=False)
    assert found.kept("switches")["seed"].nunique() == 2
    assert "scenario" not in found.runs
    with pytest.raises(lb.InputError, match="kept: given 'flows'; allowed: one of 'switches'"):
        found.kept("flows")


TINY = lb.Scenario.from_dict(
    {
        "topology": {"kind": "fat-tree", "k": 2},
        "switching": {"kind": "electronic"},
        "transport": {"kind": "saw"},
        "workload": {"kind": "pairs", "size": "9 kB"},
    }
)


def test_nodes_with_names_and_with_numbers_are_kept_in_one_table(tmp_path: Path) -> None:
    racks = {"kind": "racks", "racks": 2, "hosts_per_rack": 1, "uplinks": 1}
    variants = {"tree": {}, "racks": {"topology": racks}}
    found = lb.sweep(TINY, variants=variants, seeds=1, keep=["switches"], progress=False)
    nodes = ["2", "3", "4", "5", "6", "rack0", "rack1", "core0"]
    assert found.kept("switches")["node"].tolist() == nodes
    found.save(tmp_path / "out")
    assert lb.load_sweep(tmp_path / "out").kept("switches")["node"].tolist() == nodes


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_variants_have_events_of_their_own(tmp_path: Path) -> None:
    cut = {"events": [{"at": "0 s", "state": "down", "node": "6"}]}
    found = lb.sweep(TINY, variants={"up": {}, "down": cut}, seeds=1, progress=False)
    runs = found.runs.set_index("variant")
    assert runs["events"].dtype.kind in "if"
    assert runs["packet_hops"]["down"] != runs["packet_hops"]["up"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds", "sedes", "sedes: given an unknown key 'sedes'"),
        ('"SAWL"]', '"SALW"]', "compare[0]: given 'SALW'; allowed: one of the variants: 'SAW', '"),
        ("slowdown_mean", "slowdwn_mean", "show: given 'slowdwn_mean'; allowed: a metric of the"),
        ("small.toml", "large.toml", "scenario: given '"),
        ("buffer_ports = [1, 2]", "buffer_prots = [1, 2]", "(did you mean 'buffer_ports'?)"),
        ("buffer_ports = [1, 2]", "buffer_ports = []", "over.switching.buffer_ports: given no v"),
        ('y = "throughput_bps"', 'y = "throughput"', "figures[0].y: given 'throughput'"),
        ('x = "switching.buffer_ports"', 'x = "ports"', "figures[0].x: given 'ports'; allowed: "),
        ("SAWL = {", "SAW = {", "study.toml: given 'SAW' twice (again at line"),
        ("{ transport.p = 4 }", "{ transport.p = 0 }", "variants.SAWL: given the same as 'SAW'"),
        ("seeds = 3", "keep = ['flow']", "keep: given 'flow'; allowed: some of: 'flows',"),
        ("[1, 2]", "{ from = 1, to = 2, number = 900000 }", "given 900,000 values"),
        ("seeds = 3", "seeds = 1000000", "study: given 4,000,000 runs, about "),
    ],
)
def test_bad_input_gets_one_message(
    study: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    study.write_text(study.read_text("utf-8").replace(old, new, 1), encoding="utf-8")
    assert main(["sweep", str(study), "--out", "out"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert len(said.err.splitlines()) == 1
    assert not Path("out").exists()


def test_one_seed_has_no_intervals_and_says_so(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.write_text(study.read_text("utf-8").replace("seeds = 3", "seeds = 1"), encoding="utf-8")
    assert main(["sweep", str(study)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("small: 4 points, 1 seed; no intervals: more seeds give them")
    assert "unknown" in printed  # SAWL compared with SAW


def test_a_scenario_is_no_study(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(study.parent / "small.toml")]) == 2
    assert "small.toml: given a scenario; allowed: a study" in capsys.readouterr().err


def test_runs_of_another_version_of_the_model_are_told(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = importlib.import_module("lightburst.study.runs")
    with monkeypatch.context() as before:
        before.setattr(planned, "MODEL_VERSION", 7)
        assert main(["sweep", str(study)]) == 0
    capsys.readouterr()
    assert main(["sweep", str(study)]) == 0
    said = capsys.readouterr().err
    assert "runs of this study are of version 7 of the model" in said
    capsys.readouterr()
    database = sqlite3.connect(".lightburst/runs/index.sqlite")
    database.execute("PRAGMA user_version = 77")
    database.close()
    assert main(["sweep", str(study)]) == 2
    assert "(layout 77, of a later version)" in capsys.readouterr().err
