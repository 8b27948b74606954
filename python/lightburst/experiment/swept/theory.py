"""Predictions of theories at the points of a sweep."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import InputError
from lightburst.models import theory as theories
from lightburst.models.theory import Theory

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from lightburst.experiment.swept.runs import SweptRuns
    from lightburst.scenario import Scenario

# Maximum number of points for which scenarios are built and theories evaluated.
_MOST_POINTS: Final = 3000


def beside(sweep: SweptRuns, theory: str | Theory) -> pd.DataFrame:
    """Implement `Sweep.beside`."""
    chosen = theories.named(theory)
    return theories.beside(sweep.table(chosen.metric), _scenarios(sweep), chosen)


def that_apply(sweep: SweptRuns) -> list[tuple[Theory, pd.DataFrame]]:
    """Return each theory that applies to a point of a sweep, with its result of `beside`.

    Empty for a sweep of very many points.
    """
    if not 0 < sweep.design.number <= _MOST_POINTS:
        return []
    scenarios, found = _scenarios(sweep), []
    for theory in theories.THEORIES.values():
        if theory.metric in sweep.metrics:
            with suppress(InputError):  # applies to no point
                rows = theories.beside(sweep.table(theory.metric), scenarios, theory)
                found.append((theory, rows))
    return found


def _scenarios(sweep: SweptRuns) -> list[Scenario]:
    base, places = sweep.design.base, sweep.design.places
    return [base.with_(dict(place.point)) for place in places]


def named_in(theory: Any) -> list[Theory]:
    """Return the theories that a figure requests by name; empty if it has curves of its own."""
    asked = list(theory) if isinstance(theory, list | tuple) else [theory]
    if not asked or not all(isinstance(one, str | Theory) for one in asked):
        return []
    return [theories.named(one) for one in asked]


def predicted(sweep: SweptRuns, theory: Theory, metric: str) -> tuple[pd.Series[float], str]:
    """Return a theory's prediction per row of ``sweep.table(metric)``, and its limits as text.

    `InputError` if the theory predicts another metric.
    """
    if theory.metric != metric:
        of_it = [name for name, one in theories.THEORIES.items() if one.metric == metric]
        allowed = f"theories of {metric}: {', '.join(of_it) or 'there are none'}"
        raise InputError("theory", f"'{theory.name}', which is of {theory.metric}", allowed)
    found = beside(sweep, theory)
    names = [name for text in found["broken"] for name in text.split(", ") if name]
    ends = "; ".join(
        f"{theory.assumptions.get(name, 'what it is about')} ({names.count(name)})"
        for name in dict.fromkeys(names)
    )
    said = (
        f"{theory.words} breaks assumptions at some of the {len(found)} points: {ends}. "
        if names
        else ""
    )
    return found["theory"], said


def curves(
    means: pd.DataFrame, said: Sequence[Theory], dash: str | None
) -> dict[str, pd.DataFrame]:
    """Split rows with one column per theory into one table per theory, for a figure."""
    own = [one.name for one in said]
    rest = means.drop(columns=[*own, "mean"])
    found = {one.words: rest.assign(y=means[one.name]).dropna(subset=["y"]) for one in said}
    if dash is None:
        return found
    # In the figure the dash already identifies the theory: values of the column `dash` are
    # appended to the name of the curve instead.
    return {
        f"{words}, {value}": rows
        for words, table in found.items()
        for value, rows in table.groupby(dash, sort=False)
    }
