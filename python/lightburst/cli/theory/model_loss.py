"""Common part of the commands for loss models: input points, table and figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lightburst.cli.terminal.options import choice
from lightburst.cli.theory.grids import grid, number_above_zero, wholes
from lightburst.cli.theory.model_output import (
    FORMATS,
    check_figure,
    outside,
    print_records,
    save_figure,
)
from lightburst.foundation.errors import InputError
from lightburst.papers.figure import COLUMNS, Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Row = dict[str, Any]
#: Number of wavelengths, and load per wavelength.
Point = tuple[int, float]

_MOST_WAVELENGTHS: Final = 65_536
_BROKEN: Final = "broken_assumptions"


@dataclass(frozen=True)
class LossModel:
    """A model of loss on the command line.

    Parameters
    ----------
    name, title, source : str
        Name of the command, its topic, and its published source.
    headings : mapping of str to str
        Headings by key of the columns after wavelengths and load; a column missing from the rows is
        left out.
    curves : mapping of str to str
        Legend entries by key of the columns that a figure draws.
    rows : callable
        Computes rows from the points and the command's own options: values by column, among them
        ``wavelengths`` and ``load``. None is a value that does not exist.
    groups : mapping of str to str
        Formats of the legend by key of further columns, beside the number of wavelengths, that
        distinguish curves.
    assumptions : mapping of str to str
        Explanations of the assumptions of the column ``loss``, by the names in
        ``broken_assumptions``.
    """

    name: str
    title: str
    source: str
    headings: Mapping[str, str]
    curves: Mapping[str, str]
    rows: Callable[..., Iterator[Row]]
    groups: Mapping[str, str] = field(default_factory=dict)
    assumptions: Mapping[str, str] = field(default_factory=dict)

    def curves_of(self, records: Sequence[Row]) -> list[str]:
        """Name the curve of each row by the grouping columns that differ between rows."""
        groups = {"wavelengths": "W = {}", **self.groups}
        several = {key for key in groups if len({row[key] for row in records}) > 1}
        told = [key for key in groups if key in (several or {"wavelengths"})]
        return [", ".join(groups[key].format(row[key]) for key in told) for row in records]


def print_model(
    model: LossModel,
    load: str,
    wavelengths: str,
    format: str,
    figure: str | None,
    **options: str | None,
) -> None:
    """Compute losses with a model and print them.

    Parameters
    ----------
    model : LossModel
        Model to evaluate.
    load, wavelengths : str
        Lists, as given on the command line.
    format : {"table", "json", "csv"}
        Output format.
    figure : str or None
        File to draw to.
    **options : str or None
        The model's own options, as given on the command line.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been printed or written then.
    """
    choice("--format", format, FORMATS)
    loads = grid("--load", load, number_above_zero)
    channels = wholes("--wavelengths", wavelengths, 1, _MOST_WAVELENGTHS)
    records = list(model.rows([(w, rho) for w in channels for rho in loads], **options))
    file = check_figure(figure, len(loads), len(set(model.curves_of(records))))
    if file is not None:
        said = [f"{key.replace('_', ' ')} {text}" for key, text in options.items() if text]
        told = ", ".join([f"W = {wavelengths}", *said])
        save_figure(*_figure(model, records, told), file)
    headings = {"wavelengths": "W", "load": "load", **model.headings}
    shown = {key: words for key, words in headings.items() if key in records[0]}
    more = {"model": model.name, "source": model.source, "assumptions": model.assumptions}
    notes = outside(records, model.assumptions) if model.assumptions else []
    print_records(f"{model.name}: {model.title}", records, shown, format, more, notes)


def _figure(model: LossModel, records: Sequence[Row], told: str) -> tuple[Figure, pd.Series[bool]]:
    points = [
        (curve, words, row["load"], *[row[key]] * 3, 0, key == "loss" and row.get(_BROKEN))
        for key, words in model.curves.items()
        for curve, row in zip(model.curves_of(records), records, strict=True)
        if row.get(key)  # zero has no logarithm
    ]
    data = pd.DataFrame(points, columns=[*COLUMNS, _BROKEN])
    if data.empty:
        raise InputError("--figure", "losses that are all zero", "a loss above zero")
    doubtful = data.pop(_BROKEN).map(bool)
    hollow = " Hollow points break an assumption." * bool(doubtful.any())
    drawn = Figure(
        id=model.name,
        title=f"{model.title[0].upper()}{model.title[1:]}",
        caption=f"{model.source}. Here: {told}.{hollow}",
        x_label="Offered load of a wavelength (erlangs)",
        y_label="Loss probability",
        colours=tuple(dict.fromkeys(data["colour"])),
        dashes=tuple(dict.fromkeys(data["dash"])),
        data=data,
        x_log=False,
        y_log=True,
        legends=("Loss", ""),
    )
    return drawn, doubtful
