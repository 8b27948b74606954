"""A new user's tasks: the notebooks show what they say, the README's command lines run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.study.comparison import Comparison
from pages import DOCS, NOTEBOOKS, ROOT, cells, play

README = (ROOT / "README.md").read_text("utf-8")
#: What is reproduced runs elsewhere: it takes minutes.
LINES = [
    line.partition("#")[0].strip()
    for line in re.findall(r"^lightburst .*", README, re.M)
    if not line.startswith("lightburst reproduce")
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each program the examples, and the README's scenario, where it looks for them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    found = re.search(r"^```toml\n(.*?)^```", README, re.M | re.S)
    assert found is not None
    (tmp_path / "scenario.toml").write_text(found[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    return tmp_path


def ratios(compared: Comparison) -> pd.DataFrame:
    return compared.table[["ratio_low", "ratio_high"]]


def test_load_against_the_slowest_flows_over_three_kinds_of_switch(folder: Path) -> None:
    found = play("notebooks/load.md", folder)["found"]
    p99 = found.runs.pivot_table("slowdown_p99", "workload.load", "switching.kind")
    assert p99.shape == (3, 3)
    # A buffer is worth something: bufferless switches lose, and lost segments wait for a timeout.
    assert (p99["all-optical"] > p99["hybrid"]).all()
    assert (p99["hybrid"] > p99["electronic"]).all()
    assert (p99 > 1).all(axis=None)
    assert not found.runs["unfinished"].any()
    assert found.runs["flows"].min() > 200  # enough for a 99th percentile
    for a, b in [("electronic", "hybrid"), ("hybrid", "all-optical")]:
        compared = found.compare(a, b, "slowdown_p99", along="switching.kind")
        assert (ratios(compared)["ratio_low"] > 1).all()


def test_incast_over_background(folder: Path) -> None:
    names = play("notebooks/incast.md", folder)
    found, metric = names["found"], names["metric"]
    means = found.table(metric).pivot_table(
        "mean", "groups.background.workload.load", "variant", sort=False
    )
    assert means["drop-tail"].is_monotonic_increasing
    result = lb.run("examples/groups.toml", seed=1)
    assert list(result.groups.index) == ["background", "query"]
    assert result.groups.loc["query", "flows"] == (result.flows["group"] == "query").sum()
    last = ratios(found.compare("drop-tail", "DCTCP", metric)).iloc[-1]
    assert last["ratio_high"] < 1


def test_own_topology_by_the_names_of_its_cities(folder: Path) -> None:
    names = play("notebooks/own-topology.md", folder)
    result, fibres = names["result"], names["fibres"]
    assert len(fibres) == 12
    assert set(fibres["utilisation"].between(0, 1)) == {True}
    edge = result.network["Berlin"]["Hamburg"]
    row = fibres.query("source == 'Berlin' and target == 'Hamburg'").iloc[0]
    assert edge["utilisation"] == row["utilisation"] > 0
    # Light takes 5 us a km.
    assert row["delay_s"] == pytest.approx(290 * 5e-6)


def test_why_the_worst_flow_was_slow(folder: Path) -> None:
    names = play("notebooks/watching.md", folder)
    plain, found = lb.run("examples/groups.toml"), names["worst"]
    # It is the slowest flow, and the parts are all of its time.
    assert found.flow == plain.flows["slowdown"].idxmax()
    took = plain.columns["flows"]["received_ps"] - plain.plan.flows["start_ps"]
    assert len(found.parts) > 1
    assert found.parts["time_ps"].sum() == took[found.flow]
    # What the page says of it: a whole window lost, and a queue that was full by then.
    data = names["data"]
    assert (data["event"] == "lost").sum() == 10
    assert set(found.losses["reason"]) == {"queue-full"}
    own = names["own"]
    before = own[own["time_s"] <= names["place"]["time_s"]]["queue_bytes"].iloc[-1]
    assert before > 0.95 * own["queue_bytes"].max()
    assert "--flow 198" in (DOCS / "notebooks/watching.md").read_text("utf-8")
    assert found.flow == 198


def test_throughput_against_assembly_time(folder: Path) -> None:
    names = play("notebooks/assembly.md", folder)
    best, times = names["best"], names["times"]
    for name in names["recoveries"]:
        highest = times[names["theory"][name].argmax()]
        assert 0.5 < best[name] / highest < 2
    assert names["residual"].loc[4e-4:].abs().max(axis=None) < 0.1


def test_remedies_against_reordering(folder: Path) -> None:
    names = play("notebooks/reordering.md", folder)
    found, metric = names["found"], names["metric"]
    counts = found.runs.groupby("variant")[["reordered", "false_fast_retransmits"]].sum()
    assert (counts.loc[["source", "destination", "one path"]] == 0).all(axis=None)
    assert (counts.loc[["nothing", "RR-TCP", "threshold 30"]] > 0).all(axis=None)
    for remedy in ["source", "destination", "RR-TCP", "threshold 30"]:
        assert ratios(found.compare("nothing", remedy, metric))["ratio_high"].iloc[0] < 0.8
    assert ratios(found.compare("source", "destination", metric))["ratio_low"].iloc[0] > 1
    assert ratios(found.compare("source", "RR-TCP", metric))["ratio_high"].iloc[0] < 1.01
    assert [str(warning.message) for warning in names["said"]] != []


def test_the_first_figure_and_the_tutorial(folder: Path) -> None:
    means = play("first-figure.md", folder)["table"].pivot_table(
        "mean", "workload.arrival_rate_per_s", "variant"
    )
    assert means.shape == (3, 3)
    assert means["5 ports"].iloc[-1] > means["2 ports"].iloc[-1] > 1.2 * means["no buffer"].iloc[-1]
    names = play("tutorial.md", folder)
    assert names["answer"]["ratio_low"] > 1.1
    widest = names["surer"].table("throughput_bps")
    assert ((widest["ci_high"] - widest["ci_low"]) / widest["mean"] / 2 < 0.04).all()
    wide = names["wide"].compare("New-Reno", "SACK", "throughput_bps").table
    assert set(wide["verdict"]) == {"higher"}


def test_the_pictures_of_the_ideas(folder: Path) -> None:
    names = play("concepts/bursts.md", folder)
    assert len(names["plain"].trace.losses) == 2
    assert names["ahead"] == [20, 20, 15, 10]
    assert [len(names["classes"](s).trace.losses) for s in ("lauc", "lauc-vf")] == [2, 1]
    lost = [names["azimuth"](kind).summary["loss_end_to_end"] for kind in ("all-optical", "hybrid")]
    assert lost == [0.5, 0]
    for ordering, times in (("none", 3), ("source", 0)):
        bursts = names["two_paths"](ordering).trace.bursts
        arrivals = bursts[bursts["node"] == "A"].sort_values("of_node")["arrival_s"]
        assert (arrivals.diff() < 0).sum() == times


@pytest.mark.parametrize("line", LINES)
def test_the_command_lines_run(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, *arguments = shlex.split(line)
    assert main(arguments) == 0
    assert capsys.readouterr().out


def test_there_are_some_of_each() -> None:
    assert len(LINES) >= 6
    asked = [page for page in NOTEBOOKS if page.startswith("notebooks/")]
    assert len(asked) == 6
    assert all(len(cells(page)) > 3 for page in asked)
    # Each page with cells has a test above.
    tests = Path(__file__).read_text("utf-8")
    assert [page for page in NOTEBOOKS if f'play("{page}"' not in tests] == []
