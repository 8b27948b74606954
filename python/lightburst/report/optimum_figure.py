"""Figures of a search: trials over each parameter, or the Pareto front."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.experiment.optimum_theory import THROUGHPUT, TIME, curve_of
from lightburst.foundation.formatting import prefixed
from lightburst.papers.figure import BAR_COLUMNS, Bars
from lightburst.plots.tables import figure_of
from lightburst.result.labels import has_prefix, unit_of, words_of
from lightburst.study.search.racing import COMPLETE, GIVEN_UP, UNUSABLE
from lightburst.study.search.trials import AS_GOOD, BEST, DEFAULT, WORSE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.experiment.optimum import Optimum
    from lightburst.papers.figure import AnyFigure
    from lightburst.study.search.space import Dimension

_ALONG: Final = 101
_MOST_BARS: Final = 12
_WORDS: Final = {
    COMPLETE: "trial, all seeds",
    WORSE: "trial, worse than the best",
    AS_GOOD: "trial, as good as the best",
    GIVEN_UP: "trial, given up",
}
# Order of the legend.
_ORDER: Final = (_WORDS[AS_GOOD], _WORDS[WORSE], _WORDS[GIVEN_UP])


def figures(found: Optimum) -> list[AnyFigure]:
    """Make the figures of a search, one per numeric parameter.

    Parameters
    ----------
    found : Optimum
        Result of the search.

    Returns
    -------
    list of AnyFigure
        For several objectives, one figure per further objective over the first. Without numeric
        parameters, bars of the best trials.
    """
    if len(found.aims) > 1:
        return [_front(found, place) for place in range(1, len(found.aims))]
    drawn: list[AnyFigure] = [
        figure
        for axis in found.space.axes
        if (figure := _over(found, axis)) is not None
    ]  # fmt: skip
    if not drawn:
        return [_bars(found)]
    if len(drawn) == 1:
        return drawn
    # Separate files need different ids.
    return [replace(one, id=f"{one.id}-{place}") for place, one in enumerate(drawn, 1)]


def _column(rows: pd.DataFrame, name: str) -> str | None:
    """Return the numeric column of a parameter; None if there is none."""
    for column in rows:
        own = str(column) == name or str(column).rpartition("_")[0] == name
        if own and pd.api.types.is_numeric_dtype(rows[column]):
            return str(column)
    return None


def _over(found: Optimum, axis: Dimension) -> AnyFigure | None:
    """Draw the trials over one parameter; None if it is not numeric."""
    if axis.steps and not axis.ordered and len(axis.steps) < 3:
        return None
    (aim,) = found.aims
    column = _column(found.trials, axis.name)
    if column is None:
        return None
    y = f"{aim.metric}{_suffix(found, aim.metric)}"
    trials = found.trials[found.trials["verdict"] != UNUSABLE]
    what = trials["verdict"].map(lambda word: _WORDS.get(word, _WORDS[AS_GOOD]))
    rows = pd.concat(
        [_rows(trials, column, y, what), _rows(found.confirmed, column, y, _fresh(found))],
        ignore_index=True,
    )
    rows = rows[np.isfinite(rows["x"].to_numpy(float)) & np.isfinite(rows[y].to_numpy(float))]
    order = [*_ORDER, *_fresh(found)]
    rows = rows.sort_values("what", key=lambda names: names.map(order.index), kind="stable")
    rows = rows.rename(columns={"x": column})
    log = bool(axis.ranges) and axis.ranges[0].scale == "log"
    theory = _theory(found, axis, rows, column)
    return figure_of(
        rows, column, y, "what", None, ("low", "high"), theory,
        id="optimum", title=_title(found), caption=_caption(found, bool(theory)),
        x_log=log or None, published=("simulation", ""), legends=("", ""),
    )  # fmt: skip


def _rows(table: pd.DataFrame, column: str, y: str, what: Any) -> pd.DataFrame:
    known = table.get(column, np.nan)
    return pd.DataFrame(
        {"x": known, y: table["mean"], "low": table["ci_low"], "high": table["ci_high"]},
        index=table.index,
    ).assign(what=list(what), n=1)


def _fresh(found: Optimum) -> list[str]:
    """Return the legend entries of the confirmed points, row by row."""
    return [f"{name}, fresh seeds" for name in found.confirmed["point"]]


def _suffix(found: Optimum, metric: str) -> str:
    """Return the unit suffix that a user-defined metric lacks in its name."""
    key = found.key(metric)
    return "" if key == metric else key


def _theory(
    found: Optimum, axis: Dimension, rows: pd.DataFrame, column: str
) -> dict[str, pd.DataFrame] | None:
    """Return the curve of yu2004 over the assembly time, if applicable."""
    (aim,) = found.aims
    if not found.theory or axis.name != TIME or aim.metric != THROUGHPUT:
        return None
    ends = float(rows[column].min()), float(rows[column].max())
    log = bool(axis.ranges) and axis.ranges[0].scale == "log"
    times = (np.geomspace if log else np.linspace)(*ends, _ALONG)
    return {"yu2004": pd.DataFrame({"x": times, "y": curve_of(found.scenario, times)})}


def _title(found: Optimum) -> str:
    return f"{found.asked[:1].upper()}{found.asked[1:]}"


def _caption(found: Optimum, theory: bool) -> str:
    verdicts = found.trials.drop_duplicates("trial")["verdict"]
    seeds, fresh = found.trials["seeds"].max(), found.confirmed["n"].max()
    parts = [
        f"{len(verdicts)} trials on up to {seeds} seeds",
        f"{(verdicts == GIVEN_UP).sum()} given up before" * bool((verdicts == GIVEN_UP).any()),
        f"{(verdicts == UNUSABLE).sum()} without a finite mean"
        * bool((verdicts == UNUSABLE).any()),
    ]
    said = f"{', '.join(filter(None, parts))}. Bars are 95 % intervals of the mean. "
    said += f"Default and answer on {fresh} fresh seeds"
    if found.gain:
        said += f": {found.gain}"
    if theory:
        said += f". By yu2004: {', '.join(map(str, found.theory))}"
    return f"{said}."


def _front(found: Optimum, place: int) -> AnyFigure:
    """Draw one objective over the first."""
    first, other = found.aims[0].metric, found.aims[place].metric
    x, y = (f"{name}{_suffix(found, name)}" for name in (first, other))
    trials = found.trials[found.trials["verdict"] != UNUSABLE]
    sides = [trials[trials["metric"] == name].set_index("trial") for name in (first, other)]
    words = {BEST: "front, seeds of the search", GIVEN_UP: _WORDS[GIVEN_UP]}
    what = sides[0]["verdict"].map(lambda word: words.get(word, "trial, behind the front"))
    points = [found.confirmed[found.confirmed["metric"] == name] for name in (first, other)]
    again = points[0]["point"].map(
        lambda name: f"{'default' if name == DEFAULT else 'front'}, fresh seeds"
    )
    tables = [
        pd.DataFrame({x: one["mean"].to_numpy(), y: two["mean"].to_numpy(), "what": list(names),
                      "low": two["ci_low"].to_numpy(), "high": two["ci_high"].to_numpy(), "n": 1})
        for (one, two), names in ((sides, what), (points, again))
    ]  # fmt: skip
    rows = pd.concat(tables, ignore_index=True)
    return figure_of(
        rows, x, y, "what", None, ("low", "high"), None,
        id="optimum", title=_title(found), caption=_caption(found, False),
        published=("simulation", ""), legends=("", ""),
    )  # fmt: skip


def _bars(found: Optimum) -> Bars:
    """Draw the best trials side by side, if no parameter is numeric."""
    (aim,) = found.aims
    rows = found.trials[found.trials["verdict"].isin([BEST, AS_GOOD, WORSE])]
    rows = rows.sort_values("mean", ascending=aim.sign > 0, kind="stable").head(_MOST_BARS)
    names = ["\n".join(_named(found, row)) for row in rows.to_dict("records")]
    key = found.key(aim.metric)
    unit, letter = prefixed(float(rows["mean"].abs().max())) if has_prefix(key) else (1.0, "")
    height = rows[["mean", "ci_low", "ci_high"]].to_numpy(float) / unit
    data = pd.DataFrame(
        {
            "bar": names,
            "group": "",
            "base": 0.0,
            "top": height[:, 0],
            "low": height[:, 1],
            "high": height[:, 2],
            "words": rows["verdict"].to_numpy(),
        },
        columns=list(BAR_COLUMNS),
    ).drop_duplicates("bar")
    words = words_of(aim.metric)
    label = f"{words[:1].upper()}{words[1:]}" + (f" ({letter}{unit_of(key)})" * bool(unit_of(key)))
    return Bars(
        "optimum", _title(found), _caption(found, False), "", label, tuple(data["bar"]), ("",), data
    )  # fmt: skip


def _named(found: Optimum, row: Any) -> Sequence[str]:
    return [found.value(name, row) for name in found.space.columns if row.get(name) is not None]
