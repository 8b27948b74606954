"""A sweep visits each of its points once, and compares runs with the same seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import lightburst as lb
from lightburst.study.design.points import Design


def scenario() -> lb.Scenario:
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4},
            "switching": {"kind": "hybrid"},
            "transport": {"kind": "sawl"},
            "workload": {
                "kind": "poisson",
                "arrival_rate": "1e6 /s",
                "flows": 20,
                "size": {"kind": "constant", "value": "30 kB"},
            },
        }
    )


VARIANTS = {"optical": {"switching.kind": "all-optical"}, "hybrid": {}}


def settings(*given: Any, **more: Any) -> list[dict[str, object]]:
    return [dict(place.settings) for place in Design.of(scenario(), *given, **more).places]


@pytest.mark.parametrize(
    ("path", "spec", "values"),
    [
        ("transport.p", {"from": 0, "to": 8, "step": 2}, [0, 2, 4, 6, 8]),
        ("transport.p", {"from": 1, "to": 100, "number": 3, "scale": "log"}, [1, 10, 100]),
        ("topology.k", {"from": 4, "to": 8, "step": 2}, [4, 6, 8]),
        ("topology.link_length", {"from": "10 m", "to": "1 km", "number": 2}, ["10 m", "1 km"]),
        (
            "topology.link_length",
            {"from": "1 m", "to": "1 km", "number": 4, "scale": "log"},
            ["1 m", "10 m", "100 m", "1 km"],
        ),
        (
            "transport.segment_size",
            {"from": 1000, "to": "3 kB", "number": 3},
            ["1 kB", "2 kB", "3 kB"],
        ),
        (
            "workload.size",
            {"from": "1 kB", "to": "4 kB", "step": "1.5 kB"},
            ["1 kB", "2.5 kB", "4 kB"],
        ),
        ("workload.arrival_rate", np.array([1e5, 1e6]), [1e5, 1e6]),
    ],
)
def test_the_values_of_an_axis(path: str, spec: Any, values: list[object]) -> None:
    assert settings({path: spec}) == [{path: value} for value in values]


def test_decimal_steps_are_decimal() -> None:
    base = lb.load("examples/groups.toml")
    path = "groups.background.workload.load"
    places = Design.of(base, {path: {"from": 0.1, "to": 0.7, "step": 0.1}}).places
    assert [place.settings[path] for place in places] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]


def test_all_combinations_the_last_axis_fastest() -> None:
    over = {"transport.p": [0, 4], "workload.flows": [10, 20]}
    found = [tuple(point.values()) for point in settings(over)]
    assert found == [(0, 10), (0, 20), (4, 10), (4, 20)]


def test_linked_paths_move_together() -> None:
    linked = [{"topology.k": [4, 6], "workload.flows": [10, 20]}]
    found = settings({"transport.p": [0, 4]}, linked)
    assert [tuple(point.values()) for point in found] == [
        (0, 4, 10), (0, 6, 20), (4, 4, 10), (4, 6, 20)
    ]  # fmt: skip


def test_an_axis_does_not_vary_where_its_field_is_not() -> None:
    over = {"switching.buffer_ports": [1, 2, 3], "transport.p": [0, 4]}
    design = Design.of(scenario(), over, variants=VARIANTS)
    found = [(place.variant, *place.settings.values()) for place in design.places]
    assert found == [
        ("optical", 0), ("optical", 4),
        ("hybrid", 1, 0), ("hybrid", 1, 4), ("hybrid", 2, 0), ("hybrid", 2, 4),
        ("hybrid", 3, 0), ("hybrid", 3, 4),
    ]  # fmt: skip
    assert design.number == len(design.places)


def test_nor_where_another_axis_has_taken_it_away() -> None:
    # The order of the axes does not matter.
    over = {"switching.buffer_ports": [1, 2], "switching.kind": ["hybrid", "electronic"]}
    assert settings(over) == [
        {"switching.buffer_ports": 1, "switching.kind": "hybrid"},
        {"switching.kind": "electronic"},
        {"switching.buffer_ports": 2, "switching.kind": "hybrid"},
    ]


def test_nor_where_a_variant_sets_it() -> None:
    variants = {"saw": {"transport.p": 0}, "sawl": {}}
    design = Design.of(scenario(), {"transport.p": [1, 4]}, variants=variants)
    assert [(place.variant, place.point["transport.p"]) for place in design.places] == [
        ("saw", 0), ("sawl", 1), ("sawl", 4)
    ]  # fmt: skip
    assert design.block(1).study.scenarios[0].to_dict()["transport"]["p"] == 0


@pytest.fixture(scope="module")
def swept() -> lb.Sweep:
    over = {"switching.buffer_ports": [0, 2], "topology.link_length": ["10 m", "100 m"]}
    return lb.sweep(scenario(), over, variants=VARIANTS, seeds=3, progress=False)


def test_the_runs_are_those_of_the_scenarios(swept: lb.Sweep) -> None:
    assert list(swept.runs.columns[:6]) == [
        "variant", "switching.buffer_ports", "topology.link_length", "topology.link_length_m",
        "seed", "throughput_bps",
    ]  # fmt: skip
    assert len(swept.runs) == (2 + 4) * 3
    row = swept.runs.query(
        "variant == 'hybrid' and `switching.buffer_ports` == 2 and `topology.link_length_m` == 100"
    ).iloc[1]
    changes = {"switching.buffer_ports": 2, "topology.link_length": "100 m"}
    assert row["digest"] == lb.run(scenario().with_(changes), seed=2).digest
    optical = swept.runs.query("variant == 'optical'")
    assert optical["switching.buffer_ports"].isna().all()


def test_means_are_those_of_the_runs(swept: lb.Sweep) -> None:
    table = swept.table("throughput_bps")
    assert len(table) == 6
    for _, row in table.iterrows():
        runs = swept.runs[swept.runs["variant"] == row["variant"]]
        runs = runs[runs["topology.link_length"] == row["topology.link_length"]]
        if row["variant"] == "hybrid":
            runs = runs[runs["switching.buffer_ports"] == row["switching.buffer_ports"]]
        x = runs["throughput_bps"]
        low, high = stats.t.interval(0.95, len(x) - 1, x.mean(), stats.sem(x))
        assert (row["n"], row["mean"]) == (3, pytest.approx(x.mean()))
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))


def test_a_hybrid_switch_without_buffers_is_an_optical_one(swept: lb.Sweep) -> None:
    # The optical switch has no buffer ports: it is compared with each number of them.
    found = swept.compare("optical", "hybrid", "throughput_bps").table
    assert found["switching.buffer_ports"].tolist() == [0, 2, 0, 2]
    assert found["pairs"].tolist() == [3] * 4
    none, some = (found[found["switching.buffer_ports"] == ports] for ports in (0, 2))
    assert none["verdict"].tolist() == ["same"] * 2
    assert none["difference"].tolist() == [0, 0]
    means = swept.table("throughput_bps").set_index("variant")["mean"]
    assert some["first"].tolist() == pytest.approx(means["optical"].tolist())
    part = "slowdown_mean[below 100 kB]"
    both = swept.compare("optical", "hybrid", ["throughput_bps", part]).table
    assert set(both["metric"]) == {"throughput_bps", part}, "figures of classes that are named"
    assert "throughput_bps" in set(swept.compare("optical", "hybrid").table["metric"])
    back = swept.compare("hybrid", "optical", "throughput_bps").table
    assert sorted(back["difference"]) == pytest.approx(sorted(-found["difference"]))


def test_values_of_an_axis_can_be_compared(swept: lb.Sweep) -> None:
    path = "switching.buffer_ports"
    found = swept.compare(0, 2, "throughput_bps", along=path)
    assert (found.first, found.second) == ("0", "2")
    # Only hybrid switches have buffer ports.
    assert found.table["variant"].tolist() == ["hybrid"] * 2
    row = found.table.iloc[0]
    sides = [
        swept.runs.query(f"`{path}` == {ports} and `topology.link_length` == '10 m'")
        for ports in (0, 2)
    ]
    means = [side["throughput_bps"].mean() for side in sides]
    assert (row["first"], row["second"]) == pytest.approx(tuple(means))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"over": {"transport.q": [1]}}, "transport.q: given an unknown key 'q'"),
        ({"over": {"workload.laod": [1]}}, "did you mean 'load'?"),
        ({"over": {"transport.p": []}}, "over.transport.p: given no values"),
        ({"over": {"transport.p": 4}}, "did you mean [4]?"),
        ({"over": {"transport.p": [4, 4]}}, "over.transport.p: given 4 twice"),
        ({"over": {"transport.p": {"from": 1, "to": 2}}}, "given neither step nor number"),
        ({"over": {"transport.p": {"form": 1, "to": 2}}}, "did you mean 'from'?"),
        (
            {"over": {"workload.flows": {"from": 1, "to": 3, "number": 9}}},
            "over.workload.flows: given 9 values; allowed: fewer",
        ),
        (
            {"over": {"topology.link_length": {"from": "1 s", "to": "2 m", "number": 2}}},
            "over.topology.link_length.from: given '1 s'; allowed: a length",
        ),
        ({"over": {"switching.kind": {"from": 1, "to": 2}}}, "given a range"),
        (
            {"linked": [{"topology.k": [4, 6], "transport.p": [1]}]},
            "linked.topology.k: given 2 for topology.k, 1 for transport.p",
        ),
        (
            {"over": {"transport.p": [1]}, "linked": [{"transport.p": [1]}]},
            "over.transport.p: given twice",
        ),
        ({"variants": {"A": {}, "B": {"transport.p": 4}}}, "variants.B: given the same as 'A'"),
        (
            {"variants": {"A": {"transport.q": 1}}},
            "variants.A.transport.q: given an unknown key 'q'",
        ),
        (
            {"over": {"transport.p": [1, 2]}, "variants": {"A": {"transport.p": 3}}},
            "over.transport.p: given a field that 'A' set",
        ),
    ],
)
def test_what_cannot_be_swept_is_one_message(given: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.InputError) as raised:
        lb.sweep(scenario(), **given, seeds=1, progress=False)
    assert len(raised.value.errors) == 1
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("optical", "hybird"), "b: given 'hybird'; allowed: one of 'optical', 'hybrid' (did you"),
        (("hybrid", "hybrid"), "b: given 'hybrid'; allowed: another one than 'hybrid'"),
    ],
)
def test_what_cannot_be_compared(swept: lb.Sweep, arguments: tuple[str, str], message: str) -> None:
    with pytest.raises(lb.InputError) as raised:
        swept.compare(*arguments)
    assert message in str(raised.value)
    with pytest.raises(lb.InputError, match="did you mean 'slowdown_p99'"):
        swept.table("slowdown_99")


def test_values_of_a_quantity_can_be_compared(swept: lb.Sweep) -> None:
    # A second column has the given values as numbers, and it differs, too.
    near, far = swept.runs["topology.link_length"].unique()
    found = swept.compare(near, far, "throughput_bps", along="topology.link_length").table
    assert set(found["pairs"]) == {3}
    assert "topology.link_length_m" not in found


def test_the_table_of_many_columns_is_one_piece() -> None:
    # Groups have so many columns that pandas would warn of fragmentation.
    scenario = lb.load("examples/groups.toml").with_({"groups.background.workload.load": 0.01})
    found = lb.sweep(scenario, {"switching.queue_size": ["50 kB", "100 kB"]}, seeds=2)
    assert len(found.table("slowdown_median[query]")) == 2
