"""Figures for the page: interactive Vega-Lite charts, made with Altair."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from lightburst.papers.figure import AT_ZERO, Bars, Figure, Maps, Packets
from lightburst.plots import axis, style
from lightburst.plots.charts import bars, maps, packets
from lightburst.plots.vega import plain, specification

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from lightburst.papers.figure import AnyFigure

_HEIGHT: Final = 340  # pixels; the width is that of the page
#: Shift between the points of one category, and width available to all of them; neighbouring
#: categories are 1 apart.
_SIDE: Final = 0.12
_MOST_SIDE: Final = 0.6


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of a legend, as drawn with SVG.

    Parameters
    ----------
    words : str
        Text of the entry.
    colour : str
        Colour of line and marker; empty for the colour of the text.
    dash : str or None
        Dash pattern of the line, empty for a solid one; None for no line.
    marker : str
        SVG path of the marker, from -5 to 5; empty for no marker.
    fill : str
        Fill colour of the marker; empty for `colour`.
    rim : str
        Edge colour of the marker; empty for `colour`.
    """

    words: str
    colour: str
    dash: str | None = None
    marker: str = ""
    fill: str = ""
    rim: str = ""


def legend(figure: AnyFigure) -> list[Key]:
    """Return the legend of a figure; a page can break it into lines, a chart cannot.

    Parameters
    ----------
    figure : lightburst.papers.figure.AnyFigure
        Figure that the legend describes.

    Returns
    -------
    list of Key
        The colours, then the dashes if there are several; empty for maps, which have colour bars.
    """
    match figure:
        case Maps():
            return []
        case Bars():
            names = figure.groups
            square = style.SVG_MARKERS[1]
            paints = zip(names, style.colours(names), strict=True)
            return [Key(name, colour, marker=square) for name, colour in paints]
        case Packets():
            names = figure.kinds
            seen = zip(names, style.colours(names), style.markers(names), strict=True)
            return [Key(name, paint, marker=style.SVG_MARKERS[at]) for name, paint, at in seen]
        case Figure():
            return _keys(figure)


def _keys(figure: Figure) -> list[Key]:
    """Return the legend of curves: colours, dashes, zeros and reference lines."""
    found = style.looks(figure)
    colours, dashes = figure.colours, figure.dashes
    own = next((n for n in dashes if n not in (*figure.theory, *figure.published)), dashes[0])
    keys = []
    if len(colours) == len(dashes) == 1 and (name := ", ".join(filter(None, (*colours, *dashes)))):
        keys = [_key(name, found[colours[0], own])]
    elif len(colours) > 1:
        keys = [_key(name, found[name, own], bare=len(dashes) > 1) for name in colours]
    if len(dashes) > 1:
        for name in dashes:
            look = style.of_kind(figure, found, name)
            grey = len(colours) > 1 and look.colour != style.BLACK
            keys.append(_key(name, look, grey=grey))
    if len(figure.zeros):
        keys.append(Key(AT_ZERO, style.GREY, None, style.SVG_MARKERS[0], "white", style.GREY))
    patterns = ("", "4 2", "1 1.5", "6 2 1 2")
    lines = enumerate(words for _, words in figure.reference)
    return keys + [Key(words, style.GREY, patterns[place % 4]) for place, words in lines]


def _key(words: str, look: style.Look, *, bare: bool = False, grey: bool = False) -> Key:
    dash = None if look.dash is None else "" if bare else " ".join(map(str, look.dash))
    if look.marker is None:
        return Key(words, "" if grey else look.colour, dash)
    marker = style.SVG_MARKERS[0 if grey else look.marker]
    fill = "white" if look.fill != "full" else ""
    return Key(words, "" if grey else look.colour, dash, marker, fill, look.rim)


def chart(figure: AnyFigure) -> dict[str, Any]:
    """Return a figure as a Vega-Lite specification that loads nothing from the network.

    Parameters
    ----------
    figure : lightburst.papers.figure.AnyFigure
        Figure to draw.

    Returns
    -------
    dict
        Specification including its data, without title and legend, which the page can break into
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
    if figure.cut is None:
        return specification(_layers(figure), _HEIGHT)
    low, high = figure.cut
    whole = (figure.data["low"].min(), figure.data["high"].max())
    parts: list[Any] = []
    for ends, height in (((high, float(whole[1])), 110), ((min(0.0, float(whole[0])), low), 230)):
        inside = figure.data[figure.data["y"].between(*ends)]
        part = _layers(replace(figure, data=inside), domain=ends, above=not parts)
        parts.append(part.properties(height=height, width=620))
    return plain(alt.vconcat(*parts, spacing=6).resolve_scale(x="shared"))


def _layers(
    figure: Figure, domain: tuple[float, float] | None = None, *, above: bool = False
) -> Any:
    # The axes above a break have no labels of their own: those below serve both.
    data = figure.data.assign(curve=figure.data["colour"] + " · " + figure.data["dash"])
    data["curve"] = data["curve"].str.strip(" ·").replace("", "all")
    if figure.places:
        data = _side_by_side(data, figure.places)
    found = {
        " · ".join(word for word in key if word) or "all": look
        for key, look in style.looks(figure).items()
    }
    scale = _scale(figure.y_log, zero=figure.y_zero)
    if len(figure.zeros):
        scale = alt.Scale(type="log", domainMin=figure.lowest, nice=False)
    if domain is not None:
        scale = alt.Scale(domain=list(domain), nice=False)
    up = None if above else figure.y_label
    y = alt.Y("y:Q", title=up, scale=scale)
    at_zero = data[(data["y"] == 0) & figure.y_log]
    if figure.y_log:
        # Zero has no logarithm: such points and interval ends are drawn at the lower edge.
        data["y"] = data["y"].where(data["y"] > 0)
        data["low"] = data["low"].clip(lower=figure.lowest if len(figure.data) else None)
    base = alt.Chart(data).encode(x=_x(figure, named=not above), detail="curve:N")
    colour = _of(alt.Color, found, {name: look.colour for name, look in found.items()})
    ends = {"y": alt.Y("low:Q", title=up, scale=scale), "y2": "high:Q"}
    layers: list[Any] = []
    if figure.intervals == "bands":
        layers.append(base.mark_area(opacity=0.15).encode(**ends, color=colour))
    elif figure.intervals == "bars":
        layers.append(base.mark_rule(strokeWidth=1.3).encode(**ends, color=colour))
    layers.append(_lines(figure, base.encode(y=y, color=colour), found))
    layers.append(_points(figure, base.encode(y=y), found))
    if len(at_zero):
        edge: Any = alt.value(alt.ExprRef("height"))
        layers.append(
            _points(figure, base.properties(data=at_zero).encode(y=edge), found, hollow=True)
        )
    return alt.layer(*layers, *_references(figure, scale)).resolve_scale(fill="independent")


def _lines(figure: Figure, base: alt.Chart, found: Mapping[str, style.Look]) -> Any:
    stairs: dict[str, Any] = {"": "linear", "post": "step-after", "pre": "step-before"}
    drawn = base.mark_line(interpolate=stairs[figure.steps]).encode(
        strokeDash=_of(
            alt.StrokeDash, found, {n: list(look.dash or (1, 0)) for n, look in found.items()}
        ),
        strokeWidth=_of(alt.StrokeWidth, found, {n: look.width for n, look in found.items()}),
    )
    joined = [name for name, look in found.items() if look.dash is not None]
    return drawn.transform_filter(alt.FieldOneOfPredicate("curve", joined))


def _points(
    figure: Figure, base: alt.Chart, found: Mapping[str, style.Look], *, hollow: bool = False
) -> Any:
    marked = {name: look for name, look in found.items() if look.marker is not None}
    tips = [
        alt.Tooltip("curve:N", title="curve"),
        alt.Tooltip("place:N", title=figure.x_label)
        if figure.places
        else alt.Tooltip("x:Q", title=figure.x_label, format=",.4~g"),
        alt.Tooltip("y:Q", title=figure.y_label, format=",.4~g"),
        alt.Tooltip("low:Q", title="95 % interval from", format=",.4~g"),
        alt.Tooltip("high:Q", title="to", format=",.4~g"),
        alt.Tooltip("runs:Q", title="runs"),
    ]
    if figure.steps:
        tips = tips[:3]
        # Invisible, only to hover over: markers at all steps would hide the steps.
        return base.mark_point(opacity=0, size=60).encode(tooltip=tips)
    fills = {
        n: look.colour if look.fill == "full" and not hollow else "white"
        for n, look in marked.items()
    }
    rims = {n: look.rim or look.colour for n, look in marked.items()}
    shapes = {n: style.VEGA_MARKERS[look.marker or 0] for n, look in marked.items()}
    return (
        base.mark_point(strokeWidth=1.5, opacity=1)
        .transform_filter(alt.FieldOneOfPredicate("curve", list(marked)))
        .encode(
            stroke=_of(alt.Stroke, marked, rims),
            fill=_of(alt.Fill, marked, fills),
            shape=_of(alt.Shape, marked, shapes),
            size=_of(alt.Size, marked, {n: look.size**2 for n, look in marked.items()}),
            tooltip=tips,
        )
    )


def _of(channel: Any, found: Mapping[str, style.Look], values: Mapping[str, Any]) -> Any:
    """Return a channel of the chart with one value per curve."""
    if len(found) == 1:
        return alt.value(*values.values())
    scale = alt.Scale(domain=list(found), range=[values[name] for name in found])
    # Vega warns about widths of unordered data; the order here is that of the domain.
    kind = "O" if channel is alt.StrokeWidth else "N"
    return channel(f"curve:{kind}", scale=scale, legend=None)


def _side_by_side(data: pd.DataFrame, places: Sequence[str]) -> pd.DataFrame:
    """Shift the points of one category side by side, in the order of the curves."""
    curves = list(dict.fromkeys(data["curve"]))
    step = min(_SIDE, _MOST_SIDE / len(curves))
    aside = {curve: step * (at - (len(curves) - 1) / 2) for at, curve in enumerate(curves)}
    named = data["x"].astype(int).map(dict(enumerate(places)))
    return data.assign(x=data["x"] + data["curve"].map(aside), place=named)


def _x(figure: Figure, *, named: bool = True) -> alt.X:
    at = alt.Axis()
    scale = _scale(figure.x_log)
    if figure.places:
        lines, many = axis.folded(figure.places)
        scale = alt.Scale(domain=[-0.5, len(lines) - 0.5], nice=False)
        at = alt.Axis(
            values=list(range(len(lines))),
            labelExpr=f"{json.dumps(lines)}[datum.value]",
            labelAngle=-35 if many else 0,
            grid=False,
        )
    elif (figure.x_log or not figure.steps) and (
        chosen := axis.ticks(figure.measured["x"], logarithmic=figure.x_log)
    ):
        at = alt.Axis(values=chosen, format=".4~g")
    elif figure.x_log and len(figure.data):
        ends = (figure.data["x"].min(), figure.data["x"].max())
        first, last = (round(math.log10(end)) for end in ends)
        decades = [10.0**power for power in range(first, last + 1)]
        words = axis.decades(decades)
        place = f"[round(log(datum.value) / LN10) - ({first})]"
        at = alt.Axis(values=decades, labelExpr=f"{words}{place}")
    elif axis.are_counts(figure.data["x"]):
        at = alt.Axis(tickMinStep=1)
    if not named:
        return alt.X(
            "x:Q", title=None, scale=scale, axis=alt.Axis(labels=False, ticks=False, grid=False)
        )
    return alt.X("x:Q", title=figure.x_label, scale=scale, axis=at)


def _references(figure: Figure, scale: alt.Scale) -> list[Any]:
    marks: list[Any] = []
    patterns: tuple[list[float], ...] = ([1, 0], [4, 2], [1, 1.5], [6, 2, 1, 2])
    for place, (height, words) in enumerate(figure.reference):
        at = alt.Chart(alt.InlineData(values=[{"height": height, "words": words}]))
        mark = at.mark_rule(color=style.GREY, strokeDash=patterns[place % 4])
        marks.append(mark.encode(y=alt.Y("height:Q", scale=scale), tooltip="words:N"))
    return marks


def _scale(logarithmic: bool, *, zero: bool = True) -> alt.Scale:
    return alt.Scale(type="log") if logarithmic else alt.Scale(zero=zero)
