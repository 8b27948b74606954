"""``lightburst model scenario``: predictions of all theories for a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.cli.commands.run import changed
from lightburst.cli.terminal.options import choice
from lightburst.cli.theory.model_output import FORMATS, outside, print_records
from lightburst.foundation.errors import InputError
from lightburst.models.theory import THEORIES, Theory
from lightburst.result.metric_text import readable, words_of
from lightburst.scenario import Scenario, load

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADINGS: Final = {"theory": "theory", "said": "says", "broken_assumptions": "outside"}


def print_model(path: str, settings: Sequence[str], format: str) -> None:
    """Print the prediction of each applicable theory for a scenario.

    Parameters
    ----------
    path : str
        Path of the scenario file.
    settings : sequence of str
        Changes, ``path=value`` each.
    format : {"table", "json", "csv"}
        Output format.

    Raises
    ------
    InputError
        If an argument is invalid, or no theory applies to the scenario.
    """
    choice("--format", format, FORMATS)
    scenario = changed(load(path), settings)
    asked = [_asked(theory, scenario) for theory in THEORIES.values()]
    records = [row for row in asked if row["not_about"] is None]
    silent = [f"  {row['theory']}: {row['not_about']}" for row in asked if row["not_about"]]
    if format != "table":
        rows = [{key: row[key] for key in row if key != "said"} for row in asked]
        words = {name: theory.assumptions for name, theory in THEORIES.items()}
        more = {"model": "scenario", "assumptions": {n: dict(w) for n, w in words.items()}}
        print_records("", rows, {}, format, more, [])
        return
    notes = [
        line for row in records for line in outside([row], THEORIES[row["theory"]].assumptions)
    ]
    if silent:
        notes += ["Not about this scenario:", *silent]
    if not records:
        reasons = "; ".join(line.strip() for line in silent)
        raise InputError("SCENARIO", "one that no theory is about", reasons)
    print_records(scenario.name or "unnamed scenario", records, _HEADINGS, format, {}, notes)


def _asked(theory: Theory, scenario: Scenario) -> dict[str, Any]:
    try:
        found = theory.predict(scenario)
    except InputError as error:
        return _row(theory, None, (), "; ".join(str(error).splitlines()))
    return _row(theory, found.value, found.broken, None)


def _row(
    theory: Theory, value: float | None, broken: Sequence[str], silent: str | None
) -> dict[str, Any]:
    return {
        "theory": theory.name,
        "metric": theory.metric,
        "value": value,
        "said": f"{words_of(theory.metric)} {readable(theory.metric, value)}",
        "broken_assumptions": list(broken),
        "not_about": silent,
    }
