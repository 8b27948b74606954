"""Colours, dashes and markers: the one place that decides how a curve looks.

The colours are those of Okabe and Ito (2008, "Color Universal Design"), which people with any of
the common colour vision deficiencies can tell apart; a switch keeps its colour in every figure.
The dash and the marker say the same as the second legend, so that a print without colour still
reads.
"""

from __future__ import annotations

from typing import Final

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#8A8A8A"

PALETTE: Final = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY)

# The same switch has the same colour in every figure of every paper.
_KNOWN: Final = {
    "all-optical": VERMILION,
    "hybrid, ne = 1": ORANGE,
    "hybrid, ne = 2": BLUE,
    "hybrid, ne = 5": GREEN,
    "hybrid, ne = 8": SKY,
    "electronic": PURPLE,
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
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
VEGA_MARKERS: Final = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")

# The same sender has the same dash and marker in every figure.
_KNOWN_SHAPES: Final = {"p = 4": 0, "p = 1": 1, "p = 0 (SAW)": 2}


def shapes(names: tuple[str, ...]) -> tuple[int, ...]:
    """Give each name of a legend its place in `DASHES` and in the markers.

    Parameters
    ----------
    names : tuple of str
        The legend's words, in order; at most six.

    Returns
    -------
    tuple of int
        As many places, all different.
    """
    taken = {_KNOWN_SHAPES[name] for name in names if name in _KNOWN_SHAPES}
    free = (place for place in range(len(DASHES)) if place not in taken)
    return tuple(_KNOWN_SHAPES[name] if name in _KNOWN_SHAPES else next(free) for name in names)


def colours(names: tuple[str, ...]) -> tuple[str, ...]:
    """Give each name of a legend its colour.

    Parameters
    ----------
    names : tuple of str
        The legend's words, in order.

    Returns
    -------
    tuple of str
        As many colours (``#rrggbb``). A known switch gets its own; the others get what is left
        of the palette, in order.
    """
    taken = {_KNOWN[name] for name in names if name in _KNOWN}
    free = [colour for colour in PALETTE if colour not in taken] or list(PALETTE)
    rest = iter(range(len(names)))
    return tuple(_KNOWN[name] if name in _KNOWN else free[next(rest) % len(free)] for name in names)
