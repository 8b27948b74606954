"""Values, tables and texts for people, on a terminal and in a notebook."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_UNITS: Final = {"_bps": "b/s", "_s": "s", "_bytes": "B", "_j": "J"}
_SQUARED: Final = "_bps2"
#: Range in which numbers without a unit are rounded to integers.
_WHOLE_FROM, _WHOLE_BELOW = 1e4, 1e15
#: Largest number along an axis, if a prefix allows it.
_READABLE: Final = 10_001.0
_PREFIXES: Final = (
    (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"),
    (1e-9, "n"), (1e-12, "p"),
)  # fmt: skip


def readable(key: str, value: float | str | None) -> str:
    """Format a metric of the summary.

    Parameters
    ----------
    key : str
        Name of the metric, with its unit as suffix.
    value : float, str or None
        Value in the SI base unit.

    Returns
    -------
    str
        Number with a prefixed unit: ``89.7 Gb/s``; a dash for None and NaN; ``inf`` for infinity.
    """
    if value is None or isinstance(value, str):
        return value or "–"
    if math.isinf(value):
        return "inf"
    if math.isnan(value):
        return "–"
    # Without the group or size class: slowdown_p99[query].
    key = key.partition("[")[0]
    if key.endswith(_SQUARED):
        factor, prefix = prefixed(math.sqrt(abs(value)))
        return f"{value / factor**2:.4g} ({prefix}b/s)²"
    unit = next((word for end, word in _UNITS.items() if key.endswith(end)), None)
    if unit is None:
        if isinstance(value, int):
            return f"{value:,}"
        # A mean of counts is formatted as a count: 200,151 and not 2.002e+05.
        whole = _WHOLE_FROM <= abs(value) < _WHOLE_BELOW
        return f"{value:,.0f}" if whole else f"{value:,.4g}"
    factor, prefix = prefixed(abs(value))
    return f"{value / factor:.4g} {prefix}{unit}"


def prefixed(value: float) -> tuple[float, str]:
    """Return the factor of the prefix for a value, and the prefix."""
    return next(((size, word) for size, word in _PREFIXES if value >= size), (1.0, ""))


def exactly(value: float) -> str:
    """Format a number with all digits that distinguish it from others: 2, 1.0000000001."""
    return repr(float(value)).removesuffix(".0")


def as_given(value: object) -> str:
    """Format a value of an axis: as the user wrote it, or shorter if it was computed.

    Parameters
    ----------
    value : object
        A number, or any other value.

    Returns
    -------
    str
        A number of up to 12 digits in full, one with more (a step of a logarithmic range) with six
        digits; a dash for NaN and None.
    """
    if value is None or value != value:
        return "–"
    if not isinstance(value, float):
        return str(value)
    written = f"{value:.12g}"
    return written if float(written) == value else f"{value:g}"


def prefixed_along(low: float, high: float) -> tuple[float, str]:
    """Choose one prefix for values over several decades, so that all are short numbers.

    Parameters
    ----------
    low, high : float
        Smallest and largest value, above zero.

    Returns
    -------
    (float, str)
        Factor of the prefix, and the prefix. In order of preference: a prefix with all numbers
        from 1 to 10,000; one with all from 0.001 to 10,000; that of the geometric mean.
    """
    for least in (0.999, 0.000999):
        for size, word in _PREFIXES:
            if low / size >= least and high / size <= _READABLE:
                return size, word
    return prefixed(math.sqrt(low) * math.sqrt(high))


def html_table(
    title: str, rows: Iterable[Sequence[str]], heading: Sequence[str] = (), *, align: str = "right"
) -> str:
    """Format a table for a notebook.

    Parameters
    ----------
    title : str
        Text above the table.
    rows : iterable of sequence of str
        Cells as text; the first cell of a row is its name.
    heading : sequence of str
        Names of the columns, if any.
    align : {"right", "left"}
        Alignment of the other cells: numbers to the right, words to the left.

    Returns
    -------
    str
        HTML with all texts escaped.
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    lines = [f"<thead><tr>{head}</tr></thead>" if heading else "", "<tbody>"]
    for name, *cells in rows:
        rest = "".join(f'<td style="text-align: {align}">{escape(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th style="text-align: left">{escape(name)}</th>{rest}</tr>')
    return f"<p>{escape(title)}</p><table>{''.join(lines)}</tbody></table>"


def html_members(thing: object, rows: Mapping[str, int]) -> str:
    """Format a list of the tables of an object for a notebook, with a description of their rows.

    Parameters
    ----------
    thing : object
        Object with the tables as members. The first line of a member's docstring describes its
        rows.
    rows : mapping of str to int
        Number of rows of each table, by the name of the member.

    Returns
    -------
    str
        HTML, as `html_table`.
    """
    told = ((getattr(type(thing), name).__doc__ or "").partition("\n")[0] for name in rows)
    lines = [
        (f".{name}", f"{rows[name]:,}", what.partition(";")[0].rstrip("."))
        for name, what in zip(rows, told, strict=True)
    ]
    return html_table(repr(thing).strip("<>"), lines, ("table", "rows", ""), align="left")


def html_text(text: str) -> str:
    """Format a text of several lines for a notebook, with its line breaks and columns."""
    return f"<pre>{escape(text)}</pre>"


def html_list(lines: Iterable[str]) -> str:
    """Format lines such as warnings as a list for a notebook; an empty text without lines."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
