"""Samples, targets and costs of a sweep; its cube and its files."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import qmc
from test_sweep import VARIANTS, scenario

import lightburst as lb
from lightburst.foundation.units import parse_length
from lightburst.study import Stopping, Study, execute_until
from lightburst.study.design.description import StudyDescription, load_study
from lightburst.study.design.points import Design
from lightburst.study.design.sample import Sample
from lightburst.study.design.written import to_toml
from lightburst.study.execution.cost import Cost

OVER = {
    "topology.link_length": {"from": "10 m", "to": "1 km", "scale": "log"},
    "transport.p": [0, 4],
}


def test_a_sobol_sample_is_scipy_s() -> None:
    design = Design.of(scenario(), OVER, sample=Sample(kind="sobol", points=8, seed=3))
    drawn = qmc.Sobol(2, rng=3).random_base2(3)
    assert design.number == len(design.places) == 8
    for place, (first, second) in zip(design.places, drawn, strict=True):
        length = parse_length(str(place.settings["topology.link_length"]))
        # 6 significant digits of a length on a logarithmic scale, and one of two values.
        assert length == pytest.approx(10 * 100**first, rel=1e-5)
        assert place.settings["transport.p"] == (0 if second < 0.5 else 4)


def test_a_latin_hypercube_has_a_point_in_each_part_of_every_axis() -> None:
    over = {"workload.flows": {"from": 1, "to": 20}, "transport.p": {"from": 0, "to": 5}}
    design = Design.of(scenario(), over, sample=Sample(kind="latin-hypercube", points=20))
    points = [place.settings for place in design.places]
    # Twenty whole numbers for twenty points: all are equally frequent, also the smallest and the
    # largest.
    assert sorted(int(str(point["workload.flows"])) for point in points) == list(range(1, 21))
    parts = [int(float(str(point["transport.p"])) / 5 * 20) for point in points]
    assert sorted(parts) == list(range(20))


def test_variants_share_the_points_of_a_sample() -> None:
    over = {"switching.buffer_ports": [0, 1, 2, 3], "transport.p": {"from": 0, "to": 5}}
    found = lb.sweep(
        scenario(), over, variants=VARIANTS, sample={"kind": "sobol", "points": 4}, seeds=2,
        progress=False,
    )  # fmt: skip
    assert len(found.runs) == 2 * 4 * 2
    sides = [found.runs[found.runs["variant"] == name] for name in ("optical", "hybrid")]
    assert sides[0]["transport.p"].tolist() == sides[1]["transport.p"].tolist()
    assert sorted(set(sides[1]["switching.buffer_ports"])) == [0, 1, 2, 3]
    assert found.compare("optical", "hybrid", "throughput_bps").table["pairs"].tolist() == [2] * 4
    cube = found.cube("throughput_bps")
    assert cube["throughput_bps"].dims == ("variant", "sample", "seed")
    assert cube["transport.p"].to_numpy().tolist() == sides[1]["transport.p"].tolist()[::2]


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"kind": "sobol", "points": 12}, "sample.points: given 12; allowed: a power of two, as 8"),
        ({"kind": "halton", "points": 8}, "sample.kind: given 'halton'"),
        ({"points": 8}, "sample.kind: given nothing"),
    ],
)
def test_what_is_no_sample(sample: dict[str, object], message: str) -> None:
    with pytest.raises(lb.InputError) as raised:
        lb.sweep(scenario(), OVER, sample=sample, progress=False)
    assert message in str(raised.value)


def test_a_range_has_no_steps_in_a_sample() -> None:
    over = {"transport.p": {"from": 0, "to": 4, "number": 3}}
    with pytest.raises(lb.InputError, match=r"over.transport.p.number: given 3; allowed: from, to"):
        lb.sweep(scenario(), over, sample={"kind": "sobol", "points": 8}, progress=False)


def test_a_budget_goes_to_the_widest_intervals() -> None:
    study = Study(scenario(), {"switching.buffer_ports": [0, 1, 2, 4]}, range(1, 41))
    rule = Stopping("throughput_bps", precision=1e-6, first=4, growth=2, budget=28)
    table = execute_until(study, rule, progress=False)
    # 4 runs each are 16; the next look costs 4 each: 12 are left, for three of the four.
    numbers = table["place"].value_counts().sort_index()
    assert sorted(numbers) == [4, 8, 8, 8]
    first = table[table["seed"] <= 4].groupby("place")["throughput_bps"]
    widths = first.apply(rule.width)
    assert numbers.idxmin() == widths.idxmin()


def test_a_target_stops_where_it_is_met_and_says_where_not() -> None:
    target = {"metric": "throughput_bps", "precision": "3 %", "minimum": 3, "maximum": 6}
    over = {"switching.buffer_ports": [0, 4]}
    with pytest.warns(lb.RunWarning, match=r"points have missed the target of 3 %"):
        found = lb.sweep(scenario(), over, target=target, progress=False)
    rule = Stopping("throughput_bps", 0.03, first=3)
    for _, runs in found.runs.groupby("switching.buffer_ports"):
        looks = [n for n in rule.looks(6) if n <= len(runs)]
        assert looks[-1] == len(runs)
        assert not any(rule.enough(runs["throughput_bps"].iloc[:n]) for n in looks[:-1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": {"metric": "x", "precision": 0}}, "target.precision: given 0; allowed: a part"),
        ({"target": {"metric": "x"}}, "target.precision: given nothing"),
        (
            {"target": {"metric": "x", "precision": 0.1}, "seeds": 4},
            "seeds: given 4; allowed: noth",
        ),
        (
            {"target": {"metric": "x", "precision": "5 %", "minimum": 200}},
            "target.maximum: given 100; allowed: at least target.minimum, 200",
        ),
        (
            {"target": {"metric": "throughput", "precision": "5 %"}},
            "target.metric: given 'throughput'; allowed: a metric of the runs (did you mean 'throu",
        ),
        (
            {"target": {"metric": "throughput_bps", "precision": "5 %", "budget": 3}},
            "stopping.budget: given 3; allowed: at least 10",
        ),
        ({"seeds": "4"}, "seeds: given '4'"),
        (
            {"over": {"transport.p": {"from": 0, "to": 1, "number": 2000}}},
            "study: given 20,000 runs",
        ),
    ],
)
def test_what_is_refused_before_all_is_run(given: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.InputError) as raised:
        lb.sweep(scenario(), **given, progress=False)
    assert message in str(raised.value)


def test_a_billion_runs_are_counted_and_not_listed() -> None:
    wide = {"from": 1, "to": 1000, "number": 1000}
    over = {"transport.p": wide, "workload.flows": wide}
    with pytest.raises(lb.InputError) as raised:
        lb.sweep(scenario(), over, seeds=1000, workers=2)
    words = str(raised.value)
    assert words.startswith("study: given 1,000,000,000 runs, about ")
    assert " in 2 threads, " in words
    assert words.endswith("allowed: up to 10,000, or any number with most_runs=None (--yes)")
    with pytest.raises(lb.InputError, match=r"1,000,000 points and 1,000,000,000 runs, whose list"):
        lb.sweep(scenario(), over, seeds=1000, most_runs=None)


@pytest.mark.parametrize(
    "values",
    [
        {"from": 1, "to": 1_000_000_000, "number": 1_000_000_000},
        {"from": 1, "to": 1_000_000_000, "step": 1},
        range(1, 1_000_000_001),
    ],
)
def test_a_billion_values_on_one_axis_are_counted_and_not_written(values: Any) -> None:
    over = {"workload.flows": values}
    limits = resource.getrlimit(resource.RLIMIT_AS)
    before = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    # A list of a billion values alone takes 8 GB.
    resource.setrlimit(resource.RLIMIT_AS, (before + 2**31, limits[1]))
    try:
        with pytest.raises(lb.InputError, match=r"^study: given 1,000,000,000 runs, (about|more)"):
            lb.sweep(scenario(), over, seeds=1, workers=2, progress=False)
        with pytest.raises(lb.InputError, match="1,000,000,000 points and 1,000,000,000 runs"):
            lb.sweep(scenario(), over, seeds=1, most_runs=None, progress=False)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_very_many_values_are_those_that_few_would_be() -> None:
    spec = {"from": 1, "to": 200_001, "step": 1}
    axis = Design.of(scenario(), {"workload.flows": spec}).axes[0]
    assert len(axis.steps) == 200_001
    assert [axis.steps[0], axis.steps[99_999], axis.steps[-1]] == [(1,), (100_000,), (200_001,)]
    for over, message in (
        ({"from": 1, "to": 1000, "number": 200_000}, "of its values that the field can hold some"),
        ({"from": 1, "to": 1000, "step": 1, "number": 3}, "both step and number"),
        ([*range(1, 200_001), 7], "7 twice"),
    ):
        with pytest.raises(lb.InputError, match=message):
            Design.of(scenario(), {"workload.flows": over})
    lengths = {"from": "1 m", "to": "100000 km", "step": "1e-9 m"}
    with pytest.raises(lb.InputError, match="up to 1,000,000,000,000"):
        Design.of(scenario(), {"topology.link_length": lengths})


def test_costs_in_words() -> None:
    assert str(Cost(1, 7200, False, 4, 1_600_000)) == (
        "runs, about 2 hours in 4 threads, 1.6 MB in a store"
    )
    assert "more than 3.17 years" in str(Cost(1, 1e8, True, 1, 12345))


@pytest.fixture(scope="module")
def swept() -> lb.Sweep:
    return lb.sweep(
        scenario(),
        {"switching.buffer_ports": [2, 0], "topology.link_length": [100, 10]},
        variants=VARIANTS,
        seeds=3,
        metrics={"late": "count where slowdown > 2"},
        progress=False,
    )


def test_a_cube_has_each_run_in_its_place(swept: lb.Sweep) -> None:
    cube = swept.cube()
    assert list(cube["variant"].to_numpy()) == ["optical", "hybrid"]
    assert cube["topology.link_length"].to_numpy().tolist() == [100, 10]
    assert cube["topology.link_length"].attrs == {"units": "m"}
    assert cube["throughput_bps"].attrs == {"units": "b/s"}
    for _, row in swept.runs.iterrows():
        at = {
            "variant": row["variant"],
            "topology.link_length": row["topology.link_length_m"],
            "seed": row["seed"],
        }
        # The optical switch has no buffer ports: it is the same beside each number of them.
        ports = [row["switching.buffer_ports"]] if row["variant"] == "hybrid" else [0, 2]
        for number in ports:
            place = at | {"switching.buffer_ports": number}
            assert float(cube["throughput_bps"].sel(place)) == row["throughput_bps"]
            assert float(cube["late"].sel(place)) == row["late"]


def test_linked_paths_are_beside_the_one_that_names_the_axis() -> None:
    linked = [{"switching.buffer_ports": [0, 2], "topology.link_length": ["10 m", "30 m"]}]
    found = lb.sweep(scenario(), linked=linked, seeds=2, progress=False)
    cube = found.cube("throughput_bps")
    assert cube["throughput_bps"].dims == ("switching.buffer_ports", "seed")
    assert cube["topology.link_length"].dims == ("switching.buffer_ports",)
    assert cube["topology.link_length"].to_numpy().tolist() == [10, 30]
    pairs = found.compare(0, 2, "throughput_bps", along="switching.buffer_ports").table["pairs"]
    assert pairs.tolist() == [2]


def test_what_is_saved_is_read_back_and_can_be_run_again(swept: lb.Sweep, tmp_path: Path) -> None:
    directory = swept.save(tmp_path / "out")
    back = lb.load_sweep(directory)
    pd.testing.assert_frame_equal(back.runs, swept.runs, check_dtype=False)
    pd.testing.assert_frame_equal(back.table(), swept.table(), check_dtype=False)
    assert back.provenance == swept.provenance
    pd.testing.assert_frame_equal(
        pd.read_csv(directory / "table.csv"), swept.table(), check_dtype=False
    )
    again = load_study(directory / "study.toml")
    assert again.block.study.scenarios == swept.study.block.study.scenarios
    assert list(again.all_seeds) == [1, 2, 3]
    about = json.loads((directory / "sweep.json").read_text())
    assert about["provenance"]["digest"] == swept.provenance["digest"]
    (directory / "runs.parquet").write_bytes(b"damaged")
    with pytest.raises(lb.InputError, match="differs from SHA256SUMS"):
        lb.load_sweep(directory)


def test_a_study_of_only_what_python_can_say_has_no_file(tmp_path: Path) -> None:
    # None takes a field out; TOML has no word for that.
    variants: dict[str, dict[str, object]] = {
        "usual": {"transport.p": None},
        "patient": {"transport.p": 9},
    }
    found = lb.sweep(scenario(), variants=variants, seeds=1, progress=False)
    directory = found.save(tmp_path / "out")
    assert not (directory / "study.toml").exists()
    assert lb.load_sweep(directory).study.variants["usual"] == {"transport.p": None}


def test_a_metric_of_one_s_own_is_shown_first(swept: lb.Sweep) -> None:
    assert next(iter(swept.table()["metric"])) == "late"
    row = swept.runs.iloc[0]
    flows = lb.run(scenario().with_({"switching.kind": "all-optical", "topology.link_length": 100}))
    assert row["late"] == (flows.flows["slowdown"] > 2).sum()


def test_a_study_file_names_keys_of_tables_with_or_without_quotes() -> None:
    plain = {"over": {"workload": {"load": [1]}, "topology": {"k": {"from": 4, "to": 6}}}}
    paths = {"over": {"workload.load": [1], "topology.k": {"from": 4, "to": 6}}}
    one, other = (
        StudyDescription.from_dict({"scenario": scenario().to_dict(), **given})
        for given in (plain, paths)
    )
    assert one.over == other.over == paths["over"]


def test_numpy_s_values_are_python_s() -> None:
    over = {
        "switching.buffer_ports": np.array([0, 2]),
        "topology.link_length": np.linspace(10, 20, 2),
    }
    found = lb.sweep(scenario(), over, seeds=1, progress=False)
    assert found.study.over["topology.link_length"] == [10.0, 20.0]
    assert found.runs["switching.buffer_ports"].tolist() == [0, 0, 2, 2]


def test_a_study_file_stands_for_itself(tmp_path: Path) -> None:
    study = StudyDescription(scenario=scenario(), over={"transport.p": [0, 4]}, seeds=2)
    text = to_toml(study)
    assert text is not None
    file = tmp_path / "study.toml"
    file.write_text(text, encoding="utf-8")
    assert lb.sweep(file, progress=False).runs["transport.p"].tolist() == [0, 0, 4, 4]
    with pytest.raises(lb.InputError, match="seeds: given 3; allowed: nothing beside a study"):
        lb.sweep(file, seeds=3, progress=False)


def heights(canvas: Any) -> dict[str, list[float]]:
    """The curves of a figure: the words of the legend, and the points."""
    lines = [line for line in canvas.axes[0].get_lines() if len(line.get_ydata()) > 1]
    return {str(number): list(line.get_ydata()) for number, line in enumerate(lines)}


def test_a_figure_has_a_curve_for_each_variant_and_number_of_ports(swept: lb.Sweep) -> None:
    canvas = swept.plot("topology.link_length", "throughput_bps")
    drawn = sorted(round(y, 6) for line in heights(canvas).values() for y in line)
    means = swept.table("throughput_bps")["mean"]
    # Two lengths for the optical switch, and for each of two numbers of ports of the hybrid one.
    assert len(means) == len(drawn) == 6
    assert drawn == pytest.approx(sorted(means / 1e9), rel=1e-4)
    one = swept.plot("switching.buffer_ports", "throughput_bps", at={"topology.link_length": 10})
    drawn = sorted(y for line in heights(one).values() for y in line)
    table = swept.table("throughput_bps")
    table = table[table["topology.link_length"] == 10]
    twice = table[table["variant"] == "optical"]["mean"]
    assert drawn == pytest.approx(
        sorted(height / 1e9 for height in (*table["mean"], *twice)), rel=1e-4
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": "topology.length"}, "x: given 'topology.length'; allowed: what varies: variant, "),
        ({"y": "slowdown"}, "metrics: given 'slowdown'; allowed: a metric of the runs (did you"),
        ({"at": {"switching.buffer_ports": 7}}, "given 7; allowed: one of 2, 0"),
        ({"hue": "varaint"}, "(did you mean 'variant'?)"),
    ],
)
def test_what_cannot_be_drawn(swept: lb.Sweep, given: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.InputError) as raised:
        swept.plot(**given)
    assert message in str(raised.value)


def test_that_nothing_varies_is_told() -> None:
    with pytest.warns(lb.RunWarning, match=r"^nothing varies, as over is empty: one point was run"):
        found = lb.sweep(scenario(), {}, seeds=2, progress=False)
    assert repr(found) == "<Sweep of one point, 2 runs: nothing varies>"
    assert len(found.table("throughput_bps")) == 1
    # Without any axes there is one point.
    assert lb.sweep(scenario(), seeds=2, progress=False).warnings == ()
