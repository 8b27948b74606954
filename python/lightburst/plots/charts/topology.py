"""Chart of a run's topology for the page, with metrics of links and switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import pandas as pd

from lightburst.plots import style
from lightburst.plots.charts.places import free_sides
from lightburst.plots.vega import specification

if TYPE_CHECKING:
    from lightburst.plots.charts.places import Positions

_HEIGHT: Final = 460  # pixels
_FLAT: Final = 200
_WIDE: Final = 2.0  # ratio of width to height assumed for the placement of names
_AWAY: Final = 17  # pixels from a node to its name
_FLAT_SHARE: Final = 0.1  # a drawing lower than this share of its width is flat
_MARGIN: Final = 0.07
#: From light to dark, so that a grey print is readable; the lightest colour is visible on white.
BUSY: Final = {"name": "yellowgreenblue", "extent": [0.22, 1.0]}
LOSS: Final = style.VERMILION
# Maximum number of switches whose names are written.
_MOST_NAMES: Final = 40
_INK: Final = "#1b1f24"
_BUSY_SHARE: Final = ".2~%"


def drawing(links: pd.DataFrame, nodes: pd.DataFrame, places: Positions) -> dict[str, Any]:
    """Draw a network with each link in two halves, one per direction.

    Parameters
    ----------
    links : pandas.DataFrame
        One row per directed pair of adjacent nodes: ``source``, ``target``, ``words`` (name of the
        parallel links), ``utilisation`` (0 to 1), ``gone`` (units dropped before the link or lost
        on it); text columns whose names begin with a capital are shown as the tooltip.
    nodes : pandas.DataFrame
        One row per drawn node: ``node``, ``name``, ``host`` (bool), ``loss`` (share of the
        arrivals, 0 to 1); and text columns for the tooltip likewise.
    places : dict of node to tuple of float
        Coordinates x and y of each node.

    Returns
    -------
    dict
        Vega-Lite specification including its data.
    """
    x = dict(zip(nodes["node"], (places[node][0] for node in nodes["node"]), strict=True))
    y = dict(zip(nodes["node"], (places[node][1] for node in nodes["node"]), strict=True))
    halves = links.assign(
        x=links["source"].map(x),
        y=links["source"].map(y),
        x2=(links["source"].map(x) + links["target"].map(x)) / 2,
        y2=(links["source"].map(y) + links["target"].map(y)) / 2,
    )
    dots = nodes.assign(x=nodes["node"].map(x), y=nodes["node"].map(y)).drop(columns="node")
    halves = halves.drop(columns=["source", "target"])
    crosses = halves[halves["gone"] > 0]
    crosses = crosses.assign(
        x=crosses["x"] + 0.62 * (crosses["x2"] - crosses["x"]),
        y=crosses["y"] + 0.62 * (crosses["y2"] - crosses["y"]),
    )
    height = max(y.values()) - min(y.values()) or 1.0
    stretch = (max(x.values()) - min(x.values()) or 1.0) / height / _WIDE
    pairs = zip(links["source"], links["target"], strict=True)
    sides = free_sides({node: places[node] for node in x}, pairs, stretch)
    dots["side_x"], dots["side_y"] = zip(*(sides[node] for node in nodes["node"]), strict=True)
    flat = max(y.values()) - min(y.values()) < _FLAT_SHARE * (max(x.values()) - min(x.values()))
    layers = [
        _halves(halves, _scales(x, y)),
        _middles(halves),
        *_nodes(dots),
        _crosses(crosses),
    ]
    drawn = alt.layer(*layers).properties(view=alt.ViewConfig(fill="white", cornerRadius=6))
    return specification(drawn, _FLAT if flat else _HEIGHT)


def _scales(x: dict[Any, float], y: dict[Any, float]) -> dict[str, Any]:
    """Encode x and y with a margin and without axes: coordinates have no unit."""
    found = {}
    least = _FLAT_SHARE * (max(x.values()) - min(x.values()))
    for name, places in (("x", x), ("y", y)):
        low, high = min(places.values()), max(places.values())
        room = max((high - low) * _MARGIN, least / 2) or 1.0
        scale = alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
        channel = alt.X if name == "x" else alt.Y
        found[name] = channel(f"{name}:Q", scale=scale, axis=None)
    return found


def _tooltip(table: pd.DataFrame) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:N") for name in table if str(name)[0].isupper()]


def _halves(halves: pd.DataFrame, scales: dict[str, Any]) -> alt.Chart:
    most = float(halves["utilisation"].max()) if len(halves) else 1.0
    # With low utilisation everywhere, the colour scale ends at the highest value.
    end = 1.0 if most > 0.5 else max(most, 1e-6)
    legend = alt.Legend(
        title="Utilisation: busy share of the time",
        orient="top",
        gradientLength=220,
        format=_BUSY_SHARE,
        titleLimit=320,
        tickCount=5,
    )
    colour = alt.Color(
        "utilisation:Q",
        scale=alt.Scale(scheme=BUSY, domain=[0, end]),
        legend=legend,
    )
    width = 5 if len(halves) <= 120 else 2.5
    found: alt.Chart = (
        alt.Chart(halves)
        .mark_rule(strokeWidth=width, strokeCap="butt")
        .encode(**scales, x2="x2:Q", y2="y2:Q", color=colour, tooltip=_tooltip(halves))
    )
    return found


def _middles(halves: pd.DataFrame) -> alt.Chart:
    """Mark the middle of each link, so that equally busy directions can be distinguished."""
    size = 16 if len(halves) <= 120 else 5
    found: alt.Chart = (
        alt.Chart(halves[["x2", "y2"]].drop_duplicates())
        .mark_point(filled=True, size=size, color="white", opacity=1)
        .encode(x="x2:Q", y="y2:Q")
    )
    return found


def _nodes(dots: pd.DataFrame) -> list[alt.Chart]:
    ends, switches = dots[dots["host"]], dots[~dots["host"]]
    many = len(switches) > _MOST_NAMES
    size = 40 if many else 130
    found = [
        alt.Chart(ends)
        .mark_point(filled=True, shape="square", size=36, color="#8a8a8a", opacity=1)
        .encode(x="x:Q", y="y:Q", tooltip=_tooltip(ends)),
        alt.Chart(switches[switches["loss"] > 0])
        .mark_point(filled=True, color=LOSS, opacity=1)
        .encode(
            x="x:Q",
            y="y:Q",
            size=alt.Size(
                "loss:Q",
                scale=alt.Scale(type="sqrt", range=[size * 2.2, size * 7], zero=True),
                legend=None,
            ),
        ),
        alt.Chart(switches)
        .mark_point(filled=True, size=size, color="white", stroke=_INK, strokeWidth=1.5, opacity=1)
        .encode(x="x:Q", y="y:Q", tooltip=_tooltip(switches)),
    ]
    if not many:
        names = alt.Chart(switches).encode(x="x:Q", y="y:Q", text="name:N")
        # On the side without a link.
        side = "datum.side_x > 0.5 ? 'left' : datum.side_x < -0.5 ? 'right' : 'center'"
        words: dict[str, Any] = {
            "dx": alt.ExprRef(f"{_AWAY} * datum.side_x"),
            "dy": alt.ExprRef(f"-{_AWAY} * datum.side_y"),
            "align": alt.ExprRef(side),
            "baseline": "middle",
            "fontSize": 12,
            "fontWeight": 600,
            "limit": 90,
        }
        # White outline that separates the text from the links below it.
        found.append(names.mark_text(stroke="white", strokeWidth=4, **words))
        found.append(names.mark_text(color=_INK, **words))
    return [chart for chart in found if len(chart.data)]


def _crosses(crosses: pd.DataFrame) -> alt.Chart:
    size = 130 if len(crosses) <= 60 else 36
    found: alt.Chart = (
        alt.Chart(crosses)
        .mark_point(shape="cross", angle=45, filled=True, color=LOSS, opacity=1, size=size,
                    stroke="white", strokeWidth=1)
        .encode(x="x:Q", y="y:Q", tooltip=_tooltip(crosses))
    )  # fmt: skip
    return found


def by_layer(spread: pd.DataFrame) -> dict[str, Any]:
    """Draw the utilisation of links per pair of layers, for networks too large to draw.

    Parameters
    ----------
    spread : pandas.DataFrame
        One row per pair of layers: ``between``, ``low``, ``q1``, ``median``, ``q3``, ``high``
        (utilisation, 0 to 1), ``gone``; and text columns for the tooltip as in `drawing`.

    Returns
    -------
    dict
        Vega-Lite specification including its data.
    """
    base = alt.Chart(spread).encode(
        y=alt.Y("between:N", title=None, sort=None, axis=alt.Axis(labelLimit=150)),
        tooltip=_tooltip(spread),
    )
    axis = alt.Axis(format=_BUSY_SHARE, tickCount=5)
    low = alt.X("low:Q", title="Utilisation: busy share of the time", axis=axis)
    layers = [
        base.mark_rule(color=style.GREY, strokeWidth=2).encode(x=low, x2="high:Q"),
        base.mark_bar(color=style.BLUE, height=14).encode(x="q1:Q", x2="q3:Q"),
        base.mark_tick(color="white", thickness=3, height=14).encode(x="median:Q"),
    ]
    lossy = spread[spread["gone"] > 0]
    if len(lossy):
        layers.append(
            base.properties(data=lossy)
            .mark_point(shape="cross", angle=45, filled=True, color=LOSS, size=130)
            .encode(x="high:Q")
        )
    return specification(alt.layer(*layers), 46 * len(spread) + 20)
