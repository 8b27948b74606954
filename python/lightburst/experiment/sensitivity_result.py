"""Result of a sensitivity analysis: Sobol indices, figures and files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.experiment.optimum import key_of
from lightburst.experiment.study_files import write_study
from lightburst.foundation.files.directory import replace
from lightburst.foundation.formatting import html_list, html_text
from lightburst.papers.figure import BAR_COLUMNS, Bars
from lightburst.result.labels import words_of
from lightburst.result.metric_text import readable, records
from lightburst.study.design.written import tables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure as Canvas

    from lightburst.study.design.description import StudyDescription
    from lightburst.study.search.space import Space

#: Files of a saved analysis.
SENSITIVITY: Final = "sensitivity.json"
INDICES: Final = "indices.csv"
POINTS: Final = "points.csv"
FIGURE: Final = "indices"

_GROUPS: Final = ("first-order", "total")


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities:
    """Shares of parameters in the variance of metrics; returned by `lightburst.sensitivity`.

    Attributes
    ----------
    study : StudyDescription
        Study with the table ``sensitivity``.
    space : Space
        Parameter space, derived from the axes.
    table : pandas.DataFrame
        One row per metric and parameter: ``metric``, ``parameter``, ``first`` (first-order index)
        and ``total``, each with ``_low`` and ``_high`` (95 %).
    metrics : pandas.DataFrame
        One row per metric: ``metric``, its ``mean`` and ``std`` over the parameters, in the SI base
        unit, and ``noise``, the share of noise in the decomposed variance.
    points : pandas.DataFrame
        One row per point of the sample: the values of the parameters, and the mean of each metric.
    runs : int
        Number of runs, including those found in the store.
    failed : tuple of dict
        Failed runs: ``set``, ``seed``, and the error (``path``, ``given``, ``allowed``). Their
        points have no mean, and the indices are computed from the others; see docs/optimise.md.
    warnings : tuple of str
        Warnings of the runs, one per kind, and reservations about the answer.
    provenance : dict
        Versions and the machine.
    """

    study: StudyDescription
    space: Space
    table: pd.DataFrame
    metrics: pd.DataFrame
    points: pd.DataFrame
    runs: int
    failed: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Sensitivities of {', '.join(self.metrics['metric'])}: {self.answer}>"

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, float_format="{:.3g}".format)
        return f"{html_text(repr(self))}{table}{html_list(self.warnings)}"

    @property
    def answer(self) -> str:
        """Indices of each metric, in one line."""
        return "; ".join(
            said_of(list(rows["parameter"]), rows["total"].to_numpy(float), rows["first"])
            for _, rows in self.table.groupby("metric", sort=False)
        )

    def about(self, metric: str) -> str:
        """Return mean, standard deviation and noise of a metric, in one line."""
        (row,) = records(self.metrics[self.metrics["metric"] == metric])
        mean, deviation = (readable(self.key(metric), row[name]) for name in ("mean", "std"))
        noise = row["noise"]
        told = "noise unknown" if noise is None else f"{100 * noise:.2g} % of the variance is noise"
        return f"mean {mean}, standard deviation {deviation}, {told}"

    def key(self, metric: str) -> str:
        """Return the key from which `readable` derives the unit of a metric."""
        return key_of(self.study, metric)

    def plot(self) -> Canvas:
        """Draw the indices as bars with intervals, metrics side by side.

        Returns
        -------
        matplotlib.figure.Figure
            Figure to show or to save.
        """
        from lightburst.plots.static import draw

        canvas: Canvas = draw(self._figures())
        return canvas

    def _figures(self) -> list[Bars]:
        names = list(self.metrics["metric"])
        ids = [
            FIGURE if len(names) == 1 else f"{FIGURE}-{place + 1}" for place in range(len(names))
        ]
        return [self._figure(name, id) for name, id in zip(names, ids, strict=True)]

    def _figure(self, metric: str, id: str) -> Bars:
        rows = self.table[self.table["metric"] == metric]
        data = []
        for row in rows.to_dict("records"):
            for name, key in zip(_GROUPS, ("first", "total"), strict=True):
                top = max(0.0, row[key])
                ends = max(0.0, row[f"{key}_low"]), max(0.0, row[f"{key}_high"])
                bar = str(row["parameter"]).replace(".", ".\n")
                data.append((bar, name, 0.0, top, *ends, f"{row[key]:.2f}"))
        frame = pd.DataFrame(data, columns=list(BAR_COLUMNS))
        seeds = len(self.study.all_seeds)
        caption = (
            f"Sobol indices of {words_of(metric)} with 95 % intervals, {len(self.points):,} points "
            f"of {seeds} {'seeds' if seeds > 1 else 'seed'} each; {self.about(metric)}."
        )
        return Bars(
            id,
            f"What moves {words_of(metric)}",
            caption,
            "",
            "Share of the variance",
            tuple(frame["bar"].unique()),
            _GROUPS,
            frame,
        )

    def save(self, directory: str | Path) -> Path:
        """Write the indices, the points, the figures and the study.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist; an existing result in it is replaced atomically.

        Returns
        -------
        Path
            Path of the directory. It contains ``sensitivity.json`` with all results but the points,
            ``indices.csv``, ``points.csv``, ``indices.png`` and ``.svg`` (for several metrics
            ``indices-1.png`` and so on), and ``study.toml``, which repeats the analysis.

        Raises
        ------
        InputError
            If the directory cannot be written, or contains foreign files.
        """
        return replace(directory, self._write)

    def _write(self, directory: Path) -> None:
        from lightburst.plots.static import save

        self.table.to_csv(directory / INDICES, index=False)
        self.points.to_csv(directory / POINTS, index=False)
        for figure in self._figures():
            save(figure, directory)
        write_study(directory, self.study, SENSITIVITY, self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return all results but the points as JSON-compatible values; None if missing."""
        return {
            "study": tables(self.study),
            "metrics": records(self.metrics),
            "indices": records(self.table),
            "points": len(self.points),
            "runs": self.runs,
            "failed": [dict(one) for one in self.failed],
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }


def said_of(names: list[str], total: np.ndarray, first: Any) -> str:
    """Format indices in one line, the largest first."""
    order = np.argsort(-np.asarray(total), kind="stable")
    values = np.asarray(first, dtype=float)
    return ", ".join(f"{names[i]} {values[i]:.2f} (total {total[i]:.2f})" for i in order)
