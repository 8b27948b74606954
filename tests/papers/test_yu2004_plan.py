"""The runs planned for yu2004 agree with their labels and with the paper."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from lightburst.papers import PAPERS
from lightburst.papers.yu2004 import design
from lightburst.papers.yu2004.points import (
    HIGH,
    LOW,
    TABLES,
    Point,
    assembly_time,
    base,
    flow_of,
    round_trip_s,
    runs_of,
)
from lightburst.papers.yu2004.published import RATIOS
from lightburst.papers.yu2004.senders import NAMES, NS2, RENO, RFC, RFC_SACK, SACK
from lightburst.scenario import Scenario
from lightburst.study.statistics import Interval

PAPER = PAPERS["yu2004"]


def scenario_of(point: Point) -> Scenario:
    return base().with_(point.settings())


def test_the_scenario_is_the_path_of_the_paper() -> None:
    values = base().to_dict()
    topology, transport = values["topology"], values["transport"]
    assert topology["core_nodes"] == 2
    assert (topology["access_delay"], topology["fibre_delay"]) == ("10 ms", "10 ms")
    assert topology["fibre_rate"] == "80 Gb/s", "10 GB/s"
    assert (transport["segment_size"], transport["advertised_window"]) == ("1 kB", 50)
    assert transport["acknowledge_every"] == 1
    # A flow at 125 MB/s would need longer than the paper's 1e6 s for all of its data.
    assert base().workload.size.value > 125e6 * 1e6  # type: ignore[union-attr]


@pytest.mark.parametrize("burst", [5, 25])
def test_the_assembly_time_gives_bursts_of_that_size(burst: int) -> None:
    point = design.table_point(burst, 0.01, RENO)
    assert point.segments_per_burst == pytest.approx(burst)
    assert point.access == 125e3
    assert Point(HIGH, 1.0, 0.01).segments_per_burst == 50, "never more than the window"


def test_a_point_says_all_that_it_sets() -> None:
    changed = Point(
        access=500e3, time=0.048, p=0.03, recovery="new-reno", halving="flight-size",
        bug_fix=False, partial="impatient", exit_growth=False, limited=True, window=20, b=2,
        min_timeout=1.0, tick=0.1, ack_loss=0.02, initial_window=2, propagation=0.05, extra=0.035,
        assembled=False, every_link=True,
    )  # fmt: skip
    values = scenario_of(changed).to_dict()
    assert values["topology"]["access_rate"] == "4 Mb/s"
    assert values["topology"]["access_delay"] == values["topology"]["fibre_delay"] == "5 ms"
    assert values["topology"]["extra_round_trip"] == "35 ms"
    assert values["switching"]["assembly"]["time"] == "48 ms"
    assert values["switching"]["assemble_acknowledgements"] is False
    loss = values["loss"]
    assert (loss["probability"], loss["acknowledgement_probability"]) == (0.03, 0.02)
    assert loss["on"] == "every-link"
    transport = values["transport"]
    expected = {
        "congestion_control": {
            "kind": "reno", "halving": "flight-size", "byte_counting": "off", "abe": False,
            "beta_ecn": 0.8,
            "slow_start": {"kind": "standard"},
        },
        "recovery": {
            "kind": "new-reno", "bug_fix": False, "partial_acknowledgement": "impatient",
            "full_acknowledgement": "flight-size", "window_growth_on_exit": False,
            "limited_transmit": True, "duplicate_threshold": 3,
        },
        "advertised_window": 20, "acknowledge_every": 2,
        "min_timeout": "1 s", "clock_granularity": "100 ms", "initial_window": 2,
    }  # fmt: skip
    assert {name: transport[name] for name in expected} == expected
    # Every field of a point changes its scenario: none is forgotten in `settings`.
    plain = Point(500e3, 0.048, 0.03, recovery="new-reno")
    assert scenario_of(plain._replace(recovery="reno")) != scenario_of(plain)
    for name, value in changed._asdict().items():
        if value != getattr(plain, name):
            assert scenario_of(plain._replace(**{name: value})) != scenario_of(plain), name


def test_a_point_may_use_as_much_time_as_the_paper_and_stops_at_one_per_cent() -> None:
    for block in PAPER.blocks(PAPER.default, False):
        assert block.stopping is not None
        assert block.stopping.precision == 0.01
        time = block.study.base.measurement.time_limit / 1e12
        if block.labels["p"].min() > 0:
            assert len(block.study.seeds) * time == 1e6


def test_the_full_plan_has_every_point_of_the_paper() -> None:
    labels = pd.concat([block.labels for block in PAPER.blocks(PAPER.default, False)])
    planned = {Point._make(row) for row in labels.itertuples(index=False)}
    for burst in (5, 25):
        for log_p in np.arange(-3, 0, 0.5):
            for sender in (*NS2.senders, *RFC.senders):
                (loss,) = (p for p in design.TABLE_LOSSES if abs(math.log10(p) - log_p) < 1e-9)
                assert design.table_point(burst, loss, sender) in planned
    for access in (HIGH, 500e3, LOW):
        surface = labels[(labels["access"] == access) & (labels["recovery"] == "sack1")]
        assert surface["p"].max() == pytest.approx(0.1) or access == HIGH
        assert surface.loc[surface["p"] > 0, "p"].min() == pytest.approx(1e-4)
    assert Point(HIGH, 4e-3, 0.01) in planned, "the optimum of equation (32)"
    assert Point(HIGH, 1e-3, 0.01).by(RFC_SACK) in planned


def test_the_published_ratios_are_read_with_their_rounding() -> None:
    for burst, kind, place, value, rounding in (
        (5, "sack", 2, 1.58, 0.005),
        (25, "new-reno", 3, 0.76, 0.005),
        (5, "new-reno", 0, 1.0, 0.05),
    ):
        printed = RATIOS[burst][kind][design.TABLE_LOSSES[place]]
        assert printed == Interval(value, value - rounding, value + rounding, 0)


def test_runs_are_found_by_their_points_after_a_file_too() -> None:
    sack, reno = points = [Point(TABLES, 0.032, 0.01).by(sender) for sender in (SACK, RENO)]
    table = pd.DataFrame(
        [
            {**point._asdict(), "seed": seed, "throughput_bps": 7680.0 * rate, "makespan_s": 100.0}
            for point, rates in zip(points, ((50.0, 52.0, 54.0), (25.0, 26.0, 27.0)), strict=True)
            for seed, rate in enumerate(rates)
        ]
    )
    runs = runs_of(table)
    assert runs.mean(points[0]).estimate == 52.0
    ratio = runs.ratio(sack, reno)
    assert ratio.estimate == ratio.low == ratio.high == 2.0, "twice as much with each seed"
    shuffled = runs_of(table.sample(frac=1, random_state=1)).ratio(sack, reno)
    assert shuffled == ratio, "paired by seed, not by row"
    assert runs.total(points[1], "makespan_s") == 300.0
    assert math.isnan(runs.mean(points[0]._replace(p=0.5)).estimate)
    # 1e6 s are ten thousand times a run: the interval of such a mean is a hundred times narrower.
    spread = math.sqrt(2 * (1 / 26) ** 2)
    assert runs.chance(sack, reno, design.PAPER_TIME_S) == pytest.approx(1.96 * spread / 100)


def test_the_theory_gets_the_round_trips_of_the_paper() -> None:
    assert round_trip_s(Point(HIGH, 1e-3, 0.01)) == 0.1
    assert round_trip_s(Point(LOW, 1e-2, 0.003)) == pytest.approx(18.0)
    assert round_trip_s(Point(LOW, 1e-2, 0.1)) == pytest.approx(5.4)
    assert round_trip_s(Point(LOW, 1e-2, 1e-4)) == pytest.approx(40.1), "a full window, and 0.1 s"
    flow = flow_of([Point(TABLES, assembly_time(TABLES, 5), 0.01)])
    assert float(flow.burst_segments[0]) == pytest.approx(5.0)
    assert float(flow.full_round_trip_s[0]) == pytest.approx(0.164)


def test_every_sender_of_the_figures_has_the_name_of_its_recovery() -> None:
    names = {"reno": "Reno", "new-reno": "New-Reno", "sack1": "SACK", "sack": "SACK"}
    assert {x: names[x.recovery] for x in (*NS2.senders, *RFC.senders)} == NAMES
