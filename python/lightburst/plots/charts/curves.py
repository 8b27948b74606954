"""Curves for print: a line, markers or both per pair of names, with intervals."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from lightburst.papers.figure import AT_ZERO
from lightburst.plots import axis, style
from lightburst.plots.layout import Group, Words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from lightburst.papers.figure import Figure
    from lightburst.plots.layout import Cell, Style
    from lightburst.plots.style import Look

#: Height of the axes over the width of the sheet: True if the legend stands beside the axes.
_RATIO: Final = {True: 0.5, False: 0.66}
#: Relative heights of the axes above and below a break of the vertical axis.
_CUT: Final = (1, 2.6)
_WORDS: Final = 26  # characters per line of the legend
#: Horizontal shift between curves, which keeps their intervals apart, and width available to all of
#: them, in points (1/72 inch).
_APART: Final = 1.6
_MOST_APART: Final = 7.0
#: Shift between published curves, in points: their markers are larger.
_ELSEWHERE: Final = 5.0
#: Shift between the data of one category, and width available to all of them, in points.
_SIDE: Final = 11.0
_MOST_SIDE: Final = 40.0
#: Shift between points at zero on the lower edge of the axes, in points.
_BESIDE: Final = 7.0
#: Distance of markers, as a share of the axes, on steps and on lines of more than `_MANY` points.
_EVERY: Final = 0.13
_MANY: Final = 30
_REFERENCES: Final = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
_MUTE: Final = "#555555"
#: Look of the legend entry for points at zero.
_NOTHING: Final = style.Look(_MUTE, 0, None, fill="none")


def size(figure: Figure, style: Style) -> tuple[float, float]:
    """Return the width of the sheet and the height of the axes, in inches."""
    return style.width, _RATIO[style.beside] * style.width


def paint(cell: Cell, figure: Figure) -> Words:
    """Paint a figure into a cell.

    Parameters
    ----------
    cell : Cell
        Cell with the axes.
    figure : Figure
        Figure to draw.

    Returns
    -------
    Words
        Title, caption and legend to write around the axes.
    """
    if figure.cut is None:
        axes = cell.inner.add_subplot()
        draw(axes, figure)
    else:
        _with_cut(cell, figure, figure.cut)
    return Words(figure.title, figure.caption, legend(figure))


def draw(axes: Axes, figure: Figure) -> None:
    """Draw the curves of a figure with axis labels, without title and legend.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to draw into.
    figure : Figure
        Figure to draw.
    """
    scale = float(axes.yaxis.label.get_fontsize()) / 10
    axes.set_xscale("log" if figure.x_log else "linear")
    axes.set_yscale("log" if figure.y_log else "linear")
    found = style.looks(figure)
    groups = figure.data.groupby(["colour", "dash"], sort=False)
    order = [key for key in found if key in groups.groups]
    apart = _apart(figure, order)
    if figure.steps and len(order) == 1:
        # A single stepped curve needs no marker to be identified, and may have thousands of steps.
        found = {key: replace(look, marker=None, width=1.6) for key, look in found.items()}
    for place, key in enumerate(order):
        points = groups.get_group(key).sort_values("x", kind="stable")
        _curve(axes, figure, points, found[key], scale, place, apart.get(key, 0.0))
    for place, (height, _) in enumerate(figure.reference):
        axes.axhline(height, color=_MUTE, linewidth=1.0, linestyle=_pattern(place), zorder=1.5)
    _limit(axes, figure)
    if figure.places:
        axis.put_words(axes.xaxis, figure.places)
    else:
        swept = figure.x_log or not figure.steps
        axis.settle(axes.xaxis, figure.measured["x"], logarithmic=figure.x_log, swept=swept)
    axis.settle(axes.yaxis, figure.data["y"], logarithmic=figure.y_log, zero=figure.y_zero)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)


def legend(figure: Figure) -> list[Group]:
    """Return the legend of a figure, one group per varied quantity.

    Parameters
    ----------
    figure : Figure
        Figure that the legend describes.

    Returns
    -------
    list of Group
        Entries of the colours and of the dashes, such as switches and senders; a single group if
        only one of the two varies.
    """
    found = style.looks(figure)
    colours, dashes = figure.colours, figure.dashes
    lines = [
        Line2D([], [], color=_MUTE, linewidth=1.0, linestyle=_pattern(place), label=_fold(words))
        for place, (_, words) in enumerate(figure.reference)
    ]
    if len(figure.zeros):
        lines.append(_entry(AT_ZERO, _NOTHING))
    first, second = figure.legends
    if len(dashes) == 1:
        entries = [_entry(name, found[name, dashes[0]]) for name in colours]
        if len(colours) == 1:
            name = ", ".join(word for word in (colours[0], dashes[0]) if word)
            only = [_entry(name, found[colours[0], dashes[0]])] if name else []
            return [Group("", [*only, *lines])]
        return [Group(_heading(first, second, dashes[0]), [*entries, *lines])]
    if len(colours) == 1:
        entries = [_entry(name, style.of_kind(figure, found, name)) for name in dashes]
        return [Group(_heading(second, first, colours[0]), [*entries, *lines])]
    elsewhere = (*figure.theory, *figure.published)
    own = next((n for n in dashes if n not in elsewhere), dashes[0])
    paints = [_entry(name, found[name, own], bare=True) for name in colours]
    kinds = [
        _entry(name, look, grey=look.colour != style.BLACK)
        for name in dashes
        for look in (style.of_kind(figure, found, name),)
    ]
    if all(name == own or name in elsewhere for name in dashes):
        # All dashes but one are theory or published curves: they share a group with the colours.
        return [Group(first, [*paints, *kinds, *lines])]
    return [Group(first, paints), Group(second, [*kinds, *lines])]


def _curve(
    axes: Axes,
    figure: Figure,
    points: pd.DataFrame,
    look: Look,
    scale: float,
    place: int,
    apart: float,
) -> None:
    moved = axes.transData
    if apart:
        moved = moved + ScaledTranslation(apart / 72, 0, axes.figure.dpi_scale_trans)
    drawn = _drawn(look, scale)
    if figure.steps:
        drawn["drawstyle"] = f"steps-{figure.steps}"
    if figure.steps or len(points) > _MANY:
        drawn["markevery"] = (_EVERY * (0.15 + 0.31 * place % 1), _EVERY)
    over = 2.2 + 0.05 * place
    zero = (points["y"] == 0) & figure.y_log
    height = points["y"].mask(zero)  # zero has no logarithm
    axes.plot(points["x"], height, transform=moved, zorder=over, **drawn)
    if look.marker is not None and zero.any():
        _at_the_edge(axes, points[zero], apart + _beside(figure, points), over, drawn)
        points = points[~zero]
    if "doubtful" in points and points["doubtful"].any():
        hollow = points[points["doubtful"]]
        drawn |= {"linestyle": "none", "markerfacecolor": "white", "fillstyle": "full"}
        axes.plot(
            hollow["x"], hollow["y"], transform=moved, zorder=over, gid=f"hollow-{place}", **drawn
        )
    if "limit" in points and points["limit"].any():
        below = points[points["limit"]]
        axes.plot(
            below["x"], below["high"], transform=moved, zorder=over, gid=f"limit-{place}",
            linestyle="none", marker="v", markersize=6 * scale, color=look.rim or look.colour,
        )  # fmt: skip
    known = points[points["high"] > points["low"]]
    if figure.intervals == "bands" and look.dash is not None:
        ends = known["low"], known["high"]
        axes.fill_between(known["x"], *ends, color=look.colour, alpha=0.16, linewidth=0, zorder=1.8)
        for end in ends:
            axes.plot(known["x"], end, color=look.colour, linewidth=0.5 * scale, zorder=1.9)
    elif figure.intervals != "none":
        axes.vlines(
            known["x"],
            known["low"],
            known["high"],
            color=look.rim or look.colour,
            linewidth=1.1 * scale,
            transform=moved,
            zorder=over - 0.02,
        )


def _beside(figure: Figure, points: pd.DataFrame) -> float:
    """Return the shift of a curve's zeros, in points; zeros of all curves lie on one edge."""
    if not figure.zeros["x"].duplicated().any():
        return 0.0
    names = figure.zeros["colour"] + "\n" + figure.zeros["dash"]
    own = points["colour"].iloc[0] + "\n" + points["dash"].iloc[0]
    keys = [(name, "") for name in names.unique()]
    return _spread(keys, min(_BESIDE, _MOST_SIDE / len(keys)))[own, ""]


def _at_the_edge(
    axes: Axes, points: pd.DataFrame, apart: float, over: float, drawn: dict[str, Any]
) -> None:
    """Draw points at zero hollow on the lower edge of the axes, with their intervals."""
    aside = ScaledTranslation(apart / 72, 0, axes.figure.dpi_scale_trans)
    edge = axes.get_xaxis_transform() + aside
    known = points[points["high"] > 0]
    axes.vlines(
        known["x"], 0, known["high"], color=drawn["markeredgecolor"],
        linewidth=drawn["markeredgewidth"], transform=axes.transData + aside, zorder=over,
    )  # fmt: skip
    hollow = {**drawn, "linestyle": "none", "markerfacecolor": "white", "fillstyle": "full"}
    hollow.pop("markevery", None)
    at = 0 * points["x"]
    axes.plot(points["x"], at, transform=edge, zorder=over + 1, clip_on=False, gid="zero", **hollow)


def _limit(axes: Axes, figure: Figure) -> None:
    """Limit the axes to the data, so that shifted curves do not widen them."""
    ends = [figure.data[["x", name]].to_numpy(dtype=float) for name in ("y", "low", "high")]
    across = float(figure.data["x"].mean())
    lines = np.array([(across, height) for height, _ in figure.reference]).reshape(-1, 2)
    points = np.concatenate([*ends, lines])
    points = points[np.isfinite(points).all(axis=1)]
    if figure.y_log:
        points = points[points[:, 1] > 0]
    axes.dataLim.update_from_data_xy(points, ignore=True)
    axes.autoscale_view()
    if len(figure.zeros):
        # Not before: a lower edge that is set keeps the upper one from reaching for the data.
        axes.set_ylim(bottom=figure.lowest)


def _apart(figure: Figure, order: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return the shift of each curve, in points, that keeps intervals from overlapping."""
    own = [key for key in order if key[1] not in (*figure.theory, *figure.published)]
    if figure.places:
        # Curves of one category stand side by side; theory takes its turn among them.
        return _spread(order, min(_SIDE, _MOST_SIDE / len(order)))
    if figure.steps or figure.intervals != "bars" or figure.data["x"].nunique() > _MANY:
        return {}
    wide = {
        key
        for key, rows in figure.data.groupby(["colour", "dash"], sort=False)
        if (rows["high"] > rows["low"]).any()
    }
    own = [key for key in own if key in wide]
    return _spread(own, min(_APART, _MOST_APART / max(len(own), 1))) | _spread(
        [key for key in order if key[1] in figure.published], _ELSEWHERE
    )


def _spread(keys: list[tuple[str, str]], step: float) -> dict[tuple[str, str], float]:
    """Shift curves by multiples of `step`, symmetrically about their position."""
    return {key: step * (place - (len(keys) - 1) / 2) for place, key in enumerate(keys)}


def _drawn(look: Look, scale: float) -> dict[str, Any]:
    """Return matplotlib's keyword arguments for a look."""
    marked = look.marker is not None
    return {
        "color": look.colour,
        "linestyle": "none" if look.dash is None else (0, look.dash) if look.dash else "-",
        "linewidth": look.width * scale,
        "marker": style.MARKERS[look.marker] if look.marker is not None else "none",
        "markersize": look.size * scale,
        "fillstyle": look.fill,
        "markeredgecolor": look.rim or look.colour,
        "markeredgewidth": 1.2 * scale if marked else 0.0,
        "markerfacecoloralt": "white",
        **({"markerfacecolor": "white"} if look.fill == "none" else {}),
        **({"fillstyle": "full"} if look.fill == "none" else {}),
    }


def _entry(name: str, look: Look, *, bare: bool = False, grey: bool = False) -> Line2D:
    """Make a legend entry; `bare` has a solid line, `grey` no colour and a round marker."""
    drawn = _drawn(look, 0.9)
    if bare and look.dash is not None:
        drawn |= {"linestyle": "-", "linewidth": 1.6}
    if grey:
        drawn |= {"color": _MUTE, "markeredgecolor": look.rim or _MUTE, "linewidth": 1.4}
        if look.marker not in (None, style.ALONE):
            drawn |= {"marker": "o", "markersize": 7.5 if look.rim else 5.0}
    return Line2D([], [], label=_fold(name), **drawn)


def _heading(varied: str, fixed: str, name: str) -> str:
    """Return a heading with the name of the varied quantity and the value of the fixed one."""
    told = f"{fixed}: {name}" if fixed and name else name
    return "\n".join(_fold(words) for words in (told, varied) if words)


def _fold(words: str) -> str:
    return textwrap.fill(words, _WORDS)


def _pattern(place: int) -> Any:
    return _REFERENCES[place % len(_REFERENCES)]


def _with_cut(cell: Cell, figure: Figure, cut: tuple[float, float]) -> None:
    """Draw the same curves above and below the omitted range of the vertical axis."""
    over, under = cell.inner.subplots(
        2, 1, sharex=True, height_ratios=_CUT, gridspec_kw={"hspace": 0.03}
    )
    for axes in (over, under):
        draw(axes, figure)
        axes.set_ylabel("")
    over.set_ylim(bottom=cut[1])
    under.set_ylim(top=cut[0])
    over.spines["bottom"].set_visible(False)
    over.tick_params(axis="x", which="both", length=0)
    over.set_xlabel("")
    for axes, at in ((over, 0.0), (under, 1.0)):
        marks = [(-1, -0.6), (1, 0.6)]
        axes.plot(
            [0, 1], [at, at], transform=axes.transAxes, marker=marks, markersize=9,
            linestyle="none", color="black", markeredgewidth=1, clip_on=False,
        )  # fmt: skip
    cell.inner.supylabel(figure.y_label, fontsize=cell.style.font)
