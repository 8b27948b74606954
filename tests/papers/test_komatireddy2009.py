"""Each claim about komatireddy2009 must be able to hold and to fail; its points are scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pytest

from lightburst.papers import PAPERS
from lightburst.papers.claims import Claim, Verdict
from lightburst.papers.figure import Figure
from lightburst.papers.komatireddy2009 import design
from lightburst.papers.komatireddy2009.best import NAMES, best_map
from lightburst.papers.komatireddy2009.claims import (
    SHEET,
    beyond_claims,
    figure_claims,
)
from lightburst.papers.komatireddy2009.points import PAPER_TRANSFER, PROTOTYPE, Point, base, runs_of
from lightburst.papers.runs import Runs

HOLDS, DIFFERS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.NOT_COMPARABLE
PAPER = PAPERS["komatireddy2009"]
# Completion time in seconds, and false fast retransmissions of a flow.
Model = Callable[[Point], tuple[float, float]]


# A model that gives more false fast retransmissions also loses bursts.
LOSING = 1e6


def runs(points: Iterable[Point], model: Model, seeds: int = 4) -> Runs[Point]:
    """Runs whose mean is that of the model, and which deviate by a fifth of a per cent."""
    rows = []
    for number, point in enumerate(points):
        own = np.random.default_rng([number, 7]).normal(1, 0.002, seeds)
        time, false = model(point)
        for seed, factor in enumerate(own, 1):
            lost = point.channels < 4 or false > LOSING
            rows.append((*point, seed, time * factor, 10 * false * factor, 10, 0.1 * lost))
    columns = ["seed", "completion_time_mean_s", "false_fast_retransmits", "flows", "burst_loss"]
    return runs_of(pd.DataFrame(rows, columns=[*Point._fields, *columns]))


def planned(quick: bool = False) -> list[Point]:
    points = (point for part in PAPER.parts for point in design.points_of(part, quick))
    return list(dict.fromkeys(points))


def judged(found: Runs[Point]) -> list[Claim]:
    of_figures = [claim for part in design.FIGURES for claim in figure_claims(part, found)]
    return [*of_figures, *beyond_claims(found)]


def is_check(id: str) -> bool:
    return id.startswith("check")


SLOW = {0.0: 84.0, 1e-3: 170.0, 5e-3: 200.0, 10e-3: 240.0, 20e-3: 260.0, 30e-3: 280.0, 50e-3: 340.0}
ORDERED = {0.0: 84.0, 1e-5: 90.0, 1e-4: 105.0, 1e-3: 1000.0, 1e-2: 3000.0}
WITHOUT = {0.0: 340.0, 1e-5: 330.0, 1e-4: 320.0, 1e-3: 1060.0, 1e-2: 3000.0}


def as_published(point: Point) -> tuple[float, float]:
    """A network that behaves exactly as the paper says."""
    law, remedy, delta, burst, loss, *_ = point
    false = 0.0
    alone = remedy in ("none", "segmentation", "deflection")
    if not alone:
        time = ORDERED[loss] + (20.0 if law == "FAST" else 0.0)
        if remedy == "destination" and loss:
            time *= 1.2
    elif loss:
        time = WITHOUT[loss]
        false = 100.0 if loss < 5e-3 else 0.0
    else:
        time = SLOW[min(delta, 30e-3) if law == "CUBIC" else delta]
        false = 100 * (100e3 / burst) ** 0.5 if delta else 0.0
        if law == "FAST":
            time *= 1 + 2 * delta / 50e-3
        else:
            time *= (100e3 / burst) ** 0.2
    if law == "FAST":
        time *= (burst / 100e3) ** 0.1
        if loss == 1e-2:
            time = 1300.0 if remedy == "none" else 1200.0
    if point.window > PAPER_TRANSFER.window:
        time *= 1.2
    if point.channels < 4 and remedy not in ("none", "source"):
        time *= 1 / 1.3 if alone else 1.3
    return time, false


def changed(
    where: Callable[[Point], bool], factor: float = 1.0, false: float | None = None
) -> Model:
    """The published network, with another time or number at some points."""

    def model(point: Point) -> tuple[float, float]:
        time, published = as_published(point)
        if not where(point):
            return time, published
        return factor * time, published if false is None else false

    return model


def at(remedy: str, *laws: str, **values: float) -> Callable[[Point], bool]:
    """Points with this remedy, these laws (by default all), and these values."""
    return lambda point: (
        point.remedy == remedy
        and (not laws or point.law in laws)
        and all(getattr(point, name) == value for name, value in values.items())
    )


def test_a_network_as_published_fulfils_every_claim() -> None:
    found = judged(runs(planned(), as_published))
    assert len({claim.id for claim in found}) == len(found)
    assert {c.id for c in found if c.verdict is not HOLDS and not is_check(c.id)} == set()
    ids = [claim.id for claim in found]
    forms = [re.sub(r"{.*?}", ".*", entry.get("id", name)) for name, entry in SHEET.claims.items()]
    unused = [form for form in forms if not any(re.fullmatch(form, id) for id in ids)]
    assert all(is_check(form) for form in unused)


def in_order(point: Point) -> bool:
    return point.remedy in design.IN_ORDER[1:]


LIKE = ("HighSpeed", "CUBIC")
# One change to the published network, and the claims that it must overturn.
BROKEN: dict[str, tuple[Model, set[str]]] = {
    "false with SO, HighSpeed": (
        changed(at("source", "HighSpeed", delta=10e-3), false=0.1), {"no-false-fig3"}),
    "false with SO, 50 ms": (
        changed(at("source", "HighSpeed", delta=50e-3, loss=0.0), false=0.1),
        {"no-false-fig3", "no-false-fig5"}),
    "false with SO, bursts": (
        changed(at("source", "HighSpeed", burst=200e3), false=0.1), {"no-false-fig4"}),
    "false with SO, CUBIC": (
        changed(at("source", "CUBIC", burst=200e3), false=0.1), {"no-false-fig6"}),
    "false with SO, FAST": (
        changed(at("source", "FAST", delta=50e-3, loss=0.0), false=0.1), {"no-false-fig7"}),
    "a gain of 2.5": (
        changed(lambda p: in_order(p) and not p.loss, 1.6),
        {"gain-300", "gain-300-value", "gain-400"}),
    "a gain of 3.4": (
        changed(lambda p: in_order(p) and not p.loss, 1.2), {"gain-400"}),
    "a gain of 6": (
        changed(lambda p: in_order(p) and not p.loss, 1 / 1.5), {"gain-300-value"}),
    "in order at 1 ms": (
        changed(at("none", "HighSpeed", delta=1e-3), false=0.5), {"reorders-1ms"}),
    "no slower at 1 ms": (changed(at("none", delta=1e-3), 0.5), {"slower-1ms"}),
    "SO is slow with large bursts": (
        changed(at("source", burst=400e3), 1.2), {"burst-little-so"}),
    "bursts change nothing": (
        lambda p: changed(at("none", *LIKE), (p.burst / 100e3) ** 0.2)(p), {"burst-effect"}),
    "large bursts are reordered more": (
        lambda p: changed(at("none", loss=0.0), false=p.burst / 1e3 if p.delta else 0.0)(p),
        {"burst-fewer-false"}),
    "no gain at low loss": (
        changed(lambda p: p.remedy == "none" and 0 < p.loss < 5e-4, 0.5), {"loss-gain-300"}),
    "120 s more": (
        changed(at("none", *LIKE, loss=1e-3), 1.06), {"loss-60s", "loss-6-percent"}),
    "three times as slow": (changed(lambda p: p.loss == 1e-3, 3.0), {"loss-60s"}),
    "60 s of 550 s": (
        lambda p: ((610.0 if p.remedy == "none" else 550.0), 1.0)
        if p.loss == 1e-3 and p.remedy in design.ORDERINGS else as_published(p),
        {"loss-6-percent"}),
    "a gain at high loss": (changed(at("none", *LIKE, loss=1e-2), 1.2), {"loss-little-gain"}),
    "a limit of the window that does not count": (
        changed(lambda p: p.window > PAPER_TRANSFER.window, 1 / 1.2), {"unlimited-window"}),
    "reordering at high loss": (
        changed(at("none", "HighSpeed", loss=1e-2), false=5.0), {"loss-no-reordering"}),
    "CUBIC is slow at 10 ms": (
        changed(at("none", "CUBIC", delta=10e-3), 1.5), {"cubic-similar-delta"}),
    "CUBIC is slow with large bursts": (
        changed(at("none", "CUBIC", burst=200e3), 1.5), {"cubic-similar-burst"}),
    "CUBIC is slow with losses": (
        changed(at("source", "CUBIC", loss=1e-4), 1.5),
        {"cubic-similar-loss"}),
    "HighSpeed rises no more": (
        changed(at("none", "HighSpeed", delta=30e-3), 1.2), {"highspeed-rise"}),
    "CUBIC rises on": (
        changed(at("none", "CUBIC", delta=50e-3, loss=0.0), 1.3), {"cubic-no-rise"}),
    "FAST is no slower at 1 ms": (
        changed(lambda p: p.law == "FAST" and in_order(p) and p.delta == 1e-3, 0.81),
        {"fast-so-slower"}),
    "FAST is far slower at 50 ms": (
        changed(lambda p: p[:3] in {("FAST", o, 50e-3) for o in ("source", "destination", "rr-tcp")}
                and not p.loss, 1.5),
        {"fast-so-not-much-slower"}),
    "FAST is better at 1 ms": (changed(at("none", "FAST", delta=1e-3), 0.5), {"fast-worse"}),
    "FAST is half as slow": (
        changed(at("none", "FAST", delta=50e-3, loss=0.0), 0.5), {"fast-three-times"}),
    "large bursts are good for FAST": (
        lambda p: changed(at("none", "FAST"), (100e3 / p.burst) ** 0.2)(p), {"fast-bursts"}),
    "FAST is slow at high loss": (
        changed(lambda p: p.law == "FAST" and p.loss == 1e-2, 4.0),
        {"fast-high-loss-highspeed", "fast-high-loss-cubic"}),
    "FAST needs no order at high loss": (
        changed(at("none", "FAST", loss=1e-2), 1 / 1.1), {"fast-so-high-loss"}),
    "the destination is slow": (
        changed(at("destination", delta=10e-3), 1.2), {"as-good-destination"}),
    "RR-TCP is slow": (changed(at("rr-tcp", delta=10e-3), 1.2), {"as-good-rr-tcp"}),
    "all channels contend": (
        changed(at("rr-tcp", "FAST", delta=10e-3, channels=4), false=2 * LOSING),
        {"contention-none"}),
    "the destination loses nothing": (
        changed(lambda p: p.remedy == "destination" and p.channels < 4, 1 / 1.3),
        {"contention-destination"}),
    "RR-TCP loses nothing": (
        changed(lambda p: p.remedy == "rr-tcp" and p.channels < 4, 1 / 1.3), {"contention-rr-tcp"}),
    "segmentation saves nothing": (changed(at("segmentation"), 1.3), {"segmentation-helps"}),
    "deflection saves nothing": (changed(at("deflection"), 1.3), {"deflection-helps"}),
    "the destination is not slow with losses": (
        changed(lambda p: p.remedy == "destination" and p.loss > 0, 1 / 1.2),
        {f"destination-recovers-later-{law}" for law in ("highspeed", "cubic", "fast")}),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_network_that_breaks_a_claim_is_found_out(name: str) -> None:
    model, broken = BROKEN[name]
    found = {claim.id: claim.verdict for claim in judged(runs(planned(), model))}
    assert {id for id, v in found.items() if v is DIFFERS and not is_check(id)} == broken


def test_every_claim_is_broken_by_some_network() -> None:
    broken = set.union(*(ids for _, ids in BROKEN.values()))
    claims = {claim.id for claim in judged(runs(planned(), as_published))}
    assert {id for id in claims - broken if not is_check(id)} == set()


def test_the_values_of_the_prototype_are_met_or_not() -> None:
    value = {check.point: (check.completion, check.false or 0.0) for check in PROTOTYPE}
    checks = [c for c in judged(runs(value, value.__getitem__)) if is_check(c.id)]
    assert len(checks) == 30 + 18
    assert {claim.verdict for claim in checks} == {HOLDS}
    off = judged(runs(value, lambda p: (1.4 * value[p][0], 1.4 * value[p][1] + 1)))
    assert {c.verdict for c in off if is_check(c.id)} == {DIFFERS}
    assert {check.point for check in PROTOTYPE if not check.point.loss} & set(planned()), "are run"


def test_small_files_say_nothing_of_seconds_and_nothing_of_the_prototype() -> None:
    found = {claim.id: claim for claim in judged(runs(planned(quick=True), as_published))}
    seconds = {"loss-60s", "fast-so-slower", "fast-so-not-much-slower"}
    assert {id for id, claim in found.items() if claim.verdict is not HOLDS} == seconds
    assert all(found[id].measured is None for id in seconds)
    assert not any(is_check(id) for id in found)
    assert "Ten flows of 100 MB, windows of at most 2,000" in found["gain-300"].note
    full = judged(runs(planned(), as_published))
    assert not any("preview" in claim.note for claim in full)


def test_without_runs_nothing_is_comparable() -> None:
    assert {claim.verdict for claim in judged(runs([], as_published))} == {OPEN}


# The planned runs.


def test_a_point_says_all_that_it_sets() -> None:
    point = Point("CUBIC", "source", 20e-3, 200e3, 1e-3, 50e6, 2000, 5e9, 10e-3, 2)
    values = base().with_(point.settings()).to_dict()
    lengths = {
        (link["source"], link["target"]): link.get("length") for link in values["topology"]["links"]
    }
    assert values["topology"]["link_length"] == "2000 km"  # 10 ms
    assert lengths["C", "E"] == "6000 km"  # 10 ms and 20 ms
    assert lengths["B", "D"] is None
    assert lengths["s0", "A"] == lengths["F", "d9"] == "200 km"
    assert values["routing"]["label"]["capacity"] == "5 Gb/s"
    assert values["switching"]["ordering"]["kind"] == "source"
    assert values["switching"]["assembly"]["max_size"] == "200 kB"
    assert values["loss"]["probability"] == 1e-3
    law = values["transport"]["congestion_control"]
    assert (law["kind"], law["beta"], law["reduces"]) == ("cubic", 0.8, "window")
    assert values["workload"]["size"]["value"] == "50 MB"
    assert values["transport"]["advertised_window"] == 2000
    assert values["topology"]["wavelengths"] == 2
    cut = base().with_(point._replace(remedy="segmentation").settings()).to_dict()["switching"]
    assert [resolver["kind"] for resolver in cut["contention"]] == ["segmentation"]
    assert "ordering" not in cut or cut["ordering"]["kind"] == "none"


def test_points_that_need_more_runs_have_them() -> None:
    needed = {point: need.seeds for need in design.NEEDS for point in need.points}
    assert len(needed) == sum(len(need.points) for need in design.NEEDS), "each stands once"
    found = {}
    for block in PAPER.blocks(PAPER.default, False):
        for row in block.labels.itertuples(index=False):
            assert Point(*row) not in found
            found[Point(*row)] = block.stopping, len(block.study.seeds)
    assert {point: found[point] for point in needed} == {p: (None, n) for p, n in needed.items()}
    others = {of for point, of in found.items() if point not in needed}
    assert [seeds for stopping, seeds in others if stopping] == [design.FULL.most]
    ids = {claim.id for claim in judged(runs(planned(), as_published))}
    named = {
        word for need in design.NEEDS for word in re.findall(r"[a-z0-9]+-[a-z0-9-]+", need.why)
    }
    assert all(any(id.startswith(word) for id in ids) for word in named)


def test_the_default_point_is_the_scenario() -> None:
    point = Point("HighSpeed", "none")
    assert base().with_(point.settings()).to_dict() == base().to_dict()


@pytest.mark.parametrize("quick", [True, False])
def test_all_figures_show_what_was_run(quick: bool) -> None:
    found = runs(planned(quick), as_published, seeds=2)
    drawn = {
        figure.id: figure
        for part in PAPER.parts.values()
        for figure in part.figures(found, "0.0.0")
        if isinstance(figure, Figure)
    }
    assert {id for id in drawn if not id.startswith("beyond")} == {
        "fig3a", "fig3b", "fig4a", "fig4b", "fig5a", "fig5b",
        *(f"fig{n}{panel}{rest}" for n in "67" for panel in "abc" for rest in ("", "-false")),
    }  # fmt: skip
    fig3 = drawn["fig3a"]
    without = fig3.data[fig3.data["dash"] == NAMES["none"]].set_index("x")["y"]
    assert without[50.0] == pytest.approx(340.0, rel=0.02)
    assert drawn["fig4b"].data["x"].max() == 400.0
    assert ", 4 wavelengths. 2 runs a point (seeds from 1 on); bars" in fig3.caption
    lossy = drawn["fig5a"]
    assert lossy.x_log and lossy.y_log and lossy.data["x"].min() > 0
    orderings = {NAMES[remedy] for remedy in design.IN_ORDER}
    assert set(drawn["beyond-fast-delta"].dashes) == orderings
    assert set(drawn["beyond-fast-channels"].dashes) == set(NAMES.values())


# The best remedy by setting.


def test_the_map_has_the_best_remedies_and_those_that_are_as_good() -> None:
    drawn = best_map(runs(planned(), as_published), "0.0.0").data
    assert len(drawn) == len(design.BEYOND_LAWS) * 3 * (3 + 2)
    best = {(row["y"], row["x"]): row for row in drawn.to_dict("records")}
    slow = best["HighSpeed, 50 ms", "p = 0"]
    assert slow["words"].startswith("SO, DO, RR\n4.05 (4.0")
    assert slow["value"] == pytest.approx(340 / 84, rel=0.01)
    assert best["HighSpeed, 50 ms", "p = 0.001"]["words"].startswith("SO, RR\n1.06")
    assert best["FAST, 10 ms", "W = 2"]["words"].startswith("SO\n")


def test_where_nothing_is_known_to_help_the_map_says_so() -> None:
    alike = best_map(runs(planned(), lambda point: (100.0, 0.0)), "0.0.0").data
    assert set(alike["words"]) == {"no difference"}
    assert set(alike["value"]) == {1.0}
    places = [p for p in planned() if p.window != PAPER_TRANSFER.window]
    noise = iter(np.random.default_rng(1).normal(1.0, 0.3, 10 * len(places)))
    rows = [(*p, seed, 100 / (1 + (p.remedy != "none")) * abs(next(noise)), 0.0, 10, 0.0)
            for p in places for seed in (1, 2, 3)]  # fmt: skip
    names = ["seed", "completion_time_mean_s", "false_fast_retransmits", "flows", "burst_loss"]
    wide = best_map(runs_of(pd.DataFrame(rows, columns=[*Point._fields, *names])), "0.0.0").data
    assert (wide["words"] == "no difference").any(), "the interval reaches down to nothing"
    told = wide[wide["words"] != "no difference"]["words"]
    assert told.str.contains(",").any(), "no remedy is known to be better than the other"
