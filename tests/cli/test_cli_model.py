"""The theory on the command line: output, figures, warnings and refusals."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from lightburst.cli import main
from lightburst.cli.commands.run import changed
from lightburst.cli.theory.model import yu2004_command
from lightburst.foundation.units import parse_duration
from lightburst.models import padhye1998, yu2004
from lightburst.scenario import load
from lightburst.simulation.simulate import run

ROOT = Path(__file__).parents[2]
YU = ["model", "yu2004", "--loss", "0.01", "--assembly-time", "1 ms"]
ROW = [
    "flavour", "loss", "assembly_time_s", "round_trip_s", "burst_segments", "window_segments",
    "throughput_segments_per_s", "throughput_bps", "equation", "broken_assumptions",
]  # fmt: skip


def hollow_dots(svg: str) -> int:
    """Count the hollow dots of a figure."""
    groups = re.findall(r'<g id="hollow-\d+">(.*?)</g>\s*</g>', svg, re.S)
    return sum(group.count("<use") for group in groups)


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def rows(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(printed([*words, "--format", "json"], capsys))["rows"]
    return found


def test_a_point_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--access-rate", "8 Mb/s", "--round-trip", "100ms", "--timeout", "1 s"]
    words += ["--window", "80", "--ack-every", "2", "--segment-size", "500 B"]
    (row,) = rows([*YU, *words, "--flavour", "new-reno"], capsys)
    flow = yu2004.Flow(
        loss=0.01, assembly_time_s=1e-3, access_rate=2000, round_trip_s=0.1, timeout_s=1,
        window_limit=80, rounds_per_increase=2,
    )  # fmt: skip
    found = yu2004.predict(flow, "new-reno")
    assert list(row) == ROW
    assert row["throughput_segments_per_s"] == pytest.approx(float(found.throughput))
    assert row["throughput_bps"] == pytest.approx(4000 * float(found.throughput))
    assert row["equation"] == 34
    assert row["burst_segments"] == pytest.approx(3)
    assert row["round_trip_s"] == pytest.approx(0.102)
    assert row["window_segments"] == pytest.approx(float(found.window))
    assert row["broken_assumptions"] == []


def test_the_defaults_are_those_of_the_example_as_the_page_changes_it() -> None:
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    words = shlex.split(page.split("lightburst run ")[1].split("lightburst model")[0])
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    result = run(changed(load(ROOT / words[0]), settings))
    options = inspect.signature(yu2004_command).parameters
    default = {name: option.default for name, option in options.items()}
    plain = result.scenario.to_dict()
    assert plain["topology"]["access_rate"] == default["access_rate"]
    assert plain["transport"]["min_timeout"] == default["timeout"]
    assert plain["transport"]["segment_size"] == default["segment_size"]
    assert plain["transport"]["advertised_window"] == int(default["window"])
    assert plain["transport"]["acknowledge_every"] == int(default["ack_every"])
    there = result.links[result.links["source"] < result.links["target"]]
    round_trip_ps = round(2e12 * there["delay_s"].sum())
    assert round_trip_ps == parse_duration(default["round_trip"])


def test_lists_and_ranges_make_a_grid(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["model", "yu2004", "--loss", "0.1,1e-4:1e-2:3", "--assembly-time", "0s, 1us:1ms:4"]
    found = rows([*words, "--flavour", "reno,sack"], capsys)
    assert len(found) == 2 * 4 * 5
    assert [row["flavour"] for row in found[::20]] == ["sack", "reno"]
    np.testing.assert_allclose([row["loss"] for row in found[:20:5]], [1e-4, 1e-3, 1e-2, 0.1])
    times = [row["assembly_time_s"] for row in found[:5]]
    np.testing.assert_allclose(times, [0, 1e-6, 1e-5, 1e-4, 1e-3])


def test_the_printed_variant_is_another(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["model", "yu2004", "--loss", "1e-5", "--assembly-time", "1us", "--window", "1e6"]
    (derived,) = rows(words, capsys)
    (printed,) = rows([*words, "--variant", "printed"], capsys)
    ratio = printed["throughput_bps"] / derived["throughput_bps"]
    assert ratio == pytest.approx(0.5, rel=0.01)


def test_what_breaks_an_assumption_is_said_beside_the_row(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["model", "yu2004", "--loss", "0.002,0.03", "--assembly-time", "10us"]
    good, bad = printed([*words, "--window", "500"], capsys).split("\n")[4:6]
    assert good.rstrip().endswith("26")
    assert bad.rstrip().endswith("small-loss")
    out = printed(words, capsys)
    assert "A row that names an assumption breaks it" in out
    assert f"  small-loss: {yu2004.ASSUMPTIONS['small-loss']}\n" in out
    assert "reno-start" not in out
    quiet = ["model", "yu2004", "--loss", "0.002", "--assembly-time", "10us", "--window", "500"]
    assert "A row that names" not in printed(quiet, capsys)


def test_the_best_assembly_time_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(YU, capsys)
    assert "SACK, loss 0.01: T_b = 392 µs gives 2.71 Mb/s" in out
    assert "(30) says 67.5 ms, (32) 1.447 ms" in out
    (best,) = json.loads(printed([*YU, "--format", "json"], capsys))["optima"]
    assert best["assembly_time_s"] == pytest.approx(49 / 125e3, rel=1e-3)


def test_csv_has_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["model", "yu2004", "--loss", "0.01,0.1", "--assembly-time", "0s,1ms"]
    expected = rows(words, capsys)
    found = list(csv.DictReader(io.StringIO(printed([*words, "--format", "csv"], capsys))))
    assert [row["broken_assumptions"].split() for row in found] == [
        row["broken_assumptions"] for row in expected
    ]
    assert [float(row["throughput_bps"]) for row in found] == [
        row["throughput_bps"] for row in expected
    ]


def test_the_ranges_of_a_grid_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["model", "yu2004", "--loss", "1e-4,1e-2", "--assembly-time", "1us,1ms,1s"]
    words += ["--flavour", "sack,reno"]
    out = printed(words, capsys)
    # A burst of 1 us holds 1.125 segments: hardly more than a packet.
    assert "\n  SACK, loss 0.01: ATO 1 ms; ATI 1 µs\n" in out
    assert "\n  SACK, T_b = 1 µs: LRI 0.0001\n" in out
    assert "\n  SACK, T_b = 1 ms: LRI 0.0001 to 0.01\n" in out
    assert "Reno, loss" in out
    assert "Reno, T_b" not in out
    found = json.loads(printed([*words, "--format", "json"], capsys))
    assert found["range_tolerance"] == 0.1
    expected = {"flavour": "sack", "loss": 0.01, "ato_s": [[1e-3, 1e-3]], "ati_s": [[1e-6, 1e-6]]}
    assert expected in found["ranges"]
    lri = {"flavour": "sack", "assembly_time_s": 1e-3, "lri": [[1e-4, 1e-2]]}
    assert lri in found["ranges"]
    assert len(found["ranges"]) == 2 + 3 + 2
    # Each axis alone, and no axis.
    assert "LRI 0.0001 to" in printed([*words[:4], "--assembly-time", "1ms"], capsys)
    assert "Ranges on" not in printed(YU, capsys)


def test_a_range_is_compared_with_no_assembly_and_no_loss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Both times give far more throughput than no assembly, and less than without loss; compared
    # with each other they would seem insensitive.
    words = ["model", "yu2004", "--assembly-time", "0.4ms,1ms", "--loss", "0.02,0.03"]
    found = json.loads(printed([*words, "--format", "json"], capsys))["ranges"]
    assert [row.get("ati_s", []) for row in found] == [[]] * 4
    assert [row["ato_s"] for row in found[:2]] == [[[4e-4, 1e-3]]] * 2
    assert [row["lri"] for row in found[2:]] == [[]] * 2


@pytest.mark.parametrize("columns", [40, 100, 200])
def test_no_word_of_the_table_is_lost_on_a_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = printed([*YU[:2], "--loss", "0.1", "--assembly-time", "0s,1ms"], capsys)
    table = out.partition("A row that names")[0]
    for word in ("flavour", "segments/s", "outside", "small-loss,", "three-duplicates", "small-b"):
        assert word in table
    assert "…" not in table
    assert max(map(len, table.splitlines())) <= max(columns, 100)


def test_padhye_prints_three_forms(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["model", "padhye1998", "--loss", "1e-5,2e-3,0.2", "--timeout", "1s"]
    found = rows(words, capsys)
    full = padhye1998.full_throughput([1e-5, 2e-3, 0.2], 0.1, 1, 50)
    np.testing.assert_allclose([row["full_segments_per_s"] for row in found], full)
    np.testing.assert_allclose([row["full_bps"] for row in found], 8000 * full)
    approximate = padhye1998.approximate_throughput([1e-5, 2e-3, 0.2], 0.1, 1, 50)
    np.testing.assert_allclose([row["approximate_segments_per_s"] for row in found], approximate)
    law = padhye1998.square_root_throughput([1e-5, 2e-3, 0.2], 0.1)
    np.testing.assert_allclose([row["square_root_segments_per_s"] for row in found], law)
    names = [row["broken_assumptions"] for row in found]
    assert names == [["no-window-limit"], [], ["no-timeouts"]]
    assert "no-timeouts: without timeouts" in printed(words, capsys)


@pytest.mark.parametrize("command", ["yu2004", "padhye1998"])
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_figure_is_drawn_once_and_the_same_again(
    command: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["model", command, "--loss", "1e-3:0.1:5"]
    if command == "yu2004":
        words += ["--assembly-time", "10us,100us", "--flavour", "sack,new-reno,reno"]
    file = tmp_path / "out" / "new" / f"theory.{ending}"
    printed([*words, "--figure", str(file)], capsys)
    first = file.read_bytes()
    printed([*words, "--figure", str(file)], capsys)
    assert file.read_bytes() == first
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    if ending == "png":
        picture = imread(file)[..., :3]
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20  # more than an empty frame
    else:
        text = first.decode()
        assert text.count("<use") > 10


def test_the_axis_is_what_has_more_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "theory.svg"
    words = ["model", "yu2004", "--loss", "0.001,0.01", "--assembly-time", "1us:1s:7"]
    printed([*words, "--figure", str(file)], capsys)
    text = file.read_text(encoding="utf-8")
    for said in ("Burst assembly time (s)", "Throughput (Mb/s)", "p = 0.001", "SACK", "Hollow"):
        assert said in text
    broken = [row for row in rows(words, capsys) if row["broken_assumptions"]]
    assert 0 < hollow_dots(text) == len(broken) < 14
    words = ["model", "yu2004", "--loss", "1e-5:1e-3:7", "--assembly-time", "1us"]
    printed([*words, "--window", "1e6", "--figure", str(file)], capsys)
    text = file.read_text(encoding="utf-8")
    assert "Burst loss probability" in text
    assert "T_b = 1 µs" in text
    assert "Hollow" not in text
    assert hollow_dots(text) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--loss", "0"], "--loss: given '0'; allowed: probabilities from 1e-09 and below 1"),
        (["--loss", "0.1,x"], "--loss: given 'x'; allowed: probabilities"),
        (["--loss", "1e-3:1e-2"], "--loss: given '1e-3:1e-2'; allowed: a value, or FROM:TO:N"),
        (["--loss", "0.1:0.01:5"], "--loss: given '0.1:0.01:5'; allowed: FROM:TO:N with FROM"),
        (["--loss", "0.01:0.1:1"], "--loss: given '1'; allowed: a whole number from 2"),
        (["--loss", "0.01:0.1:1001"], "N up to 1000"),
        (["--assembly-time", "1"], "--assembly-time: given '1'; allowed: a duration, zero or more"),
        (["--assembly-time", "-1ms"], "--assembly-time: given '-1ms'; allowed: a duration"),
        (["--assembly-time", "0s:1ms:3"], "FROM above zero"),
        (["--access-rate", "1 Gbps"], "--access-rate: given '1 Gbps'; allowed: a rate"),
        (["--round-trip", "0s"], "--round-trip: given '0s'; allowed: a duration, greater than"),
        (["--timeout", "soon"], "--timeout: given 'soon'; allowed: a duration"),
        (["--window", "0"], "--window: given '0'; allowed: a number from 1 to 1e+09"),
        (["--ack-every", "inf"], "--ack-every: given 'inf'; allowed: a number from 1 to 1e+09"),
        (["--segment-size", "0 B"], "--segment-size: given '0 B'; allowed: a size from 1 B"),
        (["--flavour", "sack,tahoe"], "--flavour: given 'tahoe'; allowed: one or more of sack"),
        (["--figure", "theory.pdf"], "--figure: given 'theory.pdf'; allowed: a file that ends in"),
        (["--figure", "nowhere/a"], "--figure: given 'nowhere/a'; allowed: a file that ends in"),
        (["--figure", "a.png"], "--figure: given 1 points on each of 1 curves; allowed: two"),
    ],
)
def test_bad_input_gets_one_message_and_writes_nothing(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*YU, *words]) == 2  # the last of two equal options counts
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lightburst: ")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_padhye_refuses_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--loss", "1"], ["--loss", "0.1", "--segment-size", "0 B"]):
        assert main(["model", "padhye1998", *words]) == 2
        assert f"lightburst: {words[-2]}: given " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["theory.png", "theory.png/mine.txt/theory.png"])
def test_a_figure_that_cannot_be_written_is_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "theory.png").mkdir()
    (tmp_path / "theory.png" / "mine.txt").write_text("dear")
    file = tmp_path / name
    words = ["model", "padhye1998", "--loss", "0.01,0.1", "--figure", str(file)]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "allowed: a file that can be written" in err
    assert [path.name for path in tmp_path.iterdir()] == ["theory.png"]


def test_an_unknown_variant_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*YU, "--variant", "corrected"]) == 2
    said = capsys.readouterr().err
    assert said == "lightburst: --variant: given 'corrected'; allowed: one of derived, printed\n"
