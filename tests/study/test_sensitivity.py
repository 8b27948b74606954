"""Sobol indices: exact ones are found, noise has the stated effect, other studies are refused."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError
from lightburst.study.search.indices import analyse, noise_share, sample, stages
from problems import BURSTS, ONE_FLOW

LENGTH, TIME = "topology.link_length", "switching.switching_time"
BOX = {LENGTH: {"from": "10 km", "to": "20 km"}, TIME: {"from": "0 s", "to": "50 us"}}


def ishigami(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    x = math.pi * (2 * parts - 1)
    return np.asarray(
        np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    )


def exact() -> tuple[list[float], list[float]]:
    """First-order and total indices of Ishigami's function, with a = 7 and b = 0.1."""
    a, b, pi = 7.0, 0.1, math.pi
    one = 0.5 * (1 + b * pi**4 / 5) ** 2
    two = a**2 / 8
    both = b**2 * pi**8 * (1 / 18 - 1 / 50)
    total = one + two + both
    return [one / total, two / total, 0.0], [(one + both) / total, two / total, both / total]


def test_ishigamis_indices_are_found() -> None:
    first, total = exact()
    assert first == pytest.approx([0.3139, 0.4424, 0], abs=1e-4)
    parts = sample(3, 4096, 1)
    assert parts.shape == (4096 * 5, 3)
    found = analyse(3, ishigami(parts)[:, np.newaxis], 200, 1)
    assert found.first == pytest.approx(first, abs=0.02)
    assert found.total == pytest.approx(total, abs=0.02)
    assert found.variance == pytest.approx(0.5 + 49 / 8 + math.pi**4 / 50 + math.pi**8 / 1800, 0.01)
    assert math.isnan(found.noise)


def test_their_intervals_cover_the_exact_ones() -> None:
    first, total = exact()
    covered = []
    for seed in range(1, 21):
        found = analyse(3, ishigami(sample(3, 256, seed))[:, np.newaxis], 200, seed)
        covered += list(np.abs(found.first - first) <= found.first_half)
        covered += list(np.abs(found.total - total) <= found.total_half)
    # The points of Sobol's sequence are more even than the random ones that the bootstrap assumes.
    assert np.mean(covered) > 0.9


def test_noise_lowers_first_order_indices_and_lifts_total_ones_as_is_said() -> None:
    first, total = exact()
    rng = np.random.default_rng(1)
    parts = sample(3, 4096, 1)
    # Besides its noise each seed shifts all points alike, which must not matter.
    noise = 4 * rng.normal(size=(len(parts), 4)) + 30 * rng.normal(size=(1, 4))
    values = ishigami(parts)[:, np.newaxis] + noise
    found = analyse(3, values, 200, 1)
    clean = analyse(3, ishigami(parts)[:, np.newaxis], 200, 1)
    share = 4.0 / (clean.variance + 4.0)  # 16 over 4 seeds
    assert found.noise == pytest.approx(share, abs=0.01)
    assert found.first == pytest.approx([s * (1 - share) for s in first], abs=0.03)
    assert found.total == pytest.approx([t * (1 - share) + share for t in total], abs=0.03)


def test_the_share_of_noise() -> None:
    points = np.arange(100.0)[:, np.newaxis]
    assert noise_share(points + np.array([[0, 5, -3]])) == pytest.approx(0, abs=1e-12)
    assert math.isnan(noise_share(points))
    drawn = np.random.default_rng(1).normal(size=(2000, 5))
    assert noise_share(drawn) == pytest.approx(1, abs=0.1)


def test_half_a_sample_is_its_first_half() -> None:
    assert list(stages(128, 16)) == [16, 32, 64, 128]
    assert list(stages(16, 16)) == [16]
    assert np.array_equal(sample(2, 64, 3)[: 32 * 4], sample(2, 32, 3))


def test_a_simulation_that_adds_up_has_the_indices_of_its_terms() -> None:
    found = lb.sensitivity(ONE_FLOW, BOX, metric="completion_time_mean_s", seeds=2, points=128)
    # 15 us a km over 10 km; twice a time of up to 50 us: uniform, so variances go with squares.
    shares = [150**2 / (150**2 + 100**2), 100**2 / (150**2 + 100**2)]
    assert list(found.table["parameter"]) == [LENGTH, TIME]
    assert found.table["first"].tolist() == pytest.approx(shares, abs=0.02)
    assert found.table["total"].tolist() == pytest.approx(shares, abs=0.02)
    (about,) = found.metrics.to_dict("records")
    assert about["mean"] == pytest.approx(7.2e-6 + 225e-6 + 50e-6, rel=1e-3)
    assert about["std"] == pytest.approx(math.sqrt((150e-6**2 + 100e-6**2) / 12), rel=0.01)
    assert about["noise"] == pytest.approx(0, abs=1e-9)
    assert len(found.points) == 128 * 4
    assert found.points[f"{LENGTH}_m"].between(10e3, 20e3).all()


def test_choices_count_each_the_same() -> None:
    over = {
        LENGTH: ["10 km", "20 km", "10.0 km", "20.0 km"],
        TIME: {"from": "0 s", "to": "150 us", "number": 2},
    }
    found = lb.sensitivity(ONE_FLOW, over, metric="completion_time_mean_s", seeds=1, points=128)
    # Two values each: 75 us and 150 us about the mean.
    shares = [150**2 / (150**2 + 300**2), 300**2 / (150**2 + 300**2)]
    assert found.table["first"].tolist() == pytest.approx(shares, abs=0.03)


def test_variants_are_a_parameter() -> None:
    variants = {"near": {TIME: "0 s"}, "far": {TIME: "75 us"}}
    found = lb.sensitivity(
        ONE_FLOW,
        {LENGTH: ["10 km", "20 km"]},
        variants=variants,
        metric=["completion_time_mean_s", "mean of completion_time"],
        seeds=1,
        points=64,
    )
    # 150 us between the lengths, twice 75 us between the variants.
    assert found.table["first"].tolist() == pytest.approx([0.5] * 4, abs=0.03)
    assert list(found.table["parameter"]) == ["variant", LENGTH] * 2


STUDY = """
name = "sensitive"
seeds = 2
[sensitivity]
metric = "throughput_bps"
points = 16
[over]
loss.probability = { from = 0.01, to = 0.1, scale = "log" }
transport.advertised_window = { from = 10, to = 50 }
[scenario]
topology = { kind = "obs-path", access_rate = "10 Mb/s" }
switching = { kind = "burst", assembly = { kind = "timer", time = "1 ms" } }
loss = { probability = 0.005 }
transport = { kind = "tcp", recovery = "sack", segment_size = "1 kB", advertised_window = 50 }
workload = { kind = "pairs", size = { kind = "constant", value = "200 kB" } }
"""


def test_the_command_prints_and_writes_and_goes_on_from_the_store(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["sensitivity", str(study), "--out", "out"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("sensitive: throughput, 64 points, 129 runs; 95 % intervals")
    assert "first-order index" in printed
    assert {file.name for file in Path("out").iterdir()} == {
        "SHA256SUMS", "indices.csv", "indices.png", "indices.svg", "points.csv",
        "sensitivity.json", "study.toml",
    }  # fmt: skip
    first = json.loads(Path("out/sensitivity.json").read_text("utf-8"))
    assert first["provenance"]["salib"]
    assert len(pd.read_csv("out/points.csv")) == 64
    loaded = lb.load_sensitivities("out")
    assert loaded.as_dict() == first
    loaded.save("copy")
    for name in ("sensitivity.json", "indices.csv", "points.csv"):
        assert Path("copy", name).read_bytes() == Path("out", name).read_bytes()
    Path("copy/points.csv").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"^DIR: given .*points\.csv"):
        lb.load_sensitivities("copy")
    # The written study runs again, from the store; and in one thread.
    monkeypatch.setattr("lightburst.study.workers.one.simulate", None)
    words = ["sensitivity", "out/study.toml", "--workers", "1", "--format", "json"]
    assert main(words) == 0
    again = json.loads(capsys.readouterr().out)
    for about in (first, again):
        del about["provenance"]["created"]
    assert again == first
    assert main(["sensitivity", str(study), "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("metric,parameter,first,first_low")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("points = 16", "points = 20"), "points: given 20; allowed: a power of two, as 16 or 32"),
        (("points = 16", "points = 8"), "points: given 8; allowed: a whole number from 16"),
        (("throughput_bps", "thruput_bps"), r"did you mean 'throughput_bps'.*an expression"),
        (("throughput_bps", "mean of speed"), "sensitivity.metric: given .*speed"),
        (("throughput_bps", "drops_missed"), "the same at all of 64 points"),
        (("[sensitivity]", "[optimise]\nmaximise = 'x'\n[sensitivity2]"), "sensitivity2"),
        (("to = 50", "too = 50"), "unknown key 'too'"),
        (("to = 50", "to = 5"), "over.transport.advertised_window.to: given 5; allowed: no less"),
        (("seeds = 2", "target = { metric = 'x', precision = 0.1 }"), "target: given a table"),
    ],
)  # fmt: skip
def test_what_cannot_be_analysed_is_refused_in_one_message(
    study: Path,
    capsys: pytest.CaptureFixture[str],
    changes: tuple[str, str],
    words: str,
) -> None:
    text = study.read_text("utf-8").replace(*changes)
    study.write_text(text, encoding="utf-8")
    assert main(["sensitivity", str(study), "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert error.count("lightburst: ") == 1
    assert re.search(words, error)
    assert not Path("out").exists()


def test_flows_that_do_not_finish_are_named(study: Path) -> None:
    base = BURSTS.with_({"measurement.time_limit": "10 s"})
    over = {"loss.probability": {"from": 0.01, "to": 0.1}}
    words = (
        r"'completion_time_mean_s', infinite in \d+ of 96 runs \(first: point \d+, seed 1\).*"
        "longer measurement.time_limit"
    )
    with pytest.raises(lb.InputError, match=words):
        lb.sensitivity(base, over, metric="completion_time_mean_s", seeds=2, points=16)


@pytest.mark.parametrize(
    ("over", "more", "words"),
    [
        (
            {"switching.assembly.kind": ["timer", "mixed"],
             "switching.assembly.size": ["9 kB", "18 kB"]},
            {"kind": "mixed", "size": "9 kB", "time": "1 ms"},
            "over.switching.assembly.size: given nothing to vary with switching.assembly.kind = ",
        ),
        (
            {"switching.assembly.medium_window": {"from": 2, "to": 20},
             "switching.assembly.fast_window": {"from": 10, "to": 40}},
            {"kind": "window-based"},
            "fast_window: given .*bounds within which all combinations can be",
        ),
    ],
)  # fmt: skip
def test_what_is_no_box_is_refused(over: dict[str, Any], more: dict[str, Any], words: str) -> None:
    base = BURSTS.with_({"switching.assembly": more})
    with pytest.raises(lb.InputError, match=words):
        lb.sensitivity(base, over, metric="throughput_bps", points=16)


def test_without_salib_one_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "SALib", None)
    with pytest.raises(lb.InputError, match="sensitivity: given no package SALib"):
        lb.sensitivity(ONE_FLOW, BOX, metric="completion_time_mean_s")
