"""Colours, markers and dashes: the only module that decides the look of curves.

A curve is identified by a pair of names. The first name, for example of the switch, selects colour
and marker; the second, for example of the sender, selects the dash and the fill of the marker.
Every difference in colour is therefore a difference in shape too, and a grey print stays readable.
With a single second name the first one selects the dash as well. Theory is drawn as a line without
markers, published data as markers without a line.

The colours of names are those of Okabe and Ito (2008, "Color Universal Design"), distinguishable
with any of the common colour vision deficiencies; those of an ordered quantity go from dark to
bright along viridis. Later curves are thinner with smaller markers, so that two curves that
coincide are both visible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from matplotlib import colormaps
from matplotlib.colors import to_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightburst.papers.figure import Figure

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#8A8A8A"
BLACK: Final = "#000000"
WHITE: Final = "#FFFFFF"

PALETTE: Final = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY)
#: End of an ordered palette along viridis, from 0 to 1; the colours beyond are too bright for white
#: paper.
_BRIGHTEST: Final = 0.82

# Fixed colour and marker per name, the same in every figure of every paper.
_KNOWN: Final = {
    "all-optical": (VERMILION, 4),
    "hybrid, ne = 1": (ORANGE, 3),
    "hybrid, ne = 2": (BLUE, 0),
    "hybrid, ne = 5": (GREEN, 1),
    "hybrid, ne = 8": (SKY, 2),
    "electronic": (PURPLE, 5),
    "sent": (BLUE, 0),
    "sent again": (VERMILION, 2),
    "lost": (BLACK, 8),
}

# Dash patterns in points on, points off; the first is a solid line.
DASHES: Final[tuple[tuple[int, ...], ...]] = (
    (),
    (6, 2),
    (2, 2),
    (8, 2, 2, 2),
    (1, 1),
    (12, 3),
)
#: Dash patterns of closed forms.
_THEORY: Final[tuple[tuple[float, ...], ...]] = ((5, 2), (1, 1.5), (8, 2, 1, 2))

#: Markers by matplotlib's names; by Vega's names, whose cross is upright; and as SVG paths from -5
#: to 5 for the legend of the page.
MARKERS: Final = ("o", "s", "^", "D", "v", "P", ">", "<", "X")
_X: Final = "M-.4,-.7L0,-.3L.4,-.7L.7,-.4L.3,0L.7,.4L.4,.7L0,.3L-.4,.7L-.7,.4L-.3,0L-.7,-.4Z"
VEGA_MARKERS: Final = (
    "circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right",
    "triangle-left", _X,
)  # fmt: skip
SVG_MARKERS: Final = (
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "M-4,-4H4V4H-4Z",
    "M0,-5L5,4H-5Z",
    "M0,-5L5,0L0,5L-5,0Z",
    "M0,5L5,-4H-5Z",
    "M-2,-5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z",
    "M5,0L-4,-5V5Z",
    "M-5,0L4,-5V5Z",
    "M-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0L-5,-3Z",
)

#: Marker of published data that belongs to no single curve.
ALONE: Final = 8
#: Minimum marker size on an axis of categories, where points do not overlap.
_AT_A_WORD: Final = 6.5

# Fixed dash per sender, the same in every figure.
_KNOWN_DASHES: Final = {"p = 4": 0, "p = 1": 1, "p = 0 (SAW)": 2}

Fill = Literal["full", "none", "left", "bottom", "right", "top"]
_FILLS: Final[tuple[Fill, ...]] = ("full", "none", "left", "bottom", "right", "top")


@dataclass(frozen=True, slots=True)
class Look:
    """Appearance of a curve.

    Parameters
    ----------
    colour : str
        Colour as ``#rrggbb``.
    marker : int or None
        Index into `MARKERS`; None for a line alone.
    dash : tuple of float, or None
        Points on, points off; empty for a solid line; None for markers alone.
    fill : str
        Fill style of the marker, by matplotlib's names.
    width, size : float
        Size of line and marker, in points at a font size of 10.
    rim : str
        Edge colour of the marker; empty for `colour`.
    """

    colour: str
    marker: int | None
    dash: tuple[float, ...] | None
    fill: Fill = "full"
    width: float = 1.6
    size: float = 5.5
    rim: str = ""


def looks(figure: Figure) -> dict[tuple[str, str], Look]:
    """Choose the look of each curve of a figure.

    Parameters
    ----------
    figure : lightburst.papers.figure.Figure
        Figure with the curves.

    Returns
    -------
    dict of (str, str) to Look
        Look by colour name and dash name of the legends; with the colour ``""`` for theory and
        published data that belong to no single colour. No two curves share marker, fill and dash,
        as long as a legend has no more names than there are of these.
    """
    own = [name for name in figure.dashes if name not in (*figure.theory, *figure.published)]
    alone = len(figure.colours) == 1 and len(own) > 1
    named = tuple(own) if alone else figure.colours
    paints = colours(named, ordered=figure.ordered)
    shapes = markers(named)
    places = dict(zip(own, dashes(tuple(own)), strict=True))
    # Hollow markers are reserved for points outside the assumptions, if the data can have such
    # points.
    fills = [fill for fill in _FILLS if fill != "none" or "doubtful" not in figure.data]
    found = {}
    for i, colour in enumerate(figure.colours):
        for dash in figure.dashes:
            at = own.index(dash) if alone and dash in own else 0 if alone else i
            share = at / max(len(named) - 1, 1)
            width, size = 2.4 - 1.2 * share, 7.5 - 3.2 * share
            if dash in figure.theory:
                pattern = _THEORY[figure.theory.index(dash) % len(_THEORY)]
                look = Look(paints[at], None, pattern, width=max(1.2, 0.8 * width))
            elif dash in figure.published:
                look = (
                    Look(BLACK, ALONE, None, size=9.0)
                    if alone
                    else Look(paints[at], shapes[at], None, size=9.5, rim=BLACK)
                )
            else:
                several = len(own) > 1 and not alone
                place = places[dash] if several or alone else 0 if figure.theory else at
                fill: Fill = fills[place % len(fills)] if several else "full"
                pattern = DASHES[place % len(DASHES)]
                look = Look(paints[at], shapes[at], pattern, fill, width, size)
            found[colour, dash] = look
    # Theory and published data that belong to no single colour.
    for place, dash in enumerate(figure.theory):
        found["", dash] = Look(BLACK, None, _THEORY[place % len(_THEORY)], width=1.4)
    for dash in figure.published:
        found["", dash] = Look(BLACK, ALONE, None, size=9.0)
    return {key: _pointed(look) for key, look in found.items()} if figure.places else found


def _pointed(look: Look) -> Look:
    """Return a look without its line: values between categories have no meaning."""
    if look.marker is None:
        return replace(look, marker=ALONE, dash=None, size=8.0)
    return replace(look, dash=None, size=max(look.size, _AT_A_WORD))


def of_kind(figure: Figure, found: Mapping[tuple[str, str], Look], dash: str) -> Look:
    """Return the look that represents a dash in a legend; colourless if its curves are.

    Parameters
    ----------
    figure : lightburst.papers.figure.Figure
        Figure with the curves.
    found : mapping of (str, str) to Look
        Result of `looks` for the figure.
    dash : str
        Name of a dash of the figure.

    Returns
    -------
    Look
        Look without a colour, or of the first colour if the curves have colours.
    """
    own = set(figure.data.loc[figure.data["dash"] == dash, "colour"])
    return found["", dash] if own == {""} else found[figure.colours[0], dash]


def markers(names: Sequence[str]) -> tuple[int, ...]:
    """Return the index into `MARKERS` of each name of a legend; fixed for known names."""
    taken = {_KNOWN[name][1] for name in names if name in _KNOWN}
    free = [place for place in range(len(MARKERS)) if place not in taken]
    rest = iter(range(len(names)))
    return tuple(
        _KNOWN[name][1] if name in _KNOWN else free[next(rest) % len(free)] for name in names
    )


def dashes(names: Sequence[str]) -> tuple[int, ...]:
    """Return the index into `DASHES` of each name of a legend; fixed for known senders."""
    taken = {_KNOWN_DASHES[name] for name in names if name in _KNOWN_DASHES}
    free = [place for place in range(len(DASHES)) if place not in taken]
    rest = iter(range(len(names)))
    return tuple(
        _KNOWN_DASHES[name] if name in _KNOWN_DASHES else free[next(rest) % len(free)]
        for name in names
    )


def colours(names: Sequence[str], *, ordered: bool = False) -> tuple[str, ...]:
    """Return the colour of each name of a legend.

    Parameters
    ----------
    names : sequence of str
        Names in the order of the legend.
    ordered : bool
        Whether the names are values of one quantity, in ascending order.

    Returns
    -------
    tuple of str
        One colour (``#rrggbb``) per name: from dark to bright if ordered; else known switches have
        fixed colours and the others take the rest of the palette in order.
    """
    if ordered and len(names) > 1:
        steps = (_BRIGHTEST * place / (len(names) - 1) for place in range(len(names)))
        return tuple(to_hex(colormaps["viridis"](step)) for step in steps)
    taken = {_KNOWN[name][0] for name in names if name in _KNOWN}
    free = [colour for colour in PALETTE if colour not in taken] or list(PALETTE)
    rest = iter(range(len(names)))
    return tuple(
        _KNOWN[name][0] if name in _KNOWN else free[next(rest) % len(free)] for name in names
    )
