"""The models of loss on the command line: output, figures and refusals."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from lightburst import models
from lightburst.cli import main

ROOT = Path(__file__).parents[2]
#: The required options of each command other than the load.
OWN = {
    "erlang": [],
    "engset": ["--sources", "20"],
    "jet-classes": [],
    "segmentation": [],
    "delay-lines": ["--granularity", "0.5", "--delays", "1,4"],
    "reduced-load": ["--routes", "A-B-C-D,A-B"],
}


def hollow_dots(svg: str) -> int:
    """Count the hollow dots of a figure."""
    groups = re.findall(r'<g id="hollow-\d+">(.*?)</g>\s*</g>', svg, re.S)
    return sum(group.count("<use") for group in groups)


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["model", *words]) == 0
    return capsys.readouterr().out


def rows(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(printed([*words, "--format", "json"], capsys))["rows"]
    return found


def test_erlang_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(["erlang", "--load", "0.8,0.4", "--wavelengths", "16,8"], capsys)
    assert [(row["wavelengths"], row["load"]) for row in found] == [
        (8, 0.4), (8, 0.8), (16, 0.4), (16, 0.8),
    ]  # fmt: skip
    assert [row["offered_erlangs"] for row in found] == [3.2, 6.4, 6.4, 12.8]
    expected = models.erlang_b([3.2, 6.4, 6.4, 12.8], [8, 8, 16, 16])
    np.testing.assert_allclose([row["loss"] for row in found], expected)
    alone = models.bufferless_output_loss([0.4, 0.8, 0.4, 0.8])
    np.testing.assert_allclose([row["loss_without_conversion"] for row in found], alone)


def test_engset_takes_the_load_that_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["engset", "--load", "0.5", "--sources", "16,10", "--wavelengths", "8"]
    for row, sources in zip(rows(words, capsys), (10, 16), strict=True):
        a = float(models.idle_source_load(4.0 / sources))
        assert (row["sources"], row["idle_source_erlangs"]) == (sources, pytest.approx(a))
        assert row["loss"] == models.engset_call_congestion(a, sources, 8)
        assert row["dumping_loss"] == models.engset_dumping_loss(a, sources, 8)
        assert row["time_congestion"] == models.engset_time_congestion(a, sources, 8)
        assert row["traffic_congestion"] == models.engset_traffic_congestion(a, sources, 8)
        assert row["erlang_loss"] == models.erlang_b(4.0, 8)


def test_classes_are_isolated_or_in_part(capsys: pytest.CaptureFixture[str]) -> None:
    three = rows(["jet-classes", "--load", "0.8", "--shares", "0.2,0.3,0.5"], capsys)
    assert [row["broken_assumptions"] for row in three] == [[], *[["conservation"]] * 2]
    np.testing.assert_allclose(
        [row["loss"] for row in three], models.jet_class_loss([1.28, 1.92, 3.2], 8)
    )
    assert "isolation" not in three[0]
    words = ["jet-classes", "--load", "0.8", "--shares", "0.25,0.75", "--extra-offset", "0.5"]
    for law, degree in (("exponential", 1 - np.exp(-0.5)), ("constant", 0.5)):
        two = rows([*words, "--lengths", law], capsys)
        assert [row["class"] for row in two] == [1, 2]
        assert two[0]["isolation"] == pytest.approx(degree)
        partly = models.jet_two_class_loss(1.6, 4.8, 8, degree)
        np.testing.assert_allclose([row["partly_isolated_loss"] for row in two], partly)
        assert two[0]["all_classes_loss"] == models.erlang_b(6.4, 8)


def test_segmentation_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = rows(["segmentation", "--load", "0.8"], capsys)
    assert row["loss"] == models.segment_loss(6.4, 8)
    assert row["contention"] == models.contention_probability(6.4, 8)
    assert row["whole_burst_loss"] == models.erlang_b(6.4, 8)


def test_delay_lines_have_bounds_and_one_wavelength_its_loss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["delay-lines", "--load", "0.8", "--granularity", "0.5", "--delays", "4"]
    one, eight = rows([*words, "--wavelengths", "1,8"], capsys)
    assert one["one_wavelength_loss"] == models.delay_line_loss_one_channel(0.8, 0.5, 4)
    assert eight["one_wavelength_loss"] is None
    low, high = models.delay_line_loss_bounds(6.4, 8, 2.0)
    assert (eight["longest_delay"], eight["least_loss"], eight["most_loss"]) == (2.0, low, high)
    (few,) = rows([*words, "--lines", "1"], capsys)
    assert few["least_loss"] == models.limited_room_loss(6.4, 8, 1)
    (alone,) = rows([*words, "--lines", "1", "--wavelengths", "1"], capsys)
    assert alone["one_wavelength_loss"] is None  # it has no limit of the lines
    table = printed([*words, "--wavelengths", "8"], capsys)
    assert table.splitlines()[4].rstrip().endswith("–")


def test_a_tandem_says_that_the_fixed_point_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["reduced-load", "--load", "0.8", "--routes", "A-B-D-E-F, X-Y"]
    tandem, alone, network = rows(words, capsys)
    assert tandem["loss"] == pytest.approx(0.31603487616450177, rel=1e-10)
    assert tandem["streamline_loss"] == pytest.approx(0.1443938898533949, rel=1e-12)
    assert tandem["broken_assumptions"] == ["streams-meet"] == network["broken_assumptions"]
    assert (alone["route"], alone["broken_assumptions"]) == ("X-Y", [])
    assert alone["loss"] == alone["streamline_loss"] == models.erlang_b(6.4, 8)
    assert network["loss"] == pytest.approx((tandem["loss"] + alone["loss"]) / 2)
    assert network["offered_erlangs"] == pytest.approx(12.8)
    assert "streams-meet: links get their bursts" in printed(words, capsys)


@pytest.mark.parametrize("command", OWN)
def test_csv_has_the_same_rows(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [command, "--load", "0.2,0.9", *OWN[command]]
    found = list(csv.DictReader(io.StringIO(printed([*words, "--format", "csv"], capsys))))
    expected = rows(words, capsys)
    assert [list(row) for row in found] == [list(row) for row in expected]
    for row, same in zip(found, expected, strict=True):
        assert float(row["load"]) == same["load"]


@pytest.mark.parametrize("command", OWN)
def test_each_has_a_figure(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, "--load", "0.2,0.9", *OWN[command]]
    printed([*words, "--figure", str(tmp_path / "a.png")], capsys)
    picture = imread(tmp_path / "a.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
    # The margin of the figure is empty: no legend is cut off.
    assert np.all(picture[:, -3:] == 1)
    printed([*words, "--figure", str(tmp_path / "a.svg")], capsys)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "Offered load of a wavelength (erlangs)" in text
    assert "W = 8" in text.replace("\xa0", " ")
    # For the tandem and the network, the fixed point and not the streamlined loss; for the classes,
    # the lower one.
    hollow = {"reduced-load": 4, "jet-classes": 2}.get(command, 0)
    assert hollow_dots(text) == hollow
    assert ("Hollow" in text) == bool(hollow)


def test_a_long_legend_is_made_smaller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    routes = ",".join(f"Amsterdam{n}-Rotterdam{n}-Antwerp{n}" for n in range(6))
    words = ["reduced-load", "--load", "0.2,0.9", "--routes", routes]
    printed([*words, "--figure", str(tmp_path / "a.png")], capsys)
    picture = imread(tmp_path / "a.png")[..., :3]
    assert np.all(picture[:, -3:] == 1)


def test_small_losses_are_written_as_powers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["erlang", "--load", "0.1,0.9", "--wavelengths", "64"]
    printed([*words, "--figure", str(tmp_path / "a.svg")], capsys)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert re.search(">10⁻[²³]⁰</text>", text)
    assert ">0.01</text>" not in text


def test_the_page_has_each_command() -> None:
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    lines = re.findall(r"^lightburst model (\S+) +(--load .*)$", page, re.MULTILINE)
    assert [command for command, _ in lines] == list(OWN)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("erlang --load 0", "--load: given '0'; allowed: a number above 0"),
        ("erlang --load 0.2,x", "--load: given 'x'; allowed: a number above 0"),
        ("erlang --load 0.2 --wavelengths 0", "--wavelengths: given '0'; allowed: a whole number"),
        ("erlang --load 0.2 --wavelengths 1e3", "--wavelengths: given '1e3'; allowed: a whole"),
        ("erlang --load 1 --wavelengths 70000", "given 70000; allowed: whole numbers from 1 to"),
        ("erlang --load 0.2 --format xml", "--format: given 'xml'; allowed: one of table, json"),
        ("erlang --load 0.2 --figure a.png", "--figure: given 1 points on each of 1 curves"),
        ("segmentation --load 1e-9,2e-9 --wavelengths 99 --figure a.png", "--figure: given losses"),
        ("engset --load 0.5 --sources 4", "--sources: given 4; allowed: more sources than the 4"),
        ("jet-classes --load 1 --shares 0.5,0.6", "--shares: given '0.5,0.6'; allowed: numbers"),
        ("jet-classes --load 1 --shares 0,1", "--shares: given '0'; allowed: a number above 0"),
        ("jet-classes --load 1 --shares 1 --extra-offset 1", "--extra-offset: given 1 classes"),
        ("jet-classes --load 1 --lengths pareto", "--lengths: given 'pareto'; allowed: one of"),
        ("delay-lines --load 1 --granularity 0 --delays 1", "--granularity: given '0'; allowed"),
        ("delay-lines --load 1 --granularity 1 --delays 1001", "--delays: given 1001; allowed"),
        (
            "delay-lines --load 1 --granularity 1 --delays 1 --lines x",
            "--lines: given 'x'; allowed",
        ),
        ("reduced-load --load 1 --routes A", "--routes: given ['A']; allowed: routes of at least"),
        ("reduced-load --load 1 --routes A-B,A-B", "--routes: given 'A-B'; allowed: different"),
        ("reduced-load --load 1 --routes A-B-A-B", "--routes: given ['A', 'B', 'A', 'B']; allowed"),
    ],
)
def test_bad_input_gets_one_message_and_writes_nothing(
    words: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["model", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lightburst: ")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
