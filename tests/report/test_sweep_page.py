"""The page of a sweep: the data of its script, and the page in a browser."""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_report import assert_offline

import lightburst as lb
from browser import WIDTHS, assert_clean, needs_browser, opened
from lightburst.cli import main
from lightburst.experiment.sweep import load_sweep
from lightburst.experiment.sweep_result import Sweep
from lightburst.report.sweep_data import points_of
from lightburst.report.sweep_page import sweep_page
from lightburst.result import pauses, short_runs, warnings
from lightburst.result.metrics import BETWEEN_WARNINGS
from lightburst.result.waits import schedules
from lightburst.study.execution.warned import warned, warnings_of

SCENARIO: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "hybrid"},
    "transport": {"kind": "sawl"},
    "workload": {
        "kind": "poisson",
        "arrival_rate": "1e6 /s",
        "flows": 12,
        "size": {"kind": "constant", "value": "9 kB"},
    },
}
PORTS, LENGTHS = "switching.buffer_ports", "topology.link_length"
LOSS = "loss.probability"


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    from lightburst.experiment.sweep import sweep_all
    from lightburst.study.design.description import StudyDescription

    study = StudyDescription.from_dict(
        {
            "name": "Ports",
            "scenario": SCENARIO,
            "over": {PORTS: [1, 0, 2], LENGTHS: ["10 m", "500 cm"]},
            "variants": {"hybrid": {}, "without": {"switching.kind": "all-optical"}},
            "seeds": 3,
            "compare": [["hybrid", "without"]],
        }
    )
    return sweep_all(study, progress=False)


@pytest.fixture(scope="module")
def saved(sweep: Sweep, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved") / "sweep"
    sweep.report(place)
    return place


def test_points_have_the_means_and_intervals_of_the_table(sweep: Sweep) -> None:
    data = points_of(sweep)
    means = sweep.table("throughput_bps")
    found = data["metrics"]["throughput_bps"]
    for mine, name in (("mean", "mean"), ("low", "ci_low"), ("high", "ci_high")):
        np.testing.assert_allclose(found[mine], means[name], rtol=1e-5)
    assert found["n"] == means["n"].tolist()
    assert (found["words"], found["unit"]) == ("throughput", "b/s")
    assert "wall_s" not in data["metrics"]
    assert data["left_out"] == 0


def test_values_of_an_axis_stand_in_order_with_their_numbers(sweep: Sweep) -> None:
    data = points_of(sweep)
    variant, ports, length = data["axes"]
    assert (variant["values"], variant["numbers"]) == (["hybrid", "without"], None)
    assert (ports["values"], ports["numbers"]) == (["0", "1", "2"], [0.0, 1.0, 2.0])
    assert (length["unit"], length["numbers"]) == ("m", [5.0, 10.0])
    assert [axis["words"] for axis in data["axes"]] == ["Variant", "Buffer ports", "Link length"]
    assert length["scales"] == [(1.0, "m")] * 2
    assert data["metrics"]["throughput_bps"]["scales"][0] == (1e9, "Gb/s")
    assert length["values"] == ["500 cm", "10 m"]
    means = sweep.table("throughput_bps")
    for axis, places in zip(data["axes"], data["places"], strict=True):
        given = means[axis["name"]]
        for value, place in zip(given, places, strict=True):
            # An axis that does not vary at a point has no value there.
            assert (place < 0) == pd.isna(value)
            if place >= 0:
                shown = f"{value:g}" if isinstance(value, float) else str(value)
                assert axis["values"][place] == shown


def test_what_is_infinite_or_missing_is_said(sweep: Sweep) -> None:
    runs = sweep.runs.copy()
    runs["slowdown_p99"] = runs["slowdown_p99"].astype(float)
    first, second = (runs[PORTS] == 0, runs[PORTS] == 1)
    runs.loc[runs.index[first][0], "slowdown_p99"] = np.inf
    runs.loc[second, "slowdown_p99"] = np.nan
    found = points_of(replace(sweep, runs=runs))["metrics"]["slowdown_p99"]
    at = found["mean"].index("inf")
    assert (found["low"][at], found["high"][at]) == (None, None)
    assert found["mean"].count(None) == found["n"].count(0) == 2
    json.dumps(found, allow_nan=False)


def test_each_warning_is_counted() -> None:
    texts = ["", "5 of 10 flows; other", "7 of 10 flows", ""]
    runs = pd.DataFrame({"seed": [4, 5, 6, 7], "warnings": texts})
    first, second = warned(runs)
    assert (first.text, first.runs, first.place, first.seed) == ("5 of 10 flows", 2, 1, 5)
    assert not first.alike
    assert (second.text, second.runs) == ("other", 1)
    assert warnings_of(runs)[0] == "in 2 of 4 runs, first with seed 5: 5 of 10 flows"


def test_warnings_are_alike_whatever_the_units_of_their_numbers() -> None:
    said = ["a mean of 92.5 kB, in 1.5 ms", "a mean of 1.07 MB, in 3 s", "a mean of 3 flows"]
    runs = pd.DataFrame({"seed": range(3), "warnings": said})
    assert [(one.text, one.runs) for one in warned(runs)] == [(said[0], 2), (said[2], 1)]


def test_no_warning_contains_what_separates_them() -> None:
    """Those that did were two kinds in studies, one of them "a longer run ... narrow it"."""
    for module in (warnings, short_runs, pauses, schedules):
        tree = ast.parse(inspect.getsource(module))
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        parts = [part for text in texts for part in ast.walk(text)]
        said = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
        assert said
        assert [text for text in said if BETWEEN_WARNINGS in text] == []


def test_one_loss_and_several_are_one_kind() -> None:
    lossy = {
        "topology": {"kind": "path", "links": 3},
        "switching": {"kind": "electronic"},
        "loss": {"probability": 0.01},
        "transport": {"kind": "datagram", "segment_size": "1 kB"},
        "workload": {**SCENARIO["workload"], "flows": 100, "size": "900 B"},
    }
    scenario = lb.Scenario.from_dict(lossy)
    with pytest.warns(lb.RunWarning, match="few losses"):
        runs = lb.sweep(scenario, seeds=12, progress=False)
    lost = {int(count) for count in runs.runs["loss_end_to_end_count"]}
    assert {1, 3} <= lost
    rare = [text for text in runs.warnings if "few losses" in text or "narrow" in text]
    assert len(rare) == 1


def test_warnings_of_any_run_are_on_the_page(sweep: Sweep) -> None:
    runs = sweep.runs.copy()
    runs.loc[3, "warnings"] = "<b>one</b> of the flows"
    text = sweep_page(replace(sweep, runs=runs))
    assert "&lt;b&gt;one&lt;/b&gt; of the flows</td><td>1 of 24</td>" in text
    assert "<b>one</b> of the flows" not in text


def test_the_page_has_comparisons_and_provenance(sweep: Sweep, saved: Path) -> None:
    text = (saved / "index.html").read_text()
    assert_offline(text)
    outcome = sweep.compare("hybrid", "without").table
    for p in outcome["p_adjusted"].dropna():
        assert f"<td>{p:.4g}</td>" in text
    assert sweep.provenance["digest"] in text
    assert "lightburst sweep study.toml" in text
    assert "switching.buffer_ports" in text
    for words in ("model version", "seeds", "1 to 3", "created"):
        assert words in text


def test_report_of_a_directory_is_the_same_page(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (saved / "index.html").read_bytes()
    assert main(["report", str(saved)]) == 0
    assert capsys.readouterr().out.strip() == str(saved / "index.html")
    assert (saved / "index.html").read_bytes() == before
    copy = load_sweep(saved).save(tmp_path / "copy")
    assert not (copy / "index.html").exists()
    (copy / "runs.parquet").write_bytes(b"no")
    assert main(["report", str(copy)]) == 2
    assert "runs.parquet" in capsys.readouterr().err


def large(sweep: Sweep, points: int, seeds: int) -> Sweep:
    """Return a synthetic sweep with many points."""
    rows = sweep.runs[sweep.runs["variant"] == "hybrid"].iloc[[0]]
    runs = pd.concat([rows] * (points * seeds), ignore_index=True)
    random = np.random.default_rng(1)
    place = np.repeat(np.arange(points), seeds)
    runs[PORTS], runs["seed"] = place.astype(float), np.tile(np.arange(1, seeds + 1), points)
    for name in ("throughput_bps", "slowdown_p99", "completion_time_mean_s"):
        runs[name] = random.random(len(runs)) + place
    return replace(sweep, runs=runs)


def without_comparison(sweep: Sweep) -> Sweep:
    study = sweep.study.model_copy(update={"compare": ()})
    return replace(sweep, study=study)


ASK = """
  const marks = (kind) =>
    document.querySelectorAll(`#explore-chart .mark-${kind} path`).length;
  const wait = () => new Promise((done) => setTimeout(done, 400));
  const set = async (id, value) => {
    const control = document.getElementById(id);
    control.value = value;
    if (control.value !== value) throw new Error(`${id} has no ${value}`);
    control.dispatchEvent(new Event("change"));
    await wait();
  };
  const told = {};
  const note = (name) => told[name] = {
    lines: marks("line"), dots: marks("symbol"), bands: marks("area"),
    rows: document.querySelectorAll("#points tr").length - 1,
    state: document.getElementById("state").textContent,
    title: document.querySelector("#explore-chart .role-axis-title text")?.textContent,
  };
  await wait();
"""


@needs_browser
def test_the_points_in_a_browser(saved: Path, tmp_path: Path) -> None:
    action = (
        ASK
        + """
      note("at first");
      await set("filter-0", "0"); note("hybrid");
      await set("filter-1", "1"); note("one port");
      await set("filter-0", "1"); note("without");
      await set("filter-0", "all"); await set("filter-1", "all");
      await set("metric", "throughput_bps"); await set("x", "topology.link_length");
      note("length");
      await set("x", "variant"); note("variant");
      return told;
    """
    )
    found = opened(saved / "index.html", tmp_path, action)
    assert_clean(found)
    for width in WIDTHS:
        told = found[width]["done"]
        # Two lengths of each variant; a variant without ports has its one value at all of x.
        assert (told["at first"]["lines"], told["at first"]["dots"]) == (4, 2 * 3 + 2 * 3)
        assert told["at first"]["bands"] == 4
        assert told["at first"]["rows"] == 8
        assert "does not vary" in told["at first"]["state"]
        assert (told["hybrid"]["lines"], told["hybrid"]["rows"]) == (2, 6)
        assert (told["one port"]["dots"], told["one port"]["rows"]) == (2, 2)
        # A filter keeps points to which it does not apply.
        assert told["without"]["rows"] == 2
        assert told["length"]["lines"] == 4
        assert told["length"]["rows"] == 8
        assert (told["variant"]["lines"], told["variant"]["dots"]) == (0, 8)
        assert told["length"]["title"] == "Link length (m)", "a name, and no path"
        names = [name for name in found[width]["charts"] if name.startswith("compare-")]
        assert all(found[width]["charts"][name]["symbol"] for name in names)
        assert names


@pytest.fixture(scope="module")
def beside_theory() -> Sweep:
    from lightburst.experiment.sweep import sweep_all
    from lightburst.study.design.description import StudyDescription

    base = Path(__file__).resolve().parents[2] / "examples" / "obs.toml"
    study = StudyDescription.from_dict(
        {
            "scenario": str(base),
            "over": {LOSS: [0.002, 0.01, 0.05]},
            "variants": {
                "TCP": {"workload.size": "100 kB"},
                "bursts": {"transport.kind": "saw", "workload.size": "100 kB"},
            },
            "seeds": 2,
            "show": ["throughput_bps"],
        }
    )
    return sweep_all(study, progress=False)


def test_theory_stands_beside_the_points_that_it_is_about(beside_theory: Sweep) -> None:
    data = points_of(beside_theory)["metrics"]
    assert [name for name, one in data.items() if "theories" in one] == ["throughput_bps"]
    (theory,) = data["throughput_bps"]["theories"]
    rows = beside_theory.beside("yu2004")
    np.testing.assert_allclose(
        [np.nan if value is None else value for value in theory["values"]],
        rows["theory"],
        rtol=1e-5,
    )
    assert theory["values"].count(None) == 3
    broken = [words for said in theory["broken"] for words in said]
    assert any("p is at most" in words for words in broken)
    assert theory["broken"].count(["outside"]) == 3


@needs_browser
def test_theory_in_a_browser(beside_theory: Sweep, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text(sweep_page(beside_theory))
    action = (
        ASK
        + """
      const below = document.getElementById("explore-residual");
      const see = (name) => {
        note(name);
        told[name].dashed = [...document.querySelectorAll("#explore-chart .mark-line path")]
          .filter((line) => line.getAttribute("stroke-dasharray")).length;
        told[name].below = below.hidden ? 0 : below.querySelectorAll(".mark-symbol path").length;
        told[name].heads = document.querySelector("#points tr").textContent;
      };
      see("at first");
      await set("filter-0", "1"); see("bursts");
      await set("filter-0", "0"); await set("metric", "slowdown_p99"); see("slowdown");
      return told;
    """
    )
    found = opened(page, tmp_path, action)
    assert_clean(found)
    for width in WIDTHS:
        told = found[width]["done"]
        assert (told["at first"]["dashed"], told["at first"]["below"]) == (1, 3)
        assert "Yu et al. 2004 is about 3 of the 6 points" in told["at first"]["state"]
        assert "p is at most 0.02" in told["at first"]["state"]
        assert "Mean less theory" in told["at first"]["heads"]
        for name in ("bursts", "slowdown"):
            assert (told[name]["dashed"], told[name]["below"]) == (0, 0)
        assert "theory" not in told["slowdown"]["state"]


@pytest.mark.slow
@needs_browser
def test_tens_of_thousands_of_points_can_be_looked_at(sweep: Sweep, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text(sweep_page(without_comparison(large(sweep, 21_000, 1))))
    assert page.stat().st_size < 12e6
    found = opened(page, tmp_path, ASK + 'note("at first"); return told;')
    assert_clean(found)
    for width in WIDTHS:
        told = found[width]["done"]["at first"]
        assert "21,000 of 21,000 points" in told["state"]
        assert "bins" in told["state"]
        assert (told["lines"], told["rows"]) == (1, 200)


@needs_browser
def test_names_in_a_sweep_run_no_script(sweep: Sweep, tmp_path: Path) -> None:
    hostile = "</script><script>hacked=1</script><img src=x onerror=hacked=2>"
    study = sweep.study.model_copy(update={"name": hostile})
    runs = sweep.runs.copy()
    runs[hostile] = runs["throughput_bps"]
    runs["variant"] = runs["variant"].replace("hybrid", hostile)
    runs["warnings"] = hostile
    page = tmp_path / "index.html"
    made = without_comparison(replace(sweep, study=study, runs=runs))
    page.write_text(sweep_page(made))
    action = (
        ASK
        + """
      await set("metric", [...document.querySelectorAll("#metric option")]
        .map((one) => one.value).find((name) => name.includes("hacked")));
      for (const mark of document.querySelectorAll("#explore-chart .mark-symbol path")) {
        mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
        await wait();
        told.all = (told.all ?? "") + document.querySelector("#vg-tooltip-element").innerText;
      }
      return told.all;
    """
    )
    found = opened(page, tmp_path, action)
    assert_clean(found)
    assert all("<script>" in frame["done"] for frame in found.values())
    assert len(re.findall("<script", page.read_text().split("<main>")[0])) == 0


def test_variants_are_compared_though_nobody_asked(sweep: Sweep) -> None:
    asked = sweep_page(sweep)
    study = type(sweep.study).from_dict(
        {
            "scenario": SCENARIO,
            "over": {PORTS: [1, 0, 2], LENGTHS: ["10 m", "500 cm"]},
            "variants": {"hybrid": {}, "without": {"switching.kind": "all-optical"}},
            "seeds": 3,
        }
    )
    title = "without compared with hybrid"
    assert title in asked
    page = sweep_page(replace(sweep, study=study))
    assert title in page
    assert "buffer ports 1" in page
    assert title not in sweep_page(without_comparison(sweep)), "unless none is asked for"
    head = page.partition("<h2>Provenance")[0].partition("<script")[0]
    assert PORTS not in head and LENGTHS not in head, "names, and no paths"


@needs_browser
def test_zeros_stand_on_the_edge_and_decades_are_hinted_at(sweep: Sweep, tmp_path: Path) -> None:
    runs = sweep.runs.copy()
    ports = runs[PORTS].fillna(0).to_numpy()
    runs["throughput_bps"] = np.where(ports == 0, 0.0, 10.0 ** (4 * ports))
    page = tmp_path / "index.html"
    page.write_text(sweep_page(without_comparison(replace(sweep, runs=runs))))
    action = (
        ASK
        + """
      await set("metric", "throughput_bps"); note("linear");
      document.getElementById("y-log").checked = true;
      await set("x", "switching.buffer_ports"); note("log");
      told.hollow = [...document.querySelectorAll("#explore-chart .mark-symbol path")]
        .filter((one) => one.getAttribute("fill") === "white").length;
      return told;
    """
    )
    found = opened(page, tmp_path, action)
    assert_clean(found)
    for frame in found.values():
        told = frame["done"]
        assert (
            "Over 4.0 decades: logarithmic y tells the low points apart." in told["linear"]["state"]
        )
        assert "Hollow on the lower edge: 0." in told["log"]["state"]
        # For each length the variant without buffers has its value at all of x.
        assert told["hollow"] == 2 * 1 + 2 * 3
        assert told["log"]["dots"] == 12
