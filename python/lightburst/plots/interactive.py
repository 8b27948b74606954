"""Figures for the page: Vega-Lite charts by Altair, to hover over and to zoom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from lightburst.papers.figure import Bars, Figure, Maps, Packets
from lightburst.plots import bars, maps, packets, style
from lightburst.plots.vega import specification

if TYPE_CHECKING:
    from lightburst.papers.figure import AnyFigure

_HEIGHT: Final = 340  # pixels; the width is that of the page


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of a legend: words, colour (or none) and dash pattern as SVG has it."""

    words: str
    colour: str
    dash: str


def legend(figure: AnyFigure) -> list[Key]:
    """Give the legend of a figure, which a page can break into lines and a chart cannot.

    Parameters
    ----------
    figure : lightburst.papers.figure.AnyFigure
        What is drawn.

    Returns
    -------
    list of Key
        The colours, then the dashes if there are several; nothing for maps, which have scales.
    """
    if isinstance(figure, Maps):
        return []
    if not isinstance(figure, Figure):
        names = figure.groups if isinstance(figure, Bars) else figure.kinds
        return [
            Key(name, colour, "") for name, colour in zip(names, style.colours(names), strict=True)
        ]
    colours = zip(figure.colours, style.colours(figure.colours), strict=True)
    keys = [Key(name, colour, "") for name, colour in colours]
    if len(figure.dashes) > 1:
        places = zip(figure.dashes, style.shapes(figure.dashes), strict=True)
        keys += [Key(name, "", " ".join(map(str, style.DASHES[at]))) for name, at in places]
    return keys


def chart(figure: AnyFigure) -> dict[str, Any]:
    """Give a figure as a Vega-Lite specification that needs nothing from the network.

    Parameters
    ----------
    figure : lightburst.papers.figure.AnyFigure
        What to draw.

    Returns
    -------
    dict
        The specification, data included; without title and legend, which a page can break into
        lines.
    """
    match figure:
        case Maps():
            return maps.chart(figure)
        case Bars():
            return bars.chart(figure)
        case Packets():
            return packets.chart(figure)
        case Figure():
            return _curves(figure)


def _curves(figure: Figure) -> dict[str, Any]:
    data = figure.data.assign(curve=figure.data["colour"] + " · " + figure.data["dash"])
    base = alt.Chart(data).encode(x=_x(figure), detail="curve:N")
    band = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", title=figure.y_label, scale=_scale(figure.y_log, zero=figure.y_zero)),
        y2="high:Q",
        color=_colour(figure),
    )
    names, places = list(figure.dashes), style.shapes(figure.dashes)
    lines = alt.Scale(domain=names, range=[list(style.DASHES[at]) or [1, 0] for at in places])
    line = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("y:Q", scale=_scale(figure.y_log, zero=figure.y_zero)),
        color=_colour(figure),
        strokeDash=alt.StrokeDash("dash:N", scale=lines, legend=None),
    )
    shapes = alt.Scale(domain=names, range=[style.VEGA_MARKERS[at] for at in places])
    point = base.mark_point(filled=True, size=45).encode(
        y=alt.Y("y:Q", scale=_scale(figure.y_log, zero=figure.y_zero)),
        color=_colour(figure),
        shape=alt.Shape("dash:N", scale=shapes, legend=None),
        tooltip=[
            alt.Tooltip("curve:N", title="curve"),
            alt.Tooltip("x:Q", title=figure.x_label, format=",.4~g"),
            alt.Tooltip("y:Q", title=figure.y_label, format=",.4~g"),
            alt.Tooltip("low:Q", title="95 % interval from", format=",.4~g"),
            alt.Tooltip("high:Q", title="to", format=",.4~g"),
            alt.Tooltip("runs:Q", title="runs"),
        ],
    )
    layers: list[Any] = [band, line, point, *_references(figure)]
    return specification(alt.layer(*layers), _HEIGHT)


def _x(figure: Figure) -> alt.X:
    axis = alt.Axis()
    if figure.x_log and len(figure.data):
        ends = (figure.data["x"].min(), figure.data["x"].max())
        first, last = (round(math.log10(end)) for end in ends)
        decades = [10.0**power for power in range(first, last + 1)]
        axis = alt.Axis(values=decades, format="~e", labelExpr="replace(datum.label, '+', '')")
    return alt.X("x:Q", title=figure.x_label, scale=_scale(figure.x_log), axis=axis)


def _colour(figure: Figure) -> alt.Color:
    names = list(figure.colours)
    scale = alt.Scale(domain=names, range=list(style.colours(figure.colours)))
    return alt.Color("colour:N", scale=scale, legend=None)


def _references(figure: Figure) -> list[Any]:
    marks: list[Any] = []
    for height, words in figure.reference:
        at = alt.Chart(alt.InlineData(values=[{"height": height, "words": words}]))
        y = alt.Y("height:Q", scale=_scale(figure.y_log, zero=figure.y_zero))
        marks.append(at.mark_rule(color=style.GREY).encode(y=y))
        marks.append(
            at.mark_text(align="left", dx=4, dy=-7, color=style.GREY).encode(
                x=alt.value(0), y=y, text="words:N"
            )
        )
    return marks


def _scale(logarithmic: bool, *, zero: bool = True) -> alt.Scale:
    return alt.Scale(type="log") if logarithmic else alt.Scale(zero=zero)
