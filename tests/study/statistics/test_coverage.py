"""The coverage table of docs/statistics.md: a part is measured again, and all rows are there."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from common_random_numbers import compared
from coverage import GOOD, REPETITIONS, coverage, row, table
from coverage_cases import Case, cases, waits
from lightburst.study import batch_means
from marks import replaced

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "statistics.md").read_text("utf-8")
FIGURE = re.compile(r"^\| ([^|]+) \| ([^|]+) \| (\**)([0-9.]+) %\3 \| ([^|]*) ?\|$", re.M)
#: By method and experiment: the value on the page, whether it is bold, and the note.
PUBLISHED = {
    (method, draws): (float(figure) / 100, bool(bold), note.strip())
    for method, draws, bold, figure, note in FIGURE.findall(PAGE)
}
CASES = {(case.method, case.draws): case for case in cases()}
AGAIN = 250
QUICK = [
    ("mean, Student", "normal, n = 5"),
    ("mean, Student", "log-normal, sigma 1, n = 20"),
    ("difference, paired", "two systems on the same 20 seeds, log-normal flows in common"),
    ("ratio of means, paired", "two systems on the same 20 seeds, log-normal flows in common"),
    ("difference, Welch", "the same on 20 and 10 other seeds"),
    ("difference, permutation", "two systems on 20 and 10 other seeds"),
    ("ratio of means, permutation", "two systems on the same 20 seeds, log-normal with sigma 1"),
    ("batch means, MSER-5", "M/M/1, load 0.8, 10,000 waits from empty"),
    ("share", "20 runs of 1,000 units, 0.0003 lost, each alone"),
    ("stopping at 1 %", "normal, deviation 3 % of the mean, 10 to 100 samples"),
]


@pytest.mark.parametrize("name", QUICK, ids=lambda name: f"{name[0]}; {name[1]}")
def test_the_published_coverage_comes_out_again(name: tuple[str, str]) -> None:
    published = PUBLISHED[name][0]
    again = coverage(CASES[name], AGAIN, seed=99)
    # Four standard errors of the difference of two estimates, from 250 and from 1,000 experiments.
    error = math.sqrt(published * (1 - published) * (1 / AGAIN + 1 / REPETITIONS))
    assert again == pytest.approx(published, abs=4 * error)


def test_every_experiment_is_on_the_page_and_what_is_out_of_range_has_a_reason() -> None:
    assert list(PUBLISHED) == list(CASES)
    for figure, bold, note in PUBLISHED.values():
        assert bold == (not GOOD[0] <= figure <= GOOD[1])
        assert bool(note) == bold


def test_what_is_out_of_range_without_a_reason_is_no_row() -> None:
    case = Case("method", "draws", lambda rng: rng.random() < 0.5)
    assert coverage(case, 1000) == pytest.approx(0.5, abs=0.07)
    assert coverage(case, 100) == coverage(case, 100)
    with pytest.raises(ValueError, match=r"method, draws: 50.0%, and nothing says why"):
        row(case, 0.5)
    assert row(case, 0.95) == "| method | draws | 95.0 % |  |"
    assert table([(case, 0.95)]).count("\n") == 2


@pytest.mark.parametrize(("load", "constant", "truth"), [(0.5, True, 0.5), (0.5, False, 1.0)])
def test_waits_are_those_of_a_queue(load: float, constant: bool, truth: float) -> None:
    rng = np.random.default_rng(1)
    assert waits(load, 400_000, rng, constant=constant).mean() == pytest.approx(truth, rel=0.05)
    few = waits(load, 50, np.random.default_rng(2), constant=constant)
    rng = np.random.default_rng(2)
    services = np.ones(50) if constant else rng.exponential(size=50)
    gaps, wait = rng.exponential(1 / load, 50), 0.0
    for i in range(50):
        wait = max(0.0, wait + services[i] - gaps[i])
        assert few[i + 1] == pytest.approx(wait, abs=1e-9)


def test_mser_5_takes_a_busy_beginning_of_a_short_run_for_a_warm_up() -> None:
    # The page: 2 to 3 % low at M/M/1, load 0.8, 10,000 waits; the truth is 4 services.
    rng = np.random.default_rng(5)
    series = [waits(0.8, 10_000, rng) for _ in range(300)]
    cut, whole = ([batch_means(x, warm_up=w).estimate for x in series] for w in (None, 0))
    assert np.mean(np.subtract(whole, cut)) == pytest.approx(0.1, abs=0.04)
    assert np.mean(whole) == pytest.approx(4, abs=4 * float(np.std(whole)) / math.sqrt(300))


def test_pairing_is_told_by_its_width() -> None:
    rng = np.random.default_rng(3)
    flows = rng.normal(10, 2, 30)
    one, other = (pd.DataFrame({"x": flows + rng.normal(shift, 0.5, 30)}) for shift in (0, 1))
    difference, apart, paired, narrower, saved, correlation = compared(one, other, "x")
    assert float(difference) == pytest.approx((other["x"] - one["x"]).mean(), rel=1e-3)
    widths = [float(text.removeprefix("± ")) for text in (apart, paired)]
    assert float(narrower) == pytest.approx(widths[0] / widths[1], abs=0.06)
    assert float(saved) == pytest.approx((widths[0] / widths[1]) ** 2, abs=0.1)
    assert float(correlation) > 0.8


def test_a_section_is_put_between_its_marks() -> None:
    text = "a\n<!-- x: begin; written by y.py -->old<!-- x: end -->\nb"
    once = replaced(text, "x", "y.py", "new")
    assert once == "a\n<!-- x: begin; written by y.py -->\n\nnew\n\n<!-- x: end -->\nb"
    assert replaced(once, "x", "y.py", "new") == once
    with pytest.raises(ValueError, match="must have one"):
        replaced(text, "z", "y.py", "new")
