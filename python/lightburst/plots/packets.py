"""Packets as dots, time against number: for print by matplotlib, for the page by Altair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import pandas as pd
from matplotlib.lines import Line2D

from lightburst.plots import style, vega
from lightburst.plots.sheet import MOST_DOTS

if TYPE_CHECKING:
    from lightburst.papers.figure import Packets
    from lightburst.plots.sheet import Sheet

_WIDTH: Final = 8.6  # inches
_PANEL: Final = 2.1
_MARKERS: Final = ("o", "^", "x", "s")
_VEGA_MARKERS: Final = ("circle", "triangle-up", "cross", "square")
# Above the dots, for the words at a mark.
_ROOM: Final = 1.2
_VEGA_HEIGHT: Final = 150


def size(figure: Packets) -> tuple[float, float]:
    """Width and height of a figure without its caption, in inches."""
    return _WIDTH, _PANEL * len(figure.panels) + 0.95


def paint(sheet: Sheet, figure: Packets, low: float) -> None:
    """Paint the diagrams, one below the other over one axis of time, and the legend.

    Parameters
    ----------
    sheet : Sheet
        Where.
    figure : Packets
        What.
    low : float
        Where the caption ends, in inches above the lower edge.
    """
    colours = dict(zip(figure.kinds, style.colours(figure.kinds), strict=True))
    markers = dict(zip(figure.kinds, _MARKERS, strict=False))
    ends = (figure.data["time_s"].min(), figure.data["time_s"].max())
    room = 0.015 * (ends[1] - ends[0])
    for place, name in enumerate(reversed(figure.panels)):
        axes = sheet.axes(0.65, low + 0.8 + place * _PANEL, sheet.width - 0.85, _PANEL - 0.42)
        for kind in figure.kinds:
            rows = figure.data[(figure.data["panel"] == name) & (figure.data["kind"] == kind)]
            axes.plot(
                rows["time_s"],
                rows["packet"],
                markers[kind],
                color=colours[kind],
                markersize=2.2 if kind == figure.kinds[0] else 5,
                linestyle="none",
                rasterized=len(rows) > MOST_DOTS,
            )
        for panel, time, words in figure.marks:
            if panel == name:
                axes.axvline(time, color=style.GREY, linewidth=1.0)
                axes.annotate(
                    words,
                    (time, 1.0),
                    xycoords=("data", "axes fraction"),
                    xytext=(3, -9),
                    textcoords="offset points",
                    fontsize=8,
                    color="#555555",
                )
        # The first and the last dot whole; one dot alone has no span.
        if room:
            axes.set_xlim(ends[0] - room, ends[1] + room)
        if figure.marks:
            axes.set_ylim(top=_ROOM * figure.data["packet"].max())
        elif figure.alike:
            axes.set_ylim(0, 1.05 * figure.data["packet"].max())
        axes.set_ylabel(figure.y_label, fontsize=9)
        axes.set_title(name, fontsize=10, loc="left")
        if place == 0:
            axes.set_xlabel(figure.x_label)
        else:
            axes.tick_params(axis="x", labelbottom=False)
    handles = [
        Line2D([], [], color=colours[kind], marker=markers[kind], linestyle="none", label=kind)
        for kind in figure.kinds
    ]
    sheet.legend(handles, 0.65, low + 0.05)
    sheet.words(0.15, sheet.height - 0.05, figure.title, fontsize=11)


def chart(figure: Packets) -> dict[str, Any]:
    """Give the diagrams as a Vega-Lite specification.

    Parameters
    ----------
    figure : Packets
        What to draw.

    Returns
    -------
    dict
        The specification, data included, without title and legend.
    """
    colours = alt.Scale(domain=list(figure.kinds), range=list(style.colours(figure.kinds)))
    shapes = alt.Scale(domain=list(figure.kinds), range=list(_VEGA_MARKERS[: len(figure.kinds)]))
    drawn = []
    for name in figure.panels:
        data = figure.data[figure.data["panel"] == name]
        dots = (
            alt.Chart(data)
            .mark_point(filled=True, size=14)
            .encode(
                x=alt.X("time_s:Q", title=figure.x_label, scale=alt.Scale(zero=False)),
                y=alt.Y("packet:Q", title=figure.y_label),
                color=alt.Color("kind:N", scale=colours, legend=None),
                shape=alt.Shape("kind:N", scale=shapes, legend=None),
                tooltip=["kind:N", "time_s:Q", "packet:Q"],
            )
        )
        times = [{"time_s": time, "mark": words} for at, time, words in figure.marks if at == name]
        lines = (
            alt.Chart(pd.DataFrame(times))
            .mark_rule(color=style.GREY)
            .encode(x="time_s:Q", tooltip=["mark:N", "time_s:Q"])
        )
        layers: list[Any] = [dots, lines] if times else [dots]
        drawn.append(alt.layer(*layers).properties(title=name, height=_VEGA_HEIGHT, width=620))
    whole = alt.vconcat(*drawn).resolve_scale(x="shared")
    return vega.plain(whole.resolve_scale(y="shared") if figure.alike else whole)
