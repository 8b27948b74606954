"""Colours, markers and dashes: the one place that decides how a curve looks.

A curve is a pair of two names. The first, which switch say, has a colour and a marker, the second,
which sender say, a dash and how the marker is filled: so what one colour tells, a shape tells too,
and a grey print reads. Where there is one second name alone, the first one has the dash as well.
What theory says is a line without markers, what is published is markers without a line.

The colours of names are those of Okabe and Ito (2008, "Color Universal Design"), which people with
any of the common colour vision deficiencies can tell apart; those of an ordered quantity go from
dark to bright along viridis. Curves that are drawn later are thinner and their markers smaller, so
that one on another leaves both to be seen.
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
#: How far along viridis an ordered palette goes: its end is too bright for white paper.
_BRIGHTEST: Final = 0.82

# The same thing has the same colour and marker in every figure of every paper.
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
#: Of closed forms.
_THEORY: Final[tuple[tuple[float, ...], ...]] = ((5, 2), (1, 1.5), (8, 2, 1, 2))

#: Markers, by matplotlib's names; by Vega's, whose cross stands upright; and as paths of SVG for
#: the page's legend, from -5 to 5.
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

#: What is published of no curve alone.
ALONE: Final = 8
#: Points at a word lie on no other.
_AT_A_WORD: Final = 6.5

# The same sender has the same dash in every figure.
_KNOWN_DASHES: Final = {"p = 4": 0, "p = 1": 1, "p = 0 (SAW)": 2}

Fill = Literal["full", "none", "left", "bottom", "right", "top"]
_FILLS: Final[tuple[Fill, ...]] = ("full", "none", "left", "bottom", "right", "top")


@dataclass(frozen=True, slots=True)
class Look:
    """How a curve is drawn.

    Parameters
    ----------
    colour : str
        ``#rrggbb``.
    marker : int or None
        Place in `MARKERS`; None for a line alone.
    dash : tuple of float, or None
        Points on, points off, nothing for a solid line; None for markers alone.
    fill : str
        Of the marker, as matplotlib has it.
    width, size : float
        Of line and marker, in points of a font of 10.
    rim : str
        Colour of the marker's edge.
    """

    colour: str
    marker: int | None
    dash: tuple[float, ...] | None
    fill: Fill = "full"
    width: float = 1.6
    size: float = 5.5
    rim: str = ""


def looks(figure: Figure) -> dict[tuple[str, str], Look]:
    """Decide how each curve of a figure looks.

    Parameters
    ----------
    figure : lightburst.papers.figure.Figure
        What is drawn.

    Returns
    -------
    dict of (str, str) to Look
        For every colour and every dash of its legends, and for no colour, ``""``, and every closed
        form and number from elsewhere. No two have the same marker, fill and dash, as long as a
        legend has no more names than there are of these.
    """
    own = [name for name in figure.dashes if name not in (*figure.theory, *figure.published)]
    alone = len(figure.colours) == 1 and len(own) > 1
    named = tuple(own) if alone else figure.colours
    paints = colours(named, ordered=figure.ordered)
    shapes = markers(named)
    places = dict(zip(own, dashes(tuple(own)), strict=True))
    # Hollow are the points that break an assumption, where there can be such.
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
    # What is of no colour alone.
    for place, dash in enumerate(figure.theory):
        found["", dash] = Look(BLACK, None, _THEORY[place % len(_THEORY)], width=1.4)
    for dash in figure.published:
        found["", dash] = Look(BLACK, ALONE, None, size=9.0)
    return {key: _pointed(look) for key, look in found.items()} if figure.places else found


def _pointed(look: Look) -> Look:
    """Give a look without its line: between two words there is nothing to go along."""
    if look.marker is None:
        return replace(look, marker=ALONE, dash=None, size=8.0)
    return replace(look, dash=None, size=max(look.size, _AT_A_WORD))


def of_kind(figure: Figure, found: Mapping[tuple[str, str], Look], dash: str) -> Look:
    """Give the look that stands for a dash in a legend: of no colour if none of its curves has one.

    Parameters
    ----------
    figure : lightburst.papers.figure.Figure
        What is drawn.
    found : mapping of (str, str) to Look
        Its `looks`.
    dash : str
        One of its dashes.

    Returns
    -------
    Look
        That of the first colour, else.
    """
    own = set(figure.data.loc[figure.data["dash"] == dash, "colour"])
    return found["", dash] if own == {""} else found[figure.colours[0], dash]


def markers(names: Sequence[str]) -> tuple[int, ...]:
    """Give each name of a legend its place in `MARKERS`; a known one gets its own."""
    taken = {_KNOWN[name][1] for name in names if name in _KNOWN}
    free = [place for place in range(len(MARKERS)) if place not in taken]
    rest = iter(range(len(names)))
    return tuple(
        _KNOWN[name][1] if name in _KNOWN else free[next(rest) % len(free)] for name in names
    )


def dashes(names: Sequence[str]) -> tuple[int, ...]:
    """Give each name of a legend its place in `DASHES`; a known sender gets its own."""
    taken = {_KNOWN_DASHES[name] for name in names if name in _KNOWN_DASHES}
    free = [place for place in range(len(DASHES)) if place not in taken]
    rest = iter(range(len(names)))
    return tuple(
        _KNOWN_DASHES[name] if name in _KNOWN_DASHES else free[next(rest) % len(free)]
        for name in names
    )


def colours(names: Sequence[str], *, ordered: bool = False) -> tuple[str, ...]:
    """Give each name of a legend its colour.

    Parameters
    ----------
    names : sequence of str
        The legend's words, in order.
    ordered : bool
        Whether they are values of one quantity, from small to large.

    Returns
    -------
    tuple of str
        As many colours (``#rrggbb``): of ordered ones from dark to bright; else a known switch
        gets its own, and the others get what is left of the palette, in order.
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
