"""The figures of papers: all curves named, no point hidden, the page equal to the print."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.legend import Legend

import lightburst as lb
from lightburst.papers import overlay
from lightburst.papers.curves import at_least
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.papers.minakhmetov2018 import beyond
from lightburst.plots import interactive, static, style
from lightburst.plots.charts import contents, curves, maps
from lightburst.report.run_page import run_page
from lightburst.simulation.simulate import simulate
from lightburst.study.statistics import Interval
from lightburst.trace import series

LOSSES = [10**-4, 10**-3.5, 10**-3, 10**-2.5, 10**-2, 10**-1.5, 10**-1]
WORDS: dict[str, Any] = {"id": "a", "title": "A title", "caption": "A caption.",
                         "x_label": "x", "y_label": "y"}  # fmt: skip


def seven_rates() -> Figure:
    """Data like that of figures 5 to 7 of yu2004: seven loss rates, simulation and theory."""
    places = [
        overlay.Beside(time, p, Interval(y, 0.9 * y, 1.1 * y, 5), 1.2 * y)
        for p in LOSSES
        for time in (1e-4, 1e-3, 1e-2, 1e-1)
        for y in (1 / (time + p),)
    ]
    return overlay.curves(places, "p = {:.2g}".format, legends=("Loss", "Source"), **WORDS)


def names_of(figure: Figure) -> list[str]:
    canvas = static.draw([figure])
    canvas.draw_without_rendering()
    wide, high = canvas.get_size_inches() * canvas.dpi
    for legend in canvas.findobj(Legend):
        box = legend.get_window_extent()
        assert min(box.x0, box.y0, wide - box.x1, high - box.y1) >= -0.5, "on the canvas"
    return [
        text.get_text().replace("\n", " ")
        for legend in canvas.findobj(Legend)
        for text in legend.get_texts()
    ]


def figures() -> list[Figure]:
    first = seven_rates()
    printed = first.beside("published", [(first.colours[0], 1e-2, 50.0), ("", 1e-1, 9.0)])
    alone = replace(
        printed, colours=first.colours[:1], data=printed.data[printed.data["colour"] ==
                                                              first.colours[0]]
    )  # fmt: skip
    return [first, printed, alone]


@pytest.mark.parametrize("place", range(3))
def test_the_page_names_what_the_print_names(place: int) -> None:
    figure = figures()[place]
    keys = interactive.legend(figure)
    assert sorted(names_of(figure)) == sorted(key.words for key in keys)
    assert json.dumps(interactive.chart(figure), allow_nan=False)


def test_all_seven_rates_have_names_and_colours_from_dark_to_bright() -> None:
    figure = seven_rates()
    assert names_of(figure)[:7] == [f"p = {p:.2g}" for p in LOSSES]
    (axes,) = static.draw([figure]).axes
    drawn = [line for line in axes.lines if len(np.atleast_1d(line.get_xdata())) == 4]
    simulated = [line for line in drawn if line.get_marker() != "none"]
    assert len(simulated) == 7
    assert len({line.get_marker() for line in simulated}) == 7
    assert len(drawn) == 14, "theory is lines alone"
    grey = [sum(to_rgb(str(line.get_color()))) for line in simulated]
    assert grey == sorted(grey)


def test_what_is_published_is_markers_without_a_line_and_one_of_no_curve_a_cross() -> None:
    figure = figures()[1]
    (axes,) = static.draw([figure]).axes
    loose = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert [line.get_marker() for line in loose] == ["o", "X"]
    assert {line.get_markeredgecolor() for line in loose} == {style.BLACK}
    assert figure.measured["dash"].isin([overlay.SIMULATED, "published"]).all()
    assert figure.beside("nobody", []) is figure


def test_equal_numbers_from_elsewhere_stand_beside_each_other() -> None:
    first = seven_rates()
    printed = [(colour, 1e-2, 50.0) for colour in first.colours[:2]]
    (axes,) = static.draw([first.beside("published", printed)]).axes
    loose = [line for line in axes.lines if line.get_linestyle() == "None"]
    across = [line.get_transform().transform((1e-2, 50.0))[0] for line in loose]
    assert across[1] - across[0] >= 4 * axes.figure.dpi / 72


def test_heights_between_which_nothing_is_are_cut_out() -> None:
    rows = [
        (switch, "p = 4", x, y, 0.99 * y, 1.01 * y, 5)
        for switch, y in (("hybrid, ne = 2", 0.5), ("electronic", 5.0))
        for x in (1e4, 1e5)
    ]
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    figure = Figure(**WORDS, colours=("hybrid, ne = 2", "electronic"), dashes=("p = 4",), data=data)
    cut = beyond._cut(figure)
    assert cut is not None
    assert 0.505 < cut[0] < cut[1] < 4.95
    over, under = static.draw([replace(figure, cut=cut)]).axes
    assert under.get_ylim()[1] == pytest.approx(cut[0])
    assert over.get_ylim()[0] == pytest.approx(cut[1])
    low = replace(figure, data=data.assign(y=0.5, low=0.49, high=0.51))
    assert beyond._cut(low) is None
    charts = interactive.chart(replace(figure, cut=cut))["vconcat"]
    assert len(charts) == 2


def test_curves_that_lie_on_each_other_are_all_seen() -> None:
    rows = [(switch, "", x, 1.0, 0.9, 1.1, 5) for switch in "abc" for x in (1.0, 10.0, 100.0)]
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    figure = Figure(**WORDS, colours=tuple("abc"), dashes=("",), data=data)
    (axes,) = static.draw([figure]).axes
    assert [line.get_markersize() for line in axes.lines] == sorted(
        (line.get_markersize() for line in axes.lines), reverse=True
    )
    moved = [line.get_transform().transform((1.0, 1.0))[0] for line in axes.lines]
    assert len(set(np.round(moved, 2))) == 3, "their intervals stand beside each other"
    assert max(moved) - min(moved) < 7 * axes.figure.dpi / 72
    assert curves._apart(replace(figure, intervals="bands"), []) == {}


def test_a_map_has_powers_and_a_lost_packet_one_colour() -> None:
    assert [maps.tick(x) for x in (1e-4, 10**-3.5, "SO")] == ["10⁻⁴", "3.2·10⁻⁴", "SO"]
    assert maps.shown([1e-4, 10**-3.5, 1e-3]) == [1e-4, 1e-3]
    assert maps.shown([0.2, 0.3]) == [0.2, 0.3]
    assert style.colours(series.KINDS)[series.KINDS.index("lost")] == style.BLACK


def test_what_bursts_carry_is_steps() -> None:
    table = pd.DataFrame(
        [("made", "segments", 0, 9), ("made", "segments", 1, 2), ("made", "segments", 3, 2),
         ("lost", "segments", 3, 1), ("made", "flows", 1, 4)],
        columns=["fate", "counted", "number", "bursts"],
    )  # fmt: skip
    segments, flows = contents.figures(table)
    assert segments.steps == "pre"
    assert segments.colours == ("made", "lost"), "none was cut"
    rows = segments.data[segments.data["colour"] == "made"]
    assert dict(zip(rows["x"], rows["y"], strict=True)) == {1.0: 1.0, 3.0: 0.5}
    assert flows.id == "burst-flows"
    # Half a flow is no tick.
    assert '"tickMinStep": 1' in json.dumps(interactive.chart(flows))
    assert '"tickMinStep": 1' not in json.dumps(
        interactive.chart(replace(flows, data=flows.data.assign(x=0.5)))
    )
    own = pd.DataFrame({"acknowledged_s": [1.0, 2.0, np.inf], "bursts": [1, 3, 9],
                        "bursts_lost": [0, 1, 9]})  # fmt: skip
    needed, lost = contents.of_flows({"": own})
    assert needed.data[["x", "y"]].to_numpy().tolist() == [[1.0, 1.0], [3.0, 0.5]]
    assert lost.data[["x", "y"]].to_numpy().tolist() == [[0.0, 1.0], [1.0, 0.5]]
    assert list(contents.of_flows({"": own.assign(acknowledged_s=np.inf)})) == []
    assert at_least([5], [2]) == {5.0: 1.0}


def test_the_page_of_a_run_has_the_distributions_of_its_bursts(tmp_path: Path) -> None:
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "nsfnet"},
            "routing": {"metric": "delay"},
            "switching": {"kind": "obs", "assembly": {"kind": "timer", "time": "2 ms"}},
            "transport": {"kind": "tcp", "preset": "wide-area"},
            "workload": {
                "kind": "poisson",
                "arrival_rate_per_edge": "20 /s",
                "duration": "0.2 s",
                "size": {"kind": "constant", "value": "50 kB"},
            },
            "measurement": {"bursts": {}},
        }
    )
    simulate(scenario, 1).save(tmp_path / "run")
    page = run_page(tmp_path / "run", explained=0)
    for id in ("completion", "burst-segments", "burst-flows", "flow-bursts", "flow-bursts-lost"):
        assert f'<figure id="{id}"' in page
    assert "step-after" in page
    assert "step-before" in page
