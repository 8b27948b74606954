"""Figures of a sweep: means of a metric over an axis, other axes as hue and dash."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from lightburst import plot
from lightburst.experiment.swept.cube import spread
from lightburst.experiment.swept.theory import curves as theories_in
from lightburst.experiment.swept.theory import named_in, predicted
from lightburst.expressions import parse
from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.formatting import as_given
from lightburst.result.labels import column_words
from lightburst.study.design.points import SAMPLE, VARIANT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.figure import Figure as Canvas

    from lightburst.experiment.swept.runs import SweptRuns


def draw(
    sweep: SweptRuns,
    x: str | None,
    y: str | None,
    hue: str | None,
    dash: str | None,
    at: Mapping[str, object] | None,
    theory: Any,
    **more: Any,
) -> Canvas:
    """Draw a figure as documented at `Sweep.plot`."""
    said = named_in(theory)
    means = sweep.table(said[0].metric if said and y is None else y)
    means = means[means["metric"] == means["metric"].iloc[0]].copy()
    for one in said:
        means[one.name], ends = predicted(sweep, one, means["metric"].iloc[0])
        more["caption"] = f"{more.get('caption', '')} {ends}".strip()
    varying = [name for name in sweep.design.columns if name != SAMPLE]
    means, varying = _at(means, varying, at or {})
    chosen_x = _axis(sweep, varying) if x is None else _known("x", x, varying)
    for key, asked in (("hue", hue), ("dash", dash)):
        if asked is not None:
            _known(key, asked, varying)
    several = [
        name for name in varying if len(set(means[name].dropna())) > 1 or name in (hue, dash)
    ]
    rest = [name for name in several if name not in (chosen_x, hue, dash)]
    if hue is None and rest:
        hue = rest.pop(rest.index(VARIANT) if VARIANT in rest else 0)
    if dash is None and rest:
        dash = rest.pop(0)
    if rest:
        given = f"nothing for {', '.join(rest)}"
        raise InputError("at", given, "a value for each axis that is neither x, hue nor dash")
    axis = next((one for one in sweep.design.axes if one.name == chosen_x), None)
    if axis is not None:
        means = spread(means, axis, sweep.runs)
    for told in filter(None, (hue, dash)):
        if means[told].isna().any():
            means[told] = means[told].map(as_given)
    metric_asked = str(means["metric"].iloc[0])
    metric = _named(sweep, metric_asked)
    means = means.assign(metric=metric)
    theory = theories_in(means, said, dash) if said else theory
    means = means.drop(columns=[one.name for one in said])
    canvas: Canvas = plot.curves(
        means, x=chosen_x, y=metric, hue=hue, dash=dash, theory=theory, **more
    )
    own = sweep.study.metrics.get(metric_asked)
    if own is not None and (label := parse(own).label):
        # The label replaces the name and keeps the unit with its prefix.
        axes = more.get("ax") or canvas.axes[0]
        axes.set_ylabel(f"{label}{axes.get_ylabel()[len(column_words(metric)) :]}")
    return canvas


def _at(
    means: pd.DataFrame, varying: list[str], at: Mapping[str, object]
) -> tuple[pd.DataFrame, list[str]]:
    """Select the rows at the given values of some axes; return them and the other axes."""
    for name, value in at.items():
        _known("at", name, varying)
        chosen = means[name] == value
        if not chosen.any():
            known = dict.fromkeys(means[name].dropna())
            words = (as_given(one) if isinstance(one, float) else show(one) for one in known)
            values = ", ".join(words)
            raise InputError(f"at[{name!r}]", show(value), f"one of {values}")
        means = means[chosen | means[name].isna()]
        varying = [other for other in varying if other != name]
    return means, varying


def _named(sweep: SweptRuns, metric: str) -> str:
    """Return a name that ends in the unit; for a user-defined metric that of its expression."""
    if metric not in sweep.study.metrics:
        return metric
    unit = sweep.key(metric)
    return f"{metric.removesuffix(unit)}{unit}"


def draw_all(sweep: SweptRuns) -> Iterator[tuple[str, Canvas]]:
    """Draw the figures listed in a study.

    Yields
    ------
    (str, matplotlib.figure.Figure)
        Stem of the file name, and the figure.
    """
    used: dict[str, int] = {}
    for wanted in sweep.study.figures:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", f"{wanted.y}-over-{wanted.x.rpartition('.')[2]}")
        used[name] = used.get(name, 0) + 1
        numbered = name if used[name] == 1 else f"{name}-{used[name]}"
        yield numbered, draw(sweep, wanted.x, wanted.y, wanted.hue, wanted.dash, wanted.at, None)


def _axis(sweep: SweptRuns, varying: Sequence[str]) -> str:
    """Choose the first numeric axis, or else the first axis."""
    for name in varying:
        columns = [name, *(label for label in sweep.labels if label.startswith(f"{name}_"))]
        if name != VARIANT and any(_is_numbers(sweep.runs[column]) for column in columns):
            return name
    if not varying:
        raise InputError("x", "nothing", "an axis, or variants, of which the sweep has none")
    return varying[0]


def _is_numbers(values: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(values) and len(set(values.dropna())) > 1


def _known(where: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        names = ", ".join(known) or "(nothing varies)"
        raise InputError(where, show(name), f"what varies: {names}{did_you_mean(name, known)}")
    return name
