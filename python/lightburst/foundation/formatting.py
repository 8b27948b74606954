"""Values, tables and texts as people read them, on a terminal and in a notebook."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_UNITS: Final = {"_bps": "b/s", "_s": "s", "_bytes": "B", "_j": "J"}
_SQUARED: Final = "_bps2"
#: Numbers without a unit are written as whole ones in this range.
_WHOLE_FROM, _WHOLE_BELOW = 1e4, 1e15
#: Numbers along an axis are no larger, if there is a prefix for that.
_READABLE: Final = 10_001.0
_PREFIXES: Final = (
    (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"),
    (1e-9, "n"), (1e-12, "p"),
)  # fmt: skip


def readable(key: str, value: float | str | None) -> str:
    """Write a figure of the summary for people.

    Parameters
    ----------
    key : str
        Its name, which carries its unit.
    value : float, str or None
        Its value in the SI base unit.

    Returns
    -------
    str
        With a unit of a fitting size: ``89.7 Gb/s``; a dash for none; ``inf`` for what has no end.
    """
    if value is None or isinstance(value, str):
        return value or "–"
    if math.isinf(value):
        return "inf"
    if math.isnan(value):
        return "–"
    # Of a group of flows, or of a class of size: slowdown_p99[query].
    key = key.partition("[")[0]
    if key.endswith(_SQUARED):
        factor, prefix = prefixed(math.sqrt(abs(value)))
        return f"{value / factor**2:.4g} ({prefix}b/s)²"
    unit = next((word for end, word in _UNITS.items() if key.endswith(end)), None)
    if unit is None:
        if isinstance(value, int):
            return f"{value:,}"
        # A mean of counts is read as a count: 200,151 and not 2.002e+05.
        whole = _WHOLE_FROM <= abs(value) < _WHOLE_BELOW
        return f"{value:,.0f}" if whole else f"{value:,.4g}"
    factor, prefix = prefixed(abs(value))
    return f"{value / factor:.4g} {prefix}{unit}"


def prefixed(value: float) -> tuple[float, str]:
    """Choose the prefix of a value, and what it stands for."""
    return next(((size, word) for size, word in _PREFIXES if value >= size), (1.0, ""))


def exactly(value: float) -> str:
    """Write a number with as many figures as tell it from every other one: 2, 1.0000000001."""
    return repr(float(value)).removesuffix(".0")


def as_given(value: object) -> str:
    """Write a value of an axis: what somebody wrote as it was written, what was computed shorter.

    Parameters
    ----------
    value : object
        A number, or anything else.

    Returns
    -------
    str
        A number of up to 12 figures with all of them, one with more (a step of a logarithmic range)
        with six; a dash for NaN and None.
    """
    if value is None or value != value:
        return "–"
    if not isinstance(value, float):
        return str(value)
    written = f"{value:.12g}"
    return written if float(written) == value else f"{value:g}"


def prefixed_along(low: float, high: float) -> tuple[float, str]:
    """Choose the prefix for values over several decades, so that all are short numbers.

    Parameters
    ----------
    low, high : float
        The ends, above zero.

    Returns
    -------
    (float, str)
        What the prefix stands for, and the prefix: that with whole numbers up to 10,000 if there is
        one, else that with numbers from 0.001 to 10,000; of more decades that of their middle.
    """
    for least in (0.999, 0.000999):
        for size, word in _PREFIXES:
            if low / size >= least and high / size <= _READABLE:
                return size, word
    return prefixed(math.sqrt(low) * math.sqrt(high))


def html_table(
    title: str, rows: Iterable[Sequence[str]], heading: Sequence[str] = (), *, align: str = "right"
) -> str:
    """Write a table for a notebook.

    Parameters
    ----------
    title : str
        Above it.
    rows : iterable of sequence of str
        Cells as text; the first of a row is its name.
    heading : sequence of str
        Names of the columns, if they have any.
    align : {"right", "left"}
        Where the other cells stand: numbers to the right, words to the left.

    Returns
    -------
    str
        HTML in which no text is taken for a tag.
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    lines = [f"<thead><tr>{head}</tr></thead>" if heading else "", "<tbody>"]
    for name, *cells in rows:
        rest = "".join(f'<td style="text-align: {align}">{escape(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th style="text-align: left">{escape(name)}</th>{rest}</tr>')
    return f"<p>{escape(title)}</p><table>{''.join(lines)}</tbody></table>"


def html_members(thing: object, rows: Mapping[str, int]) -> str:
    """Write which tables an object has, each with what a row of it is, for a notebook.

    Parameters
    ----------
    thing : object
        With the tables as members; the first line of what documents a member says what its rows
        are.
    rows : mapping of str to int
        How many rows there are in each, by the name of the member.

    Returns
    -------
    str
        As `html_table`.
    """
    told = ((getattr(type(thing), name).__doc__ or "").partition("\n")[0] for name in rows)
    lines = [
        (f".{name}", f"{rows[name]:,}", what.partition(";")[0].rstrip("."))
        for name, what in zip(rows, told, strict=True)
    ]
    return html_table(repr(thing).strip("<>"), lines, ("table", "rows", ""), align="left")


def html_text(text: str) -> str:
    """Write a text of several lines for a notebook, as it stands on a terminal."""
    return f"<pre>{escape(text)}</pre>"


def html_list(lines: Iterable[str]) -> str:
    """Write warnings and the like for a notebook; nothing if there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
