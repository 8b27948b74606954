"""Every block of code on a page runs, and the statements of the page about it hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import networkx
import pandas as pd
import pytest

import lightburst as lb
import pages
from lightburst.models import theory
from lightburst.papers.figure import Figure
from lightburst.plots.layout import Picture
from lightburst.study.statistics.comparison import Comparison
from pages import DOCS, ELSEWHERE, ROOT, Play, name_of

Check = Callable[[Play], None]
#: Checks of a page that has run, and files that a page needs.
CHECKS: dict[str, Check] = {}
BEFORE: dict[str, Callable[[], None]] = {}

#: All blocks that run in no test, by their reason: a new one must be added here.
NOT_RUN = {
    "it installs": 4,
    "the output for one of the runs above": 1,
    "a part of a file, which tests/papers/test_open.py reads": 1,
    "the rest installs": 2,
    "a part of an example, with which tests/project/test_examples_optimise.py compares it": 2,
    "a comment for editors": 2,
    "it takes 2 GB of memory": 1,
    "ten minutes": 2,
    "a quarter of an hour on a busy machine": 1,
    "a grammar, of which tests/expressions/test_own_metrics.py tries each rule": 1,
    "a list of folders and modules": 1,
    "an order of modules, which tools/tidy.py checks": 1,
    "a drawing": 1,
    "a rank of examples/binomial-broadcast.goal, which runs below": 1,
    "a script, which tests/verification/test_packetdrill.py runs": 1,
    "xplot opens a window; tests/trace/test_trace_tools.py asks tcptrace": 1,
}


def says(page: str) -> Callable[[Check], Check]:
    """Register the assertions of a function for a page."""

    def kept(check: Check) -> Check:
        CHECKS[page] = check
        return check

    return kept


PROGRAMS = {
    name_of(page): pages.blocks(name_of(page))
    for page in pages.PAGES
    if name_of(page) not in ELSEWHERE
}
PROGRAMS = {page: blocks for page, blocks in PROGRAMS.items() if blocks}
BLOCKS = [block for blocks in PROGRAMS.values() for block in blocks]
SLOW = [page for page, found in PROGRAMS.items() if any(b.mark.startswith("slow") for b in found)]


# A page need not mention each warning of a run.
@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
@pytest.mark.parametrize("page", PROGRAMS)
def test_the_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page in BEFORE:
        BEFORE[page]()
    played = Play(page).run()
    if page in CHECKS:
        CHECKS[page](played)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
@pytest.mark.parametrize("page", SLOW)
def test_the_slow_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Play(page, slow=True).run()


def test_what_does_not_run_is_counted() -> None:
    found: dict[str, int] = {}
    for page in PROGRAMS:
        for _, reason in pages.not_run(page):
            found[reason] = found.get(reason, 0) + 1
    assert found == NOT_RUN


def test_each_block_says_what_it_is() -> None:
    languages = {"bash", "python", "cell", "toml", "text"}
    assert [str(block) for block in BLOCKS if block.language not in languages] == []
    assert [str(block) for block in BLOCKS if not pages.mark_is_known(block)] == []


def test_no_check_is_of_a_page_that_is_gone() -> None:
    assert CHECKS.keys() | BEFORE.keys() <= PROGRAMS.keys()
    assert len(BLOCKS) > 100


def test_targets_of_make_are_there() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for page in pages.PAGES:
        asked = re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text("utf-8"), re.M)
        assert set(asked) <= set(targets), page


def test_options_in_the_text_are_there() -> None:
    for page in pages.PAGES:
        for line in re.findall(r"`(lightburst [^`\n]*--[^`\n]*)`", page.read_text("utf-8")):
            assert pages.options(line) == [], f"{page}: {line}"


def ratios(compared: Comparison) -> pd.DataFrame:
    return compared.table[["ratio_low", "ratio_high"]]


@says("README.md")
def readme(page: Play) -> None:
    names = page.names
    assert names["scenario"].switching.kind == "hybrid"
    assert names["result"].flows["start_s"].equals(names["optical"].flows["start_s"])
    hybrid, optical = (names[name].summary["throughput_bps"] for name in ("result", "optical"))
    assert hybrid / optical > 1.2  # the paper's point: a hybrid switch carries more


@says("docs/first-figure.md")
def first_figure(page: Play) -> None:
    table = page.names["found"].table("throughput_bps")
    means = table.pivot_table("mean", "workload.arrival_rate_per_s", "variant")
    assert means.shape == (3, 3)
    assert means["5 ports"].iloc[-1] > means["2 ports"].iloc[-1] > 1.2 * means["no buffer"].iloc[-1]


@says("docs/optimise.md")
def optimise(page: Play) -> None:
    names = page.names
    assert names["better"] == names["found"].scenario
    assert names["better"].to_dict()["switching"]["assembly"]["time"] != "1 ms"
    assert set(names["both"].confirmed["metric"]) == {"throughput_bps", "assembly_mean_s"}
    assert len(names["indices"].table) == 2
    assert {"optimum.png", "indices.png"} <= {file.name for file in Path().iterdir()}


@says("docs/tutorial.md")
def tutorial(page: Play) -> None:
    names = page.names
    assert names["answer"]["ratio_low"] > 1.1
    widest = names["surer"].table("throughput_bps")
    assert ((widest["ci_high"] - widest["ci_low"]) / widest["mean"] / 2 < 0.04).all()
    wide = names["wide"].compare("New-Reno", "SACK", "throughput_bps").table
    assert set(wide["verdict"]) == {"higher"}


@says("docs/concepts/bursts.md")
def ideas(page: Play) -> None:
    names = page.names
    assert len(names["plain"].trace.losses) == 2
    assert names["ahead"] == [20, 20, 15, 10]
    assert [len(names["classes"](s).trace.losses) for s in ("lauc", "lauc-vf")] == [2, 1]
    lost = [names["azimuth"](kind).summary["loss_end_to_end"] for kind in ("all-optical", "hybrid")]
    assert lost == [0.5, 0]
    for ordering, times in (("none", 3), ("source", 0)):
        bursts = names["two_paths"](ordering).trace.bursts
        arrivals = bursts[bursts["node"] == "A"].sort_values("of_node")["arrival_s"]
        assert (arrivals.diff() < 0).sum() == times


@says("docs/concepts/circuits.md")
def circuits(page: Play) -> None:
    names = page.names
    assert names["hops"]["start_us"].tolist() == [1.06, 9.95, 10.0, 109.95, 110.0, 117.25]
    # Two turns of each circuit; six slots that a scheduler grants, after its first look.
    over = {
        name: names[name].trace.hops.query("link_target == 'core0'")
        for name in ("direct", "valiant", "demand", "opera")
    }
    slots = {name: set(hops["start_s"] // 100e-6) for name, hops in over.items()}
    assert slots["direct"] == {0, 1, 2, 3, 4, 5}
    assert slots["demand"] == {1, 2, 3, 4, 5, 6}
    assert slots["opera"] == {0}
    assert {name: len(hops) for name, hops in over.items()}["direct"] == 60
    assert len(over["opera"]) == 1 + 2 + 3


@says("docs/notebooks/load.md")
def load(page: Play) -> None:
    found = page.names["found"]
    p99 = found.runs.pivot_table("slowdown_p99", "workload.load", "switching.kind")
    assert p99.shape == (3, 3)
    # A buffer has a benefit: bufferless switches lose, and lost segments wait for a timeout.
    assert (p99["all-optical"] > p99["hybrid"]).all()
    assert (p99["hybrid"] > p99["electronic"]).all()
    assert (p99 > 1).all(axis=None)
    assert not found.runs["unfinished"].any()
    assert found.runs["flows"].min() > 200  # enough for a 99th percentile
    for a, b in [("electronic", "hybrid"), ("hybrid", "all-optical")]:
        compared = found.compare(a, b, "slowdown_p99", along="switching.kind")
        assert (ratios(compared)["ratio_low"] > 1).all()


@says("docs/notebooks/incast.md")
def incast(page: Play) -> None:
    found, metric = page.names["found"], page.names["metric"]
    means = found.table(metric).pivot_table(
        "mean", "groups.background.workload.load", "variant", sort=False
    )
    assert means["drop-tail"].is_monotonic_increasing
    result = lb.run("examples/groups.toml", seed=1)
    assert list(result.groups.index) == ["background", "query"]
    assert result.groups.loc["query", "flows"] == (result.flows["group"] == "query").sum()
    last = ratios(found.compare("drop-tail", "DCTCP", metric)).iloc[-1]
    assert last["ratio_high"] < 1
    disciplines = page.names["disciplines"]
    queues = {
        name: ratios(disciplines.compare("drop-tail", name, metric))
        for name in ("RED", "CoDel", "FQ-CoDel")
    }
    assert ((queues["RED"]["ratio_low"] < 1) & (queues["RED"]["ratio_high"] > 1)).all()
    assert queues["CoDel"]["ratio_high"].iloc[-1] < 1
    assert queues["FQ-CoDel"]["ratio_low"].iloc[0] > 1
    assert queues["FQ-CoDel"]["ratio_high"].iloc[-1] < 1


@says("docs/notebooks/own-topology.md")
def own_topology(page: Play) -> None:
    result, fibres = page.names["result"], page.names["fibres"]
    assert len(fibres) == 12
    assert set(fibres["utilisation"].between(0, 1)) == {True}
    edge = result.network["Berlin"]["Hamburg"]
    row = fibres.query("source == 'Berlin' and target == 'Hamburg'").iloc[0]
    assert edge["utilisation"] == row["utilisation"] > 0
    # Light takes 5 us a km.
    assert row["delay_s"] == pytest.approx(290 * 5e-6)


@says("docs/notebooks/watching.md")
def watching(page: Play) -> None:
    names = page.names
    plain, found = lb.run("examples/groups.toml"), names["worst"]
    # This is the slowest flow, and the parts are all of its time.
    assert found.flow == plain.flows["slowdown"].idxmax() == 198
    took = plain.columns["flows"]["received_ps"] - plain.plan.flows["start_ps"]
    assert len(found.parts) > 1
    assert found.parts["time_ps"].sum() == took[found.flow]
    # The statements of the page: the last segment was lost, and a queue was full by then.
    assert (names["data"]["event"] == "lost").sum() == 1
    assert found.losses["segment"].tolist() == [-(-20_000 // 1460)]
    assert set(found.losses["reason"]) == {"queue-full"}
    own = names["own"]
    before = own[own["time_s"] <= names["place"]["time_s"]]["queue_bytes"].iloc[-1]
    assert before > 0.95 * own["queue_bytes"].max()
    assert "--flow 198" in (DOCS / "notebooks/watching.md").read_text("utf-8")


@says("docs/notebooks/assembly.md")
def assembly(page: Play) -> None:
    best, beside = page.names["best"], page.names["beside"]
    assert (best["mean"] / best["theory"]).between(0.5, 2).all()
    long = beside[beside["switching.assembly.time_s"] > 4e-4]
    assert len(long) == 15
    assert (long["residual"].abs() < 0.1 * long["mean"]).all()
    # Below, the theory of Reno reports that it does not hold, and is far off.
    short = beside[beside["ratio"] > 1.2]
    assert set(short["transport.recovery"]) == {"reno"}
    assert (short["broken"] != "").all()


@says("docs/notebooks/reordering.md")
def reordering(page: Play) -> None:
    found, metric = page.names["found"], page.names["metric"]
    counts = found.runs.groupby("variant")[["reordered", "false_fast_retransmits"]].sum()
    assert (counts.loc[["source", "destination", "one path"]] == 0).all(axis=None)
    assert (counts.loc[["nothing", "RR-TCP", "threshold 30"]] > 0).all(axis=None)
    for remedy in ["source", "destination", "RR-TCP", "threshold 30"]:
        assert ratios(found.compare("nothing", remedy, metric))["ratio_high"].iloc[0] < 0.8
    held_back = found.compare("source", "destination", metric).table.iloc[0]
    assert held_back["ratio"] == pytest.approx(1.08, abs=0.01)
    assert held_back["ratio_low"] < 1 < held_back["ratio_high"]
    learned = ratios(found.compare("source", "RR-TCP", metric)).iloc[0]
    assert 1 < learned["ratio_low"] < learned["ratio_high"] < 1.03
    assert [str(warning.message) for warning in page.names["said"]] != []


@says("docs/results.md")
def results(page: Play) -> None:
    text = (DOCS / "results.md").read_text("utf-8")
    for name in re.findall(r"^\| `result\.(\w+)`", text, re.M):
        assert hasattr(page.names["result"], name)
    assert f"on links: {page.names['reasons'].sum()}" in page.last
    assert page.names["reasons"].sum() > 0


@says("docs/sweep.md")
def sweep(page: Play) -> None:
    # As the page says: SACK is better, beyond chance, at each point.
    compared = page.names["found"].compare("Reno", "SACK", "slowdown_mean").table
    assert compared["verdict"].tolist() == ["lower"] * 4
    # The file is the same study.
    means = page.names["found"].table("slowdown_mean")["mean"]
    assert page.names["again"].table("slowdown_mean")["mean"].tolist() == means.tolist()


@says("docs/metrics.md")
def metrics(page: Play) -> None:
    assert page.names["runs"]["in time"].between(0, 1).all()


@says("docs/models.md")
def models(_page: Play) -> None:
    text = (DOCS / "models.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| `(\w+)` \|", text, re.M)
    assert dict(rows) == {name: one.metric for name, one in theory.THEORIES.items()}


@says("docs/statistics.md")
def statistics(page: Play) -> None:
    verdicts = page.names["found"].table.set_index("metric")["verdict"]
    assert verdicts.to_dict() == {"throughput_bps": "higher", "slowdown_p99": "higher"}
    assert "10 pairs of runs with the same seed." in page.last


@says("docs/plots.md")
def plots(page: Play) -> None:
    written = {file.name for file in Path.cwd().glob("*.*")}
    assert written >= {"throughput.svg", "bound.pdf", "both.png"}
    svg = Path("throughput.svg").read_text("utf-8")
    for words in ("Throughput (Gb/s)", "Buffer ports", "Three seeds"):
        assert words in svg
    for name in ("figure", "bound", "tails", "by_name"):
        assert isinstance(page.names[name], Picture)
    assert not isinstance(page.names["figure"], Figure)


@says("docs/trace.md")
def trace(_page: Play) -> None:
    said = json.loads(pages.printed(["trace", "lost.toml", "--format", "json"]))
    assert (said["bursts_lost"], said["losses"], said["timeouts"]) == (2, {"scripted": 12}, 1)
    text = (DOCS / "trace.md").read_text("utf-8")
    assert "nine segments that were in one burst" in text
    assert b"lost in burst 77: scripted drop" in Path("lost", "trace.pcapng").read_bytes()
    files = r"`([a-z_-]+\.(?:json|pcapng|parquet|png)|SHA256SUMS)`"
    named = set(re.findall(files, text.split("\n## ")[0]))
    assert named == {file.name for file in Path("lost").iterdir() if file.suffix != ".svg"}


def a_crowd() -> None:
    """The scenario of another page, which this one names."""
    text = pages.scenario_of("docs/trace.md", "crowd.toml")
    Path("crowd.toml").write_text(text, encoding="utf-8")


def a_graph() -> None:
    """A graph of the user's, as GraphML."""
    graph = networkx.Graph([("A", "B", {"Distance": 10.0}), ("B", "C", {"Distance": 20.0})])
    networkx.write_graphml(graph, "net.graphml")


BEFORE |= {"docs/explain.md": a_crowd, "docs/scenario.md": a_graph}
