"""Result of a sweep: its runs, with figures, theory, a page and files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lightburst.experiment.study_files import write_study
from lightburst.experiment.swept.runs import SweptRuns
from lightburst.foundation.files.directory import replace
from lightburst.result.files import COMPARISONS, PAGE, RUNS, SWEEP, TABLE
from lightburst.result.metric_text import records
from lightburst.study.design.written import tables
from lightburst.study.store.failures import records as records_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure as Canvas

    from lightburst.models.theory import Theory


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(SweptRuns):
    """Result of a sweep; returned by `lightburst.sweep`.

    Attributes
    ----------
    study : StudyDescription
        Study that was run.
    runs : pandas.DataFrame
        One row per run, ordered by point and seed: ``variant``, the value of each axis as given
        and, for a quantity, as a number in SI units (``topology.link_length`` and
        ``topology.link_length_m``), ``seed``, and the row of the run, see `lightburst.execute`. The
        value of an axis that does not vary at a point is missing there.
    provenance : dict
        Versions, the machine, and the digest over the digests of all runs.
    read_table : callable
        Reads a kept table of the runs by its name; see `kept`.
    failed : sequence of FailedRun
        Failed runs, with the index of the point, the seed and the error; they have no row in
        `runs`.
    """

    def beside(self, theory: str | Theory) -> pd.DataFrame:
        """Compare the means of a metric with the theory that predicts it.

        Parameters
        ----------
        theory : str or Theory
            Name of one of `lightburst.models.theory.THEORIES`, such as ``"yu2004"``.

        Returns
        -------
        pandas.DataFrame
            Rows of `table` for that metric, with ``theory``, ``residual``, ``ratio``, ``inside``
            and ``broken``: see `lightburst.models.theory.beside`.

        Raises
        ------
        InputError
            If there is no such theory, or it applies to no point of the sweep.
        """
        from lightburst.experiment.swept.theory import beside

        return beside(self, theory)

    def plot(
        self,
        x: str | None = None,
        y: str | None = None,
        hue: str | None = None,
        *,
        dash: str | None = None,
        at: Mapping[str, object] | None = None,
        theory: Any = None,
        **more: Any,
    ) -> Canvas:
        """Draw the means of a metric, with their intervals, over an axis.

        Parameters
        ----------
        x : str, optional
            ``"variant"``, or the path of an axis; by default the first numeric axis. Values of an
            axis of text are drawn side by side.
        y : str, optional
            Name of a metric; by default the first one of `table`.
        hue, dash : str, optional
            ``"variant"``, or the path of an axis, distinguished by colour or by dash. By default
            the variant has colours, and another varying axis has dashes.
        at : mapping of str to object, optional
            Fixed values of other axes: ``{"switching.buffer_ports": 2}``.
        theory : str, Theory, list of these, or callable, DataFrame or mapping, optional
            Theory to draw: names in `lightburst.models.theory.THEORIES`, evaluated for the
            scenarios of the points; or curves, as for `lightburst.plot.curves`.
        **more
            As for `lightburst.plot.curves`.

        Returns
        -------
        matplotlib.figure.Figure
            Figure to show or to save.

        Raises
        ------
        InputError
            If there is no such axis, value or metric, or more axes vary than can be distinguished.
        """
        from lightburst.report.sweep_figure import draw

        return draw(self, x, y, hue, dash, at, theory, **more)

    def report(self, directory: str | Path) -> Path:
        """Save the sweep with its page, a single offline HTML file.

        Parameters
        ----------
        directory : str or Path
            As for `save`.

        Returns
        -------
        Path
            Path of ``index.html`` in the directory.

        Raises
        ------
        InputError
            As for `save`.
        """
        from lightburst.report.sweep_page import sweep_page

        text = sweep_page(self)

        def fill(fresh: Path) -> None:
            self._write(fresh)
            (fresh / PAGE).write_text(text, encoding="utf-8")

        return replace(directory, fill) / PAGE

    def save(self, directory: str | Path) -> Path:
        """Write runs, means, comparisons, figures and the study.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist; an existing result in it is replaced atomically.

        Returns
        -------
        Path
            Path of the directory. It contains ``runs.parquet``, ``table.csv``, ``comparisons.csv``,
            a PNG and an SVG of each figure of the study, ``study.toml``, which repeats the sweep,
            and ``sweep.json`` with all but the runs.

        Raises
        ------
        InputError
            If the directory cannot be written or contains foreign files.
        """
        return replace(directory, self._write)

    def as_dict(self) -> dict[str, Any]:
        """Return study, means, comparisons and provenance as JSON-compatible values."""
        return {
            "study": tables(self.study),
            "points": self.design.number,
            "runs": len(self.runs),
            "table": records(self.table().replace(np.inf, "inf")),
            "comparisons": records(self.comparisons().replace(np.inf, "inf")),
            "warnings": list(self.warnings),
            "failed": records_of(self.failed),
            "provenance": dict(self.provenance),
        }

    def _write(self, directory: Path) -> None:
        from lightburst.report.sweep_figure import draw_all

        self.runs.to_parquet(directory / RUNS, index=False)
        for name in self.study.keep:
            self.kept(name).to_parquet(directory / f"{name}.parquet", index=False)
        self.table().to_csv(directory / TABLE, index=False)
        if self.study.compare:
            self.comparisons().to_csv(directory / COMPARISONS, index=False)
        for name, canvas in draw_all(self):
            for ending in ("png", "svg"):
                canvas.savefig(directory / f"{name}.{ending}")
        write_study(directory, self.study, SWEEP, self.as_dict())
