"""Each claim about vlachos2008 must be able to hold and to fail; its points are scenarios."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pytest

from lightburst.papers import PAPERS
from lightburst.papers.claims import Claim, Verdict
from lightburst.papers.curves import at_least
from lightburst.papers.figure import Figure, Packets
from lightburst.papers.runs import Runs
from lightburst.papers.statements import statements_of
from lightburst.papers.vlachos2008 import beyond, design, records
from lightburst.papers.vlachos2008 import metrics as named
from lightburst.papers.vlachos2008.claims import PROTOTYPE, SHEET
from lightburst.papers.vlachos2008.points import (
    A_POSTERIORI,
    A_PRIORI,
    PER_FLOW,
    Point,
    base,
    runs_of,
    window_based,
)
from lightburst.papers.vlachos2008.synchronised import law
from lightburst.simulation.simulate import simulate

HOLDS, DIFFERS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.NOT_COMPARABLE
PAPER = PAPERS["vlachos2008"]
# The metrics of a run at a point.
Model = Callable[[Point], dict[str, float]]
RATES = (named.MEAN, named.POOLED, named.MICE, named.ELEPHANTS)
SPREADS = (named.VARIANCE, named.MICE_VARIANCE, named.ELEPHANTS_VARIANCE)


def runs(points: Iterable[Point], model: Model, seeds: int = 4) -> Runs[Point]:
    """Runs whose means are those of the model, and which deviate by a fifth of a per cent."""
    rows = []
    for number, point in enumerate(points):
        own = np.random.default_rng([number, 7]).normal(1, 0.002, seeds)
        for seed, factor in enumerate(own, 1):
            metrics = {name: value * factor for name, value in model(point).items()}
            assert not metrics.keys() & {*Point._fields}
            rows.append({**point._asdict(), "seed": seed, **metrics})
    return runs_of(pd.DataFrame(rows, columns=None if rows else [*Point._fields, "seed"]))


def planned(quick: bool = False) -> list[Point]:
    points = (point for part in PAPER.parts for point in design.points_of(part, quick))
    return list(dict.fromkeys(points))


def judged(found: Runs[Point]) -> list[Claim]:
    return [claim for part in PAPER.parts.values() for claim in part.claims(found)]


def is_check(id: str) -> bool:
    return id.startswith("check")


def rates(mean: float, pooled: float, mice: float, elephants: float) -> dict[str, float]:
    return dict(zip(RATES, (mean * 1e6, pooled * 1e6, mice * 1e6, elephants * 1e6), strict=True))


def as_published(point: Point) -> dict[str, float]:
    """A network that behaves exactly as the slides say."""
    if point.fast:
        best = (point.slow, point.fast) == (16, 64)
        metrics = rates(10.7, 30.0, 6.0, 60.0) if best else rates(9.0, 25.0, 5.0, 50.0)
        spread = 51.0 if best else 60.0
    else:
        late = math.log10(point.time / 1e-3)
        metrics = rates(6.6 * 0.87**late, 15.0, 4.0 * 0.8**late, 35.0 * 1.18**late)
        spread = 80.0
    if point.recovery != "sack":
        metrics = {name: 0.8 * rate for name, rate in metrics.items()}
    apart = {1: 1.0, 2: 0.63, 4: 0.6, PER_FLOW: 0.3}[point.queues]
    return {
        **metrics,
        **dict.fromkeys(SPREADS, spread * 1e12),
        named.LEAST: 1e4,
        named.MOST: 9e7,
        named.ACTIVE: 700.0,
        named.LOSS: 0.015,
        named.CUT_OFF: 9.0,
        named.SEGMENTS: 10.0,
        named.FLOWS: 2.0,
        named.BURSTS: 20.0,
        named.LOST: 0.4,
        named.LOST_FLOWS: 3e3 * point.time,
        named.WINDOW_DEVIATION: 500 * apart,
        named.WINDOW_RATIO: 4.0,
        named.THROUGHPUT_DEVIATION: 1e7 * apart,
        named.CORRELATION: 1e-3 / point.time if point.time else 0.1,
    }


def changed(where: Callable[[Point], bool], *names: str, factor: float) -> Model:
    """The published network, with other metrics at some points."""

    def model(point: Point) -> dict[str, float]:
        metrics = as_published(point)
        if where(point):
            metrics |= {name: factor * metrics[name] for name in names}
        return metrics

    return model


def timer(time: float) -> Callable[[Point], bool]:
    return lambda point: not point.fast and point.time == time and not point.long_flows


def windows(pair: tuple[int, int] | None = None) -> Callable[[Point], bool]:
    return lambda point: point.fast > 0 and (pair is None or (point.slow, point.fast) == pair)


def queues(number: int, flows: int) -> Callable[[Point], bool]:
    wanted = (number, flows, A_PRIORI)
    return lambda point: (point.queues, point.long_flows, point.allocation) == wanted


def kept_apart(number: int) -> Callable[[Point], bool]:
    wanted = (number, LONG, A_POSTERIORI)
    return lambda point: (point.queues, point.long_flows, point.allocation) == wanted


def test_a_network_as_published_fulfils_every_claim() -> None:
    found = judged(runs(planned(), as_published))
    assert len({claim.id for claim in found}) == len(found)
    wrong = {c.id for c in found if c.verdict is not HOLDS and not is_check(c.id)}
    assert wrong == NOT_MEANT
    assert {one.verdict for one in statements_of(found) if one.origin == "paper"} == {HOLDS}
    ids = [claim.id for claim in (*found, *of_one_flow(2.0, 1.0))]
    forms = [
        re.sub(r"{.*?}", ".*", entry.get("id", name)) + ("-.*" if "readings" in entry else "")
        for name, entry in SHEET.claims.items()
    ]
    assert not [form for form in forms if not any(re.fullmatch(form, id) for id in ids)]


def test_a_point_is_run_as_often_as_the_most_demanding_claim_needs() -> None:
    usual = Point()
    assert sorted(need.seeds for need in design.NEEDS if usual in need.points) == [21, 41]
    assert [design.effort(usual, quick).most for quick in (False, True)] == [41, 2]
    assert design.effort(Point(time=2e-3), quick=False) == design.FULL


EACH = ("mean", "pooled", "mice", "elephants")
BEST = windows((16, 64))
LONG = design.BURSTIFIER.long_flows
# The other meanings of 51: at most one can hold, and in the published network the first does.
NOT_MEANT = {"variation-deviation", "variation-relative"}
# One change to the published network, and the claims that it must overturn.
BROKEN: dict[str, tuple[Model, set[str]]] = {
    "fewer are active": (
        changed(lambda p: p.sizes == "S4", named.ACTIVE, factor=0.5), {"active-S4"}),
    "more are active": (
        changed(lambda p: p.sizes == "S2", named.ACTIVE, factor=2), {"active-S2"}),
    "much is lost": (changed(timer(1e-3), named.LOSS, factor=2), {"loss-S2"}),
    "more of S4 is lost": (
        changed(lambda p: p.sizes == "S4", named.LOSS, factor=2), {"loss-S4"}),
    "elephants want 1 ms, too": (
        changed(timer(1e-3), named.ELEPHANTS, factor=1.4), {"fixed-alike", "averages-hide"}),
    "the mean wants 10 ms": (changed(timer(10e-3), named.MEAN, factor=1.2), {"averages-hide"}),
    "mice want 10 ms": (
        changed(timer(10e-3), named.MICE, factor=1.3), {"fixed-alike", "mice-faster"}),
    "elephants want 10 ms, much": (
        changed(timer(10e-3), named.ELEPHANTS, factor=1.3), {"long-term-same"}),
    **{
        f"another pair is better, {name}": (
            changed(windows((8, 32)), metric, factor=1.3),
            {f"best-pair-{name}", f"searched-pair-{name}"})
        for name, metric in zip(EACH, RATES, strict=True)
    },
    **{
        f"the pair that was added is better, {name}": (
            changed(windows((32, 128)), metric, factor=1.3),
            {f"best-pair-added-{name}", f"searched-pair-{name}"})
        for name, metric in zip(EACH, RATES, strict=True)
    },
    "one that the slides do not have is better": (
        changed(windows((2, 256)), named.MICE, factor=1.3), {"searched-pair-mice"}),
    **{
        f"a timer is better, {name}": (
            changed(timer(5e-3), metric, factor=4.0),
            {f"beats-fixed-{name}", f"windows-beat-timers-{name}"})
        for name, metric in zip(EACH[:2], RATES[:2], strict=True)
    },
    "a timer is better, mice": (
        changed(timer(1e-3), named.MICE, factor=1.8),
        {"beats-fixed-mice", "windows-beat-timers-mice"}),
    "a timer is better, elephants": (
        changed(timer(10e-3), named.ELEPHANTS, factor=1.7),
        {"beats-fixed-elephants", "windows-beat-timers-elephants", "long-term-same"}),
    "8.7 Mb/s": (
        changed(windows(), named.MEAN, factor=0.81), {"mean-10.7"}),
    "variance 40": (changed(windows(), named.VARIANCE, factor=0.8), {"variation-variance"}),
    "timers vary as little": (
        changed(timer(10e-3), named.VARIANCE, factor=0.65), {"variance-improved"}),
    **{
        f"Tahoe is as good, {name}": (
            changed(lambda p: p.recovery == "tahoe", metric, factor=1.25), {f"sack-better-{name}"})
        for name, metric in zip(EACH, RATES, strict=True)
    },
    "two queues do more, windows": (
        changed(queues(2, LONG), named.WINDOW_DEVIATION, factor=0.8), {"queues-2-window"}),
    "two queues do more, throughput": (
        changed(queues(2, LONG), named.THROUGHPUT_DEVIATION, factor=0.8), {"queues-2-throughput"}),
    "four queues do more, windows": (
        changed(queues(4, LONG), named.WINDOW_DEVIATION, factor=0.8), {"queues-4-window"}),
    "four queues do more, throughput": (
        changed(queues(4, LONG), named.THROUGHPUT_DEVIATION, factor=0.8), {"queues-4-throughput"}),
    "queues do nothing on NSFNET": (
        changed(queues(2, 0), named.WINDOW_DEVIATION, factor=1.6), {"queues-2-nsfnet"}),
    "four queues do nothing on NSFNET": (
        changed(queues(4, 0), named.WINDOW_DEVIATION, factor=1.6), {"queues-4-nsfnet"}),
    "flows that lost together are not kept apart": (
        changed(kept_apart(2), named.WINDOW_DEVIATION, factor=1.6),
        {"posteriori-2", "posteriori-beside-priori-2"}),
    "flows that lost together are not kept apart in four": (
        changed(kept_apart(4), named.WINDOW_DEVIATION, factor=1.7),
        {"posteriori-4", "posteriori-beside-priori-4"}),
    "short ones do not synchronise": (
        changed(lambda p: p.time == 1e-3, named.CORRELATION, factor=0.1), {"stronger-short"}),
    "long ones hit no more": (
        changed(lambda p: p.time == 10e-3, named.LOST_FLOWS, factor=0.1), {"fewer-short"}),
    "flows are independent": (
        changed(queues(1, LONG), named.WINDOW_RATIO, factor=0.25), {"losses-synchronise"}),
    "what a burst holds does not count": (
        changed(queues(PER_FLOW, LONG), named.THROUGHPUT_DEVIATION, factor=3.0),
        {"flows-in-a-burst"}),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_network_that_breaks_a_claim_is_found_out(name: str) -> None:
    model, broken = BROKEN[name]
    found = {claim.id: claim.verdict for claim in judged(runs(planned(), model))}
    differs = {id for id, v in found.items() if v is DIFFERS and not is_check(id)}
    assert differs == broken | NOT_MEANT


def better_in_both(point: Point) -> dict[str, float]:
    metrics = as_published(point)
    if (point.slow, point.fast) == (2, 256):
        metrics |= {name: 1.3 * metrics[name] for name in RATES}
        metrics |= {name: 0.7 * metrics[name] for name in SPREADS}
    return metrics


def test_what_is_better_in_both_takes_the_slides_case_off_the_front() -> None:
    found = {claim.id: claim.verdict for claim in judged(runs(planned(), better_in_both))}
    off = {f"on-front-{slug}" for slug, *_ in beyond.FLOWS}
    assert off == {id for id, v in found.items() if v is DIFFERS and id.startswith("on-front")}


@pytest.mark.parametrize(
    ("factor", "holding"),
    [(1.0, 0), (51.0, 1), ((0.51 * 10.7) ** 2 / 51, 2), (0.8, None)],
    ids=["variance", "deviation", "relative", "none"],
)
def test_51_is_one_statement_with_three_readings(factor: float, holding: int | None) -> None:
    model = changed(windows(), named.VARIANCE, factor=factor)
    found = statements_of(judged(runs(planned(), model)))
    (statement,) = (one for one in found if one.id == "variation")
    verdicts = [DIFFERS] * 3
    words = [one.reading for one in statement.readings]
    if holding is None:
        assert statement.verdict is DIFFERS
        assert statement.told == "differs under 3 of 3 readings"
        assert statement.readings[0].measured == pytest.approx(40.8, rel=0.01)
    else:
        verdicts[holding] = HOLDS
        assert statement.verdict is HOLDS
        assert statement.readings[holding].measured == pytest.approx(51, rel=0.01)
        assert statement.told == f"holds under 1 of 3 readings ({words[holding]})"
    assert [one.verdict for one in statement.readings] == verdicts
    assert [one.id for one in statement.readings] == [
        "variation-variance", "variation-deviation", "variation-relative",
    ]  # fmt: skip


def test_every_claim_is_broken_by_some_network() -> None:
    broken = set.union(*(ids for _, ids in BROKEN.values()))
    claims = {claim.id for claim in judged(runs(planned(), as_published))}
    rest = {id for id in claims - broken - NOT_MEANT if not is_check(id)}
    assert rest == {f"on-front-{slug}" for slug, *_ in beyond.FLOWS}, "broken above"


def test_the_values_of_the_prototype_are_met_or_not() -> None:
    columns = {
        "mean": (named.MEAN, 1e6), "variance": (named.VARIANCE, 1e12),
        "segments": (named.SEGMENTS, 1), "flows": (named.FLOWS, 1), "bursts": (named.BURSTS, 1),
        "lost": (named.LOST, 1), "mice": (named.MICE, 1e6), "elephants": (named.ELEPHANTS, 1e6),
    }  # fmt: skip
    values: dict[Point, dict[str, float]] = {}
    for point, row in PROTOTYPE:
        name, unit = columns[row["name"]]
        values.setdefault(point, {})[name] = float(row["value"]) * unit

    def model(factor: float) -> Model:
        return lambda point: (
            as_published(point) | {name: factor * value for name, value in values[point].items()}
        )

    checks = [claim for claim in judged(runs(values, model(1.0))) if is_check(claim.id)]
    assert len(checks) == len(PROTOTYPE) == 23
    assert len({claim.id for claim in checks}) == 23
    assert {claim.verdict for claim in checks} == {HOLDS}
    for claim in checks:
        assert ("in the slow class" in claim.note) == ("(" in claim.statement.split(",")[0])
    window = {claim.id: claim.published for claim in checks if "slow class" in claim.note}
    assert window == {
        "check-mean-4-16-delay": 6.16, "check-mean-8-32-delay": 6.44,
        "check-variance-8-32-delay": 86.7, "check-mean-16-64-delay": 6.81,
        "check-mean-32-128-delay": 7.33,
    }  # fmt: skip
    off = judged(runs(values, model(1.2)))
    assert {claim.verdict for claim in off if is_check(claim.id)} == {DIFFERS}
    assert set(values) <= set(planned()), "are run"


def test_a_preview_says_that_it_is_one_and_nothing_of_the_prototype() -> None:
    found = judged(runs(planned(quick=True), as_published))
    assert not any(is_check(claim.id) for claim in found)
    assert all("A preview: 6 s in place of 20 s" in claim.note for claim in found)
    verdicts = {claim.id: claim.verdict for claim in found}
    assert verdicts["mean-10.7"] is verdicts["queues-2-window"] is HOLDS
    full = judged(runs(planned(), as_published))
    assert not any("preview" in claim.note for claim in full)


def test_the_best_point_is_one_that_was_run() -> None:
    assert runs([Point()], as_published).best([Point(time=1e-3), Point()]) == Point()


def test_without_runs_nothing_is_comparable() -> None:
    assert {claim.verdict for claim in judged(runs([], as_published))} == {OPEN}


# One flow for each assembly time.


def one_flow(rises: float, faster: float) -> dict[str, pd.DataFrame]:
    """Tables in which 10 ms takes longer to a high window by a given factor, and 1 ms is faster."""
    windows, progress = [], []
    for panel, late, rate in (("T = 1 ms", 1.0, faster), ("T = 5 ms", 1.2, 1.0),
                              ("T = 10 ms", rises, 1.0)):  # fmt: skip
        time = np.array([0.1, 0.5, 1.0]) * late
        columns = {"time_s": time, "window_segments": [2, 64, 90], "throughput_bps": 1e6}
        windows.append(pd.DataFrame({**columns, "panel": panel}))
        heard = pd.DataFrame({"time_s": [0.013, 0.026, 2.6], "segments": [1.0, 3.0, 400 * rate]})
        progress.append(heard.assign(panel=panel))
    return {records.BINS: pd.concat(windows), records.PROGRESS: pd.concat(progress)}


def of_one_flow(rises: float, faster: float) -> list[Claim]:
    return records.claims(["traces"], one_flow(rises, faster))


def test_one_flow_is_measured_and_decides_nothing() -> None:
    for rises, faster in ((2.0, 1.0), (1.05, 0.7)):
        found = of_one_flow(rises, faster)
        assert [claim.measured for claim in found] == pytest.approx([rises, faster])
        assert [claim.verdict for claim in found] == [OPEN, OPEN]
        assert all(claim.criterion == "none: one flow is chance" for claim in found)
        assert not any("more seeds" in claim.note for claim in found)
        assert ["mice-faster" in found[0].note, "long-term-same" in found[1].note] == [True, True]
    low = one_flow(2.0, 1.0)
    low[records.BINS]["window_segments"] /= 2
    assert records.claims(["traces"], low)[0].measured is None, "the window is never high"
    assert records.claims(["senders"], {}) == []


def test_a_distribution_is_the_share_with_at_least_so_many() -> None:
    assert at_least([4, 1, 2], [1, 2, 1]) == {1.0: 1.0, 2.0: 0.5, 4.0: 0.25}
    many = at_least(np.arange(1, 10_001), np.ones(10_000))
    assert len(many) < 250
    assert all(share == pytest.approx((10_001 - n) / 1e4) for n, share in many.items())


# The planned runs and figures.


def test_the_default_point_is_the_scenario() -> None:
    assert base().with_(Point().settings()).to_dict() == base().to_dict()


def test_a_point_says_all_that_it_sets() -> None:
    window = base().with_(window_based(8, 32)._replace(sizes="S4", ingress="lose").settings())
    switching = window.to_dict()["switching"]
    assembly = switching["assembly"]
    assert (assembly["kind"], assembly["medium_window"], assembly["fast_window"]) == (
        "window-based", 8, 32)  # fmt: skip
    assert switching["ingress"] == "lose"
    assert window.to_dict()["workload"]["size"]["truncated_mean"] == "700 kB"
    several = Point(queues=4, recovery="tahoe", measured=6.0)
    values = base().with_(several.settings()).to_dict()
    assert values["switching"]["assembly"]["allocation"] == {"kind": "a-priori", "queues": 4}
    assert values["switching"]["assembly"]["time"] == "5 ms"
    assert values["transport"]["recovery"]["kind"] == "tahoe"
    times = ("warm_up", "until", "time_limit")
    assert [values["measurement"][name] for name in times] == ["3 s", "9 s", "12 s"]
    assert values["workload"]["duration"] == "12 s"


def test_long_flows_go_through_one_burstifier() -> None:
    point = design.BURSTIFIER._replace(queues=PER_FLOW, measured=24.0)
    scenario = base().with_(point.settings())
    values = scenario.to_dict()
    assert values["topology"]["kind"] == "obs-path"
    assert values["topology"]["host_pairs"] == 25
    assert values["loss"]["probability"] == 1e-2
    assert values["switching"]["assembly"]["allocation"] == {"kind": "per-flow"}
    measurement = values["measurement"]
    assert (measurement["warm_up"], measurement["time_limit"]) == ("0 s", "36 s")
    assert measurement["bursts"]["begin"] == measurement["synchronisation"]["begin"] == "12 s"
    assert scenario.measurement.until is None


@pytest.mark.parametrize("point", [Point(measured=0.4), Point(long_flows=3, p=0.1, measured=2.0)])
def test_a_run_has_every_figure_that_is_judged(point: Point) -> None:
    found = simulate(base().with_(point.settings()), 1).record
    assert as_published(point).keys() - {named.DEVIATION, named.VARIATION} <= found.keys()
    assert found[named.SEGMENTS]
    assert found[named.WINDOW_DEVIATION]
    if point.p:
        assert found[named.LOST_FLOWS]
    else:
        assert found[named.MEAN]


@pytest.mark.parametrize("quick", [True, False])
def test_all_figures_show_what_was_run(quick: bool) -> None:
    found = runs(planned(quick), as_published, seeds=2)
    drawn = {f.id: f for part in PAPER.parts.values() for f in part.figures(found, "0.0.0")}
    assert set(drawn) == {
        "mean-segments", "mean-flows", "window-mean", "window-variance", "window-statistics",
        *(f"throughput-{name}" for name in ("mean", "variance", "extremes", "classes")),
        "senders", "queues", "synchronisation-correlation", "synchronisation-hit",
        "search", "front", "front-mice", "front-elephants",
    }  # fmt: skip
    assert all(len(figure.data) for figure in drawn.values())
    mean = drawn["throughput-mean"]
    assert isinstance(mean, Figure)
    assert set(mean.data["x"]) == {1.0, 2.0, 5.0, 10.0, 20.0}
    assert mean.data.set_index(["colour", "x"])["y"]["mean over flows", 1.0] == pytest.approx(
        6.6, rel=0.01)  # fmt: skip
    length = "6 s, after 3 s" if quick else "20 s, after 10 s"
    assert f"within {length} of warm-up; 2 runs a point" in mean.caption
    tables = {t.id: t.data for part in PAPER.parts.values() for t in part.tables(found)}
    assert tables["best"].set_index(["statistic", "of"])["best"].loc[
        ("mean over flows", "(B, C)")
    ] == "(16, 64)"  # fmt: skip
    assert set(tables["operating"]["sizes"]) == ({"S2"} if quick else {"S2", "S4"})
    assert tables["operating"]["active flows"].astype(float).tolist() == pytest.approx(
        [700] * len(tables["operating"]), rel=0.01)  # fmt: skip


def test_single_runs_are_drawn_one_below_the_other() -> None:
    table = pd.DataFrame({"time_s": [0.0, 0.013], "window_segments": [1.0, 2.0],
                          "throughput_bps": [1e6, 2e6]})  # fmt: skip
    aggregate = pd.concat([table.assign(panel=panel) for panel in ("one", "two")])
    counted = pd.DataFrame({"number": [1, 2], "bursts": [3, 1]})
    distributions = pd.concat(
        counted.assign(counted=name, panel=f"T = {time} ms")
        for name in ("segments", "flows", "bursts", "bursts_lost")
        for time in (1, 5, 10)
    )
    recorded = {
        **one_flow(2.0, 1.0),
        records.AGGREGATE: aggregate,
        records.DISTRIBUTIONS: distributions,
    }
    drawn = {figure.id: figure for figure in records.figures(PAPER.default, recorded, "0.0.0")}
    assert set(drawn) == {
        "trace-window", "trace-sequence", "trace-efficient", "aggregate-window",
        "aggregate-throughput", "distribution-segments", "distribution-flows",
        "distribution-bursts", "distribution-bursts-lost",
    }  # fmt: skip
    window, throughput = drawn["trace-window"], drawn["aggregate-throughput"]
    assert isinstance(window, Packets)
    assert not window.alike, "the window of one may be ten times that of another"
    assert window.panels == ("T = 1 ms", "T = 5 ms", "T = 10 ms")
    assert isinstance(throughput, Packets)
    assert throughput.alike
    assert throughput.data["packet"].tolist() == [1.0, 2.0, 1.0, 2.0]


def test_the_closed_form_of_several_queues() -> None:
    assert law(25, 1) == 1.0
    assert law(25, PER_FLOW) == pytest.approx(0.2)
    assert law(10**9, 4) == pytest.approx(0.5)
