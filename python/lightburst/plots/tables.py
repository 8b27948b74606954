"""Conversion of tidy tables of users into figures: units, axes, legends and theory curves."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.formatting import prefixed, prefixed_along
from lightburst.foundation.units import (
    DELAY_PER_LENGTH,
    ENERGY_PER_BIT,
    FREQUENCY,
    LENGTH,
    RATE,
    SIZE,
    TIME,
)
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.plots.axis import is_geometric, number
from lightburst.result.labels import column_words, has_prefix, unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_THEORY: Final = "theory"
# Suffixes of numeric columns beside a quantity given as text, by dimension.
_SUFFIXES: Final = tuple(
    sorted(
        (d.suffix for d in (TIME, SIZE, RATE, LENGTH, FREQUENCY, DELAY_PER_LENGTH, ENERGY_PER_BIT)),
        key=len,
        reverse=True,
    )
)
_SIMULATED: Final = "simulation"
_ALONG: Final = 101  # points at which a function is evaluated
TIME_S: Final = "time_s"
_PLACE: Final = "place along x"
#: Positive values on the vertical axis that span more than this factor have a logarithmic axis.
_HEIGHTS: Final = 1e3
# Boolean columns of specially drawn points, and the sentence that the caption adds for each.
_FEW, _LIMIT = "doubtful", "limit"
_MARKS: Final = {
    _FEW: "Hollow: a percentile that so few flows cannot support.",
    _LIMIT: "A triangle points down from an upper bound: none was seen.",
}
#: Number of decades on a linear vertical axis from which a logarithmic one is suggested.
_DECADES: Final = 2.0


class Axis(NamedTuple):
    """An axis: its column, the size of its unit in the unit of the column, its label."""

    column: str
    unit: float
    label: str
    logarithmic: bool


def figure_of(
    table: pd.DataFrame,
    x: str,
    y: str,
    hue: str | None,
    dash: str | None,
    ci: Sequence[str] | None,
    theory: Any,
    **words: Any,
) -> Figure:
    """Make a figure from a tidy table, as documented at `lightburst.plot.curves`."""
    _check(table)
    rows, height = _rows(table, y)
    rows, across, places = _along(rows, x, words.pop("x_label", None), words.pop("x_log", None))
    unasked = words.get("y_log") is None
    up = _axis(rows, _numeric(rows, height, "y"), "y", words.pop("y_label", None),
               words.pop("y_log", None), name=y)  # fmt: skip
    low, high = _ends(rows, up.column, ci)
    colours, dashes = _names(rows, hue, "hue"), _names(rows, dash, "dash")
    own = dashes.order if dash or theory is None else (_SIMULATED,)
    data = pd.DataFrame(
        {
            "colour": colours.rows,
            "dash": dashes.rows if dash else own[0],
            "x": rows[across.column].astype(float) / across.unit,
            "y": rows[up.column].astype(float) / up.unit,
            "low": low / up.unit,
            "high": high / up.unit,
            "runs": rows.get("n", 1),
            _FEW: _few(rows),
        }
    )
    # On a logarithmic height zeros are hollow on its lower edge, with their upper bound.
    data[_LIMIT] = (data["y"] == 0) & (data["low"] == 0) & (data["high"] > 0) & (not up.logarithmic)
    data = data[np.isfinite(data["x"]) & np.isfinite(data["y"])]
    if data.empty:
        raise InputError("y", show(y), "a column with a number in at least one row")
    closed = _theory(theory, data, across, up, hue, x, places)
    lines = tuple(dict.fromkeys(closed["dash"]))
    both = pd.concat([data, closed]) if len(closed) else data
    if up.logarithmic:
        both["y"] = both["y"].where((both["y"] > 0) | ~both["dash"].isin(lines))
        both["low"] = both["low"].clip(lower=0)
    elif unasked and (told := _hint(both["y"])):
        words["caption"] = f"{words.get('caption', '')} {told}".strip()
    marks = [name for name in _MARKS if data[name].any()]
    both[marks] = both[marks].astype(object).where(both[marks].notna(), False).astype(bool)
    said = " ".join(filter(None, (words.pop("caption", ""), *(_MARKS[name] for name in marks))))
    return Figure(
        **{
            "id": "curves",
            "title": "",
            "caption": said,
            "x_label": across.label,
            "y_label": up.label,
            "x_log": across.logarithmic,
            "y_log": up.logarithmic,
            "y_zero": bool(both["low"].min() >= 0),
            "colours": colours.order,
            "dashes": (*own, *lines),
            "theory": lines,
            "data": both[[*COLUMNS, *marks]],
            "legends": (colours.heading, dashes.heading),
            "ordered": colours.ordered,
            "places": places,
            **words,
        }
    )


def _few(rows: pd.DataFrame) -> Any:
    """Tell which rows are percentiles that need more samples than there are."""
    if "samples" in rows and "needed" in rows:
        return rows["samples"] < rows["needed"]
    return False


def in_one_column(
    table: Any, y: str | Sequence[str], hue: str | None
) -> tuple[pd.DataFrame, str, str | None]:
    """Stack several columns of one unit into a single one, with their names as the hue."""
    _check(table)
    if TIME_S not in table:
        raise InputError("table", f"one without {TIME_S}", "such as result.samples.links")
    if isinstance(y, str):
        return table, y, hue
    names = [_numeric(table, name, "y") for name in y]
    units = dict.fromkeys(unit_of(name) or "no unit" for name in names)
    if not names or len(units) > 1:
        told = " and ".join(units) or "no column"
        raise InputError("y", told, "one column, or several in one unit")
    if hue is not None and len(names) > 1:
        raise InputError("hue", show(hue), "nothing beside several columns, which have the hues")
    if len(names) == 1:
        return table, names[0], hue
    end = _suffix(names[0])
    value = f"value_{end}" if end else "value"
    rows = table.melt(TIME_S, names, "quantity", value)
    return rows.assign(quantity=rows["quantity"].map(column_words)), value, "quantity"


def _check(table: Any) -> None:
    if not isinstance(table, pd.DataFrame) or table.empty:
        raise InputError("table", show(type(table).__name__), "a pandas DataFrame with rows")


def _rows(table: pd.DataFrame, y: str) -> tuple[pd.DataFrame, str]:
    """Select the rows of one metric in a table of several, and their column of values."""
    if y not in table and "metric" in table and y in set(table["metric"]):
        return table[table["metric"] == y], "mean"
    return table, y


def _along(
    table: pd.DataFrame, name: str, label: str | None, logarithmic: bool | None
) -> tuple[pd.DataFrame, Axis, tuple[str, ...]]:
    """Choose the horizontal axis: numbers, or categories in the order of the rows."""
    if name not in table or _is_quantity(table[name]) or _beside(table, name):
        return table, _axis(table, _numeric(table, name, "x"), "x", label, logarithmic), ()
    if logarithmic:
        raise InputError("x_log", "True", f"an axis of numbers; {name} has words")
    words = column_words(name)
    axis = Axis(_PLACE, 1.0, f"{words[:1].upper()}{words[1:]}" if label is None else label, False)
    places = tuple(dict.fromkeys(table[name].dropna().astype(str)))
    return _placed(table, name, places), axis, places


def _placed(table: pd.DataFrame, name: str, places: Sequence[str]) -> pd.DataFrame:
    at = {word: float(place) for place, word in enumerate(places)}
    return table.assign(**{_PLACE: table[name].astype(str).map(at)})


def _beside(table: pd.DataFrame, name: str) -> list[str]:
    """List the numeric columns that repeat a text column in SI units."""
    columns = [str(one) for one in table.columns if _is_quantity(table[one])]
    return [column for column in columns if column == f"{name}_{_suffix(column)}"]


def _numeric(table: pd.DataFrame, name: str, argument: str) -> str:
    """Return the name of a numeric column; for a text column with units, its numeric copy."""
    known = [str(column) for column in table.columns]
    numbers = [column for column in known if pd.api.types.is_numeric_dtype(table[column])]
    if name in numbers:
        return name
    beside = _beside(table, name)
    if name in known and len(beside) == 1:
        return beside[0]
    allowed = f"a column of the table with numbers{did_you_mean(name, numbers)}"
    raise InputError(argument, show(name), allowed)


def _suffix(column: str) -> str:
    """Return the unit suffix of a column's name, such as ``per_s``; empty if it has none."""
    return next((end for end in _SUFFIXES if column.endswith(f"_{end}")), "")


def _axis(
    table: pd.DataFrame,
    column: str,
    way: str,
    label: str | None,
    logarithmic: bool | None,
    name: str = "",
) -> Axis:
    values = table[column].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    if logarithmic is None:
        logarithmic = is_geometric(values) and (
            way == "x" or bool(values.max() / values.min() > _HEIGHTS)
        )
    positive = values[values > 0]
    if logarithmic and values.size:
        least = values.min()
        if way == "x" and least <= 0:
            raise InputError("x_log", "True", f"a column of positive numbers; {column} has others")
        if way == "y" and (least < 0 or not positive.size):
            allowed = f"a column of numbers from 0 on, one at least above; {column} has others"
            raise InputError("y_log", "True", allowed)
    named = name or column
    unit, letter = 1.0, ""
    if has_prefix(named) and label is None and values.size:
        unit, letter = (
            prefixed_along(float(positive.min()), float(positive.max()))
            if logarithmic
            else prefixed(float(np.abs(values).max()))
        )
    words = column_words(named)
    told = f" ({letter}{unit_of(named)})" if unit_of(named) else ""
    return Axis(column, unit, label or f"{words[:1].upper()}{words[1:]}{told}", logarithmic)


def _hint(heights: pd.Series[float]) -> str:
    """Return a hint to use a logarithmic axis if the values span many decades, else nothing."""
    positive = heights[heights > 0]
    if positive.empty or (heights < 0).any():
        return ""
    decades = math.log10(positive.max() / positive.min())
    return f"Over {decades:.1f} decades: y_log=True tells the low points apart." * (
        decades >= _DECADES
    )


def _ends(
    table: pd.DataFrame, height: str, ci: Sequence[str] | None
) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return the ends of the intervals; a missing end is replaced by the value itself."""
    middle = table[height].astype(float)
    if ci is None:
        return middle, middle
    if isinstance(ci, str) or len(ci) != 2:
        raise InputError("ci", show(str(ci)), "two names of columns, or None")
    own = [f"{height}_{name}" for name in ci]
    names = own if all(name in table for name in own) else list(ci)
    if not all(name in table for name in names):
        if tuple(ci) == ("ci_low", "ci_high"):
            return middle, middle  # the default names: intervals were not requested
        missing = next(name for name in names if name not in table)
        allowed = f"columns of the table{did_you_mean(missing, [str(c) for c in table.columns])}"
        raise InputError("ci", show(missing), allowed)
    low, high = (table[name].astype(float) for name in names)
    return low.fillna(middle), high.fillna(middle)


class Names(NamedTuple):
    """Curve name per row, all names in order, whether they are quantities, and a heading."""

    rows: pd.Series[str]
    order: tuple[str, ...]
    ordered: bool
    heading: str


def _names(table: pd.DataFrame, column: str | None, argument: str) -> Names:
    if column is None:
        return Names(pd.Series("", index=table.index), ("",), False, "")
    if column not in table:
        allowed = f"a column of the table{did_you_mean(column, [str(c) for c in table.columns])}"
        raise InputError(argument, show(column), allowed)
    values = table[column]
    words = column_words(column)
    if not _is_quantity(values):
        heading = f"{words[:1].upper()}{words[1:]}"
        named = values.astype(str)
        beside = _beside(table, column)
        if beside:
            named = named.loc[table[beside[0]].sort_values(kind="stable").index]
        return Names(values.astype(str), tuple(dict.fromkeys(named)), bool(beside), heading)
    axis = _axis(table, column, "x", None, False)
    write = partial(number, digits=4)
    order = (write(value / axis.unit) for value in sorted(set(values.dropna())))
    return Names((values / axis.unit).map(write), tuple(dict.fromkeys(order)), True, axis.label)


def _is_quantity(values: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _theory(
    theory: Any,
    data: pd.DataFrame,
    across: Axis,
    up: Axis,
    hue: str | None,
    x: str,
    places: Sequence[str],
) -> pd.DataFrame:
    """Return the rows of the closed forms, in the units of the axes."""
    if theory is None:
        return pd.DataFrame(columns=list(COLUMNS))
    if isinstance(theory, pd.DataFrame) or callable(theory):
        theory = {_THEORY: theory}
    # Theory without a column for the hue applies to all hues, and has no colour.
    colour = "" if hue else data["colour"].iloc[0]
    found = []
    for name, form in theory.items():
        if callable(form) and places:
            raise InputError("theory", "a function", f"a table; {x} has words and no numbers")
        if callable(form):
            ends = float(data["x"].min()), float(data["x"].max())
            at = np.geomspace(*ends, _ALONG) if across.logarithmic else np.linspace(*ends, _ALONG)
            heights = np.broadcast_to(np.asarray(form(at * across.unit), dtype=float), at.shape)
            curve = pd.DataFrame({"x": at, "y": heights / up.unit, "colour": colour})
        else:
            form = _placed(form, x, places) if places and x in form else form
            column = _numeric(form, across.column if across.column in form else "x", "theory")
            height = up.column if up.column in form else "y"
            curve = pd.DataFrame(
                {
                    "x": form[column].astype(float) / across.unit,
                    "y": form[_numeric(form, height, "theory")].astype(float) / up.unit,
                    "colour": _names(form, hue, "theory").rows if hue and hue in form else colour,
                }
            )
        found.append(curve.assign(dash=str(name), low=curve["y"], high=curve["y"], runs=0))
    return pd.concat(found, ignore_index=True)[list(COLUMNS)]
